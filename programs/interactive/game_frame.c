/*
 * A game's frame: main -> render -> two workers -> render. Each stage is a process, and hands over
 * through a futex.
 *
 *     main=US render=US worker=US     the work of each stage [3000, 4000, 1000]; there are two
 *                                     workers at a time
 *     cap=US                          a frame begins no sooner than that after the one before [0:
 *                                     at once]
 *
 * Frames are not pipelined: main begins a frame when the one before is shown. Engines that let it
 * begin a frame ahead hide a late stage behind the others' work as long as that lasts; here each
 * hand-over is a part of what the frame takes, the number of processors that are needed is known
 * (two, for the workers), and frames per second are the inverse of latency.
 */
#define _GNU_SOURCE
#include <string.h>

#include "interactive/chain.h"
#include "interactive/world.h"

enum {
    WORKERS = 2,
};

/* Counts of frames, each in a cache line of its own. */
struct shared {
    _Alignas(64) chain_word simulated; /* by main, who hands over to render */
    _Alignas(64) chain_word prepared;  /* by render, who hands over to the workers */
    _Alignas(64) chain_word recorded;  /* by the workers: two of each frame */
    _Alignas(64) chain_word shown;
    int64_t done; /* when */
};

static struct shared *shared;
static int64_t main_work, render_work, worker_work, cap; /* ns */

static void work_for_render(long number)
{
    (void)number;
    for (uint32_t frame = 1;; frame++) {
        chain_await(&shared->prepared, frame);
        world_work(worker_work);
        chain_hand(&shared->recorded);
    }
}

static void render(long number)
{
    (void)number;
    for (uint32_t frame = 1;; frame++) {
        chain_await(&shared->simulated, frame);
        world_work(render_work);
        chain_hand(&shared->prepared);
        chain_await(&shared->recorded, frame * WORKERS);
        shared->done = kit_now();
        chain_hand(&shared->shown);
    }
}

/* Returns when the frame was shown: that main then hears of it late belongs to the next one. */
static int64_t make_frame(void)
{
    static uint32_t frame;

    world_work(main_work);
    chain_hand(&shared->simulated);
    chain_await(&shared->shown, ++frame);
    return shared->done;
}

/* When the frame after one that began and was shown then is to begin. */
static int64_t next_beginning(int64_t began, int64_t done)
{
    return began + cap > done ? began + cap : done;
}

/*
 * The first frame waits for a late start; one that is too late to begin before the window's end is
 * dropped.
 */
static void play(const struct chain_window *window, int64_t work)
{
    const int64_t end = window->end;
    int64_t planned = window->kit.slices ? window->base : kit_now(), shown = planned, done;
    int over = 0;

    while (!over && shown < end) {
        int64_t woke;
        if (cap)
            chain_rest(planned < end ? planned : end);
        woke = kit_now();
        if (woke >= end) {
            if (woke - planned > (cap ? cap : work))
                chain_frame(planned, 0, woke, 0, work);
            break;
        }
        done = make_frame();
        over = chain_frame(planned, 0, woke, done, work);
        shown = done;
        planned = next_beginning(planned, done);
    }
}

static void read_arguments(void)
{
    main_work = kit_arg_number("main", 3000, 100, 1000000) * 1000;
    render_work = kit_arg_number("render", 4000, 1, 1000000) * 1000;
    worker_work = kit_arg_number("worker", 1000, 1, 1000000) * 1000;
    cap = kit_arg_number("cap", 0, 0, 1000000) * 1000;
}

int main(int argc, char **argv)
{
    const struct chain_window *window;
    struct frames_plan plan = {.latency = "response"};
    long frames;

    kit_init(argc, argv);
    frames_init();
    world_prepare(0);
    read_arguments();
    chain_open();
    shared = chain_share(sizeof *shared);
    chain_hire("the render stage", render, 0);
    for (long i = 0; i < WORKERS; i++)
        chain_hire("a worker", work_for_render, i);
    make_frame();
    window = chain_hear();
    plan.deadline = cap; /* a frame rate is what has no cap */
    plan.work = main_work + render_work + worker_work;
    /*
     * Four times as many as the work allows: the processor may be faster than when its speed was
     * measured.
     */
    frames = window->kit.slices ? (long)((window->end - window->base) * 4 / plan.work) + 1 : 0;
    frames_prepare(frames, 0);
    chain_begin();
    play(window, plan.work);
    chain_finish(&plan);
}
