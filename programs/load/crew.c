/* The crew: see crew.h. */
#define _GNU_SOURCE
#include "load/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE = 128, /* two lines of cache: some processors fetch them in pairs */
    MILLISECOND = 1000000,
    /* how often the leader looks around while the workers prepare themselves */
    LOOK_NS = 100 * MILLISECOND,
    MAX_END_MS = 1000,           /* in ms, what the end of a load waits for its workers' ends */
    SHORT = 100,              /* the same where something failed */
    ALL = 100,                /* per cent */
    PERIOD = 10 * MILLISECOND,
};

/* What leader and workers share. */
struct board {
    uint32_t gate; /* a futex: 1 when the work begins */
    uint32_t prepared;
    uint32_t failing; /* 1 when a worker has begun to say why it fails */
    char failure[400];
};

struct line {
    volatile unsigned long count;
    char rest[LINE - sizeof(unsigned long)];
};

volatile unsigned long *crew_count;

static struct board *board;
static struct line *lines;
static pid_t *workers;
static pid_t leader;
static long room, hired;
static int null = -1;
static long duty = ALL;
static int64_t period_begin; /* of a worker that rests */
static void (*after)(void);

long crew_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus > 0 ? cpus : 1;
}

long crew_size(const char *name)
{
    long size = kit_arg_number(name, 0, 0, 4096);

    return size ? size : crew_cpus();
}

void crew_futex_wait(uint32_t *word, uint32_t while_it_is, int64_t limit)
{
    struct timespec time = {.tv_sec = limit / 1000000000, .tv_nsec = limit % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, limit ? &time : NULL, NULL, 0);
}

void crew_futex_wake(uint32_t *word, int number)
{
    syscall(SYS_futex, word, FUTEX_WAKE, number, NULL, NULL, 0);
}

int crew_abandoned(void)
{
    struct pollfd in = {.fd = STDIN_FILENO};

    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR));
}

/* --- the end --- */

void crew_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static void kill_number(long *number)
{
    if (*number > 1)
        kill((pid_t)*number, SIGKILL);
    *number = 0;
}

/* Where /proc does not tell the children, the ones that are not known end by themselves. */
static void kill_children(void)
{
    int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    char text[512];
    long number = 0;
    ssize_t n;

    if (file < 0)
        return;
    while ((n = read(file, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (text[i] >= '0' && text[i] <= '9')
                number = number * 10 + text[i] - '0';
            else
                kill_number(&number);
    close(file);
    kill_number(&number);
}

void crew_reap(int64_t limit)
{
    const int64_t deadline = kit_now() + limit;
    pid_t child;

    do {
        kill_children();
        poll(NULL, 0, 1);
        while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
    } while (child == 0 && kit_now() < deadline);
}

static void end_workers(int finished)
{
    for (long i = 0; i < hired; i++)
        kill(workers[i], SIGKILL);
    crew_reap((finished ? MAX_END_MS : SHORT) * (int64_t)MILLISECOND);
    if (after)
        after();
}

void crew_after(void (*clean)(void))
{
    after = clean;
}

/* --- workers --- */

void crew_die_with(long parent, int number)
{
    prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
    if (getppid() != parent)
        _exit(0); /* it died before it could have been noticed */
}

void crew_go(void)
{
    __atomic_add_fetch(&board->prepared, 1, __ATOMIC_SEQ_CST);
    crew_futex_wake(&board->prepared, 1);
    while (__atomic_load_n(&board->gate, __ATOMIC_SEQ_CST) == 0)
        crew_futex_wait(&board->gate, 0, 0);
    period_begin = kit_now();
}

void crew_take_duty(void)
{
    duty = kit_arg_number("duty", ALL, 1, ALL);
}

void crew_rest(void)
{
    int64_t worked;

    if (duty == ALL || !period_begin) /* what prepares itself does not rest */
        return;
    worked = kit_now() - period_begin;
    if (worked < PERIOD / ALL * duty)
        return;
    period_begin += worked / duty * ALL;
    kit_sleep_until(period_begin);
}

void crew_fail(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    if (__atomic_exchange_n(&board->failing, 1, __ATOMIC_SEQ_CST) == 0)
        vsnprintf(board->failure, sizeof board->failure, format, values);
    va_end(values);
    _exit(1);
}

static _Noreturn void begin_worker(void (*work)(long number), long number)
{
    crew_die_with(leader, SIGKILL);
    if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        crew_fail("cannot put /dev/null on a worker's stdin (%s)", strerror(errno));
    crew_count = &lines[hired].count;
    work(number);
    crew_fail("worker %ld came to its end: that is a fault of the program", number);
}

/* --- the leader --- */

static unsigned long sum(void)
{
    unsigned long total = 0;

    for (long i = 0; i < hired; i++)
        total += lines[i].count;
    return total;
}

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        kit_error("cannot share %zu bytes with the workers (%s): try fewer", size, strerror(errno));
    return memory;
}

void crew_open(long most)
{
    if (strcmp(kit_arg("policy", "other"), "deadline") == 0)
        kit_skip("the deadline policy is for tasks of one thread, and this load has workers: try "
                 "another policy");
    room = most;
    leader = getpid();
    board = share(sizeof *board);
    lines = share((size_t)most * sizeof *lines);
    workers = calloc((size_t)most, sizeof *workers);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (!workers || null < 0)
        kit_error("cannot prepare %ld workers (%s)", most, strerror(errno));
    crew_adopt();
    kit_counter(sum);
    kit_at_end(end_workers);
}

void crew_hire(void (*work)(long number), long number)
{
    pid_t worker = hired < room ? fork() : -1;

    if (worker < 0)
        kit_skip("process %ld of %ld was refused (%s): is `ulimit -u` or the pids cgroup too low?",
                 hired + 1, room, strerror(errno));
    if (worker == 0)
        begin_worker(work, number);
    workers[hired++] = worker;
}

static int is_worker(pid_t child)
{
    for (long i = 0; i < hired; i++)
        if (workers[i] == child)
            return 1;
    return 0;
}

static _Noreturn void report_death(const siginfo_t *info)
{
    if (board->failure[0])
        kit_error("%s", board->failure);
    if (info->si_code == CLD_EXITED)
        kit_error("a worker ended with exit status %d: run it by hand to see why", info->si_status);
    kit_error("a worker was killed by signal %d: if nobody did, look for the out-of-memory killer "
              "in `dmesg`",
              info->si_status);
}

/* Does not reap workers, so that the numbers to be killed at the end are theirs still. */
static void look_after(int options)
{
    siginfo_t info = {.si_pid = 0};

    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | options) != 0) {
        if (errno != EINTR)
            kit_error("lost the workers (%s)", strerror(errno));
    } else if (info.si_pid != 0 && is_worker(info.si_pid))
        report_death(&info);
    else if (info.si_pid != 0)
        waitpid(info.si_pid, NULL, 0); /* an orphan */
}

static void wait_for_preparations(void)
{
    uint32_t prepared;

    while ((prepared = __atomic_load_n(&board->prepared, __ATOMIC_SEQ_CST)) < (uint32_t)hired &&
           !crew_abandoned()) {
        crew_futex_wait(&board->prepared, prepared, LOOK_NS);
        look_after(WNOHANG);
    }
}

/* Workers of the leader's own urgency, one on each CPU, would keep it from answering the tool. */
static void outrank_workers(void)
{
    int policy = sched_getscheduler(0);
    struct sched_param parameter = {.sched_priority = 0};

    if (policy == SCHED_BATCH || policy == SCHED_IDLE)
        sched_setscheduler(0, SCHED_OTHER, &parameter);
    else if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(0, &parameter) == 0) {
        parameter.sched_priority++;
        sched_setparam(0, &parameter);
    }
}

void crew_run(void)
{
    outrank_workers();
    wait_for_preparations();
    kit_start();
    __atomic_store_n(&board->gate, 1, __ATOMIC_SEQ_CST);
    crew_futex_wake(&board->gate, INT_MAX);
    for (;;)
        look_after(0);
}
