/*
 * Servers: see server.h.
 *
 * A server that ends by itself fails the run at once: while a command runs, since that may wait for
 * an answer for ever (`note_end` is called as soon as the process is reaped), or at the next start
 * of one.
 */
#define _GNU_SOURCE
#include "command/server.h"

#include <ctype.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/complaints.h"
#include "command/process.h"
#include "kit.h"

enum { LOOK_MS = 10 /* between questions whether a server is ready */ };

static struct server {
    char **words;
    pid_t process; /* 0: not started, or ended */
    int port;
    int has_ended, status;
} servers[MAX_SERVERS];

static long ready_ms;
static void (*at_failure)(long arm);
static char port_variable[32];

void server_init(long ms, void (*failing)(long arm))
{
    ready_ms = ms;
    at_failure = failing;
}

long server_count(const struct arm *arms, long count)
{
    long found = 0;

    for (long arm = 0; arm < count; arm++)
        found += arms[arm].serve != NULL;
    if (found && found < count)
        kit_error("%ld of %ld commands have a server: give each one", found, count);
    if (found > MAX_SERVERS)
        kit_error("there are more than %d servers: name fewer", MAX_SERVERS);
    return found;
}

static _Noreturn void fail_of(const struct server *server)
{
    const long number = server - servers;

    at_failure(number);
    kit_error("%s %s%s; run it by hand with PORT=%d", process_quote("--serve ", server->words),
              process_end(server->status), process_last_words((int)number), server->port);
}

static void fail_of_ended(void)
{
    for (struct server *server = servers; server < servers + MAX_SERVERS; server++)
        if (server->has_ended)
            fail_of(server);
}

static void note_end(pid_t process, int status, int may_fail)
{
    for (struct server *server = servers; server < servers + MAX_SERVERS; server++) {
        if (server->process != process)
            continue;
        server->process = 0;
        server->has_ended = 1;
        server->status = status;
        if (may_fail)
            fail_of(server);
    }
}

/* --- ports --- */

/* A port that nobody has. Between now and the server's start another may take it, which is rare. */
static int find_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (file < 0 || bind(file, (struct sockaddr *)&address, size) != 0 ||
        getsockname(file, (struct sockaddr *)&address, &size) != 0)
        kit_error("cannot find a free port for a server (%s): is the network of this machine up?",
                  strerror(errno));
    close(file);
    return ntohs(address.sin_port);
}

static int is_port_taken(int port)
{
    for (const struct server *server = servers; server < servers + MAX_SERVERS; server++)
        if (server->process && server->port == port)
            return 1;
    return 0;
}

static int accepts(int family, const struct sockaddr *address, socklen_t size)
{
    const int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int is_accepted = file >= 0 && connect(file, address, size) == 0;

    if (file >= 0)
        close(file);
    return is_accepted;
}

/* True if something listens at a port of this machine. */
static int is_listening(int port)
{
    const struct sockaddr_in four = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const struct sockaddr_in6 six = {
        .sin6_family = AF_INET6,
        .sin6_port = htons((uint16_t)port),
        .sin6_addr = IN6ADDR_LOOPBACK_INIT,
    };

    return accepts(AF_INET, (const struct sockaddr *)&four, sizeof four) ||
           accepts(AF_INET6, (const struct sockaddr *)&six, sizeof six);
}

/* --- words --- */

/* True where the name of a variable could go on: $PORTAL is another one. */
static int is_of_name(char next)
{
    return isalnum((unsigned char)next) || next == '_';
}

/* The word with the port in place of $PORT and ${PORT}. It is never freed: a run has few. */
static char *fill_in_port(const char *word, int port)
{
    static const char *const names[] = {"${PORT}", "$PORT"};
    /* Never longer than the word: a name has at least five characters, a port at most five. */
    char *filled = malloc(strlen(word) + 1), *end = filled;

    if (!filled)
        kit_error("no memory for a command: free some");
    while (*word) {
        size_t taken = 0; /* characters of a name */

        for (size_t i = 0; i < sizeof names / sizeof *names && !taken; i++)
            if (strncmp(word, names[i], strlen(names[i])) == 0)
                taken = strlen(names[i]);
        if (taken && word[taken - 1] != '}' && is_of_name(word[taken]))
            taken = 0;
        if (taken)
            end += sprintf(end, "%d", port);
        else
            *end++ = *word;
        word += taken ? taken : 1;
    }
    *end = '\0';
    return filled;
}

/*
 * The words after `--` are executed as they are, without a shell that would replace $PORT in them.
 */
static char **fill_in_ports(char **words, int port)
{
    size_t count = 0;
    char **filled;

    while (words[count])
        count++;
    filled = calloc(count + 1, sizeof *filled);
    if (!filled)
        kit_error("no memory for a command: free some");
    for (size_t i = 0; i < count; i++)
        filled[i] = fill_in_port(words[i], port);
    return filled;
}

/* --- servers --- */

void server_start(struct arm *arm, long number)
{
    struct server *server = &servers[number];

    process_at_server_end(note_end);
    *server = (struct server){.words = arm->serve};
    do {
        server->port = find_free_port();
    } while (is_port_taken(server->port));

    arm->words = fill_in_ports(arm->words, server->port);
    server_address(number);
    arms_work_in(arm->folder);
    server->process = process_start_server(arm->serve, (int)number);
}

void server_address(long number)
{
    fail_of_ended();
    snprintf(port_variable, sizeof port_variable, "PORT=%d", servers[number].port);
    putenv(port_variable);
}

/* Each try may take the whole patience: one that is cut short would say nothing of the server. */
static int is_ready(const struct arm *arm, int port)
{
    return arm->ready ? process_is_ready(arm->ready, ready_ms) : is_listening(port);
}

void server_await(const struct arm *arm, long number)
{
    const struct server *server = &servers[number];
    const int64_t deadline = kit_now() + (int64_t)ready_ms * 1000000;

    server_address(number);
    arms_work_in(arm->folder);
    while (!is_ready(arm, server->port)) {
        process_end_children(); /* reaps a server that has ended */
        fail_of_ended();
        if (kit_abandoned())
            kit_leave();
        if (kit_now() >= deadline) {
            at_failure(number);
            kit_error("%s was not ready after %.9g s%s: %s; --patience waits longer",
                      process_quote("--serve ", server->words), (double)ready_ms / 1e3,
                      process_last_words((int)number),
                      arm->ready ? "its --ready command failed each time"
                                 : "nothing listened at $PORT (--ready asks in another way)");
        }
        kit_sleep_until(kit_now() + (int64_t)LOOK_MS * 1000000);
    }
    process_keep_servers();
}

void server_end_all(void)
{
    for (struct server *server = servers; server < servers + MAX_SERVERS; server++)
        server->process = 0;
    process_end_servers();
}
