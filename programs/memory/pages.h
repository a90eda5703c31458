/* Memory to measure, in huge pages or small ones. */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>

/*
 * Maps `size` bytes, at a multiple of 2 MiB, in the pages that the argument pages=huge|small asks
 * for: the kernel gives them when they are touched, which is for the caller to do. Skips where it
 * is more than an eighth of the memory available.
 */
void *pages_map(size_t size);

/* The most bytes that pages_map maps, or SIZE_MAX where the kernel does not tell. */
size_t pages_most(void);

/* The share of it, once touched, that is in huge pages, from 0 to 1. */
double pages_huge(const void *memory, size_t size);

#endif
