/*
 * A storm of messages, as hackbench made it known: in each of groups=G groups (0: one for each CPU)
 * 20 senders write a message of size=100 bytes to each of 20 receivers in turn, and so on for ever.
 * kind=socket has a pair of stream sockets for each receiver, kind=pipe a pipe. With
 * tasks=processes each of them is a process, with tasks=threads all are threads of one, as with
 * hackbench -T. One count is a message delivered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/crew.h"

enum { PEERS = 20, MAX_MESSAGE_BYTES = 65536, STACK = 64 << 10 };

static char message[MAX_MESSAGE_BYTES];
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

static void receive_from(int channel, char *into)
{
    size_t received = 0;

    while (received < size) {
        ssize_t n = read(channel, into + received, size - received);
        if (n <= 0)
            crew_fail("a receiver cannot read its message (%s)",
                      n ? strerror(errno) : "all senders are gone");
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
        receive_from(channels[number][0], message);
        ++*crew_count;
    }
}

static void make_channels(int with_pipes)
{
    for (int i = 0; i < PEERS; i++)
        if ((with_pipes ? pipe(channels[i]) : socketpair(AF_UNIX, SOCK_STREAM, 0, channels[i])) !=
            0)
            kit_skip("channel %d of %d was refused (%s): try `ulimit -n 1024`", i + 1, PEERS,
                     strerror(errno));
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

/* --- as threads of one process --- */

/* A sender's channels are those of its group, a receiver's is one. */
struct peer {
    int (*channels)[2];
    int number; /* of a receiver */
};

static void *send_in_thread(void *own)
{
    const struct peer *me = own;

    for (;;)
        for (int i = 0; i < PEERS; i++)
            send_to(me->channels[i][1]);
    return NULL;
}

/* Counts in pieces: all receivers have one counter. */
static void *receive_in_thread(void *own)
{
    const struct peer *me = own;
    char *into = malloc(size);

    if (!into)
        crew_fail("no memory for a message of %zu bytes", size);
    for (;;) {
        for (int i = 0; i < PEERS; i++)
            receive_from(me->channels[me->number][0], into);
        __atomic_fetch_add(crew_count, PEERS, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void start_thread(void *(*work)(void *), struct peer *peer)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int why;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    why = pthread_create(&thread, &attributes, work, peer);
    pthread_attr_destroy(&attributes);
    if (why)
        crew_fail("cannot start a thread (%s): try fewer groups=", strerror(why));
}

static void start_group(int with_pipes)
{
    int (*own)[2] = malloc(sizeof channels);
    struct peer *peers = calloc(PEERS, sizeof *peers);

    if (!own || !peers)
        crew_fail("no memory for %d channels", PEERS);
    for (int i = 0; i < PEERS; i++)
        if ((with_pipes ? pipe(own[i]) : socketpair(AF_UNIX, SOCK_STREAM, 0, own[i])) != 0)
            crew_fail("channel %d of %d was refused (%s): try `ulimit -n 4096`", i + 1, PEERS,
                      strerror(errno));
    for (int i = 0; i < PEERS; i++)
        peers[i] = (struct peer){.channels = own, .number = i};
    for (int i = 0; i < PEERS; i++)
        start_thread(receive_in_thread, &peers[i]);
    for (int i = 0; i < PEERS; i++)
        start_thread(send_in_thread, &peers[i]);
}

static int threads_use_pipes;

static void storm_in_threads(long groups)
{
    crew_go();
    for (long i = 0; i < groups; i++)
        start_group(threads_use_pipes);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *kind, *tasks;
    long groups;
    int with_pipes;

    kit_init(argc, argv);
    groups = crew_size("groups");
    size = (size_t)kit_arg_number("size", 100, 1, MAX_MESSAGE_BYTES);
    kind = kit_arg("kind", "socket");
    if (strcmp(kind, "socket") != 0 && strcmp(kind, "pipe") != 0)
        kit_error("unknown kind=%s: try socket or pipe", kind);
    with_pipes = strcmp(kind, "pipe") == 0;
    tasks = kit_arg("tasks", "processes");
    if (strcmp(tasks, "threads") == 0) {
        threads_use_pipes = with_pipes;
        crew_open(1);
        crew_hire(storm_in_threads, groups);
        crew_run();
    }
    if (strcmp(tasks, "processes") != 0)
        kit_error("unknown tasks=%s: try processes or threads", tasks);
    crew_open(groups * 2 * PEERS);
    for (long i = 0; i < groups; i++)
        make_group(with_pipes);
    crew_run();
}
