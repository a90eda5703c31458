/*
 * Pipe-based context switching: two processes hand a growing number to and fro through two pipes.
 * One count is a round trip. Where they run is the scheduler's choice, and the result depends on
 * it; cpu=N puts both on one.
 *
 *   place=one    both on the first processor that the program may use
 *   place=two    each on its own: the first, and the next one of another core
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "memory/cpus.h"

enum { MAX_CPUS = 8192, ANY_CPU = -1 };

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

/* Whether two processors are threads of one core; not, if the kernel does not say. */
static int are_siblings(int one, int other)
{
    char path[2][96], list[2][256] = {"", ""};

    for (int i = 0; i < 2; i++) {
        FILE *file;

        snprintf(path[i], sizeof path[i], "/sys/devices/system/cpu/cpu%d/topology/thread_siblings",
                 i ? other : one);
        file = fopen(path[i], "r");
        if (!file)
            return 0;
        if (!fgets(list[i], sizeof list[i], file))
            list[i][0] = '\0';
        fclose(file);
    }
    return list[0][0] && strcmp(list[0], list[1]) == 0;
}

/* The processors of the two, of those the program could use when it started. */
static void choose(const char *place, const int *allowed, int number, int *cpus)
{
    if (strcmp(place, "any") == 0)
        return;
    if (number < 1)
        kit_error("cannot tell which processors to use (%s)", strerror(errno));
    cpus[0] = cpus[1] = allowed[0];
    if (strcmp(place, "one") == 0)
        return;
    if (strcmp(place, "two") != 0)
        kit_error("unknown place=%s: try any, one or two", place);
    for (int i = 1; i < number && cpus[1] == cpus[0]; i++)
        if (!are_siblings(cpus[0], allowed[i]))
            cpus[1] = allowed[i];
    if (cpus[1] == cpus[0])
        kit_skip("it needs processors of two cores, and may use one");
}

/* Fails if the process is not where it was put. */
static void settle(int cpu)
{
    if (cpu == ANY_CPU)
        return;
    cpus_pin(pthread_self(), cpu);
    if (sched_getcpu() != cpu)
        kit_error("processor %d was asked for and not given", cpu);
}

static _Noreturn void answer(int cpu)
{
    unsigned long number, expected = 0;

    settle(cpu);
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
    static int allowed[MAX_CPUS];
    int usable = cpus_allowed(allowed, MAX_CPUS), cpus[2] = {ANY_CPU, ANY_CPU};
    unsigned long number = 0;

    kit_init(argc, argv);
    choose(kit_arg("place", "any"), allowed, usable < MAX_CPUS ? usable : MAX_CPUS, cpus);
    signal(SIGPIPE, SIG_IGN);
    if (pipe(there) != 0 || pipe(back) != 0)
        kit_error("cannot make two pipes (%s): is `ulimit -n` too low?", strerror(errno));
    partner = fork();
    if (partner < 0)
        kit_error("cannot fork (%s): is `ulimit -u` too low?", strerror(errno));
    if (partner == 0)
        answer(cpus[1]);
    settle(cpus[0]);
    close(there[0]);
    close(back[1]);
    kit_at_end(stop_partner);
    round_trip(number++);
    if (cpus[0] != ANY_CPU)
        kit_check("cpus", 1 + (cpus[0] != cpus[1]));
    kit_start();
    for (;;) {
        round_trip(number++);
        kit_count++;
    }
}
