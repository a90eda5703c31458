/*
 * Hogs: count=N processes (0, the default, is one for each CPU that is online) that never sleep, or
 * work for duty=PERCENT of the time. One count is a chain of multiplications of always the same
 * length, about 20 us at 3 GHz, in registers only.
 */
#include "load/crew.h"

enum { STEPS = 16000 };

/* The empty instruction keeps the compiler from shortening the chain. */
static uint64_t chain(uint64_t x)
{
    for (int i = 0; i < STEPS; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static void burn(long number)
{
    uint64_t x = (uint64_t)number;

    crew_go();
    for (;;) {
        x = chain(x);
        ++*crew_count;
        crew_rest();
    }
}

int main(int argc, char **argv)
{
    long hogs;

    kit_init(argc, argv);
    hogs = crew_size("count");
    crew_take_duty();
    crew_open(hogs);
    for (long i = 0; i < hogs; i++)
        crew_hire(burn, i);
    crew_run();
}
