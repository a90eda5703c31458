/*
 * A world without time, in place of programs/interactive/world.c: the clock goes only where frames are delayed or worked on.
 *
 *     delay=US            every wake-up comes so much late
 *     stall=US at=SLOT    and that slot's so much later still; with within=1 its work is held up instead
 */
#include "interactive/world.h"

#include <stddef.h>

#include "kit.h"

static int64_t now, delay, stall;
static long at, within, current;

void world_prepare(int64_t period)
{
    (void)period;
    kit_arg("speed", NULL);
    delay = kit_arg_number("delay", 0, 0, 100000000) * 1000;
    stall = kit_arg_number("stall", 0, 0, 100000000) * 1000;
    at = kit_arg_number("at", -1, 0, 100000000);
    within = kit_arg_number("within", 0, 0, 1);
    now = kit_now();
}

int world_has_stamps(void)
{
    return 0;
}

void world_begin(int64_t base)
{
    now = base;
}

int64_t world_now(void)
{
    return now;
}

int64_t world_wait(long slot, int64_t planned, int64_t *stamp)
{
    current = slot;
    if (now < planned)
        now = planned + delay;
    if (slot == at && !within)
        now += stall;
    *stamp = planned;
    return now;
}

void world_rest(int64_t until)
{
    now = until;
}

void world_work(int64_t ns)
{
    now += ns;
    if (current == at && within)
        now += stall;
}

double world_drift(void)
{
    return 0;
}

double world_speed(void)
{
    return 1e6;
}
