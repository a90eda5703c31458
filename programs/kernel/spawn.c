/* Process creation: fork a child that exits at once, and wait for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

/* exit, not _exit: what a C program does at its end is part of the cost. */
static void spawn(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        exit(0);
    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (wait(&status) < 0 || status != 0)
        kit_error("a child ended with wait status %d (%s)", status, strerror(errno));
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    spawn();
    kit_start();
    for (;;) {
        spawn();
        kit_count++;
    }
}
