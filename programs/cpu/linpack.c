/*
 * Linpack: solves a dense system of linear equations by LU factorisation with partial pivoting, in
 * double precision. One count is a floating point operation; by definition a solution takes 2/3 n^3
 * + 2 n^2 of them.
 *
 *   n=200      equations
 *   wrong=1    spoils every solution, so that a test can see the check fail
 *
 * Every solution is checked: |A x - b| / (|A| |x| n eps), in maximum norms, is some hundredth, and
 * the worst is reported.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

enum { MAX_EQUATIONS = 1000 };

static long n, stride;
static double *a, *lu; /* the matrix, and what becomes of it */
static double b[MAX_EQUATIONS], x[MAX_EQUATIONS];
static double norm; /* of A */
static double worst, wrong;

/* Of unsigned numbers, compared as integers: so NaN, which -ffast-math ignores, is the greatest. */
static double greater(double one, double other)
{
    uint64_t one_bits, other_bits;

    memcpy(&one_bits, &one, sizeof one);
    memcpy(&other_bits, &other, sizeof other);
    return one_bits > other_bits ? one : other;
}

static double times(const double *row, const double *vector, long length)
{
    double sum = 0;

    for (long i = 0; i < length; i++)
        sum += row[i] * vector[i];
    return sum;
}

static void swap_rows(double *one, double *other)
{
    for (long i = 0; i < n; i++) {
        double kept = one[i];
        one[i] = other[i];
        other[i] = kept;
    }
}

/*
 * Brings the greatest element of the rest of a column to the top, with its row and its right-hand
 * side.
 */
static void pivot(long k)
{
    long best = k;
    double kept = x[k];

    for (long i = k + 1; i < n; i++)
        if (fabs(lu[i * stride + k]) > fabs(lu[best * stride + k]))
            best = i;
    if (best == k)
        return;
    swap_rows(lu + k * stride, lu + best * stride);
    x[k] = x[best];
    x[best] = kept;
}

static void subtract(double *restrict row, double factor, const double *restrict other, long length)
{
    for (long i = 0; i < length; i++)
        row[i] -= factor * other[i];
}

static void factorise(void)
{
    for (long k = 0; k < n; k++) {
        const double *top = lu + k * stride + k;
        double inverse;

        pivot(k);
        inverse = 1 / top[0];
        for (long i = k + 1; i < n; i++) {
            double *row = lu + i * stride + k;
            row[0] *= inverse;
            subtract(row + 1, row[0], top + 1, n - k - 1);
        }
    }
}

static void solve(void)
{
    memcpy(lu, a, (size_t)(n * stride) * sizeof *lu);
    memcpy(x, b, (size_t)n * sizeof *x);
    factorise();
    for (long i = 1; i < n; i++)
        x[i] -= times(lu + i * stride, x, i);
    for (long i = n - 1; i >= 0; i--)
        x[i] = (x[i] - times(lu + i * stride + i + 1, x + i + 1, n - i - 1)) / lu[i * stride + i];
    x[0] += wrong;
}

static void check(void)
{
    double off = 0, size = 0;

    for (long i = 0; i < n; i++) {
        off = greater(off, fabs(times(a + i * stride, x, n) - b[i]));
        size = greater(size, fabs(x[i]));
    }
    worst = greater(worst, off / (norm * size * (double)n * DBL_EPSILON));
}

static void report(int finished)
{
    if (finished)
        kit_report("check residual %.6g\n", worst);
}

/* Numbers from -1 to 1, the same everywhere; b are the sums of rows, so that all of x is 1. */
static void prepare(void)
{
    const size_t size = (size_t)(n * stride) * sizeof *a;
    uint32_t state = 1;

    a = aligned_alloc(64, size);
    lu = aligned_alloc(64, size);
    if (!a || !lu)
        kit_error("no memory for a matrix of %zu bytes (%s): try a smaller n=", size,
                  strerror(errno));
    memset(a, 0, size);
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = 0; j < n; j++) {
            state = state * 1664525 + 1013904223;
            a[i * stride + j] = (double)(state >> 8) / 8388608.0 - 1;
            b[i] += a[i * stride + j];
            sum += fabs(a[i * stride + j]);
        }
        norm = greater(norm, sum);
    }
}

int main(int argc, char **argv)
{
    unsigned long operations;

    kit_init(argc, argv);
    n = kit_arg_number("n", 200, 10, MAX_EQUATIONS);
    wrong = 1e-6 * (double)kit_arg_number("wrong", 0, 0, 1);
    stride = (n + 15) / 8 * 8; /* rows begin on a cache line, and not all on the same ones */
    operations = (unsigned long)(2 * n * n * n / 3 + 2 * n * n);
    prepare();
    kit_at_end(report);
    kit_start();
    for (;;) {
        solve();
        check();
        kit_piece(operations);
    }
}
