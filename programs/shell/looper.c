/*
 * Runs a command again and again: `looper key=value ... -- COMMAND ...`. One count is fork, execvp
 * and the end of the command with status 0. It runs once before ready, to show that it can.
 *
 *   stdin=FILE    what the command reads (from the start each time)
 *   keep=1        its output goes to a file, and the number it starts with is checked. Without that
 *                 it goes to /dev/null, where some tools do less: grep stops at the first match.
 *   text=FILE     first writes the text for grep there
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "shell/text.h"

enum { NOT_FOUND = 99 };

static char **command;
static const char *input_file;
static char output_file[32]; /* empty: none */

/*
 * Nothing of a trial may still run in the next one, so it waits for the command that was not
 * finished in time.
 */
static void clean(int finished)
{
    if (finished)
        while (waitpid(-1, NULL, 0) > 0)
            ;
    if (output_file[0])
        unlink(output_file);
}

static void redirect(const char *file, int flags, int fd)
{
    int opened = open(file, flags | O_CLOEXEC, 0600);

    if (opened < 0 || dup2(opened, fd) < 0)
        _exit(NOT_FOUND);
}

static void run(void)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (child == 0) {
        if (input_file)
            redirect(input_file, O_RDONLY, STDIN_FILENO);
        if (output_file[0])
            redirect(output_file, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        execvp(command[0], command);
        _exit(NOT_FOUND);
    }
    if (waitpid(child, &status, 0) != child)
        kit_error("lost %s (%s)", command[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        kit_error("cannot execute %s: is it installed, and executable?", command[0]);
    if (WIFSIGNALED(status))
        kit_error("%s was ended by signal %d: run it by hand to see why", command[0],
                  WTERMSIG(status));
    if (status != 0)
        kit_error("%s ended with exit status %d: run it by hand to see why", command[0],
                  WEXITSTATUS(status));
}

static void check_output(void)
{
    char text[64] = "";
    int fd = open(output_file, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        kit_error("cannot read %s (%s)", output_file, strerror(errno));
    close(fd);
    kit_check("output", strtod(text, NULL));
}

int main(int argc, char **argv)
{
    const char *text;

    kit_init(argc, argv);
    input_file = kit_arg("stdin", NULL);
    text = kit_arg("text", NULL);
    if (kit_arg_number("keep", 0, 0, 1))
        snprintf(output_file, sizeof output_file, "output-%ld", (long)getpid());
    command = kit_command();
    if (!command)
        kit_error("no command: try looper -- true");
    kit_at_end(clean);
    kit_detach_stdio();
    if (text && write_text(text) != 0)
        kit_error("cannot write %s (%s): try another --dir", text, strerror(errno));
    run();
    if (output_file[0])
        check_output();
    kit_start();
    for (;;) {
        run();
        kit_tick(1);
    }
}
