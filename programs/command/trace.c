/*
 * Commands traced by ptrace(2): see trace.h.
 *
 * Every thread of a command stops at the entry and the exit of each system call, when it starts
 * another thread or process, when it becomes another program, and before it ends. trace_until_end
 * waits for the next stop of any of them; handle_stop counts it and lets the thread go on.
 */
#define _GNU_SOURCE
#include "command/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command/process.h"
#include "command/region.h"
#include "kit.h"

enum {
    PROC_FILE_BYTES = 4096, /* bytes of a file of /proc */
    OTHER_CALL = CALLS - 1,
    SYSCALL_STOP = SIGTRAP | 0x80,
};

/*
 * Each traced thread's state, by its number: many stop at the same time, and each stop must find
 * its own without a search. Pages of numbers that no thread has are never touched.
 */
enum {
    NUMBERS = 4 << 20, /* Linux's PID_MAX_LIMIT */
    UNTRACED = 0,
    OUTSIDE = 1, /* of calls */
    IN_CALL = 2, /* and the call's number */
};

static short states[NUMBERS];
static pid_t lowest = NUMBERS, highest; /* of the numbers that any thread had */
static long traced_count;
static unsigned architecture; /* this program's own; 0 before it is known */
static pid_t traced_command;
static int is_over; /* its region has ended: nothing is counted any more */
static void (*call_at_edge)(int edge);

/* --- threads --- */

/* A thread's state. A thread that is new becomes one of the traced. */
static short *state_of(pid_t number)
{
    short *state = &states[number % NUMBERS];

    if (*state == UNTRACED) {
        *state = OUTSIDE;
        traced_count++;
        lowest = number < lowest ? number : lowest;
        highest = number > highest ? number : highest;
    }
    return state;
}

static void remove_task(pid_t number)
{
    *state_of(number) = UNTRACED;
    traced_count--;
}

/* --- what /proc says of a thread that is about to end --- */

static void read_proc(char *text, pid_t number, const char *name)
{
    char path[96];
    ssize_t size;
    int file;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)number, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file < 0 ? 0 : read(file, text, PROC_FILE_BYTES - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
}

static unsigned long read_field(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* The name of a process as one word. */
static void read_name(const char *status, char *name, size_t size)
{
    static const char label[] = "Name:\t";
    const char *from =
        strncmp(status, label, sizeof label - 1) == 0 ? status + sizeof label - 1 : "?";

    snprintf(name, size, "%.*s", (int)strcspn(from, "\n"), from);
    for (char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '_';
}

/* Adds what a thread has used. Only the files under task/ have a single thread's bytes. */
static void add_usage_of_thread(pid_t number, struct traced *counts)
{
    char text[PROC_FILE_BYTES], name[48];
    unsigned long memory;

    snprintf(name, sizeof name, "task/%ld/io", (long)number);
    read_proc(text, number, name);
    counts->read += read_field(text, "rchar: ");
    counts->written += read_field(text, "wchar: ");
    read_proc(text, number, "status");
    memory = read_field(text, "VmHWM:");
    if (memory > counts->memory || !counts->largest[0]) {
        counts->memory = memory;
        read_name(text, counts->largest, sizeof counts->largest);
    }
}

static int is_process(pid_t number)
{
    char text[PROC_FILE_BYTES];

    read_proc(text, number, "status");
    return (pid_t)read_field(text, "Tgid:") == number;
}

/* --- the region --- */

static void each_thread(void (*call)(pid_t number, struct traced *counts), struct traced *counts)
{
    for (pid_t number = lowest; number <= highest && number < NUMBERS; number++)
        if (states[number] != UNTRACED)
            call(number, counts);
}

/* What a thread has used before the region is no part of it. Its process's peak begins anew. */
static void subtract_usage_of_thread(pid_t number, struct traced *counts)
{
    struct traced before = {0};
    char path[64];
    int file;

    add_usage_of_thread(number, &before);
    counts->read -= before.read;
    counts->written -= before.written;

    snprintf(path, sizeof path, "/proc/%ld/clear_refs", (long)number);
    file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) < 0)
        counts->memory = before.memory; /* the peak of all, where that cannot be asked */
    if (file >= 0)
        close(file);
}

static void begin_region(struct traced *counts)
{
    const struct traced before = *counts;

    memset(counts, 0, sizeof *counts);
    memcpy(counts->refuses, before.refuses, sizeof counts->refuses);
    counts->why = before.why;
    counts->region = REGION_READY;
    each_thread(subtract_usage_of_thread, counts);
}

/* Takes the ends that the command has written, and returns those that count: later ones do not. */
static int cross_edge(int written, struct traced *counts)
{
    if (!written || is_over)
        return 0;

    if (written & REGION_READY) {
        begin_region(counts);
        call_at_edge(REGION_READY);
    }
    if (written & REGION_DONE) {
        each_thread(add_usage_of_thread, counts);
        call_at_edge(REGION_DONE);
        counts->region |= REGION_DONE;
        is_over = 1;
    }
    return written;
}

/* Adds the faults of a process: fields 10 to 13 of its line. Field 2 ends in a parenthesis. */
static void add_faults(pid_t number, struct traced *counts)
{
    char text[PROC_FILE_BYTES];
    unsigned long minor, major, of_children[2];
    const char *rest;

    if (!is_process(number))
        return;
    read_proc(text, number, "stat");
    rest = strrchr(text, ')');
    if (rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %lu %lu %lu %lu", &minor,
                       &of_children[0], &major, &of_children[1]) == 4)
        counts->all += minor + major + of_children[0] + of_children[1];
}

long trace_faults(void)
{
    static struct traced sum;

    sum.all = 0;
    each_thread(add_faults, &sum);
    return (long)sum.all;
}

/* --- programs --- */

/* True if a program gets rights that its user does not have: it ignores LD_PRELOAD. */
static int gains_rights(const char *path, const struct stat *file)
{
    return (file->st_mode & S_ISUID && file->st_uid != getuid()) ||
           (file->st_mode & S_ISGID && file->st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* True if the file names a loader, which reads LD_PRELOAD, and is of this program's kind. */
static int has_loader(int file)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;

    if (read(file, &header, sizeof header) != sizeof header ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return 0;
    for (int i = 0; i < header.e_phnum; i++) {
        const off_t at = (off_t)header.e_phoff + i * (off_t)sizeof part;

        if (pread(file, &part, sizeof part, at) != sizeof part)
            return 0;
        if (part.p_type == PT_INTERP)
            return 1;
    }
    return 0;
}

/* Notes that a program which a process has become takes no library before its own, if so. */
static void check_program(pid_t number, struct traced *counts)
{
    char path[64], status[PROC_FILE_BYTES];
    struct stat about;
    int file;

    if (counts->why)
        return;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)number);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0)
        counts->why = "cannot be read";
    else if (gains_rights(path, &about))
        counts->why = "has rights of its own, as a set-user-ID program has";
    else if (!has_loader(file))
        counts->why = "is statically linked, or of another architecture";
    if (file >= 0)
        close(file);

    if (counts->why) {
        read_proc(status, number, "status");
        read_name(status, counts->refuses, sizeof counts->refuses);
    }
}

/* --- stops --- */

/*
 * The first call that is seen is made by this program's child before it executes the command, so
 * its architecture is this program's.
 */
static long call_number(const struct __ptrace_syscall_info *info)
{
    if (architecture == 0)
        architecture = info->arch;
    return info->arch == architecture && info->entry.nr < OTHER_CALL ? (long)info->entry.nr
                                                                     : OTHER_CALL;
}

static void on_call(pid_t number, struct traced *counts)
{
    struct __ptrace_syscall_info info = {0};
    short *state = state_of(number);

    if (ptrace(PTRACE_GET_SYSCALL_INFO, number, sizeof info, &info) < 0)
        return; /* killed meanwhile */

    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        *state = (short)(IN_CALL + call_number(&info));
        return;
    }
    /* The call that writes an end of the region is no part of it, nor is the byte. */
    if (*state >= IN_CALL) {
        const int written = cross_edge(region_look(), counts);

        if (written & REGION_DONE)
            counts->written -= (unsigned long)info.exit.rval;
        if (!written && !is_over) {
            counts->all++;
            counts->calls[*state - IN_CALL]++;
        }
    }
    *state = OUTSIDE;
}

/*
 * A thread that executes another program goes on under its process's number; the others are gone.
 */
static void rename_thread(pid_t former, pid_t number)
{
    *state_of(number) = *state_of(former);
    remove_task(former);
}

static void count_event(int event, pid_t number, struct traced *counts)
{
    unsigned long other = 0;

    if (event == PTRACE_EVENT_EXEC)
        check_program(number, counts);
    if (event == PTRACE_EVENT_EXIT) {
        if (number == traced_command && counts->region == REGION_READY)
            cross_edge(REGION_DONE, counts);
        if (!is_over)
            add_usage_of_thread(number, counts);
    } else if (event == PTRACE_EVENT_STOP || ptrace(PTRACE_GETEVENTMSG, number, 0, &other) != 0) {
        return;
    } else if (event != PTRACE_EVENT_EXEC) {
        if (!is_over)
            *(is_process((pid_t)other) ? &counts->processes : &counts->threads) += 1;
    } else if ((pid_t)other != number) {
        rename_thread((pid_t)other, number);
    }
}

/* Counts at a stop and lets the thread go on. */
static void handle_stop(pid_t number, int status, char **words, struct traced *counts)
{
    const int event = (int)((unsigned)status >> 16), signal = WSTOPSIG(status);
    enum __ptrace_request how = PTRACE_SYSCALL;
    long deliver = 0;

    state_of(number); /* a new thread's first stop makes it known */
    if (signal == SYSCALL_STOP)
        on_call(number, counts);
    else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        process_refuse_terminal(signal, words);
        how = PTRACE_LISTEN; /* it stays stopped until it gets SIGCONT */
    } else if (event)
        count_event(event, number, counts);
    else
        deliver = signal;
    ptrace(how, number, 0, deliver);
}

/*
 * Waits until a child stops; true if the kernel then says what system call it is in, as kernels
 * before Linux 5.3 do not.
 */
static int can_ask_for_calls(pid_t child)
{
    struct __ptrace_syscall_info info;
    int status;

    return waitpid(child, &status, __WALL) == child &&
           ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) >= 0;
}

int trace_begin(pid_t child)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                         PTRACE_O_EXITKILL;

    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0)
        return 0;
    if (ptrace(PTRACE_INTERRUPT, child, 0, 0) != 0)
        kit_error("cannot stop the command (%s)", strerror(errno));
    if (!can_ask_for_calls(child))
        return 0;
    return ptrace(PTRACE_SYSCALL, child, 0, 0) == 0;
}

/*
 * Kills the traced threads that are left. Each may stop once more before it ends, and stays there
 * until the stop is handled.
 */
static void end_tasks(char **words)
{
    static struct traced unused;
    int status;

    for (pid_t number = 0; number < NUMBERS && traced_count > 0; number++)
        if (states[number] != UNTRACED)
            kill(number, SIGKILL);

    while (traced_count > 0) {
        const pid_t number = waitpid(-1, &status, __WALL);
        if (number < 0 && errno != EINTR)
            break;
        if (number > 0 && !WIFSTOPPED(status)) {
            remove_task(number);
        } else if (number > 0) {
            kill(number, SIGKILL);
            handle_stop(number, status, words, &unused);
        }
    }

    /* Threads that cannot be waited for are forgotten. */
    if (traced_count > 0)
        memset(states, UNTRACED, sizeof states);
    traced_count = 0;
}

static int trace_until_end(pid_t command, char **words, struct traced *counts)
{
    int has_begun = 0, status;

    for (;;) {
        const pid_t number = waitpid(-1, &status, __WALL);
        if (number < 0 && errno == EINTR)
            continue;
        if (number < 0)
            kit_error("lost the command (%s)", strerror(errno));

        if (!WIFSTOPPED(status)) {
            remove_task(number);
            if (number == command)
                return status;
            continue;
        }

        /* From here on it is the command: what its process did before does not count. */
        if (!has_begun && number == command && (unsigned)status >> 16 == PTRACE_EVENT_EXEC) {
            has_begun = 1;
            memset(counts, 0, sizeof *counts);
        }
        handle_stop(number, status, words, counts);
    }
}

int trace(pid_t command, char **words, struct traced *counts, void (*at_edge)(int edge))
{
    int status;

    traced_command = command;
    is_over = 0;
    call_at_edge = at_edge;
    region_begin();

    /*
     * Traced threads end with this program (PTRACE_O_EXITKILL). The usual way out would wait for
     * them, but a traced thread does not end while nobody handles its stops.
     */
    kit_at_end(NULL);
    status = trace_until_end(command, words, counts);
    end_tasks(words);
    process_end_with_program();
    return status;
}
