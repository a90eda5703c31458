/*
 * Threads that share memory: the copies of a row with "threads" in `as` and thread/team among its
 * sources. All run the same work, start together, and are reported one by one. This is a whole
 * test:
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
 * The first thread is main's. It also takes the timer signal, so no thread waits for a processor
 * for that.
 *
 * Where copies are processes there is one thread in each, and the same work is measured. So a row
 * may offer both (as = ["processes", "threads"]), if no copy writes what another reads: state of a
 * copy is `static __thread`, and is prepared in the thread itself, by team_prepare. A test that is
 * offered as threads is run under ThreadSanitizer. A single copy that is a thread has another next
 * to it, which sleeps.
 */
#ifndef TEAM_H
#define TEAM_H

#include "kit.h"

/*
 * How many threads: threads=N (1). The i-th runs on the i-th processor of cpu=A,B,... if that is
 * given.
 */
int team_number(void);

/*
 * Before team_start: has `prepare` called in each thread before `ready`, in one after the other and
 * in the first one first. What the first reports is the program's; the others' checks must be the
 * same.
 */
void team_prepare(void (*prepare)(struct kit_thread *me));

/*
 * Instead of kit_start: runs `work` in every thread. It must run for ever, and count in me->count.
 */
_Noreturn void team_start(void (*work)(struct kit_thread *me));

/*
 * Starts one more thread, which the timer's signal does not reach, on a small stack, so that
 * thousands fit. Returns 0, or the number of an error.
 */
int team_thread(void *(*work)(void *own), void *own);

#endif
