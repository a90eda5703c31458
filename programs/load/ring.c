/*
 * A ring of processes that hand tokens on: each sleeps until it gets one, wakes the next and sleeps
 * again. One count is a hop.
 *
 *   count=N            processes (0: one for each CPU, but at least 2)
 *   kind=futex|pipe    how they wake each other
 *   tokens=N           how many go round: as many processes can be awake at once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/crew.h"

/* The tokens that lie in front of a process. Only it takes some away. */
struct seat {
    uint32_t tokens;
    char rest[124];
};

static long seats;
static struct seat *ring;
static int (*pipes)[2];

static void take(struct seat *seat)
{
    while (__atomic_load_n(&seat->tokens, __ATOMIC_SEQ_CST) == 0)
        crew_futex_wait(&seat->tokens, 0, 0);
    __atomic_sub_fetch(&seat->tokens, 1, __ATOMIC_SEQ_CST);
}

/* If a token is there already, its owner has been woken. */
static void hand_to(struct seat *seat)
{
    if (__atomic_fetch_add(&seat->tokens, 1, __ATOMIC_SEQ_CST) == 0)
        crew_futex_wake(&seat->tokens, 1);
}

static void sit(long number)
{
    struct seat *own = &ring[number], *next = &ring[(number + 1) % seats];

    crew_go();
    for (;;) {
        take(own);
        ++*crew_count;
        hand_to(next);
    }
}

static void sit_with_pipes(long number)
{
    int own = pipes[number][0], next = pipes[(number + 1) % seats][1];
    char token;

    crew_go();
    for (;;) {
        if (read(own, &token, 1) != 1)
            crew_fail("cannot read the pipe of process %ld of the ring (%s)", number,
                      strerror(errno));
        ++*crew_count;
        if (write(next, &token, 1) != 1)
            crew_fail("cannot write into the pipe after process %ld of the ring (%s)", number,
                      strerror(errno));
    }
}

static void lay_tokens(long tokens)
{
    size_t size = (size_t)seats * sizeof *ring;

    ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        kit_error("cannot share %zu bytes (%s): try a smaller count=", size, strerror(errno));
    for (long i = 0; i < tokens; i++)
        ring[i % seats].tokens++;
}

static void lay_pipes(long tokens)
{
    kit_raise_file_limit();
    pipes = calloc((size_t)seats, sizeof *pipes);
    for (long i = 0; i < seats; i++)
        if (!pipes || pipe(pipes[i]) != 0)
            kit_skip("pipe %ld of %ld was refused (%s): try `ulimit -n 20000` or a smaller count=",
                     i + 1, seats, strerror(errno));
    for (long i = 0; i < tokens; i++)
        if (write(pipes[i % seats][1], "t", 1) != 1)
            kit_error("cannot put %ld tokens into %ld pipes (%s): try fewer", tokens, seats,
                      strerror(errno));
}

int main(int argc, char **argv)
{
    const char *kind;
    long tokens;

    kit_init(argc, argv);
    seats = crew_size("count");
    seats = seats < 2 ? 2 : seats;
    tokens = kit_arg_number("tokens", 1, 1, 4096);
    kind = kit_arg("kind", "futex");
    if (strcmp(kind, "futex") == 0)
        lay_tokens(tokens);
    else if (strcmp(kind, "pipe") == 0)
        lay_pipes(tokens);
    else
        kit_error("unknown kind=%s: try futex or pipe", kind);
    crew_open(seats);
    for (long i = 0; i < seats; i++)
        crew_hire(pipes ? sit_with_pipes : sit, i);
    crew_run();
}
