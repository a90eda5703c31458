/*
 * Where commands spend processor time: `where key=value ... -- SECTION ...` with sections as
 * command/execute has them. Rounds follow each other; each executes every arm once, in random
 * order, while command/sampler takes samples; each execution is a block, with `before` and `after`.
 * Of an execution there is a file ROUND-ARM in this program's directory: when its region began and
 * ended, in ns of CLOCK_MONOTONIC, as two binary numbers of 64 bits, and its records. Without a
 * region that is the whole execution. Each arm reports as a copy, with the lines `execution` and
 * `region` of command/execute.
 *
 *     value processor MS ms        processor time of an execution, the mean
 *     value kernel 0|1             whether the kernel's functions are sampled
 *
 *     directory=DIR                this program's own [where it works]
 *     period=NS                    between samples: drawn for each execution, from 3/4 to 5/4 of
 *                                  this, so that commands which always take the same time are not
 *                                  sampled at the same places. A command that takes long gets fewer
 *                                  [900000]
 *     time=MS                      no round begins later than this [30000]
 *     least=N most=N               rounds, whatever time they take [5, 1000]
 *     seed=N                       of order and periods [1]
 *     folder=DIR ignore=LIST limit=MS region=1     as command/execute has them
 *
 * Where valgrind is installed, it counts instructions after the first round, in one more execution
 * of each arm, or in two where there is time: see count_instructions. What it writes is in folders
 * `instructions-PASS-ARM` in this program's directory. A note says why there are none.
 *
 * Where the kernel lets nobody sample, the program skips before any command is executed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "command/arms.h"
#include "command/emulate.h"
#include "command/process.h"
#include "command/region.h"
#include "command/sampler.h"
#include "kit.h"

enum {
    MAX_ROUNDS = 1000,
    MAX_SAMPLES = 20000, /* of an execution: as many as fit its file with deep stacks */
    MAX_KEPT_MIB = 512,  /* in all files */
    MIB = 1 << 20,

    /* Valgrind takes some sixty times as long as a command alone. It may take a fifth of the time,
       since samples, which have the rest, also see the kernel and what the processor waits for.
       While other programs run it may take three times that. */
    EMULATED_SLOWDOWN = 60,
    EMULATED_SHARE = 5,
    EMULATED_PATIENCE = 3,
    EMULATED_PASSES = 2, /* of which executions that differ are known */
    NOTE_BYTES = 180,    /* a line of the report has 256, and 55 come before */
};

static struct arm arms[MAX_ARMS];
static struct execution executions[MAX_ARMS][MAX_ROUNDS];
static long arm_count, round_count;
static int directory; /* this program's own */
static char directory_path[PATH_MAX];
static long time_limit_ms; /* of an execution */
static long base_period;
static int64_t longest[MAX_ARMS]; /* ns of processor time, of any execution */
static int64_t kept_bytes;
static int is_cut;            /* an execution had more samples than its file may have */
static int is_region_missing; /* an execution did not write its region */
static uint64_t random_state;
static char why_not_counted[NOTE_BYTES]; /* why there are no instructions */

static int open_kept(long round, long arm)
{
    char name[48];
    int file;

    snprintf(name, sizeof name, "%ld-%ld", round, arm);
    file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        kit_error("cannot keep samples (%s): is there room below --dir?", strerror(errno));
    return file;
}

/* Writes an execution's region to the beginning of its file; the records follow it. */
static void write_region(int file, struct region region)
{
    const int64_t ends[] = {region.start, region.end};

    if (lseek(file, 0, SEEK_SET) != 0 || write(file, ends, sizeof ends) != sizeof ends)
        kit_error("cannot keep samples (%s): is there room below --dir?", strerror(errno));
}

static uint64_t draw_period(long arm)
{
    const int64_t wanted = longest[arm] / MAX_SAMPLES;
    const uint64_t period = (uint64_t)(wanted > base_period ? wanted : base_period);

    return period * 3 / 4 + arms_random(&random_state) % (period / 2);
}

static _Noreturn void skip_refused(int why)
{
    if (why == EACCES || why == EPERM)
        kit_skip("the kernel does not let this user sample programs: try `sysctl "
                 "kernel.perf_event_paranoid=2` as root, and in a container --cap-add PERFMON or a "
                 "seccomp profile that allows perf_event_open");
    if (why == ENOSYS)
        kit_skip("the kernel has no perf_event_open here: in a container try --cap-add PERFMON or "
                 "a seccomp profile that allows it");
    kit_skip("programs cannot be sampled here (%s)", strerror(why));
}

/* Skips if the kernel refuses samples, before a command is executed in vain. */
static void try_sampler(void)
{
    const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (!sampler_begin(file, (uint64_t)base_period))
        skip_refused(errno);
    sampler_end();
    close(file);
}

/* Executes an arm once while samples of it are written to its file. */
static void execute_sampled(long round, long number)
{
    const struct arm *arm = &arms[number];
    struct execution *done = &executions[number][round];
    const int file = open_kept(round, number);
    int64_t used;

    write_region(file, (struct region){0}); /* its place: it is known when the command has ended */
    arms_begin_block(arm);
    arms_prepare(arm);
    process_rewind(arm->input, arm->output);

    if (!sampler_begin(file, draw_period(number)))
        kit_error("samples are refused (%s) that were allowed before", strerror(errno));
    *done = process_execute(arm->words, arm->input, arm->output);
    done->round = round;
    is_cut |= !sampler_end();

    kept_bytes += lseek(file, 0, SEEK_CUR); /* after the last record */
    write_region(file, done->region);
    is_region_missing |= !done->region.written;
    close(file);

    if (!process_may_end(done->status))
        process_fail(arm->words, done->status);
    used = process_cpu_time(done);
    if (used > longest[number])
        longest[number] = used;
    arms_conclude(arm);
    arms_end_block();
}

static void execute_round(long round)
{
    long order[MAX_ARMS];

    arms_shuffle(&random_state, order, arm_count);
    for (long i = 0; i < arm_count; i++)
        execute_sampled(round, order[i]);
}

/* --- instructions --- */

static int64_t emulation_deadline;
static int is_emulation_late;

static void wait_until_deadline(pid_t child)
{
    sampler_wait(child);
    if (kit_now() < emulation_deadline)
        return;
    is_emulation_late = 1;
    kill(child, SIGKILL);
}

static void name_folder(char *folder, size_t size, long pass, long arm)
{
    snprintf(folder, size, "%s/instructions-%ld-%ld", directory_path, pass, arm);
}

/*
 * Executes a command by valgrind, without what is drawn at random: addresses, and the hashes of
 * Python and Perl.
 */
static struct execution execute_emulated(const struct arm *arm, const char *folder)
{
    const int usual_personality = personality(0xffffffff); /* asks */
    char **words = NULL;
    struct execution done;

    if (emulate_make_folder(folder) != 0 ||
        !(words = emulate_words(arm->words, folder, EMULATE_BY_ADDRESS)))
        kit_error("cannot keep what valgrind counts in %s (%s): is there room below --dir?",
                  folder, strerror(errno));

    arms_begin_block(arm);
    arms_prepare(arm);
    process_rewind(arm->input, arm->output);
    personality((unsigned long)usual_personality | ADDR_NO_RANDOMIZE);
    process_fix_seeds();
    process_limit_time(0); /* the deadline holds in its place */
    process_wait_by(wait_until_deadline);

    done = process_execute(words, arm->input, arm->output);

    process_wait_by(sampler_wait);
    process_limit_time(time_limit_ms);
    personality((unsigned long)usual_personality);
    process_release_seeds();
    free(words);
    arms_conclude(arm);
    arms_end_block();
    return done;
}

/*
 * Counts the instructions of each arm in one more execution. After the first that fails there is a
 * reason in why_not_counted, and no further arm is executed.
 */
static void emulate_pass(long pass)
{
    char folder[PATH_MAX + 64];

    for (long arm = 0; arm < arm_count && !*why_not_counted; arm++) {
        struct execution done;

        name_folder(folder, sizeof folder, pass, arm);
        done = execute_emulated(&arms[arm], folder);

        if (is_emulation_late)
            snprintf(why_not_counted, sizeof why_not_counted,
                     "valgrind took too long; try a longer --budget, or a calmer machine");
        else if (!process_may_end(done.status))
            snprintf(why_not_counted, sizeof why_not_counted,
                     "under valgrind, a command %s; try it by hand with "
                     "`valgrind --tool=callgrind`",
                     process_end(done.status));
        else if (emulate_count(folder) < 0)
            snprintf(why_not_counted, sizeof why_not_counted,
                     "valgrind left no counts for a command; try it by hand with "
                     "`valgrind --tool=callgrind`");
    }
}

static void forget_instructions(void)
{
    char folder[PATH_MAX + 64];

    for (long pass = 0; pass < EMULATED_PASSES; pass++)
        for (long arm = 0; arm < arm_count; arm++) {
            name_folder(folder, sizeof folder, pass, arm);
            emulate_remove_folder(folder);
        }
}

/*
 * Counts the instructions of each arm by valgrind, if it is likely to take no more than `allowed`
 * ns, to judge by the first round; and once more if there is time for as long a pass again.
 */
static void count_instructions(int64_t allowed)
{
    const int64_t begin = kit_now();
    int64_t expected = 0;

    forget_instructions(); /* of a run that a pause has cut short */
    for (long arm = 0; arm < arm_count; arm++)
        expected += longest[arm] * EMULATED_SLOWDOWN;

    if (region_is_wanted()) {
        snprintf(why_not_counted, sizeof why_not_counted,
                 "valgrind cannot count a region; leave --region out to count whole executions");
    } else if (!emulate_is_possible()) {
        snprintf(why_not_counted, sizeof why_not_counted,
                 "valgrind is not installed; try `apt install valgrind`");
    } else if (expected > allowed) {
        snprintf(why_not_counted, sizeof why_not_counted,
                 "valgrind would need about %.1f s, but may use only %.1f s of this run; try a "
                 "longer --budget",
                 (double)expected / 1e9, allowed < 0 ? 0 : (double)allowed / 1e9);
    }

    emulation_deadline = begin + EMULATED_PATIENCE * allowed;
    for (long pass = 0; pass < EMULATED_PASSES && !*why_not_counted; pass++) {
        if (pass > 0 && (kit_now() - begin) * (pass + 1) > allowed * pass)
            return;
        emulate_pass(pass);
    }
    if (*why_not_counted)
        forget_instructions();
}

static void execute_rounds(int64_t end, long least, long most)
{
    while (round_count < most) {
        if (round_count >= least && (kit_now() >= end || kept_bytes >= (int64_t)MAX_KEPT_MIB * MIB))
            break;
        execute_round(round_count++);
        if (kit_abandoned())
            kit_leave();
        if (round_count == 1)
            count_instructions((end - kit_now()) / EMULATED_SHARE);
    }
}

/* --- the report --- */

static void report_arm(long number)
{
    const struct execution *all = executions[number];
    int64_t used = 0;

    if (arm_count > 1)
        kit_report("copy %ld\n", number);
    kit_slice(all[0].start, all[round_count - 1].end, (unsigned long)round_count);
    for (long round = 0; round < round_count; round++) {
        used += process_cpu_time(&all[round]);
        process_report(&all[round]);
    }
    kit_report("value processor %.9g ms\nvalue kernel %d\n",
               (double)used / (double)round_count / 1e6, sampler_sees_kernel());
}

/* Nothing is reported before the window is over. */
static void wait_until(int64_t end)
{
    while (kit_now() < end) {
        if (kit_abandoned())
            kit_leave();
        kit_sleep_until(kit_now() + 1000000);
    }
}

int main(int argc, char **argv)
{
    const char *folder, *own_directory;
    struct kit_window window;
    long time, least, most;

    kit_init(argc, argv);
    own_directory = kit_arg("directory", ".");
    folder = kit_arg("folder", NULL);
    time_limit_ms = kit_arg_number("limit", 0, 0, INT32_MAX);
    process_limit_time(time_limit_ms);
    process_ignore(kit_arg("ignore", ""));
    base_period = kit_arg_number("period", 900000, 10000, 1000000000);
    time = kit_arg_number("time", 30000, 0, INT32_MAX);
    least = kit_arg_number("least", 5, 1, MAX_ROUNDS);
    most = kit_arg_number("most", 1000, 1, MAX_ROUNDS);
    random_state = (uint64_t)kit_arg_number("seed", 1, 1, INT32_MAX);
    arm_count = arms_read(kit_command(), arms);
    kit_detach_stdio();
    process_init(0);
    process_wait_by(sampler_wait);
    if (kit_arg_number("region", 0, 0, 1))
        region_init();

    /* Both before arms_work_in changes the directory. */
    directory = open(own_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || !realpath(own_directory, directory_path))
        kit_error("cannot work in %s (%s): try another --dir", own_directory, strerror(errno));
    arms_open(arms, arm_count, folder);
    arms_work_in(folder);
    try_sampler();

    window = kit_wait();
    random_state ^= (uint64_t)window.start;
    kit_at_error(arms_clean_up);
    execute_rounds(window.start + (int64_t)time * 1000000, least, most);
    kit_at_error(NULL);
    kit_stop();

    wait_until(window.first_edge + (window.slices - 1) * window.slice);
    if (is_cut)
        kit_note("an execution had more samples than are kept, so its end is missing");
    if (*why_not_counted)
        kit_note("the instructions of functions were not counted: %s", why_not_counted);
    if (region_is_wanted() && is_region_missing)
        kit_note("executions that did not write their region were sampled whole");
    for (long i = 0; i < arm_count; i++)
        report_arm(i);
    kit_finish();
}
