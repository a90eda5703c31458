/* Caches: see caches.h. */
#define _GNU_SOURCE
#include "memory/caches.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

enum { LEVELS = 4, INDICES = 16, MIB = 1 << 20, MIN_RAM_BYTES = 64 * MIB };

/* Of what holds data; a size of 0 is none. */
static struct cache {
    size_t size;
    int sharers; /* logical processors */
} caches[LEVELS + 1];

/* --- what there is --- */

static int read_word(int cpu, int index, const char *what, char *word, size_t size)
{
    char path[128];
    FILE *file;
    int good;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, what);
    file = fopen(path, "re");
    if (!file)
        return 0;
    good = fgets(word, (int)size, file) != NULL;
    fclose(file);
    return good;
}

/* How many a list such as 0-3,8-11 names. */
static int length_of(const char *list)
{
    int length = 0;
    char *end;

    for (;; list = end + 1) {
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return length;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        length += (int)(last - first) + 1;
        if (*end != ',')
            return length;
    }
}

static void read_index(int cpu, int index)
{
    char level[16], type[32], size[32], shared[4096];
    const char *end;
    long number;

    if (!read_word(cpu, index, "level", level, sizeof level) ||
        !read_word(cpu, index, "type", type, sizeof type) ||
        !read_word(cpu, index, "size", size, sizeof size) || strncmp(type, "Instruction", 11) == 0)
        return;
    number = strtol(level, NULL, 10);
    if (number < 1 || number > LEVELS)
        return;
    caches[number].size = (size_t)kit_bytes(size, &end);
    caches[number].sharers =
        read_word(cpu, index, "shared_cpu_list", shared, sizeof shared) ? length_of(shared) : 0;
    if (caches[number].sharers < 1)
        caches[number].sharers = 1;
}

/* What the C library knows, if the kernel reports nothing. */
static void ask_library(void)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};

    for (int level = 1; level <= 3; level++) {
        long size = sysconf(names[level - 1]);
        caches[level] = (struct cache){size > 0 ? (size_t)size : 0, 1};
    }
#endif
}

static void find_caches(void)
{
    int cpu = sched_getcpu();

    for (int index = 0; index < INDICES; index++)
        read_index(cpu < 0 ? 0 : cpu, index);
    if (!caches[1].size)
        ask_library();
}

/* --- sizes --- */

static size_t of_level(int level)
{
    const struct cache *cache = caches + level, *below = cache - 1;
    size_t share, size;

    if (!cache->size)
        kit_skip("no data cache of level %d is known here: try size=BYTES", level);
    if (level == 1)
        return cache->size / 2;
    /* Threads of one core share its first level. */
    share = cache->size /
            (size_t)(cache->sharers > caches[1].sharers ? cache->sharers / caches[1].sharers : 1);
    size = level == 2 ? share / 8 * 3 : share / 4;
    if (size < 3 * below->size)
        size = 3 * below->size;
    if (size > cache->size / 2)
        size = cache->size / 2;
    if (size < 2 * below->size)
        kit_skip("the cache of level %d is hardly larger than the one below: try size=BYTES",
                 level);
    if (size > share)
        kit_note("a core's share of the cache of level %d, %zu KiB, is hardly more than the cache "
                 "below: %zu KiB are used, "
                 "which do not fit for all cores at once",
                 level, share >> 10, size >> 10);
    return size;
}

size_t caches_ram(void)
{
    size_t last = 0;

    if (!caches[1].size)
        find_caches();
    for (int level = 1; level <= LEVELS; level++)
        if (caches[level].size > last)
            last = caches[level].size;
    return 4 * last > MIN_RAM_BYTES ? 4 * last : MIN_RAM_BYTES;
}

size_t caches_size(int arrays, size_t step)
{
    const char *word = kit_arg("size", "l1");
    size_t size;
    const char *end;

    find_caches();
    if (strcmp(word, "ram") == 0)
        size = caches_ram();
    else if (word[0] == 'l' && word[1] >= '1' && word[1] <= '0' + LEVELS && !word[2])
        size = of_level(word[1] - '0') / (size_t)arrays;
    else {
        size = (size_t)kit_bytes(word, &end);
        if (end == word || *end || size < step || size > SIZE_MAX / 16)
            kit_error("size=%s is none of l1, l2, l3, ram and a number of bytes from %zu, such as "
                      "5k or 50m",
                      word, step);
    }
    return size / step * step;
}
