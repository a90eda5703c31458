/*
 * What an interactive test reports: every frame, and what the scheduler did to the thread that made
 * it.
 *
 *     plan PERIOD_NS DEADLINE_NS WORK_NS FRAMES LATENCY     once, before the frames
 *     frame PLANNED_NS WOKE_NS DONE_NS [STAMP_NS]           once per frame whose thread woke, after
 *                                                           the plan
 *
 * A frame is planned for a moment, its thread wakes, and its work is done. PERIOD 0: the moments
 * are events, not a clock's. DEADLINE counts from the planned moment; 0: there is none. FRAMES were
 * planned; those not reported were dropped, and so was one with DONE 0: its thread woke too late to
 * begin. STAMP is when another process sent the wake-up. LATENCY names the series that is the
 * test's score:
 *
 *     wake       from the planned moment, or the stamp, to the first instruction
 *     response   from the planned moment to done
 *     overrun    how much longer it took than the work alone
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>

#include "kit.h"

struct frames_plan {
    int64_t period, deadline, work; /* ns */
    long frames;                    /* 0: as many as were made */
    const char *latency;
};

/* Reads the argument break_over=US. */
void frames_init(void);

/* Memory of zeros that is touched; without it, an error. */
void *frames_memory(size_t size);

/* Maps and touches the memory for this many frames, with stamps or without. */
void frames_prepare(long most, int stamps);

/* Called when the window opens, and when the last frame is over. */
void frames_begin(void);
void frames_end(void);

/*
 * What the kernel keeps of a thread: for how long it ran, and was ready and waited (ns). Where the
 * frames are made by several threads, each calls frames_ran, one at a time, with what it had at the
 * beginning.
 */
struct frames_schedstat {
    long long ran, waited;
};
struct frames_schedstat frames_schedstat(void);
void frames_ran(struct frames_schedstat before);

/* Keeps a frame of any thread; the work is what it should have taken. */
void frames_keep(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work);

/* Keeps a frame of this thread. Returns whether it broke the limit, so that the test must end. */
int frames_add(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work);

/*
 * Prints the speed that work was counted by (operations per ms) and by how much it differs now,
 * with a note beyond 5 %.
 */
void frames_speed(double speed, double drift);

/* Prints plan, frames, slices and attribution, and ends the program. */
_Noreturn void frames_finish(const struct frames_plan *plan, const struct kit_window *window);

/* Checks stdin between frames, about twice a second; ends the program when it is closed. */
void frames_look(int64_t now);

#endif
