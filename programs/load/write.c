/*
 * Writes a file from its beginning to its end, truncates it and starts again. What is written
 * cannot be compressed and is never twice the same at the same place of a page. The count is in
 * KiB. The file is write-PID in the current directory.
 *
 *   size=MIB     of the file: see files.h
 *   block=BYTES  of one write
 *   sync=0|1     1: fsync after every 8 MiB
 *   slow=0|1     1: for a slow disk that is taken away afterwards: the preparation ends once the
 *                kernel has it wait for that disk, and the file stays, as only what waits for the
 *                disk could remove it
 *   duty=PERCENT of the time it works
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum {
    KIB = 1024,
    MIB = 1 << 20,
    MAX_BLOCK_BYTES = MIB,
    SYNC_EVERY = 8 * MIB,
    STEP = 64 * 4099,
    MILLISECOND = 1000000
};

/* A block that takes so long waits for the disk. */
#define STALL (20 * MILLISECOND)

/* In MiB: all of it must reach the disk in the end. */
#define LARGEST_CACHE 8192

static char data[MIB + MAX_BLOCK_BYTES];
static char name[32];
static int file;
static long size; /* of the file in bytes */
static long block;
static long with_sync;
static long slow;

static void remove_file(void)
{
    unlink(name);
}

static void write_block(void)
{
    static long turn;
    ssize_t n = write(file, data + turn, (size_t)block);

    if (n != block)
        crew_fail("wrote %zd of %ld bytes to %s (%s): is the file system full?", n, block, name,
                  n < 0 ? strerror(errno) : "short");
    turn = (turn + STEP) % MIB;
    *crew_count += (unsigned long)(block / KIB);
}

/* From the beginning to the end. */
static void write_file(void)
{
    for (long done = 0; done < size; done += block) {
        write_block();
        if (with_sync && (done + block) / SYNC_EVERY != done / SYNC_EVERY && fsync(file) != 0)
            crew_fail("cannot bring %s to the disk (%s)", name, strerror(errno));
        crew_rest();
    }
}

/* As far as the page cache takes it without waiting. Returns whether it had to wait. */
static int fill_cache(void)
{
    for (long done = 0; done < size; done += block) {
        int64_t begin = kit_now();
        write_block();
        if (kit_now() - begin > STALL)
            return 1;
    }
    return 0;
}

static void start_again(void)
{
    if ((!slow && ftruncate(file, 0) != 0) || lseek(file, 0, SEEK_SET) != 0)
        crew_fail("cannot start %s again (%s)", name, strerror(errno));
}

/*
 * MiB that have a writer wait for a slow disk: by default the kernel lets a fifth of the memory be
 * unwritten.
 */
static long cache_size(void)
{
    long quarter = files_memory("MemTotal") / 4;
    long mib =
        kit_arg_number("size", quarter < LARGEST_CACHE ? quarter : LARGEST_CACHE, 1, 1 << 20);

    files_need(name, mib);
    return mib;
}

static void prepare(void)
{
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        crew_fail("cannot make %s in the current directory (%s): try another --dir", name,
                  strerror(errno));
    if (slow) {
        if (!fill_cache())
            crew_fail("the page cache took %ld MiB for a slow disk, and had nobody wait: try "
                      "size=, or a lower vm.dirty_bytes",
                      size / MIB);
    } else if (!with_sync) {
        /*
         * In a virtual machine the first pass waits for memory that the hypervisor took back, and
         * is ten times as slow.
         */
        write_file();
        start_again();
    }
    *crew_count = 0;
}

static void write_for_ever(long number)
{
    (void)number;
    prepare();
    crew_go();
    for (;;) {
        write_file();
        start_again();
    }
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    block = kit_arg_number("block", 64 * KIB, KIB, MAX_BLOCK_BYTES) / KIB * KIB;
    with_sync = kit_arg_number("sync", 0, 0, 1);
    slow = kit_arg_number("slow", 0, 0, 1);
    snprintf(name, sizeof name, "write-%ld", (long)getpid());
    size = (slow ? cache_size() : files_size(name)) * MIB;
    files_random(data, sizeof data, (uint64_t)getpid());
    crew_take_duty();
    crew_open(1);
    if (!slow)
        crew_after(remove_file);
    crew_hire(write_for_ever, 0);
    crew_run();
}
