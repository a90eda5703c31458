/*
 * A server: messengers hand requests to workers, each a thread, and a worker answers by waiting,
 * input and output, and work.
 *
 *     messengers=M workers=T     T workers for each of M messengers [1, one per CPU that may be
 *                                used]
 *     arrivals=closed            a messenger wakes a worker as soon as that asks for a request:
 *                                schbench's shape [this one]
 *     arrivals=fixed|poisson     requests come on a schedule that no slow answer moves: rate=N a
 *                                second, share=PERCENT of that [100], seed=N
 *     through=futex|tcp          what wakes a worker: a semaphore, or a connection over loopback
 *     think=US work=US           of each request, asleep [100] and on the processor [1000]
 *     service=fixed|exponential  exponential: think and work are only the averages
 *     io=none|read|fsync         each request reads 4 KiB at random from a file of 64 MiB, and
 *                                writes it back to the disk
 *     deadline=US                from the planned moment to the answer, of a schedule [100000]
 *     delay=US stall=US          only to test: a worker runs so much later each time; a messenger
 *                                halts once, for so long
 *
 * Closed, the latency is from a messenger's call to the worker's first instruction, and no request
 * is planned before a worker is free; on a schedule it is from the planned moment to the answer,
 * and the requests of a messenger wait in one queue. Over TCP each connection is a queue of its
 * own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interactive/dispatch.h"
#include "interactive/frames.h"
#include "interactive/world.h"
#include "kit.h"
#include "thread/team.h"

enum {
    SECOND = 1000000000,
    MAX_THREADS = 1024, /* of one kind */
    BLOCK = 4096,
    BLOCKS = 16384, /* of the file */
    LOOK_NS = SECOND / 10, /* between looks at stdin */
    MIN_REQUEST_NS = 10000,
    /* The processor may be so many times as fast as when it was measured. */
    SPEED_MARGIN = 4,
    BACKLOG = 1 << 16, /* room of each worker for requests that were not answered */
};

struct answer {
    int64_t planned, sent, woke, done; /* done 0: never */
};

struct messenger {
    long number;
    long arrived; /* requests that were due */
    long lost;    /* of these, requests for which there was no room */
    uint64_t seed;
};

struct worker {
    struct answer *answers;
    long number, room, used;
    uint64_t seed;
    _Alignas(64) volatile unsigned long count;
};

static struct messenger *messengers;
static struct worker *workers;
static long messenger_count, each, worker_count; /* each: workers of a messenger */
static int closed, poisson, tcp, exponential, reads, writes;
static int64_t think, work, deadline, delay, stall; /* ns */
static double gap; /* ns from request to request of a messenger */
static int file = -1;
static int64_t base, end = INT64_MAX;
static pthread_barrier_t prepared, opened, finished;
static pthread_mutex_t reporting = PTHREAD_MUTEX_INITIALIZER;

/* Returns a length of an exponential distribution. */
static double draw(double mean, uint64_t *seed)
{
    return -log(world_random(seed)) * mean;
}

/* --- messengers --- */

/* In the middle of the window, once. */
static void halt(int64_t now, int *halted)
{
    if (!stall || *halted || now < base + (end - base) / 2)
        return;
    *halted = 1;
    world_rest(now + stall);
}

static void answer_calls(long messenger)
{
    int halted = 0;
    long worker;

    while ((worker = dispatch_free(messenger)) >= 0) {
        int64_t now;
        halt(kit_now(), &halted);
        now = kit_now();
        dispatch_ask(worker, (struct request){now, now});
    }
}

static void keep_to_the_schedule(struct messenger *me)
{
    /* On a clock, messengers take turns. */
    double due =
        (double)base -
        (poisson ? 0 : gap * (double)(messenger_count - 1 - me->number) / (double)messenger_count);
    int halted = 0;

    for (long i = 0;; i++) {
        int64_t planned;
        due += poisson ? draw(gap, &me->seed) : gap;
        planned = (int64_t)due;
        if (planned >= end)
            return;
        world_rest(planned);
        halt(planned, &halted);
        me->arrived++;
        me->lost +=
            !dispatch_ask(me->number * each + i % each, (struct request){planned, kit_now()});
    }
}

static void *run_messenger(void *own)
{
    struct messenger *me = own;

    pthread_barrier_wait(&prepared);
    pthread_barrier_wait(&opened);
    if (closed)
        answer_calls(me->number);
    else
        keep_to_the_schedule(me);
    pthread_barrier_wait(&finished);
    return NULL;
}

/* --- workers --- */

static int64_t length(int64_t mean, struct worker *me)
{
    return exponential && mean ? (int64_t)draw((double)mean, &me->seed) : mean;
}

static void read_and_write(struct worker *me)
{
    char block[BLOCK];
    off_t at;

    if (!reads)
        return;
    at = (off_t)(world_random(&me->seed) * (BLOCKS - 1)) * BLOCK;
    if (pread(file, block, sizeof block, at) != sizeof block)
        kit_error("cannot read the requests' file (%s)", strerror(errno));
    if (writes && (pwrite(file, block, sizeof block, at) != sizeof block || fdatasync(file) != 0))
        kit_error("cannot write the requests' file (%s): is the file system full?",
                  strerror(errno));
}

static void respond(struct worker *me)
{
    if (think)
        world_rest(kit_now() + length(think, me));
    read_and_write(me);
    world_work(length(work, me));
    me->count++;
}

static void keep(struct worker *me, struct answer answer)
{
    if (me->used < me->room)
        me->answers[me->used++] = answer;
}

/*
 * Serves requests until the window ends. A request whose answer is done later is not answered: on a
 * schedule it is kept as a dropped one (done is 0), in a closed loop it is forgotten.
 */
static void serve(struct worker *me)
{
    struct request request;

    for (;;) {
        struct answer answer;

        if (closed)
            dispatch_post(me->number);
        if (!dispatch_take(me->number, &request))
            return;
        if (delay)
            world_rest(kit_now() + delay);

        answer = (struct answer){request.planned, request.sent, kit_now(), 0};
        respond(me);
        answer.done = kit_now();
        if (answer.done >= end)
            answer.done = 0;
        if (answer.done || !closed)
            keep(me, answer);
        if (!answer.done)
            return;
    }
}

static void *run_worker(void *own)
{
    struct frames_schedstat before;

    world_join();
    world_work(work);
    pthread_barrier_wait(&prepared);
    pthread_barrier_wait(&opened);
    before = frames_schedstat();
    serve(own);
    pthread_mutex_lock(&reporting);
    frames_ran(before);
    pthread_mutex_unlock(&reporting);
    pthread_barrier_wait(&finished);
    return NULL;
}

/* --- preparation --- */

/* The file has no name, so that it ends with the program. */
static void make_file(void)
{
    static char block[BLOCK];

    file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        kit_skip("the file system of the current directory has no files without a name (%s): try "
                 "another --dir",
                 strerror(errno));
    for (long i = 0; i < BLOCKS; i++) {
        memset(block, (int)(i % 251) + 1, sizeof block);
        if (write(file, block, sizeof block) != sizeof block)
            kit_skip(
                "no room for a file of 64 MiB in the current directory (%s): try another --dir",
                strerror(errno));
    }
    fsync(file);
}

static void start(void *(*run)(void *), void *own, const char *what)
{
    int why = team_thread(run, own);

    if (why)
        kit_error("cannot start a %s (%s): try fewer workers, or a higher `ulimit -u`", what,
                  strerror(why));
}

static void start_threads(uint64_t seed)
{
    const unsigned all = (unsigned)(messenger_count + worker_count + 1);

    pthread_barrier_init(&prepared, NULL, all);
    pthread_barrier_init(&opened, NULL, all);
    pthread_barrier_init(&finished, NULL, all);
    for (long i = 0; i < worker_count; i++) {
        workers[i] =
            (struct worker){.number = i, .seed = seed + UINT64_C(1000003) * (uint64_t)(i + 1)};
        start(run_worker, &workers[i], "worker");
    }
    for (long i = 0; i < messenger_count; i++) {
        messengers[i] = (struct messenger){.number = i, .seed = seed + (uint64_t)i};
        start(run_messenger, &messengers[i], "messenger");
    }
    pthread_barrier_wait(&prepared);
}

static unsigned long count_all(void)
{
    unsigned long sum = 0;

    for (long i = 0; i < worker_count; i++)
        sum += workers[i].count;
    return sum;
}

static void prepare(uint64_t seed)
{
    worker_count = messenger_count * each;
    messengers = frames_memory((size_t)messenger_count * sizeof *messengers);
    workers = frames_memory((size_t)worker_count * sizeof *workers);
    dispatch_prepare(tcp      ? DISPATCH_TCP
                     : closed ? DISPATCH_EACH
                              : DISPATCH_SHARED,
                     messenger_count, each);
    if (reads)
        make_file();
    kit_counter(count_all);
    start_threads(seed);
}

/* --- arguments --- */

/* Returns the place of an argument's word, 0 if it is missing. */
static int choose(const char *name, const char *const *words)
{
    const char *word = kit_arg(name, words[0]);

    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    kit_error("%s=%s is not known: try %s=%s", name, word, name, words[1]);
}

static void read_arrivals(void)
{
    static const char *const kinds[] = {"closed", "fixed", "poisson", NULL};
    int kind = choose("arrivals", kinds);
    double rate = (double)kit_arg_number("rate", 1000, 1, 10000000);
    double share = (double)kit_arg_number("share", 100, 1, 1000);

    closed = kind == 0;
    poisson = kind == 2;
    gap = SECOND / (rate * share / 100) * (double)messenger_count;
    deadline = kit_arg_number("deadline", 100000, 1, 60000000) * 1000;
}

static void read_answers(void)
{
    static const char *const services[] = {"fixed", "exponential", NULL};
    static const char *const kinds[] = {"none", "read", "fsync", NULL};
    int io = choose("io", kinds);

    reads = io > 0;
    writes = io > 1;
    exponential = choose("service", services);
    think = kit_arg_number("think", 100, 0, 10000000) * 1000;
    work = kit_arg_number("work", 1000, 0, 10000000) * 1000;
    if (think + work < MIN_REQUEST_NS)
        kit_error("a request of less than 10 us is a hand-over, which `unixmark run "
                  "futex-handover` measures: try work=10");
}

static void read_arguments(void)
{
    static const char *const ways[] = {"futex", "tcp", NULL};
    cpu_set_t allowed;

    messenger_count = kit_arg_number("messengers", 1, 1, MAX_THREADS);
    each = kit_arg_number("workers", 0, 0, MAX_THREADS);
    if (each == 0)
        each = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    tcp = choose("through", ways);
    delay = kit_arg_number("delay", 0, 0, 10000000) * 1000;
    stall = kit_arg_number("stall", 0, 0, 10000000) * 1000;
    read_answers();
    read_arrivals();
    if (kit_arg_number("break_over", 0, 1, 1000000000))
        kit_skip("--break-over is for tasks whose frames follow each other, and requests are "
                 "answered side by side");
}

/* --- the report --- */

static int by_planned(const void *a, const void *b)
{
    const struct answer *one = a, *other = b;

    return (one->planned > other->planned) - (one->planned < other->planned);
}

/* What is in a queue at the end has waited until then. */
static void keep_what_is_left(struct worker *me)
{
    struct request request;

    while (dispatch_drain(me->number, &request))
        keep(me, (struct answer){request.planned, request.sent,
                                 request.sent > end ? request.sent : end, 0});
}

/*
 * Returns all answers in order. Of a schedule only requests that had their whole deadline before
 * the window's end are judged.
 */
static struct answer *gather(long *number)
{
    long most = 1, used = 0;
    struct answer *all;

    for (long i = 0; i < worker_count; i++) {
        if (!closed)
            keep_what_is_left(&workers[i]);
        most += workers[i].used;
    }
    all = frames_memory((size_t)most * sizeof *all);
    for (long i = 0; i < worker_count; i++)
        for (long k = 0; k < workers[i].used; k++)
            if (closed || workers[i].answers[k].planned + deadline <= end)
                all[used++] = workers[i].answers[k];
    qsort(all, (size_t)used, sizeof *all, by_planned);
    *number = used;
    return all;
}

static void report_rates(void)
{
    long answered = 0, arrived = 0;

    for (long i = 0; i < worker_count; i++)
        for (long k = 0; k < workers[i].used; k++)
            answered += workers[i].answers[k].done != 0;
    for (long i = 0; i < messenger_count; i++)
        arrived += messengers[i].arrived;
    kit_report("value requests %.2f 1/s\n", (double)answered * SECOND / (double)(end - base));
    if (!closed)
        kit_report("value offered %.2f 1/s\n", (double)arrived * SECOND / (double)(end - base));
}

static _Noreturn void report(const struct kit_window *window)
{
    struct frames_plan plan = {0, closed ? 0 : deadline, think + work, 0,
                               closed ? "wake" : "response"};
    struct answer *all = gather(&plan.frames);

    report_rates();
    frames_prepare(plan.frames, 1);
    for (long i = 0; i < plan.frames; i++)
        frames_keep(all[i].planned, all[i].sent, all[i].woke, all[i].done, plan.work);
    for (long i = 0; i < messenger_count; i++)
        plan.frames += messengers[i].lost;
    frames_speed(world_speed(), world_drift());
    frames_finish(&plan, window);
}

/* --- the window --- */

static void make_room(int64_t window)
{
    for (long i = 0; i < worker_count; i++) {
        workers[i].room =
            (long)(window / (think + work) + 1) * SPEED_MARGIN + (closed ? 0 : BACKLOG);
        workers[i].answers = frames_memory((size_t)workers[i].room * sizeof *workers[i].answers);
    }
}

static void wait_for_the_end(void)
{
    for (int64_t now = kit_now(); now < end; now = kit_now()) {
        if (end != INT64_MAX && kit_abandoned())
            kit_leave();
        world_rest(end - now > LOOK_NS ? now + LOOK_NS : end);
    }
}

int main(int argc, char **argv)
{
    struct kit_window window;

    kit_init(argc, argv);
    world_prepare(0);
    read_arguments();
    prepare((uint64_t)kit_arg_number("seed", 1, 0, 1 << 30));
    window = kit_hear();
    base = window.first_edge - window.slice;
    if (window.slices) {
        end = base + window.slice * window.slices;
        make_room(end - base);
    }
    kit_wait();
    if (window.slices)
        kit_quiet();
    else
        base = kit_now();
    pthread_barrier_wait(&opened);
    wait_for_the_end();
    dispatch_end();
    pthread_barrier_wait(&finished);
    kit_stop();
    report(&window);
}
