/*
 * Double-precision Whetstone: eight kinds of loop in the proportions of scientific programs of
 * about 1970. The score, MWIPS, is the number of Whetstone instructions per microsecond; the time
 * of module 1, which does ten times the original's work, counts one tenth.
 *
 * The program finds out how long a pass takes (calibrate=MS: how long that takes at least), then
 * runs as many at a time as take about a hundredth of the window, until it is over: all copies end
 * together, whatever their speeds.
 */
#include <math.h>

#include "kit.h"

enum { MODULES = 8, PROOF = 1 };

#define T 0.49999975
#define T1 0.50000025
#define T2 2.0

/* How often each module goes round in one pass. */
enum {
    N1 = 12000, N2 = 1400, N3 = 34500, N4 = 21000, N5 = 3200, N6 = 89900, N7 = 61600, N8 = 9300
};

static double answers[MODULES];

/* In one array: modules 1 and 2 and module 7 go on with what is there. */
static double e[4];

/* 1 to 8: one function each, called with the number of passes. */

static void array_elements(long passes)
{
    double t = T;

    e[0] = 1.0;
    e[1] = e[2] = e[3] = -1.0;
    for (long pass = 0; pass < passes; pass++) {
        for (long i = 0; i < N1; i++) {
            e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
            e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
            e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
            e[3] = (-e[0] + e[1] + e[2] + e[3]) * t;
        }
        t = 1.0 - t;
    }
    answers[0] = e[3];
}

static void array_parameter_step(double *a, double t)
{
    for (int j = 0; j < 6; j++) {
        a[0] = (a[0] + a[1] + a[2] - a[3]) * t;
        a[1] = (a[0] + a[1] - a[2] + a[3]) * t;
        a[2] = (a[0] - a[1] + a[2] + a[3]) * t;
        a[3] = (-a[0] + a[1] + a[2] + a[3]) / T2;
    }
}

static void array_parameter(long passes)
{
    double t = T;

    for (long pass = 0; pass < passes; pass++) {
        for (long i = 0; i < N2; i++)
            array_parameter_step(e, t);
        t = 1.0 - t;
    }
    answers[1] = e[3];
}

/*
 * Branches written out: gcc makes three dependent selections of conditional expressions, and one of
 * these.
 */
static void branches(long passes)
{
    long j = 1;

    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < N3; i++) {
            if (j == 1)
                j = 2;
            else
                j = 3;
            if (j > 2)
                j = 0;
            else
                j = 1;
            if (j < 1)
                j = 1;
            else
                j = 0;
        }
    answers[2] = (double)j;
}

static void integers(long passes)
{
    long j = 1, k = 2, l = 3;

    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < N4; i++) {
            j = j * (k - j) * (l - k);
            k = l * k - (l - j) * k;
            l = (l - k) * (k + j);
            e[l - 2] = (double)(j + k + l);
            e[k - 2] = (double)(j * k * l);
        }
    answers[3] = e[0] + e[1];
}

static void trigonometry(long passes)
{
    double x = 0.5, y = 0.5, t = T;

    for (long pass = 0; pass < passes; pass++) {
        for (long i = 1; i < N5; i++) {
            x = t * atan(T2 * sin(x) * cos(x) / (cos(x + y) + cos(x - y) - 1.0));
            y = t * atan(T2 * sin(y) * cos(y) / (cos(x + y) + cos(x - y) - 1.0));
        }
        t = 1.0 - t;
    }
    answers[4] = y;
}

static void procedure_step(double *x, double *y, double *z)
{
    *x = *y;
    *y = *z;
    *x = T * (*x + *y);
    *y = T1 * (*x + *y);
    *z = (*x + *y) / T2;
}

static void procedures(long passes)
{
    double x = 1.0, y = 1.0, z = 1.0;

    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < N6; i++)
            procedure_step(&x, &y, &z);
    answers[5] = z;
}

static void reference_step(double *a, long j, long k, long l)
{
    a[j] = a[k];
    a[k] = a[l];
    a[l] = a[j];
}

static void references(long passes)
{
    e[0] = 1.0;
    e[1] = 2.0;
    e[2] = 3.0;
    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < N7; i++)
            reference_step(e, 0, 1, 2);
    answers[6] = e[2];
}

static void functions(long passes)
{
    double x = 0.75;

    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < N8; i++)
            x = sqrt(exp(log(x) / T1));
    answers[7] = x;
}

/* Runs all modules and returns the time that counts, in ns. */
static double run(long passes)
{
    static void (*const modules[MODULES])(long) = {array_elements, array_parameter, branches,
                                                   integers,       trigonometry,    procedures,
                                                   references,     functions};
    int64_t before = kit_now(), now;
    double time = 0;

    for (int i = 0; i < MODULES; i++) {
        modules[i](passes);
        now = kit_now();
        time += (double)(now - before) / (i == 0 ? 10 : 1);
        before = now;
    }
    return time;
}

/*
 * After one pass, whatever the window: the values that are printed for this benchmark everywhere.
 */
static void prove(void)
{
    static const char *const names[MODULES] = {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"};

    run(PROOF);
    for (int i = 0; i < MODULES; i++)
        kit_check(names[i], answers[i]);
}

/* How long a pass takes, in ns by the clock: five times as many passes until that takes `least`. */
static double calibrate(int64_t least)
{
    long passes = 1;
    int64_t before, took;

    for (;; passes *= 5) {
        before = kit_now();
        run(passes);
        took = kit_now() - before;
        if (took >= least)
            return (double)took / (double)passes;
    }
}

int main(int argc, char **argv)
{
    struct kit_window window;
    double pass, time = 0;
    int64_t start, end;
    long at_once, passes = 0;

    kit_init(argc, argv);
    pass = calibrate(kit_arg_number("calibrate", 500, 1, 60000) * 1000000);
    prove();
    window = kit_wait();
    while (window.slices == 0) {
        run(10);
        kit_count += 10;
    }
    end = window.first_edge + window.slice * (window.slices - 1);
    at_once = (long)((double)(window.slice * window.slices) / 100 / pass);
    at_once = at_once > 0 ? at_once : 1;
    start = kit_now();
    do {
        time += run(at_once);
        passes += at_once;
    } while (kit_now() < end);
    kit_slice(start, kit_now(), (unsigned long)passes);
    kit_value("mwips", 10.0 * (double)passes / (time / 1e9), "MWIPS");
    kit_finish();
}
