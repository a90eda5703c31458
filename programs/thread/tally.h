/* What the threads of a team have counted, against what they did to the memory they share. */
#ifndef TALLY_H
#define TALLY_H

#include "kit.h"

/* Called first by the work of every thread. */
void tally_join(const struct kit_thread *me);

/*
 * For the cleaner of kit_at_end, while the other threads continue. Reports `check NAME 1` if the
 * sum of their counts equals what `done` returns, each time it is checked. At most `most` of the
 * work done is not counted yet.
 */
void tally_check(const char *name, unsigned long (*done)(void), unsigned long most);

/*
 * Report what was done `times` as a rate since the start, and how evenly the threads share: 1 where
 * all did the same.
 */
void tally_rate(const char *name, unsigned long times);
void tally_fairness(void);

#endif
