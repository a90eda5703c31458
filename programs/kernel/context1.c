/*
 * Pipe-based context switching: two processes hand a growing number to and fro through two pipes. One count is a
 * round trip. Where they run is the scheduler's choice, and the result depends on it; cpu=N puts both on one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

static int there[2], back[2];
static pid_t partner;

/* The partner sees the end of its pipe and ends; its time belongs to the usage. */
static void stop_partner(int finished)
{
    close(there[1]);
    close(back[0]);
    if (finished)
        waitpid(partner, NULL, 0);
}

static _Noreturn void answer(void)
{
    unsigned long number, expected = 0;

    close(there[1]);
    close(back[0]);
    while (read(there[0], &number, sizeof number) == sizeof number && number == expected++)
        if (write(back[1], &number, sizeof number) != sizeof number)
            break;
    _exit(0);
}

static void round_trip(unsigned long number)
{
    unsigned long answered;

    if (write(there[1], &number, sizeof number) != sizeof number)
        kit_error("the partner is gone after %lu rounds (%s)", number, strerror(errno));
    if (read(back[0], &answered, sizeof answered) != sizeof answered || answered != number)
        kit_error("the partner did not answer round %lu (%s)", number, strerror(errno));
}

int main(int argc, char **argv)
{
    unsigned long number = 0;

    kit_init(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    if (pipe(there) != 0 || pipe(back) != 0)
        kit_error("cannot make two pipes (%s): is `ulimit -n` too low?", strerror(errno));
    partner = fork();
    if (partner < 0)
        kit_error("cannot fork (%s): is `ulimit -u` too low?", strerror(errno));
    if (partner == 0)
        answer();
    close(there[0]);
    close(back[1]);
    kit_at_end(stop_partner);
    round_trip(number++);
    kit_start();
    for (;;) {
        round_trip(number++);
        kit_count++;
    }
}
