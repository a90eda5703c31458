/*
 * What else has the processor: reads the clock and does nothing else. Between two reads nothing
 * should happen; what takes longer than gap= ns was spent by somebody else, the kernel, another
 * program, or another guest.
 *
 *     value held PERCENT %            share of the window in such gaps
 *     value longest US us             the longest of them
 *     value gaps N /s                 how many; and how many of at least 10 us, 100 us and 1 ms
 *     value switches N /s             how often another program took the processor (of this
 *                                     program's own switches)
 *     value interrupts N /s           of this processor, from Linux's /proc; not of a program that
 *                                     moved in the meantime
 *     value softirqs N /s
 *
 *     gap=NS (1000)
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "kit.h"

enum { READS = 1 << 20 }; /* between looks at stdin */

static const int64_t lengths[] = {10000, 100000, 1000000}; /* ns */
static const char *const names[] = {"gaps_10us", "gaps_100us", "gaps_1ms"};

static unsigned long gaps, longer[3];
static int64_t held, longest;

/* --- what the kernel counts --- */

struct kernel {
    double interrupts, softirqs;
    long switches;
    int cpu; /* -1 where interrupts are not counted by processor */
};

#ifdef __linux__

/* The number of a processor's column in the first line; -1 if it has none. */
static int column_number(char *line, int cpu)
{
    char name[24], *rest = line;
    int column = 0;

    snprintf(name, sizeof name, "CPU%d", cpu);
    for (char *word; (word = strtok_r(rest, " \n", &rest)); column++)
        if (strcmp(word, name) == 0)
            return column;
    return -1;
}

/* The number in a column after the name of a line; 0 where there is none. */
static double number_in(char *line, int column)
{
    char *rest = line, *word = strtok_r(rest, " \n", &rest);

    for (int i = 0; word && i <= column; i++)
        word = strtok_r(rest, " \n", &rest);
    return word ? strtod(word, NULL) : 0;
}

/* The sum of a processor's column of /proc/interrupts or the like; 0 where it cannot be read. */
static double column_sum(const char *path, int cpu)
{
    FILE *table = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    double sum = 0;
    int column;

    if (!table)
        return 0;
    column = getline(&line, &room, table) > 0 ? column_number(line, cpu) : -1;
    while (column >= 0 && getline(&line, &room, table) > 0)
        sum += number_in(line, column);
    free(line);
    fclose(table);
    return sum;
}

static struct kernel interrupts_now(void)
{
    const int cpu = sched_getcpu();

    return (struct kernel){column_sum("/proc/interrupts", cpu), column_sum("/proc/softirqs", cpu),
                           0, cpu};
}

#else

static struct kernel interrupts_now(void)
{
    return (struct kernel){.cpu = -1};
}

#endif

static struct kernel kernel_now(void)
{
    struct kernel now = interrupts_now();
    struct rusage own;

    getrusage(RUSAGE_SELF, &own);
    now.switches = own.ru_nivcsw;
    return now;
}

/* --- the window --- */

static void note(int64_t gap)
{
    gaps++;
    held += gap;
    if (gap > longest)
        longest = gap;
    for (int i = 0; i < 3; i++)
        longer[i] += gap >= lengths[i];
}

static int64_t watch(int64_t last, int64_t end, int64_t least)
{
    unsigned long reads = 0;

    while (last < end) {
        const int64_t now = kit_now();

        if (now - last > least)
            note(now - last);
        last = now;
        if (++reads % READS == 0) {
            if (kit_abandoned())
                kit_leave();
            last = kit_now();
        }
    }
    return last;
}

static void report(double seconds, struct kernel before, struct kernel after)
{
    kit_value("held", 100 * (double)held / 1e9 / seconds, "%");
    kit_value("longest", (double)longest / 1e3, "us");
    kit_value("gaps", (double)gaps / seconds, "/s");
    for (int i = 0; i < 3; i++)
        kit_value(names[i], (double)longer[i] / seconds, "/s");
    kit_value("switches", (double)(after.switches - before.switches) / seconds, "/s");
    if (before.cpu < 0 || before.cpu != after.cpu)
        return;
    kit_value("interrupts", (after.interrupts - before.interrupts) / seconds, "/s");
    kit_value("softirqs", (after.softirqs - before.softirqs) / seconds, "/s");
}

int main(int argc, char **argv)
{
    struct kit_window window;
    struct kernel before, after;
    int64_t least, began, ended;

    kit_init(argc, argv);
    least = kit_arg_number("gap", 1000, 100, 1000000000);
    window = kit_wait();
    kit_quiet();
    before = kernel_now();
    began = kit_now();
    ended = watch(began, window.first_edge + (window.slices - 1) * window.slice, least);
    after = kernel_now();
    kit_stop();
    kit_slice(began, ended, 1);
    report((double)(ended - began) / 1e9, before, after);
    kit_finish();
}
