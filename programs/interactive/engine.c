/*
 * See engine.h. Nothing here asks the time or sleeps but through world.h, so that a test can drive
 * it.
 */
#include "engine.h"

#include <string.h>

#include "frames.h"
#include "world.h"

enum {
    MAX_PERIOD_US = 10000000, /* of a deadline and of work, too */
    LOAD_SWEEP = 100,         /* frames of a ramp in a load, which has no window */
    NAP = 600000000,          /* ns: longer sleeps than this are cut */
};

struct run {
    const struct engine_task *task;
    int64_t base, end; /* slot 0, and the end of the window */
    long frames;       /* planned, in slots 1 to frames */
    int64_t wanted; /* ns of work that was planned; of a task that runs freely, ns that it ran */
    int64_t had;    /* ns of work that was done */
};

static enum engine_late read_late(void)
{
    const char *late = kit_arg("late", "drop");

    if (strcmp(late, "drop") == 0)
        return ENGINE_DROP;
    if (strcmp(late, "queue") == 0)
        return ENGINE_QUEUE;
    if (strcmp(late, "free") == 0)
        return ENGINE_FREE;
    kit_error("late=%s is none of drop, queue and free", late);
}

struct engine_task engine_read_task(void)
{
    struct engine_task task = {.late = read_late()};

    task.period =
        kit_arg_number("period", 0, task.late == ENGINE_FREE ? 0 : 100, MAX_PERIOD_US) * 1000;
    task.work = kit_arg_number("work", 0, 0, MAX_PERIOD_US) * 1000;
    task.depth = kit_arg_number("depth", 1, 1, 1000);
    task.deadline = kit_arg_number("deadline", 0, 0, MAX_PERIOD_US) * 1000;
    task.ramp = (int)kit_arg_number("ramp", 0, 0, 1);

    if (task.late != ENGINE_FREE && task.period == 0)
        kit_error("a task that does not run freely needs a period: try period=16667");
    if (task.late == ENGINE_FREE && task.work == 0)
        kit_error("a task that runs freely needs work: try work=10000");
    if (task.late == ENGINE_FREE && (task.period || task.deadline || task.ramp))
        kit_error("a task that runs freely has no period, deadline or ramp: try late=drop");

    if (task.deadline == 0)
        task.deadline = task.late == ENGINE_QUEUE ? task.period * task.depth : task.period;
    return task;
}

static int64_t planned(const struct run *run, long slot)
{
    return run->base + slot * run->task->period;
}

/* The ramp ends just below the whole period: with nothing to spare no deadline could be met. */
static int64_t work_of(const struct run *run, long slot)
{
    long frames = run->frames ? run->frames : LOAD_SWEEP;

    return run->task->ramp ? run->task->period * ((slot - 1) % frames) / frames : run->task->work;
}

/* The first slot after this one that has not begun by now. */
static long ahead(const struct run *run, long slot, int64_t now)
{
    long next = (long)((now - run->base + run->task->period - 1) / run->task->period);

    return next > slot ? next : slot + 1;
}

/* The slot to go on with. */
static long next_slot(const struct run *run, long slot, int64_t now)
{
    const struct engine_task *task = run->task;
    long behind = (long)((now - run->base) / task->period) - task->depth + 1;

    if (task->late == ENGINE_QUEUE)
        return behind > slot + 1 ? behind : slot + 1;
    return now > planned(run, slot + 1) ? ahead(run, slot, now) : slot + 1;
}

/* Whether a frame that wakes now is too late to begin. */
static int is_lost(const struct run *run, long slot, int64_t woke)
{
    const struct engine_task *task = run->task;

    return woke >=
           planned(run, slot) + task->period * (task->late == ENGINE_QUEUE ? task->depth : 1);
}

/* Sleeps through a long time, with looks after stdin. */
static void rest_until(int64_t when)
{
    for (int64_t now = world_now(); when - now > NAP; now = world_now()) {
        world_rest(now + NAP);
        frames_look(now + NAP);
    }
}

/* Runs the frame of a slot; returns when it was over, and in *broke whether the test must end. */
static int64_t frame(struct run *run, long slot, int *broke)
{
    int64_t due = planned(run, slot), work = work_of(run, slot), stamp = 0, done = 0, woke;

    if (run->frames)
        rest_until(due);
    woke = world_wait(slot, due, &stamp);

    if (!is_lost(run, slot, woke)) {
        world_work(work);
        done = world_now();
        run->had += work;
        kit_count++;
    }
    *broke = frames_add(due, stamp, woke, done, work);
    return done ? done : woke;
}

/* Returns whether a frame broke the limit. */
static int keep_to_the_schedule(struct run *run)
{
    long last = 0;
    int broke = 0;

    for (long slot = 1; !broke && (run->frames == 0 || slot <= run->frames);) {
        int64_t now = frame(run, slot, &broke);
        last = slot;
        if (run->frames) {
            if (now >= run->end)
                break;
            frames_look(now);
        }
        slot = next_slot(run, slot, now);
    }
    /* Of a test that was ended, what was planned by then. */
    for (long slot = 1; slot <= (broke ? last : run->frames); slot++)
        run->wanted += work_of(run, slot);
    return broke;
}

/* The same of frames that follow each other. */
static int run_freely(struct run *run)
{
    int64_t from = run->end ? run->base : world_now(); /* the first frame waits for a late start */
    int broke = 0;

    while (!broke && (run->end == 0 || from < run->end)) {
        int64_t done;
        world_work(run->task->work);
        done = world_now();
        kit_count++;
        broke = frames_add(from, from, from, done, run->task->work);
        run->wanted += done - from;
        run->had += run->task->work;
        if (run->end)
            frames_look(done);
        from = done;
    }
    return broke;
}

static void report_work(const struct run *run)
{
    if (run->wanted)
        kit_report("value cpu_received %.4f %%\n", 100.0 * (double)run->had / (double)run->wanted);
    frames_speed(world_speed(), world_drift());
}

void engine_run(const struct engine_task *task)
{
    struct run run = {.task = task};
    struct frames_plan plan = {task->period, task->deadline, task->work, 0, "wake"};
    struct kit_window window;
    int broke;

    frames_init();
    world_prepare(task->period);
    window = kit_hear();
    run.base = window.first_edge - window.slice;
    if (window.slices) {
        run.end = run.base + window.slice * window.slices;
        run.frames = task->period ? (long)((run.end - run.base) / task->period) - 1 : 0;
        if (task->period && run.frames < 1)
            kit_error(
                "a window shorter than two periods of %lld ns holds no frame: try a longer one",
                (long long)task->period);
    }
    frames_prepare(run.frames      ? run.frames
                   : window.slices ? (long)((run.end - run.base) * 4 / task->work) + 1
                                   : 0,
                   world_has_stamps());
    kit_wait();
    if (window.slices)
        kit_quiet();
    frames_begin();
    world_begin(run.base);
    if (task->late == ENGINE_FREE) {
        plan = (struct frames_plan){0, 0, task->work, 0, "overrun"};
        broke = run_freely(&run);
    } else {
        plan.frames = run.frames;
        broke = keep_to_the_schedule(&run);
    }
    frames_end();
    if (!broke) {
        rest_until(run.end);
        world_rest(run.end);
    }
    report_work(&run);
    frames_finish(&plan, &window);
}
