/*
 * Threads that share memory: the copies of a row with copies = "threads", which lists thread/team among its sources. All
 * run the same work, begin together, and are reported one by one. This is a whole test:
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
 * The first thread is main's. It takes the timer's pulse too, so no thread waits for a processor for that.
 */
#ifndef TEAM_H
#define TEAM_H

#include "kit.h"

/* How many threads: threads=N (1), of which the i-th runs on the i-th processor of cpu=A,B,... where that is given. */
int team_number(void);

/* In place of kit_start: runs `work` in every thread. It must go on for ever, and count in me->count. */
_Noreturn void team_start(void (*work)(struct kit_thread *me));

/* Starts one more thread, which the timer's signal does not reach, on a small stack, so that thousands fit. 0, or why not. */
int team_thread(void *(*work)(void *own), void *own);

#endif
