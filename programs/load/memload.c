/*
 * Memory pressure: copies from one place of a large memory to another, over and over. One count is
 * 64 KiB copied.
 *
 *   share=PERCENT  of the memory that is available, at most 8 GiB, and 512 MiB stay
 *   swap=0|1       1: of memory and swap together, so that the kernel has to swap
 *   limit=MIB      for a program in a memory cgroup of that limit: half of it is memory of its own,
 *                  into which it copies a file of twice the limit, so that the kernel must take
 *                  back pages of the file all the time, without swap. The file is `load-data` in
 *                  the current directory and stays there for the next trial. With swap=1 it has
 *                  twice the limit of its own, and no file: half of what it copies must come back
 *                  from the swap.
 *   duty=PERCENT   of the time it works
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum {
    MIB = 1 << 20,
    PIECE_BYTES = 64 << 10,
    MAX_MIB = 8192,
    SPARED_MIB = 512,
    MIN_MIB = 16,
    LOOK_EVERY_MIB = 64
};

#define LONGEST_FILL INT64_C(8000000000)

static char *memory, *source; /* source: the file, or the memory itself */
static size_t pieces, source_pieces;
static long wanted; /* MiB */
static long spares; /* whether some memory must stay available */

/* The first to go where memory ends: a load must not cost the user another process. */
static void offer_to_killer(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0 && write(file, "1000", 4) != 4)
        crew_fail("cannot offer itself to the out-of-memory killer (%s)", strerror(errno));
    if (file >= 0)
        close(file);
}

/*
 * Touches the memory, until others would run short or time is up. What cannot be compressed is in
 * it. Returns MiB.
 */
static long touch(void)
{
    const int64_t deadline = kit_now() + LONGEST_FILL;
    long done = 0;

    for (; done < wanted && kit_now() < deadline; done++) {
        if (spares && done % LOOK_EVERY_MIB == 0 &&
            files_memory("MemAvailable") < SPARED_MIB + LOOK_EVERY_MIB)
            break;
        files_random(memory + (size_t)done * MIB, MIB, (uint64_t)done);
    }
    return done;
}

static void map_memory(void)
{
    memory = mmap(NULL, (size_t)wanted * MIB, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        crew_fail("cannot map %ld MiB (%s): try a smaller share=", wanted, strerror(errno));
    pieces = (size_t)touch() * (MIB / PIECE_BYTES);
    if (pieces == 0)
        crew_fail("less than %d MiB of memory are available: end other programs first",
                  SPARED_MIB + LOOK_EVERY_MIB);
}

static void press(long number)
{
    size_t to = 0, from;

    (void)number;
    offer_to_killer();
    map_memory();
    if (!source) {
        source = memory;
        source_pieces = pieces;
    }
    from = source_pieces / 2;
    crew_go();
    for (;;) {
        memcpy(memory + to * PIECE_BYTES, source + from * PIECE_BYTES, PIECE_BYTES);
        to = (to + 1) % pieces;
        from = (from + 1) % source_pieces;
        ++*crew_count;
        crew_rest();
    }
}

static long number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[32] = "";

    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    return text[0] >= '0' && text[0] <= '9' ? (long)(strtoull(text, NULL, 10) / MIB) : -1;
}

/* MiB that one cgroup leaves, or `most` if it has no limit. */
static long left_in(const char *folder, const char *limit, const char *usage, long most)
{
    char path[640];
    long high, used;

    snprintf(path, sizeof path, "%s/%s", folder, limit);
    high = number_in(path);
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    used = number_in(path);
    if (high < 0 || used < 0)
        return most;
    return high - used < most ? high - used : most;
}

/* The least of what the cgroup and those above it leave. */
static long left_in_cgroups(char *folder, size_t root, int unified, long most)
{
    for (;;) {
        char *slash = strrchr(folder, '/');
        most = unified ? left_in(folder, "memory.max", "memory.current", most)
                       : left_in(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", most);
        if (!slash || slash < folder + root)
            return most;
        *slash = '\0';
    }
}

/* MiB that this process may still use: what is available on the machine, and in its cgroups. */
static long available(void)
{
    static const char unified[] = "/sys/fs/cgroup", old[] = "/sys/fs/cgroup/memory";
    long most = files_memory("MemAvailable");
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[512], folder[576], *path;

    while (file && fgets(line, sizeof line, file)) {
        int is_unified = strncmp(line, "0::", 3) == 0;
        line[strcspn(line, "\n")] = '\0';
        path = is_unified ? line + 3 : strstr(line, ":memory:");
        if (!path)
            continue;
        path += is_unified ? 0 : strlen(":memory:");
        snprintf(folder, sizeof folder, "%s%s", is_unified ? unified : old,
                 strcmp(path, "/") == 0 ? "" : path);
        most = left_in_cgroups(folder, is_unified ? sizeof unified - 1 : sizeof old - 1, is_unified,
                               most);
    }
    if (file)
        fclose(file);
    return most;
}

static void take_share(long percent, long with_swap)
{
    long there = available(), swap = files_memory("SwapFree");

    if (with_swap && swap == 0)
        kit_skip("there is no swap: try swap=0, or swapon");
    spares = !with_swap;
    wanted = (with_swap ? there + swap : there) * percent / 100;
    if (spares && wanted > there - SPARED_MIB)
        wanted = there - SPARED_MIB;
    if (wanted > MAX_MIB)
        wanted = MAX_MIB;
    if (wanted < MIN_MIB)
        kit_skip("of %ld MiB of memory too little is left for a load, as %d MiB stay: end other "
                 "programs first",
                 there, SPARED_MIB);
}

/* A limit in which the program's own memory does not fit. */
static void overrun_limit(long limit)
{
    const long swap = files_memory("SwapFree");

    wanted = 2 * limit;
    if (swap < wanted)
        kit_skip(
            "%ld MiB of swap are free, and it needs %ld: try a condition that adds some, swap=%ld",
            swap, wanted, 2 * wanted);
}

static void take_limit(long limit)
{
    long mib = 2 * limit;
    int file = files_data(&mib);

    wanted = limit / 2;
    source = mmap(NULL, (size_t)mib * MIB, PROT_READ, MAP_SHARED, file, 0);
    if (source == MAP_FAILED)
        kit_error("cannot map %s (%s): try another --dir", FILES_DATA, strerror(errno));
    source_pieces = (size_t)mib * (MIB / PIECE_BYTES);
    files_forget(file); /* pages that are in memory already would be charged to whoever read them */
}

int main(int argc, char **argv)
{
    long limit, percent, with_swap;

    kit_init(argc, argv);
    percent = kit_arg_number("share", 60, 1, 85);
    with_swap = kit_arg_number("swap", 0, 0, 1);
    limit = kit_arg_number("limit", 0, 16, 4096);
    if (limit && with_swap)
        overrun_limit(limit);
    else if (limit)
        take_limit(limit);
    else
        take_share(percent, with_swap);
    crew_take_duty();
    crew_open(1);
    crew_hire(press, 0);
    crew_run();
}
