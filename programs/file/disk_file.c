/* The file of the disk tests: see disk_file.h. */
#define _GNU_SOURCE
#include "file/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "file/disk_blocks.h"
#include "kit.h"

#define NAME "unixmark-disk"
#define KEPT_FREE (INT64_C(256) << 20)
#define ANOTHER "try another --dir"

/* Types of statfs(2) that matter here: not all C libraries have names for them. */
static const struct {
    uint32_t type;
    const char *name;
    enum { DISK, MEMORY, CACHED } kind;
} systems[] = {
    {0x01021994, "tmpfs", MEMORY},   {0x858458f6, "ramfs", MEMORY}, {0x2fc12fc1, "zfs", CACHED},
    {0x794c7630, "overlayfs", DISK}, {0x65735546, "fuse", DISK},    {0x6969, "nfs", DISK},
    {0x01021997, "9p", DISK},        {0xf15f, "ecryptfs", DISK},
};

static char here[512];
static const char *system_name = "the file system";
static char unfinished[32]; /* the name of what is being laid out */
static char piece[DISK_PIECE] __attribute__((aligned(BLOCKS_SECTOR)));

void disk_file_clean(void)
{
    if (*unfinished)
        unlink(unfinished);
    *unfinished = '\0';
}

/* --- what is here --- */

static void look_around(int direct)
{
    struct statfs system;

    if (!getcwd(here, sizeof here))
        strcpy(here, "the current directory");
    if (statfs(".", &system) != 0)
        kit_error("cannot ask which file system %s is on (%s): " ANOTHER, here, strerror(errno));
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        if (systems[i].type != (uint32_t)system.f_type)
            continue;
        system_name = systems[i].name;
        if (systems[i].kind == MEMORY)
            kit_skip("%s is on %s, which is memory and no disk: " ANOTHER, here, system_name);
        if (systems[i].kind == CACHED && direct)
            kit_note("%s may read from a cache of its own whatever O_DIRECT says", system_name);
    }
}

static void need_room(off_t size)
{
    struct statvfs system;
    int64_t free, needed = size + KEPT_FREE;

    if (statvfs(".", &system) != 0)
        kit_error("cannot ask for the free space of %s (%s): " ANOTHER, here, strerror(errno));
    free = (int64_t)system.f_bavail * (int64_t)system.f_frsize;
    if (free < needed)
        kit_skip("a file of %lld MiB needs %lld MiB free in %s and has %lld: " ANOTHER
                 " or a smaller size=",
                 (long long)(size / DISK_PIECE), (long long)(needed / DISK_PIECE), here,
                 (long long)(free / DISK_PIECE));
}

/* The alignment that direct access needs, from Linux 6.1. */
static void need_alignment(int file, size_t block)
{
#ifdef STATX_DIOALIGN
    struct statx told;

    if (statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &told) == 0 &&
        told.stx_mask & STATX_DIOALIGN) {
        if (told.stx_dio_offset_align == 0)
            kit_skip("%s of %s has no direct access to files: " ANOTHER, system_name, here);
        if (block % told.stx_dio_offset_align != 0)
            kit_skip("%s of %s reads and writes multiples of %u bytes past its cache: try a larger "
                     "block=",
                     system_name, here, told.stx_dio_offset_align);
    }
#endif
    if (pread(file, piece, block < sizeof piece ? block : sizeof piece, 0) < 0)
        kit_skip("%s of %s does not read %zu bytes past its cache (%s): " ANOTHER
                 " or a larger block=",
                 system_name, here, block, strerror(errno));
}

/* --- the file --- */

static int open_here(const char *name, int flags, int direct)
{
    int file = open(name, O_RDWR | O_CLOEXEC | flags | (direct ? O_DIRECT : 0), 0600);

    if (file >= 0 || (errno == ENOENT && !(flags & O_CREAT)))
        return file;
    if (errno == EINVAL && direct)
        kit_skip("%s of %s has no direct access to files (O_DIRECT): " ANOTHER, system_name, here);
    if (errno == ENOSPC || errno == EDQUOT)
        kit_skip("there is no room for %s in %s (%s): " ANOTHER, name, here, strerror(errno));
    kit_skip("cannot open %s for writing in %s (%s): " ANOTHER, name, here, strerror(errno));
}

static int is_laid(int file, off_t at)
{
    return pread(file, piece, sizeof piece, at) == sizeof piece &&
           blocks_right(piece, sizeof piece, at, NULL);
}

/*
 * What bears the name is complete: it got it when it was. Yet it may be somebody else's, or of
 * another size.
 */
static int find(off_t size, int direct)
{
    int file = open_here(NAME, 0, direct);
    struct stat had;

    if (file < 0)
        return -1;
    if (fstat(file, &had) == 0 && had.st_size == size && is_laid(file, 0) &&
        is_laid(file, size - DISK_PIECE))
        return file;
    close(file);
    unlink(NAME);
    return -1;
}

static void write_piece(int file, off_t at)
{
    ssize_t n;

    blocks_fill(piece, sizeof piece, (uint64_t)at);
    blocks_stamp(piece, sizeof piece, at, 0);
    n = pwrite(file, piece, sizeof piece, at);
    if (n == sizeof piece)
        return;
    if (n >= 0 || errno == ENOSPC || errno == EDQUOT)
        kit_skip("%s has no room after MiB %lld of the file: " ANOTHER " or a smaller size=", here,
                 (long long)(at / DISK_PIECE));
    kit_error("cannot write MiB %lld of the file in %s (%s): " ANOTHER,
              (long long)(at / DISK_PIECE), here, strerror(errno));
}

/* No holes and nothing left to be written back: what is read later comes from the disk. */
static int lay_out(off_t size, int direct, int keep)
{
    int file;

    need_room(size);
    snprintf(unfinished, sizeof unfinished, NAME "-%ld", (long)getpid());
    file = open_here(unfinished, O_CREAT | O_TRUNC, direct);
    if (!keep)
        disk_file_clean();
    for (off_t at = 0; at < size; at += DISK_PIECE) {
        write_piece(file, at);
        if (kit_abandoned())
            kit_leave();
    }
    if (fsync(file) != 0)
        kit_error("cannot bring the file in %s to the disk (%s): " ANOTHER, here, strerror(errno));
    if (keep && rename(unfinished, NAME) != 0)
        kit_error("cannot rename %s in %s (%s): " ANOTHER, unfinished, here, strerror(errno));
    *unfinished = '\0';
    return file;
}

int disk_file(off_t size, size_t block, int direct, int keep)
{
    int file;

    look_around(direct);
    file = keep ? find(size, direct) : -1;
    if (file < 0)
        file = lay_out(size, direct, keep);
    if (direct)
        need_alignment(file, block);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return file;
}
