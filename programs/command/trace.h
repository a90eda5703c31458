/* What a command does while it is traced with all of its processes. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include <sys/types.h>

/* numbers of system calls; the last stands for those of other architectures */
enum { CALLS = 1024 };

struct traced {
    unsigned long calls[CALLS], all; /* system calls that returned */
    unsigned long processes, threads; /* started, without the command itself */
    /* bytes that calls read and wrote, of files, pipes and all else */
    unsigned long read, written;
    unsigned long memory;             /* KiB of the largest process */
    char largest[32];                 /* and its name */
    /* the first program that takes no library before its own, and why; empty: there is none */
    char refuses[32];
    const char *why;
    int region; /* the ends of its region that it wrote: see region.h */
};

/*
 * Traces a child that waits to become the command. Returns 0 on a system that does not allow that:
 * errno says why.
 */
int trace_begin(pid_t child);

/*
 * Traces a command until it has ended, and ends what outlives it; returns its status as wait4 has
 * it. What it did before it became the command is not counted. `words` are those of the command.
 *
 * If a region is wanted, only what it does there is counted. `at_edge` is called while the writer
 * stands still: with REGION_READY where the region begins, each time anew, and with REGION_DONE
 * where it ends, at the latest with the command.
 */
int trace(pid_t command, char **words, struct traced *counts, void (*at_edge)(int edge));

/* The page faults so far of all processes that are traced, and of those that they waited for. */
long trace_faults(void);

#endif
