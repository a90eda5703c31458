/*
 * Placement: see kit.h for the arguments. What the kernel refuses is a skip with its reason, or
 * with fallback=1 a note beside a weaker measurement; it is never an abort.
 */
#define _GNU_SOURCE
#include "place.h"

#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum {
    NICE_UNSET = 100,
    PRIORITY = 50, /* below no interrupt thread but above what else there is */
    DEADLINE = 6,  /* SCHED_DEADLINE; some C libraries lack the name */
    MAX_CPUS = 8192,
    KEEP_ALL = 0x18,
    CLAMP_MIN = 0x20,
    CLAMP_MAX = 0x40,
    MIN_RUNTIME_US = 100, /* us of a deadline task's runtime: for what is around the work */
};

static const struct {
    const char *name;
    int number;
} policies[] = {
    {"other", SCHED_OTHER}, {"fifo", SCHED_FIFO}, {"rr", SCHED_RR},
#ifdef __linux__
    {"batch", SCHED_BATCH}, {"idle", SCHED_IDLE}, {"deadline", DEADLINE},
#endif
};

static long fallback;
static const char *cpus;

static void refused(const char *what, const char *hint)
{
    const char *why = errno ? strerror(errno) : "it had no effect";

    if (!fallback)
        kit_skip("%s was refused (%s): %s", what, why, hint);
    kit_note("%s was refused (%s) and it was measured without: %s", what, why, hint);
}

/* The number-th of a list that is gone through again and again. */
static long nth_cpu(const char *list, int number)
{
    int length = 1;
    long cpu = -1;
    char *end;

    for (const char *at = list; *at; at++)
        length += *at == ',';
    for (int i = 0; i <= number % length; i++, list = end + (*end == ',')) {
        cpu = strtol(list, &end, 10);
        if (end == list || (*end && *end != ',') || cpu < 0 || cpu >= MAX_CPUS)
            kit_error("cpu=%s is not a list of processors such as 0,2", list);
    }
    return cpu;
}

void kit_pin(int number)
{
    /* a cpu_set_t ends at 1024 */
    unsigned long set_of[MAX_CPUS / 8 / sizeof(unsigned long)] = {0};
    const long bits = 8 * sizeof set_of[0];
    long cpu;

    if (!*cpus)
        return;
    cpu = nth_cpu(cpus, number);
    set_of[cpu / bits] |= 1UL << cpu % bits;
    if (sched_setaffinity(0, sizeof set_of, (const cpu_set_t *)(const void *)set_of) != 0)
        kit_error("cannot run on cpu %ld (%s): try one that `taskset -p $$` shows", cpu,
                  strerror(errno));
}

static int policy_number(const char *name)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(policies[i].name, name) == 0)
            return policies[i].number;
    kit_error("policy=%s is none of other, batch, idle, fifo, rr and deadline", name);
}

static void schedule(int policy, long priority)
{
    struct sched_param parameter = {
        .sched_priority = policy == SCHED_FIFO || policy == SCHED_RR ? (int)priority : 0};

    if (policy == DEADLINE || sched_setscheduler(0, policy, &parameter) == 0)
        return;
    if (errno == EPERM && geteuid() == 0)
        refused("the real-time policy",
                "this cgroup has no real-time budget (cpu.rt_runtime_us, RT_GROUP_SCHED)");
    else
        refused("the scheduling policy", "real-time needs root, or RLIMIT_RTPRIO");
}

/* --- what only Linux has --- */

#ifdef __linux__

/* struct sched_attr of sched_setattr(2), for which older C libraries have no name. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t clamp_min, clamp_max;
};

static int set(struct attributes *wanted)
{
    wanted->size = sizeof *wanted;
    return (int)syscall(SYS_sched_setattr, 0, wanted, 0);
}

/* The directories are made by the tool, which knows where this machine's cgroups are. */
static void join(const char *group, int length)
{
    char path[512];
    int file;

    snprintf(path, sizeof path, "%.*s/cgroup.procs", length, group);
    file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "0", 1) != 1)
        refused("joining the cgroup", "it needs write access to the cgroup file system");
    if (file >= 0)
        close(file);
}

static void enter_cgroups(void)
{
    for (const char *group = kit_arg("cgroup", ""); *group;
         group += group[strcspn(group, ":")] == ':') {
        join(group, (int)strcspn(group, ":"));
        group += strcspn(group, ":");
    }
}

static void set_slack(long ns)
{
    if (ns && prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0) != 0)
        refused("the timer slack", "try one of at least 1 ns");
}

static void request_slice(long microseconds, long priority)
{
    struct attributes wanted = {.policy = (uint32_t)sched_getscheduler(0),
                                .runtime = (uint64_t)microseconds * 1000},
                      had = {0};

    if (!microseconds)
        return;
    wanted.nice = priority == NICE_UNSET ? getpriority(PRIO_PROCESS, 0) : (int32_t)priority;
    if (set(&wanted) != 0 || syscall(SYS_sched_getattr, 0, &had, sizeof had, 0) != 0)
        refused("the slice", "a fair policy takes 100 to 100000 us");
    else if (had.runtime != wanted.runtime) {
        errno = 0;
        refused("the slice", "it needs Linux 6.12");
    }
}

static void clamp(long low, long high)
{
    struct attributes wanted = {.flags = KEEP_ALL};

    if (low >= 0) {
        wanted.flags |= CLAMP_MIN;
        wanted.clamp_min = (uint32_t)low;
    }
    if (high >= 0) {
        wanted.flags |= CLAMP_MAX;
        wanted.clamp_max = (uint32_t)high;
    }
    if (wanted.flags != KEEP_ALL && set(&wanted) != 0)
        refused("uclamp", "it needs a kernel with CONFIG_UCLAMP_TASK");
}

/*
 * Bounds the latency of leaving idle states for as long as the file is open, which is to the end.
 */
static void bound_idle(long microseconds)
{
    int32_t bound = (int32_t)microseconds;
    int file;

    if (microseconds < 0)
        return;
    file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, &bound, sizeof bound) != sizeof bound)
        refused("/dev/cpu_dma_latency", "it needs root");
}

/* Called after the policy and the nice value, which a request of a slice keeps. */
static void ask_linux(long nice_value)
{
    set_slack(kit_arg_number("slack", 0, 1, 1000000000));
    request_slice(kit_arg_number("timeslice", 0, 100, 100000), nice_value);
    clamp(kit_arg_number("uclamp_min", -1, 0, 1024), kit_arg_number("uclamp_max", -1, 0, 1024));
    bound_idle(kit_arg_number("idle_latency", -1, 0, 1000000));
}

/*
 * By default a fifth more than the work in every period: admission control takes no task that needs
 * it all.
 */
void place_deadline(void)
{
    struct attributes wanted = {.policy = DEADLINE};
    long period, work, runtime;

    if (strcmp(kit_arg("policy", "other"), "deadline") != 0)
        return;
    period = kit_arg_number("period", 0, 0, 1000000000);
    work = kit_arg_number("work", 0, 0, 1000000000);
    if (kit_arg_number("ramp", 0, 0, 1))
        work = period; /* which is refused where it is more than is given to anyone */
    runtime =
        kit_arg_number("runtime", work + work / 5 + period / 50 + MIN_RUNTIME_US, 0, 1000000000);
    if (period == 0)
        kit_skip("the deadline policy needs a task with a period");
    wanted.runtime = (uint64_t)(runtime < period ? runtime : period) * 1000;
    wanted.deadline = wanted.period = (uint64_t)period * 1000;
    if (set(&wanted) != 0)
        refused("the deadline policy",
                "it needs root, the right to run on every CPU, and bandwidth to spare");
}

#else

static void enter_cgroups(void)
{
}

static void ask_linux(long nice_value)
{
    static const char *const names[] = {"cgroup",     "slack",      "timeslice",
                                        "uclamp_min", "uclamp_max", "idle_latency"};

    (void)nice_value;
    errno = ENOSYS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*kit_arg(names[i], ""))
            refused(names[i], "it needs Linux");
}

void place_deadline(void)
{
}

#endif

/* --- all of it --- */

void place_init(void)
{
    long nice_value;

    fallback = kit_arg_number("fallback", 0, 0, 1);
    if (kit_arg_number("session", 0, 0, 1) && setsid() < 0)
        refused("a session of its own", "the program already leads a group");
    enter_cgroups();
    cpus = kit_arg("cpu", "");
    kit_pin(0);
    nice_value = kit_arg_number("nice", NICE_UNSET, -20, 19);
    if (nice_value != NICE_UNSET && setpriority(PRIO_PROCESS, 0, (int)nice_value) != 0)
        refused("the nice value", "lower ones need root");
    schedule(policy_number(kit_arg("policy", "other")),
             kit_arg_number("priority", PRIORITY, 1, 99));
    ask_linux(nice_value);
    if (kit_arg_number("lock", 0, 0, 1) && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        refused("locking memory", "it needs root, or RLIMIT_MEMLOCK");
}
