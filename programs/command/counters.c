/* The processor's counters by perf_event_open(2): see counters.h. */
#define _GNU_SOURCE
#include "command/counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static int files[2];

static int open_counter(pid_t child, uint64_t what)
{
    struct perf_event_attr counter = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof counter,
        .config = what,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = 1, /* which is all that everybody may count */
        .exclude_hv = 1,
        .enable_on_exec = 1,
    };

    return (int)syscall(SYS_perf_event_open, &counter, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int counters_begin(pid_t child)
{
    files[0] = open_counter(child, PERF_COUNT_HW_INSTRUCTIONS);
    if (files[0] < 0)
        return 0;
    files[1] = open_counter(child, PERF_COUNT_HW_CPU_CYCLES);
    if (files[1] < 0)
        close(files[0]);
    return files[1] >= 0;
}

/*
 * The kernel gives the count, the time for which it was enabled, and the time for which it ran on
 * the processor. If these differ, the counter was shared with others and the count is a part.
 */
static int read_counter(int file, uint64_t *count)
{
    uint64_t read_of[3] = {0};
    const int is_whole =
        read(file, read_of, sizeof read_of) == sizeof read_of && read_of[1] == read_of[2];

    *count = read_of[0];
    return is_whole;
}

int counters_read(struct counters *counted)
{
    return read_counter(files[0], &counted->instructions) &
           read_counter(files[1], &counted->cycles);
}

int counters_end(struct counters *counted)
{
    const int are_whole = counters_read(counted);

    close(files[0]);
    close(files[1]);
    return are_whole;
}
