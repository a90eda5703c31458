/* Servers that commands talk to, one for each arm of a comparison. */
#ifndef COMMAND_SERVER_H
#define COMMAND_SERVER_H

#include "command/arms.h"

/*
 * Has servers be ready within `ms`. `failing` is called with the arm whose server fails, just
 * before the error.
 */
void server_init(long ms, void (*failing)(long arm));

/* The number of arms that have a server; an error if some have and others have not. */
long server_count(const struct arm *arms, long count);

/*
 * Starts an arm's server on a free port, which it and the arm's commands find in $PORT. It is not
 * ready yet.
 */
void server_start(struct arm *arm, long number);

/* Waits until an arm's server is ready. */
void server_await(const struct arm *arm, long number);

/* Has the commands that follow find the port of an arm's server. */
void server_address(long number);

/* Ends all servers. */
void server_end_all(void);

#endif
