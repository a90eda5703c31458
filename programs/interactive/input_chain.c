/*
 * An input event on its way to the screen: input -> compositor -> application -> compositor,
 * through pipes. The compositor is the leader; it forwards each event, and composes the picture
 * that the application answers with.
 *
 *     rate=N seed=N                      events per second on average [60], by a Poisson process of
 *                                        that seed [1]
 *     forward=US application=US compose=US   the work on each event [100, 1000, 1000]
 *     deadline=US                        from the planned moment to the picture [33333]
 *
 * Events are planned in advance, so that one that the input process sends late counts from when it
 * should have been sent. What piles up waits in the pipes and is served in order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "interactive/chain.h"
#include "interactive/world.h"

enum {
    SECOND = 1000000000,
    /* events at a time: the smallest pipe that the kernel makes holds more, so no write waits */
    WITH_APPLICATION = 128,
};

struct event {
    int64_t planned, sent, woke;
};

/* What the input process has to know before the first event. */
struct shared {
    chain_word gate;
    int64_t base;
    long events; /* 0: for ever */
};

enum { FROM_INPUT, FROM_APPLICATION, FILES };

static struct shared *shared;
static int from_input[2], to_application[2], from_application[2];
static int64_t forward_work, application_work, compose_work, deadline; /* ns */
static double mean; /* ns from event to event */
static uint64_t seed;

/* Times between the events of a Poisson process are exponential. */
static int64_t next_event(int64_t planned)
{
    return planned + (int64_t)(-log(world_random(&seed)) * mean) + 1;
}

/* Events of the window that have all of their deadline before its end. */
static long count_events(const struct chain_window *window)
{
    const uint64_t kept = seed;
    long events = 0;

    for (int64_t at = next_event(window->base); at + deadline <= window->end; at = next_event(at))
        events++;
    seed = kept;
    return events;
}

/* --- the stages --- */

static void send(int file, const struct event *event)
{
    if (write(file, event, sizeof *event) != sizeof *event)
        _exit(1);
}

static void input(long number)
{
    struct event event = {0};

    (void)number;
    close(from_input[0]);
    chain_await(&shared->gate, 1);
    event.planned = shared->base;
    for (long i = 0; shared->events == 0 || i < shared->events; i++) {
        event.planned = next_event(event.planned);
        world_rest(event.planned);
        event.sent = kit_now();
        send(from_input[1], &event);
    }
    for (;;)
        pause();
}

static void application(long number)
{
    struct event event;

    (void)number;
    close(to_application[1]);
    close(from_application[0]);
    while (read(to_application[0], &event, sizeof event) == sizeof event) {
        world_work(application_work);
        send(from_application[1], &event);
    }
}

/* --- the compositor --- */

/* Those with the application, in order. */
static struct event held[WITH_APPLICATION];
static unsigned long forwarded, composed;

static void receive(int file, struct event *event, const char *sender)
{
    ssize_t got;

    do
        got = read(file, event, sizeof *event);
    while (got < 0 && errno == EINTR);
    if (got != sizeof *event)
        chain_lost(sender);
}

static void forward(void)
{
    struct event event;

    receive(from_input[0], &event, "the input process");
    event.woke = kit_now();
    held[forwarded++ % WITH_APPLICATION] = event;
    world_work(forward_work);
    if (write(to_application[1], &event, sizeof event) != sizeof event)
        chain_lost("the application");
}

/* Returns whether the test must end. */
static int compose(int64_t *now)
{
    struct event event;

    receive(from_application[0], &event, "the application");
    composed++;
    world_work(compose_work);
    *now = kit_now();
    return chain_frame(event.planned, event.sent, event.woke, *now,
                       forward_work + application_work + compose_work);
}

/* What waits for its picture when the window ends was dropped, after so long. */
static void drop_the_rest(void)
{
    const int64_t now = kit_now(), work = forward_work + application_work + compose_work;
    struct pollfd file = {.fd = from_input[0], .events = POLLIN};
    struct event event;

    for (; composed < forwarded; composed++)
        chain_frame(held[composed % WITH_APPLICATION].planned,
                    held[composed % WITH_APPLICATION].sent, now, 0, work);
    while (poll(&file, 1, 0) > 0 && read(from_input[0], &event, sizeof event) == sizeof event)
        chain_frame(event.planned, event.sent, now, 0, work);
}

static void compose_all(const struct chain_window *window)
{
    struct pollfd files[FILES] = {{.fd = from_input[0], .events = POLLIN},
                                  {.fd = from_application[0], .events = POLLIN}};
    int64_t now = window->base;
    long there = 0, done = 0;
    int over = 0;

    while (!over && now < window->end && (shared->events == 0 || done < shared->events)) {
        files[FROM_INPUT].fd = there < WITH_APPLICATION ? from_input[0] : -1;
        chain_poll(files, FILES, window->end);
        now = kit_now();
        if (files[FROM_APPLICATION].revents) {
            over = compose(&now);
            done++;
            there--;
        } else if (files[FROM_INPUT].revents) {
            forward();
            there++;
        }
    }
}

static void open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
}

static void start_stages(void)
{
    signal(SIGPIPE, SIG_IGN); /* that the application is gone is to be said */
    chain_open();
    shared = chain_share(sizeof *shared);
    open_pipe(from_input);
    chain_hire("the input process", input, 0);
    close(from_input[1]);
    open_pipe(to_application);
    open_pipe(from_application);
    chain_hire("the application", application, 0);
    close(to_application[0]);
    close(from_application[1]);
}

static void read_arguments(void)
{
    mean = (double)SECOND / (double)kit_arg_number("rate", 60, 1, 1000);
    seed = (uint64_t)kit_arg_number("seed", 1, 0, 1 << 30);
    forward_work = kit_arg_number("forward", 100, 0, 1000000) * 1000;
    application_work = kit_arg_number("application", 1000, 0, 1000000) * 1000;
    compose_work = kit_arg_number("compose", 1000, 0, 1000000) * 1000;
    deadline = kit_arg_number("deadline", 33333, 1, 10000000) * 1000;
}

int main(int argc, char **argv)
{
    const struct chain_window *window;
    struct frames_plan plan = {.latency = "response"};

    kit_init(argc, argv);
    frames_init();
    world_prepare(0);
    read_arguments();
    start_stages();
    window = chain_hear();
    if (window->kit.slices) {
        shared->events = plan.frames = count_events(window);
        if (plan.frames == 0)
            kit_error("no event is planned within the window: try a longer one, a higher rate or a "
                      "shorter deadline");
    }
    plan.deadline = deadline;
    plan.work = forward_work + application_work + compose_work;
    frames_prepare(plan.frames, 1);
    shared->base = window->base;
    chain_begin();
    chain_hand(&shared->gate);
    compose_all(window);
    drop_the_rest();
    chain_finish(&plan);
}
