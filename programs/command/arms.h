/* The commands of a command line, each an arm of a comparison. */
#ifndef COMMAND_ARMS_H
#define COMMAND_ARMS_H

enum { MOST_ARMS = 64 };

struct arm {
    char **words, **prepare; /* prepare: NULL without one */
    const char *folder;      /* where it works; NULL where all do */
};

/*
 * Reads sections, each `run COUNT WORD...`, an arm, or before that `prepare COUNT WORD...`, what comes before each execution of
 * the next arm, or `in 1 FOLDER`, where it works; and `setup` and `cleanup`, which come before and after all. Returns how many
 * arms there are, at least one.
 */
long arms_read(char **word, struct arm *arms);

/* What comes before and after all executions of a run; NULL without. */
extern char **arms_setup, **arms_cleanup;

/* Executes what is no arm: its failure is an error. */
void arms_execute(char **words);

/* Goes to a folder; stays where there is none. */
void arms_work_in(const char *folder);

/* Goes where an arm works, and executes what prepares it. */
void arms_prepare(const struct arm *arm);

#endif
