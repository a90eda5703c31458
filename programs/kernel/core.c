/*
 * Core operations of the kernel as LEBench (Ren and others, SOSP 2019) and lmbench (McVoy and Staelin, USENIX 1996) time
 * them, one after the other: op=NAME of the table at the end. A round prepares, does the operation some times by the clock, and
 * clears up; one count is one operation, and `value time` the mean of all by that clock.
 *
 *   size=BYTES    of a file, a mapping or a message; created files of 1 byte are empty instead
 *   unit=ns|us    of the mean
 *   number=N      descriptors that are asked for, all of them ready; pages that a fork copies, each mapped by itself
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "kernel/operations.h"
#include "kit.h"

static void nothing(void)
{
}

/* Of the operations whose round is one of them, the clock's own 20 to 50 ns do not matter. */
static const struct operation {
    const char *name;
    void (*prepare)(void); /* once */
    void (*before)(void);  /* in each round, not timed */
    int (*work)(int times); /* returns how many were right */
    void (*after)(void);
    int times;
} operations[] = {
    {"null", nothing, nothing, null_call, nothing, 256},
    {"null-io", make_null, nothing, null_io, nothing, 128},
    {"stat", make_file, nothing, stat_file, nothing, 64},
    {"open", make_file, nothing, open_file, nothing, 64},
    {"read", make_file, rewind_file, read_file, nothing, 0},
    {"write", make_file, rewind_file, write_file, nothing, 0},
    {"create", make_names, nothing, create_files, delete_all, FILES},
    {"delete", make_names, create_all, delete_files, nothing, FILES},
    {"mmap", make_file, nothing, map_file, unmap_all, AREAS},
    {"munmap", make_file, map_all, unmap_file, nothing, AREAS},
    {"map", make_file, nothing, map_sparsely, nothing, 1},
    {"page-fault", make_file, map_all, touch_file, unmap_all, AREAS},
    {"protection-fault", make_fault, nothing, fault, nothing, 32},
    {"signal-install", nothing, nothing, install_handler, nothing, 64},
    {"signal-catch", make_handler, nothing, catch_signal, nothing, 64},
    {"send", make_pair, nothing, send_message, take_messages, 1},
    {"receive", make_pair, send_messages, receive_message, nothing, 1},
    {"select", make_ready, nothing, select_ready, nothing, 8},
    {"select-file", make_files, nothing, select_ready, nothing, 8},
    {"poll", make_ready, nothing, poll_ready, nothing, 8},
#ifdef __linux__
    {"epoll", make_epoll, nothing, epoll_ready, nothing, 8},
#endif
    {"fork", make_pages, nothing, fork_child, wait_for_children, 1},
    {"thread", nothing, nothing, start_thread, join_thread, 1},
    {"fork-exit", nothing, nothing, fork_exit, nothing, 1},
    {"fork-exec", nothing, nothing, fork_exec, nothing, 1},
    {"fork-shell", nothing, nothing, fork_shell, nothing, 1},
};

static const struct operation *find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    kit_error("unknown op=%s: try one of `unixmark list tests lebench`", name);
}

/* As many as fit into some 200 KiB, so that the clock is read seldom. */
static int times_of(const struct operation *operation)
{
    long times = operation->times ? operation->times : 204800 / size;

    return times < 1 ? 1 : times > 64 ? 64 : (int)times;
}

static int64_t round_of(const struct operation *operation, int times)
{
    int64_t start, end;

    operation->before();
    start = kit_now();
    if (operation->work(times) != times)
        kit_error("op=%s failed (%s)", operation->name, strerror(errno));
    end = kit_now();
    operation->after();
    return end - start;
}

int main(int argc, char **argv)
{
    const struct operation *operation;
    struct kit_window window;
    const char *unit;
    unsigned long done = 0;
    int64_t start, end, time = 0;
    int times;

    kit_init(argc, argv);
    operation = find(kit_arg("op", "null"));
    size = kit_arg_number("size", 4096, 1, 1 << 30);
    number = (int)kit_arg_number("number", 0, 0, 1 << 20);
    unit = kit_arg("unit", "ns");
    times = times_of(operation);
    kit_at_end(remove_file);
    operation->prepare();
    round_of(operation, times);
    kit_check("right", 1); /* the first round was, and any other ends the program */
    window = kit_wait();
    end = window.first_edge + window.slice * (window.slices - 1);
    start = kit_now();
    do {
        time += round_of(operation, times);
        done += (unsigned long)times;
        kit_count = done;
    } while (window.slices == 0 || kit_now() < end);
    kit_slice(start, kit_now(), done);
    kit_value("time", (double)time / (double)done / (strcmp(unit, "us") == 0 ? 1e3 : 1), unit);
    kit_finish();
}
