/*
 * Starts a thread or a process, and waits for its end. One count is one of them, each timed, and
 * each one's status is looked at.
 *
 *   kind=thread   pthread_create and pthread_join; the C library keeps the stack for the next one
 *   kind=fork     fork, and the child does _exit: with the page tables of this tiny program to copy
 *   kind=vfork    vfork, and the child does _exit: it borrows the address space
 *   kind=spawn    posix_spawn of /bin/true, which on most systems is linked dynamically
 *   kind=system   system("exit 0"): /bin/sh, which starts nothing more
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

extern char **environ;

/*
 * The timer's signal may come to it. It finds all in order: nothing is counted before the thread
 * has been joined.
 */
static void *thread(void *number)
{
    return number;
}

static void start_thread(void)
{
    void *result, *number = (void *)(kit_count + 1);
    pthread_t started;
    int why = pthread_create(&started, NULL, thread, number);

    if (why)
        kit_error("cannot start a thread (%s): is `ulimit -u` or the pids cgroup too low?",
                  strerror(why));
    why = pthread_join(started, &result);
    if (why || result != number)
        kit_error("a thread did not return what it was given (%s)", strerror(why));
}

static void wait_for(pid_t child, const char *what)
{
    int status;

    if (child < 0)
        kit_error("cannot %s (%s): is `ulimit -u` or the pids cgroup too low?", what,
                  strerror(errno));
    if (waitpid(child, &status, 0) != child || status != 0)
        kit_error("the child of a %s ended with wait status %d (%s)", what, status,
                  strerror(errno));
}

static void start_fork(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    wait_for(child, "fork");
}

static void start_vfork(void)
{
    pid_t child = vfork();

    if (child == 0)
        _exit(0);
    wait_for(child, "vfork");
}

static void start_spawn(void)
{
    static char *const words[] = {"/bin/true", NULL};
    pid_t child;
    int why = posix_spawn(&child, words[0], NULL, NULL, words, environ);

    if (why == ENOENT)
        kit_skip("there is no %s", words[0]);
    if (why)
        kit_error("cannot spawn %s (%s): is `ulimit -u` or the pids cgroup too low?", words[0],
                  strerror(why));
    wait_for(child, "posix_spawn");
}

static void start_system(void)
{
    int status = system("exit 0");

    if (status != 0)
        kit_error("system(\"exit 0\") returned %d (%s): is there a /bin/sh?", status,
                  strerror(status < 0 ? errno : 0));
}

static const struct {
    const char *name;
    void (*start)(void);
} kinds[] = {
    {"thread", start_thread}, {"fork", start_fork},     {"vfork", start_vfork},
    {"spawn", start_spawn},   {"system", start_system},
};

static void (*chosen(const char *name))(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].start;
    kit_error("unknown kind=%s: try thread, fork, vfork, spawn or system", name);
}

int main(int argc, char **argv)
{
    void (*start)(void);

    kit_init(argc, argv);
    start = chosen(kit_arg("kind", "thread"));
    start();
    kit_start();
    for (;;) {
        int64_t before = kit_now();
        start();
        kit_time(kit_now() - before);
        kit_tick(1);
    }
}
