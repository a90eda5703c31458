/*
 * Commands in processes of their own: see process.h.
 *
 * This program adopts every orphan among the processes that a command starts, whatever group or
 * session they went to, and ends those that outlive it. So it has three kinds of children:
 *
 *   the command   is waited for
 *   leftovers     of a command are ended before the next command begins
 *   kept ones     were left by what comes around commands (--setup, --prepare), perhaps a server
 *                 that commands talk to. If this program is told to end, they end with it; else the
 *                 tool, which adopts them, ends them when the run is over
 *
 * Servers of --serve are kept, too, but end before this program does.
 */
#define _GNU_SOURCE
#include "command/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "command/complaints.h"
#include "kit.h"

enum {
    MAX_SHOWN_CHARS = 120, /* of a command, and of its complaint */
    LIST_BYTES = 4096,     /* of a list of children */
    MAX_KEPT = 256,        /* processes */
    STATUSES = 256,        /* exit statuses; those from 128 are signals too, as shells have it */
    SIGNALLED = 128, /* added to a signal's number, as shells do */
    DYING_MS = 5000, /* time for killed processes to end; one may hang in the kernel */
    LOOK_US = 100,
    WATCH_MS = 50, /* between looks at a file whose size is limited */
    LIMIT_SIGNAL = SIGVTALRM,
    STOPPING_MS = 5000, /* a server that was asked to end may take so long */
    STOPPING_LOOK_MS = 1,
};

/* A process that is kept. Its children are recognised by its group and session. */
struct kept {
    pid_t process, group, session;
    int is_server; /* of --serve: it does not outlive this program */
};

/* the path of the file in which the kernel lists this program's children */
static char children[48];
static pid_t own, own_session;
static volatile sig_atomic_t last_command; /* its process, alive or not */
static struct kept kept[MAX_KEPT];
static size_t kept_count;
static long outlived, unended;
static const char *option = ""; /* "--setup " and the like while that is executed; else empty */
static volatile sig_atomic_t is_told_to_end;
static volatile sig_atomic_t stopped_by; /* the signal that has stopped the command, or 0 */
static void (*at_stop)(void); /* NULL: this program has nothing to report then */
static int starts_servers; /* what is kept now is a server's */
static void (*at_server_end)(pid_t server, int status, int may_fail);
static char ignored[STATUSES]; /* the statuses with which commands may end */

/* What an execution may take and print. */
static struct {
    int64_t ns; /* 0: any time */
    const char *set_by;
    int file;   /* 0: no limit for a file; stdin is no output */
    int mib;
    const char *hint;
    char **words; /* the command that is executed now, or NULL */
    int64_t start;
    timer_t timer;
} limit;

static char iteration[64];
static int has_iteration;
static void (*wait_for_child)(pid_t child); /* NULL: this program sleeps until one has ended */

/* --- leftovers of commands --- */

static int is_kept(pid_t process)
{
    const pid_t group = getpgid(process), session = getsid(process);

    for (size_t i = 0; i < kept_count; i++) {
        const struct kept *one = &kept[i];
        if (one->process == process || one->group == group ||
            (one->session == session && session != own_session))
            return 1;
    }
    return 0;
}

static void keep(pid_t process)
{
    if (kept_count == MAX_KEPT)
        kit_error("--setup, --prepare, --conclude and --serve have left more than %d processes "
                  "running: have them end what they start",
                  MAX_KEPT);
    kept[kept_count++] =
        (struct kept){process, getpgid(process), getsid(process), starts_servers};
}

static struct kept *find_kept(pid_t process)
{
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].process == process)
            return &kept[i];
    return NULL;
}

/* Forgets a kept process that has ended; its entry stays as long as its group has members. */
static void forget(pid_t process, int status, int may_fail)
{
    struct kept *one = find_kept(process);
    const int is_server = one && one->is_server;

    if (one && one->group > 0 && kill(-one->group, 0) == 0)
        one->process = 0;
    else if (one)
        *one = kept[--kept_count];
    if (is_server && at_server_end)
        at_server_end(process, status, may_fail);
}

static void forget_servers(void)
{
    for (size_t i = 0; i < kept_count;) {
        if (kept[i].is_server)
            kept[i] = kept[--kept_count];
        else
            i++;
    }
}

/* Calls `call` for each child. On a kernel that lists no children, they are left to the tool. */
static void each_child(void (*call)(pid_t child))
{
    char list[LIST_BYTES], *next = list;
    const int file = open(children, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, list, sizeof list - 1);

    if (file >= 0)
        close(file);
    list[size > 0 ? size : 0] = '\0';
    for (long child; (child = strtol(next, &next, 10)) > 0;)
        call((pid_t)child);
}

static long killed_in_pass;

/* A process of another user, as sudo leaves one, cannot be ended; it is kept and not waited for. */
static void end_child(pid_t child)
{
    if (is_kept(child))
        return;
    if (kill(child, SIGKILL) == 0) {
        killed_in_pass++;
    } else if (errno == EPERM) {
        unended++;
        keep(child);
    }
}

static void keep_child(pid_t child)
{
    if (!is_kept(child))
        keep(child);
}

/* Reaps and counts children that have ended; true if there are others. */
static int reap(long *count)
{
    pid_t ended;
    int status;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        forget(ended, status, 0);
        ++*count;
    }
    return ended == 0;
}

/* In passes, since the orphans of a killed process become children only when it has ended. */
void process_end_children(void)
{
    const struct timespec pause = {.tv_nsec = LOOK_US * 1000};
    long ended_alone = 0;
    int64_t deadline;

    if (!reap(&ended_alone))
        return;

    deadline = kit_now() + (int64_t)DYING_MS * 1000000;
    do {
        killed_in_pass = 0;
        each_child(end_child);
        if (killed_in_pass == 0)
            return;
        nanosleep(&pause, NULL);
    } while (reap(&outlived) && kit_now() < deadline);
}

static void end_commands(int finished)
{
    /* Where a command failed, what is kept goes on: --cleanup may talk to it. */
    if (!finished && (is_told_to_end || kit_abandoned()))
        kept_count = 0;
    forget_servers();
    process_end_children();
    complaints_end();
}

void process_end_with_program(void)
{
    kit_at_end(end_commands);
}

/*
 * True if a process of this program's group has sent a signal: a command has sent it to its whole
 * group, as scripts do that end with `kill 0`, and means what it has started itself. One that the
 * signal has ended may be gone already.
 */
static int is_of_command(const siginfo_t *about)
{
    if (about->si_code != SI_USER || about->si_pid <= 0 || about->si_pid == own)
        return 0;
    return about->si_pid == last_command || getpgid(about->si_pid) == getpgrp();
}

/* SIGTERM, by the tool or because the tool died: all that commands have started ends too. */
static void on_end(int number, siginfo_t *about, void *context)
{
    (void)number;
    (void)context;
    if (getpid() != own)
        _exit(1); /* a child that is about to become a command */
    if (is_of_command(about))
        return;
    is_told_to_end = 1;
    if (!at_stop)
        kit_leave();
    kit_quiet(); /* it would end the program, too, as stdin has closed */
    each_child(end_child); /* and process_wait, whose child it was, goes on to leave_if_stopped */
}

void process_at_stop(void (*report)(void))
{
    at_stop = report;
}

/* Reports and leaves, but outside of a handler, which may have interrupted anything. */
static void leave_if_stopped(void)
{
    if (is_told_to_end && at_stop)
        at_stop();
}

/* A signal that would end or stop this program, and does unless a command has sent it. */
static void on_group_signal(int number, siginfo_t *about, void *context)
{
    (void)context;
    if (getpid() == own && is_of_command(about))
        return;
    if (number == SIGTSTP) {
        raise(SIGSTOP);
        return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

/*
 * The terminal stops the whole process group of a background process that reads from it. With a
 * handler this program goes on, and sees that the command was stopped.
 */
static void on_terminal(int number)
{
    (void)number;
}

static void on_limit(int number);

static void handle_signal(int number, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void handle_group_signal(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* What is ignored, as under nohup, stays so for commands, too. */
static int is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void process_init(long servers)
{
    const int group_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};

    own = getpid();
    own_session = getsid(0);
    snprintf(children, sizeof children, "/proc/self/task/%ld/children", (long)own);
    complaints_init(servers);

    handle_group_signal(SIGTERM, on_end);
    for (size_t i = 0; i < sizeof group_signals / sizeof *group_signals; i++)
        if (!is_ignored(group_signals[i]))
            handle_group_signal(group_signals[i], on_group_signal);
    handle_signal(SIGTTIN, on_terminal);
    handle_signal(SIGTTOU, on_terminal);
    handle_signal(LIMIT_SIGNAL, on_limit);
    process_end_with_program();
#ifdef __linux__
    /* Refused before Linux 3.4: then orphans become the tool's children. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* If the tool dies. Its end also closes stdin, but that is noticed only in the window. */
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
#endif
}

long process_left(void)
{
    return outlived;
}

long process_unended(void)
{
    return unended;
}

/*
 * A command as people type it, without the shell that executes it, quoted and cut to a line; before
 * it the option it was given with.
 */
static const char *quote_command(char **words)
{
    static char quoted[MAX_SHOWN_CHARS + 32], line[MAX_SHOWN_CHARS + 1];
    size_t used = 0;

    if (words[1] && strcmp(words[1], "-c") == 0 && words[2] && !words[3])
        words += 2;
    for (; *words && used < MAX_SHOWN_CHARS; words++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", *words);
    snprintf(quoted, sizeof quoted, "%s'%s'", option, line);
    return quoted;
}

const char *process_quote(const char *given_with, char **words)
{
    option = given_with;
    return quote_command(words);
}

/* --- limits --- */

void process_limit_time(long ms)
{
    limit.ns = (int64_t)ms * 1000000;
    limit.set_by = "--timeout";
}

void process_limit_output(int file, int mib, const char *hint)
{
    limit.file = file;
    limit.mib = mib;
    limit.hint = hint;
}

static void on_limit(int number)
{
    struct stat file;

    (void)number;
    if (!limit.words)
        return;
    if (limit.ns && kit_now() - limit.start >= limit.ns && stopped_by)
        kit_error("%s was stopped by signal %d, and was ended after %.9g s, its %s",
                  quote_command(limit.words), (int)stopped_by, (double)limit.ns / 1e9,
                  limit.set_by);
    if (limit.ns && kit_now() - limit.start >= limit.ns)
        kit_error("%s was still running after %.9g s, its %s, and was ended",
                  quote_command(limit.words), (double)limit.ns / 1e9, limit.set_by);
    if (limit.file && fstat(limit.file, &file) == 0 && file.st_size >> 20 >= limit.mib)
        kit_error("%s prints more than %d MiB, %s", quote_command(limit.words), limit.mib,
                  limit.hint);
}

/* Has LIMIT_SIGNAL come in `first` ns, and repeatedly if a file is limited; 0 stops it. */
static void arm_limit_timer(int64_t first)
{
    const int64_t again = limit.file ? (int64_t)WATCH_MS * 1000000 : 0;
    const struct itimerspec times = {
        .it_value = {.tv_sec = first / 1000000000, .tv_nsec = first % 1000000000},
        .it_interval = {.tv_nsec = again},
    };
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LIMIT_SIGNAL};
    static int has_timer;

    if (!has_timer && timer_create(CLOCK_MONOTONIC, &event, &limit.timer) != 0)
        kit_error("cannot create a timer (%s): is `ulimit -i` too low?", strerror(errno));
    has_timer = 1;
    timer_settime(limit.timer, 0, &times, NULL);
}

void process_limit_begin(char **words)
{
    sigset_t limit_signal;

    /* Nothing interrupts a command without limits. */
    if (!limit.ns && !limit.file)
        return;

    /* What comes after an error by LIMIT_SIGNAL runs in its handler, and has a limit, too. */
    sigemptyset(&limit_signal);
    sigaddset(&limit_signal, LIMIT_SIGNAL);
    sigprocmask(SIG_UNBLOCK, &limit_signal, NULL);

    limit.words = words;
    limit.start = kit_now();
    arm_limit_timer(limit.file ? (int64_t)WATCH_MS * 1000000 : limit.ns);
}

void process_limit_end(void)
{
    if (!limit.words)
        return;
    limit.words = NULL;
    arm_limit_timer(0);
}

/* --- executions --- */

void process_redirect(int input, int output)
{
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(complaints_file(), STDERR_FILENO) < 0)
        _exit(1);
}

int process_open(int folder, const char *path, int flags)
{
    /* Whatever the umask, others must not write what may be root's. */
    const int file = openat(folder, path, flags | O_CLOEXEC, 0644);

    if (file < 0)
        kit_error("cannot open %s (%s): is the path right?", path, strerror(errno));
    return file;
}

/*
 * Only a regular file keeps what was written to it: devices and pipes have nothing to empty. What
 * is only added to may have others' lines.
 */
static void empty_file(int output)
{
    struct stat file;

    if (fstat(output, &file) != 0 || !S_ISREG(file.st_mode) ||
        (fcntl(output, F_GETFL) & O_APPEND) != 0)
        return;
    if (ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) < 0)
        kit_error("cannot empty the file that the commands write (%s): is the disk in order?",
                  strerror(errno));
}

void process_rewind(int input, int output)
{
    if (input != STDIN_FILENO)
        lseek(input, 0, SEEK_SET);
    if (output != STDOUT_FILENO)
        empty_file(output);
    complaints_begin(COMMAND);
}

/* putenv(3) keeps the address of `iteration`: later numbers only change its text. */
void process_number(const char *word, long number)
{
    snprintf(iteration, sizeof iteration, "HYPERFINE_ITERATION=%s%ld", word, number);
    if (!has_iteration)
        putenv(iteration);
    has_iteration = 1;
}

/* The path of a command's program, searched as execvp(3) does; NULL if there is none. */
static const char *find_program(const char *name)
{
    static char path[PATH_MAX];
    const char *folder = getenv("PATH");
    struct stat file;
    size_t length;

    if (strchr(name, '/'))
        return name;
    for (folder = folder ? folder : "/bin:/usr/bin";; folder += length + 1) {
        length = strcspn(folder, ":");
        snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
        if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0)
            return path;
        if (!folder[length])
            return NULL;
    }
}

/* Says why a command was not executed; `file` is NULL if there is none of its name. */
static void refuse_to_execute(const char *file, char **words, int why)
{
    const char *what = "must be installed and executable";

    if (why == ENOEXEC)
        what = "needs a #! line, or a shell that executes it";
    else if (why == ENOENT && file && access(file, F_OK) == 0)
        what = "needs the interpreter that its #! line names, or the loader that its ELF header "
               "names";
    kit_error("%s cannot be executed (%s): '%.100s' %s", quote_command(words), strerror(why),
              words[0], what);
}

/*
 * Starts a command with these files as its stdin and stdout.
 *
 * vfork, and not posix_spawn(3): until glibc 2.38 that makes a system call for every signal, which
 * would count as the command's time where system calls are made slow.
 */
static pid_t start_process(const char *file, char **words, int input, int output, int has_own_group)
{
    volatile int refused = file ? 0 : ENOENT;
    const pid_t child = file ? vfork() : -1;

    if (child == 0) {
        /* The child runs in this program's memory until it executes the command. */
        signal(SIGALRM, SIG_DFL);
        if (has_own_group)
            setpgid(0, 0);
        process_redirect(input, output);
        execv(file, words);
        refused = errno;
        _exit(1);
    }
    if (child < 0 && file)
        refused = errno;

    if (refused)
        refuse_to_execute(file, words, refused);
    last_command = child;
    return child;
}

void process_refuse_terminal(int signal, char **words)
{
    if (signal == SIGTTIN || signal == SIGTTOU)
        kit_error("%s waits for the terminal, which commands do not get: give it --input, or have "
                  "it ask nothing",
                  quote_command(words));
}

static void add_time(struct timeval *sum, struct timeval more)
{
    timeradd(sum, &more, sum);
}

static void add_usage(struct rusage *sum, const struct rusage *more)
{
    add_time(&sum->ru_utime, more->ru_utime);
    add_time(&sum->ru_stime, more->ru_stime);
    sum->ru_minflt += more->ru_minflt;
    sum->ru_majflt += more->ru_majflt;
    sum->ru_nvcsw += more->ru_nvcsw;
    sum->ru_nivcsw += more->ru_nivcsw;
    if (more->ru_maxrss > sum->ru_maxrss)
        sum->ru_maxrss = more->ru_maxrss;
}

/*
 * Orphans that end meanwhile are reaped at once, as process 1 does: a command may wait until one of
 * them is gone.
 */
void process_wait(pid_t child, char **words, struct execution *done)
{
    struct rusage used;
    pid_t ended;

    done->usage = (struct rusage){0};
    stopped_by = 0;
    if (is_told_to_end && at_stop) /* before the child was there for the handler to kill */
        each_child(end_child);
    do {
        ended = wait4(-1, &done->status, WUNTRACED | WCONTINUED | (wait_for_child ? WNOHANG : 0),
                      &used);
        if (ended == 0) {
            wait_for_child(child);
            continue;
        }
        done->end = kit_now();
        if (ended < 0 && errno != EINTR)
            kit_error("cannot wait for %s (%s)", quote_command(words), strerror(errno));
        if (ended < 0)
            continue;

        if (WIFSTOPPED(done->status) || WIFCONTINUED(done->status)) {
            if (WIFSTOPPED(done->status) && !is_kept(ended))
                process_refuse_terminal(WSTOPSIG(done->status), words);
            if (ended == child)
                stopped_by = WIFSTOPPED(done->status) ? WSTOPSIG(done->status) : 0;
            ended = -1; /* it goes on, even if it is the child */
            continue;
        }

        if (!find_kept(ended))
            add_usage(&done->usage, &used);
        forget(ended, done->status, 1);
    } while (ended != child);
}

void process_wait_by(void (*wait)(pid_t child))
{
    wait_for_child = wait;
}

struct execution process_execute(char **words, int input, int output)
{
    const char *file = find_program(words[0]);
    struct execution done = {0};
    pid_t child;

    option = "";
    complaints_begin(COMMAND);
    process_limit_begin(words);
    region_begin();

    done.start = kit_now();
    child = start_process(file, words, input, output, 0);
    process_wait(child, words, &done);

    process_limit_end();
    process_end_children();
    leave_if_stopped();
    done.region = region_end(done.start, done.end);
    return done;
}

/* --- ends --- */

const char *process_end(int status)
{
    static char how[64];

    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "ended with exit status %d", WEXITSTATUS(status));
    return how;
}

/* The end of an error: the last line that a failed command wrote to its stderr. */
static const char *describe_complaint(const char *complaint)
{
    static char words[MAX_SHOWN_CHARS + 16];

    if (!*complaint)
        return " and said nothing";
    snprintf(words, sizeof words, ", saying '%.*s'", MAX_SHOWN_CHARS, complaint);
    return words;
}

void process_ignore(const char *list)
{
    if (strcmp(list, "all") == 0)
        memset(ignored, 1, sizeof ignored);
    for (char *next; *list >= '0' && *list <= '9'; list = *next == ',' ? next + 1 : next) {
        const unsigned long status = strtoul(list, &next, 10);
        if (status < sizeof ignored)
            ignored[status] = 1;
    }
}

/* The variables by which Python and Perl draw their hashes. */
enum { SEEDS = 2 };
static const char *const seeds[SEEDS] = {"PYTHONHASHSEED", "PERL_HASH_SEED"};
static int is_seed_fixed[SEEDS];

void process_fix_seeds(void)
{
    for (int i = 0; i < SEEDS; i++)
        if (!getenv(seeds[i]))
            is_seed_fixed[i] = setenv(seeds[i], "0", 0) == 0;
}

void process_release_seeds(void)
{
    for (int i = 0; i < SEEDS; i++)
        if (is_seed_fixed[i]) {
            unsetenv(seeds[i]);
            is_seed_fixed[i] = 0;
        }
}

/* A status of wait4's as shells have it. */
static int shell_status(int status)
{
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int process_may_end(int status)
{
    return status == 0 || ignored[shell_status(status)];
}

static int64_t nanoseconds(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

int64_t process_cpu_time(const struct execution *done)
{
    return nanoseconds(done->usage.ru_utime) + nanoseconds(done->usage.ru_stime);
}

void process_report(const struct execution *done)
{
    const struct rusage *used = &done->usage;

    kit_report("execution %ld %lld %lld %lld %lld %ld %ld %ld %ld %ld %d\n", done->round,
               (long long)done->start, (long long)done->end,
               (long long)nanoseconds(used->ru_utime), (long long)nanoseconds(used->ru_stime),
               used->ru_minflt, used->ru_majflt, used->ru_nvcsw, used->ru_nivcsw, used->ru_maxrss,
               shell_status(done->status));
    if (done->unit)
        kit_report("unit %ld %ld\n", done->round, done->unit);
    if (done->region.written)
        kit_report("region %ld %lld %lld\n", done->round, (long long)done->region.start,
                   (long long)done->region.end);
}

void process_fail(char **words, int status)
{
    kit_error("%s %s%s; run it by hand, or try --ignore-failure", quote_command(words),
              process_end(status), describe_complaint(complaints_last()));
}

void process_execute_around(const char *given_with, char **words)
{
    static char with_blank[32];
    /* --setup has no limit: it may build what is measured. */
    const int is_set_up = strcmp(given_with, "--setup") == 0;
    struct execution done = {0};
    pid_t child;

    snprintf(with_blank, sizeof with_blank, "%s ", given_with);
    option = with_blank;
    complaints_begin(AROUND);

    /* Only commands are numbered, as in hyperfine. */
    if (has_iteration)
        unsetenv("HYPERFINE_ITERATION");
    has_iteration = 0;

    if (!is_set_up)
        process_limit_begin(words);
    child = start_process(find_program(words[0]), words, STDIN_FILENO, STDOUT_FILENO, 1);
    process_wait(child, words, &done);
    process_limit_end();
    leave_if_stopped();
    each_child(keep_child);

    if (done.status != 0)
        kit_error("%s %s%s; run it by hand, or append || true", quote_command(words),
                  process_end(done.status), describe_complaint(complaints_last()));
    option = "";
}

/* --- servers --- */

pid_t process_start_server(char **words, int number)
{
    pid_t server;

    option = "--serve ";
    complaints_begin(FIRST_SERVER + number);
    server = start_process(find_program(words[0]), words, STDIN_FILENO, complaints_file(), 1);
    option = "";

    starts_servers = 1;
    keep(server);
    starts_servers = 0;
    return server;
}

void process_keep_servers(void)
{
    starts_servers = 1;
    each_child(keep_child);
    starts_servers = 0;
}

void process_at_server_end(void (*ended)(pid_t server, int status, int may_fail))
{
    at_server_end = ended;
}

static int has_server(void)
{
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].is_server)
            return 1;
    return 0;
}

void process_end_servers(void)
{
    const struct timespec pause = {.tv_nsec = STOPPING_LOOK_MS * 1000000};
    const int64_t deadline = kit_now() + (int64_t)STOPPING_MS * 1000000;
    long ended_alone = 0;

    if (!has_server())
        return;

    at_server_end = NULL;
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].is_server && kept[i].group > 0)
            kill(-kept[i].group, SIGTERM);
    while (reap(&ended_alone) && has_server() && kit_now() < deadline)
        nanosleep(&pause, NULL);

    forget_servers();
    process_end_children();
}

int process_is_ready(char **words, long ms)
{
    const int64_t usual_limit = limit.ns;
    struct execution done = {0};
    pid_t child;

    process_keep_servers();
    option = "--ready ";
    complaints_begin(AROUND);
    limit.ns = (int64_t)ms * 1000000;
    limit.set_by = "--patience";
    process_limit_begin(words);
    child = start_process(find_program(words[0]), words, STDIN_FILENO, STDOUT_FILENO, 0);
    process_wait(child, words, &done);
    process_limit_end();
    limit.ns = usual_limit;
    limit.set_by = "--timeout";
    option = "";
    process_end_children();
    return done.status == 0;
}

const char *process_last_words(int server)
{
    return describe_complaint(complaints_last_of(FIRST_SERVER + server));
}
