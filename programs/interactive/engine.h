/*
 * Frames on an absolute schedule: slot k begins at base + k * period, however late the one before
 * was.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "kit.h"

/* What happens to what is late. */
enum engine_late {
    /*
     * what cannot begin before the next slot is dropped; after a late frame it continues with a
     * slot ahead
     */
    ENGINE_DROP,
    /* it catches up, back to back, and only what is behind by the depth of the queue is dropped */
    ENGINE_QUEUE,
    ENGINE_FREE,  /* no schedule: one frame follows another */
};

struct engine_task {
    int64_t period, deadline, work; /* ns; the deadline counts from the planned start */
    enum engine_late late;
    long depth; /* of the queue, in periods */
    int ramp;   /* the work goes from nothing to the whole period, once per window */
};

/*
 * Reads the task's arguments: period=US work=US deadline=US late=drop|queue|free depth=N ramp=0|1
 */
struct engine_task engine_read_task(void);

/* Says ready, runs the task for its window, and reports; as a load, counts frames for ever. */
_Noreturn void engine_run(const struct engine_task *task);

#endif
