/*
 * A client and a server of one machine, two processes that speak TCP by the loopback device, on a
 * port that the kernel chose.
 *
 *   kind=round-trips   a request of size= bytes and an answer as long (64): one count, timed
 *   kind=stream        the server sends blocks of 64 KiB; the counts are bytes received
 *   kind=connect       a connection is made, accepted, and closed by both: one count, timed
 *
 * Where the two run is the scheduler's choice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "load/crew.h"

enum {
    BLOCK = 64 << 10,
    WORDS = BLOCK / sizeof(uint64_t),
    PROOFS = 300, /* of round trips: the first byte comes round */
    WAITING = 16,
};

#define END_LIMIT INT64_C(1000000000)

/* What client and server share. */
static struct board {
    volatile unsigned long done; /* blocks sent, connections accepted */
    volatile int stop;
} *board;

static struct sockaddr_in place = {.sin_family = AF_INET};
static int listener = -1, line = -1;
static size_t size;
static uint64_t block[WORDS];
static unsigned char sent[BLOCK];

/* Both return whether all of it went through. */
static int send_all(int to, const void *message, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = send(to, (const char *)message + done, length - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

static int receive_all(int at, void *message, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = recv(at, (char *)message + done, length - done, MSG_WAITALL);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* --- the server --- */

static int take(void)
{
    const int on = 1;
    int taken = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (taken < 0 || setsockopt(taken, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        _exit(1);
    return taken;
}

/* Sends back what it gets, with one added to its first byte. */
static void serve_round_trips(void)
{
    int client = take();
    unsigned char *message = (unsigned char *)block;

    while (receive_all(client, message, size)) {
        message[0]++;
        if (!send_all(client, message, size))
            break;
    }
}

/*
 * Each block has its number at both ends. A block after the last one that counts marks the end for
 * the client.
 */
static void serve_stream(void)
{
    int client = take();

    for (int last = 0; !last; board->done++) {
        last = board->stop;
        block[0] = block[WORDS - 1] = board->done;
        if (!send_all(client, block, BLOCK))
            return;
    }
}

static void serve_connect(void)
{
    for (;;) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            return;
        board->done++;
        close(client);
    }
}

/* --- the client --- */

static void reach(void)
{
    if (connect(line, (struct sockaddr *)&place, sizeof place) != 0)
        kit_skip("the loopback device takes no connection (%s): try `ip link set lo up`",
                 strerror(errno));
}

static void new_line(void)
{
    line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0)
        kit_skip("a TCP socket was refused (%s)", strerror(errno));
}

static void connect_for_good(void)
{
    const int on = 1;

    new_line();
    reach();
    if (setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        kit_error("cannot have messages sent at once (%s)", strerror(errno));
}

static int round_trip(void)
{
    sent[0]++;
    if (!send_all(line, sent, size) || !receive_all(line, block, size))
        kit_error("the connection broke after %lu round trips (%s)", kit_count, strerror(errno));
    return *(unsigned char *)block == (unsigned char)(sent[0] + 1)
           && memcmp((unsigned char *)block + 1, sent + 1, size - 1) == 0;
}

static void prepare_round_trips(void)
{
    int right = 1;

    connect_for_good();
    memset(sent, 'u', sizeof sent);
    for (int i = 0; i < PROOFS; i++)
        right &= round_trip();
    kit_check("answered", right);
}

static void trip(void)
{
    int64_t start = kit_now();

    if (!round_trip())
        kit_error("round trip %lu brought a wrong answer", kit_count);
    kit_time(kit_now() - start);
    kit_count++;
}

static void receive_block(void)
{
    static uint64_t next;

    if (!receive_all(line, block, BLOCK))
        kit_error("the stream broke after %lu bytes (%s)", kit_count, strerror(errno));
    if (block[0] != next || block[WORDS - 1] != next)
        kit_error("block %llu of the stream is not the one that was sent",
                  (unsigned long long)next);
    next++;
    kit_count += BLOCK;
}

static void prepare_stream(void)
{
    connect_for_good();
    receive_block();
    kit_count = 0;
}

/*
 * The rest of the stream; its last word is the number of the last block, so none was lost on the
 * way.
 */
static void end_stream(void)
{
    const struct timeval patience = {.tv_sec = 2};
    static unsigned char rest[BLOCK + sizeof(uint64_t)];
    uint64_t last = UINT64_MAX;
    size_t kept = 0;
    ssize_t n;

    board->stop = 1;
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while ((n = recv(line, rest + kept, BLOCK, 0)) > 0) {
        kept += (size_t)n;
        if (kept > sizeof last) {
            memmove(rest, rest + kept - sizeof last, sizeof last);
            kept = sizeof last;
        }
    }
    if (n == 0 && kept == sizeof last)
        memcpy(&last, rest, sizeof last);
    kit_check("arrived", last + 1 == board->done);
}

/*
 * One that begins when the last has been closed by both. Closing it by a reset leaves no port
 * behind in TIME_WAIT.
 */
static void connect_once(void)
{
    const struct linger reset = {.l_onoff = 1};
    char nothing;

    new_line();
    reach();
    if (recv(line, &nothing, 1, 0) != 0)
        kit_error("connection %lu was not closed by the server (%s)", kit_count, strerror(errno));
    if (setsockopt(line, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) != 0 || close(line) != 0)
        kit_error("cannot close connection %lu (%s)", kit_count, strerror(errno));
}

static void connection(void)
{
    int64_t start = kit_now();

    connect_once();
    kit_time(kit_now() - start);
    kit_count++;
}

static void prepare_connect(void)
{
    connect_once();
    board->done--;
}

/* The one that the end of the window interrupted may have been accepted. */
static void end_connect(void)
{
    unsigned long more = board->done - kit_count;

    kit_check("accepted", more <= 1);
}

static void nothing(void)
{
}

/* --- both --- */

static const struct kind {
    const char *name;
    void (*serve)(void);   /* in the server; it ends when this returns */
    void (*prepare)(void); /* these in the client */
    void (*work)(void);
    void (*end)(void);
} kinds[] = {
    {"round-trips", serve_round_trips, prepare_round_trips, trip, nothing},
    {"stream", serve_stream, prepare_stream, receive_block, end_stream},
    {"connect", serve_connect, prepare_connect, connection, end_connect},
};

static const struct kind *kind;

static void choose(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            kind = &kinds[i];
    if (!kind)
        kit_error("unknown kind=%s: try round-trips, stream or connect", name);
}

static void clean(int finished)
{
    if (finished)
        kind->end();
    crew_reap(END_LIMIT);
}

static void listen_here(void)
{
    socklen_t length = sizeof place;

    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        kit_skip("a TCP socket was refused (%s)", strerror(errno));
    if (bind(listener, (struct sockaddr *)&place, length) != 0 || listen(listener, WAITING) != 0
        || getsockname(listener, (struct sockaddr *)&place, &length) != 0)
        kit_skip("the loopback device takes no connection (%s): try `ip link set lo up`",
                 strerror(errno));
}

static void start_server(void)
{
    const long parent = getpid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t child = fork();

    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (child == 0) {
        crew_die_with(parent, SIGKILL);
        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
            _exit(1);
        kind->serve();
        _exit(0);
    }
    close(null);
    close(listener);
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    choose(kit_arg("kind", "round-trips"));
    size = (size_t)kit_arg_number("size", 64, 1, BLOCK);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        kit_error("cannot share a page with the server (%s)", strerror(errno));
    listen_here();
    crew_adopt();
    start_server();
    kit_at_end(clean);
    kind->prepare();
    kit_start();
    for (;;)
        kind->work();
}
