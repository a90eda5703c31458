/* Messages, and descriptors and words that are waited for and ready: see operations.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/epoll.h>
#endif

#include "kernel/operations.h"
#include "kit.h"

enum {
    SPARE = 50, /* descriptors beside those that are asked for */
    FUTEXES = 1024,
};

static __thread int pair[2], event;
static __thread struct pollfd *ready;
static __thread fd_set asked;

/* --- messages --- */

static void make_pair(void)
{
    const int room = 1 << 20;

    make_buffer();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        kit_error("cannot make a pair of sockets (%s): is `ulimit -n` too low?", strerror(errno));
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room); /* it gets what it may */
}

WORK(send_message, send(pair[0], buffer, (size_t)size, MSG_DONTWAIT) == size)
WORK(receive_message, recv(pair[1], buffer, (size_t)size, MSG_WAITALL) == size)

static void send_one(void)
{
    if (send_message(1) != 1)
        kit_error("cannot send a message (%s): is net.core.wmem_max too low?", strerror(errno));
}

static void take_one(void)
{
    if (receive_message(1) != 1)
        kit_error("cannot receive a message (%s)", strerror(errno));
}

static void make_event(void)
{
    event = eventfd(0, EFD_CLOEXEC);
    if (event < 0)
        kit_error("cannot make an eventfd (%s): is `ulimit -n` too low?", strerror(errno));
}

/* Written and read back. */
static int passed(uint64_t sent)
{
    uint64_t got = 0;

    return write(event, &sent, sizeof sent) == sizeof sent &&
           read(event, &got, sizeof got) == sizeof got && got == sent;
}

WORK(pass_event, passed((uint64_t)i + 1))

/* --- descriptors that are ready --- */

/* As many as are asked for, made one by one. */
static void make_descriptors(int (*one)(int index))
{
    kit_raise_file_limit();
    ready = memory((size_t)(number + 1) * sizeof *ready);
    FD_ZERO(&asked);
    for (int i = 0; i < number; i++) {
        int made = one(i);
        if (made < 0)
            kit_skip("cannot make descriptor %d of %d (%s): is `ulimit -n` below %d?", i + 1,
                     number, strerror(errno), number + SPARE);
        ready[i] = (struct pollfd){.fd = made, .events = POLLIN};
        if (made < FD_SETSIZE)
            FD_SET(made, &asked);
    }
}

/* Without a connection: they are ready, as they have been hung up. */
static int one_socket(int index)
{
    (void)index;
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void make_ready(void)
{
    make_descriptors(one_socket);
}

/* A file can always be read. */
static int one_file(int index)
{
    (void)index;
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

static void make_files(void)
{
    make_file();
    make_descriptors(one_file);
}

static int selected(void)
{
    struct timeval now = {0, 0};
    fd_set found = asked;

    return select(ready[number - 1].fd + 1, &found, NULL, NULL, &now);
}

WORK(select_ready, selected() == number)
WORK(poll_ready, poll(ready, (nfds_t)number, 0) == number)

/* --- what only Linux has --- */

#ifdef __linux__

static __thread int epoll;
static __thread struct epoll_event *events;
static __thread uint32_t futexes[FUTEXES];
static __thread unsigned next;

static void watch_descriptors(void)
{
    events = memory((size_t)(number + 1) * sizeof *events);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < number; i++) {
        struct epoll_event added = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, ready[i].fd, &added) != 0)
            kit_error("cannot watch descriptor %d of %d (%s)", i + 1, number, strerror(errno));
    }
}

static void make_epoll(void)
{
    make_ready();
    watch_descriptors();
}

/* The one in the middle can be read. */
static int one_event(int index)
{
    return eventfd(index == number / 2, EFD_CLOEXEC);
}

static void make_events(void)
{
    make_descriptors(one_event);
    watch_descriptors();
}

WORK(epoll_ready, epoll_wait(epoll, events, number, 0) == number)
WORK(epoll_one, epoll_wait(epoll, events, number, 0) == 1 && (int)events[0].data.u32 == number / 2)

/* One that has another value, of many in turn: none waits. */
WORK(miss_futex,
     syscall(SYS_futex, &futexes[next++ % FUTEXES], FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) < 0 &&
         errno == EAGAIN)

#endif

const struct operation descriptor_operations[] = {
    {"send", .prepare = make_pair, .work = send_message, .after = take_one, .times = 1},
    {"receive", .prepare = make_pair, .before = send_one, .work = receive_message, .times = 1},
    {"eventfd", .prepare = make_event, .work = pass_event, .times = 100},
    {"select", .prepare = make_ready, .work = select_ready, .times = 8},
    {"select-file", .prepare = make_files, .work = select_ready, .times = 8},
    {"poll", .prepare = make_ready, .work = poll_ready, .times = 8},
#ifdef __linux__
    {"epoll", .prepare = make_epoll, .work = epoll_ready, .times = 8},
    {"epoll-one", .prepare = make_events, .work = epoll_one, .times = 100},
    {"futex", .work = miss_futex, .times = 200},
#endif
    {.name = NULL},
};
