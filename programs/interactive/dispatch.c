/* See dispatch.h. */
#define _GNU_SOURCE
#include "interactive/dispatch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit.h"

enum {
    SLOTS = 1 << 16,      /* of a queue */
    /* requests in it: a worker reads a slot after it has taken it, and must find it unchanged */
    MAX_WAITING = SLOTS - 2048,
};

struct queue {
    sem_t waiting;
    _Atomic uint32_t taken, put;
    struct request requests[SLOTS];
};

struct worker {
    struct queue *queue;
    /* the messenger's end of the connection, the worker's, and what the worker waits with */
    int near, far, poller;
    _Atomic int free;
};

struct messenger {
    sem_t posted; /* workers that are free */
    int poller;
    long next; /* the worker to look at first */
};

static enum dispatch kind;
static struct messenger *messengers;
static struct worker *workers;
static long messenger_count, each;
static _Atomic int over;

/* --- preparation --- */

static void *memory(size_t size)
{
    void *found = calloc(1, size);

    if (!found)
        kit_error("no memory for %zu bytes of requests (%s): try fewer workers", size,
                  strerror(errno));
    return found;
}

static int make_poller(void)
{
    int poller = epoll_create1(EPOLL_CLOEXEC);

    if (poller < 0)
        kit_error("cannot wait for connections (%s): is `ulimit -n` too low?", strerror(errno));
    return poller;
}

static void watch(int poller, int socket)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) != 0)
        kit_error("cannot wait for a connection (%s)", strerror(errno));
}

static void connect_worker(long number, int listener, const struct sockaddr_in *address)
{
    struct worker *worker = &workers[number];
    const int on = 1;

    worker->near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (worker->near < 0 ||
        connect(worker->near, (const struct sockaddr *)address, sizeof *address) != 0)
        kit_error("cannot connect over loopback (%s): is lo up, or `ulimit -n` too low?",
                  strerror(errno));
    worker->far = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (worker->far < 0)
        kit_error("cannot accept a connection over loopback (%s): is `ulimit -n` too low?",
                  strerror(errno));
    setsockopt(worker->near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(worker->far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    worker->poller = make_poller();
    watch(worker->poller, worker->far);
    watch(messengers[number / each].poller, worker->near);
}

static void connect_workers(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        kit_error("cannot listen on loopback (%s): is lo up?", strerror(errno));
    for (long i = 0; i < messenger_count; i++)
        messengers[i].poller = make_poller();
    for (long i = 0; i < messenger_count * each; i++)
        connect_worker(i, listener, &address);
    close(listener);
}

static void make_queues(void)
{
    struct queue *queue = NULL;

    for (long i = 0; i < messenger_count * each; i++) {
        if (kind == DISPATCH_EACH || i % each == 0) {
            queue = memory(sizeof *queue);
            sem_init(&queue->waiting, 0, 0);
        }
        workers[i].queue = queue;
    }
}

void dispatch_prepare(enum dispatch wanted, long messengers_wanted, long workers_each)
{
    kind = wanted;
    messenger_count = messengers_wanted;
    each = workers_each;
    messengers = memory((size_t)messenger_count * sizeof *messengers);
    workers = memory((size_t)(messenger_count * each) * sizeof *workers);
    for (long i = 0; i < messenger_count; i++)
        sem_init(&messengers[i].posted, 0, 0);
    if (kind == DISPATCH_TCP)
        connect_workers();
    else
        make_queues();
}

/* --- waiting --- */

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

static void await_bytes(int poller)
{
    struct epoll_event event;

    while (epoll_wait(poller, &event, 1, -1) < 0 && errno == EINTR)
        ;
}

/* --- messengers --- */

/* Returns 0 where nothing could be sent at once; the rest of what was begun is waited for. */
static int send_whole(int socket, const void *bytes, size_t size)
{
    ssize_t sent = send(socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent <= 0)
        return 0;
    return (size_t)sent == size ||
           send(socket, (const char *)bytes + sent, size - (size_t)sent, MSG_NOSIGNAL) > 0;
}

int dispatch_ask(long number, struct request request)
{
    struct queue *queue = workers[number].queue;

    if (kind == DISPATCH_TCP)
        return send_whole(workers[number].near, &request, sizeof request);
    if (queue->put - queue->taken >= MAX_WAITING)
        return 0;
    queue->requests[queue->put % SLOTS] = request;
    queue->put++;
    sem_post(&queue->waiting);
    return 1;
}

/* Returns whether a worker has said since the last call that it is free. */
static int was_posted(struct worker *worker)
{
    char byte;

    if (kind == DISPATCH_TCP)
        return recv(worker->near, &byte, 1, MSG_DONTWAIT) == 1;
    return atomic_exchange(&worker->free, 0);
}

long dispatch_free(long number)
{
    struct messenger *me = &messengers[number];

    while (!over) {
        if (kind == DISPATCH_TCP)
            await_bytes(me->poller);
        else
            await(&me->posted);
        for (long i = 0; i < each && !over; i++) {
            long found = number * each + me->next++ % each;
            if (was_posted(&workers[found]))
                return found;
        }
    }
    return -1;
}

/* --- workers --- */

void dispatch_post(long number)
{
    struct worker *worker = &workers[number];

    if (kind == DISPATCH_TCP) {
        if (send(worker->far, "", 1, MSG_NOSIGNAL) != 1 && !over)
            kit_error("a worker's connection was closed (%s)", strerror(errno));
        return;
    }
    worker->free = 1;
    sem_post(&messengers[number / each].posted);
}

int dispatch_take(long number, struct request *request)
{
    struct worker *worker = &workers[number];

    if (kind == DISPATCH_TCP) {
        await_bytes(worker->poller);
        return !over && recv(worker->far, request, sizeof *request, MSG_WAITALL) == sizeof *request;
    }
    await(&worker->queue->waiting);
    if (over)
        return 0;
    *request = worker->queue->requests[worker->queue->taken++ % SLOTS];
    return 1;
}

/* --- the end --- */

void dispatch_end(void)
{
    over = 1;
    for (long i = 0; i < messenger_count; i++)
        sem_post(&messengers[i].posted);
    for (long i = 0; i < messenger_count * each; i++)
        if (kind == DISPATCH_TCP)
            shutdown(workers[i].near, SHUT_RDWR); /* what is on its way still arrives */
        else
            sem_post(&workers[i].queue->waiting);
}

int dispatch_drain(long number, struct request *request)
{
    struct queue *queue = workers[number].queue;

    if (kind == DISPATCH_TCP)
        return recv(workers[number].far, request, sizeof *request, MSG_WAITALL) == sizeof *request;
    if (queue->taken == queue->put)
        return 0;
    *request = queue->requests[queue->taken++ % SLOTS];
    return 1;
}
