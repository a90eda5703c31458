/* A queue by io_uring: see disk_ring.h. */
#define _GNU_SOURCE
#include "file/disk_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif

#include "kit.h"

/*
 * Came with Linux 5.6, as reading and writing without a vector did: older headers and kernels are
 * done without.
 */
#if defined IORING_FEAT_RW_CUR_POS && defined SYS_io_uring_setup

#define WANTED (IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS)

/* Memory that the kernel has too, or NULL. */
static void *shared(int fd, size_t size, off_t what)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

    return memory == MAP_FAILED ? NULL : memory;
}

static int map(struct ring *ring, const struct io_uring_params *told)
{
    size_t sent = told->sq_off.array + told->sq_entries * sizeof(unsigned);
    size_t done = told->cq_off.cqes + told->cq_entries * sizeof *ring->answers;
    char *both = shared(ring->fd, sent > done ? sent : done, IORING_OFF_SQ_RING);
    unsigned *order;

    ring->requests = shared(ring->fd, told->sq_entries * sizeof *ring->requests, IORING_OFF_SQES);
    if (!both || !ring->requests)
        return ENOMEM;
    ring->sent_tail = (void *)(both + told->sq_off.tail);
    ring->sent_mask = told->sq_entries - 1;
    ring->done_head = (void *)(both + told->cq_off.head);
    ring->done_tail = (void *)(both + told->cq_off.tail);
    ring->done_mask = told->cq_entries - 1;
    ring->answers = (void *)(both + told->cq_off.cqes);
    order = (void *)(both + told->sq_off.array);
    for (unsigned i = 0; i < told->sq_entries; i++)
        order[i] = i;
    return 0;
}

/*
 * With COOP_TASKRUN (Linux 5.19) answers wait until we enter the kernel, which we do all the time,
 * and interrupt nobody.
 */
static int setup(unsigned depth, struct io_uring_params *told)
{
#ifdef IORING_SETUP_COOP_TASKRUN
    int fd;

    *told = (struct io_uring_params){.flags = IORING_SETUP_COOP_TASKRUN};
    fd = (int)syscall(SYS_io_uring_setup, depth, told);
    if (fd >= 0)
        return fd;
#endif
    *told = (struct io_uring_params){0};
    return (int)syscall(SYS_io_uring_setup, depth, told);
}

int ring_open(struct ring *ring, unsigned depth, int file)
{
    struct io_uring_params told;

    ring->file = file;
    ring->fd = setup(depth, &told);
    if (ring->fd < 0)
        return errno;
    return (told.features & WANTED) == WANTED ? map(ring, &told) : ENOSYS;
}

/* Returns what io_uring_enter(2) does, which the kit's timer may interrupt. */
static long enter(const struct ring *ring, unsigned requests, unsigned answers)
{
    long n =
        syscall(SYS_io_uring_enter, ring->fd, requests, answers, IORING_ENTER_GETEVENTS, NULL, 0);

    if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY)
        kit_error("io_uring took no request (%s): try engine=sync", strerror(errno));
    return n;
}

void ring_submit(struct ring *ring, unsigned slot, int writes, void *buffer, size_t size, off_t at)
{
    unsigned tail = *ring->sent_tail;

    ring->requests[tail & ring->sent_mask] = (struct io_uring_sqe){
        .opcode = writes ? IORING_OP_WRITE : IORING_OP_READ,
        .fd = ring->file,
        .addr = (uintptr_t)buffer,
        .len = (uint32_t)size,
        .off = (uint64_t)at,
        .user_data = slot,
    };
    __atomic_store_n(ring->sent_tail, tail + 1, __ATOMIC_RELEASE);
    ring->begun[slot] = kit_now();
    while (enter(ring, 1, 0) != 1)
        ;
}

struct ring_done ring_wait(struct ring *ring)
{
    unsigned head = *ring->done_head;
    const struct io_uring_cqe *answer = ring->answers + (head & ring->done_mask);
    struct ring_done done;

    while (__atomic_load_n(ring->done_tail, __ATOMIC_ACQUIRE) == head)
        enter(ring, 0, 1);
    done = (struct ring_done){.slot = (unsigned)answer->user_data, .result = answer->res};
    done.took = kit_now() - ring->begun[done.slot];
    __atomic_store_n(ring->done_head, head + 1, __ATOMIC_RELEASE);
    return done;
}

#else

int ring_open(struct ring *ring, unsigned depth, int file)
{
    (void)ring, (void)depth, (void)file;
    return ENOSYS;
}

void ring_submit(struct ring *ring, unsigned slot, int writes, void *buffer, size_t size, off_t at)
{
    (void)ring, (void)slot, (void)writes, (void)buffer, (void)size, (void)at;
}

struct ring_done ring_wait(struct ring *ring)
{
    (void)ring;
    return (struct ring_done){0};
}

#endif
