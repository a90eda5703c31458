/*
 * Samples by perf_event_open(2): see sampler.h.
 *
 * The event is this process' own. It is off, its children inherit it, and it goes on when one of
 * them executes a program: so only commands are sampled, from their first instruction on. The
 * kernel maps an inherited event per processor only, so there is an event and a ring of records for
 * each. The rings are written to the file one after the other; the records' times, those of
 * CLOCK_MONOTONIC, order them.
 *
 * The file gets whole records as perf_event.h describes them, with `sample_type` below.
 */
#define _GNU_SOURCE
#include "command/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

enum {
    MAX_CPUS = 1024,
    RING_BYTES = 256 << 10, /* with its first page less than perf_event_mlock_kb, for users */
    MAX_STACK = 64,         /* frames */
    WAIT_MS = 10,
    MAX_FILE_BYTES = 32 << 20, /* as much as the tool reads */
};

struct ring {
    int event;
    struct perf_event_mmap_page *control; /* the records follow it */
};

static struct ring rings[MAX_CPUS];
static struct pollfd polled[MAX_CPUS + 1];
static int ring_count;
static int excludes_kernel; /* once the kernel has refused to sample itself */
static int output;
static size_t written;
static int is_whole;

/* Returns a file that gives samples of one processor, or -1 and errno. */
static int open_event(int cpu, uint64_t period)
{
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .size = sizeof event,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .sample_max_stack = MAX_STACK,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_kernel = excludes_kernel != 0,
        .exclude_callchain_kernel = excludes_kernel != 0,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .watermark = 1, /* poll(2) wakes when so many bytes are there */
        .wakeup_watermark = RING_BYTES / 4,
    };

    return (int)syscall(SYS_perf_event_open, &event, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static size_t control_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whoever may not sample the kernel may sample programs, unless the kernel forbids both. */
static int open_allowed_event(int cpu, uint64_t period)
{
    int event = open_event(cpu, period);

    if (event < 0 && (errno == EACCES || errno == EPERM) && !excludes_kernel) {
        excludes_kernel = 1;
        event = open_event(cpu, period);
        /* Refused as well: the next try begins with both again. */
        excludes_kernel = event >= 0;
    }
    return event;
}

static int open_ring(int cpu, uint64_t period)
{
    const int event = open_allowed_event(cpu, period);
    void *control;

    if (event < 0)
        return errno == ENODEV; /* this processor is off */
    control = mmap(NULL, control_bytes() + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, event,
                   0);
    if (control == MAP_FAILED) {
        const int why = errno;

        close(event);
        errno = why;
        return 0;
    }
    polled[ring_count] = (struct pollfd){.fd = event, .events = POLLIN};
    rings[ring_count++] = (struct ring){event, control};
    return 1;
}

static void close_rings(void)
{
    for (; ring_count > 0; ring_count--) {
        munmap(rings[ring_count - 1].control, control_bytes() + RING_BYTES);
        close(rings[ring_count - 1].event);
    }
}

int sampler_begin(int file, uint64_t period)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);

    output = file;
    written = 0;
    is_whole = 1;
    for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
        if (!open_ring(cpu, period)) {
            const int why = errno;

            close_rings();
            errno = why;
            return 0;
        }
    return 1;
}

/* Writes the records between two moments of a ring, which may go over its end. */
static void write_records(const char *records, uint64_t from, uint64_t to)
{
    const size_t size = to - from, begin = from % RING_BYTES;
    const size_t first = size < RING_BYTES - begin ? size : RING_BYTES - begin;
    struct iovec parts[] = {
        {(void *)(records + begin), first},
        {(void *)records, size - first},
    };

    /* What follows a gap could not be ordered any more. */
    is_whole = is_whole && written + size <= MAX_FILE_BYTES;
    if (!is_whole || size == 0)
        return;
    if (writev(output, parts, 2) != (ssize_t)size)
        kit_error("cannot keep samples (%s): is there room below --dir?", strerror(errno));
    written += size;
}

static void empty_rings(void)
{
    for (int i = 0; i < ring_count; i++) {
        struct perf_event_mmap_page *control = rings[i].control;
        const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);

        write_records((const char *)control + control_bytes(), control->data_tail, head);
        __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
    }
}

void sampler_wait(pid_t child)
{
#ifdef SYS_pidfd_open
    const int process = (int)syscall(SYS_pidfd_open, child, 0);
#else
    const int process = -1;
#endif

    /* poll(2) passes over a negative file. */
    polled[ring_count] = (struct pollfd){.fd = process, .events = POLLIN};
    poll(polled, (nfds_t)ring_count + 1, WAIT_MS);
    if (process >= 0)
        close(process);
    empty_rings();
}

int sampler_end(void)
{
    empty_rings();
    close_rings();
    return is_whole;
}

int sampler_sees_kernel(void)
{
    return !excludes_kernel;
}
