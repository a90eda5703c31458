/*
 * Writes a file from its beginning to its end, truncates it and starts again. What is written cannot be compressed and is
 * never twice the same at the same place of a page. The count is in KiB. The file is write-PID in the current directory.
 *
 *   size=MIB     of the file: see files.h
 *   block=BYTES  of one write
 *   sync=0|1     1: fsync after every 8 MiB
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum { KIB = 1024, MIB = 1 << 20, LARGEST = MIB, SYNC_EVERY = 8 * MIB, STEP = 64 * 4099 };

static char data[MIB + LARGEST];
static char name[32];
static int file;
static long size; /* of the file in bytes */
static long block;
static long with_sync;

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
    }
}

static void start_again(void)
{
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
        crew_fail("cannot start %s again (%s)", name, strerror(errno));
}

static void write_for_ever(long number)
{
    (void)number;
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        crew_fail("cannot make %s in the current directory (%s): try another --dir", name, strerror(errno));
    if (!with_sync) {
        /* In a virtual machine the first pass waits for memory that the hypervisor took back, and is ten times as slow. */
        write_file();
        start_again();
        *crew_count = 0;
    }
    crew_go();
    for (;;) {
        write_file();
        start_again();
    }
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    block = kit_arg_number("block", 64 * KIB, KIB, LARGEST) / KIB * KIB;
    with_sync = kit_arg_number("sync", 0, 0, 1);
    snprintf(name, sizeof name, "write-%ld", (long)getpid());
    size = files_size(name) * MIB;
    files_random(data, sizeof data, (uint64_t)getpid());
    crew_open(1);
    crew_after(remove_file);
    crew_hire(write_for_ever, 0);
    crew_run();
}
