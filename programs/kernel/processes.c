/* Mappings, page faults, processes and threads: see operations.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/operations.h"
#include "kit.h"

enum {
    AREAS = 16,         /* mappings of a round */
    AREA = 64 << 10,    /* bytes of one without a file */
    STRIDE = 16 << 10,  /* of what a sparse mapping writes */
};

static char *areas[AREAS];
static sigjmp_buf back;
static pthread_t thread;

/* --- mappings --- */

static int mapped(int index)
{
    areas[index] = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    return areas[index] != MAP_FAILED;
}

/*
 * For reading only, so that no neighbour is like it and the kernel does not make one area of the
 * two.
 */
static int mapped_nothing(void)
{
    void *area = mmap(NULL, AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return area != MAP_FAILED && munmap(area, AREA) == 0;
}

/* As lmbench has it: shared, a byte written every 16 KiB of the first tenth, and unmapped again. */
static int mapped_sparsely(void)
{
    char *area = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (area == MAP_FAILED)
        return 0;
    for (long at = 0; at < size / 10; at += STRIDE)
        *(volatile char *)(area + at) = 'a';
    return munmap(area, (size_t)size) == 0;
}

WORK(map_file, mapped(i))
WORK(unmap_file, munmap(areas[i], (size_t)size) == 0)
WORK(touch_file, *(volatile char *)areas[i] == 'a')
WORK(map_nothing, mapped_nothing())
WORK(map_sparsely, mapped_sparsely())

static void map_all(void)
{
    if (map_file(AREAS) != AREAS)
        kit_error("cannot map a file (%s)", strerror(errno));
}

static void unmap_all(void)
{
    if (unmap_file(AREAS) != AREAS)
        kit_error("cannot unmap a file (%s)", strerror(errno));
}

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void make_fault(void)
{
    areas[0] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (areas[0] == MAP_FAILED || !handle(SIGSEGV, on_fault))
        kit_error("cannot map a page that may not be written (%s)", strerror(errno));
}

/* The signal and the return by a jump are in the time, as in lmbench. */
static int fault(int times)
{
    volatile int good = 0;

    for (volatile int i = 0; i < times; i++)
        if (sigsetjmp(back, 0) == 0)
            *(volatile char *)areas[0] = 1;
        else
            good++;
    return good;
}

/* --- processes and threads --- */

/* Each shared and mapped by itself: the kernel keeps as many areas. */
static void make_pages(void)
{
    for (int i = 0; i < number; i++) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            kit_skip("cannot map page %d of %d (%s): is vm.max_map_count too low?", i + 1, number,
                     strerror(errno));
        *page = 1;
    }
}

static pid_t forked(void)
{
    pid_t made = fork();

    if (made == 0)
        _exit(0);
    return made;
}

static void wait_for_children(void)
{
    int status;

    while (wait(&status) > 0)
        if (status != 0)
            kit_error("a child ended with wait status %d", status);
}

static int ended(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/*
 * exit, not _exit, as lmbench's child: what a C program does at its end touches half as many pages
 * again.
 */
static int exited(void)
{
    pid_t child = fork();

    if (child == 0)
        exit(0);
    return ended(child);
}

static int ran(const char *program, const char *one, const char *two)
{
    pid_t child = fork();

    if (child == 0) {
        execl(program, program, one, two, (char *)NULL);
        _exit(99);
    }
    return ended(child);
}

static void *end(void *nothing)
{
    return nothing;
}

static void join_thread(void)
{
    if (pthread_join(thread, NULL) != 0)
        kit_error("a thread did not end");
}

WORK(fork_child, forked() > 0)
WORK(fork_exit, exited())
WORK(fork_exec, ran("/bin/true", NULL, NULL))
WORK(fork_shell, ran("/bin/sh", "-c", "/bin/true"))
WORK(start_thread, pthread_create(&thread, NULL, end, NULL) == 0)

const struct operation process_operations[] = {
    {"mmap", .prepare = make_file, .work = map_file, .after = unmap_all, .times = AREAS},
    {"munmap", .prepare = make_file, .before = map_all, .work = unmap_file, .times = AREAS},
    {"map", .prepare = make_file, .work = map_sparsely, .times = 1},
    {"map-nothing", .work = map_nothing, .times = 20},
    {"page-fault", .prepare = make_file, .before = map_all, .work = touch_file, .after = unmap_all,
     .times = AREAS},
    {"protection-fault", .prepare = make_fault, .work = fault, .times = 32},
    {"fork", .prepare = make_pages, .work = fork_child, .after = wait_for_children, .times = 1},
    {"fork-exit", .work = fork_exit, .times = 1},
    {"fork-exec", .work = fork_exec, .times = 1},
    {"fork-shell", .work = fork_shell, .times = 1},
    {"thread", .work = start_thread, .after = join_thread, .times = 1},
    {.name = NULL},
};
