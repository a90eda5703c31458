/* Pages: see pages.h. */
#define _GNU_SOURCE
#include "memory/pages.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "burn/room.h"
#include "kit.h"

enum { MIB = 1 << 20, HUGE_PAGE = 2 * MIB, SHARE = 8 };

static size_t whole(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static int wants_huge(void)
{
    const char *pages = kit_arg("pages", "huge");
    int huge = strcmp(pages, "huge") == 0;

    if (!huge && strcmp(pages, "small") != 0)
        kit_error("pages=%s is neither huge nor small", pages);
    return huge;
}

/*
 * Copies beside this one take as much: an eighth, or of many half as much as there is for each,
 * leaves room for everyone.
 */
static long share(void)
{
    const long copies = kit_arg_number("copies", 1, 1, 1000000);

    return 2 * copies > SHARE ? 2 * copies : SHARE;
}

static size_t most(const struct room *room)
{
    uint64_t bytes;

    if (room->available <= 0)
        return SIZE_MAX;
    bytes = (uint64_t)(room->available / MIB / share() * MIB);
    return bytes >= SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

size_t pages_most(void)
{
    struct room room;

    room_look(&room);
    return most(&room);
}

void *pages_map(size_t size)
{
    const long mib = (long)((size + MIB - 1) / MIB);
    const int huge = wants_huge();
    struct room room;
    char *memory, *start;

    room_look(&room);
    if (size > most(&room))
        kit_skip("%ld MiB are more than 1/%ld of the %ld MiB of memory available in %s: try a "
                 "smaller size=, or fewer copies",
                 mib, share(), (long)(room.available / MIB), room.place);
    memory = mmap(NULL, whole(size) + HUGE_PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        kit_skip("%ld MiB of memory were refused (%s): try a smaller size=", mib, strerror(errno));
    start = memory + (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    /* A kernel without huge pages refuses either, and gives small ones. */
    (void)madvise(start, whole(size), huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return start;
}

double pages_huge(const void *memory, size_t size)
{
    const unsigned long from = (unsigned long)(uintptr_t)memory, to = from + size;
    FILE *maps = fopen("/proc/self/smaps", "re");
    unsigned long first, end, kib, found = 0, all = 0;
    int inside = 0;
    char line[512];

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
            inside = first < to && end > from;
        else if (inside && sscanf(line, "AnonHugePages: %lu", &kib) == 1)
            found += kib;
        else if (inside && sscanf(line, "Rss: %lu", &kib) == 1)
            all += kib;
    }
    if (maps)
        fclose(maps);
    return all ? (double)found / (double)all : 0;
}
