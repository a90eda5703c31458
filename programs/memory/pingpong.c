/*
 * Core to core: two threads, pinned to two processors, pass one cache line back and forth, for
 * every pair of processors. One count is a round trip.
 *
 *   op=cas    each changes the line's word by compare-and-swap, once it is its turn
 *   op=store  each reads the word until it is its turn, and stores: the line is fetched to read and
 *             then again to write
 *
 * The shortest of a pair's samples is its latency: a preempted thread spoils any mean. The pairs
 * are those of the processors that the program was allowed to use when it started, whatever cpu=
 * says.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "memory/cpus.h"

enum {
    FOUND = 8192,
    MAX_CPUS = 64, /* processors whose pairs are measured */
    /* the distance depends on the line's address, which determines the cache that tracks it */
    LINES = 64,
    WARM = 24, /* round trips until both are running */
    ROUNDS = 1000,
    /* until a thread lets others run: its partner may be waiting for this processor */
    SPINS = 1 << 14,
};

enum { MINE, YOURS }; /* whose turn it is, as the first thread says it */

struct line {
    uint32_t word;
    char rest[252];
};

struct pair {
    int first, second;
    double least; /* ns of a round trip */
};

static struct line lines[LINES] __attribute__((aligned(4096)));
static struct {
    uint32_t number; /* of the sample that the partner is to play */
    char rest[252];
} order __attribute__((aligned(256)));
static int by_store;
static struct pair *pairs;
static int number;

/* --- the game --- */

static void wait_a_little(long *spins)
{
    if (++*spins % SPINS == 0)
        sched_yield();
}

/* Waits until it is `own` turn and hands the line to the other. */
static void hit(uint32_t *word, uint32_t own, uint32_t others)
{
    long spins = 0;

    if (by_store) {
        while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != own)
            wait_a_little(&spins);
        __atomic_store_n(word, others, __ATOMIC_RELEASE);
        return;
    }
    for (uint32_t is = own;
         !__atomic_compare_exchange_n(word, &is, others, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
         is = own)
        wait_a_little(&spins);
}

static void *partner(void *nothing)
{
    uint32_t played = 0;

    for (;;) {
        long spins = 0;
        while (__atomic_load_n(&order.number, __ATOMIC_ACQUIRE) == played)
            wait_a_little(&spins);
        played++;
        for (int i = 0; i < WARM + ROUNDS; i++)
            hit(&lines[played % LINES].word, YOURS, MINE);
    }
    return nothing;
}

/* Counts each round trip: on a busy machine a whole sample may take longer than the window. */
static void play(uint32_t *word, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        hit(word, MINE, YOURS);
        kit_count++;
    }
}

/* ns of a round trip. */
static double sample(void)
{
    uint32_t sample = order.number + 1;
    uint32_t *word = &lines[sample % LINES].word;
    int64_t start;

    __atomic_store_n(&order.number, sample, __ATOMIC_RELEASE);
    play(word, WARM);
    start = kit_now();
    play(word, ROUNDS);
    return (double)(kit_now() - start) / ROUNDS;
}

/* --- the pairs --- */

/* In random order, so that those which a short window has time for are any. */
static void make_pairs(const int *cpus, int cpu_number)
{
    uint64_t state = 1;

    pairs = calloc((size_t)cpu_number * (size_t)(cpu_number - 1) / 2, sizeof *pairs);
    if (!pairs)
        kit_error("no memory for the pairs of %d processors", cpu_number);
    for (int second = 1; second < cpu_number; second++)
        for (int first = 0; first < second; first++) {
            int other;
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            other = (int)((state >> 33) % (uint64_t)(number + 1));
            pairs[number++] = pairs[other];
            pairs[other] = (struct pair){.first = cpus[first], .second = cpus[second]};
        }
}

static int choose(int *cpus)
{
    static int found[FOUND];
    int there = cpus_allowed(found, FOUND), taken = there < MAX_CPUS ? there : MAX_CPUS;

    for (int i = 0; i < taken; i++)
        cpus[i] = found[i * there / taken];
    return there;
}

static void tell(int finished)
{
    int missing = 0;

    for (int i = 0; finished && i < number; i++)
        if (pairs[i].least > 0)
            kit_report("value pair_%d_%d %.5g ns\n", pairs[i].first, pairs[i].second,
                       pairs[i].least / 2);
        else
            missing++;
    if (missing)
        kit_report("note %d of %d pairs of processors did not fit the window: try a longer one\n",
                   missing, number);
}

/* The timer's signal is for the first thread. */
static pthread_t start_partner(void)
{
    pthread_t thread;
    sigset_t alarm, had;
    int why;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &had);
    why = pthread_create(&thread, NULL, partner, NULL);
    pthread_sigmask(SIG_SETMASK, &had, NULL);
    if (why)
        kit_error("cannot start a second thread (%s): is `ulimit -u` too low?", strerror(why));
    return thread;
}

int main(int argc, char **argv)
{
    int cpus[MAX_CPUS], there = choose(cpus);
    const char *op;
    pthread_t other;

    kit_init(argc, argv);
    op = kit_arg("op", "cas");
    by_store = strcmp(op, "store") == 0;
    if (!by_store && strcmp(op, "cas") != 0)
        kit_error("unknown op=%s: try cas or store", op);
    if (there < 2)
        kit_skip("there is only one processor to run on");
    make_pairs(cpus, there < MAX_CPUS ? there : MAX_CPUS);
    if (there > MAX_CPUS)
        kit_note("the pairs are those of %d of the %d processors, evenly spread", MAX_CPUS, there);
    kit_at_end(tell);
    kit_start();
    other = start_partner();
    for (int i = 0;; i = (i + 1) % number) {
        double took;
        cpus_pin(other, pairs[i].second);
        cpus_pin(pthread_self(), pairs[i].first);
        took = sample();
        if (pairs[i].least == 0 || took < pairs[i].least)
            pairs[i].least = took;
    }
}
