/*
 * Cooling: keeps all processors as hot as possible, and reports the clock of each. One count is a
 * piece of work of some ms, whose result is compared with the first one.
 *
 *   kind=scalar|vector|memory|mix   default mix: one after the other
 *   threads=N                       default one per CPU
 *   wrong=1                         for the tests: one wrong result per second in each thread
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "burn/burn.h"
#include "burn/heat.h"
#include "burn/room.h"
#include "kit.h"

enum {
    WARMING = 5000000, /* ns of additions before the clock at rest is measured */
    CHAINS = 16,       /* of additions; the fastest was not interrupted */
};

#define SECOND INT64_C(1000000000)

static const char *const names[HEATS + 1] = {"scalar", "vector", "memory", "mix"};

struct heater {
    atomic_ulong pieces;
} __attribute__((aligned(128)));

static struct heater *heaters;
static int threads, kind, planting;
static int64_t start;
static atomic_int resting;

static unsigned long pieces_done(void)
{
    unsigned long pieces = 0;

    for (int i = 0; i < threads; i++)
        pieces += atomic_load_explicit(&heaters[i].pieces, memory_order_relaxed);
    return pieces;
}

static void hear(const char *words)
{
    if (strstr(words, "rest"))
        atomic_store(&resting, 1);
}

/* Right after the work, to get the clock that the work ran at. */
static double measure_clock(void)
{
    double most = 0;

    for (int i = 0; i < CHAINS; i++) {
        double clock = kit_clock();
        most = clock > most ? clock : most;
    }
    return most;
}

static void warm_up(void)
{
    const int64_t until = kit_now() + WARMING;

    while (kit_now() < until)
        kit_clock();
}

static void sleep_until(int64_t when)
{
    const struct timespec at = {.tv_sec = when / SECOND, .tv_nsec = when % SECOND};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void heat(int thread)
{
    void *memory = kind == MEMORY || kind == HEATS ? heat_memory() : NULL;
    unsigned long told = 0, wrong = 0, pieces = 0;
    int64_t next = start + SECOND;
    int plant = planting;

    if (!memory && (kind == MEMORY || kind == HEATS))
        kit_error("no memory for thread %d: try kind=vector", thread);
    for (;;) {
        if (atomic_load(&resting)) {
            sleep_until(next);
            warm_up();
        } else {
            int good = heat_piece(kind == HEATS ? pieces % HEATS : (enum heat)kind, memory, plant);
            wrong += !good;
            atomic_fetch_add(&burn_faults, !good);
            atomic_store_explicit(&heaters[thread].pieces, ++pieces, memory_order_relaxed);
            plant = 0;
        }
        if (kit_now() < next)
            continue;
        burn_say("beat %lld %d %d %lu %.4f %lu", (long long)kit_now(), thread, sched_getcpu(),
                 pieces - told, measure_clock(), wrong);
        told = pieces;
        plant = planting;
        while (next <= kit_now())
            next += SECOND;
    }
}

static void refuse_too_much(void)
{
    struct room room;

    if (kind != MEMORY && kind != HEATS)
        return;
    room_look(&room);
    if ((int64_t)threads * HEAT_MEMORY > room.available - room.reserve)
        kit_skip("%d threads need %d MiB each, and of %lld MiB available in %s %lld stay: try "
                 "kind=vector",
                 threads, HEAT_MEMORY >> 20, (long long)(room.available >> 20), room.place,
                 (long long)(room.reserve >> 20));
}

int main(int argc, char **argv)
{
    const char *wanted;

    kit_init(argc, argv);
    wanted = kit_arg("kind", "mix");
    while (kind <= HEATS && strcmp(wanted, names[kind]) != 0)
        kind++;
    if (kind > HEATS)
        kit_error("unknown kind=%s: try scalar, vector, memory or mix", wanted);
    threads = burn_threads();
    planting = (int)kit_arg_number("wrong", 0, 0, 1);
    room_offer_to_killer();
    refuse_too_much();
    heaters = aligned_alloc(_Alignof(struct heater), (size_t)threads * sizeof *heaters);
    if (!heaters)
        kit_error("no memory for %d threads: try fewer", threads);
    memset(heaters, 0, (size_t)threads * sizeof *heaters);
    heat_prepare();
    kit_note("the vector kind uses %s", heat_vectors());
    kit_clock(); /* learns what reading the clock takes, once for all threads */
    kit_listener(hear);
    burn_start(pieces_done);
    start = kit_now();
    burn_hire(heat);
    for (;;)
        burn_wait(-1, 1000);
}
