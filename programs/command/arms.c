/* The commands of a command line: see arms.h. */
#include "command/arms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/process.h"
#include "kit.h"

char **arms_setup, **arms_cleanup;

/* A section's words are moved over its count, to end with NULL; returns how many there are. */
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

long arms_read(char **word, struct arm *arms)
{
    struct arm next = {0};
    long read = 0;

    while (word && *word) {
        const char *kind = *word++;
        const long count = read_words(kind, word);
        if (strcmp(kind, "setup") == 0) {
            arms_setup = word;
        } else if (strcmp(kind, "cleanup") == 0) {
            arms_cleanup = word;
        } else if (strcmp(kind, "prepare") == 0) {
            next.prepare = word;
        } else if (strcmp(kind, "in") == 0) {
            next.folder = word[0];
        } else if (strcmp(kind, "run") == 0) {
            if (read == MOST_ARMS)
                kit_error("there are more than %d commands: name fewer", MOST_ARMS);
            next.words = word;
            arms[read++] = next;
            next = (struct arm){0};
        } else {
            kit_error("'%s' begins no section: try run 1 true", kind);
        }
        word += count + 1;
    }
    if (read == 0)
        kit_error("no command: try -- run 1 true");
    return read;
}

void arms_execute(char **words)
{
    struct execution done;

    if (!words)
        return;
    done = process_execute(words, STDIN_FILENO, STDOUT_FILENO);
    if (done.status != 0)
        process_fail(words, done.status);
}

void arms_work_in(const char *folder)
{
    if (folder && chdir(folder) != 0)
        kit_error("cannot work in %s (%s): is it a directory, and still there?", folder, strerror(errno));
}

void arms_prepare(const struct arm *arm)
{
    arms_work_in(arm->folder);
    arms_execute(arm->prepare);
}
