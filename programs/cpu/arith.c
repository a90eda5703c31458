/*
 * Arithmetic by type: one count is steps=100 steps of a multiplication, a subtraction, a division
 * and an addition, in the type `datum` (with -Darithoh: the same loop without them, the overhead of
 * the others).
 *
 * The result is not used, and a compiler that notices computes nothing. So each step's number
 * passes through an empty assembler statement that says it may have changed: the steps cannot be
 * folded, shared or dropped.
 */
#include "kit.h"

#ifndef datum
#define datum double
#endif
#ifndef STORAGE
#define STORAGE /* or `register` */
#endif

static volatile datum sink;

static inline int opaque(int number)
{
    __asm__ volatile("" : "+r"(number));
    return number;
}

static void work(int steps)
{
    STORAGE int i, last = steps + 1;
#ifdef arithoh
    for (i = 2; i <= last; i++)
        i = opaque(i);
    sink = i - 1;
#else
    STORAGE datum x = 0, y = 0, z = 0;

    for (i = 2; i <= last; i++) {
        x = opaque(i);
        y = x * x;
        z += y / (y - 1);
    }
    sink = x + y + z;
#endif
}

int main(int argc, char **argv)
{
    int steps;

    kit_init(argc, argv);
    /* More than 180 steps do not fit a short. */
    steps = (int)kit_arg_number("steps", 100, 1, 180);
    work(100);
    kit_check("sum", sink);
    kit_start();
    for (;;) {
        work(steps);
        kit_count++;
    }
}
