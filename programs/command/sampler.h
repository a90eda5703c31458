/* Samples of where a command spends processor time, by the software clock of perf_event_open(2). */
#ifndef COMMAND_SAMPLER_H
#define COMMAND_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Samples all that this process executes from now on, its children included, every `period` ns of
 * their processor time. Records are written to `file`. Returns 0 where the kernel refuses that:
 * errno says why.
 */
int sampler_begin(int file, uint64_t period);

/* Writes what there is, and waits until there is more or `child` has ended, 10 ms at most. */
void sampler_wait(pid_t child);

/* Ends the sampling. Returns 0 if the file is not whole: it had grown too large. */
int sampler_end(void);

/* True if the kernel's own functions are sampled too. */
int sampler_sees_kernel(void);

#endif
