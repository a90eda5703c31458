/*
 * A command that counts, as what runs beside measured programs: `command key=value ... -- COMMAND
 * ...`.
 *
 *     attached=TEXT     the line it prints when it has begun to count
 *
 * At the end its stdin closes, and the first number of the last line in which it prints one is the
 * count. Its stdin closes too when this program dies, however that is. No signal: bpftrace 0.17
 * misses one that comes between two of its waits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

enum {
    SAID_BYTES = 8192, /* of what it prints, the last */
    LOOK_MS = 100,     /* between looks at stdin while the command begins */
    COUNT_MS = 10000,  /* that it has to print its count */
    DYING_MS = 1000,   /* that it has to end */
    NO_EXEC = 127,     /* as shells have it */
};

static pid_t child;
static int input, output; /* its stdin, and what it prints */
static char said[SAID_BYTES + 1];
static size_t said_size;
static unsigned long counted;

/* --- what it prints --- */

/* Waits for more of it; 0 when there will be none, and -1 when there is none yet. */
static int hear(int patience)
{
    struct pollfd out = {.fd = output, .events = POLLIN};
    ssize_t n;
    int ready;

    while ((ready = poll(&out, 1, patience)) < 0 && errno == EINTR)
        ;
    if (ready <= 0)
        return -1;
    if (said_size > SAID_BYTES / 2) { /* the beginning is of no use any more */
        memmove(said, said + SAID_BYTES / 4, said_size - SAID_BYTES / 4);
        said_size -= SAID_BYTES / 4;
    }
    n = read(output, said + said_size, SAID_BYTES - said_size);
    if (n < 0)
        return -1;
    said_size += (size_t)n;
    said[said_size] = '\0';
    return n > 0;
}

static int has_line(const char *text)
{
    const size_t length = strlen(text);

    for (const char *line = said; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, text, length) == 0 && line[length] == '\n')
            return 1;
    return 0;
}

/* Why it failed: the last line that says so, or the last that is not empty. */
static const char *reason(void)
{
    char *line = NULL;

    for (char *next = said; (next = strstr(next, "ERROR")) != NULL; next++)
        line = next;
    if (line) {
        line[strcspn(line, "\n")] = '\0';
        return line;
    }
    while (said_size && said[said_size - 1] == '\n')
        said[--said_size] = '\0';
    line = memrchr(said, '\n', said_size);
    return line ? line + 1 : said;
}

static unsigned long last_number(void)
{
    unsigned long number = 0;

    for (char *line = said, *next; *line; line = next) {
        const size_t digit = strcspn(line, "0123456789\n");
        next = line + strcspn(line, "\n");
        if (line + digit < next)
            number = strtoul(line + digit, NULL, 10);
        next += *next == '\n';
    }
    return number;
}

/* --- its end --- */

/* Called by the timer: 0 until the tool is gone or wants the count. */
static unsigned long count(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    /* While there is something to read, the beginning of the slice may be still to come. */
    if (input < 0 || poll(&in, 1, 0) <= 0 || in.revents & POLLIN)
        return counted;
    close(input);
    input = -1;
    while (hear(COUNT_MS) > 0)
        ;
    counted = last_number();
    return counted;
}

static void end_child(int finished)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    for (int ms = 0; ms < DYING_MS && waitpid(child, NULL, WNOHANG) == 0; ms++)
        poll(NULL, 0, 1);
    child = 0;
    if (finished && counted == 0)
        kit_error("%s counted nothing, so that it did not count at all: %s", kit_command()[0],
                  reason());
}

/* --- its beginning --- */

static void start(char **words)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        kit_error("cannot make pipes (%s)", strerror(errno));
    child = fork();
    if (child < 0)
        kit_error("cannot fork (%s)", strerror(errno));
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execvp(words[0], words);
        _exit(NO_EXEC);
    }
    close(in[0]);
    close(out[1]);
    input = in[1];
    output = out[0];
}

static void wait_until_attached(const char *text)
{
    int more;

    while (!has_line(text)) {
        more = hear(LOOK_MS);
        if (more == 0)
            kit_error("%s ended before it had begun to count: %s", kit_command()[0], reason());
        if (more < 0 && kit_abandoned())
            kit_leave();
    }
    said_size = 0; /* its output when it started is not a count */
    said[0] = '\0';
}

int main(int argc, char **argv)
{
    siginfo_t info;

    kit_init(argc, argv);
    if (!kit_command())
        kit_error("there is no command: try command attached=TEXT -- COMMAND");
    kit_at_end(end_child);
    start(kit_command());
    wait_until_attached(kit_arg("attached", ""));
    kit_counter(count);
    kit_start();
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
        ;
    while (hear(0) > 0)
        ;
    kit_error("%s ended by itself: %s", kit_command()[0], reason());
}
