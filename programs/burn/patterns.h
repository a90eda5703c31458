/*
 * The patterns of a memory test. The memory is cut into chunks, and these into blocks; a pattern
 * defines the successive contents of a block. A sweep goes through all of the memory once: the
 * first writes the first content, the next checks it and writes the second, and so on; the last
 * only checks. There is a whole sweep between a write and its check, so caches that are small
 * compared with the memory hide nothing.
 */
#ifndef PATTERNS_H
#define PATTERNS_H

#include <stddef.h>
#include <stdint.h>

/* bytes: each period, of 64 or 20 words, fits it, and two of them fit a first-level cache */
#define BLOCK 5120
#define CHUNK (2048 * BLOCK) /* 10 MiB: five huge pages, and some ms of work */
/* places between which block-move rotates: the minimum number of chunks */
#define GROUP 4

enum { PATTERNS = 7 };

struct pattern {
    const char *name;
    unsigned contents;
    unsigned moves; /* sweeps that move what is there, between the last write and the check */
    uint32_t down;  /* bit i: sweep i goes from the last address to the first */
    int alike;      /* all blocks have the same content */
    /* of the block at that place */
    void (*make)(uint64_t *words, unsigned content, uint64_t place, uint64_t seed);
};

extern const struct pattern patterns[PATTERNS];

struct sweep {
    const struct pattern *pattern;
    unsigned number; /* which of the pattern's */
    char *memory;
    size_t chunks;
    uint64_t seed;
    long pass;
};

/* How many sweeps a pattern has. */
unsigned pattern_sweeps(const struct pattern *pattern);

/* The parts of a sweep, which threads may do in any order. */
size_t sweep_parts(const struct sweep *sweep);

/*
 * Bytes that a sweep, or a part of one, writes and reads: those it checks and writes count twice.
 */
uint64_t sweep_bytes(const struct sweep *sweep);
uint64_t sweep_part_bytes(const struct sweep *sweep);

/* Does a part. */
void sweep_do(const struct sweep *sweep, size_t part);

#endif
