/*
 * System calls that need not wait, one kind after the other, in pieces of some 20 us or more.
 *
 *   op=getppid   the cheapest there is: what entering the kernel and coming back costs
 *   op=stat      a path of 8 directories and a file, all in the cache
 *   op=open      open and close of an existing file: two calls
 *   op=mmap      mmap and munmap of 64 KiB that nobody touches: two calls
 *   op=eventfd   write and read of an eventfd: two calls
 *   op=epoll     epoll_wait where one of 500 eventfds is ready
 *   op=futex     a wait for a futex that has another value, one of 1024 after the other: none waits
 *   op=signal    kill of the process itself, and a handler that counts: two calls, as the handler returns by one
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/epoll.h>
#endif

#include "kit.h"

enum {
    DEPTH = 8,
    WATCHED = 500,
    FILES = WATCHED + 50, /* descriptors, with some to spare */
    AREA = 64 << 10,
    FUTEXES = 1024,
};

static char path[128]; /* of this copy's file; its directories end at the slashes */
static int event;
static volatile unsigned long handled;

/* --- the file --- */

/* The innermost directory first. */
static void remove_file(int finished)
{
    (void)finished;
    unlink(path);
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

static void make_file(int depth)
{
    int length = snprintf(path, sizeof path, "services-%ld", (long)getpid()), file, bad = 0;

    kit_at_end(remove_file);
    for (int i = 0; i < depth; i++) {
        bad |= mkdir(path, 0700);
        length += snprintf(path + length, sizeof path - (size_t)length, "/level%d", i + 1);
    }
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (bad || file < 0 || close(file) != 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", path, strerror(errno));
}

static void make_near_file(void)
{
    make_file(0);
}

static void make_deep_file(void)
{
    make_file(DEPTH);
}

/* --- what is prepared, which ends the program where it does not work --- */

static void nothing(void)
{
}

static void make_event(void)
{
    event = eventfd(0, EFD_CLOEXEC);
    if (event < 0)
        kit_error("cannot make an eventfd (%s): is `ulimit -n` too low?", strerror(errno));
}

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static void make_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        kit_error("cannot handle a signal (%s)", strerror(errno));
}

/* --- the calls: each returns how many of the given number were answered correctly --- */

static int call_getppid(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += syscall(SYS_getppid) >= 0; /* 0 where the parent is outside of this container */
    return good;
}

static int call_stat(int times)
{
    struct stat found;
    int good = 0;

    for (int i = 0; i < times; i++)
        good += stat(path, &found) == 0 && S_ISREG(found.st_mode);
    return good;
}

static int call_open(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        good += file >= 0 && close(file) == 0;
    }
    return good;
}

/* For reading only, so that no neighbour is like it and the kernel does not make one area of the two. */
static int call_mmap(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        void *area = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        good += area != MAP_FAILED && munmap(area, AREA) == 0;
    }
    return good;
}

static int call_eventfd(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        uint64_t sent = (uint64_t)i + 1, got = 0;
        good += write(event, &sent, sizeof sent) == sizeof sent && read(event, &got, sizeof got) == sizeof got && got == sent;
    }
    return good;
}

/* A signal to oneself that nothing blocks arrives before kill returns. */
static int call_signal(int times)
{
    const unsigned long before = handled;
    const pid_t self = getpid();

    for (int i = 0; i < times; i++)
        kill(self, SIGUSR1);
    return (int)(handled - before);
}

/* --- what only Linux has --- */

#ifdef __linux__

static int epoll;

static void make_epoll(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FILES) {
        limit.rlim_cur = limit.rlim_max < FILES ? limit.rlim_max : FILES;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < WATCHED; i++) {
        struct epoll_event added = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        event = eventfd(i == WATCHED / 2, EFD_CLOEXEC);
        if (event < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &added) != 0)
            kit_skip("cannot watch eventfd %d of %d (%s): is `ulimit -n` below %d?", i + 1, WATCHED, strerror(errno), FILES);
    }
}

static int call_epoll(int times)
{
    struct epoll_event found[16];
    int good = 0;

    for (int i = 0; i < times; i++)
        good += epoll_wait(epoll, found, 16, 0) == 1 && found[0].data.u32 == WATCHED / 2;
    return good;
}

static int call_futex(int times)
{
    static uint32_t futexes[FUTEXES];
    static unsigned next;
    int good = 0;

    for (int i = 0; i < times; i++)
        good += syscall(SYS_futex, &futexes[next++ % FUTEXES], FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) < 0 && errno == EAGAIN;
    return good;
}

#endif

/* --- the table --- */

static const struct op {
    const char *name;
    void (*prepare)(void);
    int (*call)(int times);
    int piece; /* some 20 us or more of it */
} ops[] = {
    {"getppid", nothing, call_getppid, 400}, {"stat", make_deep_file, call_stat, 50},
    {"open", make_near_file, call_open, 50}, {"mmap", nothing, call_mmap, 20},
    {"eventfd", make_event, call_eventfd, 100}, {"signal", make_handler, call_signal, 30},
#ifdef __linux__
    {"epoll", make_epoll, call_epoll, 100}, {"futex", nothing, call_futex, 200},
#endif
};

static const struct op *chosen(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    kit_error("unknown op=%s: try getppid, stat, open, mmap, eventfd, signal, or on Linux epoll and futex", name);
}

int main(int argc, char **argv)
{
    const struct op *op;

    kit_init(argc, argv);
    op = chosen(kit_arg("op", "getppid"));
    op->prepare();
    kit_check("good", op->call(op->piece) == op->piece);
    kit_start();
    for (;;) {
        if (op->call(op->piece) != op->piece)
            kit_error("op=%s failed after %lu times (%s)", op->name, kit_count, strerror(errno));
        kit_piece((unsigned long)op->piece);
    }
}
