/*
 * Regions of commands: see region.h.
 *
 * A descriptor is one end of a pair of sockets, since the kernel stamps what is written to a socket
 * with the time: this program need not wake up to know it, and disturbs nothing. The stamps are of
 * CLOCK_REALTIME; how far that is from CLOCK_MONOTONIC is asked when they are read.
 */
#define _GNU_SOURCE
#include "command/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

enum {
    READY,
    DONE,
    ENDS,
    MIN_NUMBER = 3, /* of a descriptor; dash(1) reads a single digit */
};

static int own_ends[ENDS]; /* where this program reads; 0: no region is wanted */

static void open_end(int end, const char *variable)
{
    int pair[2], number, on = 1;
    char digits[16];

    /* A program that writes more than fits must not hang. */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0 ||
        (number = fcntl(pair[1], F_DUPFD, MIN_NUMBER)) < 0)
        kit_error("cannot open what commands write their region to (%s): is `ulimit -n` too low?",
                  strerror(errno));
    close(pair[1]);
    own_ends[end] = pair[0];
    snprintf(digits, sizeof digits, "%d", number);
    setenv(variable, digits, 1);
}

void region_init(void)
{
    open_end(READY, "UNIXMARK_READY");
    open_end(DONE, "UNIXMARK_DONE");
}

int region_is_wanted(void)
{
    return own_ends[READY] != 0;
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t realtime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now);
}

/*
 * Takes the next message; returns 0 without one. *stamp is when it was sent, or now on a system
 * that does not stamp.
 */
static int receive(int end, int64_t *stamp)
{
    char bytes[64];
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr alignment;
    } control;
    struct iovec text = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct timespec sent;

    if (recvmsg(own_ends[end], &message, MSG_DONTWAIT) <= 0)
        return 0;
    *stamp = realtime();
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&sent, CMSG_DATA(part), sizeof sent);
            *stamp = nanoseconds(sent);
        }
    return 1;
}

int region_look(void)
{
    int written = 0;
    int64_t stamp;

    for (int end = 0; end < ENDS && region_is_wanted(); end++)
        while (receive(end, &stamp))
            written |= 1 << end;
    return written;
}

void region_begin(void)
{
    region_look();
}

/* The clock may have been set meanwhile. */
static int64_t clamp(int64_t time, int64_t low, int64_t high)
{
    return time < low ? low : time > high ? high : time;
}

struct region region_end(int64_t start, int64_t end)
{
    const int64_t since_realtime = kit_now() - realtime();
    struct region region = {.start = start, .end = end};
    int64_t stamp;

    if (!region_is_wanted())
        return region;
    while (receive(DONE, &stamp)) {
        if (!(region.written & REGION_DONE))
            region.end = clamp(stamp + since_realtime, start, end);
        region.written |= REGION_DONE;
    }
    while (receive(READY, &stamp)) {
        if (stamp + since_realtime > region.end)
            continue;
        region.start = clamp(stamp + since_realtime, start, region.end);
        region.written |= REGION_READY;
    }
    return region;
}
