/* The commands of a command line: see arms.h. */
#include "command/arms.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/process.h"
#include "kit.h"

/* A section's words are moved over its count, to end with NULL. */
long arms_read(char **word, struct arm *arms)
{
    char **prepare = NULL;
    long read = 0;

    while (word && *word) {
        const char *kind = *word++;
        const long count = *word ? strtol(*word, NULL, 10) : 0;
        const int is_run = strcmp(kind, "run") == 0;
        if (count < 1 || (!is_run && strcmp(kind, "prepare") != 0))
            kit_error("'%s' begins no section: try run 1 true", kind);
        for (long i = 0; i < count; i++) {
            word[i] = word[i + 1];
            if (!word[i])
                kit_error("fewer than %ld words follow '%s %ld'", count, kind, count);
        }
        word[count] = NULL;
        if (is_run && read == MOST_ARMS)
            kit_error("there are more than %d commands: name fewer", MOST_ARMS);
        if (is_run)
            arms[read++] = (struct arm){.words = word, .prepare = prepare};
        prepare = is_run ? NULL : word;
        word += count + 1;
    }
    if (read == 0)
        kit_error("no command: try -- run 1 true");
    return read;
}

void arms_prepare(const struct arm *arm)
{
    struct execution done;

    if (!arm->prepare)
        return;
    done = process_execute(arm->prepare, STDIN_FILENO, STDOUT_FILENO);
    if (done.status != 0)
        process_fail(arm->prepare, done.status);
}
