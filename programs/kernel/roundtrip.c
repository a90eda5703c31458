/*
 * Round trips of a small message between two threads that wait for each other in the kernel. One
 * count is a round trip, and each is timed. Where the two run is the scheduler's choice; cpu=N puts
 * both on one processor, cpu=A,B on two.
 *
 *   over=unix|tcp|udp   a pair of Unix stream sockets, or by the loopback device a TCP connection
 *                       with TCP_NODELAY, or UDP
 *   size=BYTES          of a message, each way (1)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "kit.h"
#include "thread/partner.h"

enum {
    MAX_MESSAGE_BYTES = 1 << 16,
    PROOFS = 300, /* so many that the first byte, which each raises, wraps around */
};

static int near, far;
static size_t size;
static unsigned char sent[MAX_MESSAGE_BYTES], answered[MAX_MESSAGE_BYTES];

/* True if all of the message was sent. */
static int send_all(int socket, const unsigned char *message)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = send(socket, message + done, size - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* True if all of the message came. */
static int receive_all(int socket, unsigned char *message)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = recv(socket, message + done, size - done, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        done += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* Sends back what it gets, with one added to its first byte. */
static void answer(void)
{
    static unsigned char message[MAX_MESSAGE_BYTES];

    while (receive_all(far, message)) {
        message[0]++;
        if (!send_all(far, message))
            break;
    }
    shutdown(far, SHUT_RDWR);
}

/* Sends a message and waits for the answer; true if that is right. */
static int round_trip(void)
{
    sent[0]++;
    if (!send_all(near, sent) || !receive_all(near, answered))
        kit_error("the connection broke after %lu round trips (%s)", kit_count, strerror(errno));
    return answered[0] == (unsigned char)(sent[0] + 1) &&
           memcmp(answered + 1, sent + 1, size - 1) == 0;
}

static void connect_unix(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        kit_error("cannot make a pair of sockets (%s): is `ulimit -n` too low?", strerror(errno));
    near = ends[0];
    far = ends[1];
}

static void connect_tcp(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    const int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || near < 0)
        kit_skip("a TCP socket was refused (%s)", strerror(errno));
    if (bind(listener, (struct sockaddr *)&here, length) != 0 || listen(listener, 1) != 0
        || getsockname(listener, (struct sockaddr *)&here, &length) != 0
        || connect(near, (struct sockaddr *)&here, length) != 0)
        kit_skip("the loopback device takes no connection (%s): try `ip link set lo up`",
                 strerror(errno));
    far = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (far < 0 || setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
        || setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        kit_error("cannot accept a connection from myself (%s)", strerror(errno));
    close(listener);
}

static int make_udp_socket(struct sockaddr_in *here)
{
    socklen_t length = sizeof *here;
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (made < 0)
        kit_skip("a UDP socket was refused (%s)", strerror(errno));
    if (bind(made, (struct sockaddr *)here, length) != 0 ||
        getsockname(made, (struct sockaddr *)here, &length) != 0)
        kit_skip("the loopback device takes no UDP socket (%s): try `ip link set lo up`",
                 strerror(errno));
    return made;
}

/* A message that is lost ends the program instead of a wait without end. */
static void connect_udp(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                       there = here;
    const struct timeval patience = {.tv_sec = 1};

    near = make_udp_socket(&here);
    far = make_udp_socket(&there);
    if (connect(near, (struct sockaddr *)&there, sizeof there) != 0
        || connect(far, (struct sockaddr *)&here, sizeof here) != 0
        || setsockopt(near, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        kit_error("cannot connect two UDP sockets of my own (%s)", strerror(errno));
}

int main(int argc, char **argv)
{
    const char *over;
    int is_right = 1;

    kit_init(argc, argv);
    over = kit_arg("over", "unix");
    size = (size_t)kit_arg_number("size", 1, 1, MAX_MESSAGE_BYTES);
    if (strcmp(over, "unix") == 0)
        connect_unix();
    else if (strcmp(over, "tcp") == 0)
        connect_tcp();
    else if (strcmp(over, "udp") == 0)
        connect_udp();
    else
        kit_error("unknown over=%s: try unix, tcp or udp", over);

    memset(sent, 'u', sizeof sent);
    partner_start(answer);
    for (int i = 0; i < PROOFS; i++)
        is_right &= round_trip();
    kit_check("answered", is_right);

    kit_start();
    for (;;) {
        int64_t start = kit_now();
        if (!round_trip())
            kit_error("round trip %lu brought a wrong answer", kit_count);
        kit_time(kit_now() - start);
        kit_count++;
    }
}
