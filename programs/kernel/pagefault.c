/*
 * Page faults: fresh pages of anonymous memory are touched one by one, and given back together. One
 * count is a page: the fault, zeroing it, and its share of giving back. Huge pages are refused, so
 * that there is a fault for each page. Copies that are threads have pages of their own, in one
 * memory map.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kit.h"
#include "thread/team.h"

#ifdef RUSAGE_THREAD
#define OWN_USAGE RUSAGE_THREAD
#else
#define OWN_USAGE RUSAGE_SELF
#endif

enum {
    PAGES = 64, /* some 50 us */
    USUAL = 4096,
};

static size_t page;
static __thread volatile char *area;

/*
 * Writes first: reading would map the page of zeros that all share, and take a fault more. Returns
 * how many were fresh.
 */
static int touch_all(void)
{
    int fresh = 0;

    for (volatile char *at = area; at < area + PAGES * page; at += page) {
        at[0] = 1;
        fresh += at[1] == 0;
        at[1] = 1;
    }
    if (madvise((void *)area, PAGES * page, MADV_DONTNEED) != 0)
        kit_error("cannot give %d pages back (%s)", PAGES, strerror(errno));
    return fresh;
}

static long faults(void)
{
    struct rusage usage;

    getrusage(OWN_USAGE, &usage);
    return usage.ru_minflt;
}

static void prepare(struct kit_thread *me)
{
    long before;
    int fresh;

    (void)me;
    area = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        kit_error("cannot map %d pages (%s)", PAGES, strerror(errno));
#ifdef MADV_NOHUGEPAGE
    madvise((void *)area, PAGES * page, MADV_NOHUGEPAGE); /* refused where there are none */
#endif
    touch_all();
    before = faults();
    fresh = touch_all();
    kit_check("faults", (double)(faults() - before));
    kit_check("fresh", fresh);
}

static void work(struct kit_thread *me)
{
    (void)me;
    for (;;) {
        touch_all();
        kit_piece(PAGES);
    }
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    page = (size_t)sysconf(_SC_PAGESIZE);
    if (page != USUAL)
        kit_note("a page is %zu bytes here, and not %d", page, USUAL);
    team_prepare(prepare);
    team_start(work);
}
