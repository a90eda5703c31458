/* Commands in processes of their own: see process.h. */
#define _GNU_SOURCE
#include "command/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "kit.h"

enum {
    KEPT = 1 << 20, /* bytes of stderr that are kept of an execution */
    SHOWN = 120,    /* characters of a command, and of what it complained of */
    LIST = 4096,    /* bytes of a list of children, and of the end of stderr */
};

static char children[48]; /* the file in which the kernel lists this program's children */
static int complaints;    /* a file in memory: the stderr of commands */
static long left;

/* Kills this program's children; returns how many there were. */
static long kill_children(void)
{
    char list[LIST], *next = list;
    const int file = open(children, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, list, sizeof list - 1);
    long killed = 0;

    if (file >= 0)
        close(file);
    list[size > 0 ? size : 0] = '\0';
    for (long child; (child = strtol(next, &next, 10)) > 0; killed++)
        kill((pid_t)child, SIGKILL);
    return killed;
}

/* Orphans become this program's children, wherever they went. A kernel that does not list them leaves them to the tool. */
void process_end_children(void)
{
    long killed;

    for (;;) {
        const pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0)
            return;
        if (ended > 0)
            continue;
        killed = kill_children();
        left += killed;
        if (killed == 0 || waitpid(-1, NULL, 0) < 0)
            return;
    }
}

static void clean(int finished)
{
    (void)finished;
    process_end_children();
}

void process_init(void)
{
    snprintf(children, sizeof children, "/proc/self/task/%ld/children", (long)getpid());
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* refused before Linux 3.4: orphans are then the tool's */
#endif
    /* Writing beyond its size is refused, so a command that complains without end takes no memory. */
    complaints = memfd_create("stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (complaints < 0 || ftruncate(complaints, KEPT) != 0 || fcntl(complaints, F_ADD_SEALS, F_SEAL_GROW) != 0)
        kit_error("cannot make a file in memory (%s)", strerror(errno));
    kit_at_end(clean);
}

long process_left(void)
{
    return left;
}

/* A command as people type it, cut to what a line shows. */
static const char *shown(char **words)
{
    static char line[SHOWN + 1];
    size_t used = 0;

    for (; *words && used < SHOWN; words++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", *words);
    return line;
}

void process_redirect(int input, int output)
{
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(complaints, STDERR_FILENO) < 0)
        _exit(1);
}

int process_open(const char *path, int flags)
{
    const int file = open(path, flags | O_CLOEXEC, 0666);

    if (file < 0)
        kit_error("cannot open %s (%s): is the path right?", path, strerror(errno));
    return file;
}

void process_rewind(int input, int output)
{
    if (input != STDIN_FILENO)
        lseek(input, 0, SEEK_SET);
    if (output != STDOUT_FILENO && (ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) < 0))
        kit_error("cannot empty the file that the commands write (%s): is it a regular file?", strerror(errno));
    lseek(complaints, 0, SEEK_SET);
}

/* The file of a command, looked for as execvp(3) does; NULL without one. */
static const char *found(const char *name)
{
    static char path[PATH_MAX];
    const char *folder = getenv("PATH");
    struct stat file;
    size_t length;

    if (strchr(name, '/'))
        return name;
    for (folder = folder ? folder : "/bin:/usr/bin";; folder += length + 1) {
        length = strcspn(folder, ":");
        snprintf(path, sizeof path, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
        if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0)
            return path;
        if (!folder[length])
            return NULL;
    }
}

/*
 * Starts a process that has these files and nothing else of this one. glibc's posix_spawn(3) makes a system call for every
 * signal, which a command would pay for where each call costs something: until glibc 2.38.
 */
static pid_t start(const char *file, char **words, int input, int output)
{
    volatile int refused = file ? 0 : ENOENT;
    const pid_t child = file ? vfork() : -1;

    if (child == 0) {
        /* It runs in this program's memory until it executes the command. */
        signal(SIGALRM, SIG_DFL);
        process_redirect(input, output);
        execv(file, words);
        refused = errno;
        _exit(1);
    }
    if (child < 0 && file)
        refused = errno;
    if (refused)
        kit_error("'%s' cannot be executed (%s): is it installed, and executable?", shown(words), strerror(refused));
    return child;
}

struct execution process_execute(char **words, int input, int output)
{
    const char *file = found(words[0]);
    struct execution done = {0};
    pid_t child;

    lseek(complaints, 0, SEEK_SET);
    done.start = kit_now();
    child = start(file, words, input, output);
    while (wait4(child, &done.status, 0, &done.usage) < 0)
        if (errno != EINTR)
            kit_error("lost '%s' (%s)", shown(words), strerror(errno));
    done.end = kit_now();
    process_end_children();
    return done;
}

/* The last line on stderr; empty without one. */
static const char *last_complaint(void)
{
    static char text[LIST];
    const off_t end = lseek(complaints, 0, SEEK_CUR), room = sizeof text - 1, from = end > room ? end - room : 0;
    ssize_t size = pread(complaints, text, (size_t)(end - from), from);
    const char *line;

    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    text[size > 0 ? size : 0] = '\0';
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

const char *process_end(int status)
{
    static char how[64];

    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "ended with exit status %d", WEXITSTATUS(status));
    return how;
}

void process_fail(char **words, int status)
{
    const char *complaint = last_complaint(), *how = process_end(status);

    if (*complaint)
        kit_error("'%s' %s, saying '%.*s'; run it by hand, or try --ignore-failure", shown(words), how, SHOWN, complaint);
    kit_error("'%s' %s and said nothing; run it by hand, or try --ignore-failure", shown(words), how);
}
