/*
 * What commands do, counted: `count key=value ... -- SECTION ...` with sections as command/execute has them. Each arm is
 * executed twice, traced with all of its processes and without that, and reports as a copy. Of the traced execution:
 *
 *     value syscalls N calls            system calls that returned
 *     value call:NUMBER N calls       those of this number; call:other of other architectures than this program's
 *     value processes N processes     processes started, without the command itself
 *     value threads N threads         threads started
 *     value bytes_read N B            bytes that calls read and wrote, of files, pipes and all else
 *     value bytes_written N B
 *     value rss:NAME N KiB            the largest process, and its name
 *
 * and of the other:
 *
 *     value faults N faults           page faults, and context switches asked for, of the command and of the processes that
 *     value switches N switches       were waited for
 *     value instructions N            in user mode, where the processor's counters can be read; a note says why not
 *     value cycles N
 *
 *     folder=DIR input=FILE output=FILE ignore=1      as command/execute has them
 *
 * Nothing here is timed: a traced command is many times slower.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/arms.h"
#include "command/counters.h"
#include "command/process.h"
#include "command/trace.h"
#include "kit.h"

enum {
    LOOK = 10, /* ms between looks at stdin */
    NOT_FOUND = 127,
};

struct counts {
    struct traced traced;
    long faults, switches;
    struct counters counters;
    int has_counters;
};

/* A child that waits until it may become the command. */
struct waiting {
    pid_t number;
    int gate[2];
};

static struct arm arms[MOST_ARMS];
static struct counts counted[MOST_ARMS];
static int64_t began[MOST_ARMS], ended[MOST_ARMS];
static struct rusage *before; /* what the child used before it became the command */
static int ignore, input, output, no_counters;

/* --- executions --- */

static _Noreturn void become(const struct arm *arm, int gate)
{
    char byte;

    process_redirect(input, output);
    while (read(gate, &byte, 1) < 0 && errno == EINTR)
        ;
    close(gate);
    *before = (struct rusage){0};
    getrusage(RUSAGE_SELF, before);
    execvp(arm->words[0], arm->words);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(NOT_FOUND);
}

static struct waiting start(const struct arm *arm)
{
    struct waiting child;

    arms_prepare(arm);
    process_rewind(input, output);
    if (pipe2(child.gate, O_CLOEXEC) != 0 || (child.number = fork()) < 0)
        kit_error("cannot start '%s' (%s): is `ulimit -u` too low?", arm->words[0], strerror(errno));
    if (child.number == 0) {
        close(child.gate[1]);
        become(arm, child.gate[0]);
    }
    return child;
}

static void let_go(struct waiting child)
{
    close(child.gate[0]);
    close(child.gate[1]);
}

static void end_execution(const struct arm *arm, int status)
{
    process_end_children();
    if (status != 0 && !ignore)
        process_fail(arm->words, status);
}

static void count_traced(const struct arm *arm, struct counts *counts)
{
    const struct waiting child = start(arm);

    trace_begin(child.number);
    let_go(child);
    end_execution(arm, trace(child.number, &counts->traced));
}

static void count_alone(const struct arm *arm, struct counts *counts)
{
    const struct waiting child = start(arm);
    struct rusage used;
    int status;

    counts->has_counters = counters_begin(child.number);
    if (!counts->has_counters)
        no_counters = errno;
    let_go(child);
    while (wait4(child.number, &status, 0, &used) < 0)
        if (errno != EINTR)
            kit_error("lost '%s' (%s)", arm->words[0], strerror(errno));
    if (counts->has_counters)
        counts->has_counters = counters_end(&counts->counters);
    counts->faults = used.ru_minflt + used.ru_majflt - before->ru_minflt - before->ru_majflt;
    counts->switches = used.ru_nvcsw - before->ru_nvcsw;
    end_execution(arm, status);
}

static void count_arm(long number)
{
    began[number] = kit_now();
    count_traced(&arms[number], &counted[number]);
    count_alone(&arms[number], &counted[number]);
    ended[number] = kit_now();
}

/* --- the report --- */

static void report_calls(const struct traced *traced)
{
    kit_report("value syscalls %lu calls\n", traced->all);
    for (int call = 0; call < CALLS - 1; call++)
        if (traced->calls[call])
            kit_report("value call:%d %lu calls\n", call, traced->calls[call]);
    if (traced->calls[CALLS - 1])
        kit_report("value call:other %lu calls\n", traced->calls[CALLS - 1]);
}

static void report_arm(long number)
{
    const struct counts *counts = &counted[number];
    const struct traced *traced = &counts->traced;

    kit_slice(began[number], ended[number], 1);
    report_calls(traced);
    kit_report("value processes %lu processes\nvalue threads %lu threads\n", traced->processes, traced->threads);
    kit_report("value bytes_read %lu B\nvalue bytes_written %lu B\n", traced->read, traced->written);
    kit_report("value rss:%s %lu KiB\n", traced->largest, traced->memory);
    kit_report("value faults %ld faults\nvalue switches %ld switches\n", counts->faults, counts->switches);
    if (counts->has_counters)
        kit_report("value instructions %llu\nvalue cycles %llu\n", (unsigned long long)counts->counters.instructions,
                   (unsigned long long)counts->counters.cycles);
}

static void report(long arm_count)
{
    if (no_counters)
        kit_note("the processor's counters cannot be read here (%s)", strerror(no_counters));
    for (long i = 0; i < arm_count; i++) {
        if (arm_count > 1)
            kit_report("copy %ld\n", i);
        report_arm(i);
    }
}

/* Nothing is reported before the window is over. */
static void wait_until(int64_t end)
{
    while (kit_now() < end) {
        if (kit_abandoned())
            kit_leave();
        poll(NULL, 0, LOOK);
    }
}

int main(int argc, char **argv)
{
    const char *folder, *input_file, *output_file;
    struct kit_window window;
    long arm_count;

    kit_init(argc, argv);
    folder = kit_arg("folder", NULL);
    input_file = kit_arg("input", NULL);
    output_file = kit_arg("output", NULL);
    ignore = (int)kit_arg_number("ignore", 0, 0, 1);
    arm_count = arms_read(kit_command(), arms);
    before = mmap(NULL, sizeof *before, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (before == MAP_FAILED)
        kit_error("no memory (%s)", strerror(errno));
    kit_detach_stdio();
    process_init();
    input = input_file ? process_open(input_file, O_RDONLY) : STDIN_FILENO;
    output = output_file ? process_open(output_file, O_WRONLY | O_CREAT | O_TRUNC) : STDOUT_FILENO;
    arms_work_in(folder);
    window = kit_wait();
    for (long i = 0; i < arm_count; i++)
        count_arm(i);
    kit_stop();
    wait_until(window.first_edge + (window.slices - 1) * window.slice);
    report(arm_count);
    kit_finish();
}
