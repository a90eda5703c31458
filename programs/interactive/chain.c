/* See chain.h. */
#define _GNU_SOURCE
#include "interactive/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interactive/world.h"

enum {
    MOST = 8, /* stages */
    LINE = 64, /* bytes from one operation of the work to the next: see world.c */
    SECOND = 1000000000,
    MILLISECOND = 1000000,
    LOOK_NS = 100 * MILLISECOND, /* how often stages and stdin are looked after */
    /* of waiting for a moment: longer than the longest period of a row, so it is not disturbed */
    REST_NS = 400 * MILLISECOND,
    END_NS = SECOND,             /* what is waited for a stage's end */
};

struct stage {
    const char *name;
    pid_t process; /* 0 when it is gone */
};

static struct stage stages[MOST];
static uint32_t hired;
static pid_t leader;
static chain_word *prepared; /* stages */
static struct chain_window window;
static int64_t looked;
static int broke;
static void (*after)(int finished);

/* --- the end --- */

/* One that hangs in a driver must not hang the tool, so the wait has an end. */
void chain_end(pid_t process, int finished)
{
    const int64_t until = kit_now() + END_NS;

    kill(process, SIGKILL);
    while (finished && waitpid(process, NULL, WNOHANG) == 0 && kit_now() < until)
        poll(NULL, 0, 1);
}

static void end_stages(int finished)
{
    for (uint32_t i = 0; i < hired; i++)
        if (stages[i].process)
            chain_end(stages[i].process, finished);
    if (after)
        after(finished);
}

void chain_after(void (*clean)(int finished))
{
    after = clean;
}

void chain_lost(const char *name)
{
    kit_error(
        "%s was ended by something else before the test was over: was it killed, or memory short?",
        name);
}

/* Whether a stage is gone, or stdin; a load's stdin is the kit's. */
static void look(void)
{
    looked = kit_now();
    for (uint32_t i = 0; i < hired; i++)
        if (stages[i].process && waitpid(stages[i].process, NULL, WNOHANG) == stages[i].process) {
            stages[i].process = 0;
            chain_lost(stages[i].name);
        }
    if (window.kit.slices && kit_abandoned())
        kit_leave();
}

static void look_when_due(void)
{
    if (kit_now() - looked >= LOOK_NS)
        look();
}

/* --- stages --- */

/* Half of a chain under a policy that the other half cannot have would say nothing. */
void chain_open(void)
{
    if (strcmp(kit_arg("policy", "other"), "deadline") == 0)
        kit_skip("the deadline policy is for tasks of one thread, and this is a chain of "
                 "processes: try policy=fifo");
    leader = getpid();
    prepared = chain_share(sizeof *prepared);
    kit_at_end(end_stages);
}

void *chain_share(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        kit_error("no memory for %zu bytes to share with the stages (%s)", size, strerror(errno));
    return memory;
}

/* Touches the memory of the work, which a fork leaves to be copied at the first write. */
static void touch_work(void)
{
    double operations = (double)kit_arg_number("footprint", 64, 4, 1 << 20) * 1024 / LINE * 2;

    world_work((int64_t)(operations / world_speed() * MILLISECOND) + 1);
}

static void put_nothing_on(int descriptor)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(null, descriptor) < 0)
        _exit(1);
    close(null);
}

/*
 * The scheduling policy comes along with a fork; locked memory does not, and the end of the leader
 * is not noticed.
 */
static void become_stage(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != leader)
        _exit(0);
    put_nothing_on(STDIN_FILENO);
    put_nothing_on(STDOUT_FILENO);
    if (kit_arg_number("lock", 0, 0, 1))
        mlockall(MCL_CURRENT | MCL_FUTURE); /* where that is refused, the leader has said so */
    touch_work();
    chain_hand(prepared);
}

void chain_hire(const char *name, void (*work)(long number), long number)
{
    pid_t process;

    if (hired == MOST)
        kit_error("a chain of more than %d stages: make MOST in chain.c larger", MOST);
    process = fork();
    if (process < 0)
        kit_error("cannot start %s (%s): is `ulimit -u` too low?", name, strerror(errno));
    if (process == 0) {
        become_stage();
        work(number);
        _exit(1);
    }
    stages[hired++] = (struct stage){name, process};
}

/* --- the window --- */

const struct chain_window *chain_hear(void)
{
    chain_await(prepared, hired);
    touch_work();
    window.kit = kit_hear();
    window.base = window.kit.first_edge - window.kit.slice;
    window.end = window.kit.slices ? window.base + window.kit.slice * window.kit.slices : INT64_MAX;
    return &window;
}

void chain_begin(void)
{
    kit_wait();
    if (window.kit.slices)
        kit_quiet();
    frames_begin();
}

int chain_frame(int64_t planned, int64_t stamp, int64_t woke, int64_t done, int64_t work)
{
    broke |= frames_add(planned, stamp, woke, done, work);
    kit_count += done != 0;
    look_when_due();
    return broke;
}

void chain_finish(const struct frames_plan *plan)
{
    frames_end();
    if (!broke)
        chain_rest(window.end);
    frames_speed(world_speed(), world_drift());
    frames_finish(plan, &window.kit);
}

/* --- waiting --- */

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

static int is_there(const chain_word *word, uint32_t count)
{
    return (int32_t)(*word - count) >= 0;
}

void chain_hand(chain_word *word)
{
    ++*word;
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Stages wait for ever, as they die with the leader; the leader looks for what is dead. */
void chain_await(chain_word *word, uint32_t count)
{
    const struct timespec limit = time_of(LOOK_NS);
    const int leads = getpid() == leader;

    while (!is_there(word, count)) {
        uint32_t seen = *word;
        if (is_there(word, count))
            break;
        if (syscall(SYS_futex, word, FUTEX_WAIT, seen, leads ? &limit : NULL, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            look();
    }
}

void chain_poll(struct pollfd *files, nfds_t number, int64_t until)
{
    struct timespec limit;
    int64_t now;

    look_when_due();
    now = kit_now();
    limit = time_of(until <= now ? 0 : until - now < LOOK_NS ? until - now : LOOK_NS);
    for (nfds_t i = 0; i < number; i++)
        files[i].revents = 0;
    ppoll(files, number, &limit, NULL);
}

void chain_rest(int64_t until)
{
    for (int64_t now = kit_now(); until - now > REST_NS; now = kit_now()) {
        world_rest(now + REST_NS);
        look();
    }
    world_rest(until);
}
