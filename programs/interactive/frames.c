/*
 * See frames.h. A frame takes 16 bytes, so that an hour at 1 kHz fits into 64 MB; with stamps 20.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    UNIT = 16, /* ns: 32 bits of them are 68 s, the longest that can be reported */
    NOT_DONE = 0,
    SECOND = 1000000000,
    LOOK_NS = SECOND / 2,
};

struct record {
    int64_t planned;
    uint32_t woke, done; /* after planned, in units; done is 1 more, 0 is never */
};

static struct record *records;
static uint32_t *stamps; /* after planned, in units */
static long most, used;
static int64_t break_over, broke; /* ns */
static int64_t stall;
static long migrations;
static int last_cpu = -1;
static struct frames_schedstat before, total;
static int64_t looked;

void *frames_memory(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        kit_error("no memory for %zu bytes of frames (%s): try a shorter window", size,
                  strerror(errno));
    return memory;
}

void frames_init(void)
{
    break_over = kit_arg_number("break_over", 0, 1, 1000000000) * 1000;
}

void frames_prepare(long wanted, int with_stamps)
{
    most = wanted;
    if (most == 0)
        return;
    records = frames_memory((size_t)most * sizeof *records);
    if (with_stamps)
        stamps = frames_memory((size_t)most * sizeof *stamps);
}

struct frames_schedstat frames_schedstat(void)
{
    struct frames_schedstat found = {0, 0};
    FILE *file = fopen("/proc/thread-self/schedstat", "re");

    if (file && fscanf(file, "%lld %lld", &found.ran, &found.waited) != 2)
        found = (struct frames_schedstat){0, 0};
    if (file)
        fclose(file);
    return found;
}

void frames_ran(struct frames_schedstat since)
{
    struct frames_schedstat now = frames_schedstat();

    total.ran += now.ran - since.ran;
    total.waited += now.waited - since.waited;
}

void frames_begin(void)
{
    before = frames_schedstat();
    looked = kit_now();
}

void frames_end(void)
{
    frames_ran(before);
    kit_stop();
}

void frames_look(int64_t now)
{
    if (now - looked < LOOK_NS)
        return;
    looked = now;
    if (kit_abandoned())
        kit_leave();
}

static uint32_t units(int64_t ns)
{
    int64_t whole = ns > 0 ? ns / UNIT : 0;

    return whole < UINT32_MAX - 1 ? (uint32_t)whole : UINT32_MAX - 1;
}

/* Stops the kernel's tracing where it is on, as soon as possible: the cause is in its buffer. */
static void stop_tracing(void)
{
    static const char *const folders[] = {"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/"};
    char path[64], on = '0';

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int file;
        snprintf(path, sizeof path, "%stracing_on", folders[i]);
        file = open(path, O_RDWR | O_CLOEXEC);
        if (file < 0)
            continue;
        if (read(file, &on, 1) == 1 && on == '1' && pwrite(file, "0", 1, 0) == 1)
            kit_note("kernel tracing was stopped: its buffer ends at the frame that broke the "
                     "limit (%strace)",
                     folders[i]);
        close(file);
        return;
    }
}

static int64_t delay(int64_t planned, int64_t woke, int64_t done, int64_t work)
{
    return done ? done - planned - work : woke - planned;
}

void frames_keep(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work)
{
    if (delay(planned, woke, done, work) > stall)
        stall = delay(planned, woke, done, work);
    if (used < most) {
        if (stamps)
            stamps[used] = units(stamp - planned);
        records[used++] = (struct record){.planned = planned,
                                          .woke = units(woke - planned),
                                          .done = done ? units(done - planned) + 1 : NOT_DONE};
    }
}

int frames_add(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work)
{
    int cpu = sched_getcpu();

    migrations += last_cpu >= 0 && cpu != last_cpu;
    last_cpu = cpu;
    frames_keep(planned, stamp, woke, done, work);
    if (break_over == 0 || delay(planned, woke, done, work) <= break_over)
        return 0;
    broke = delay(planned, woke, done, work);
    stop_tracing();
    return 1;
}

static int64_t end_of(const struct record *record)
{
    return record->planned +
           (int64_t)(record->done == NOT_DONE ? record->woke : record->done - 1) * UNIT;
}

static void print_frames(long from)
{
    for (long i = from; i < used; i++) {
        const struct record *record = &records[i];
        long long planned = record->planned, woke = planned + (long long)record->woke * UNIT;
        long long done =
            record->done == NOT_DONE ? 0 : planned + (long long)(record->done - 1) * UNIT;
        if (stamps)
            kit_report("frame %lld %lld %lld %lld\n", planned, woke, done,
                       planned + (long long)stamps[i] * UNIT);
        else
            kit_report("frame %lld %lld %lld\n", planned, woke, done);
    }
}

/* A slice counts the frames that were done in it. */
static void print_slices(const struct kit_window *window)
{
    int64_t from = window->first_edge - window->slice;
    long at = 0;

    for (long i = 0; i < window->slices; i++) {
        int64_t to = from + window->slice;
        unsigned long count = 0;
        for (; at < used && (end_of(&records[at]) < to || i == window->slices - 1); at++)
            count += records[at].done != NOT_DONE;
        kit_slice(from, to, count);
        from = to;
    }
}

void frames_speed(double speed, double drift)
{
    kit_report("value speed %.0f ops/ms\n", speed);
    kit_report("value drift %.2f %%\n", drift * 100);
    if (drift > 0.05 || drift < -0.05)
        kit_report("note the speed of work drifted by more than 5 %% from its calibration during "
                   "the run\n");
}

/* Frames that were planned from a record to the last. */
static long planned_since(const struct frames_plan *plan, long first)
{
    return plan->period
               ? (long)((records[used - 1].planned - records[first].planned) / plan->period) + 1
               : used - first;
}

void frames_finish(const struct frames_plan *plan, const struct kit_window *window)
{
    long first = 0;

    if (broke) {
        kit_report("value broke_ns %lld ns\n", (long long)broke);
        kit_slice(window->first_edge - window->slice, end_of(&records[used - 1]), kit_count);
        while (first < used && records[first].planned < records[used - 1].planned - SECOND)
            first++;
    } else
        print_slices(window);
    kit_report("plan %lld %lld %lld %ld %s\n", (long long)plan->period, (long long)plan->deadline,
               (long long)plan->work,
               broke          ? planned_since(plan, first)
               : plan->frames ? plan->frames
                              : used,
               plan->latency);
    print_frames(first);
    kit_report("value stall_ns %lld ns\n", (long long)stall);
    if (last_cpu >= 0)
        kit_report("value migrations %ld migrations\n", migrations);
    if (total.ran > 0) {
        kit_report("value ran_ns %lld ns\n", total.ran);
        kit_report("value runqueue_wait_ns %lld ns\n", total.waited);
    }
    kit_finish();
}
