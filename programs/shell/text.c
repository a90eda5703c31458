/*
 * The text that grep searches: 10,000 lines, 708,495 bytes, the longest line 195, in 1,032 lines
 * the word "reef". It is made, not kept: the same on every machine, from a generator of its own.
 */
#include "shell/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 10000, MATCHES = 1032, MEAN = 69, SPREAD = 60, LONGEST = 195, LONGER = 8370 };

static const char *const words[] = {"harbour", "tide",   "o_rdonly", "anchor", "=",      "lantern",
                                    "0x7f3c",  "of",     "mooring",  "signal", "enoent", "gull",
                                    "quay,",   "(null)", "4096",     "compass"};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return *state >> 16;
}

/*
 * Two neighbours differ from the mean by as much to either side; the first line and the early ones
 * get what is missing.
 */
static int line_length(int line, uint32_t *state, int *difference)
{
    if (line == 0)
        return LONGEST;
    if (line == 1)
        return MEAN + 1;
    if (line % 2 == 0)
        *difference = (int)(next_random(state) % SPREAD);
    return MEAN + (line % 2 ? *difference : -*difference) + (line < LONGER);
}

static void fill_line(char *line, int length, int matches, uint32_t *state)
{
    int used = 0;

    if (matches)
        used = sprintf(line, "reef ");
    while (used < length) {
        const char *word = words[next_random(state) % (sizeof words / sizeof words[0])];
        used += snprintf(line + used, (size_t)(length + 1 - used), "%s ", word);
    }
    line[length] = '\n';
    line[length + 1] = '\0';
}

static int write_lines(FILE *file)
{
    char line[LONGEST + 2];
    uint32_t state = 1;
    int difference = 0;

    for (int i = 0; i < LINES; i++) {
        int length = line_length(i, &state, &difference);
        fill_line(line, length, i * MATCHES % LINES < MATCHES, &state);
        if (fputs(line, file) == EOF)
            return -1;
    }
    return 0;
}

/* Written beside and renamed: whoever reads it reads all of it. */
int write_text(const char *path)
{
    char beside[256];
    FILE *file;
    int failed;

    snprintf(beside, sizeof beside, "%s-%ld", path, (long)getpid());
    file = fopen(beside, "w");
    if (!file)
        return -1;
    failed = write_lines(file);
    if (fclose(file) != 0 || failed || rename(beside, path) != 0) {
        unlink(beside);
        return -1;
    }
    return 0;
}
