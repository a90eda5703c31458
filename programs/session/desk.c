/* A user's desk: see desk.h. */
#define _GNU_SOURCE
#include "session/desk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum {
    NOT_FOUND = 99,
};

#define END_LIMIT INT64_C(1000000000)

static const char *folder;
static void (*after)(int finished);

/* --- the end --- */

static void clean(int finished)
{
    void (*first)(int finished) = after;

    after = NULL; /* it may fail itself */
    if (first)
        first(finished);
    crew_reap(END_LIMIT);
    files_remove_folder();
}

void desk_after(void (*clean_first)(int finished))
{
    after = clean_first;
}

/* --- the directory --- */

/* A compiler's cache would remember the last time, and a person's settings are not everybody's. */
static void set_environment(void)
{
    setenv("LC_ALL", "C", 1);
    setenv("HOME", ".", 1);
    setenv("TMPDIR", ".", 1);
    setenv("CCACHE_DISABLE", "1", 1);
    unsetenv("GREP_OPTIONS");
    unsetenv("TAR_OPTIONS");
    unsetenv("ENV");
}

void desk_open(const char *work)
{
    kit_detach_stdio();
    folder = files_folder(work);
    if (chdir(folder) != 0)
        kit_error("cannot enter the directory %s (%s)", folder, strerror(errno));
    crew_adopt();
    kit_at_end(clean);
    set_environment();
}

/* --- commands --- */

pid_t desk_start(char *const words[], int in, int out)
{
    const long parent = getpid();
    pid_t child = fork();

    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (child > 0)
        return child;
    crew_die_with(parent, SIGKILL);
    if ((in >= 0 && dup2(in, STDIN_FILENO) < 0) || (out >= 0 && dup2(out, STDOUT_FILENO) < 0))
        _exit(NOT_FOUND);
    execvp(words[0], words);
    _exit(NOT_FOUND);
}

void desk_run(const char *script)
{
    char text[512], shell[] = "sh", option[] = "-ec";
    char *words[] = {shell, option, text, NULL};
    pid_t child;
    int status;

    snprintf(text, sizeof text, "%s", script);
    child = desk_start(words, -1, -1);
    if (waitpid(child, &status, 0) != child)
        kit_error("lost `%s` (%s)", script, strerror(errno));
    if (status != 0)
        kit_error("`%s` ended with wait status %d: run it by hand to see why", script, status);
}

/* --- files --- */

void desk_write(const char *name, const char *text, size_t size)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || write(file, text, size) != (ssize_t)size || close(file) != 0)
        kit_error("cannot write %s/%s (%s): try another --dir", folder, name, strerror(errno));
}

size_t desk_read(const char *name, char *text, size_t size)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = 0;

    while (file >= 0 && used < size && (n = read(file, text + used, size - used)) > 0)
        used += (size_t)n;
    if (file < 0 || n < 0)
        kit_error("cannot read %s/%s (%s)", folder, name, strerror(errno));
    if (used == size)
        kit_error("%s/%s has %zu bytes and more: was something else written to it?", folder, name,
                  size);
    close(file);
    text[used] = '\0';
    return used;
}

uint32_t desk_hash(uint32_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return hash;
}
