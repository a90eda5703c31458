/*
 * Memory latency: a chain of pointers that leads through all of the memory in random order, so that
 * each load waits for the one before and nothing can guess the next. One count is a load.
 *
 *   size=l1|l2|l3|ram|BYTES        see caches.h; of ram at most 256 MiB
 *   pages=huge|small               with small ones in ram, most loads also wait for a page table
 *                                  walk
 *   load_threads=N|others          threads on other processors that copy their own memory
 *                                  meanwhile, to keep the memory busy (others: one on each other
 *                                  processor). They do not count; `value traffic` reports the bytes
 *                                  they read and wrote.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "load/files.h"
#include "memory/caches.h"
#include "memory/cpus.h"
#include "memory/loops.h"
#include "memory/pages.h"
#include "thread/team.h"

enum {
    LINE = 64,
    APART = 128, /* in ram: lines are fetched in pairs */
    MIB = 1 << 20,
    MOST_CHAIN = 256 * MIB,
    PIECE = 40000, /* ns of work between two looks at the clock */
    STEPS = 32, /* loads of an iteration */
    SAMPLES = 5,
    SAMPLE = 64 * STEPS,
    MOST_CPUS = 8192,
    LEAST_LOAD = 32 * MIB, /* what a load thread goes over */
    STRIDE = 256 << 10, /* and what it copies between two counts */
};

/* The contents of each line. */
struct stop {
    struct stop *next;
    size_t number; /* how far it is from the first */
};

struct loader {
    volatile unsigned long bytes;
    int cpu;
    char *memory;
} __attribute__((aligned(128)));

/* Each copy has a chain of its own. */
static __thread struct stop *first;
static __thread size_t stops;
static __thread unsigned long piece; /* loads between two looks at the clock */
/* whether a chain ever led to another place than it should after so many loads */
static volatile int astray;
static struct loader *loaders;
static int loader_number;
static size_t load_size;
static struct loops loops;
static pthread_barrier_t gathered, opened;
static int64_t begun;

/* --- the chain --- */

#define TIMES_8(step) step step step step step step step step

static struct stop *chase(struct stop *at, unsigned long loads)
{
    for (; loads > 0; loads -= STEPS) {
        TIMES_8(at = at->next; at = at->next; at = at->next; at = at->next;)
    }
    return at;
}

/* A random order of all lines, in which the chain then goes. */
static uint32_t *shuffle(void)
{
    uint64_t *random = malloc(stops * sizeof *random);
    uint32_t *order = calloc(stops, sizeof *order);

    if (!random || !order)
        kit_error("no memory for the order of %zu lines: try a smaller size=", stops);
    files_random(random, stops * sizeof *random, stops);
    for (size_t i = 0; i < stops; i++) {
        size_t other = (random[i] >> 32) * (i + 1) >> 32;
        order[i] = order[other];
        order[other] = (uint32_t)i;
    }
    free(random);
    return order;
}

static void link_lines(char *memory, size_t apart)
{
    uint32_t *order = shuffle();
    struct stop *last;

    first = (void *)(memory + order[0] * apart);
    last = first;
    last->number = 0;
    for (size_t i = 1; i < stops; i++) {
        last->next = (void *)(memory + order[i] * apart);
        last = last->next;
        last->number = i;
    }
    last->next = first;
    free(order);
}

/*
 * Whether the chain is back at its beginning after as many steps as there are lines and not before:
 * then it meets them all.
 */
static int is_one_cycle(void)
{
    const struct stop *at = first->next;
    size_t steps = 1;

    for (; at != first && steps <= stops; at = at->next)
        steps++;
    return steps == stops;
}

static void tell_pages(const char *memory, size_t size)
{
    double huge = pages_huge(memory, size);

    kit_value("size", (double)size, "B");
    kit_value("huge", 100 * huge, "%");
    if (huge < 0.9 && strcmp(kit_arg("pages", "huge"), "huge") == 0)
        kit_note("only %.0f %% of the memory got huge pages, so walks of the page tables are part "
                 "of the latency: see "
                 "/sys/kernel/mm/transparent_hugepage/enabled",
                 100 * huge);
}

static void lay_chain(void)
{
    size_t size = caches_size(1, APART), apart = size >= caches_ram() ? APART : LINE;
    char *memory;

    if (size > MOST_CHAIN) {
        kit_note("the chain is %d MiB long and not %zu MiB, so that it is soon laid",
                 MOST_CHAIN / MIB, size / MIB);
        size = MOST_CHAIN;
    }
    stops = size / apart;
    memory = pages_map(size);
    memset(memory, 0, size);
    link_lines(memory, apart);
    tell_pages(memory, size);
    kit_check("cycle", is_one_cycle());
}

/* --- the load --- */

/* Copies one half of its memory to the other, over and over. */
static void *load(void *own)
{
    struct loader *me = own;
    const size_t half = load_size / 2;

    cpus_pin(pthread_self(), me->cpu);
    files_random(me->memory, load_size, (uint64_t)me->cpu);
    pthread_barrier_wait(&gathered);
    pthread_barrier_wait(&opened);
    for (size_t at = 0;; at = (at + STRIDE) % half) {
        loops.copy(me->memory + at, me->memory + half + at, STRIDE, 1, loops_can_stream);
        me->bytes += 2 * STRIDE;
    }
    return NULL;
}

static unsigned long traffic(void)
{
    unsigned long bytes = 0;

    for (int i = 0; i < loader_number; i++)
        bytes += loaders[i].bytes;
    return bytes;
}

/*
 * Starts the threads that are the load, and waits until their memory is filled. The first thread
 * stays where it is, and they go elsewhere.
 */
static void start_load(const int *cpus, int cpu_count)
{
    int own = sched_getcpu(), next = 0;
    char *memory;
    sigset_t alarm;

    load_size = caches_ram() / (size_t)loader_number / (2 * STRIDE) * (2 * STRIDE);
    load_size = load_size > LEAST_LOAD ? load_size : LEAST_LOAD;

    loops = loops_of(0);
    memory = pages_map((size_t)loader_number * load_size);
    loaders = aligned_alloc(128, (size_t)loader_number * sizeof *loaders);
    if (!loaders)
        kit_error("no memory for %d threads", loader_number);
    pthread_barrier_init(&gathered, NULL, (unsigned)loader_number + 1);
    pthread_barrier_init(&opened, NULL, (unsigned)loader_number + 1);

    /* Loaders inherit this. In the first thread, whose signal it is, the kit unblocks it. */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);

    cpus_pin(pthread_self(), own);
    for (int i = 0; i < loader_number; i++) {
        pthread_t thread;
        int why;

        if (cpus[next % cpu_count] == own)
            next++;
        loaders[i] = (struct loader){.cpu = cpus[next++ % cpu_count],
                                     .memory = memory + (size_t)i * load_size};
        why = pthread_create(&thread, NULL, load, loaders + i);
        if (why)
            kit_error("cannot start thread %d of %d (%s): try fewer load_threads=", i + 1,
                      loader_number, strerror(why));
    }
    pthread_barrier_wait(&gathered);
}

static int count_loaders(int cpu_count)
{
    if (strcmp(kit_arg("load_threads", "0"), "others") != 0)
        return (int)kit_arg_number("load_threads", 0, 0, MOST_CPUS);
    if (cpu_count < 2)
        kit_skip("there is only one processor to run on, and others should be busy");
    return cpu_count - 1;
}

/* --- the measurement --- */

/* As many loads as take PIECE ns. */
static unsigned long learn_piece(void)
{
    int64_t least = INT64_MAX;
    struct stop *at = first;

    for (int i = 0; i < SAMPLES; i++) {
        int64_t start = kit_now(), took;
        at = chase(at, SAMPLE);
        took = kit_now() - start;
        if (took < least)
            least = took;
    }
    if (at->number != SAMPLES * SAMPLE % stops)
        __atomic_store_n(&astray, 1, __ATOMIC_RELAXED);
    return (unsigned long)((double)PIECE * SAMPLE / (double)(least > 0 ? least : 1)) / STEPS *
               STEPS +
           STEPS;
}

static void tell(int finished)
{
    if (!finished)
        return;
    if (loader_number)
        kit_report("value traffic %.5g GB/s\n", (double)traffic() / (double)(kit_now() - begun));
    kit_report("check loads %d\n", !astray);
}

static void prepare(struct kit_thread *me)
{
    (void)me;
    lay_chain();
    piece = learn_piece();
}

static void work(struct kit_thread *me)
{
    struct stop *at = first;

    if (me->number == 0)
        begun = kit_now();
    if (loader_number)
        pthread_barrier_wait(&opened);
    for (size_t place = 0;;) {
        at = chase(at, piece);
        place = (place + piece) % stops;
        if (at->number != place)
            __atomic_store_n(&astray, 1, __ATOMIC_RELAXED);
        kit_piece(piece);
    }
}

/* The load is of the first copy alone, which is the only one where there is a load. */
static void prepare_with_load(struct kit_thread *me)
{
    static int cpus[MOST_CPUS];
    int cpu_count = cpus_allowed(cpus, MOST_CPUS);

    prepare(me);
    start_load(cpus, cpu_count);
}

static int count_allowed(void)
{
    static int cpus[MOST_CPUS];

    return cpus_allowed(cpus, MOST_CPUS);
}

int main(int argc, char **argv)
{
    int cpu_count = count_allowed();

    kit_init(argc, argv);
    loader_number = count_loaders(cpu_count);
    if (loader_number && team_number() > 1)
        kit_skip("load_threads= is for one copy: leave one of the two out");
    kit_at_end(tell);
    team_prepare(loader_number ? prepare_with_load : prepare);
    team_start(work);
}
