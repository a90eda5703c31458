/* The processor's counters as a test wants them: of every execution but the first, others had a part of the time. */
#include "command/counters.h"

static int ended;

int counters_begin(pid_t child)
{
    (void)child;
    return 1;
}

int counters_read(struct counters *counted)
{
    *counted = (struct counters){.instructions = 1234567, .cycles = 7654321};
    return 1;
}

int counters_end(struct counters *counted)
{
    counters_read(counted);
    return ended++ == 0;
}
