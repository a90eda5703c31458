/* The commands of a command line: see arms.h. */
#define _GNU_SOURCE
#include "command/arms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/process.h"
#include "kit.h"

char **arms_setup, **arms_cleanup;

static const struct arm *open_block; /* the arm whose block has begun and not ended, or NULL */

/*
 * Reads the count of a section's words, and returns it. Moves the words to where the count was, so
 * that there is a place for NULL after them.
 */
static long read_words(const char *kind, char **word)
{
    const long count = *word ? strtol(*word, NULL, 10) : 0;

    if (count < 1)
        kit_error("'%s' begins no section: try run 1 true", kind);
    for (long i = 0; i < count; i++) {
        word[i] = word[i + 1];
        if (!word[i])
            kit_error("fewer than %ld words follow '%s %ld'", count, kind, count);
    }
    word[count] = NULL;
    return count;
}

static void add_unit(struct arm *arm, char **words)
{
    if (!arm->units)
        arm->units = calloc(MAX_UNITS, sizeof *arm->units);
    if (!arm->units || arm->unit_count == MAX_UNITS)
        kit_error("a command has more than %d builds: make fewer", MAX_UNITS);
    arm->units[arm->unit_count++] = (struct unit){.folder = words[0], .words = words + 1};
}

long arms_read(char **word, struct arm *arms)
{
    struct arm next = {0}; /* its sections come before its `run` */
    long arm_count = 0;

    while (word && *word) {
        const char *kind = *word++;
        const long count = read_words(kind, word);

        if (strcmp(kind, "setup") == 0) {
            arms_setup = word;
        } else if (strcmp(kind, "cleanup") == 0) {
            arms_cleanup = word;
        } else if (strcmp(kind, "prepare") == 0) {
            next.prepare = word;
        } else if (strcmp(kind, "conclude") == 0) {
            next.conclude = word;
        } else if (strcmp(kind, "before") == 0) {
            next.before = word;
        } else if (strcmp(kind, "after") == 0) {
            next.after = word;
        } else if (strcmp(kind, "serve") == 0) {
            next.serve = word;
        } else if (strcmp(kind, "ready") == 0) {
            next.ready = word;
        } else if (strcmp(kind, "in") == 0) {
            next.folder = word[0];
        } else if (strcmp(kind, "unit") == 0) {
            add_unit(&next, word);
        } else if (strcmp(kind, "input") == 0) {
            next.input_name = word[0];
        } else if (strcmp(kind, "output") == 0) {
            next.output_name = word[0];
        } else if (strcmp(kind, "run") == 0) {
            if (arm_count == MAX_ARMS)
                kit_error("there are more than %d commands: name fewer", MAX_ARMS);
            next.words = word;
            arms[arm_count++] = next;
            next = (struct arm){0};
        } else {
            kit_error("'%s' begins no section: try run 1 true", kind);
        }
        word += count + 1; /* and NULL */
    }

    if (arm_count == 0)
        kit_error("no command: try -- run 1 true");
    return arm_count;
}

/* A file that was open when this program began. Commands get it only as their stdin or stdout. */
static int keep_for_commands(const char *number)
{
    const int file = (int)strtol(number, NULL, 10);

    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0)
        kit_error("file %d is not open (%s)", file, strerror(errno));
    return file;
}

/* A file that was handed on is opened anew: copies of this program must not share its offset. */
static int open_input(int folder, const char *name)
{
    const char handed[] = "/dev/fd/";

    if (strncmp(name, handed, strlen(handed)) == 0)
        keep_for_commands(name + strlen(handed));
    return process_open(folder, name, O_RDONLY);
}

static int open_output(int folder, const char *name)
{
    if (strncmp(name, "fd:", 3) == 0)
        return keep_for_commands(name + 3);
    return process_open(folder, name, O_WRONLY | O_CREAT | O_TRUNC);
}

void arms_open(struct arm *arms, long count, const char *folder)
{
    const int base = folder ? process_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY) : AT_FDCWD;

    for (struct arm *arm = arms; arm < arms + count; arm++) {
        arm->input = arm->input_name ? open_input(base, arm->input_name) : STDIN_FILENO;
        arm->output = arm->output_name ? open_output(base, arm->output_name) : STDOUT_FILENO;
    }
    if (folder)
        close(base);
}

void arms_execute(const char *option, char **words)
{
    if (words)
        process_execute_around(option, words);
}

void arms_work_in(const char *folder)
{
    if (folder && chdir(folder) != 0)
        kit_error("cannot work in %s (%s): is it a directory, and still there?", folder,
                  strerror(errno));
}

void arms_prepare(const struct arm *arm)
{
    arms_work_in(arm->folder);
    arms_execute("--prepare", arm->prepare);
}

void arms_conclude(const struct arm *arm)
{
    arms_execute("--conclude", arm->conclude);
}

void arms_begin_block(const struct arm *arm)
{
    open_block = arm;
    arms_execute("--setup", arm->before);
}

void arms_end_block(void)
{
    const struct arm *arm = open_block;

    open_block = NULL; /* first: what fails here is not executed again */
    if (arm)
        arms_execute("--cleanup", arm->after);
}

void arms_clean_up(void)
{
    process_end_children();
    arms_end_block();
}

/* --- their order --- */

/* Marsaglia's xorshift64. */
uint64_t arms_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* By the inside-out form of Fisher and Yates' shuffle. */
void arms_shuffle(uint64_t *state, long *order, long count)
{
    for (long i = 0; i < count; i++) {
        const long other = (long)(arms_random(state) % (uint64_t)(i + 1));

        order[i] = order[other];
        order[other] = i;
    }
}
