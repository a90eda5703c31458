/*
 * Execl throughput: the process replaces itself with itself, again and again. One count is one
 * execve and the start of the new image up to main: mostly the kernel's work on the address space
 * and the dynamic linker's.
 *
 * A timer does not survive execve, so every image reads the clock. What it must know is in its
 * arguments:
 *
 *     PATH again COUNT EDGE_NS MEMORY
 *
 * MEMORY is a file in memory that the images inherit and touch at slice edges only. An image that
 * is not the last one goes nowhere near kit_init.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit.h"
#include "speech.h"

/* counts after which stdin is checked: less than a second even if many copies share a CPU */
enum { WATCH = 16 };

/* At the head of the memory; then one record per slice. */
struct plan {
    struct kit_window window;
    long recorded;
};

struct record {
    int64_t end;
    unsigned long count;
};

/* Makes the image as large as a small real program: mapping this is part of what is measured. */
__attribute__((used)) static char ballast[8192];

static _Noreturn void again(char *path, unsigned long count, int64_t edge, char *memory)
{
    char count_text[24], edge_text[24];

    snprintf(count_text, sizeof count_text, "%lu", count);
    snprintf(edge_text, sizeof edge_text, "%lld", (long long)edge);
    execl(path, path, "again", count_text, edge_text, memory, (char *)NULL);
    kit_error("cannot execute %s again after %lu times (%s)", path, count, strerror(errno));
}

static void store(int memory, const void *data, size_t size, off_t at)
{
    if (pwrite(memory, data, size, at) != (ssize_t)size)
        kit_error("cannot note a slice (%s)", strerror(errno));
}

static void load(int memory, void *data, size_t size, off_t at)
{
    if (pread(memory, data, size, at) != (ssize_t)size)
        kit_error("cannot read what the image before noted (%s)", strerror(errno));
}

static off_t place(long slice)
{
    return (off_t)(sizeof(struct plan) + (size_t)slice * sizeof(struct record));
}

static _Noreturn void report(int memory, const struct plan *plan)
{
    struct record before = {plan->window.start, 0}, here;

    for (long i = 0; i < plan->recorded; i++) {
        load(memory, &here, sizeof here, place(i));
        kit_slice(before.end, here.end, here.count - before.count);
        before = here;
    }
    kit_finish();
}

/* Notes the slice that is over, and returns when the next one will be. */
static int64_t note_slice(int memory, unsigned long count, int64_t now)
{
    struct record here = {now, count};
    struct plan plan;

    load(memory, &plan, sizeof plan, 0);
    store(memory, &here, sizeof here, place(plan.recorded++));
    store(memory, &plan, sizeof plan, 0);
    if (plan.recorded >= plan.window.slices)
        report(memory, &plan);
    return plan.window.first_edge + plan.recorded * plan.window.slice;
}

static void look_around(int memory, unsigned long count, int64_t now)
{
    struct plan plan;

    if (!kit_abandoned())
        return;
    load(memory, &plan, sizeof plan, 0);
    if (plan.window.slices > 0)
        _exit(0);
    note_slice(memory, count, now);
}

static _Noreturn void next_image(char **argv)
{
    unsigned long count = strtoul(argv[2], NULL, 10) + 1;
    int64_t edge = strtoll(argv[3], NULL, 10), now = kit_now();
    int memory = atoi(argv[4]);

    if (count % WATCH == 0)
        look_around(memory, count, now);
    if (now >= edge)
        edge = note_slice(memory, count, now);
    again(argv[0], count, edge, argv[4]);
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    char memory_text[24];
    int memory;

    if (argc == 5 && strcmp(argv[1], "again") == 0)
        next_image(argv);
    kit_init(argc, argv);
    if (!strchr(argv[0], '/'))
        kit_error("%s was not started by its path: try ./%s", argv[0], argv[0]);
    memory = memfd_create("slices", 0);
    if (memory < 0)
        kit_error("cannot make a file in memory (%s)", strerror(errno));
    kit_hear();
    speech_flush(); /* what was kept so far would go with this image */
    plan.window = kit_wait();
    store(memory, &plan, sizeof plan, 0);
    snprintf(memory_text, sizeof memory_text, "%d", memory);
    again(argv[0], 0, plan.window.slices ? plan.window.first_edge : INT64_MAX, memory_text);
}
