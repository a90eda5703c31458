/*
 * Commands of the user's, each execution in a fresh process: `execute key=value ... -- SECTION ...`, where a section is
 *
 *     run COUNT WORD...         an arm: the command that is measured
 *     prepare COUNT WORD...     what is executed before each execution of the next arm; it is not timed
 *     in 1 FOLDER               where the next arm works
 *     setup COUNT WORD...       what is executed once before the first window of a run
 *     cleanup COUNT WORD...     what end=1 executes
 *
 * Rounds follow each other until the window is over, at least one. A round executes every arm once, in random order, so
 * what is compared lies milliseconds apart. Each arm reports as a copy, with a slice from its first start to its last end,
 * `value wall`, the median time, and for each execution
 *
 *     execution ROUND START_NS END_NS USER_NS SYSTEM_NS MINOR MAJOR VOLUNTARY INVOLUNTARY MAXRSS_KB STATUS
 *
 * STATUS is the exit status, or 128 and the signal. `value start` is what a process takes that does nothing.
 *
 *     folder=DIR     where the commands work [where this program does]
 *     input=FILE     their stdin [/dev/null]
 *     output=FILE    their stdout [/dev/null]
 *     keep=1         what an execution prints is kept: a file ROUND-COPY in this program's directory
 *     warmup=N       rounds before the first window of a run [0]
 *     rounds=N       rounds of a window [0: until it is over]
 *     same=1         all arms must print the same, which is tried before the first window of a run
 *     ignore=1       a command may fail
 *     end=1          no arm is executed, but what comes after all [0]
 *     control=N      the first arm is executed twice in one of N rounds, by chance; the second time reports as the last arm
 *                    [0: never]
 *     seed=N         of the order [1]
 *
 * A command shares the program's process group, so whoever ends the group ends all. What outlives a command is ended after
 * each execution.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/arms.h"
#include "command/process.h"
#include "command/same.h"
#include "confine.h"
#include "kit.h"

enum {
    STARTS = 8,      /* processes that do nothing, of which the median is reported */
    SIGNALLED = 128, /* as shells have it */
};

/* What was executed of an arm. */
struct record {
    struct execution *executions;
    size_t executed, room;
};

static struct arm arms[MOST_ARMS];
static struct record records[MOST_ARMS];
static long arm_count, control; /* arm_count: with the control, which is the last */
static long rounds;
static int ignore, keeps, directory, input, output; /* directory: this program's own */
static double slowed; /* share of its time that each execution wastes, to test comparisons */
static uint64_t random_state;
static char nothing[] = "nothing";

/* --- files --- */

static int memory_file(void)
{
    const int file = memfd_create("output", MFD_CLOEXEC);

    if (file < 0)
        kit_error("cannot make a file in memory (%s)", strerror(errno));
    return file;
}

/* The file that keeps what an execution prints. A command that opens its stdout by name may cut it: others append. */
static int open_kept(long round, long arm)
{
    char name[48];
    int file;

    snprintf(name, sizeof name, "%ld-%ld", round, arm);
    file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        kit_error("cannot keep what the commands print (%s): is there room below --dir?", strerror(errno));
    return file;
}

/* --- rounds --- */

/* Makes an execution longer, so that it has wasted the share of its time that it shall. */
static void waste(struct execution *done)
{
    const int64_t end = done->end + (int64_t)((double)(done->end - done->start) * slowed / (1 - slowed));

    if (slowed == 0)
        return;
    while (done->end < end)
        done->end = kit_now();
}

static struct execution execute(const struct arm *arm, int to)
{
    struct execution done;

    arms_prepare(arm);
    process_rewind(input, to);
    done = process_execute(arm->words, input, to);
    if (done.status != 0 && !ignore)
        process_fail(arm->words, done.status);
    waste(&done);
    return done;
}

static struct execution execute_kept(long round, long arm)
{
    const int file = open_kept(round, arm);
    const struct execution done = execute(&arms[arm], file);

    close(file);
    return done;
}

static void keep(struct record *record, struct execution done)
{
    if (record->executed == record->room) {
        record->room = record->room ? 2 * record->room : 256;
        record->executions = realloc(record->executions, record->room * sizeof *record->executions);
        if (!record->executions)
            kit_error("no memory for %zu executions: try a shorter window", record->room);
    }
    record->executions[record->executed++] = done;
}

/* Marsaglia's xorshift64. */
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A round below 0 is a warm-up. */
static void execute_round(long round)
{
    const int without = control > 0 && (round < 0 || next_random() % (uint64_t)control > 0);
    const long due = arm_count - without;
    long order[MOST_ARMS];

    for (long i = 0; i < due; i++) {
        const long other = (long)(next_random() % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (long i = 0; i < due; i++) {
        const long arm = order[i];
        struct execution done = keeps && round >= 0 ? execute_kept(round, arm) : execute(&arms[arm], output);
        done.round = round;
        if (round >= 0)
            keep(&records[arm], done);
    }
}

static void check_output(void)
{
    const int first = memory_file(), other = memory_file();

    execute(&arms[0], first);
    for (long arm = 1; arm < arm_count - (control > 0); arm++) {
        execute(&arms[arm], other);
        same_check(first, other, arm + 1);
    }
    close(first);
    close(other);
}

/*
 * What comes once in a run, before its first window. A file in the program's directory, which is kept, tells the next trials
 * that it was done.
 */
static void begin_run(long warmup, int same)
{
    if (faccessat(directory, "begun", F_OK, 0) == 0)
        return;
    arms_execute(arms_setup);
    if (same)
        check_output();
    for (long i = 0; i < warmup; i++)
        execute_round(-1);
    close(openat(directory, "begun", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* --- the report --- */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double median_ms(int64_t *ns, size_t count)
{
    qsort(ns, count, sizeof *ns, by_number);
    return (double)(ns[(count - 1) / 2] + ns[count / 2]) / 2e6;
}

static long long nanoseconds(struct timeval time)
{
    return ((long long)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

static void report_execution(const struct execution *done)
{
    const struct rusage *used = &done->usage;
    const int status = WIFSIGNALED(done->status) ? SIGNALLED + WTERMSIG(done->status) : WEXITSTATUS(done->status);

    kit_report("execution %ld %lld %lld %lld %lld %ld %ld %ld %ld %ld %d\n", done->round, (long long)done->start,
               (long long)done->end, nanoseconds(used->ru_utime), nanoseconds(used->ru_stime), used->ru_minflt,
               used->ru_majflt, used->ru_nvcsw, used->ru_nivcsw, used->ru_maxrss, status);
}

static void report_record(const struct record *record)
{
    int64_t *walls = malloc((record->executed + 1) * sizeof *walls);

    if (!walls)
        kit_error("no memory for %zu times: try a shorter window", record->executed);
    if (record->executed)
        kit_slice(record->executions[0].start, record->executions[record->executed - 1].end, record->executed);
    for (size_t i = 0; i < record->executed; i++) {
        walls[i] = record->executions[i].end - record->executions[i].start;
        report_execution(&record->executions[i]);
    }
    if (record->executed)
        kit_report("value wall %.9g ms\n", median_ms(walls, record->executed));
    free(walls);
}

static void note_failures(void)
{
    size_t executed = 0, failed = 0;
    int status = 0;

    for (long arm = 0; arm < arm_count; arm++) {
        executed += records[arm].executed;
        for (size_t i = 0; i < records[arm].executed; i++)
            if (records[arm].executions[i].status != 0) {
                failed++;
                status = records[arm].executions[i].status;
            }
    }
    if (failed)
        kit_note("%s executions failed; one %s", failed == executed ? "all" : "some", process_end(status));
}

static void report(void)
{
    note_failures();
    if (process_left())
        kit_note("%ld processes outlived their commands and were ended", process_left());
    for (long arm = 0; arm < arm_count; arm++) {
        if (arm_count > 1)
            kit_report("copy %ld\n", arm);
        report_record(&records[arm]);
    }
}

static void measure_start(char *program)
{
    char *words[] = {program, nothing, NULL};
    int64_t times[STARTS];

    for (int i = 0; i < STARTS; i++) {
        const struct execution done = process_execute(words, STDIN_FILENO, STDOUT_FILENO);
        times[i] = done.end - done.start;
    }
    kit_value("start", median_ms(times, STARTS), "ms");
}

/* --- as a test and as a load --- */

static _Noreturn void work_as_load(void)
{
    for (;;) {
        for (long arm = 0; arm < arm_count; arm++)
            execute(&arms[arm], output);
        kit_tick(1);
    }
}

static _Noreturn void measure(struct kit_window window)
{
    const int64_t end = window.first_edge + (window.slices - 1) * window.slice;
    long round = 0;

    do {
        execute_round(round++);
        if (kit_abandoned())
            kit_leave();
    } while (rounds ? round < rounds : kit_now() < end);
    kit_stop();
    report();
    kit_finish();
}

/* Reports as a trial does, of nothing. */
static _Noreturn void end_run(void)
{
    const int64_t now = kit_now();

    arms_execute(arms_cleanup);
    kit_slice(now, kit_now(), 1);
    kit_value("wall", 0, "ms");
    kit_finish();
}

int main(int argc, char **argv)
{
    const char *folder, *input_file, *output_file;
    struct kit_window window;
    long warmup;
    int same, ends;

    if (argc == 2 && strcmp(argv[1], nothing) == 0)
        return 0;
    kit_init(argc, argv);
    slowed = confine_take_slowed();
    folder = kit_arg("folder", NULL);
    input_file = kit_arg("input", NULL);
    output_file = kit_arg("output", NULL);
    warmup = kit_arg_number("warmup", 0, 0, 1000000);
    rounds = kit_arg_number("rounds", 0, 0, 1000000);
    same = (int)kit_arg_number("same", 0, 0, 1);
    ignore = (int)kit_arg_number("ignore", 0, 0, 1);
    keeps = (int)kit_arg_number("keep", 0, 0, 1);
    ends = (int)kit_arg_number("end", 0, 0, 1);
    control = kit_arg_number("control", 0, 0, 1000000);
    random_state = (uint64_t)kit_arg_number("seed", 1, 1, INT32_MAX);
    arm_count = arms_read(kit_command(), arms);
    if (control) {
        if (arm_count == MOST_ARMS)
            kit_error("there is no room for a control of %ld commands: name fewer", arm_count);
        arms[arm_count++] = arms[0];
    }
    kit_detach_stdio();
    process_init();
    input = input_file ? process_open(input_file, O_RDONLY) : STDIN_FILENO;
    output = output_file ? process_open(output_file, O_WRONLY | O_CREAT | O_TRUNC) : STDOUT_FILENO;
    measure_start(argv[0]);
    directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    arms_work_in(folder);
    if (!ends)
        begin_run(warmup, same);
    window = kit_hear();
    if (window.slices == 0) {
        kit_start();
        work_as_load();
    }
    random_state ^= (uint64_t)window.start;
    window = kit_wait();
    if (ends)
        end_run();
    measure(window);
}
