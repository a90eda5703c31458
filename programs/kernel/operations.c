/* What core.c times: see operations.h. */
#define _GNU_SOURCE
#include "kernel/operations.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>
#endif

#include "kit.h"

enum { SPARE = 50 }; /* descriptors beside those that are asked for */

long size;
int number, file = -1;

static char path[64], names[FILES][64];
static int zero, null, pair[2];
static char *buffer;
static struct pollfd *ready;
static fd_set asked;
static volatile sig_atomic_t caught;
static pthread_t thread;

static void *memory(size_t bytes)
{
    void *made = calloc(1, bytes);

    if (!made)
        kit_error("no memory for %zu bytes", bytes);
    return made;
}

/* --- calls and files --- */

int null_call(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += syscall(SYS_getppid) >= 0; /* 0 where the parent is outside of this container */
    return good;
}

void make_null(void)
{
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (zero < 0 || null < 0)
        kit_error("cannot open /dev/zero and /dev/null (%s)", strerror(errno));
}

/* One after the other: a count is half of the two, as lmbench has their mean. */
int null_io(int times)
{
    char byte;
    int good = 0;

    for (int i = 0; i < times; i++)
        good += (i % 2 ? write(null, &byte, 1) : read(zero, &byte, 1)) == 1;
    return good;
}

void remove_file(int finished)
{
    (void)finished;
    if (path[0])
        unlink(path);
    for (int i = 0; i < FILES && names[i][0]; i++)
        unlink(names[i]);
}

/* Long enough for a round of reads. */
void make_file(void)
{
    snprintf(path, sizeof path, "core-%ld", (long)getpid());
    buffer = memory((size_t)size);
    memset(buffer, 'a', (size_t)size);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    for (long length = 0; file >= 0 && (length == 0 || length < 64 * size) && length <= 4096000; length += size)
        if (write(file, buffer, (size_t)size) != size)
            kit_error("cannot write %s (%s): is the file system full?", path, strerror(errno));
    if (file < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", path, strerror(errno));
}

void rewind_file(void)
{
    if (lseek(file, 0, SEEK_SET) != 0)
        kit_error("cannot go back to the start of %s (%s)", path, strerror(errno));
}

int stat_file(int times)
{
    struct stat found;
    int good = 0;

    for (int i = 0; i < times; i++)
        good += stat(path, &found) == 0;
    return good;
}

int open_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        int opened = open(path, O_RDONLY | O_CLOEXEC);
        good += opened >= 0 && close(opened) == 0;
    }
    return good;
}

int read_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += read(file, buffer, (size_t)size) == size;
    return good;
}

int write_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += write(file, buffer, (size_t)size) == size;
    return good;
}

void make_names(void)
{
    for (int i = 0; i < FILES; i++)
        snprintf(names[i], sizeof names[i], "core-%ld-%d", (long)getpid(), i);
}

/* With size=1 there is nothing in them: the size of a file is never 0 otherwise. */
int create_files(int times)
{
    static char bytes[65536];
    int good = 0;

    for (int i = 0; i < times; i++) {
        int made = open(names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        good += made >= 0 && (size == 1 || write(made, bytes, (size_t)size) == size) && close(made) == 0;
    }
    return good;
}

int delete_files(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += unlink(names[i]) == 0;
    return good;
}

void create_all(void)
{
    if (create_files(FILES) != FILES)
        kit_error("cannot create a file in the current directory (%s): is it full?", strerror(errno));
}

void delete_all(void)
{
    if (delete_files(FILES) != FILES)
        kit_error("cannot delete a file in the current directory (%s)", strerror(errno));
}

/* --- signals --- */

static void on_signal(int signal)
{
    (void)signal;
    caught++;
}

int handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};

    return sigaction(signal, &action, NULL) == 0;
}

int install_handler(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += handle(SIGUSR2, on_signal);
    return good;
}

void make_handler(void)
{
    if (!handle(SIGUSR1, on_signal))
        kit_error("cannot handle a signal (%s)", strerror(errno));
}

int catch_signal(int times)
{
    pid_t self = getpid();

    caught = 0;
    for (int i = 0; i < times; i++)
        kill(self, SIGUSR1);
    return (int)caught;
}

/* --- descriptors --- */

void make_pair(void)
{
    const int room = 1 << 20;

    buffer = memory((size_t)size);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        kit_error("cannot make a pair of sockets (%s): is `ulimit -n` too low?", strerror(errno));
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room); /* it gets what it may */
}

int send_message(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += send(pair[0], buffer, (size_t)size, MSG_DONTWAIT) == size;
    return good;
}

int receive_message(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += recv(pair[1], buffer, (size_t)size, MSG_WAITALL) == size;
    return good;
}

void send_messages(void)
{
    if (send_message(1) != 1)
        kit_error("cannot send a message (%s): is net.core.wmem_max too low?", strerror(errno));
}

void take_messages(void)
{
    if (receive_message(1) != 1)
        kit_error("cannot receive a message (%s)", strerror(errno));
}

/* As many descriptors as are asked for, made one by one. */
static void make_descriptors(int (*one)(void))
{
    rlim_t wanted = (rlim_t)(number + SPARE);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    ready = memory((size_t)(number + 1) * sizeof *ready);
    FD_ZERO(&asked);
    for (int i = 0; i < number; i++) {
        int made = one();
        if (made < 0)
            kit_skip("cannot make descriptor %d of %d (%s): is `ulimit -n` below %d?", i + 1, number,
                     strerror(errno), number + SPARE);
        ready[i] = (struct pollfd){.fd = made, .events = POLLIN};
        if (made < FD_SETSIZE)
            FD_SET(made, &asked);
    }
}

/* Without a connection: they are ready, as they have been hung up. */
static int one_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

void make_ready(void)
{
    make_descriptors(one_socket);
}

/* A file can always be read. */
static int one_file(void)
{
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

void make_files(void)
{
    make_file();
    make_descriptors(one_file);
}

int select_ready(int times)
{
    struct timeval now = {0, 0};
    int good = 0;

    for (int i = 0; i < times; i++) {
        fd_set found = asked;
        good += select(ready[number - 1].fd + 1, &found, NULL, NULL, &now) == number;
    }
    return good;
}

int poll_ready(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += poll(ready, (nfds_t)number, 0) == number;
    return good;
}

#ifdef __linux__
static int epoll;
static struct epoll_event *events;

void make_epoll(void)
{
    make_ready();
    events = memory((size_t)(number + 1) * sizeof *events);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < number; i++) {
        struct epoll_event added = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, ready[i].fd, &added) != 0)
            kit_error("cannot watch a socket (%s)", strerror(errno));
    }
}

int epoll_ready(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += epoll_wait(epoll, events, number, 0) == number;
    return good;
}
#endif

/* --- processes and threads --- */

/* Each shared and mapped by itself: the kernel keeps as many areas. */
void make_pages(void)
{
    for (int i = 0; i < number; i++) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            kit_skip("cannot map page %d of %d (%s): is vm.max_map_count too low?", i + 1, number, strerror(errno));
        *page = 1;
    }
}

int fork_child(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        good += child > 0;
    }
    return good;
}

void wait_for_children(void)
{
    int status;

    while (wait(&status) > 0)
        if (status != 0)
            kit_error("a child ended with wait status %d", status);
}

static int ended(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* exit, not _exit, as lmbench's child: what a C program does at its end touches half as many pages again. */
int fork_exit(int times)
{
    (void)times;
    pid_t child = fork();

    if (child == 0)
        exit(0);
    return ended(child);
}

static int fork_run(const char *program, const char *one, const char *two)
{
    pid_t child = fork();

    if (child == 0) {
        execl(program, program, one, two, (char *)NULL);
        _exit(99);
    }
    return ended(child);
}

int fork_exec(int times)
{
    (void)times;
    return fork_run("/bin/true", NULL, NULL);
}

int fork_shell(int times)
{
    (void)times;
    return fork_run("/bin/sh", "-c", "/bin/true");
}

static void *end(void *nothing)
{
    return nothing;
}

int start_thread(int times)
{
    (void)times;
    return pthread_create(&thread, NULL, end, NULL) == 0;
}

void join_thread(void)
{
    if (pthread_join(thread, NULL) != 0)
        kit_error("a thread did not end");
}
