/*
 * The kit: see kit.h for the protocol and the interface.
 *
 * A program's loop adds to kit_count and calls nothing. A timer interrupts it at every edge of a
 * slice; the handler, on_alarm, notes the count, and after the last edge prints the report and ends
 * the process. So the code below runs in two places:
 *
 *   before the window  kit_start: say `ready`, read `go`, sleep until the start, arm the timer
 *   in the window      on_alarm, a signal handler: async-signal-safe calls only, and no stdio
 *
 * Some tests fork and execute their own process, so it must stay as small as possible: all of the
 * kit's data fits the page that holds the program's data anyway, and the counts of slices lie in a
 * mapping that children do not get.
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
    NS_PER_SECOND = 1000000000,
    MAX_SLICES = 4096,
    MIN_SLICE_NS = 100000,
    LOAD_LOOK_NS = NS_PER_SECOND / 10, /* how often a load looks whether it should end */
    TEST_LOOK_NS = NS_PER_SECOND,      /* how often a test does, between edges */
    MAX_READ_NS = 100000,              /* reading a team's counts; longer means interrupted */
    MAX_READ_TRIES = 3,
};

/* A count, and when it was reached. */
struct mark {
    unsigned long count;
    int64_t ns;
};

volatile unsigned long kit_count;

static int input = STDIN_FILENO;

/* What the program has told the kit. */
static unsigned long (*counter)(void);       /* counts in place of kit_count, or NULL */
static void (*listener)(const char *words);  /* hears what a load is told, or NULL */
static struct kit_thread *team;              /* the threads whose counts are read, or NULL */
static int threads = 1;

/* The window. Until it opens, `start` is when it is planned to; then, when it did. */
static struct {
    int64_t start, planned_start;
    int64_t slice; /* ns */
    long slices;   /* 0: this is a load, which works until stdin closes */
    int is_timed;  /* the timer notes the counts; otherwise the program watches the window itself */

    /* The edges noted so far, the start among them, with a mark for each thread. */
    struct mark *marks;
    long noted;
    int64_t next_edge; /* planned_start + n * slice, however late the others were noted */
    timer_t timer;
} window;

static int has_heard_go;

/* A load's slice begins at the line `mark`, with the work done until then. */
static struct {
    int is_marked;
    unsigned long count_before;
} load;

/* Usage at the start of the window, and at its end where kit_stop has set that. */
static struct {
    struct rusage own_before, own_after, children_before;
    int is_stopped;
} usage;

/*
 * Completions, where the program reports each one (kit_tick). It fills the slot that is not current
 * and then makes that current, so the handler never sees half of one.
 */
static volatile struct mark ticks[2];
static volatile sig_atomic_t tick;
static volatile long completions;

int64_t kit_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

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

void kit_raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* --- the report --- */

static void usage_begin(void)
{
    getrusage(RUSAGE_SELF, &usage.own_before);
    getrusage(RUSAGE_CHILDREN, &usage.children_before);
}

void kit_stop(void)
{
    getrusage(RUSAGE_SELF, &usage.own_after);
    usage.is_stopped = 1;
}

static int64_t nanoseconds(struct timeval after, struct timeval before)
{
    int64_t seconds = after.tv_sec - before.tv_sec, microseconds = after.tv_usec - before.tv_usec;

    return seconds * NS_PER_SECOND + microseconds * 1000;
}

static void report_usage(void)
{
    const struct rusage *a = &usage.own_before, *b = &usage.children_before;
    struct rusage own = usage.own_after, children;

    if (!usage.is_stopped)
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

static _Noreturn void finish(void)
{
    /* First, since it may wait for children, and these belong to the usage. */
    speech_clean();

    report_usage();
    speech_put("done\n");
    speech_flush();
    _exit(0);
}

void kit_finish(void)
{
    finish();
}

static struct mark *marks_of_edge(long edge)
{
    return window.marks + edge * threads;
}

static void report_slices(int thread)
{
    struct mark from = marks_of_edge(0)[thread];

    for (long edge = 1; edge < window.noted; edge++) {
        struct mark to = marks_of_edge(edge)[thread];

        /* Noted before the first completion, when nothing showed yet that completions count. A
         * slice without any has no length. */
        if (to.count == 0 && ticks[tick].ns)
            to.ns = from.ns;
        kit_slice(from.ns, to.ns, to.count - from.count);
        from = to;
    }
}

/*
 * Reports the slices and the samples of each thread. A team's other threads work on meanwhile, so
 * their samples may hold a little more than their slices.
 */
static _Noreturn void report_and_exit(void)
{
    const struct mark *first = marks_of_edge(0), *last = marks_of_edge(window.noted - 1);
    int64_t planned_end = window.planned_start + window.slice * window.slices;
    unsigned long all = 0;

    for (int thread = 0; thread < threads; thread++)
        all += last[thread].count - first[thread].count;
    /* A program that woke after the window has counted nothing either; its slices' times say so. */
    if (all == 0 && window.start < planned_end)
        kit_error("it did no work in its whole window: try fewer copies, or the longer windows of "
                  "--procedure classic; a program of your own has to raise kit_count");

    /* The program may report something here. That comes before any `copy`, so what it says of a
     * whole team is the first copy's. */
    speech_clean();
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

/* --- the window: what the timer's signal does --- */

int kit_abandoned(void)
{
    struct pollfd in = {.fd = input};

    return poll(&in, 1, 0) > 0;
}

void kit_leave(void)
{
    speech_leave(0, 0);
}

/* Has the timer's signal come at a moment of CLOCK_MONOTONIC; 0 stops it. */
static void arm_timer(int64_t when)
{
    struct timespec moment = {.tv_sec = when / NS_PER_SECOND, .tv_nsec = when % NS_PER_SECOND};
    struct itimerspec once = {.it_value = moment};

    timer_settime(window.timer, TIMER_ABSTIME, &once, NULL);
}

/* At the next edge or, where that is far away, earlier, to see whether stdin has closed. */
static void arm_timer_after(int64_t now)
{
    int64_t next_look = now + (window.slices ? TEST_LOOK_NS : LOAD_LOOK_NS);
    int edge_is_first = window.is_timed && window.next_edge < next_look;

    arm_timer(edge_is_first ? window.next_edge : next_look);
}

/* The work done by now, and now; in a program that reports completions, those of the last one. */
static struct mark work_so_far(void)
{
    struct mark done = {counter ? counter() : kit_count, kit_now()};

    for (int thread = 0; team && thread < threads; thread++)
        done.count += team[thread].count;
    if (ticks[tick].ns) {
        done.count = ticks[tick].count;
        done.ns = ticks[tick].ns;
    }
    return done;
}

/* A load prints its work so far until it reads `mark`; its slice lasts from there to EOF. */
static void serve_load(struct mark done)
{
    struct pollfd in = {.fd = input, .events = POLLIN};
    char words[64];

    if (poll(&in, 1, 0) > 0) {
        ssize_t n = read(input, words, sizeof words - 1);
        if (n <= 0) {
            /* Some programs count only once stdin has closed, perhaps since `done` was read. */
            done = work_so_far();
            kit_slice(window.start, done.ns, done.count - load.count_before);
            finish();
        }
        words[n] = '\0';
        if (listener)
            listener(words);
        if (strstr(words, "mark")) {
            load.is_marked = 1;
            load.count_before = done.count;
            window.start = done.ns;
            usage_begin();
        }
    }
    if (!load.is_marked) {
        speech_put("pulse");
        speech_number(done.ns);
        speech_number((int64_t)done.count);
        speech_put("\n");
        speech_flush();
    }
}

/*
 * Notes an edge. A team's counts are read one by one while its other threads work on. If something
 * came in between, the counts are of different moments, and are read again.
 */
static void note_edge(struct mark done)
{
    struct mark *marks = marks_of_edge(window.noted++);

    marks[0] = done;
    if (!team || ticks[tick].ns) /* only a team of one notes when it completes something */
        return;
    for (int tries = 0; tries < MAX_READ_TRIES; tries++) {
        done.ns = kit_now();
        for (int thread = 0; thread < threads; thread++)
            marks[thread] = (struct mark){team[thread].count, done.ns};
        if (kit_now() - done.ns < MAX_READ_NS)
            return;
    }
}

/* Whether the next completion is overdue: it has taken more than twice the mean of those before. */
static int is_stalled(struct mark done, int64_t now)
{
    return completions && now - done.ns > 2 * (done.ns - window.start) / completions;
}

/*
 * The timer's signal. It comes at every edge of a slice, and in between at least once a second (ten
 * times in a load), to see whether stdin has closed. The process may have slept through several
 * edges.
 */
static void on_alarm(int number)
{
    int saved_errno = errno;
    struct mark done;
    int64_t now;

    (void)number;
    confine_pay(); /* before the clock is read: a slowed program pays by longer slices */

    done = work_so_far();
    now = kit_now();
    if (window.slices == 0)
        serve_load(done);
    else if (kit_abandoned())
        kit_leave();

    /* Of edges that were slept through, the first takes all the work; the others are empty. */
    for (; window.is_timed && now >= window.next_edge; window.next_edge += window.slice) {
        int is_last = window.noted == window.slices;

        /* A stall across the end belongs to the last slice, though no completion has ended it. */
        if (is_last && is_stalled(done, now))
            done.ns = now;
        note_edge(done);
        if (is_last)
            report_and_exit();
    }

    arm_timer_after(now);
    errno = saved_errno;
}

/* --- before the window --- */

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
    if (timer_create(CLOCK_MONOTONIC, &event, &window.timer) != 0)
        kit_error("cannot create a timer (%s): is `ulimit -i` too low?", strerror(errno));
}

static void prepare_marks(void)
{
    size_t edges = (size_t)(window.slices + 1);

    if (window.slices == 0)
        return;
    window.marks = own_memory(edges * (size_t)threads * sizeof *window.marks);
    if (!window.marks)
        kit_error("no memory for %ld slices (%s)", window.slices, strerror(errno));
}

/* Byte by byte: what follows the line belongs to a load's listener. */
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
            kit_leave();
        if (line[used] == '\n')
            break;
        used++;
    }
    line[used] = '\0';
}

static void read_go(void)
{
    const int64_t max_ns = INT64_MAX / 4; /* so that sums of two do not overflow */
    char line[96];
    char *at = line + 2; /* after `go` */
    int is_valid;

    read_line(line, sizeof line);
    is_valid = strncmp(line, "go ", 3) == 0;
    if (is_valid) {
        window.start = strtoll(at, &at, 10);
        window.slice = strtoll(at, &at, 10);
        window.slices = strtol(at, &at, 10);
        is_valid = *at == '\0' && window.slices >= 0;
        is_valid = is_valid && window.start >= 0 && window.start < max_ns;
        is_valid = is_valid && window.slice >= 0 && window.slice < max_ns;
        is_valid = is_valid && (window.slices == 0 || window.slice > 0);
    }

    if (!is_valid)
        kit_error("'%s' is not a line I wait for: try 'go START_NS SLICE_NS SLICES'", line);
    if (window.slices > MAX_SLICES)
        kit_error("%ld slices are more than %d: make them longer", window.slices, MAX_SLICES);
    if (window.slices && (window.slice < MIN_SLICE_NS || window.slice > max_ns / window.slices))
        kit_error("a slice cannot last %lld ns: the shortest lasts %d", (long long)window.slice,
                  MIN_SLICE_NS);
}

/* Says `ready` and waits for `go`, once. */
static void hear_go(void)
{
    if (has_heard_go)
        return;
    has_heard_go = 1;

    place_deadline();
    arguments_refuse_unknown();
    prepare_timer();
    if (write(speech_output, "ready\n", 6) != 6)
        speech_leave(1, 0);
    speech_is_ready = 1;
    read_go();

    if (window.start == 0)
        window.start = kit_now();
    window.planned_start = window.start;
    window.next_edge = window.planned_start + window.slice;
}

void kit_sleep_until(int64_t when)
{
    struct timespec at = {.tv_sec = when / NS_PER_SECOND, .tv_nsec = when % NS_PER_SECOND};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

/* Polls most of the time, so that the end of stdin is noticed, and sleeps through the rest. */
static void wait_until(int64_t when)
{
    struct pollfd in = {.fd = input};
    int64_t left_ms;

    while ((left_ms = (when - kit_now()) / 1000000 - 1) > 0)
        if (poll(&in, 1, left_ms < 1000 ? (int)left_ms : 1000) > 0)
            kit_leave();
    kit_sleep_until(when);
}

static void open_window(int is_timed)
{
    hear_go();
    prepare_marks();
    window.is_timed = is_timed && window.slices > 0;
    wait_until(window.start);

    usage_begin();
    confine_begin(is_timed);
    window.start = kit_now();
    /* A team's other threads may have begun before the first, so the start is read as an edge. */
    if (window.is_timed)
        note_edge((struct mark){0, window.start});
    arm_timer_after(window.start);
}

void kit_start(void)
{
    open_window(1);
}

struct kit_window kit_hear(void)
{
    hear_go();
    return (struct kit_window){
        .start = window.start,
        .first_edge = window.next_edge,
        .slice = window.slice,
        .slices = window.slices,
    };
}

struct kit_window kit_wait(void)
{
    open_window(0);
    return kit_hear();
}

void kit_quiet(void)
{
    if (window.slices)
        arm_timer(0);
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
    if (null < 0 || input < 0 || speech_output < 0 ||
        dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
        const char *hint = "is `ulimit -n` below 110?";

        if (errno == EPERM)
            hint = "a filter denies fcntl or dup2, without which nothing is measured; allow them";

        /* What is left of stdout has to carry the error. */
        input = STDIN_FILENO;
        speech_output = speech_output < 0 ? STDOUT_FILENO : speech_output;
        kit_error("cannot move stdin and stdout (%s): %s", strerror(errno), hint);
    }
    close(null);
}
