/* The real world: see world.h. */
#define _GNU_SOURCE
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

enum {
    SECOND = 1000000000,
    LINE = 64, /* bytes from one operation's memory to the next one's */
    SAMPLE = 50000, /* operations in one sample of the speed: about 200 us */
    SETTLED = 100, /* samples without a better one: the clock has been at its highest for 20 ms */
    SAMPLES = 1500, /* at most: about 300 ms */
    CHECK = 50, /* samples of the check at the end */
    POLL = 30000, /* ns of work between looks at the thread's CPU clock */
    STAMPS = 1024, /* of a waker, by slot */
};

enum source { TIMER, TIMERFD, FUTEX, EVENTFD, PIPE, SOURCES };
static const char *const names[SOURCES] = {"timer", "timerfd", "futex", "eventfd", "pipe"};

/* Shared with the process that wakes. */
struct waker {
    _Atomic uint32_t slot, started; /* the last slot that was woken for; whether base is set */
    int64_t base;
    _Atomic int64_t stamps[STAMPS];
};

static enum source source;
static struct waker *waker;
static pid_t waker_process;
static int64_t waker_period;
static int descriptor = -1, other_end = -1, poller = -1;
static long reached; /* the last slot that a wake-up was received for */

static _Thread_local uint64_t *cells;
static size_t mask; /* cells - 1 */
static _Thread_local size_t cell;
static _Thread_local volatile uint64_t sum; /* of the work: what is not used would not be done */
static double speed; /* operations per ms */
static int by_cpu;

/* --- time --- */

int64_t world_now(void)
{
    return kit_now();
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

void world_rest(int64_t until)
{
    kit_sleep_until(until);
}

static int64_t thread_cpu(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* --- another process that wakes --- */

/* A wait ends after 100 ms at the latest, so that its caller can see whether the waker has died. */
static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    struct timespec limit = {.tv_nsec = SECOND / 10};

    return syscall(SYS_futex, word, operation, value, operation == FUTEX_WAIT ? &limit : NULL, NULL,
                   0);
}

static void send(uint32_t slot)
{
    static const uint64_t one = 1;
    ssize_t sent = 0;

    waker->slot = slot;
    if (source == FUTEX)
        futex(&waker->slot, FUTEX_WAKE, 1);
    else
        sent = write(other_end, &one, source == PIPE ? 1 : sizeof one);
    if (sent < 0)
        _exit(1);
}

static _Noreturn void wake_for_ever(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    while (!waker->started)
        futex(&waker->started, FUTEX_WAIT, 0);
    for (uint32_t slot = 1;; slot++) {
        world_rest(waker->base + slot * waker_period);
        waker->stamps[slot % STAMPS] = kit_now();
        send(slot);
    }
}

static void end_waker(int finished)
{
    kill(waker_process, SIGKILL);
    if (finished)
        waitpid(waker_process, NULL, 0);
}

static void start_waker(int64_t period)
{
    pid_t parent = getpid();
    int ends[2];

    waker_period = period;
    waker = mmap(NULL, sizeof *waker, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (waker == MAP_FAILED)
        kit_error("no memory to share with the waker (%s)", strerror(errno));
    if (source == EVENTFD)
        descriptor = other_end = eventfd(0, EFD_CLOEXEC);
    if (source == PIPE && pipe2(ends, O_CLOEXEC) == 0) {
        descriptor = ends[0];
        other_end = ends[1];
    }
    if (source != FUTEX && descriptor < 0)
        kit_error("cannot make the waker's %s (%s)", names[source], strerror(errno));
    waker_process = fork();
    if (waker_process < 0)
        kit_error("cannot start the waker (%s): is `ulimit -u` too low?", strerror(errno));
    if (waker_process == 0)
        wake_for_ever(parent);
    if (source == PIPE)
        close(other_end); /* so that the pipe ends with the waker */
    kit_at_end(end_waker);
}

/* Ends the program with an error if the waker has ended. */
static void check_waker(void)
{
    if (waitpid(waker_process, NULL, WNOHANG) == waker_process)
        kit_error("the process that wakes the task was ended by something else");
}

/* Receives wake-ups, several at once where they piled up, or none: the caller calls it again. */
static void receive_wakeups(void)
{
    struct pollfd in = {.fd = descriptor, .events = POLLIN};
    char bytes[256];
    uint64_t count = 0;
    ssize_t got;

    if (source == FUTEX) {
        if (waker->slot == (uint32_t)reached &&
            futex(&waker->slot, FUTEX_WAIT, (uint32_t)reached) != 0)
            check_waker();
        reached = waker->slot;
        return;
    }

    /* A pipe ends with the waker, so only the wait for an eventfd needs a limit. */
    if (source == EVENTFD && poll(&in, 1, 100) == 0) {
        check_waker();
        return;
    }

    got = source == PIPE ? read(descriptor, bytes, sizeof bytes)
                         : read(descriptor, &count, sizeof count);
    if (got <= 0)
        check_waker();
    else
        reached += source == PIPE ? got : (long)count;
}

/* --- wake-ups --- */

static void prepare_timerfd(void)
{
    struct epoll_event event = {.events = EPOLLIN};

    descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (descriptor < 0 || poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0)
        kit_error("cannot make a timer file (%s)", strerror(errno));
}

static void wait_for_timerfd(int64_t planned)
{
    struct itimerspec at = {.it_value = time_of(planned)};
    struct epoll_event event;
    uint64_t count;

    timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &at, NULL);
    while (epoll_wait(poller, &event, 1, -1) < 0 && errno == EINTR)
        ;
    if (read(descriptor, &count, sizeof count) < 0)
        kit_error("cannot read the timer file (%s)", strerror(errno));
}

int world_has_stamps(void)
{
    return source >= FUTEX;
}

void world_begin(int64_t base)
{
    if (!waker)
        return;
    waker->base = base;
    waker->started = 1;
    futex(&waker->started, FUTEX_WAKE, 1);
}

int64_t world_wait(long slot, int64_t planned, int64_t *stamp)
{
    int64_t woke;

    if (source == TIMER)
        world_rest(planned);
    else if (source == TIMERFD)
        wait_for_timerfd(planned);
    else
        while (reached < slot)
            receive_wakeups();
    woke = kit_now();
    /* An overwritten stamp is not used: latency then counts from when the wake-up was due. */
    *stamp = world_has_stamps() && reached < slot + STAMPS ? waker->stamps[slot % STAMPS] : planned;
    return woke;
}

/* --- work --- */

static void operate(int64_t operations)
{
    uint64_t value = sum;

    for (int64_t i = 0; i < operations; i++) {
        value = (value ^ cells[cell]) * UINT64_C(0x9e3779b97f4a7c15);
        cells[cell] = value;
        cell = (cell + LINE / sizeof *cells) & mask;
    }
    sum = value;
}

/*
 * The best of many samples on the thread's CPU clock: what disturbs a sample only ever makes it
 * slower.
 */
static double measure_speed(long samples, long settled)
{
    int64_t best = INT64_MAX;

    for (long i = 0, last = 0; i < samples && i - last < settled; i++) {
        int64_t from = thread_cpu(), took;
        operate(SAMPLE);
        took = thread_cpu() - from;
        if (took > 0 && took < best - best / 200) {
            best = took;
            last = i;
        }
    }
    return 1e6 * SAMPLE / (double)best;
}

void world_work(int64_t ns)
{
    int64_t from;

    if (ns == 0)
        return;
    if (!by_cpu) {
        operate((int64_t)((double)ns * speed / 1e6));
        return;
    }
    from = thread_cpu();
    while (thread_cpu() - from < ns)
        operate((int64_t)(POLL * speed / 1e6));
}

double world_drift(void)
{
    return speed / measure_speed(CHECK, CHECK) - 1;
}

double world_speed(void)
{
    return speed;
}

void world_join(void)
{
    const size_t size = (mask + 1) * sizeof *cells;

    cells =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (cells == MAP_FAILED)
        kit_error("no memory for a footprint of %zu KiB (%s)", size / 1024, strerror(errno));
}

static void prepare_work(void)
{
    long footprint = kit_arg_number("footprint", 64, 4, 1 << 20);
    const char *unit = kit_arg("unit", "operations");
    size_t size = 4096;

    while (size < (size_t)footprint * 1024)
        size *= 2;
    mask = size / sizeof *cells - 1;
    by_cpu = strcmp(unit, "cpu") == 0;
    if (!by_cpu && strcmp(unit, "operations") != 0)
        kit_error("unit=%s is neither operations nor cpu", unit);
    world_join();
    speed = (double)kit_arg_number("speed", 0, 0, 1000000000);
    if (speed == 0)
        speed = measure_speed(SAMPLES, SETTLED);
}

void world_prepare(int64_t period)
{
    const char *name = kit_arg("wake", "timer");

    while (source < SOURCES && strcmp(names[source], name) != 0)
        source++;
    if (source == SOURCES)
        kit_error("wake=%s is none of timer, timerfd, futex, eventfd and pipe", name);
    prepare_work();
    if (source == TIMERFD)
        prepare_timerfd();
    if (source != TIMER && !period)
        kit_skip("wake=%s is for tasks with a period of their own", name);
    if (world_has_stamps())
        start_waker(period);
}

/* --- chance --- */

/*
 * Knuth's linear congruential generator; the low bits of one are poor, so the high ones are taken.
 */
double world_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 32) + 1) / 4294967296.0;
}
