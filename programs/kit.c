/*
 * The kit: see kit.h. All of its data fits the page that holds the program's data anyway, and there is no stdio on the
 * way through a measurement: the process that is forked and executed in some tests must stay as small as possible.
 */
#define _GNU_SOURCE
#include "kit.h"
#include "arguments.h"
#include "confine.h"
#include "own.h"
#include "place.h"
#include "sample.h"
#include "speech.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_SLICES = 4096,
    SECOND = 1000000000,
    LOAD_WATCH = SECOND / 10, /* how soon a load sees that it should end */
    SHORTEST_SLICE = 100000,
    INTERRUPTED = 100000, /* ns in which a team's counts are read, unless something came between */
};

/* A count and when it was reached. */
struct mark {
    unsigned long count;
    int64_t ns;
};

volatile unsigned long kit_count;

static int input = STDIN_FILENO;
static unsigned long (*counter)(void);
static void (*listener)(const char *words);
static struct kit_thread *team;
static int threads = 1;

static int64_t opening, begun, slice, edge; /* planned, and when it was; edge: the next one */
static long slices, recorded;
static int pulsing;
static int heard, load_marked;
static unsigned long load_base;
static struct mark *edges; /* of the window's start and of each slice, one per thread */
static struct rusage own_before, own_after, children_before;
static int stopped;
static timer_t timer;

/* kit_tick fills the slot that is not current and then makes it so: the handler never sees half of one. */
static volatile struct mark ticks[2];
static volatile sig_atomic_t tick;
static volatile long completions;

int64_t kit_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* --- what the timer reads and reports --- */

void kit_counter(unsigned long (*read_count)(void))
{
    counter = read_count;
}

void kit_listener(void (*listen)(const char *words))
{
    listener = listen;
}

void kit_team(struct kit_thread *of, int number)
{
    team = of;
    threads = number;
}

/* --- the report --- */

static int64_t nanoseconds(struct timeval after, struct timeval before)
{
    return (int64_t)(after.tv_sec - before.tv_sec) * SECOND + (int64_t)(after.tv_usec - before.tv_usec) * 1000;
}

static void put_usage(void)
{
    const struct rusage *a = &own_before, *b = &children_before;
    struct rusage own = own_after, children;

    if (!stopped)
        getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    speech_put("usage");
    speech_number(nanoseconds(own.ru_utime, a->ru_utime));
    speech_number(nanoseconds(own.ru_stime, a->ru_stime));
    speech_number(nanoseconds(children.ru_utime, b->ru_utime));
    speech_number(nanoseconds(children.ru_stime, b->ru_stime));
    speech_number(own.ru_minflt - a->ru_minflt + children.ru_minflt - b->ru_minflt);
    speech_number(own.ru_majflt - a->ru_majflt + children.ru_majflt - b->ru_majflt);
    speech_number(own.ru_nvcsw - a->ru_nvcsw + children.ru_nvcsw - b->ru_nvcsw);
    speech_number(own.ru_nivcsw - a->ru_nivcsw + children.ru_nivcsw - b->ru_nivcsw);
    speech_number(own.ru_maxrss);
    speech_put("\n");
}

void kit_stop(void)
{
    getrusage(RUSAGE_SELF, &own_after);
    stopped = 1;
}

/* Cleans first: what it waits for belongs to the usage. */
static _Noreturn void finish(void)
{
    speech_clean();
    put_usage();
    speech_put("done\n");
    speech_flush();
    _exit(0);
}

void kit_finish(void)
{
    finish();
}

static void report_slices(int thread)
{
    struct mark from = edges[thread];

    for (long i = 1; i < recorded; i++) {
        struct mark to = edges[i * threads + thread];
        if (to.count == 0 && ticks[tick].ns)
            to.ns = begun; /* no tick had told yet that completions are what counts */
        kit_slice(from.ns, to.ns, to.count - from.count);
        from = to;
    }
}

/* A team's threads go on meanwhile, for nothing: what is read of them here may be a little more than the slices have. */
static _Noreturn void report(void)
{
    unsigned long all = 0;

    for (int thread = 0; thread < threads; thread++)
        all += edges[(recorded - 1) * threads + thread].count - edges[thread].count;
    if (all == 0 && begun < opening + slice * slices) { /* else it began too late, which the times say */
        kit_error("nothing was counted in the whole window: does the work end, and is kit_count raised?");
    }
    speech_clean(); /* what is reported there of a team is of all of it: the first copy's */
    for (int thread = 0; thread < threads; thread++) {
        if (team) {
            speech_put("copy");
            speech_number(thread);
            speech_put("\n");
        }
        report_slices(thread);
        sample_report(team ? team + thread : NULL);
    }
    finish();
}

/* --- the window --- */

int kit_abandoned(void)
{
    struct pollfd in = {.fd = input};

    return poll(&in, 1, 0) > 0;
}

void kit_leave(void)
{
    speech_leave(0, 0);
}

static void arm(int64_t when)
{
    struct itimerspec at = {.it_value = {.tv_sec = when / SECOND, .tv_nsec = when % SECOND}};

    timer_settime(timer, TIMER_ABSTIME, &at, NULL);
}

static void arm_next(int64_t now)
{
    int64_t watch = now + (slices ? SECOND : LOAD_WATCH);

    arm(pulsing && edge < watch ? edge : watch);
}

/* What was done by now: the counter, or the last completion where completions are what counts. */
static struct mark done_so_far(void)
{
    struct mark here = {counter ? counter() : kit_count, kit_now()};

    for (int thread = 0; team && thread < threads; thread++)
        here.count += team[thread].count;
    if (ticks[tick].ns) {
        here.count = ticks[tick].count;
        here.ns = ticks[tick].ns;
    }
    return here;
}

/*
 * A load prints its work so far until it reads `mark`; its slice lasts from there to EOF on stdin.
 */
static void watch_load(struct mark here)
{
    struct pollfd in = {.fd = input, .events = POLLIN};
    char words[64];

    if (poll(&in, 1, 0) > 0) {
        ssize_t n = read(input, words, sizeof words - 1);
        if (n <= 0) {
            here = done_so_far(); /* some only count when stdin has closed, which it may have since they looked */
            kit_slice(begun, here.ns, here.count - load_base);
            finish();
        }
        words[n] = '\0';
        if (listener)
            listener(words);
        if (strstr(words, "mark")) {
            load_marked = 1;
            begun = here.ns;
            load_base = here.count;
            getrusage(RUSAGE_SELF, &own_before);
            getrusage(RUSAGE_CHILDREN, &children_before);
        }
    }
    if (!load_marked) {
        speech_put("pulse");
        speech_number(here.ns);
        speech_number((int64_t)here.count);
        speech_put("\n");
        speech_flush();
    }
}

/* A team's counts again where the reading was interrupted: its other threads go on meanwhile. */
static void record(struct mark here)
{
    struct mark *at = edges + recorded++ * threads;

    at[0] = here;
    if (!team)
        return;
    for (int tries = 0; tries < 3; tries++) {
        here.ns = kit_now();
        for (int thread = 0; thread < threads; thread++)
            at[thread] = (struct mark){team[thread].count, here.ns};
        if (kit_now() - here.ns < INTERRUPTED)
            return;
    }
}

/* Whether what completes next is overdue: a stall across the end is in the last slice, though nothing ended it. */
static int is_stalled(struct mark here, int64_t now)
{
    return completions && now - here.ns > 2 * (here.ns - begun) / completions;
}

static void on_alarm(int number)
{
    int kept = errno;
    struct mark here;
    int64_t now;

    (void)number;
    confine_pay();
    here = done_so_far();
    now = kit_now();
    if (slices == 0)
        watch_load(here);
    else if (kit_abandoned())
        speech_leave(0, 0);
    /* Slices that were slept through have no length. */
    for (; pulsing && now >= edge; edge += slice) {
        if (recorded == slices && is_stalled(here, now))
            here.ns = now;
        record(here);
        if (recorded == slices + 1)
            report();
    }
    arm_next(now);
    errno = kept;
}

static void prepare_timer(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    sigset_t alarm;

    sigemptyset(&action.sa_mask);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (sigaction(SIGALRM, &action, NULL) != 0 || sigprocmask(SIG_UNBLOCK, &alarm, NULL) != 0)
        kit_error("cannot handle the alarm signal (%s)", strerror(errno));
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        kit_error("cannot create a timer (%s): is `ulimit -i` too low?", strerror(errno));
}

static void prepare_edges(void)
{
    size_t size = (size_t)(slices + 1) * (size_t)threads * sizeof *edges;

    if (slices == 0)
        return;
    edges = own_memory(size);
    if (!edges)
        kit_error("no memory for %ld slices (%s)", slices, strerror(errno));
}

static void read_line(char *line, size_t size)
{
    size_t used = 0;

    while (used < size - 1) {
        ssize_t n = read(input, line + used, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            kit_error("cannot read stdin (%s)", strerror(errno));
        if (n == 0)
            speech_leave(0, 0);
        if (line[used] == '\n')
            break;
        used++;
    }
    line[used] = '\0';
}

static void read_go(void)
{
    char line[96];
    char *at = line + 2;
    int good;

    read_line(line, sizeof line);
    good = strncmp(line, "go ", 3) == 0;
    if (good) {
        begun = strtoll(at, &at, 10);
        slice = strtoll(at, &at, 10);
        slices = strtol(at, &at, 10);
        good = *at == '\0' && begun >= 0 && begun < INT64_MAX / 4 && slices >= 0 && slice >= 0 && slice < INT64_MAX / 4;
        good = good && (slices == 0 || slice > 0);
    }
    if (!good)
        kit_error("'%s' is not a line I wait for: try 'go START_NS SLICE_NS SLICES'", line);
    if (slices > MAX_SLICES)
        kit_error("%ld slices are more than %d: make them longer", slices, MAX_SLICES);
    if (slices && (slice < SHORTEST_SLICE || slice > INT64_MAX / 4 / slices))
        kit_error("a slice cannot last %lld ns: the shortest lasts %d", (long long)slice, SHORTEST_SLICE);
}

void kit_sleep_until(int64_t when)
{
    struct timespec at = {.tv_sec = when / SECOND, .tv_nsec = when % SECOND};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

/* Polls through most of the time, so that the end of stdin is noticed, and sleeps through the rest. */
static void await(int64_t when)
{
    struct pollfd in = {.fd = input};
    int64_t left;

    while ((left = (when - kit_now()) / 1000000 - 1) > 0)
        if (poll(&in, 1, left < 1000 ? (int)left : 1000) > 0)
            speech_leave(0, 0);
    kit_sleep_until(when);
}

static void hear(void)
{
    if (heard)
        return;
    heard = 1;
    place_deadline();
    arguments_refuse_unknown();
    prepare_timer();
    if (write(speech_output, "ready\n", 6) != 6)
        speech_leave(1, 0);
    read_go();
    if (begun == 0)
        begun = kit_now();
    opening = begun;
    edge = opening + slice; /* common to all copies, however late one wakes */
}

static void begin(int with_pulse)
{
    hear();
    prepare_edges();
    pulsing = with_pulse && slices > 0;
    await(begun);
    getrusage(RUSAGE_SELF, &own_before);
    getrusage(RUSAGE_CHILDREN, &children_before);
    confine_begin(with_pulse);
    begun = kit_now();
    if (pulsing)
        record((struct mark){0, begun}); /* of a team, whose first thread may begin late, what the others have done by then */
    arm_next(begun);
}

void kit_start(void)
{
    begin(1);
}

struct kit_window kit_hear(void)
{
    hear();
    return (struct kit_window){.start = begun, .first_edge = edge, .slice = slice, .slices = slices};
}

struct kit_window kit_wait(void)
{
    begin(0);
    return kit_hear();
}

void kit_quiet(void)
{
    if (slices)
        arm(0);
}

void kit_tick(unsigned long work)
{
    volatile struct mark *next = &ticks[!tick];

    next->count = kit_count + work;
    next->ns = kit_now();
    tick = !tick;
    kit_count = next->count;
    completions++;
}

void kit_detach_stdio(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    speech_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    if (null < 0 || input < 0 || speech_output < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
        input = STDIN_FILENO;
        speech_output = speech_output < 0 ? STDOUT_FILENO : speech_output;
        kit_error("cannot move stdin and stdout (%s): %s", strerror(errno),
                  errno == EPERM ? "a filter denies fcntl or dup2, without which nothing is measured; allow them"
                                 : "is `ulimit -n` below 110?");
    }
    close(null);
}
