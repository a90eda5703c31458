/*
 * Reads a file of random bytes from its beginning to its end, again and again. The count is in KiB.
 * The file is `load-data` in the current directory and stays there for the next trial.
 *
 *   size=MIB             of the file: see files.h
 *   block=BYTES          of one read, a power of two from 4096 on
 *   mode=cached          all of it from the page cache, if it fits
 *        direct          past the page cache (O_DIRECT); if the file system cannot, like drop
 *        drop            through the page cache, dropping every 8 MiB after use
 *        hole            a file without data and twice as large as the memory, through the page
 *                        cache: what it holds of other files makes room. That file has no name.
 *   duty=PERCENT         of the time it works
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum { KIB = 1024, MIB = 1 << 20, PAGE = 4096, MAX_BLOCK_BYTES = MIB, FORGET_EVERY = 8 * MIB };

static char buffer[MAX_BLOCK_BYTES] __attribute__((aligned(PAGE)));
static int file;
static off_t size;
static size_t block;
static int forgets;

/*
 * Forgets 8 MiB at their end: of a folio, which may be larger than a block, the kernel forgets all
 * or nothing.
 */
static void forget_before(off_t at)
{
    off_t from = (at - 1) / FORGET_EVERY * FORGET_EVERY;

    if (forgets && (at % FORGET_EVERY == 0 || at >= size))
        posix_fadvise(file, from, at - from, POSIX_FADV_DONTNEED);
}

/* Reads a block, or what is left of the file, and goes back to the beginning after the last. */
static off_t read_block(off_t at)
{
    size_t wanted = size - at < (off_t)block ? (size_t)(size - at) : block;
    ssize_t n = pread(file, buffer, wanted, at);

    if (n < 0)
        crew_fail("cannot read %s (%s)", FILES_DATA, strerror(errno));
    *crew_count += (unsigned long)n / KIB;
    at += n;
    forget_before(at);
    return n == 0 || at >= size ? 0 : at;
}

static void read_for_ever(long number)
{
    off_t at = 0;

    (void)number;
    crew_go();
    for (;;) {
        at = read_block(at);
        crew_rest();
    }
}

/* Whether the file can be read past the cache; it is open so from then on. */
static int go_direct(void)
{
    int direct = open(FILES_DATA, O_RDONLY | O_DIRECT | O_CLOEXEC);

    if (direct < 0)
        return 0;
    if (pread(direct, buffer, block, 0) <= 0) {
        close(direct);
        return 0;
    }
    close(file);
    file = direct;
    return 1;
}

/* A file system that keeps files in memory has no cache to fill. */
static void open_hole(void)
{
    char name[32];

    size = (off_t)files_memory("MemTotal") * 2 * MIB;
    snprintf(name, sizeof name, "hole-%ld", (long)getpid());
    file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", name,
                  strerror(errno));
    unlink(name);
    if (ftruncate(file, size) != 0)
        kit_skip("a file of %lld MiB without data was refused (%s): try another --dir",
                 (long long)(size / MIB), strerror(errno));
}

static void fill_cache(void)
{
    for (off_t at = 0; at < size && !crew_abandoned(); at += MAX_BLOCK_BYTES)
        if (pread(file, buffer, MAX_BLOCK_BYTES, at) < 0)
            kit_error("cannot read %s (%s)", FILES_DATA, strerror(errno));
}

static void choose_mode(const char *mode)
{
    forgets = strcmp(mode, "drop") == 0;
    if (strcmp(mode, "cached") == 0) {
        fill_cache();
        return;
    }
    files_forget(file);
    if (strcmp(mode, "direct") == 0 && !go_direct()) {
        forgets = 1;
        kit_note("this file system refuses O_DIRECT: the page cache forgets what was read instead");
    }
}

static void open_data(void)
{
    long mib = files_size(FILES_DATA);

    file = files_data(&mib);
    size = (off_t)mib * MIB;
}

int main(int argc, char **argv)
{
    const char *mode;

    kit_init(argc, argv);
    mode = kit_arg("mode", "cached");
    if (strcmp(mode, "cached") != 0 && strcmp(mode, "direct") != 0 && strcmp(mode, "drop") != 0 &&
        strcmp(mode, "hole") != 0)
        kit_error("unknown mode=%s: try cached, direct, drop or hole", mode);
    block = (size_t)kit_arg_number("block", 128 * KIB, PAGE, MAX_BLOCK_BYTES);
    if (block & (block - 1))
        kit_error("block=%zu is not a power of two: try 131072", block);
    if (strcmp(mode, "hole") == 0) {
        open_hole();
    } else {
        open_data();
        choose_mode(mode);
    }
    crew_take_duty();
    crew_open(1);
    crew_hire(read_for_ever, 0);
    crew_run();
}
