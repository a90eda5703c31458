/*
 * Instructions as callgrind counts them: see emulate.h.
 *
 * A process writes what it has counted into a file of its own when it ends. What it counted before
 * fork(2) would be in the files of both processes, and what it counted before execve(2) in no file.
 * So callgrind is told (--dump-before) to write a file whenever one of these is called, and to go
 * on from zero.
 */
#define _GNU_SOURCE
#include "command/emulate.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

/* Names of functions; `*` is any text. posix_spawn(3) makes its processes by clone(2). */
static char option_tool[] = "--tool=callgrind", option_quiet[] = "-q";
static char option_children[] = "--trace-children=yes";
static char option_fork[] = "--dump-before=*fork", option_spawn[] = "--dump-before=*spawn*";
static char option_exec[] = "--dump-before=*execve";
static char *const options[] = {option_tool, option_quiet, option_children,
                                option_fork, option_spawn, option_exec};

/* Whole addresses and paths, which need no memory of the lines before. */
static char option_addresses[] = "--dump-instr=yes", option_lines[] = "--dump-line=no";
static char option_positions[] = "--compress-pos=no", option_strings[] = "--compress-strings=no";
static char *const by_address[] = {option_addresses, option_lines, option_positions,
                                   option_strings};

int emulate_is_possible(void)
{
    const char *folder = getenv("PATH");
    char path[PATH_MAX];

    for (size_t length; folder && *folder; folder += length + (folder[length] == ':')) {
        length = strcspn(folder, ":");
        snprintf(path, sizeof path, "%.*s/valgrind", (int)length, folder);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

char **emulate_words(char **words, const char *folder, enum emulated what)
{
    enum {
        OPTIONS = sizeof options / sizeof *options,
        ADDRESS_OPTIONS = sizeof by_address / sizeof *by_address,
        OTHERS = 4, /* the program, its log, its file, and NULL at the end */
    };
    static char file[PATH_MAX + 64], program[] = "valgrind", log[] = "--log-file=/dev/null";
    size_t count = 0, next = 0;
    char **all;

    while (words[count])
        count++;
    all = calloc(count + OPTIONS + ADDRESS_OPTIONS + OTHERS, sizeof *all);
    if (!all)
        return NULL;

    snprintf(file, sizeof file, "--callgrind-out-file=%s/%%p", folder);
    all[next++] = program;
    memcpy(all + next, options, sizeof options);
    next += OPTIONS;
    if (what == EMULATE_BY_ADDRESS) {
        memcpy(all + next, by_address, sizeof by_address);
        next += ADDRESS_OPTIONS;
    }
    all[next++] = log;
    all[next++] = file;
    memcpy(all + next, words, count * sizeof *words);
    return all;
}

/* Calls `call` with the path of each file in the folder. */
static void each_file(const char *folder, void (*call)(const char *path))
{
    DIR *const files = opendir(folder);
    char path[PATH_MAX + 256];

    for (struct dirent *file; files && (file = readdir(files));) {
        if (file->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        call(path);
    }
    if (files)
        closedir(files);
}

static void remove_file(const char *path)
{
    unlink(path);
}

void emulate_remove_folder(const char *folder)
{
    each_file(folder, remove_file);
    rmdir(folder);
}

int emulate_make_folder(const char *folder)
{
    emulate_remove_folder(folder); /* that of an execution which was broken off */
    return mkdir(folder, 0700);
}

static long long sum; /* of the files so far; -1 before the first that has a number */

/*
 * Adds the number of the line `summary: N`. It follows `events:`; the words of the command, which
 * may look like it, come before.
 */
static void add_instructions(const char *path)
{
    static const char events[] = "events: ", label[] = "summary: ";
    char line[LINE_BYTES];
    FILE *const file = fopen(path, "re");
    int is_after_command = 0;

    while (file && fgets(line, sizeof line, file)) {
        is_after_command |= strncmp(line, events, sizeof events - 1) == 0;
        if (!is_after_command || strncmp(line, label, sizeof label - 1) != 0)
            continue;
        sum = (sum < 0 ? 0 : sum) + atoll(line + sizeof label - 1);
        break;
    }
    if (file)
        fclose(file);
}

long long emulate_count(const char *folder)
{
    sum = -1;
    each_file(folder, add_instructions);
    return sum;
}
