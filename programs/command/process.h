/* Commands in processes of their own, whose end is waited for. */
#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "command/region.h"

/* One execution of a command. */
struct execution {
    long round;
    long unit; /* which build of its command, from 1; 0 where there is one */
    int64_t start, end;  /* ns of CLOCK_MONOTONIC */
    struct rusage usage; /* of the command, its children, and orphans that ended before it */
    int status;          /* as wait4 has it */
    struct region region;
};

/*
 * Makes this program the parent of what a command leaves behind, and has it ended with the program.
 */
void process_init(long servers);

/* Has commands end with the program, once more after another use of kit_at_end. */
void process_end_with_program(void);

/*
 * Has `report` called when this program is told to end, once the command that is executed has been
 * killed; it must end the program. Without it, the program ends at once, and reports nothing.
 */
void process_at_stop(void (*report)(void));

/* The processor time of an execution, in ns. */
int64_t process_cpu_time(const struct execution *done);

/* Reports an execution, and the build and the region that it had. */
void process_report(const struct execution *done);

/* Executes a command with two files as its stdin and stdout, and ends what outlives it. */
struct execution process_execute(char **words, int input, int output);

/*
 * Executes what comes around commands (--setup, --prepare); `option` names it in an error. What it
 * leaves running, such as a server, goes on, also when this program ends well.
 */
void process_execute_around(const char *option, char **words);

/*
 * Starts a server, the number-th from 0, and keeps what belongs to it. What it prints is read and
 * forgotten but for the last line.
 */
pid_t process_start_server(char **words, int number);

/* Keeps the children that have come: nothing but servers may have started them. */
void process_keep_servers(void);

/*
 * Has `ended` called when the process of a server ends by itself. It may end this program if
 * `may_fail`; otherwise the program is ending already, perhaps in a signal handler.
 */
void process_at_server_end(void (*ended)(pid_t server, int status, int may_fail));

/* Ends all servers: asks them, and kills what is left after a few seconds. */
void process_end_servers(void);

/*
 * Executes a command that asks whether a server is ready; true if it succeeds. It must end within
 * `ms`.
 */
int process_is_ready(char **words, long ms);

/* The end of an error: the last line that a server has printed. */
const char *process_last_words(int server);

/* A command as people type it, after the option it was given with. */
const char *process_quote(const char *given_with, char **words);

/* For a program that starts commands itself: wait for one, and end what it has left. */
void process_wait(pid_t child, char **words, struct execution *done);
void process_end_children(void);

/*
 * Has a command's end waited for by `wait`, which is called again and again and may do some work:
 * it returns soon, and at once when the command has ended.
 */
void process_wait_by(void (*wait)(pid_t child));

/* Such a program calls these around a command, so that the limits below hold for it. */
void process_limit_begin(char **words);
void process_limit_end(void);

/* Ends the program if the terminal has stopped a command, since nobody would continue it. */
void process_refuse_terminal(int signal, char **words);

/*
 * Limits an execution's time, and what it writes to a file: beyond, it ends the program with an
 * error. 0 ms, or file 0, is no limit.
 */
void process_limit_time(long ms);
void process_limit_output(int file, int mib, const char *hint);

/* Sets $HYPERFINE_ITERATION for the commands that follow: a word, and a number. */
void process_number(const char *word, long number);

/*
 * Fixes what Python and Perl draw their hashes by, where the user has not, so that executions do
 * not differ; and gives it up again.
 */
void process_fix_seeds(void);
void process_release_seeds(void);

/* In a child: makes these files its stdin and stdout, and the one for complaints its stderr. */
void process_redirect(int input, int output);

/* Opens a file; a relative path is below `folder`. An error ends the program. */
int process_open(int folder, const char *path, int flags);

/* Rewinds the next command's input, and empties its output if that is a regular file. */
void process_rewind(int input, int output);

/*
 * How many processes have outlived their commands; how many of these another user's could not end.
 */
long process_left(void);
long process_unended(void);

/* Lets commands end with the statuses of a list, `1,2`; `all` is every status and every signal. */
void process_ignore(const char *list);

/* True if a command may end with a status, as wait4 has it. */
int process_may_end(int status);

/* How a command that failed ended, by its status, in words. */
const char *process_end(int status);

/* Ends the program because a command failed: says how it ended, and its last complaint. */
_Noreturn void process_fail(char **words, int status);

#endif
