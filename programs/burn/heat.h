/* Work that heats a processor and whose result is known: see cooling.c. */
#ifndef HEAT_H
#define HEAT_H

#include <stdint.h>

#define HEAT_MEMORY (64 << 20) /* bytes that a thread with the memory kind has */

/* The kinds, in the order in which mix goes through them. */
enum heat { SCALAR, VECTOR, MEMORY, HEATS };

/* Before all others, in main: finds out what the processor can do, and the right results. */
void heat_prepare(void);

/* What the vector kind uses: a name such as avx2. */
const char *heat_vectors(void);

/* Memory for the memory kind of one thread, or NULL. */
void *heat_memory(void);

/*
 * Some ms of work. Returns whether its result is right, which it is not where `wrong` has one bit
 * turned over in the middle.
 */
int heat_piece(enum heat kind, void *memory, int wrong);

#endif
