/* Commands in processes of their own, whose end is waited for. */
#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>

/* One execution of a command. */
struct execution {
    long round;
    int64_t start, end; /* ns of CLOCK_MONOTONIC */
    struct rusage usage; /* of the command and of those of its children that it waited for */
    int status;          /* as wait4 has it */
};

/* Makes this program the parent of what a command leaves behind, and has it ended with the program. */
void process_init(void);

/* Executes a command to its end, with two files as its stdin and its stdout; what outlives it is ended. */
struct execution process_execute(char **words, int input, int output);

/* Ends what is left of a command. */
void process_end_children(void);

/* In a child: has these files, and the one that keeps complaints, as stdin, stdout and stderr. */
void process_redirect(int input, int output);

/* Opens a file; an error ends the program. */
int process_open(const char *path, int flags);

/* Has the next command read its input from the start, and write over what the last one wrote. */
void process_rewind(int input, int output);

/* How many processes have outlived their commands. */
long process_left(void);

/* How a command that failed ended, by its status, in words. */
const char *process_end(int status);

/* The way out where a command failed: says how the last one executed ended, and what it complained of. */
_Noreturn void process_fail(char **words, int status);

#endif
