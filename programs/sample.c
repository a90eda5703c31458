/* Samples beside the count: times of single operations, and the least time of short pieces of work. See kit.h. */
#define _GNU_SOURCE
#include "sample.h"

#include <stdint.h>
#include <stdio.h>

#include "kit.h"
#include "own.h"

enum {
    FINE = 7,                     /* bits of a time that are kept: within 1 % */
    EXACT = 1 << (FINE + 1),      /* below, a time is its own bucket */
    LONGEST = 40,                 /* bits of the longest time: 18 minutes */
    BUCKETS = EXACT + (LONGEST - FINE - 1) * (1 << FINE),
    CHAIN = 16384,                /* additions, one after the other: 5 us at 3 GHz */
    CHAIN_EVERY = 1000000,        /* ns: the clock costs some 0.5 % of the rate */
};

static struct kit_thread alone;
static __thread struct kit_thread *me = &alone;
static int64_t reading; /* ns that reading the clock takes */
static long add_cycles;

void sample_init(void)
{
    add_cycles = kit_arg_number("add_cycles", 1, 1, 16);
}

void kit_is(struct kit_thread *thread)
{
    me = thread;
}

/* --- times of single operations --- */

static unsigned bucket(uint64_t ns)
{
    unsigned top;

    if (ns < EXACT)
        return (unsigned)ns;
    top = 63 - (unsigned)__builtin_clzll(ns);
    if (top >= LONGEST)
        return BUCKETS - 1;
    return EXACT + (top - FINE - 1) * (1U << FINE) + (unsigned)(ns >> (top - FINE) & ((1U << FINE) - 1));
}

/* The middle of a bucket. */
static uint64_t time_of(unsigned number)
{
    unsigned shift;
    uint64_t low;

    if (number < EXACT)
        return number;
    shift = (number - EXACT) / (1U << FINE) + 1;
    low = ((uint64_t)(number - EXACT) % (1U << FINE) + (1U << FINE)) << shift;
    return low + (UINT64_C(1) << shift) / 2;
}

static uint32_t *new_times(void)
{
    const size_t size = BUCKETS * sizeof(uint32_t);
    void *times = own_memory(size);

    if (!times)
        kit_error("no memory for a histogram of %zu bytes", size);
    return times;
}

void kit_time(int64_t ns)
{
    if (!me->times)
        me->times = new_times();
    me->times[bucket(ns < 0 ? 0 : (uint64_t)ns)]++;
}

/* --- pieces of work --- */

#define TIMES_16(step) step step step step step step step step step step step step step step step step

/* A chain of additions, each waiting for the one before: a cycle each on most processors, and else what add_cycles= says. */
static int64_t chain(void)
{
    unsigned long sum = 0, one = 1;
    int64_t start, end;

    __asm__ volatile("" : "+r"(one));
    start = kit_now();
    for (int i = 0; i < CHAIN / 64; i++) {
        TIMES_16(sum += one; __asm__ volatile("" : "+r"(sum)); sum += one; __asm__ volatile("" : "+r"(sum));
                 sum += one; __asm__ volatile("" : "+r"(sum)); sum += one; __asm__ volatile("" : "+r"(sum));)
    }
    end = kit_now();
    return end - start;
}

static void learn_reading(void)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < 64; i++) {
        int64_t start = kit_now(), took = kit_now() - start;
        if (took < least)
            least = took;
    }
    reading = least;
}

double kit_clock(void)
{
    int64_t took;

    if (!reading)
        learn_reading();
    took = chain() - reading;
    return took > 0 ? (double)(CHAIN * add_cycles) / (double)took : 0; /* a coarse clock cannot tell */
}

void kit_piece(unsigned long work)
{
    int64_t now = kit_now();

    if (me->lap) {
        double each = (double)(now - me->lap - reading) / (double)work;
        if (each > 0 && (me->best == 0 || each < me->best))
            me->best = each;
    }
    if (me == &alone)
        kit_count += work;
    else
        me->count += work;
    if (now >= me->clock_due) {
        double clock = kit_clock();
        if (clock > me->clock)
            me->clock = clock;
        me->clock_due = now + CHAIN_EVERY;
    }
    me->lap = kit_now();
}

void sample_report(const struct kit_thread *of)
{
    if (!of)
        of = &alone;
    if (of->best > 0) {
        kit_report("value best %.9g ns\n", of->best);
        kit_report("value clock %.6g GHz\n", of->clock);
    }
    for (unsigned i = 0; of->times && i < BUCKETS; i++)
        if (of->times[i])
            kit_report("time %llu %lu\n", (unsigned long long)time_of(i), (unsigned long)of->times[i]);
}
