/*
 * What commands do, counted: `count key=value ... -- SECTION ...` with sections as command/execute has them. Each arm is
 * executed once, traced with all of its processes, and reports as a copy:
 *
 *     value calls N calls             system calls that returned
 *     value call:NUMBER N calls       those of this number, of the processes' own architecture
 *     value processes N processes     processes started, without the command itself
 *     value threads N threads         threads started
 *     value read N B                  bytes that calls read and wrote, of files, pipes and all else
 *     value written N B
 *     value memory N KiB              the largest process; a note says which it was
 *
 *     folder=DIR input=FILE ignore=1  as command/execute has them
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
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/arms.h"
#include "command/process.h"
#include "kit.h"

enum {
    CALLS = 1024,  /* numbers of system calls */
    TASKS = 8192,  /* threads at a time */
    STATUS = 4096, /* bytes of a file of /proc */
    LOOK = 10,     /* ms between looks at stdin */
    NOT_FOUND = 127,
    SYSCALL_STOP = SIGTRAP | 0x80,
};

/* A thread that is traced, and the call it is in; -1 outside. */
struct task {
    pid_t number;
    long call;
};

struct counts {
    unsigned long calls[CALLS], all, processes, threads, read, written, memory;
    char largest[32];
};

static struct arm arms[MOST_ARMS];
static struct counts counted[MOST_ARMS];
static int64_t began[MOST_ARMS], ended[MOST_ARMS];
static struct task tasks[TASKS];
static size_t task_count;
static int ignore, input;

/* --- threads --- */

static struct task *task_of(pid_t number)
{
    for (size_t i = 0; i < task_count; i++)
        if (tasks[i].number == number)
            return &tasks[i];
    if (task_count == TASKS)
        kit_error("the command has more than %d threads at a time: count something smaller", TASKS);
    tasks[task_count] = (struct task){.number = number, .call = -1};
    return &tasks[task_count++];
}

static void forget(pid_t number)
{
    struct task *task = task_of(number);

    *task = tasks[--task_count];
}

/* --- what /proc says of a thread that is about to end --- */

static void read_proc(char *text, pid_t number, const char *name)
{
    char path[96];
    ssize_t size;
    int file;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)number, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file < 0 ? 0 : read(file, text, STATUS - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
}

static unsigned long field(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* The directory of a thread has its own bytes only under task/. */
static void look_at(pid_t number, struct counts *counts)
{
    char text[STATUS], name[48];
    unsigned long memory;

    snprintf(name, sizeof name, "task/%ld/io", (long)number);
    read_proc(text, number, name);
    counts->read += field(text, "rchar: ");
    counts->written += field(text, "wchar: ");
    read_proc(text, number, "status");
    memory = field(text, "VmHWM:");
    if (memory > counts->memory) {
        counts->memory = memory;
        snprintf(counts->largest, sizeof counts->largest, "%.*s", (int)strcspn(text + 6, "\n"), text + 6);
    }
}

/* --- stops --- */

static int is_process(pid_t number)
{
    char text[STATUS];

    read_proc(text, number, "status");
    return (pid_t)field(text, "Tgid:") == number;
}

static void on_call(struct task *task, struct counts *counts)
{
    struct __ptrace_syscall_info info = {0};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, task->number, sizeof info, &info) < 0) {
        if (errno == EIO)
            kit_skip("this kernel does not tell which call a traced program is in: it needs Linux 5.3");
        return; /* killed meanwhile */
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        task->call = (long)info.entry.nr;
        return;
    }
    if (task->call >= 0) {
        counts->all++;
        counts->calls[task->call < CALLS ? task->call : CALLS - 1]++;
    }
    task->call = -1;
}

static void on_event(int event, struct task *task, struct counts *counts)
{
    unsigned long number = 0;

    switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        if (ptrace(PTRACE_GETEVENTMSG, task->number, 0, &number) == 0)
            *(is_process((pid_t)number) ? &counts->processes : &counts->threads) += 1;
        break;
    case PTRACE_EVENT_EXIT:
        look_at(task->number, counts);
        break;
    default:
        break;
    }
}

/* Counts at a stop and lets the thread go on. */
static void on_stop(pid_t number, int status, struct counts *counts)
{
    struct task *task = task_of(number);
    const int event = (int)((unsigned)status >> 16), signal = WSTOPSIG(status);
    enum __ptrace_request how = PTRACE_SYSCALL;
    long deliver = 0;

    if (signal == SYSCALL_STOP)
        on_call(task, counts);
    else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
        how = PTRACE_LISTEN; /* it stays stopped until it gets SIGCONT */
    else if (event)
        on_event(event, task, counts);
    else
        deliver = signal;
    ptrace(how, number, 0, deliver);
}

/* --- executions --- */

static _Noreturn void become(const struct arm *arm, int ready)
{
    char byte;

    process_redirect(input, STDOUT_FILENO);
    while (read(ready, &byte, 1) < 0 && errno == EINTR)
        ;
    close(ready);
    execvp(arm->words[0], arm->words);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(NOT_FOUND);
}

static pid_t start(const struct arm *arm)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    int ready[2];
    pid_t child;

    if (pipe2(ready, O_CLOEXEC) != 0 || (child = fork()) < 0)
        kit_error("cannot start '%s' (%s): is `ulimit -u` too low?", arm->words[0], strerror(errno));
    if (child == 0) {
        close(ready[1]);
        become(arm, ready[0]);
    }
    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0)
        kit_skip("tracing is not allowed here (%s): nothing is counted", strerror(errno));
    if (ptrace(PTRACE_INTERRUPT, child, 0, 0) != 0)
        kit_error("cannot stop '%s' (%s)", arm->words[0], strerror(errno));
    close(ready[0]);
    close(ready[1]);
    return child;
}

/* Traces a command until it has ended. What came before it became the command is not its own. */
static int trace(pid_t command, struct counts *counts)
{
    int has_begun = 0;

    for (;;) {
        int status;
        const pid_t number = waitpid(-1, &status, __WALL);
        if (number < 0 && errno == EINTR)
            continue;
        if (number < 0)
            kit_error("lost the command (%s)", strerror(errno));
        if (!WIFSTOPPED(status)) {
            forget(number);
            if (number == command)
                return status;
            continue;
        }
        if (!has_begun && number == command && (unsigned)status >> 16 == PTRACE_EVENT_EXEC) {
            has_begun = 1;
            memset(counts, 0, sizeof *counts);
        }
        on_stop(number, status, counts);
    }
}

static void count_arm(long number)
{
    struct arm *arm = &arms[number];
    int status;

    arms_prepare(arm);
    if (input != STDIN_FILENO)
        lseek(input, 0, SEEK_SET);
    began[number] = kit_now();
    status = trace(start(arm), &counted[number]);
    ended[number] = kit_now();
    process_end_children();
    task_count = 0;
    if (status != 0 && !ignore)
        process_fail(arm->words, status);
}

static void report_arm(long number)
{
    const struct counts *counts = &counted[number];

    kit_slice(began[number], ended[number], 1);
    kit_report("value calls %lu calls\n", counts->all);
    for (int call = 0; call < CALLS; call++)
        if (counts->calls[call])
            kit_report("value call:%d %lu calls\n", call, counts->calls[call]);
    kit_report("value processes %lu processes\nvalue threads %lu threads\n", counts->processes, counts->threads);
    kit_report("value read %lu B\nvalue written %lu B\n", counts->read, counts->written);
    kit_report("value memory %lu KiB\n", counts->memory);
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
    const char *folder, *input_file;
    struct kit_window window;
    long number;

    kit_init(argc, argv);
    folder = kit_arg("folder", NULL);
    input_file = kit_arg("input", NULL);
    ignore = (int)kit_arg_number("ignore", 0, 0, 1);
    number = arms_read(kit_command(), arms);
    kit_detach_stdio();
    process_init();
    input = input_file ? process_open(input_file, O_RDONLY) : STDIN_FILENO;
    arms_work_in(folder);
    window = kit_wait();
    for (long i = 0; i < number; i++)
        count_arm(i);
    kit_stop();
    wait_until(window.first_edge + (window.slices - 1) * window.slice);
    for (long i = 0; i < number; i++)
        if (counted[i].largest[0])
            kit_note("the largest process of '%s' was %s", arms[i].words[0], counted[i].largest);
    for (long i = 0; i < number; i++) {
        if (number > 1)
            kit_report("copy %ld\n", i);
        report_arm(i);
    }
    kit_finish();
}
