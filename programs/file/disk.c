/*
 * Reads and writes a file past the page cache, from several threads if there are copies. The file
 * is laid out in the current directory first. The count is in operations, or in bytes; every
 * operation is timed.
 *
 *   op=read|write|mix|fsync|fdatasync  what is done with a block: mix reads one and writes the
 *                                  next; the last two write it and wait until it is on the disk
 *   order=random|sequential        every block once before one comes again, or from the i/n-th of
 *                                  the file on for copy i of n
 *   block=SIZE (4k)                from 4k to 4m
 *   depth=N (1)                    how many of each copy are on their way at once
 *   engine=uring|sync              by io_uring, or by threads that each wait for theirs: where
 *                                  io_uring is forbidden, and for fsync
 *   size=SIZE (256m)               of the file
 *   direct=0|1 (1)                 past the page cache, or through it
 *   count=operations|bytes         missing: bytes of a sequential order, operations of a random one
 *                                  and of fsync
 *   keep=0|1 (0)                   the file stays for the next trial
 *   wrong=0|1 (0)                  spoils what is checked first: the check must tell
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "file/disk_blocks.h"
#include "file/disk_file.h"
#include "file/disk_ring.h"
#include "thread/team.h"

enum op { READ, WRITE, MIX, FSYNC, FDATASYNC };

/* One of the threads that are counted, with its queue. */
struct copy {
    struct kit_thread *thread;
    uint64_t number, first; /* the block that it begins with */
    uint64_t begun;         /* operations */
    unsigned long wrong;    /* blocks that were not what belongs there */
    volatile off_t last;    /* what was written last, or -1 */
    char *buffers;          /* one for each slot of the queue; those of the next copy follow */
    off_t at[RING_DEEPEST]; /* where a slot's block belongs */
    int writes[RING_DEEPEST]; /* whether that is written */
    struct ring ring;
    pthread_barrier_t start; /* of the threads that are the queue of a synchronous engine */
    pthread_mutex_t lock;
} __attribute__((aligned(128)));

static enum op op;
static int random_order, file, with_ring, direct;
static volatile sig_atomic_t spoils;
static size_t block;
static uint64_t blocks, salt;
static unsigned depth;
static unsigned long unit; /* what an operation counts */
static struct copy *copies;
static char *spare; /* a block to read back into */

/* --- one operation --- */

/* Chooses the next block, and whether it is written. */
static off_t next_block(struct copy *copy, int *writes)
{
    uint64_t n = __atomic_fetch_add(&copy->begun, 1, __ATOMIC_RELAXED);

    *writes = op == MIX ? (int)(n & 1) : op != READ;
    n = random_order ? blocks_nth(n, blocks, salt + copy->number) : (copy->first + n) % blocks;
    return (off_t)n * (off_t)block;
}

static int is_right(char *buffer, off_t at, const uint64_t *by)
{
    if (spoils) {
        spoils = 0;
        *buffer ^= 1;
    }
    return blocks_right(buffer, block, at, by);
}

/*
 * Through the page cache a block that is being written may be read half old, half new, also twice
 * if its writer lost the processor in between. What is wrong stays so: it is looked at for a
 * second.
 */
static int is_right_soon(char *buffer, off_t at)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    int again = op == MIX && !direct && !spoils ? 100 : 0;

    while (!is_right(buffer, at, NULL)) {
        if (again-- == 0)
            return 0;
        nanosleep(&pause, NULL);
        if (pread(file, buffer, block, at) != (ssize_t)block)
            return 0;
    }
    return 1;
}

static void verify(struct copy *copy, char *buffer, off_t at, int writes, ssize_t done)
{
    if (done < 0)
        kit_error("cannot %s at byte %lld of the file (%s)", writes ? "write" : "read",
                  (long long)at, strerror(errno));
    if (done != (ssize_t)block)
        kit_error("%zd of %zu bytes at byte %lld of the file came through: is the disk full?", done,
                  block, (long long)at);
    if (!writes && !is_right_soon(buffer, at))
        __atomic_fetch_add(&copy->wrong, 1, __ATOMIC_RELAXED);
}

static void count(struct copy *copy, off_t at, int writes, int64_t took)
{
    if (writes)
        copy->last = at;
    copy->thread->count += unit;
    kit_time(took);
}

/* --- by io_uring --- */

static void submit(struct copy *copy, unsigned slot)
{
    char *buffer = copy->buffers + slot * block;

    copy->at[slot] = next_block(copy, &copy->writes[slot]);
    if (copy->writes[slot])
        blocks_stamp(buffer, block, copy->at[slot], salt);
    ring_submit(&copy->ring, slot, copy->writes[slot], buffer, block, copy->at[slot]);
}

static void work_by_ring(struct copy *copy)
{
    for (unsigned slot = 0; slot < depth; slot++)
        submit(copy, slot);
    for (;;) {
        struct ring_done done = ring_wait(&copy->ring);
        errno = done.result < 0 ? -done.result : 0;
        verify(copy, copy->buffers + done.slot * block, copy->at[done.slot],
               copy->writes[done.slot], done.result);
        count(copy, copy->at[done.slot], copy->writes[done.slot], done.took);
        submit(copy, done.slot);
    }
}

/* --- by threads that wait --- */

static ssize_t transfer(char *buffer, off_t at, int writes)
{
    ssize_t n = writes ? pwrite(file, buffer, block, at) : pread(file, buffer, block, at);

    if ((op == FSYNC && fsync(file) != 0) || (op == FDATASYNC && fdatasync(file) != 0))
        return -1;
    return n;
}

static void work_by_waiting(struct copy *copy, char *buffer)
{
    for (;;) {
        int writes;
        off_t at = next_block(copy, &writes);
        int64_t begun, took;
        ssize_t n;
        if (writes)
            blocks_stamp(buffer, block, at, salt);
        begun = kit_now();
        n = transfer(buffer, at, writes);
        took = kit_now() - begun;
        verify(copy, buffer, at, writes, n);
        pthread_mutex_lock(&copy->lock);
        count(copy, at, writes, took);
        pthread_mutex_unlock(&copy->lock);
    }
}

/*
 * A thread beside the one that is counted: it runs where that one does, and what it does is counted
 * there.
 */
static void *help(void *buffer)
{
    size_t number = (size_t)((char *)buffer - copies->buffers) / block;
    struct copy *copy = copies + number / depth;

    kit_pin((int)copy->number);
    pthread_barrier_wait(&copy->start);
    kit_is(copy->thread);
    work_by_waiting(copy, buffer);
    return NULL;
}

static void hire(struct copy *copy)
{
    pthread_mutex_init(&copy->lock, NULL);
    pthread_barrier_init(&copy->start, NULL, depth);
    for (unsigned i = 1; i < depth; i++) {
        int why = team_thread(help, copy->buffers + i * block);
        if (why)
            kit_skip("%u threads for each copy were refused (%s): try a smaller depth= or a higher "
                     "`ulimit -u`",
                     depth, strerror(why));
    }
}

static void work(struct kit_thread *me)
{
    struct copy *copy = copies + me->number;

    copy->thread = me;
    if (with_ring)
        work_by_ring(copy);
    pthread_barrier_wait(&copy->start);
    work_by_waiting(copy, copy->buffers);
}

/* --- the end --- */

/*
 * Whether what was written last is there: whoever comes to write the same block writes the same
 * salt.
 */
static unsigned long read_back(const struct copy *copy)
{
    off_t at = copy->last;

    return at >= 0 &&
           (pread(file, spare, block, at) != (ssize_t)block || !is_right(spare, at, &salt));
}

static void end(int finished)
{
    unsigned long wrong = 0;

    disk_file_clean();
    if (!finished)
        return;
    for (int i = 0; i < team_number(); i++)
        wrong += copies[i].wrong + (op == READ ? 0 : read_back(copies + i));
    kit_report("check wrong_blocks %lu\n", wrong);
}

/* --- preparation --- */

static char *pages(size_t size)
{
    char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        kit_error("no memory for %zu bytes (%s): try a smaller block= or depth=", size,
                  strerror(errno));
    return memory;
}

static void prepare_copies(int number)
{
    size_t each = depth * block,
           memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

    if (each > memory / 2 / (size_t)number)
        kit_skip(
            "%d queues of %zu MiB are more than half the memory: try a smaller block= or depth=",
            number, each >> 20);
    copies = (void *)pages((size_t)number * sizeof *copies);
    copies->buffers = pages((size_t)number * each);
    spare = pages(block);
    blocks_fill(copies->buffers, (size_t)number * each, salt);
    for (int i = 0; i < number; i++) {
        copies[i].number = (uint64_t)i;
        copies[i].first = blocks / (uint64_t)number * (uint64_t)i;
        copies[i].last = -1;
        copies[i].buffers = copies->buffers + (size_t)i * each;
    }
}

/* Rings for all, or for none. */
static void prepare_queues(int number)
{
    for (int i = 0; i < number && with_ring; i++) {
        int why = ring_open(&copies[i].ring, depth, file);
        if (why) {
            kit_note(
                "io_uring was refused (%s): pread and pwrite in %u thread%s were measured instead",
                strerror(why), depth, depth > 1 ? "s" : "");
            with_ring = 0;
        }
    }
    for (int i = 0; i < number && !with_ring; i++)
        hire(copies + i);
}

/* --- arguments --- */

/* A number of bytes, with k, m or g after it. */
static uint64_t size_arg(const char *name, const char *missing, uint64_t low, uint64_t high,
                         uint64_t multiple)
{
    const char *value = kit_arg(name, missing), *end;
    const uint64_t number = kit_bytes(value, &end);

    if (end == value || *end || number < low || number > high || number % multiple)
        kit_error("%s=%s is not a multiple of %lluk from %lluk to %lluk, such as %s", name, value,
                  (unsigned long long)multiple >> 10, (unsigned long long)low >> 10,
                  (unsigned long long)high >> 10, missing);
    return number;
}

/* Which of some words, ended by NULL, the value is. */
static int word_arg(const char *name, const char *missing, const char *const *words)
{
    const char *value = kit_arg(name, missing);
    char all[64] = "";

    for (int i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0)
            return i;
        strcat(strcat(all, i ? ", " : ""), words[i]);
    }
    kit_error("unknown %s=%s: try one of %s", name, value, all);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

int main(int argc, char **argv)
{
    uint64_t size;
    int bytes, keep;

    kit_init(argc, argv);
    op = (enum op)word_arg("op", "read", WORDS("read", "write", "mix", "fsync", "fdatasync"));
    random_order = word_arg("order", "random", WORDS("sequential", "random"));
    block = size_arg("block", "4k", BLOCKS_SECTOR, 4 << 20, BLOCKS_SECTOR);
    size = size_arg("size", "256m", 4 << 20, UINT64_C(1) << 42, DISK_PIECE);
    depth = (unsigned)kit_arg_number("depth", 1, 1, RING_DEEPEST);
    with_ring = word_arg("engine", "uring", WORDS("sync", "uring")) && op <= MIX;
    direct = (int)kit_arg_number("direct", 1, 0, 1);
    bytes = word_arg("count", random_order || op > MIX ? "operations" : "bytes",
                     WORDS("operations", "bytes"));
    keep = (int)kit_arg_number("keep", 0, 0, 1);
    spoils = (int)kit_arg_number("wrong", 0, 0, 1);
    unit = bytes ? block : 1;
    blocks = size / block;
    salt = (uint64_t)kit_now();
    prepare_copies(team_number());
    kit_at_end(end);
    file = disk_file((off_t)size, block, direct, keep);
    prepare_queues(team_number());
    team_start(work);
}
