/*
 * A queue of reads and writes by io_uring, without a library: as many as it is deep are on their
 * way at once.
 */
#ifndef DISK_RING_H
#define DISK_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RING_DEEPEST = 256 };

struct ring {
    int fd, file;
    unsigned *sent_tail, *done_head, *done_tail; /* the kernel's */
    unsigned sent_mask, done_mask;
    struct io_uring_sqe *requests;
    struct io_uring_cqe *answers;
    int64_t begun[RING_DEEPEST]; /* when the request of a slot was submitted */
};

/* A request that was answered. */
struct ring_done {
    unsigned slot;
    int result;   /* bytes, or the negative of errno */
    int64_t took; /* ns */
};

/*
 * Makes a ring of `depth` slots for an open file. Returns 0, or the errno for which there is none.
 */
int ring_open(struct ring *ring, unsigned depth, int file);

/* Reads or writes `size` bytes at an offset, under the number of a slot that is free. */
void ring_submit(struct ring *ring, unsigned slot, int writes, void *buffer, size_t size, off_t at);

/* Waits for an answer, which frees its slot. */
struct ring_done ring_wait(struct ring *ring);

#endif
