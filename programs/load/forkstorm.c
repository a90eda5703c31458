/*
 * A storm of processes: jobs=N workers (0: one for each CPU) fork children that exit at once, and
 * wait for each. Every eighth becomes a program first: this one, started as `forkstorm exit`. They
 * work for duty=PERCENT of the time. One count is a process come and gone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/crew.h"

enum { EXEC_EVERY = 8, NO_EXEC = 99 };

static char *name;

static _Noreturn void be_short(unsigned long number)
{
    char *words[] = {name, "exit", NULL};

    if (number % EXEC_EVERY != 0)
        _exit(0);
    execv("/proc/self/exe", words);
    _exit(NO_EXEC);
}

static void spawn(unsigned long number)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        be_short(number);
    if (child < 0)
        crew_fail("cannot fork after %lu times (%s): is `ulimit -u` or the pids cgroup too low?",
                  number, strerror(errno));
    if (waitpid(child, &status, 0) != child)
        crew_fail("lost a child (%s)", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
        crew_fail("cannot execute /proc/self/exe: is /proc mounted?");
    if (status != 0)
        crew_fail("a child ended with wait status %d", status);
}

static void storm(long number)
{
    (void)number;
    spawn(0); /* proves that it can */
    crew_go();
    for (unsigned long i = 0;; i++) {
        spawn(i);
        ++*crew_count;
        crew_rest();
    }
}

int main(int argc, char **argv)
{
    long jobs;

    if (argc == 2 && strcmp(argv[1], "exit") == 0)
        return 0;
    name = argv[0];
    kit_init(argc, argv);
    jobs = crew_size("jobs");
    crew_take_duty();
    crew_open(jobs);
    for (long i = 0; i < jobs; i++)
        crew_hire(storm, i);
    crew_run();
}
