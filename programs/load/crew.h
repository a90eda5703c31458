/*
 * The crew: the processes of a load. The leader is the program that the tool started. It only talks
 * to the tool, so a load whose work waits a long time for a disk, memory or CPU still has a pulse
 * and ends when it should. The workers do the work. A whole load:
 *
 *     static void work(long number)
 *     {
 *         ... prepare ...
 *         crew_go();
 *         for (;;) {
 *             ... one piece of work ...
 *             ++*crew_count;
 *         }
 *     }
 *
 *     kit_init(argc, argv);
 *     crew_open(2);
 *     crew_hire(work, 0);
 *     crew_hire(work, 1);
 *     crew_run();
 *
 * Workers die with the leader however it dies, and a worker's death is the load's error. They have
 * /dev/null on 0 and 1, and of the kit they may use kit_now and kit_sleep_until only.
 */
#ifndef CREW_H
#define CREW_H

#include <stdint.h>

#include "kit.h"

/* CPUs that are online: at least one. */
long crew_cpus(void);

/* The argument `name`, where 0 or none is the number of CPUs. */
long crew_size(const char *name);

/* In the leader: makes room for this many workers. They are killed on every exit path. */
void crew_open(long most);

/* In the leader: starts a worker, which runs work(number); work must not return. */
void crew_hire(void (*work)(long number), long number);

/* In the leader: what is to be done once all workers are dead. Async-signal-safe calls only. */
void crew_after(void (*clean)(void));

/* In the leader: waits until all workers are prepared, starts, and supervises them. */
_Noreturn void crew_run(void);

/* In a worker: says that it is prepared, and waits for the start. */
void crew_go(void);

/* In the leader: takes the argument duty=PERCENT, 100 by default, if the workers rest for it. */
void crew_take_duty(void);

/*
 * In a worker, after each piece of work: rests, so that it works for its duty's share of every 10
 * ms, or of a longer time if a piece takes longer.
 */
void crew_rest(void);

/* In a worker: what it has done, in a cache line of its own. */
extern volatile unsigned long *crew_count;

/* In a worker: ends the load with an error that says what happened, to what, and what to try. */
_Noreturn void crew_fail(const char *format, ...) KIT_PRINTF;

/*
 * For a child that is to die with its parent, which was `parent`: `number` is the signal it then
 * gets.
 */
void crew_die_with(long parent, int number);

/* Adopts the orphans among the descendants, so that crew_reap finds them. */
void crew_adopt(void);

/*
 * Kills what is still a child, its orphans too, and reaps until there is none or `limit` ns have
 * passed: a process may hang in a device's driver, and that must not hang the tool.
 * Async-signal-safe.
 */
void crew_reap(int64_t limit);

/* Whether the tool is gone, for long preparations. What it has already written does not matter. */
int crew_abandoned(void);

/*
 * futex(2) on words that processes share. Waiting may end for no reason, or after `limit` ns if
 * that is not 0.
 */
void crew_futex_wait(uint32_t *word, uint32_t while_it_is, int64_t limit);
void crew_futex_wake(uint32_t *word, int number);

#endif
