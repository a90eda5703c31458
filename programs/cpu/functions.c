/*
 * Functions of the C library, in double precision.
 *
 *   op=sqrt|pow|exp|log|sin|asin
 *   mode=each|chain    arguments from a table, or (sin and sqrt) each argument is a number of the
 *                      table plus the last result
 *   wrong=1            spoils the answer, so that a test can see the check fail
 *
 * A table has 256 arguments, spread evenly over a range by a generator that is the same everywhere.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cpu/opaque.h"
#include "kit.h"

enum { ARGUMENTS = 256 };

static double first[ARGUMENTS], second[ARGUMENTS]; /* second: the exponents of pow */

/*
 * Results are stored: a sum of them would be saved around each call, a chain that takes longer than
 * some functions.
 */
static double results[ARGUMENTS];

#define EACH(name, call)                          \
    static void name(void)                        \
    {                                             \
        for (int i = 0; i < ARGUMENTS; i++) {     \
            double x = first[i], y = second[i];   \
            OPAQUE_FLOAT(x);                      \
            OPAQUE_FLOAT(y);                      \
            y = call;                             \
            OPAQUE_FLOAT(y);                      \
            results[i] = y;                       \
        }                                         \
    }

EACH(each_sqrt, sqrt(x))
EACH(each_pow, pow(x, y))
EACH(each_exp, exp(x))
EACH(each_log, log(x))
EACH(each_sin, sin(x))
EACH(each_asin, asin(x))

#define CHAIN(name, call)                         \
    static void name(void)                        \
    {                                             \
        double last = 0;                          \
        for (int i = 0; i < ARGUMENTS; i++) {     \
            double x = first[i] + last;           \
            OPAQUE_FLOAT(x);                      \
            last = call;                          \
            OPAQUE_FLOAT(last);                   \
            results[i] = last;                    \
        }                                         \
    }

CHAIN(chain_sqrt, sqrt(x))
CHAIN(chain_sin, sin(x))

/* In a chain the table's range is smaller, so that the arguments' is the same. */
static const struct function {
    const char *name, *mode;
    void (*pass)(void);
    double low, high;
    int passes; /* in a piece: some 40 us */
} functions[] = {
    {"sqrt", "each", each_sqrt, 1, 1000, 128},
    {"sqrt", "chain", chain_sqrt, 1, 968, 32},
    {"pow", "each", each_pow, 0.5, 20, 16},
    {"exp", "each", each_exp, -5, 5, 40},
    {"log", "each", each_log, 0.01, 100, 40},
    {"sin", "each", each_sin, -10, 10, 24},
    {"sin", "chain", chain_sin, -9, 9, 12},
    {"asin", "each", each_asin, -1, 1, 24},
};

static const struct function *choose(const char *name, const char *mode)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0 && strcmp(functions[i].mode, mode) == 0)
            return &functions[i];
    kit_error("no op=%s mode=%s: try sqrt, pow, exp, log, sin or asin, and mode=chain with sqrt "
              "and sin only",
              name, mode);
}

/* A number from 0 to 1 with 24 bits: everywhere the same. */
static double next_number(void)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return (state >> 8) / 16777216.0;
}

static double sum_of_results(void)
{
    double sum = 0;

    for (int i = 0; i < ARGUMENTS; i++)
        sum += results[i];
    return sum;
}

int main(int argc, char **argv)
{
    const struct function *function;
    const char *op;

    kit_init(argc, argv);
    op = kit_arg("op", "sin");
    function = choose(op, kit_arg("mode", "each"));
    for (int i = 0; i < ARGUMENTS; i++) {
        first[i] = function->low + (function->high - function->low) * next_number();
        second[i] = -4 + 8 * next_number();
    }
    function->pass();
    results[0] += 1e-6 * (double)kit_arg_number("wrong", 0, 0, 1);
    kit_check("sum", sum_of_results());
    kit_start();
    for (;;) {
        for (int i = 0; i < function->passes; i++)
            function->pass();
        kit_piece((unsigned long)function->passes * ARGUMENTS);
    }
}
