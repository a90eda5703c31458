/* What is in the blocks of the disk tests, and in which order they are gone through. */
#ifndef DISK_BLOCKS_H
#define DISK_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A block is some of these, and each says which it is. */
enum { BLOCKS_SECTOR = 4096 };

/* Fills memory with what no disk can compress: another seed gives other bytes. */
void blocks_fill(void *memory, size_t size, uint64_t seed);

/*
 * Fills memory with the `size` bytes at offset `at`. The salt distinguishes what was written now
 * from what was there.
 */
void blocks_stamp(void *memory, size_t size, off_t at, uint64_t salt);

/*
 * Whether memory is what belongs there, whole: from anybody, or with a salt only what was stamped
 * with it.
 */
int blocks_right(const void *memory, size_t size, off_t at, const uint64_t *salt);

/*
 * The n-th block of a random order of `count` blocks. After each has come once, they come in
 * another order.
 */
uint64_t blocks_nth(uint64_t n, uint64_t count, uint64_t seed);

#endif
