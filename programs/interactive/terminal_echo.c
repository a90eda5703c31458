/*
 * A keystroke in a terminal and its echo. The terminal is the leader: it writes a byte to the
 * master of a pseudo-terminal when a key is planned to be struck, and reads what the program on the
 * other side draws. That program reads as editors and shells do (no lines, no echo by the kernel),
 * works, and answers each byte by redrawing a line.
 *
 *     period=US jitter=US seed=N      time between keys [50000], and how much earlier or later each
 *                                     may come [20000]
 *     work=US                         the program's work on each [200]
 *     deadline=US                     from the planned moment to the last byte of the answer
 *                                     [20000]
 *
 * A typist does not wait: keys are struck on schedule whether or not the previous ones have been
 * answered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "interactive/chain.h"
#include "interactive/world.h"

/* To the first column, clear the line, 40 characters of prompt; the key comes after that. */
#define REDRAW "\r\033[K" "user@machine:/var/lib/somewhere/deeper$ "

enum {
    ANSWER = sizeof REDRAW, /* bytes: the key stands where the string ends */
    /* keys at a time, so that the kernel's 4096 bytes of buffer always take one more */
    UNANSWERED = 1024,
};

struct key {
    int64_t planned, woke;
};

static int master = -1, slave = -1;
static int64_t period, jitter, work, deadline; /* ns */
static uint64_t seed;
static struct key keys[UNANSWERED]; /* a ring */
static unsigned long struck, answered;
static long drawn; /* bytes of the answer that is coming */

/* --- the program in the terminal --- */

static void edit(long number)
{
    char answer[] = REDRAW "?";
    char *key = answer + ANSWER - 1;

    (void)number;
    close(master);
    while (read(slave, key, 1) == 1) {
        world_work(work);
        if (write(slave, answer, ANSWER) != ANSWER)
            break;
    }
}

/* --- the terminal --- */

static char letter(unsigned long key)
{
    return (char)('a' + key % 26);
}

static void strike(int64_t planned)
{
    char byte = letter(struck);

    keys[struck % UNANSWERED] = (struct key){planned, kit_now()};
    struck++;
    if (write(master, &byte, 1) != 1)
        chain_lost("the program in the terminal");
}

/*
 * Takes in bytes of a key's answer, and checks the last, which is the key's own; returns whether
 * that is complete.
 */
static int draw(const char *bytes, long *at, long got, unsigned long key)
{
    long rest = ANSWER - drawn;

    if (got - *at < rest) {
        drawn += got - *at;
        *at = got;
        return 0;
    }
    *at += rest;
    drawn = 0;
    if (bytes[*at - 1] != letter(key))
        kit_error("the terminal drew %d in answer to key %d: it lost bytes", bytes[*at - 1],
                  letter(key));
    return 1;
}

/* Reads what there is; returns how many answers are complete with that. */
static long read_answers(void)
{
    char bytes[4096];
    long at = 0, complete = 0, got = read(master, bytes, sizeof bytes);

    if (got == 0 || (got < 0 && errno != EINTR))
        chain_lost("the program in the terminal");
    while (at < got && draw(bytes, &at, got, answered + (unsigned long)complete))
        complete++;
    return complete;
}

/* Returns whether the test must end. */
static int keep(long complete)
{
    const int64_t now = kit_now();
    int over = 0;

    while (complete--) {
        const struct key *key = &keys[answered++ % UNANSWERED];
        over |= chain_frame(key->planned, 0, key->woke, now, work);
    }
    return over;
}

static int64_t planned(int64_t base, long key)
{
    return base + key * period + (int64_t)((2 * world_random(&seed) - 1) * (double)jitter);
}

/* Strikes this many keys, or keys for ever if that is 0, and reads the answers. */
static void type(const struct chain_window *window, long most)
{
    struct pollfd file = {.fd = master, .events = POLLIN};
    const unsigned long last = answered + (unsigned long)most;
    int64_t next = planned(window->base, 1), now = window->base;
    long key = 1;
    int is_over = 0;

    while (!is_over && now < window->end && !(most && answered == last)) {
        /* All keys were struck, or as many are unanswered as there is room for. */
        const int is_resting = (most && key > most) || struck - answered == UNANSWERED;

        chain_poll(&file, 1, is_resting ? window->end : next);
        now = kit_now();
        if (!is_resting && now >= next) {
            strike(next);
            next = planned(window->base, ++key);
        }
        if (file.revents)
            is_over = keep(read_answers());
    }

    /* Keys that have no answer when the window ends are dropped frames: done is 0. */
    for (now = kit_now(); answered < struck && !is_over; answered++)
        chain_frame(keys[answered % UNANSWERED].planned, 0, now, 0, work);
}

/* One key, to see that it is answered. */
static void try_key(void)
{
    struct pollfd file = {.fd = master, .events = POLLIN};

    strike(kit_now());
    while (answered < struck) {
        chain_poll(&file, 1, INT64_MAX);
        if (file.revents)
            answered += (unsigned long)read_answers();
    }
}

/* --- preparation --- */

/*
 * What shells and editors set: bytes come one by one, and the kernel does not echo. It still looks
 * at each.
 */
static void set_up_slave(void)
{
    struct termios mode;

    if (tcgetattr(slave, &mode) != 0)
        kit_skip("the pseudo-terminal has no modes (%s)", strerror(errno));
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    if (tcsetattr(slave, TCSANOW, &mode) != 0)
        kit_skip("the pseudo-terminal takes no modes (%s)", strerror(errno));
}

static void open_terminal(void)
{
    char name[64];

    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, name, sizeof name) != 0)
        kit_skip("no pseudo-terminal can be had (%s): is devpts mounted on /dev/pts?",
                 strerror(errno));
    slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        kit_skip("cannot open %s (%s): is devpts mounted on /dev/pts?", name, strerror(errno));
    set_up_slave();
}

static void read_arguments(void)
{
    period = kit_arg_number("period", 50000, 1000, 10000000) * 1000;
    jitter = kit_arg_number("jitter", 20000, 0, 10000000) * 1000;
    seed = (uint64_t)kit_arg_number("seed", 1, 0, 1 << 30);
    work = kit_arg_number("work", 200, 0, 1000000) * 1000;
    deadline = kit_arg_number("deadline", 20000, 1, 10000000) * 1000;
    if (jitter * 2 > period)
        kit_error("jitter=%lld lets keys overtake each other: try half of the period or less",
                  (long long)jitter / 1000);
}

/* Keys whose deadline the window holds, however late they are planned. */
static long count_keys(const struct chain_window *window)
{
    long keys_planned = (long)((window->end - window->base - jitter - deadline) / period);

    if (keys_planned < 1)
        kit_error("the window is shorter than a period, a jitter and a deadline together: try a "
                  "longer one");
    return keys_planned;
}

int main(int argc, char **argv)
{
    const struct chain_window *window;
    struct frames_plan plan = {.latency = "response"};

    kit_init(argc, argv);
    frames_init();
    world_prepare(0);
    read_arguments();
    open_terminal();
    chain_open();
    chain_hire("the program in the terminal", edit, 0);
    close(slave);
    try_key();
    window = chain_hear();
    if (window->kit.slices)
        plan.frames = count_keys(window);
    plan.deadline = deadline;
    plan.work = work;
    frames_prepare(plan.frames, 0);
    chain_begin();
    type(window, plan.frames);
    chain_finish(&plan);
}
