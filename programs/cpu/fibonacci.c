/*
 * Fibonacci numbers by the definition: fib(n) calls itself for n - 1 and n - 2, and the calls are
 * what is measured.
 *
 *   n=44       which number. Its tree of calls is walked, over and over, in subtrees that take
 *              about 30 us
 *   wrong=1    spoils the answer, so that a test can see the check fail
 */
#include "cpu/opaque.h"
#include "kit.h"

enum { SUBTREE = 21, PROOF = 20 };

/* Neither inlined nor copied for some n: gcc would do several levels of the tree in one call. */
#if defined __has_attribute
#if __has_attribute(noipa)
#define ALONE __attribute__((noipa))
#endif
#endif
#ifndef ALONE
#define ALONE __attribute__((noinline))
#endif

/* After the second call there is something left to do, so that it cannot become a loop. */
ALONE static long fib(long n)
{
    long before, last;

    if (n < 2)
        return n;
    before = fib(n - 1);
    OPAQUE(before);
    last = fib(n - 2);
    OPAQUE(last);
    return before + last;
}

/* How many calls fib(n) takes: 2 fib(n + 1) - 1. */
static unsigned long calls(long n)
{
    unsigned long one = 1, next = 1;

    for (; n > 1; n--) {
        unsigned long sum = one + next + 1;
        one = next;
        next = sum;
    }
    return next;
}

/*
 * The top of the tree, in the same order. Its own calls, one in some twenty thousand, are not
 * counted.
 */
static void walk(long n)
{
    if (n <= SUBTREE) {
        fib(n);
        kit_piece(calls(n));
        return;
    }
    walk(n - 1);
    walk(n - 2);
}

int main(int argc, char **argv)
{
    long n;

    kit_init(argc, argv);
    n = kit_arg_number("n", 44, 2, 60);
    kit_check("fib20", (double)(fib(PROOF) ^ kit_arg_number("wrong", 0, 0, 1)));
    kit_check("calls20", (double)calls(PROOF));
    kit_start();
    for (;;)
        walk(n);
}
