/*
 * The kit: see kit.h. All of its data fits the page that holds the program's data anyway, and there is no stdio on the
 * way through a measurement: the process that is forked and executed in some tests must stay as small as possible.
 */
#define _GNU_SOURCE
#include "kit.h"
#include "arguments.h"
#include "place.h"
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_SLICES = 4096,
    SECOND = 1000000000,
    LOAD_WATCH = SECOND / 10, /* how soon a load sees that it should end */
    SHORTEST_SLICE = 100000,
};

/* A count and when it was reached. */
struct mark {
    unsigned long count;
    int64_t ns;
};

volatile unsigned long kit_count;

static int input = STDIN_FILENO;
static int output = STDOUT_FILENO;
static char text[1024]; /* lines not yet written */
static size_t text_used;
static void (*cleaner)(int finished);
static unsigned long (*counter)(void);
static void (*listener)(const char *words);
static struct kit_thread *team;
static int threads = 1;

static int64_t begun, slice, edge; /* edge: the next one */
static long slices, recorded;
static int pulsing;
static int heard, load_marked;
static unsigned long load_base;
static struct mark *edges; /* of each slice, one per thread */
static struct rusage own_before, own_after, children_before;
static int stopped;
static timer_t timer;

/* kit_tick fills the slot that is not current and then makes it so: the handler never sees half of one. */
static volatile struct mark ticks[2];
static volatile sig_atomic_t tick;

int64_t kit_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* --- ways out --- */

static _Noreturn void leave(int status, int finished)
{
    if (cleaner)
        cleaner(finished);
    _exit(status);
}

static void flush(void)
{
    size_t written = 0;

    while (written < text_used) {
        ssize_t n = write(output, text + written, text_used - written);
        if (n < 0 && errno != EINTR)
            leave(1, 0); /* nobody reads any more */
        if (n > 0)
            written += (size_t)n;
    }
    text_used = 0;
}

static void put(const char *words)
{
    for (; *words; words++) {
        if (text_used == sizeof text)
            flush();
        text[text_used++] = *words;
    }
}

static void put_number(int64_t number)
{
    char digits[24];
    char *first = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    put(" ");
    put(first);
}

/* Blocks the timer, so that its report cannot come between, and drops what was kept. */
static _Noreturn void give_up(const char *kind, int status, const char *format, va_list values)
{
    char reason[512];
    sigset_t alarm;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    vsnprintf(reason, sizeof reason, format, values);
    text_used = 0;
    put(kind);
    put(reason);
    put("\n");
    flush();
    leave(status, 0);
}

void kit_skip(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    give_up("skip ", 0, format, values);
}

void kit_error(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    give_up("error ", 1, format, values);
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

void kit_at_end(void (*clean)(int finished))
{
    cleaner = clean;
}

/* --- the report --- */

static void keep(const char *line)
{
    if (text_used + strlen(line) > sizeof text)
        kit_error("too many checks and values: %s", line);
    put(line);
}

void kit_check(const char *name, double number)
{
    char line[128];

    snprintf(line, sizeof line, "check %s %.15g\n", name, number);
    keep(line);
}

void kit_value(const char *name, double number, const char *unit)
{
    char line[128];

    snprintf(line, sizeof line, "value %s %.15g %s\n", name, number, unit);
    keep(line);
}

void kit_note(const char *format, ...)
{
    char line[256] = "note ";
    const size_t lead = strlen(line);
    va_list values;
    int length;

    va_start(values, format);
    length = vsnprintf(line + lead, sizeof line - lead - 1, format, values);
    va_end(values);
    memcpy(line + (length < (int)(sizeof line - lead - 1) ? lead + (size_t)length : sizeof line - 2), "\n", 2);
    keep(line);
}

void kit_report(const char *format, ...)
{
    char line[256];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    put(line);
}

void kit_slice(int64_t start, int64_t end, unsigned long count)
{
    put("slice");
    put_number(start);
    put_number(end);
    put_number((int64_t)count);
    put("\n");
}

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
    put("usage");
    put_number(nanoseconds(own.ru_utime, a->ru_utime));
    put_number(nanoseconds(own.ru_stime, a->ru_stime));
    put_number(nanoseconds(children.ru_utime, b->ru_utime));
    put_number(nanoseconds(children.ru_stime, b->ru_stime));
    put_number(own.ru_minflt - a->ru_minflt + children.ru_minflt - b->ru_minflt);
    put_number(own.ru_majflt - a->ru_majflt + children.ru_majflt - b->ru_majflt);
    put_number(own.ru_nvcsw - a->ru_nvcsw + children.ru_nvcsw - b->ru_nvcsw);
    put_number(own.ru_nivcsw - a->ru_nivcsw + children.ru_nivcsw - b->ru_nivcsw);
    put_number(own.ru_maxrss);
    put("\n");
}

void kit_stop(void)
{
    getrusage(RUSAGE_SELF, &own_after);
    stopped = 1;
}

/* Cleans first: what it waits for belongs to the usage. */
static _Noreturn void finish(void)
{
    if (cleaner)
        cleaner(1);
    cleaner = NULL;
    put_usage();
    put("done\n");
    flush();
    _exit(0);
}

void kit_finish(void)
{
    finish();
}

static void report_slices(int thread)
{
    int64_t from = begun;
    unsigned long before = 0;

    for (long i = 0; i < recorded; i++) {
        struct mark to = edges[i * threads + thread];
        if (to.count == 0 && ticks[tick].ns)
            to.ns = begun; /* no tick had told yet that completions are what counts */
        kit_slice(from, to.ns, to.count - before);
        from = to.ns;
        before = to.count;
    }
}

/* A team's threads go on meanwhile, for nothing: what is read of them here may be a little more than the slices have. */
static _Noreturn void report(void)
{
    unsigned long all = 0;

    for (int thread = 0; thread < threads; thread++)
        all += edges[(recorded - 1) * threads + thread].count;
    if (all == 0) {
        text_used = 0;
        put("error nothing was completed within the window: try a longer one\n");
        flush();
        leave(1, 0);
    }
    for (int thread = 0; thread < threads; thread++) {
        if (team) {
            put("copy");
            put_number(thread);
            put("\n");
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
    leave(0, 0);
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
 * A load says what it has done by now until it is told to `mark` a beginning; from there to the end of stdin is its slice.
 */
static void watch_load(struct mark here)
{
    struct pollfd in = {.fd = input, .events = POLLIN};
    char words[64];

    if (poll(&in, 1, 0) > 0) {
        ssize_t n = read(input, words, sizeof words - 1);
        if (n <= 0) {
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
        put("pulse");
        put_number(here.ns);
        put_number((int64_t)here.count);
        put("\n");
        flush();
    }
}

static void record(struct mark here)
{
    struct mark *at = edges + recorded++ * threads;

    at[0] = here;
    for (int thread = 0; team && thread < threads; thread++)
        at[thread] = (struct mark){team[thread].count, here.ns};
}

static void on_alarm(int number)
{
    int kept = errno;
    struct mark here = done_so_far();
    int64_t now = kit_now();

    (void)number;
    if (slices == 0)
        watch_load(here);
    else if (kit_abandoned())
        leave(0, 0);
    if (pulsing && now >= edge) {
        record(here);
        if (recorded == slices)
            report();
        edge += slice;
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

/* A mapping of its own that is not handed to children: a fork costs the same however many slices there are. */
static void prepare_edges(void)
{
    size_t size = (size_t)slices * (size_t)threads * sizeof *edges;

    if (slices == 0)
        return;
    edges = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (edges == MAP_FAILED || madvise(edges, size, MADV_DONTFORK) != 0)
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
            leave(0, 0);
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

/* Polls through most of the time, so that the end of stdin is noticed, and sleeps through the rest. */
static void sleep_until(int64_t when)
{
    struct timespec at = {.tv_sec = when / SECOND, .tv_nsec = when % SECOND};
    struct pollfd in = {.fd = input};
    int64_t left;

    while ((left = (when - kit_now()) / 1000000 - 1) > 0)
        if (poll(&in, 1, left < 1000 ? (int)left : 1000) > 0)
            leave(0, 0);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void hear(void)
{
    if (heard)
        return;
    heard = 1;
    place_deadline();
    arguments_refuse_unknown();
    prepare_timer();
    if (write(output, "ready\n", 6) != 6)
        leave(1, 0);
    read_go();
    if (begun + slice <= kit_now())
        begun = kit_now();
    edge = begun + slice; /* common to all copies, even for one that wakes late */
}

static void begin(int with_pulse)
{
    hear();
    prepare_edges();
    pulsing = with_pulse && slices > 0;
    sleep_until(begun);
    getrusage(RUSAGE_SELF, &own_before);
    getrusage(RUSAGE_CHILDREN, &children_before);
    begun = kit_now();
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

void kit_tick(void)
{
    volatile struct mark *next = &ticks[!tick];

    next->count = kit_count + 1;
    next->ns = kit_now();
    tick = !tick;
    kit_count = next->count;
}

void kit_detach_stdio(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    if (null < 0 || input < 0 || output < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
        input = STDIN_FILENO;
        output = output < 0 ? STDOUT_FILENO : output;
        kit_error("cannot move stdin and stdout (%s): is `ulimit -n` below 110?", strerror(errno));
    }
    close(null);
}
