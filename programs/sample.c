/*
 * Samples beside the count: times of single operations, and the least time of short pieces of work.
 * See kit.h.
 */
#define _GNU_SOURCE
#include "sample.h"

#include <stdint.h>
#include <stdio.h>

#include "kit.h"
#include "own.h"

enum {
    KEPT_BITS = 7,                        /* of a time: within 1 % */
    EXACT_BUCKETS = 1 << (KEPT_BITS + 1), /* below, a time in ns is its own bucket */
    MAX_BITS = 40,                        /* of the longest time: 18 minutes */
    BUCKETS = EXACT_BUCKETS + (MAX_BITS - KEPT_BITS - 1) * (1 << KEPT_BITS),
    CHAIN_ADDITIONS = 16384,  /* one after the other: 5 us at 3 GHz */
    CHAIN_EVERY_NS = 1000000, /* so that measuring the clock costs some 0.5 % of the rate */
};

static struct kit_thread alone;
static __thread struct kit_thread *me = &alone;
static __thread int64_t reading; /* ns that reading the clock takes */
static long add_cycles;

void sample_init(void)
{
    add_cycles = kit_arg_number("add_cycles", 1, 1, 16);
}

void kit_is(struct kit_thread *thread)
{
    me = thread;
}

int sample_is_first(void)
{
    return me->number == 0;
}

/* --- times of single operations --- */

static unsigned bucket(uint64_t ns)
{
    unsigned top;

    if (ns < EXACT_BUCKETS)
        return (unsigned)ns;
    top = 63 - (unsigned)__builtin_clzll(ns);
    if (top >= MAX_BITS)
        return BUCKETS - 1;
    return EXACT_BUCKETS + (top - KEPT_BITS - 1) * (1U << KEPT_BITS) +
           (unsigned)(ns >> (top - KEPT_BITS) & ((1U << KEPT_BITS) - 1));
}

/* The middle of a bucket. */
static uint64_t time_of(unsigned number)
{
    unsigned shift;
    uint64_t low;

    if (number < EXACT_BUCKETS)
        return number;
    shift = (number - EXACT_BUCKETS) / (1U << KEPT_BITS) + 1;
    low = ((uint64_t)(number - EXACT_BUCKETS) % (1U << KEPT_BITS) + (1U << KEPT_BITS)) << shift;
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

#define TIMES_16(step) \
    step step step step step step step step step step step step step step step step

/*
 * A chain of additions, each waiting for the one before: a cycle each on most processors, and else
 * what add_cycles= says.
 */
static int64_t chain(void)
{
    unsigned long sum = 0, one = 1;
    int64_t start, end;

    __asm__ volatile("" : "+r"(one));
    start = kit_now();
    for (int i = 0; i < CHAIN_ADDITIONS / 64; i++) {
        TIMES_16(sum += one; __asm__ volatile("" : "+r"(sum)); sum += one;
                 __asm__ volatile("" : "+r"(sum)); sum += one; __asm__ volatile("" : "+r"(sum));
                 sum += one; __asm__ volatile("" : "+r"(sum));)
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
    /* a coarse clock cannot tell */
    return took > 0 ? (double)(CHAIN_ADDITIONS * add_cycles) / (double)took : 0;
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
        me->clock_due = now + CHAIN_EVERY_NS;
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
            kit_report("time %llu %lu\n", (unsigned long long)time_of(i),
                       (unsigned long)of->times[i]);
}
