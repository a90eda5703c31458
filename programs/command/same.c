/* The first line in which two files differ: see same.h. */
#define _GNU_SOURCE
#include "command/same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "kit.h"

enum {
    MAX_SHOWN_CHARS = 80, /* of a line */
    SHOWN_BEFORE = 20,    /* characters before the difference, where it is not among the first */
};

/* A stream that reads a file from its start. */
static FILE *open_reader(int file)
{
    const int copy = dup(file);
    FILE *stream = copy < 0 || lseek(copy, 0, SEEK_SET) < 0 ? NULL : fdopen(copy, "r");

    if (!stream)
        kit_error("cannot read what the commands printed: is `ulimit -n` too low?");
    return stream;
}

/* A line of an output, with its newline; its size is below 0 after the last one. */
struct line {
    char *text;
    size_t room;
    ssize_t size;
};

static void read_line(struct line *line, FILE *from)
{
    line->size = getline(&line->text, &line->room, from);
}

static int is_same(const struct line *one, const struct line *other)
{
    return one->size == other->size && memcmp(one->text, other->text, (size_t)one->size) == 0;
}

/* The length without the newline. */
static ssize_t length(const struct line *line)
{
    return line->size - (line->text[line->size - 1] == '\n');
}

/* The number of characters to show from a place on. */
static int shown(const struct line *line, ssize_t from)
{
    const ssize_t rest = length(line) - from;

    return rest < MAX_SHOWN_CHARS ? (int)rest : MAX_SHOWN_CHARS;
}

/* Ends the program: the first command's line differs from that of command `number`. */
static void refuse(const struct line *one, const struct line *other, long at, long number)
{
    const struct line *longer = one->size < 0 ? other : one;
    ssize_t same = 0, from;

    if (one->size < 0 || other->size < 0)
        kit_error("the commands print different output: command %ld prints nothing after line "
                  "%ld, where command %ld prints '%.*s'",
                  one->size < 0 ? 1 : number, at - 1, one->size < 0 ? number : 1,
                  shown(longer, 0), longer->text);

    while (same < length(one) && same < length(other) && one->text[same] == other->text[same])
        same++;
    if (same == length(one) && same == length(other))
        kit_error("the commands print different output: line %ld, the last, ends with a newline "
                  "in only one of commands 1 and %ld",
                  at, number);

    from = same < MAX_SHOWN_CHARS - SHOWN_BEFORE ? 0 : same - SHOWN_BEFORE;
    kit_error("the commands print different output: line %ld of the first is '%s%.*s', that of "
              "number %ld is '%s%.*s'",
              at, from ? "..." : "", shown(one, from), one->text + from, number,
              from ? "..." : "", shown(other, from), other->text + from);
}

void same_check(int first, int other, long number)
{
    FILE *expected = open_reader(first), *printed = open_reader(other);
    struct line one = {0}, other_one = {0};

    for (long at = 1;; at++) {
        read_line(&one, expected);
        read_line(&other_one, printed);
        if (one.size < 0 && other_one.size < 0)
            break;
        if (!is_same(&one, &other_one))
            refuse(&one, &other_one, at, number);
    }
    free(one.text);
    free(other_one.text);
    fclose(expected);
    fclose(printed);
}
