/*
 * The stderr of commands: see complaints.h.
 *
 * It is a pipe, since a command may open that by path, truncate it, append to it and fill it
 * without end. A process of its own empties it and keeps the last words in memory that it shares
 * with this program. The process
 *
 *   sleeps until a command says something, so that one that says nothing is not disturbed;
 *   has read all that was said before the next command begins (complaints_begin), which it
 *     therefore does not disturb either;
 *   goes on until nobody can write any more, since a server may outlive this program and must not
 *     die of SIGPIPE;
 *   is no child of this program, which asks after each execution whether it has any.
 */
#define _GNU_SOURCE
#include "command/complaints.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

enum {
    KEPT_BYTES = 4096,     /* of what was said, the last */
    PIPE_BYTES = 1 << 20,  /* so that a command rarely waits until the pipe is emptied */
    READ_BYTES = 64 << 10, /* at once */
    MAX_FILES = 1024,
    LOOK_US = 50,
    MAX_LOOKS = 20000, /* a second, or two where timers are slack */
};

/* What a speaker has said: how much, and the end of it in a ring. */
struct speech {
    _Atomic unsigned long total;
    char last[KEPT_BYTES];
};

static struct {
    _Atomic int is_idle; /* all that had been read is in the rings */
    struct speech speech[MAX_SPEAKERS];
} *heard;

static int pipes[MAX_SPEAKERS];
static int speakers;
static int shown; /* the file that shows what commands say; 0: none does */
static enum speaker speaker;
/* how much each speaker had said before its last command began */
static unsigned long total_before[MAX_SPEAKERS];

/* --- the process that empties the pipes --- */

static void append(struct speech *speech, const char *bytes, size_t number)
{
    for (size_t i = number > KEPT_BYTES ? number - KEPT_BYTES : 0; i < number; i++)
        speech->last[(speech->total + i) % KEPT_BYTES] = bytes[i];
    speech->total += number;
}

/* Moves what a pipe has into a ring; true if more may come. */
static int read_pipe(int file, struct speech *speech)
{
    static char bytes[READ_BYTES];
    const ssize_t size = read(file, bytes, sizeof bytes);

    if (size > 0)
        append(speech, bytes, (size_t)size);
    if (size > 0 && shown && speech == &heard->speech[COMMAND]
        && write(shown, bytes, (size_t)size) < 0)
        shown = 0; /* nobody reads it any more */
    return size > 0 || (size < 0 && errno == EINTR);
}

static _Noreturn void empty_pipes(const int *ends)
{
    struct pollfd open[MAX_SPEAKERS];
    int count = speakers;

    for (int i = 0; i < speakers; i++)
        open[i] = (struct pollfd){.fd = ends[i], .events = POLLIN};
    while (count > 0) {
        heard->is_idle = 1;
        poll(open, (nfds_t)speakers, -1);
        heard->is_idle = 0;
        for (int i = 0; i < speakers; i++)
            if (open[i].fd >= 0 && open[i].revents && !read_pipe(open[i].fd, &heard->speech[i])) {
                open[i].fd = -1;
                count--;
            }
    }
    _exit(0);
}

static int is_end(const int *ends, int file)
{
    for (int i = 0; i < speakers; i++)
        if (ends[i] == file)
            return 1;
    return 0;
}

/*
 * Gives up all that it has of this program but the pipes and the file that shows what they say:
 * files, the directory, and the process group, which is ended as a whole.
 */
static _Noreturn void become_reader(const int *ends)
{
    setpgid(0, 0);
    if (chdir("/") != 0)
        _exit(1);

    for (int file = 0; file < MAX_FILES; file++)
        if (!is_end(ends, file) && (!shown || file != shown))
            close(file);
    signal(SIGPIPE, SIG_IGN);
    empty_pipes(ends);
}

/* By way of a parent that ends at once, so that the reader is no child of this program. */
static void start_reader(const int *ends)
{
    const pid_t parent = fork();

    if (parent == 0) {
        const pid_t reader = fork();
        if (reader == 0)
            become_reader(ends);
        _exit(reader < 0 ? errno : 0);
    }

    int status = 0;
    while (parent > 0 && waitpid(parent, &status, 0) < 0 && errno == EINTR)
        ;
    if (parent > 0)
        errno = WEXITSTATUS(status);
    if (parent < 0 || errno)
        kit_error("cannot start the process that reads the commands' stderr (%s): is `ulimit -u` "
                  "too low?",
                  strerror(errno));
}

void complaints_init(long servers)
{
    int ends[MAX_SPEAKERS];

    speakers = FIRST_SERVER + (int)servers;
    shown = (int)kit_arg_number("stderr", 0, 0, INT32_MAX);
    heard = mmap(NULL, sizeof *heard, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (heard == MAP_FAILED)
        kit_error("cannot allocate memory for the commands' stderr (%s); free some",
                  strerror(errno));
    for (int i = 0; i < speakers; i++) {
        int both[2];
        if (pipe2(both, O_CLOEXEC) != 0)
            kit_error("cannot make a pipe (%s); raise `ulimit -n`", strerror(errno));
        ends[i] = both[0];
        pipes[i] = both[1];
    }
    /* Refused to a user with many pipes, which then keeps its usual size. */
    fcntl(pipes[COMMAND], F_SETPIPE_SZ, PIPE_BYTES);
    start_reader(ends);
    for (int i = 0; i < speakers; i++)
        close(ends[i]);
}

/* --- this program --- */

/*
 * Waits until all that a speaker has said is in its ring, but no longer than two seconds, since a
 * server may go on speaking. The pipe is looked at before the reader: what has left the pipe was
 * read while the reader was not idle.
 */
static void wait_until_read(enum speaker whose)
{
    const struct timespec pause = {.tv_nsec = LOOK_US * 1000};

    for (int looks = 0; looks < MAX_LOOKS; looks++) {
        int waiting = 0;
        if (ioctl(pipes[whose], FIONREAD, &waiting) != 0 || (waiting == 0 && heard->is_idle))
            return;
        nanosleep(&pause, NULL);
    }
}

void complaints_begin(enum speaker whose)
{
    wait_until_read(whose);
    speaker = whose;
    total_before[whose] = heard->speech[whose].total;
    /* The last command may have set O_NONBLOCK, which holds for all that share the file. */
    fcntl(pipes[whose], F_SETFL, O_WRONLY);
}

void complaints_end(void)
{
    if (shown)
        wait_until_read(COMMAND);
}

int complaints_file(void)
{
    return pipes[speaker];
}

const char *complaints_last(void)
{
    return complaints_last_of(speaker);
}

const char *complaints_last_of(enum speaker whose)
{
    static char text[KEPT_BYTES + 1];
    const struct speech *speech = &heard->speech[whose];
    size_t size;
    const char *line;

    wait_until_read(whose);

    size = speech->total - total_before[whose];
    if (size > KEPT_BYTES)
        size = KEPT_BYTES;
    for (size_t i = 0; i < size; i++)
        text[i] = speech->last[(speech->total - size + i) % KEPT_BYTES];

    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    text[size] = '\0';
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}
