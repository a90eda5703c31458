/*
 * Threads that share memory: the copies of a row with copies = "threads" and thread/team among its sources. All run the
 * same work, start together, and are reported one by one. This is a whole test:
 *
 *     static atomic_long shared;
 *
 *     static void work(struct kit_thread *me)
 *     {
 *         for (;;) {
 *             shared++;
 *             me->count++;
 *         }
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         kit_init(argc, argv);
 *         ... prepare; team_number() threads will come ...
 *         team_start(work);
 *     }
 *
 * The first thread is main's. It also takes the timer signal, so no thread waits for a processor for that.
 */
#ifndef TEAM_H
#define TEAM_H

#include "kit.h"

/* How many threads: threads=N (1). The i-th runs on the i-th processor of cpu=A,B,... if that is given. */
int team_number(void);

/* Instead of kit_start: runs `work` in every thread. It must run for ever, and count in me->count. */
_Noreturn void team_start(void (*work)(struct kit_thread *me));

/* Starts one more thread, which the timer's signal does not reach, on a small stack, so that thousands fit. 0, or why not. */
int team_thread(void *(*work)(void *own), void *own);

#endif
