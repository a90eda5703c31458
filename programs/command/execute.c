/*
 * Commands of the user's, each execution in a fresh process: `execute key=value ... -- SECTION
 * ...`, where a section is
 *
 *     run COUNT WORD...         an arm: the command that is measured
 *     prepare COUNT WORD...     what is executed before each execution of the next arm; it is not
 *                               timed
 *     conclude COUNT WORD...    what is executed after each of these executions; it is not timed
 *                               either
 *     before COUNT WORD...      what is executed before each block of these executions, with
 *                               blocks=N
 *     after COUNT WORD...       and after each block
 *     serve COUNT WORD...       the next arm's server: each window starts it anew, on a free port,
 *                               $PORT, and ends it
 *     ready COUNT WORD...       what succeeds once that server is ready [the port accepts]
 *     in 1 FOLDER               where the next arm works
 *     input 1 FILE              its stdin [/dev/null]; /dev/fd/N is a file that this program was
 *                               started with
 *     output 1 FILE             its stdout [/dev/null]; fd:N is a file that this program was
 *                               started with
 *     unit COUNT FOLDER WORD... one of the next arm's builds: where it works, and its command; `in`
 *                               and `run` have the first
 *     setup COUNT WORD...       what is executed once before the first window of a run
 *     cleanup COUNT WORD...     what end=1 executes
 *
 * Rounds follow each other until the window is over, at least one. A round executes every arm once,
 * in random order, so what is compared lies milliseconds apart. Each arm reports as a copy, with a
 * slice from its first start to its last end, `value wall`, the median time, and for each execution
 *
 *     execution ROUND START_NS END_NS USER_NS SYSTEM_NS MINOR MAJOR VOLUNTARY INVOLUNTARY MAXRSS_KB
 *       STATUS
 *     unit ROUND NUMBER         after it, of an arm with builds: which of them it was, from 1
 *     region ROUND START_NS END_NS    after it, with region=1, if the command wrote where its
 *                               region begins or ends: command/region.h
 *
 * STATUS is the exit status, or 128 and the signal. `value start` is what a process takes that does
 * nothing. Without keep=1, if one of several arms fails, what was executed until then is reported,
 * with `value failed 1` of that arm, before the error.
 *
 *     directory=DIR  this program's own, in which it keeps files between windows [where it
 *                    works]
 *     folder=DIR     where the commands work [where this program does]
 *     keep=1         what an execution prints is kept: a file ROUND-COPY in that directory
 *     apart=1        servers are up one at a time, in random order, each for a whole window
 *     ready_ms=N     a server must be ready within this time [60000]
 *     limit=MS       no execution may take longer, nor what comes before or after it [0: any may]
 *     warmup=N       rounds before the first window of a run, or after each start of a server [0]
 *     rounds=N       rounds of a window [0: until it is over]
 *     blocks=N       arms that cannot take turns, as each needs a `before` of its own: N times, in
 *                    random order, each executes `before`, the warm-up, its share of the rounds,
 *                    and `after`, all in a single window. Without rounds=N, each is executed
 *                    `least` times, and until 3 s are over. ROUND is the block, whose executions
 *                    have no partners; with a single block, which keeps the order of the
 *                    arms, it is the execution [0]
 *     units=N        of each arm's builds, the first N take turns: the others are not there yet
 *                    [0: all]
 *     least=N        [10]
 *     most=N         rounds of an arm at most [0: any number]
 *     same=1         all arms must print the same, which is tried before the first window of a run
 *     ignore=LIST    a command may end with these statuses: 1,2; `all` is every status [none but 0]
 *     region=1       commands find descriptors for their region; value wall is the region's
 *     end=1          no arm is executed, but what comes after all [0]
 *     control=N      the first arm is executed twice in one of N rounds, by chance; the second time
 *                    reports as another arm, the last. Of two arms, either is, by chance, and both
 *                    have another [0: never]
 *     seed=N         of the order [1]
 *
 * Commands find the number of their execution, from 0, in $HYPERFINE_ITERATION (`warmup-0` before
 * the first window). A command shares the program's process group, so whoever ends the group ends
 * all. What outlives a command is ended after each execution; what a setup, prepare or conclude
 * leaves running goes on after the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/personality.h>
#endif

#include "command/arms.h"
#include "command/process.h"
#include "command/same.h"
#include "command/server.h"
#include "confine.h"
#include "kit.h"

enum {
    EMPTY_STARTS = 8, /* processes that do nothing; their median time is reported */

    /* Of an arm that is measured in blocks, as in hyperfine. */
    MIN_ROUNDS = 10,
    MIN_SECONDS = 3,

    MAX_CYCLES = 1 << 24, /* of builds; keeps the arms' seeds apart */
    MAX_COMPARED_MIB = 256,
    MAX_KEPT_MIB = 32, /* as much as the tool reads */

    /* Of a page, whose stack may be a cache line or a page further for a byte more. */
    MAX_PADDING = 4096,
};

/* The executions of an arm in this window. */
struct record {
    struct execution *executions;
    size_t executed, room;
    long left; /* processes that outlived it */
};

static struct arm arms[MAX_ARMS];
static struct record records[MAX_ARMS];
static long arm_count; /* the controls among them, which are the last */
static long servers;   /* arms that have one: all, or none */
static int serves_apart; /* one server at a time is up */
static long control;   /* one of so many rounds has a control; 0: none has */
static long controls;  /* arms that execute the first ones once more */
static long rounds;    /* 0: until the window is over */
/* rounds of an arm that is measured in blocks; most 0: no limit */
static long least, most;
static long executing; /* the arm that has its turn */
static int has_time_limit, has_blocks;
static long executed_before[MAX_ARMS]; /* in the run's earlier windows */
static int keeps_output, directory;    /* directory: this program's own */
static double wasted_share;            /* of each execution's time, only to test comparisons */
static uint64_t random_state;
static uint64_t run_seed; /* the same in all windows of a run */
static char nothing[] = "nothing";
static int has_fixed_addresses; /* those of commands, their stacks among them */

/* --- files --- */

static int make_memory_file(void)
{
    const int file = memfd_create("output", MFD_CLOEXEC);

    if (file < 0)
        kit_error("cannot make a file in memory (%s)", strerror(errno));
    return file;
}

/*
 * The file that keeps what an execution prints. O_APPEND: a command that opens its stdout by name
 * may truncate it, and others continue at the new end.
 */
static int open_kept(long round, long arm)
{
    char name[48];
    int file;

    snprintf(name, sizeof name, "%ld-%ld", round, arm);
    file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        kit_error("cannot keep what the commands print (%s): is there room below --dir?",
                  strerror(errno));
    return file;
}

/* --- rounds --- */

static long first_control(void)
{
    return arm_count - controls;
}

/* The arm whose command an arm executes: controls are the first arms once more. */
static long command_of(long arm)
{
    return arm < first_control() ? arm : arm - first_control();
}

/* Makes an execution longer, until wasted_share of its time was wasted. */
static void waste_time(struct execution *done)
{
    const int64_t end = done->end + (int64_t)((double)(done->end - done->start) * wasted_share /
                                              (1 - wasted_share));

    if (wasted_share == 0)
        return;

    while (done->end < end)
        done->end = kit_now();
    if (!(done->region.written & REGION_DONE))
        done->region.end = done->end;
}

static int are_addresses_fixed(void)
{
    const int file = open("/proc/sys/kernel/randomize_va_space", O_RDONLY | O_CLOEXEC);
    char setting = '?';
    const int is_read = file >= 0 && read(file, &setting, 1) == 1;

    if (file >= 0)
        close(file);
    if (is_read && setting == '0')
        return 1;
#ifdef __linux__
    return (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
#else
    return 0;
#endif
}

/*
 * Where the kernel draws no addresses, the size of the environment decides where a command's stack
 * begins, and thereby how fast it is (Mytkowicz et al. 2009). Then each execution has another size.
 */
static void pad_environment(void)
{
    static char padding[MAX_PADDING + 32];
    const size_t name = (size_t)sprintf(padding, "UNIXMARK_PADDING=");
    const size_t size = (size_t)(arms_random(&random_state) % MAX_PADDING);

    memset(padding + name, 'x', size);
    padding[name + size] = '\0';
    putenv(padding);
}

/*
 * Executes an arm once, with what comes before and after it; its stdout goes to `output`. The first
 * execution of an arm has the number 0, the first warm-up -1.
 */
static struct execution execute(const struct arm *arm, int output, long number)
{
    struct execution done;

    executing = arm - arms;
    if (servers)
        server_address(command_of(executing));
    arms_prepare(arm);
    process_number(number < 0 ? "warmup-" : "", number < 0 ? -1 - number : number);
    process_rewind(arm->input, output);
    if (has_fixed_addresses)
        pad_environment();

    done = process_execute(arm->words, arm->input, output);
    if (!process_may_end(done.status))
        process_fail(arm->words, done.status);
    waste_time(&done);

    arms_conclude(arm);
    return done;
}

static struct execution execute_kept(long round, long arm, long number)
{
    const int file = open_kept(round, arm);
    struct execution done;

    process_limit_output(file, MAX_KEPT_MIB,
                         "the most that --harness reads: print only the figures");
    done = execute(&arms[arm], file, number);
    close(file);
    return done;
}

static long count_executions(long arm)
{
    return executed_before[arm] + (long)records[arm].executed;
}

/* The number of an arm's next execution. An arm and its control are one command. */
static long next_number(long arm)
{
    const long command = command_of(arm);

    if (command < controls)
        return count_executions(command) + count_executions(first_control() + command);
    return count_executions(command);
}

static void add_execution(struct record *record, struct execution done)
{
    if (record->executed == record->room) {
        record->room = record->room ? 2 * record->room : 256;
        record->executions = realloc(record->executions, record->room * sizeof *record->executions);
        if (!record->executions)
            kit_error("no memory for %zu executions: try a shorter window", record->room);
    }
    record->executions[record->executed++] = done;
}

/*
 * Chooses the build for an arm's next execution; returns its number from 1, or 0 if the arm has no
 * builds. Each comes once in a cycle (warm-ups repeat the first), whose random order is the same
 * whichever window goes on with it.
 */
static long choose_unit(long arm)
{
    const long executed = count_executions(arm), count = arms[arm].unit_count;
    uint64_t state;
    long order[MAX_UNITS];

    if (count == 0)
        return 0;

    state = (run_seed + (uint64_t)arm * MAX_CYCLES + (uint64_t)(executed / count) + 1) *
            UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: spreads near numbers */
    for (int i = 0; i < 3; i++)
        arms_random(&state);
    arms_shuffle(&state, order, count);

    const struct unit *unit = &arms[arm].units[order[executed % count]];
    arms[arm].folder = unit->folder;
    arms[arm].words = unit->words;
    return order[executed % count] + 1;
}

/* Leaves out the builds after the first ones of each arm. */
static void limit_units(long most)
{
    for (long arm = 0; most > 0 && arm < arm_count; arm++)
        if (arms[arm].unit_count > most)
            arms[arm].unit_count = most;
}

/* Chooses the builds of a round. A control executes that of its first arm. */
static void choose_units(long *units)
{
    for (long arm = 0; arm < first_control(); arm++)
        units[arm] = choose_unit(arm);
    for (long arm = first_control(); arm < arm_count; arm++) {
        units[arm] = units[command_of(arm)];
        arms[arm].folder = arms[command_of(arm)].folder;
        arms[arm].words = arms[command_of(arm)].words;
    }
}

/* The control of a round, by chance; -1 if it has none. */
static long draw_control(void)
{
    if (arms_random(&random_state) % (uint64_t)control > 0)
        return -1;
    return first_control() + (long)(arms_random(&random_state) % (uint64_t)controls);
}

/* Executes every arm once, in random order. A round below 0 is a warm-up, -1 the first. */
static void execute_round(long round)
{
    const int is_warmup = round < 0;
    const long drawn = controls == 0 || is_warmup ? -1 : draw_control();
    const long due = first_control() + (drawn >= 0); /* executions; the last is the control's */
    long order[MAX_ARMS], units[MAX_ARMS];

    choose_units(units);
    arms_shuffle(&random_state, order, due);
    for (long i = 0; i < due; i++) {
        const long arm = order[i] < first_control() ? order[i] : drawn;
        const long left_before = process_left();
        const long number = is_warmup ? round : next_number(arm);
        struct execution done;

        if (keeps_output && !is_warmup)
            done = execute_kept(round, arm, number);
        else
            done = execute(&arms[arm], arms[arm].output, number);
        if (is_warmup)
            continue;

        done.round = round;
        done.unit = units[arm];
        records[arm].left += process_left() - left_before;
        add_execution(&records[arm], done);
    }
}

/* The share of a number that is due once this block is over. */
static long share_due(long number, long block, long blocks)
{
    return number * (block + 1) / blocks;
}

/* True if a block goes on with the next execution of an arm. */
static int needs_execution(long executed, int64_t began, long block, long blocks)
{
    if (rounds)
        return executed < share_due(rounds, block, blocks);
    if (most && executed >= share_due(most, block, blocks))
        return 0;
    return executed < share_due(least, block, blocks) ||
           kit_now() - began < MIN_SECONDS * (int64_t)1000000000 / blocks;
}

static void report_executed(void);

/*
 * Ends the program because the run was stopped. What was executed is reported, since blocks are
 * long.
 */
static void report_until_stop(void)
{
    kit_quiet();
    kit_at_error(report_executed);
    kit_error("the run was stopped");
}

/* Executes one block of an arm: its set-up, the warm-up, its share of the rounds, its clean-up. */
static void execute_block(long arm, long block, long blocks, long warmup)
{
    struct record *record = &records[arm];
    int64_t began;
    long left_before;

    executing = arm;
    arms_begin_block(&arms[arm]);
    for (long i = 0; i < warmup; i++)
        execute(&arms[arm], arms[arm].output, -1 - i);

    left_before = process_left();
    began = kit_now();
    while (needs_execution((long)record->executed, began, block, blocks)) {
        struct execution done = execute(&arms[arm], arms[arm].output, next_number(arm));

        done.round = blocks == 1 ? (long)record->executed : block;
        add_execution(record, done);
        if (kit_abandoned())
            report_until_stop();
    }

    record->left += process_left() - left_before;
    arms_end_block();
}

/* Executes all blocks; the arms of a block come in random order, unless there is one block. */
static void execute_in_blocks(long blocks, long warmup)
{
    /* Controls take turns, of which there are none. */
    const long due = first_control();
    long order[MAX_ARMS];

    for (long block = 0; block < blocks; block++) {
        for (long i = 0; i < due; i++)
            order[i] = i;
        if (blocks > 1)
            arms_shuffle(&random_state, order, due);
        for (long i = 0; i < due; i++)
            execute_block(order[i], block, blocks, warmup);
    }
}

/* Executes an arm as it is measured, with its own set-up where it has one. */
static void execute_for_output(long arm, int output)
{
    executing = arm;
    arms_begin_block(&arms[arm]);
    execute(&arms[arm], output, -1);
    arms_end_block();
}

/* Executes every arm once, and fails unless all print the same. */
static void check_same_output(void)
{
    const char *hint =
        "the most that --same-output compares: append | sha256sum to compare checksums";
    const int first = make_memory_file(), other = make_memory_file();

    process_limit_output(first, MAX_COMPARED_MIB, hint);
    execute_for_output(0, first);
    process_limit_output(other, MAX_COMPARED_MIB, hint);
    for (long arm = 1; arm < first_control(); arm++) {
        execute_for_output(arm, other);
        same_check(first, other, arm + 1);
    }

    process_limit_output(0, 0, NULL);
    close(first);
    close(other);
}

/* --- between windows: a file says how often each arm was executed --- */

/* True if this is not the run's first window. */
static int read_executed(void)
{
    const int file = openat(directory, "executed", O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return 0;
    if (read(file, executed_before, sizeof executed_before) < 0)
        kit_error("cannot read what this program has kept (%s)", strerror(errno));
    close(file);
    return 1;
}

static void write_executed(void)
{
    const int file = openat(directory, "executed", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    for (long arm = 0; arm < arm_count; arm++)
        executed_before[arm] += (long)records[arm].executed;

    if (file < 0 || write(file, executed_before, sizeof executed_before) != sizeof executed_before)
        kit_error("cannot keep how often commands were executed (%s): is there room below --dir?",
                  strerror(errno));
    close(file);
}

/* What comes once in a run, before its first window. True if that is now. */
static int begin_run(long warmup, int compares_output)
{
    if (read_executed())
        return 0;

    arms_execute("--setup", arms_setup);
    kit_at_error(arms_clean_up);
    if (compares_output && !servers)
        check_same_output();
    kit_at_error(NULL);
    for (long i = 0; i < warmup && !servers; i++)
        execute_round(-1 - i);
    write_executed();
    return 1;
}

/* --- the report --- */

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double median_ms(int64_t *ns, size_t count)
{
    qsort(ns, count, sizeof *ns, compare_numbers);
    return (double)(ns[(count - 1) / 2] + ns[count / 2]) / 2e6;
}

static void report_record(const struct record *record)
{
    int64_t *walls = malloc((record->executed + 1) * sizeof *walls);

    if (!walls)
        kit_error("no memory for %zu times: try a shorter window", record->executed);

    if (record->executed)
        kit_slice(record->executions[0].start, record->executions[record->executed - 1].end,
                  record->executed);
    for (size_t i = 0; i < record->executed; i++) {
        walls[i] = record->executions[i].region.end - record->executions[i].region.start;
        process_report(&record->executions[i]);
    }
    if (record->executed)
        kit_report("value wall %.9g ms\n", median_ms(walls, record->executed));
    free(walls);
}

static void note_blocks(long blocks)
{
    if (blocks == 1)
        kit_report("note commands were executed one after the other, so what changed meanwhile is "
                   "part of the difference\n");
    if (blocks > 1)
        kit_report("note executed in %ld blocks, each after a set-up of its own: a pair is two "
                   "blocks, and the value of a "
                   "block its median\n",
                   blocks);
}

/* Says which part of the executions the times are of. */
static void note_region(const struct record *record)
{
    size_t marked = 0;

    for (size_t i = 0; i < record->executed; i++)
        marked += record->executions[i].region.written != 0;
    if (!region_is_wanted() || record->executed == 0)
        return;

    if (marked == 0)
        kit_report("note the command did not write its region, so all of it was measured\n");
    else if (marked < record->executed)
        kit_report("note some executions did not write their region, and were measured whole\n");
    else
        kit_report("note times are those of the region that the command writes; processor time and "
                   "memory are those of all of it\n");
}

static void report(long blocks)
{
    if (process_unended())
        kit_note("processes of other users outlived their commands and go on");
    for (long arm = 0; arm < arm_count; arm++) {
        if (arm_count > 1)
            kit_report("copy %ld\n", arm);
        if (records[arm].left)
            kit_report("note processes outlived the command and were killed\n");
        note_blocks(blocks);
        note_region(&records[arm]);
        report_record(&records[arm]);
    }
}

static void report_executed(void)
{
    for (long arm = 0; arm < arm_count; arm++) {
        kit_report("copy %ld\n", arm);
        report_record(&records[arm]);
    }
}

/*
 * Called before the line of the error that ends this program, to report the other commands' times.
 * As in hyperfine, a command before the failed one is executed once if it was not yet; not with
 * blocks, whose set-up may take long.
 */
static void report_until_failure(void)
{
    const long failed = command_of(executing);

    if (servers)
        server_end_all();
    arms_clean_up();
    /* A command that took too long fails in a signal handler, which nothing would interrupt. */
    for (long arm = 0; arm < failed && !has_time_limit && !servers && !has_blocks; arm++)
        if (!executed_before[arm] && !records[arm].executed)
            add_execution(&records[arm], execute(&arms[arm], arms[arm].output, 0));

    for (long arm = 0; arm < arm_count; arm++) {
        kit_report("copy %ld\n", arm);
        if (command_of(arm) == failed)
            kit_report("value failed 1 execution\n");
        else
            report_record(&records[arm]);
    }
}

/* Reports what starting a process takes: this program, which then does nothing. */
static void measure_start(char *program)
{
    char *words[] = {program, nothing, NULL};
    int64_t times[EMPTY_STARTS];

    for (int i = 0; i < EMPTY_STARTS; i++) {
        const struct execution done = process_execute(words, STDIN_FILENO, STDOUT_FILENO);
        times[i] = done.end - done.start;
    }
    kit_value("start", median_ms(times, EMPTY_STARTS), "ms");
}

/* --- as a test and as a load --- */

static _Noreturn void work_as_load(void)
{
    for (;;) {
        for (long arm = 0; arm < arm_count; arm++)
            execute(&arms[arm], arms[arm].output, (long)kit_count);
        kit_tick(1);
    }
}

static void execute_rounds(int64_t end)
{
    long round = 0;

    do {
        execute_round(round++);
        if (kit_abandoned())
            kit_leave();
    } while (rounds ? round < rounds : kit_now() < end);
}

/* --- servers: a window has one process of each --- */

static void note_failing(long arm)
{
    executing = arm;
}

static void await_server(long arm)
{
    server_await(&arms[arm], arm);
    /* The server was started with the words of its own arm. */
    if (arm < controls)
        arms[first_control() + arm].words = arms[arm].words;
}

/* All servers are up at once, and executions alternate between them. */
static void execute_beside_each_other(const long *order, int64_t length, long warmup, int compares)
{
    for (long i = 0; i < servers; i++)
        server_start(&arms[order[i]], order[i]);
    for (long i = 0; i < servers; i++)
        await_server(order[i]);

    if (compares)
        check_same_output();
    for (long i = 0; i < warmup; i++)
        execute_round(-1 - i);
    execute_rounds(kit_now() + length);
    server_end_all();
}

/* Executes a server's commands while it is the only one that is up. */
static void execute_alone(long arm, int64_t length, long warmup)
{
    struct record *record = &records[arm];
    int64_t end;
    long left_before;

    executing = arm;
    server_start(&arms[arm], arm);
    await_server(arm);
    for (long i = 0; i < warmup; i++)
        execute(&arms[arm], arms[arm].output, -1 - i);

    left_before = process_left();
    end = kit_now() + length;
    do {
        const long round = (long)record->executed, number = next_number(arm);
        struct execution done = keeps_output ? execute_kept(round, arm, number)
                                             : execute(&arms[arm], arms[arm].output, number);
        done.round = round;
        add_execution(record, done);
        if (kit_abandoned())
            kit_leave();
    } while (rounds ? (long)record->executed < rounds : kit_now() < end);
    record->left += process_left() - left_before;
    server_end_all();
}

static void execute_with_servers(int64_t length, long warmup, int compares)
{
    long order[MAX_ARMS];

    arms_shuffle(&random_state, order, servers);
    if (!serves_apart) {
        execute_beside_each_other(order, length, warmup, compares);
        return;
    }
    for (long i = 0; i < servers; i++)
        execute_alone(order[i], length, warmup);
}

static _Noreturn void measure(struct kit_window window, long blocks, long warmup, int compares)
{
    if (arm_count > 1 && !keeps_output)
        kit_at_error(report_until_failure);
    if (blocks)
        process_at_stop(report_until_stop);
    if (servers)
        execute_with_servers(window.slices * window.slice, warmup, compares);
    else if (blocks)
        execute_in_blocks(blocks, warmup);
    else
        execute_rounds(window.first_edge + (window.slices - 1) * window.slice);
    kit_at_error(NULL);
    process_at_stop(NULL);

    kit_stop();
    write_executed();
    report(blocks);
    kit_finish();
}

/* Executes the run's --cleanup, and reports a trial of 0 ms, as the tool expects a report. */
static _Noreturn void end_run(void)
{
    const int64_t now = kit_now();

    arms_execute("--cleanup", arms_cleanup);
    kit_slice(now, kit_now(), 1);
    kit_value("wall", 0, "ms");
    kit_finish();
}

int main(int argc, char **argv)
{
    const char *own_directory, *folder;
    struct kit_window window;
    long warmup, blocks, limit;
    int compares_output, ends_run, is_first_window = 0;

    if (argc == 2 && strcmp(argv[1], nothing) == 0)
        return 0;

    kit_init(argc, argv);
    if (kit_arg_number("region", 0, 0, 1))
        region_init();
    wasted_share = confine_take_slowed();
    own_directory = kit_arg("directory", ".");
    folder = kit_arg("folder", NULL);
    limit = kit_arg_number("limit", 0, 0, INT32_MAX);
    process_limit_time(limit);
    has_time_limit = limit > 0;
    warmup = kit_arg_number("warmup", 0, 0, 1000000);
    rounds = kit_arg_number("rounds", 0, 0, 1000000);
    blocks = kit_arg_number("blocks", 0, 0, 1000);
    has_blocks = blocks > 0;
    least = kit_arg_number("least", MIN_ROUNDS, 1, 1000000);
    most = kit_arg_number("most", 0, 0, 1000000);
    compares_output = (int)kit_arg_number("same", 0, 0, 1);
    process_ignore(kit_arg("ignore", ""));
    keeps_output = (int)kit_arg_number("keep", 0, 0, 1);
    ends_run = (int)kit_arg_number("end", 0, 0, 1);
    control = kit_arg_number("control", 0, 0, 1000000);
    serves_apart = (int)kit_arg_number("apart", 0, 0, 1);
    server_init(kit_arg_number("ready_ms", 60000, 1, INT32_MAX), note_failing);
    run_seed = random_state = (uint64_t)kit_arg_number("seed", 1, 1, INT32_MAX);
    arm_count = arms_read(kit_command(), arms);
    limit_units(kit_arg_number("units", 0, 0, MAX_UNITS));
    servers = server_count(arms, arm_count);

    kit_detach_stdio();
    process_init(servers);
    has_fixed_addresses = are_addresses_fixed();

    /* Both before arms_work_in changes the directory. */
    directory = open(own_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        kit_error("cannot work in %s (%s): try another --dir", own_directory, strerror(errno));
    arms_open(arms, arm_count, folder);
    if (control) {
        if (arm_count == MAX_ARMS)
            kit_error("there is no room for a control of %ld commands: name fewer", arm_count);
        /* Of more than two commands only the first has one: drawn among all, each would have its
         * control too rarely. */
        controls = arm_count == 2 ? 2 : 1;
        for (long arm = 0; arm < controls; arm++)
            arms[arm_count++] = arms[arm];
    }

    measure_start(argv[0]);
    arms_work_in(folder);
    if (!ends_run)
        is_first_window = begin_run(blocks ? 0 : warmup, compares_output);

    window = kit_hear();
    if (window.slices == 0) {
        kit_start();
        work_as_load();
    }

    /* So that every window of a run has orders of its own. */
    random_state ^= (uint64_t)window.start;
    window = kit_wait();
    if (ends_run)
        end_run();
    measure(window, blocks, warmup, compares_output && is_first_window);
}
