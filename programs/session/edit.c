/*
 * A user at an editor, who changes a document and saves it: reads it whole, changes its first line
 * and a letter elsewhere, writes it beside, has it reach the disk (fsync), and renames it over the
 * old one, as editors do so that a crash loses nothing. One count is one such cycle, and each is
 * timed.
 *
 *   size=BYTES   of the document (32k)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "session/desk.h"

enum {
    MAX_DOCUMENT_BYTES = 1 << 20,
    LINE = 72,
    HEAD = 16, /* bytes of the first line: its number of edits */
    PROOFS = 3,
};

#define NAME "document.txt"
#define BESIDE ".document.txt.new"

static char text[MAX_DOCUMENT_BYTES + 1];
static size_t size;
static unsigned long edits;

static void write_head(void)
{
    snprintf(text, HEAD, "edits %9lu", edits);
    text[HEAD - 1] = '\n';
}

static void save(void)
{
    int file = open(BESIDE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (file < 0 || write(file, text, size) != (ssize_t)size)
        kit_error("cannot write %s (%s): is the file system full?", BESIDE, strerror(errno));
    if (fsync(file) != 0)
        kit_error("cannot have %s reach the disk (%s)", BESIDE, strerror(errno));
    if (close(file) != 0 || rename(BESIDE, NAME) != 0)
        kit_error("cannot put %s in the place of %s (%s)", BESIDE, NAME, strerror(errno));
}

/*
 * Whether what was read is what was saved last: its length, its number of edits, and the letter the
 * last one changed.
 */
static int is_last(size_t length)
{
    size_t at = HEAD + edits * 7919 % (size - HEAD);

    return length == size && strtoul(text + sizeof "edits", NULL, 10) == edits &&
           (edits == 0 || text[at] == 'X');
}

static void edit(void)
{
    if (!is_last(desk_read(NAME, text, sizeof text)))
        kit_error("the document is not what was saved, after %lu edits", edits);
    edits++;
    text[HEAD + edits * 7919 % (size - HEAD)] = 'X';
    write_head();
    save();
}

static void write_document(void)
{
    for (size_t i = HEAD; i < size; i++)
        text[i] = (i + 1) % LINE ? (char)('a' + i % 26) : '\n';
    write_head();
    save();
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    size = (size_t)kit_arg_number("size", 32 << 10, 1 << 10, MAX_DOCUMENT_BYTES - 1);
    desk_open("edit");
    write_document();
    for (int i = 0; i < PROOFS; i++)
        edit();
    kit_check("saved", is_last(desk_read(NAME, text, sizeof text)) ? edits : 0);
    kit_start();
    for (;;) {
        int64_t start = kit_now();
        edit();
        kit_time(kit_now() - start);
        kit_tick(1);
    }
}
