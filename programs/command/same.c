/* The first line in which two files differ: see same.h. */
#define _GNU_SOURCE
#include "command/same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "kit.h"

enum { MAX_SHOWN_CHARS = 80 }; /* characters of a line */

/* A stream that reads a file from its start. */
static FILE *open_reader(int file)
{
    const int copy = dup(file);
    FILE *stream = copy < 0 || lseek(copy, 0, SEEK_SET) < 0 ? NULL : fdopen(copy, "r");

    if (!stream)
        kit_error("cannot read what the commands printed: is `ulimit -n` too low?");
    return stream;
}

static void cut_newline(char *line, ssize_t size)
{
    if (size > 0 && line[size - 1] == '\n')
        line[size - 1] = '\0';
}

void same_check(int first, int other, long number)
{
    FILE *expected = open_reader(first), *printed = open_reader(other);
    char *line = NULL, *other_line = NULL;
    size_t room = 0, other_room = 0;

    for (long at = 1;; at++) {
        const ssize_t size = getline(&line, &room, expected),
                      other_size = getline(&other_line, &other_room, printed);
        if (size < 0 && other_size < 0)
            break;
        if (size == other_size && memcmp(line, other_line, (size_t)size) == 0)
            continue;
        cut_newline(line, size);
        cut_newline(other_line, other_size);
        kit_error("the commands print different output: line %ld of the first is '%.*s', that of "
                  "number %ld is '%.*s'",
                  at, MAX_SHOWN_CHARS, size < 0 ? "" : line, number, MAX_SHOWN_CHARS,
                  other_size < 0 ? "" : other_line);
    }
    free(line);
    free(other_line);
    fclose(expected);
    fclose(printed);
}
