/*
 * Operations of the kernel, one after the other: op=NAME of the tables in files.c, descriptors.c
 * and processes.c. One count is one operation. LEBench (Ren and others, SOSP 2019) and lmbench
 * (McVoy and Staelin, USENIX 1996) time them one by one: a round prepares, does the operation some
 * times by the clock, and clears up; `value time` is the mean of all by that clock.
 *
 *   size=BYTES    of a file, a mapping or a message; created files of 1 byte are empty instead
 *   unit=ns|us    of the mean
 *   number=N      descriptors that are asked for, all of them ready; pages that a fork copies, each
 *                 mapped by itself
 *   pieces=1      no round and no mean, but pieces of work, the best of which is undisturbed; for
 *                 what needs no clearing up. Copies may be threads, each with descriptors, files
 *                 and mappings of its own
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "kernel/operations.h"
#include "kit.h"
#include "thread/team.h"

long size;
int number;
__thread int copy_number;

static const struct operation *operation;
static int times; /* of a round, or of a piece */

static const struct operation *find(const char *name)
{
    const struct operation *const tables[] = {file_operations, descriptor_operations,
                                              process_operations};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct operation *operation = tables[i]; operation->name; operation++)
            if (strcmp(operation->name, name) == 0)
                return operation;
    kit_error("unknown op=%s: try one of `unixmark list tests lebench`", name);
}

/* So many of what has a size that the clock is read seldom. */
static int times_of_round(void)
{
    long times = 204800 / size;

    return operation->times ? operation->times : times < 1 ? 1 : times > 64 ? 64 : (int)times;
}

static void do_work(void)
{
    if (operation->work(times) != times)
        kit_error("op=%s failed after %lu times (%s)", operation->name, kit_count, strerror(errno));
}

static int64_t do_round(void)
{
    int64_t start, end;

    if (operation->before)
        operation->before();
    start = kit_now();
    do_work();
    end = kit_now();
    if (operation->after)
        operation->after();
    return end - start;
}

static _Noreturn void work_in_rounds(const char *unit)
{
    struct kit_window window = kit_wait();
    const int64_t end = window.first_edge + window.slice * (window.slices - 1), start = kit_now();
    unsigned long done = 0;
    int64_t time = 0;

    do {
        time += do_round();
        done += (unsigned long)times;
        kit_count = done;
    } while (window.slices == 0 || kit_now() < end);
    kit_slice(start, kit_now(), done);
    kit_value("time", (double)time / (double)done / (strcmp(unit, "us") == 0 ? 1e3 : 1), unit);
    kit_finish();
}

static void work_in_pieces(struct kit_thread *me)
{
    (void)me;
    for (;;) {
        do_work();
        kit_piece((unsigned long)times);
    }
}

static void prepare(struct kit_thread *me)
{
    copy_number = me->number;
    if (operation->prepare)
        operation->prepare();
    do_round();
    kit_check("right", 1); /* the first round was, and any other ends the program */
}

int main(int argc, char **argv)
{
    struct kit_thread alone = {0};
    const char *unit;
    int in_pieces;

    kit_init(argc, argv);
    operation = find(kit_arg("op", "getppid"));
    size = kit_arg_number("size", 4096, 1, 1 << 30);
    number = (int)kit_arg_number("number", 0, 0, 1 << 20);
    unit = kit_arg("unit", "ns");
    in_pieces = (int)kit_arg_number("pieces", 0, 0, 1);
    times = times_of_round();
    kit_at_end(remove_files);
    if (in_pieces && !operation->before && !operation->after) {
        team_prepare(prepare);
        team_start(work_in_pieces);
    }
    prepare(&alone);
    work_in_rounds(unit);
}
