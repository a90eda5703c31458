/* What a command does while it is traced with all of its processes. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include <sys/types.h>

enum { CALLS = 1024 }; /* numbers of system calls; the last stands for those of other architectures */

struct traced {
    unsigned long calls[CALLS], all; /* system calls that returned */
    unsigned long processes, threads; /* started, without the command itself */
    unsigned long read, written;      /* bytes that calls read and wrote, of files, pipes and all else */
    unsigned long memory;             /* KiB of the largest process */
    char largest[32];                 /* and its name */
};

/* Traces a child that waits to become the command; a system that does not allow that skips the test. */
void trace_begin(pid_t child);

/*
 * Traces a command until it has ended, and ends what outlives it; returns its status as wait4 has it. What it did before it
 * became the command is not counted.
 */
int trace(pid_t command, struct traced *counts);

#endif
