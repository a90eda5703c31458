/* What is done about a word that is not what was written. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

#include "burn/patterns.h"

/* In main, before any: gets ready to tell physical addresses, and what it means when memory is lost altogether. */
void fault_open(void);

/*
 * Tells each of `number` words that is wrong, after a second look at it, and puts it right, so that it counts once. `seen`
 * are the bits that differed at the first look, in any of them.
 */
void fault_found(const struct sweep *sweep, uint64_t *words, const uint64_t *right, unsigned number, uint64_t seen);

/* Turns a bit over where nothing else knows of it: for the tests. Says on stderr where. */
void fault_plant(const struct sweep *sweep);

#endif
