/*
 * How requests get from a messenger to its workers, all of them threads: through queues in memory,
 * or connections.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#include <stdint.h>

enum dispatch {
    DISPATCH_EACH,   /* a queue for each worker */
    DISPATCH_SHARED, /* a queue for all workers of a messenger: the next one that is free serves */
    DISPATCH_TCP,    /* a connection over loopback for each worker, who waits for it by epoll */
};

struct request {
    int64_t planned, sent; /* ns */
};

/*
 * Workers have numbers from 0 on: the first `workers` of them are those of the first messenger, and
 * so on.
 */
void dispatch_prepare(enum dispatch kind, long messengers, long workers);

/* In a messenger: hands a request to a worker. Returns 0 where too many are waiting already. */
int dispatch_ask(long worker, struct request request);

/*
 * In a messenger: waits for a worker that is free, and returns its number; -1 after dispatch_end.
 */
long dispatch_free(long messenger);

/* In a worker: tells its messenger that it is free. */
void dispatch_post(long worker);

/* In a worker: waits for a request. Returns 0 after dispatch_end. */
int dispatch_take(long worker, struct request *request);

/* Wakes everybody for the end. */
void dispatch_end(void);

/*
 * After dispatch_end, when no worker takes any more: takes a request that is still waiting. Returns
 * 0 if there is none.
 */
int dispatch_drain(long worker, struct request *request);

#endif
