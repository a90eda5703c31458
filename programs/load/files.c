/* Files of loads: see files.h. */
#define _GNU_SOURCE
#include "load/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "load/crew.h"

enum {
    MIB = 1 << 20,
    KEPT_FREE = 256, /* MiB, at least */
    MIN_FILE_MIB = 64,
    MAX_FILE_MIB = 1024,
    SYNC_EVERY = 32, /* MiB: so that the time spent is that of the disk */
    MAX_DEPTH = 16,    /* directories below ours that are removed */
};

#define LONGEST_FILL INT64_C(20000000000)

/* --- sizes --- */

long files_memory(const char *what)
{
    FILE *info = fopen("/proc/meminfo", "re");
    const size_t length = strlen(what);
    char line[128];
    long kib = 0;

    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, what, length) == 0 && line[length] == ':')
            kib = strtol(line + length + 1, NULL, 10);
    if (info)
        fclose(info);
    return kib / 1024;
}

/* MiB that a file may have here, where what it has already counts as free. */
static long room(const char *name)
{
    struct statvfs system;
    struct stat file;
    double mib, kept, had = stat(name, &file) == 0 ? (double)file.st_blocks * 512 / MIB : 0;

    if (statvfs(".", &system) != 0)
        kit_error("cannot ask for the free space of the current directory (%s): try another --dir",
                  strerror(errno));
    mib = (double)system.f_frsize / MIB;
    kept = (double)system.f_blocks * mib / 10;
    return (long)((double)system.f_bavail * mib + had - (kept > KEPT_FREE ? kept : KEPT_FREE));
}

static long usual_size(long free)
{
    long memory = files_memory("MemTotal"),
         size = memory / 16 < MIN_FILE_MIB ? MIN_FILE_MIB : memory / 16;

    if (size > MAX_FILE_MIB)
        size = MAX_FILE_MIB;
    return size > free && free > MIN_FILE_MIB ? free : size > free ? MIN_FILE_MIB : size;
}

long files_size(const char *name)
{
    long size = kit_arg_number("size", 0, 1, 1 << 20);

    if (!size)
        size = usual_size(room(name));
    files_need(name, size);
    return size;
}

void files_need(const char *name, long mib)
{
    long free = room(name);

    if (mib > free)
        kit_skip("a file of %ld MiB needs %ld MiB more, as a tenth of the file system and %d MiB "
                 "stay free: try another --dir",
                 mib, mib - free, KEPT_FREE);
}

/* --- contents --- */

/*
 * Splitmix64 by Steele, Lea and Flood: one word does not depend on the one before, so it is as fast
 * as memory.
 */
void files_random(void *memory, size_t size, uint64_t seed)
{
    uint64_t *words = memory;

    for (size_t i = 0; i < size / sizeof *words; i++) {
        uint64_t x = seed * UINT64_C(0xd1342543de82ef95) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        words[i] = x ^ x >> 31;
    }
}

/* A copy beside this one may be writing the file: whoever comes second finds it written. */
static void lock(int file)
{
    const struct timespec pause = {.tv_nsec = 20000000};

    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return; /* a file system without locks: one copy at a time is all it can have */
        if (crew_abandoned())
            _exit(0);
        nanosleep(&pause, NULL);
    }
}

static void write_mib(int file, long number)
{
    static uint64_t mib[MIB / sizeof(uint64_t)];
    const char *at = (const char *)mib;
    size_t written = 0;

    files_random(mib, sizeof mib, (uint64_t)number);
    while (written < sizeof mib) {
        ssize_t n =
            pwrite(file, at + written, sizeof mib - written, (off_t)number * MIB + (off_t)written);
        if (n <= 0)
            kit_error("cannot write MiB %ld of %s (%s): try another --dir or a smaller size=",
                      number, FILES_DATA, n ? strerror(errno) : "nothing was written");
        written += (size_t)n;
    }
    if ((number + 1) % SYNC_EVERY == 0)
        fsync(file);
}

/* What an earlier trial had no time for is added by the next. Returns the size reached. */
static long fill(int file, long from, long to)
{
    const int64_t deadline = kit_now() + LONGEST_FILL;

    for (; from < to && (kit_now() < deadline || from == 0); from++) {
        write_mib(file, from);
        if (crew_abandoned())
            _exit(0);
    }
    fsync(file);
    return from;
}

int files_data(long *mib)
{
    int file = open(FILES_DATA, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat had;

    if (file < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", FILES_DATA,
                  strerror(errno));
    lock(file);
    if (fstat(file, &had) != 0)
        kit_error("cannot ask for the size of %s (%s)", FILES_DATA, strerror(errno));
    if (had.st_size / MIB < *mib)
        *mib = fill(file, (long)(had.st_size / MIB), *mib);
    flock(file, LOCK_UN);
    return file;
}

void files_forget(int file)
{
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

void files_write(const char *path, const char *text, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || write(file, text, size) != (ssize_t)size || close(file) != 0)
        kit_error("cannot write %s (%s): try another --dir", path, strerror(errno));
}

/* --- the directory --- */

/*
 * What getdents64(2) returns; the C library's readdir allocates, which a signal handler must not.
 */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[1];
};

static char folder[64];
static int above = -1; /* the directory it is in, which is not always the current one any more */

const char *files_folder(const char *what)
{
    above = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(folder, sizeof folder, "%s-%ld", what, (long)getpid());
    if (above < 0 || mkdir(folder, 0700) != 0)
        kit_error("cannot make the directory %s (%s): try another --dir", folder, strerror(errno));
    return folder;
}

/* "." and ".." begin with a dot as hidden files do. */
static int is_own(const char *name)
{
    return name[0] != '.' || (name[1] != '\0' && (name[1] != '.' || name[2] != '\0'));
}

static void remove_tree(int parent, const char *name, int depth)
{
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t entries[256]; /* aligned as the entries are */
    long n;

    if (directory < 0)
        return;
    while ((n = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const void *)((const char *)entries + at);
            const char *inner = (const char *)entry + offsetof(struct entry, name);
            if (is_own(inner) && unlinkat(directory, inner, 0) != 0 && errno == EISDIR &&
                depth < MAX_DEPTH)
                remove_tree(directory, inner, depth + 1);
            at += entry->length;
        }
    close(directory);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void files_remove_folder(void)
{
    remove_tree(above, folder, 0);
}
