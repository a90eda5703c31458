/*
 * System calls one by one: call=NAME of calls.h. One count is one call, or a few that cannot be
 * separated (open and close); `value calls` says how many. Everything else is prepared before, and
 * every answer is checked.
 *
 * Calls that a C library might cache or turn into several are made through syscall(2). The loop
 * reads no clock, which would be a system call itself on some machines; only calls that take 50 us
 * and more are noted when they complete.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/prepared.h"
#include "kit.h"

enum {
    PROOFS = 20, /* calls that must give the right answer before it starts */
    SIGNALS = 8, /* bytes of the kernel's set of signals */
};

/* What calls find, and for those that go to and fro. */
static long turn;
static struct stat found;
static uint32_t word;

/* --- calls that need more than one expression; true if the answer was right --- */

static int closed(int made)
{
    return made >= 0 && close(made) == 0;
}

static int read_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    return syscall(SYS_capget, &head, data) == 0;
}

static int read_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0;
}

static int read_name(void)
{
    struct utsname name;

    return uname(&name) == 0 && name.sysname[0];
}

static int read_system(void)
{
    struct sysinfo info;

    return sysinfo(&info) == 0 && info.procs > 0;
}

static int read_clock(void)
{
    struct timespec now = {0};

    return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0 && now.tv_nsec + now.tv_sec > 0;
}

static int mapped(void)
{
    void *area = mmap(NULL, PREPARED_AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return area != MAP_FAILED && munmap(area, PREPARED_AREA) == 0;
}

static int none_waiting(void)
{
    int waiting = -1;

    return ioctl(have.file, FIONREAD, &waiting) == 0 && waiting == 0;
}

static int none_ready(void)
{
    struct timeval none = {0};
    fd_set wanted;

    FD_ZERO(&wanted);
    FD_SET(have.file, &wanted);
    return select(have.file + 1, &wanted, NULL, NULL, &none) == 0;
}

static int piped(void)
{
    int ends[2];

    return pipe2(ends, O_CLOEXEC) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0;
}

static int bound(void)
{
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    return made >= 0 && bind(made, (struct sockaddr *)&have.port, sizeof have.port) == 0 &&
           close(made) == 0;
}

/* The library's fork makes more calls than one; what this child does needs no library. */
/* On s390 the stack comes before the flags (clone(2)). */
#ifdef __s390__
#define FORK 0, SIGCHLD
#else
#define FORK SIGCHLD, 0
#endif

static int forked(void)
{
    int status = -1;
    pid_t child = (pid_t)syscall(SYS_clone, FORK, 0, 0, 0);

    if (child == 0)
        for (;;)
            syscall(SYS_exit_group, 0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int executed(void)
{
    char name[] = "image", *words[] = {name, NULL}, *none[] = {NULL};
    int status = -1;
    pid_t child = vfork();

    if (child == 0) {
        execve(name, words, none);
        _exit(99);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* --- the table --- */

#define CALL(name, before, calls, slow, ...) static int call_##name(void) { return (__VA_ARGS__); }
#include "kernel/calls.h"
#undef CALL

static const struct row {
    const char *name;
    void (*prepare)(void);
    int (*call)(void);
    int calls, slow;
} rows[] = {
#define CALL(name, before, calls, slow, ...) {#name, prepare_##before, call_##name, calls, slow},
#include "kernel/calls.h"
};

static const struct row *chosen(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    kit_error("unknown call=%s: programs/kernel/calls.h has all of them", name);
}

static void prove(const struct row *row)
{
    int good = 0;

    for (int i = 0; i < PROOFS; i++) {
        errno = 0;
        good += row->call();
        if (!good && (errno == ENOSYS || errno == EPERM || errno == EACCES))
            kit_skip("the kernel refuses %s (%s)", row->name, strerror(errno));
    }
    kit_check("good", good);
    kit_value("calls", row->calls, "calls");
}

/*
 * The kit's timer may interrupt a call that looks for signals, such as poll: it is one call all the
 * same.
 */
static void look_at_failure(const struct row *row)
{
    if (errno != EINTR)
        kit_error("%s failed after %lu times (%s)", row->name, kit_count, strerror(errno));
    errno = 0;
}

int main(int argc, char **argv)
{
    const struct row *row;

    kit_init(argc, argv);
    prepare_nothing();
    row = chosen(kit_arg("call", "getpid"));
    row->prepare();
    prove(row);
    kit_start();
    for (;;) {
        if (!row->call())
            look_at_failure(row);
        if (row->slow)
            kit_tick(1);
        else
            kit_count++;
    }
}
