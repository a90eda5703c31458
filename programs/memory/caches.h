/* The caches of the processor that the program runs on, and sizes of arrays that fit them. */
#ifndef CACHES_H
#define CACHES_H

#include <stddef.h>

/*
 * The size in bytes of each of `arrays` arrays, from the argument size=: BYTES, with k or m for KiB
 * or MiB, or by cache level
 *
 *   l1   half of the first level's data cache, all arrays together
 *   l2   three eighths of a core's share of the second level, all together, or three times the
 *        first if that is more: whatever shares the core, visible or not, has its part of the cache
 *        too
 *   l3   a quarter of a core's share of the third level, or three times the second
 *   ram  four times the last level, at least 64 MiB, each; bandwidth takes less where memory has no
 *        room for that
 *
 * It is a multiple of `step`. Skips if the requested cache is unknown.
 */
size_t caches_size(int arrays, size_t step);

/* What `ram` is. */
size_t caches_ram(void);

#endif
