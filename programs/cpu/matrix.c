/*
 * A product of two square matrices in double precision, C = A B: plain loops, cut so that compilers
 * make vectors of them and caches hold what is used again.
 *
 *   n=256      rows and columns, a multiple of 16
 *   wrong=1    spoils an entry of the product, so that a test can see the check fail
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

enum { PIECE = 16, PADDING = 8 };

static long n, stride; /* not a power of two: rows would fall upon each other in a cache */
static double *a, *b, *c;

/*
 * Adds to four rows of C what two columns of A and two rows of B make: what is read of B serves for
 * the four.
 */
static inline void add_rows(double *restrict row0, const double *from, const double *restrict upper,
                            const double *restrict lower)
{
    double *restrict row1 = row0 + stride, *restrict row2 = row1 + stride,
                     *restrict row3 = row2 + stride;
    const double u0 = from[0], u1 = from[stride], u2 = from[2 * stride], u3 = from[3 * stride];
    const double l0 = from[1], l1 = from[stride + 1], l2 = from[2 * stride + 1],
                 l3 = from[3 * stride + 1];

    for (long j = 0; j < n; j++) {
        row0[j] += u0 * upper[j] + l0 * lower[j];
        row1[j] += u1 * upper[j] + l1 * lower[j];
        row2[j] += u2 * upper[j] + l2 * lower[j];
        row3[j] += u3 * upper[j] + l3 * lower[j];
    }
}

/* PIECE rows of C. */
static void multiply(long first)
{
    memset(c + first * stride, 0, (size_t)(PIECE * stride) * sizeof *c);
    for (long i = first; i < first + PIECE; i += 4)
        for (long k = 0; k < n; k += 2)
            add_rows(c + i * stride, a + i * stride + k, b + k * stride, b + (k + 1) * stride);
}

static double times(const double *row, const double *vector)
{
    double sum = 0;

    for (long i = 0; i < n; i++)
        sum += row[i] * vector[i];
    return sum;
}

/*
 * How far C v is from A (B v), for some v: all entries of C take part. A sum, which a NaN spoils
 * too.
 */
static double error(const double *v, double *bv)
{
    double off = 0, all = 0;

    for (long i = 0; i < n; i++)
        bv[i] = times(b + i * stride, v);
    for (long i = 0; i < n; i++) {
        double right = times(a + i * stride, bv);
        off += fabs(times(c + i * stride, v) - right);
        all += right;
    }
    return off / all;
}

/* Numbers from 0 to 1, the same everywhere. */
static double *random_numbers(long number)
{
    static uint32_t state = 1;
    double *numbers = aligned_alloc(64, (size_t)number * sizeof *numbers);

    if (!numbers)
        kit_error("no memory for %ld numbers (%s): try a smaller n=", number, strerror(errno));
    for (long i = 0; i < number; i++) {
        state = state * 1664525 + 1013904223;
        numbers[i] = (state >> 8) / 16777216.0;
    }
    return numbers;
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    n = kit_arg_number("n", 256, 16, 4096);
    if (n % PIECE)
        kit_error("n=%ld is not a multiple of %d", n, PIECE);
    stride = n + PADDING;
    a = random_numbers(n * stride);
    b = random_numbers(n * stride);
    c = random_numbers(n * stride);
    for (long i = 0; i < n; i += PIECE)
        multiply(i);
    c[0] += (double)kit_arg_number("wrong", 0, 0, 1);
    kit_check("error", error(random_numbers(stride), random_numbers(stride)));
    kit_start();
    for (long i = 0;; i = (i + PIECE) % n) {
        multiply(i);
        kit_piece((unsigned long)(2 * PIECE * n * n));
    }
}
