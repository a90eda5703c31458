/* Mappings and page faults that core.c times: see operations.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/operations.h"
#include "kit.h"

enum { STRIDE = 16 << 10 }; /* of what a sparse mapping writes */

static char *areas[AREAS];
static sigjmp_buf back;

int map_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        areas[i] = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
        good += areas[i] != MAP_FAILED;
    }
    return good;
}

int unmap_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += munmap(areas[i], (size_t)size) == 0;
    return good;
}

int touch_file(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++)
        good += *(volatile char *)areas[i] == 'a';
    return good;
}

void map_all(void)
{
    if (map_file(AREAS) != AREAS)
        kit_error("cannot map a file (%s)", strerror(errno));
}

void unmap_all(void)
{
    if (unmap_file(AREAS) != AREAS)
        kit_error("cannot unmap a file (%s)", strerror(errno));
}

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

void make_fault(void)
{
    areas[0] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (areas[0] == MAP_FAILED || !handle(SIGSEGV, on_fault))
        kit_error("cannot map a page that may not be written (%s)", strerror(errno));
}

/* The signal and the return by a jump are in the time, as in lmbench. */
int fault(int times)
{
    volatile int good = 0;

    for (volatile int i = 0; i < times; i++)
        if (sigsetjmp(back, 0) == 0)
            *(volatile char *)areas[0] = 1;
        else
            good++;
    return good;
}

/* As lmbench has it: shared, a byte written every 16 KiB of the first tenth, and unmapped again. */
int map_sparsely(int times)
{
    int good = 0;

    for (int i = 0; i < times; i++) {
        char *area = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (area == MAP_FAILED)
            break;
        for (long at = 0; at < size / 10; at += STRIDE)
            *(volatile char *)(area + at) = 'a';
        good += munmap(area, (size_t)size) == 0;
    }
    return good;
}
