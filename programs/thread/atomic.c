/*
 * Atomic additions by threads. One count is an addition of one, whose result nobody waits for
 * beyond what the processor makes them wait.
 *
 *   mode=shared   all to one word
 *   mode=apart    each thread to a word in a cache line of its own
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "thread/tally.h"
#include "thread/team.h"

enum {
    PIECE = 10000, /* additions apart: some 20 us */
    ADDITIONS_AT_ONCE = 500,     /* additions that travel take up to 100 times as long */
};

struct word {
    unsigned long sum;
} __attribute__((aligned(128)));

static struct word *words;

static void add(unsigned long *sum, int times)
{
    for (int i = 0; i < times; i++)
        __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
}

static void work_shared(struct kit_thread *me)
{
    tally_join(me);
    for (;;) {
        add(&words[0].sum, ADDITIONS_AT_ONCE);
        me->count += ADDITIONS_AT_ONCE;
    }
}

static void work_apart(struct kit_thread *me)
{
    tally_join(me);
    for (;;) {
        add(&words[me->number].sum, PIECE);
        kit_piece(PIECE);
    }
}

static unsigned long added(void)
{
    unsigned long sum = 0;

    for (int i = 0; i < team_number(); i++)
        sum += __atomic_load_n(&words[i].sum, __ATOMIC_SEQ_CST);
    return sum;
}

static void report(int finished)
{
    if (finished)
        tally_check("sum", added, (unsigned long)team_number() * PIECE);
    if (finished)
        tally_fairness();
}

int main(int argc, char **argv)
{
    const char *mode;

    kit_init(argc, argv);
    mode = kit_arg("mode", "shared");
    words = mmap(NULL, (size_t)team_number() * sizeof *words, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        kit_error("no memory for %d words (%s)", team_number(), strerror(errno));
    kit_at_end(report);
    if (strcmp(mode, "shared") == 0)
        team_start(work_shared);
    if (strcmp(mode, "apart") == 0)
        team_start(work_apart);
    kit_error("unknown mode=%s: try shared or apart", mode);
}
