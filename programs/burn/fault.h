/* What is done about a word that is not what was written. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

#include "burn/patterns.h"

/*
 * In main, first: prepares to report physical addresses, and what to do when memory is lost
 * entirely.
 */
void fault_open(void);

/*
 * Reports each of `number` words that is wrong, after a second look, and corrects it, so that it
 * counts once. `seen` are the bits that differed at the first look, in any of them.
 */
void fault_found(const struct sweep *sweep, uint64_t *words, const uint64_t *right, unsigned number,
                 uint64_t seen);

/* Flips a bit without telling anything else, for the tests. Prints on stderr where. */
void fault_plant(const struct sweep *sweep);

#endif
