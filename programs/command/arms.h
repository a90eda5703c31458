/* The commands of a command line, each an arm of a comparison. */
#ifndef COMMAND_ARMS_H
#define COMMAND_ARMS_H

#include <stdint.h>

enum { MAX_ARMS = 256, MAX_UNITS = 64 };

/* A build of an arm's command, where all executions of one are one sample. */
struct unit {
    const char *folder;
    char **words;
};

struct arm {
    char **words, **prepare, **conclude; /* prepare, conclude: NULL without one */
    char **before, **after;              /* around a block of its executions; NULL without one */
    const char *folder;                  /* where it works; NULL where all do */
    const char *input_name, *output_name;
    int input, output; /* its stdin and stdout */
    char **serve, **ready; /* its server, and what asks whether that is ready; NULL without one */
    struct unit *units; /* NULL where the command is the same each time */
    long unit_count;
};

/*
 * Reads sections, each `run COUNT WORD...`, an arm, or before that what belongs to the next arm:
 * `prepare` and `conclude`, which come before and after each of its executions, `before` and
 * `after`, which come before and after a block of them, `unit COUNT FOLDER WORD...`, one of its
 * builds, of which `in` and `run` have the first, `serve` and `ready`, its server and the command
 * that succeeds once that is ready, `in 1 FOLDER`, where it works, `input 1 FILE` and `output 1
 * FILE` (`output 1 fd:N` is a file that this program was started with); and `setup` and `cleanup`,
 * which come before and after all. Returns how many arms there are, at least one.
 */
long arms_read(char **word, struct arm *arms);

/*
 * Opens the files that arms read and write, and /dev/null for those that name none; relative paths
 * are below `folder`, or below the working directory if that is NULL.
 */
void arms_open(struct arm *arms, long count, const char *folder);

/* What comes before and after all executions of a run; NULL without. */
extern char **arms_setup, **arms_cleanup;

/*
 * Executes what is no arm, if there is any, by the option that it was given with: its failure is an
 * error.
 */
void arms_execute(const char *option, char **words);

/* Goes to a folder; stays where there is none. */
void arms_work_in(const char *folder);

/* Goes where an arm works, and executes what prepares it. */
void arms_prepare(const struct arm *arm);

/* Executes what comes after an arm's execution. */
void arms_conclude(const struct arm *arm);

/* Begin and end a block of an arm's executions, with what comes before and after it. */
void arms_begin_block(const struct arm *arm);
void arms_end_block(void);

/* For kit_at_error: ends what a failed command has left running, and the block it failed in. */
void arms_clean_up(void);

/* The next of a series of random numbers, whose state is above 0. */
uint64_t arms_random(uint64_t *state);

/* The numbers below `count` in random order. */
void arms_shuffle(uint64_t *state, long *order, long count);

#endif
