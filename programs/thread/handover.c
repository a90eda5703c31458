/*
 * Two threads hand a token to and fro, each asleep in the kernel until it comes. One count is a
 * hand-over, two are a round trip, and each round trip is timed. Where the two run is the
 * scheduler's choice; cpu=N puts both on one processor, cpu=A,B on two.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit.h"
#include "thread/partner.h"

enum { PROOFS = 100 };

/* The token: even while the first thread has it, and one more with every hand-over. */
static uint32_t token __attribute__((aligned(128)));

/*
 * The other sleeps or is about to, and then need not: the kernel looks at the word again before it
 * lets it sleep.
 */
static void pass(uint32_t had)
{
    __atomic_store_n(&token, had + 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &token, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Returns the token once it differs from what the caller passed on. */
static uint32_t wait_while(uint32_t passed)
{
    uint32_t now;

    while ((now = __atomic_load_n(&token, __ATOMIC_SEQ_CST)) == passed)
        syscall(SYS_futex, &token, FUTEX_WAIT_PRIVATE, passed, NULL, NULL, 0);
    return now;
}

static void answer(void)
{
    for (uint32_t had = 1;; had += 2) {
        wait_while(had - 1);
        pass(had);
    }
}

static uint32_t round_trip(uint32_t had)
{
    uint32_t now;

    pass(had);
    now = wait_while(had + 1);
    if (now != had + 2)
        kit_error("the token came back as %u and should be %u", now, had + 2);
    return now;
}

int main(int argc, char **argv)
{
    uint32_t had = 0;

    kit_init(argc, argv);
    partner_start(answer);
    for (int i = 0; i < PROOFS; i++)
        had = round_trip(had);
    kit_check("passed", had);
    kit_start();
    for (;;) {
        int64_t start = kit_now();
        had = round_trip(had);
        kit_time(kit_now() - start);
        kit_count += 2;
    }
}
