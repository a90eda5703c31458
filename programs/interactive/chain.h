/*
 * A chain: several processes that make a frame one after the other. The leader is the program that
 * the tool started: it takes part in the work, keeps the frames and reports. The others are its
 * stages. They die with the leader however it dies, and the leader notices within a second when a
 * stage or stdin is gone. A whole chain:
 *
 *     chain_open();
 *     shared = chain_share(sizeof *shared);
 *     chain_hire("render", render, 0);
 *     window = chain_hear();
 *     frames_prepare(as many as there can be, 0);
 *     chain_begin();
 *     while (...) {
 *         chain_hand(&shared->forth);
 *         chain_await(&shared->back, ++frame);
 *         chain_frame(...);
 *     }
 *     chain_finish(&plan);
 *
 * Of the kit, a stage may use kit_now only, and of the world, work, rest and now.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "interactive/frames.h"
#include "kit.h"

/*
 * In the leader, once there is a world: makes ready for stages, and refuses what processes cannot
 * inherit.
 */
void chain_open(void);

/* Memory of zeros that the stages and the leader share. */
void *chain_share(size_t size);

/*
 * In the leader: starts a stage, a process that runs work(number) and gets the leader's standing
 * with the scheduler.
 */
void chain_hire(const char *name, void (*work)(long number), long number);

/*
 * In the leader: waits until all stages are prepared, says ready, and hears go. A load's window
 * ends at INT64_MAX.
 */
struct chain_window {
    struct kit_window kit;
    int64_t base, end;
};
const struct chain_window *chain_hear(void);

/* In the leader: returns when the window opens. */
void chain_begin(void);

/*
 * In the leader: frames_add for a frame that is done, and looks after stdin. Returns whether the
 * test must end.
 */
int chain_frame(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work);

/* In the leader: reports, and ends the program. */
_Noreturn void chain_finish(const struct frames_plan *plan);

/*
 * As kit_at_end, which is the chain's: has `clean` called on every way out, once the stages are
 * gone.
 */
void chain_after(void (*clean)(int finished));

/*
 * Kills a child, and waits a second at most for its end if the test is finished. Async-signal-safe.
 */
void chain_end(pid_t process, int finished);

/*
 * Counts on which processes wait for each other, through futexes: handed adds one, await returns
 * when it is `count`.
 */
typedef _Atomic uint32_t chain_word;
void chain_hand(chain_word *word);
void chain_await(chain_word *word, uint32_t count);

/*
 * In the leader: poll(2) and sleep, looking after stages and stdin. The first waits until a moment,
 * or less: the caller must call it again.
 */
void chain_poll(struct pollfd *files, nfds_t number, int64_t until);
void chain_rest(int64_t until);

/* In the leader: ends the program with an error, as a stage is gone. */
_Noreturn void chain_lost(const char *name);

#endif
