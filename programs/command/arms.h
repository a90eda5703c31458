/* The commands of a command line, each an arm of a comparison. */
#ifndef COMMAND_ARMS_H
#define COMMAND_ARMS_H

enum { MOST_ARMS = 64 };

struct arm {
    char **words, **prepare; /* prepare: NULL without one */
};

/*
 * Reads sections, each `run COUNT WORD...`, an arm, or `prepare COUNT WORD...`, what comes before each execution of the next
 * arm. Returns how many arms there are, at least one.
 */
long arms_read(char **word, struct arm *arms);

/* Executes what prepares an arm. */
void arms_prepare(const struct arm *arm);

#endif
