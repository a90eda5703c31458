/* The processor's counters, of a process and all that it starts, in user mode. */
#ifndef COMMAND_COUNTERS_H
#define COMMAND_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

struct counters {
    uint64_t instructions, cycles;
};

/*
 * Counts from when a child becomes another program. Returns 0 where the processor's counters cannot
 * be read: errno says why.
 */
int counters_begin(pid_t child);

/* The counts so far. Returns 0 where they cannot be read. */
int counters_read(struct counters *counted);

/*
 * Ends that; returns 0 where the counters were shared with others, so that a part was not counted.
 */
int counters_end(struct counters *counted);

#endif
