/* Commands traced by ptrace(2): see trace.h. */
#define _GNU_SOURCE
#include "command/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

enum {
    TASKS = 8192,  /* threads at a time */
    STATUS = 4096, /* bytes of a file of /proc */
    OTHER = CALLS - 1,
    SYSCALL_STOP = SIGTRAP | 0x80,
};

/* A thread that is traced, and the call it is in; -1 outside. */
struct task {
    pid_t number;
    long call;
};

static struct task tasks[TASKS];
static size_t task_count;
static unsigned architecture; /* this program's own; 0 before it is known */

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

/* The name of a process as one word. */
static void read_name(const char *status, char *name, size_t size)
{
    static const char label[] = "Name:\t";
    const char *from = strncmp(status, label, sizeof label - 1) == 0 ? status + sizeof label - 1 : "?";

    snprintf(name, size, "%.*s", (int)strcspn(from, "\n"), from);
    for (char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '_';
}

/* The directory of a thread has its own bytes only under task/. */
static void look_at(pid_t number, struct traced *counts)
{
    char text[STATUS], name[48];
    unsigned long memory;

    snprintf(name, sizeof name, "task/%ld/io", (long)number);
    read_proc(text, number, name);
    counts->read += field(text, "rchar: ");
    counts->written += field(text, "wchar: ");
    read_proc(text, number, "status");
    memory = field(text, "VmHWM:");
    if (memory > counts->memory || !counts->largest[0]) {
        counts->memory = memory;
        read_name(text, counts->largest, sizeof counts->largest);
    }
}

/* --- stops --- */

static int is_process(pid_t number)
{
    char text[STATUS];

    read_proc(text, number, "status");
    return (pid_t)field(text, "Tgid:") == number;
}

/* The first call that is seen is this program's own, before it becomes the command. */
static long call_number(const struct __ptrace_syscall_info *info)
{
    if (architecture == 0)
        architecture = info->arch;
    return info->arch == architecture && info->entry.nr < OTHER ? (long)info->entry.nr : OTHER;
}

static void on_call(struct task *task, struct traced *counts)
{
    struct __ptrace_syscall_info info = {0};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, task->number, sizeof info, &info) < 0) {
        if (errno == EIO)
            kit_skip("this kernel does not tell which call a traced program is in: it needs Linux 5.3");
        return; /* killed meanwhile */
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        task->call = call_number(&info);
        return;
    }
    if (task->call >= 0) {
        counts->all++;
        counts->calls[task->call]++;
    }
    task->call = -1;
}

/* A thread that becomes another program goes on under the number of its process, whose first thread is gone. */
static void rename_task(pid_t former, pid_t number)
{
    const long call = task_of(former)->call;

    forget(former);
    task_of(number)->call = call;
}

static void on_event(int event, pid_t number, struct traced *counts)
{
    unsigned long other = 0;

    if (event == PTRACE_EVENT_EXIT)
        look_at(number, counts);
    else if (event == PTRACE_EVENT_STOP || ptrace(PTRACE_GETEVENTMSG, number, 0, &other) != 0)
        return;
    else if (event != PTRACE_EVENT_EXEC)
        *(is_process((pid_t)other) ? &counts->processes : &counts->threads) += 1;
    else if ((pid_t)other != number)
        rename_task((pid_t)other, number);
}

/* Counts at a stop and lets the thread go on. */
static void on_stop(pid_t number, int status, struct traced *counts)
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
        on_event(event, number, counts);
    else
        deliver = signal;
    ptrace(how, number, 0, deliver);
}

void trace_begin(pid_t child)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;

    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0)
        kit_skip("tracing is not allowed here (%s): nothing is counted", strerror(errno));
    if (ptrace(PTRACE_INTERRUPT, child, 0, 0) != 0)
        kit_error("cannot stop the command (%s)", strerror(errno));
}

/* Ends the traced threads that are left. */
static void end_all(void)
{
    static struct traced unused;
    int status;

    for (size_t i = 0; i < task_count; i++)
        kill(tasks[i].number, SIGKILL);
    for (pid_t number; (number = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (number <= 0 || !WIFSTOPPED(status))
            continue;
        kill(number, SIGKILL);
        on_stop(number, status, &unused);
    }
    task_count = 0;
}

int trace(pid_t command, struct traced *counts)
{
    int has_begun = 0, status;

    for (;;) {
        const pid_t number = waitpid(-1, &status, __WALL);
        if (number < 0 && errno == EINTR)
            continue;
        if (number < 0)
            kit_error("lost the command (%s)", strerror(errno));
        if (!WIFSTOPPED(status)) {
            forget(number);
            if (number == command)
                break;
            continue;
        }
        if (!has_begun && number == command && (unsigned)status >> 16 == PTRACE_EVENT_EXEC) {
            has_begun = 1;
            memset(counts, 0, sizeof *counts);
        }
        on_stop(number, status, counts);
    }
    const int ended = status;
    end_all();
    return ended;
}
