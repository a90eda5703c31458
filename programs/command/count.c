/*
 * What commands do, counted: `count key=value ... -- SECTION ...` with sections as command/execute
 * has them. Each arm is executed several times, without address randomisation, and reports as a
 * copy. Of an execution that is traced with all of its processes:
 *
 *     value syscalls N calls          system calls that returned
 *     value call:NUMBER N calls       those of this number; call:other of other architectures than
 *                                     this program's
 *     value processes N processes     processes started, without the command itself
 *     value threads N threads         threads started
 *     value bytes_read N B            bytes that calls read and wrote, of files, pipes and all else
 *     value bytes_written N B
 *     value rss:NAME N KiB            the largest process, and its name
 *
 * of one that is not:
 *
 *     value faults N faults           page faults
 *     value switches N switches       voluntary context switches; both of the command and of the
 *                                     processes that were waited for
 *     value instructions N            in user mode, where the processor's counters can be read
 *     value cycles N
 *
 * of one with allocations.so, of dynamic programs:
 *
 *     value allocations N             calls of malloc(3) and its relatives that gave memory
 *     value allocated N B             the bytes that were asked for
 *
 * and, where the counters cannot be read, of one by valgrind, if there is one:
 *
 *     value instructions:valgrind N   as callgrind counts them
 *
 * A note says what is missing, and why.
 *
 *     folder=DIR ignore=LIST limit=MS region=1     as command/execute has them; no limit holds for
 *                                                  the execution by valgrind
 *     directory=DIR     for files of this program's own [where it works]
 *     instructions=N    valgrind counts nothing (0), what takes less than 100 ms (1), all (2) [1]
 *
 * With region=1 there is no execution by valgrind, and of a command that writes its region only
 * that is counted, without switches, which tracing adds to.
 *
 * Nothing here is timed: a traced command is many times slower.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/allocations.h"
#include "command/arms.h"
#include "command/counters.h"
#include "command/emulate.h"
#include "command/process.h"
#include "command/region.h"
#include "command/trace.h"
#include "kit.h"

enum {
    LOOK_MS = 10, /* between looks at stdin */
    STATUS_NOT_FOUND = 127,
    MAX_NOTES = 8,
    NOTE_BYTES = 224,      /* a line of the report has 256 */
    MAX_EMULATED_MS = 100, /* of processor time: valgrind takes some fifty times as long */

    /* instructions= */
    UNWANTED = 0,
    IF_SHORT = 1,
    NEEDED = 2,
};

struct counts {
    struct traced traced;
    int is_traced;
    long faults, switches;
    int has_faults, has_switches;
    struct counters counters;
    int has_counters;
    long long emulated; /* instructions; -1: none were counted */
    struct tally tally;
    int has_allocations;
    char notes[MAX_NOTES][NOTE_BYTES];
    int note_count;
};

/* The way in which a child becomes the command. */
struct manner {
    char **words;
    int has_fixed_seeds; /* hashes of Python and Perl do not differ from execution to execution */
    const char *library; /* put before the program's own, with the file of its tally; or NULL */
    const char *tally;
};

/* A child that waits until it may become the command. */
struct waiting {
    pid_t number;
    int gate[2];
};

/* What the child says before it becomes the command. */
struct departure {
    struct rusage usage;   /* so far */
    int personality_errno; /* why its addresses are drawn at random; 0: they are not */
};

static struct arm arms[MAX_ARMS];
static struct counts counted[MAX_ARMS];
static int64_t began[MAX_ARMS], ended[MAX_ARMS];
static struct departure *departure;
static char directory[PATH_MAX], library[PATH_MAX + sizeof ALLOCATIONS_LIBRARY];
static long instructions; /* the argument: UNWANTED, IF_SHORT or NEEDED */

static void note(struct counts *counts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct counts *counts, const char *format, ...)
{
    va_list values;

    if (counts->note_count == MAX_NOTES)
        return;
    va_start(values, format);
    vsnprintf(counts->notes[counts->note_count++], NOTE_BYTES, format, values);
    va_end(values);
}

/* --- executions --- */

/* Puts a library before those that the user's own variable names. */
static void preload(const char *path)
{
    static char all[PATH_MAX + 4096];
    const char *others = getenv("LD_PRELOAD");

    snprintf(all, sizeof all, "%s%s%s", path, others ? ":" : "", others ? others : "");
    setenv("LD_PRELOAD", all, 1);
}

/* In the child: waits at the gate, notes what it has used so far, and executes the command. */
static _Noreturn void become_command(const struct arm *arm, const struct manner *manner, int gate)
{
    char byte;

    process_redirect(arm->input, arm->output);
    if (manner->has_fixed_seeds)
        process_fix_seeds();
    if (manner->library) {
        preload(manner->library);
        setenv(ALLOCATIONS_VARIABLE, manner->tally, 1);
    }
    *departure = (struct departure){0};
    const int usual = personality(0xffffffff); /* asks */

    if (personality((unsigned long)usual | ADDR_NO_RANDOMIZE) < 0)
        departure->personality_errno = errno;

    while (read(gate, &byte, 1) < 0 && errno == EINTR)
        ;
    close(gate);

    getrusage(RUSAGE_SELF, &departure->usage);
    execvp(manner->words[0], manner->words);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(STATUS_NOT_FOUND);
}

static struct waiting start_waiting(const struct arm *arm, const struct manner *manner)
{
    struct waiting child;

    arms_prepare(arm);
    process_rewind(arm->input, arm->output);
    if (pipe2(child.gate, O_CLOEXEC) != 0 || (child.number = fork()) < 0)
        kit_error("cannot start '%s' (%s): is `ulimit -u` too low?", arm->words[0],
                  strerror(errno));
    if (child.number == 0) {
        close(child.gate[1]);
        become_command(arm, manner, child.gate[0]);
    }
    return child;
}

static void open_gate(struct waiting child)
{
    close(child.gate[0]);
    close(child.gate[1]);
}

static void end_execution(const struct arm *arm, int status)
{
    process_end_children();
    if (!process_may_end(status))
        process_fail(arm->words, status);
    arms_conclude(arm);
}

/* Gives up a child that has not become the command. */
static void end_waiting(const struct arm *arm, struct waiting child)
{
    kill(child.number, SIGKILL);
    open_gate(child);
    while (waitpid(child.number, NULL, __WALL) < 0 && errno == EINTR)
        ;
    arms_conclude(arm);
}

/* --- traced --- */

static struct counts *traced_arm;   /* the counts of the arm that is traced */
static struct counts before_region; /* what had been counted where its region began */

/* Called at both ends of the region, while the writer stands still. */
static void count_at_edge(int edge)
{
    struct counters now;
    const long faults = trace_faults();
    const int has_counters = traced_arm->has_counters && counters_read(&now);

    if (edge == REGION_READY) {
        before_region.faults = faults;
        before_region.counters = has_counters ? now : (struct counters){0};
        return;
    }
    traced_arm->faults = faults - before_region.faults;
    traced_arm->has_faults = 1;
    if (!has_counters)
        return;
    traced_arm->counters.instructions = now.instructions - before_region.counters.instructions;
    traced_arm->counters.cycles = now.cycles - before_region.counters.cycles;
}

static void note_addresses(struct counts *counts)
{
    if (departure->personality_errno)
        note(counts,
             "addresses are drawn at random here (%s), so executions differ in page faults and "
             "instructions",
             strerror(departure->personality_errno));
}

static void note_region(struct counts *counts)
{
    if (region_is_wanted() && counts->is_traced && !counts->traced.region)
        note(counts, "the command did not write its region, so all of it was counted");
}

/*
 * Counts what only tracing shows and, if the command writes its region, the page faults and the
 * processor's counters there, which are otherwise left to count_alone.
 */
static void count_traced(const struct arm *arm, struct counts *counts)
{
    const struct manner manner = {.words = arm->words};
    const struct waiting child = start_waiting(arm, &manner);
    struct counters unused; /* count_at_edge has read those of the region */
    int status;

    traced_arm = counts;
    memset(&before_region, 0, sizeof before_region);
    if (region_is_wanted())
        counts->has_counters = counters_begin(child.number);
    if (!trace_begin(child.number)) {
        note(counts,
             "system calls, processes, bytes and memory were not counted: tracing is not allowed "
             "here (%s)",
             strerror(errno));
        end_waiting(arm, child);
        return;
    }

    process_limit_begin(arm->words);
    open_gate(child);
    status = trace(child.number, arm->words, &counts->traced, count_at_edge);
    process_limit_end();

    counts->is_traced = 1;
    if (region_is_wanted() && counts->has_counters)
        counters_end(&unused);
    end_execution(arm, status);
    note_addresses(counts);
    note_region(counts);
}

/* --- allocations --- */

static struct tally *shared_tally, tally_before;
static struct tally tally_of_region;

static void count_allocations_at_edge(int edge)
{
    if (edge == REGION_READY) {
        tally_before = *shared_tally;
        return;
    }
    tally_of_region.allocations = shared_tally->allocations - tally_before.allocations;
    tally_of_region.bytes = shared_tally->bytes - tally_before.bytes;
}

/* Why not all allocations of an execution were counted; NULL if all were. */
static const char *allocations_refusal(const struct counts *counts, const struct tally *tally)
{
    static char why[NOTE_BYTES];

    if (counts->is_traced && counts->traced.why) {
        snprintf(why, sizeof why, "%s %s", counts->traced.refuses, counts->traced.why);
        return why;
    }
    if (tally->programs == 0)
        return "no library can be put before the program's own; it may be statically linked";
    if (tally->own_allocator > 0)
        return "a program has an allocator of its own";
    return NULL;
}

/* Executes the command with the library; returns the tally. */
static struct tally execute_with_library(const struct arm *arm, const char *path,
                                         const struct counts *counts)
{
    const struct manner manner = {
        .words = arm->words, .has_fixed_seeds = 1, .library = library, .tally = path};
    const struct waiting child = start_waiting(arm, &manner);
    const int is_traced = counts->traced.region && trace_begin(child.number);
    static struct traced traced;
    struct execution done;

    memset(shared_tally, 0, sizeof *shared_tally);
    tally_before = tally_of_region = (struct tally){0};
    process_limit_begin(arm->words);
    open_gate(child);
    if (is_traced)
        done.status = trace(child.number, arm->words, &traced, count_allocations_at_edge);
    else
        process_wait(child.number, arm->words, &done);
    process_limit_end();
    end_execution(arm, done.status);
    return *shared_tally;
}

/* Counts allocations in one more execution, with a library that adds them to a tally in memory. */
static void count_allocations(const struct arm *arm, struct counts *counts)
{
    const int file = memfd_create("allocations", MFD_CLOEXEC);
    const char *why;
    char path[64];

    if (file < 0 || ftruncate(file, sizeof *shared_tally) != 0)
        kit_error("cannot make a file in memory (%s)", strerror(errno));
    shared_tally = mmap(NULL, sizeof *shared_tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared_tally == MAP_FAILED)
        kit_error("no memory (%s)", strerror(errno));

    /* The command and what it starts open the tally by this name. */
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), file);

    if (access(library, R_OK) != 0) {
        note(counts, "allocations were not counted: this unixmark was built without %s",
             ALLOCATIONS_LIBRARY);
    } else {
        counts->tally = execute_with_library(arm, path, counts);
        why = allocations_refusal(counts, &counts->tally);
        counts->has_allocations = !why;
        if (why)
            note(counts, "allocations were not counted: %s", why);
        if (counts->traced.region) {
            counts->tally.allocations = tally_of_region.allocations;
            counts->tally.bytes = tally_of_region.bytes;
        }
    }
    munmap(shared_tally, sizeof *shared_tally);
    close(file);
}

/* --- alone --- */

static long milliseconds(struct timeval time)
{
    return time.tv_sec * 1000 + time.tv_usec / 1000;
}

/* Counts the instructions by valgrind; `ms` is the processor time that the command takes. */
static void emulate(const struct arm *arm, struct counts *counts, const char *why, long ms)
{
    struct execution done;
    struct manner manner = {.has_fixed_seeds = 1};
    struct waiting child;

    if (!emulate_is_possible()) {
        note(counts,
             "instructions were not counted: the processor's counters cannot be read here (%s), "
             "and valgrind is not installed; try `apt install valgrind`",
             why);
        return;
    }
    if (ms > MAX_EMULATED_MS && instructions < NEEDED) {
        note(counts,
             "instructions were not counted: the processor's counters cannot be read here (%s), "
             "and valgrind takes too long unless --fail-on names them",
             why);
        return;
    }
    if (emulate_make_folder(directory) != 0 ||
        !(manner.words = emulate_words(arm->words, directory, EMULATE_ALL)))
        kit_error("cannot keep what valgrind counts in %s (%s): is there room below --dir?",
                  directory, strerror(errno));

    /* Without process_limit_begin: the time limit is for commands that run by themselves. */
    child = start_waiting(arm, &manner);
    open_gate(child);
    process_wait(child.number, arm->words, &done);
    process_end_children();

    counts->emulated = process_may_end(done.status) ? emulate_count(directory) : -1;
    if (counts->emulated < 0)
        note(counts, "instructions were not counted: by valgrind, the command %s",
             process_may_end(done.status) ? "leaves no counts" : process_end(done.status));
    emulate_remove_folder(directory);
    free(manner.words);
    arms_conclude(arm);
}

static void count_alone(const struct arm *arm, struct counts *counts)
{
    const struct manner manner = {.words = arm->words, .has_fixed_seeds = 1};
    const struct waiting child = start_waiting(arm, &manner);
    const char *why = NULL;
    struct execution done;

    counts->has_counters = counters_begin(child.number);
    if (!counts->has_counters)
        why = strerror(errno);

    process_limit_begin(arm->words);
    open_gate(child);
    process_wait(child.number, arm->words, &done);
    process_limit_end();

    if (counts->has_counters && !counters_end(&counts->counters)) {
        counts->has_counters = 0;
        note(counts, "instructions were not counted: others use the processor's counters");
    }
    counts->faults = done.usage.ru_minflt + done.usage.ru_majflt - departure->usage.ru_minflt -
                     departure->usage.ru_majflt;
    counts->switches = done.usage.ru_nvcsw - departure->usage.ru_nvcsw;
    counts->has_faults = counts->has_switches = 1;
    end_execution(arm, done.status);
    if (!counts->is_traced)
        note_addresses(counts);
    if (why && instructions > UNWANTED)
        emulate(arm, counts, why,
                milliseconds(done.usage.ru_utime) + milliseconds(done.usage.ru_stime));
}

static void count_arm(long number)
{
    struct counts *counts = &counted[number];
    const struct arm *arm = &arms[number];

    counts->emulated = -1;
    arms_begin_block(arm);
    began[number] = kit_now();
    count_traced(arm, counts);
    if (!counts->traced.region)
        count_alone(arm, counts);
    else if (!counts->has_counters && instructions > UNWANTED)
        note(counts, "instructions were not counted: the processor's counters cannot be read here, "
                     "and valgrind cannot count a region");
    count_allocations(arm, counts);
    ended[number] = kit_now();
    arms_end_block();
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
    for (int i = 0; i < counts->note_count; i++)
        kit_report("note %s\n", counts->notes[i]);
    if (counts->is_traced) {
        report_calls(traced);
        kit_report("value processes %lu processes\nvalue threads %lu threads\n",
                   traced->processes, traced->threads);
        kit_report("value bytes_read %lu B\nvalue bytes_written %lu B\n", traced->read,
                   traced->written);
        kit_report("value rss:%s %lu KiB\n", traced->largest, traced->memory);
    }
    if (counts->has_faults)
        kit_report("value faults %ld faults\n", counts->faults);
    if (counts->has_switches)
        kit_report("value switches %ld switches\n", counts->switches);
    if (counts->has_counters)
        kit_report("value instructions %llu\nvalue cycles %llu\n",
                   (unsigned long long)counts->counters.instructions,
                   (unsigned long long)counts->counters.cycles);
    if (counts->emulated >= 0)
        kit_report("value instructions:valgrind %lld\n", counts->emulated);
    if (counts->has_allocations)
        kit_report("value allocations %lu\nvalue allocated %lu B\n", counts->tally.allocations,
                   counts->tally.bytes);
}

static void report(long arm_count)
{
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
        poll(NULL, 0, LOOK_MS);
    }
}

/*
 * Finds the library beside this program, and a folder of its own, before any arm changes where this
 * program works.
 */
static void find_files(const char *own_directory)
{
    char program[PATH_MAX], *slash;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *const path = realpath(own_directory, NULL);

    if (!path)
        kit_error("cannot work in %s (%s): try another --dir", own_directory, strerror(errno));
    snprintf(directory, sizeof directory, "%.*s/counted", PATH_MAX - 16, path);
    free(path);

    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    snprintf(library, sizeof library, "%.*s/%s", slash ? (int)(slash - program) : 0, program,
             ALLOCATIONS_LIBRARY);
}

int main(int argc, char **argv)
{
    const char *folder;
    struct kit_window window;
    long arm_count;

    kit_init(argc, argv);
    if (kit_arg_number("region", 0, 0, 1))
        region_init();
    folder = kit_arg("folder", NULL);
    find_files(kit_arg("directory", "."));
    instructions = kit_arg_number("instructions", IF_SHORT, UNWANTED, NEEDED);
    process_limit_time(kit_arg_number("limit", 0, 0, INT32_MAX));
    process_ignore(kit_arg("ignore", ""));
    arm_count = arms_read(kit_command(), arms);
    departure =
        mmap(NULL, sizeof *departure, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (departure == MAP_FAILED)
        kit_error("no memory (%s)", strerror(errno));
    kit_detach_stdio();
    process_init(0);
    arms_open(arms, arm_count, folder);
    arms_work_in(folder);

    window = kit_wait();
    kit_at_error(arms_clean_up);
    for (long i = 0; i < arm_count; i++)
        count_arm(i);
    kit_at_error(NULL);
    kit_stop();

    wait_until(window.first_edge + (window.slices - 1) * window.slice);
    report(arm_count);
    kit_finish();
}
