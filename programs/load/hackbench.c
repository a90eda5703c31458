/*
 * A storm of messages, as hackbench made it known: in each of groups=G groups (0: one for each CPU) 20 senders write a
 * message of size=100 bytes to each of 20 receivers in turn, and so on for ever. kind=socket has a pair of stream sockets
 * for each receiver, kind=pipe a pipe. One count is a message delivered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/crew.h"

enum { PEERS = 20, LARGEST = 65536 };

static char message[LARGEST];
static size_t size;
static int channels[PEERS][2]; /* of the group that is being made: 0 is read, 1 is written */

static void send_to(int channel)
{
    size_t sent = 0;

    while (sent < size) {
        ssize_t n = write(channel, message + sent, size - sent);
        if (n <= 0)
            crew_fail("a sender cannot write its message (%s)", strerror(errno));
        sent += (size_t)n;
    }
}

static void send_for_ever(long number)
{
    (void)number;
    for (int i = 0; i < PEERS; i++)
        close(channels[i][0]);
    crew_go();
    for (;;)
        for (int i = 0; i < PEERS; i++)
            send_to(channels[i][1]);
}

static void receive_from(int channel)
{
    size_t received = 0;

    while (received < size) {
        ssize_t n = read(channel, message + received, size - received);
        if (n <= 0)
            crew_fail("a receiver cannot read its message (%s)", n ? strerror(errno) : "all senders are gone");
        received += (size_t)n;
    }
}

static void receive_for_ever(long number)
{
    for (int i = 0; i < PEERS; i++) {
        close(channels[i][1]);
        if (i != number)
            close(channels[i][0]);
    }
    crew_go();
    for (;;) {
        receive_from(channels[number][0]);
        ++*crew_count;
    }
}

static void make_channels(int with_pipes)
{
    for (int i = 0; i < PEERS; i++)
        if ((with_pipes ? pipe(channels[i]) : socketpair(AF_UNIX, SOCK_STREAM, 0, channels[i])) != 0)
            kit_skip("channel %d of %d was refused (%s): try `ulimit -n 1024`", i + 1, PEERS, strerror(errno));
}

static void close_channels(void)
{
    for (int i = 0; i < PEERS; i++) {
        close(channels[i][0]);
        close(channels[i][1]);
    }
}

static void make_group(int with_pipes)
{
    make_channels(with_pipes);
    for (long i = 0; i < PEERS; i++)
        crew_hire(receive_for_ever, i);
    for (long i = 0; i < PEERS; i++)
        crew_hire(send_for_ever, i);
    close_channels();
}

int main(int argc, char **argv)
{
    const char *kind;
    long groups;

    kit_init(argc, argv);
    groups = crew_size("groups");
    size = (size_t)kit_arg_number("size", 100, 1, LARGEST);
    kind = kit_arg("kind", "socket");
    if (strcmp(kind, "socket") != 0 && strcmp(kind, "pipe") != 0)
        kit_error("unknown kind=%s: try socket or pipe", kind);
    crew_open(groups * 2 * PEERS);
    for (long i = 0; i < groups; i++)
        make_group(strcmp(kind, "pipe") == 0);
    crew_run();
}
