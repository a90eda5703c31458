/*
 * The loops that move bytes as fast as the core can, with the widest vectors that this processor
 * has: see loops.c.
 *
 * Arrays are aligned to 64 bytes and `bytes` is a multiple of LOOPS_STEP. Each loop goes over the
 * array `passes` times.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include <stddef.h>
#include <stdint.h>

#define LOOPS_STEP 1024

/* Triad's factor: for small integers the results are exact, fused or not. */
#define LOOPS_FACTOR 3.0

struct loops {
    int width; /* bytes of a vector */
    /* returns the sum of all words */
    uint64_t (*read)(const void *from, size_t bytes, long passes);
    /* Plain stores, or with `stream` those that go past the caches where the processor has them. */
    void (*write)(void *to, uint64_t word, size_t bytes, long passes, int stream);
    void (*copy)(void *to, const void *from, size_t bytes, long passes, int stream);
    /* of doubles */
    void (*triad)(void *to, const void *one, const void *other, size_t bytes, long passes,
                  int stream);
};

/* Whether there are streaming stores. */
extern const int loops_can_stream;

/*
 * The loops of vectors of `width` bytes, or of the widest with 0. Skips where this processor lacks
 * them.
 */
struct loops loops_of(int width);

#endif
