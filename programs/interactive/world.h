/*
 * The world a frame lives in: a clock, something that wakes it, and work. A test double stands in
 * for it in tests/programs/world.c.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdint.h>

/*
 * Reads the arguments and prepares; the period is 0 for a task that is not woken.
 *
 *     wake=timer|timerfd|futex|eventfd|pipe   what wakes: the task's own timer, the same through
 *                                             epoll, or another process
 *     speed=N                                 operations of work per ms [what is measured here]
 *     footprint=KIB                           the memory that the work goes over [64]
 *     unit=operations|cpu                     a frame's work is a number of operations, or time on
 *                                             the thread's CPU clock
 */
void world_prepare(int64_t period);

/* Gives another thread, which calls it, memory of its own to work on. */
void world_join(void);

/* Whether wake-ups come from another process and carry a stamp. */
int world_has_stamps(void);

/* Says when slot 0 of the schedule is. */
void world_begin(int64_t base);

int64_t world_now(void);

/*
 * Waits for the wake-up of a slot, which may be past; returns when the thread ran, and when it was
 * sent in *stamp.
 */
int64_t world_wait(long slot, int64_t planned, int64_t *stamp);

/* Sleeps until a moment. */
void world_rest(int64_t until);

/*
 * Does this much work: no allocation, lock or page fault and, if counted in operations, no system
 * call.
 */
void world_work(int64_t ns);

/* By how much the speed of work differs from the one it was counted by, now: 0.05 is 5 % slower. */
double world_drift(void);

/* The speed it is counted by, in operations per ms. */
double world_speed(void);

/*
 * The next of a sequence of numbers above 0 and up to 1, the same for the same seed on every
 * machine.
 */
double world_random(uint64_t *seed);

#endif
