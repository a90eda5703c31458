/*
 * The region of a command: it writes a byte to the descriptor whose number is in $UNIXMARK_READY
 * where what is measured begins, and one to that in $UNIXMARK_DONE where it ends.
 */
#ifndef COMMAND_REGION_H
#define COMMAND_REGION_H

#include <stdint.h>

/* What a command wrote to; the number is a bit. */
enum { REGION_READY = 1, REGION_DONE = 2 };

struct region {
    int written;        /* bits */
    int64_t start, end; /* ns of CLOCK_MONOTONIC; an end that was not written is the execution's */
};

/* Opens both descriptors for the commands that follow. */
void region_init(void);

/* True after that. */
int region_is_wanted(void);

/* Before an execution: forgets what was written. */
void region_begin(void);

/*
 * After an execution from `start` to `end`: its region. Each byte for `ready` begins anew, up to
 * the first for `done`.
 */
struct region region_end(int64_t start, int64_t end);

/* While it runs: the descriptors that were written to since the last look. */
int region_look(void);

#endif
