/*
 * A library that counts what a program allocates: command/count has the system's loader put it
 * before the C library (LD_PRELOAD). It counts each call of malloc(3) and its relatives that gives
 * memory, with the bytes that were asked for, and hands it on. All processes of a command add to
 * one tally, a file that they share.
 *
 * As memcheck counts, realloc(3) is an allocation of the whole new size.
 *
 * It is linked with no library, so that it serves programs of any C library: that of the program
 * gives it dlsym(3), open(2) and mmap(2).
 */
#define _GNU_SOURCE
#include "command/allocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_BYTES = 8192, ALIGNMENT = 16 };

/* Before glibc 2.34, dlsym is in a library that a program need not have; then these serve. */
extern void *dlsym(void *handle, const char *name) __attribute__((weak));
extern void *__libc_malloc(size_t size) __attribute__((weak));
extern void *__libc_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__libc_realloc(void *memory, size_t size) __attribute__((weak));
extern void *__libc_memalign(size_t alignment, size_t size) __attribute__((weak));
extern void __libc_free(void *memory) __attribute__((weak));

typedef void function(void);
typedef void *allocate(size_t size);
typedef void *allocate_zeroed(size_t count, size_t size);
typedef void *allocate_again(void *memory, size_t size);
typedef void *allocate_aligned(size_t alignment, size_t size);
typedef void give_back(void *memory);

/* The allocator that comes after this library. */
static struct {
    allocate *malloc;
    allocate_zeroed *calloc;
    allocate_again *realloc;
    allocate_aligned *memalign;
    give_back *free;
} next;

/* Until the shared one is there, and where it is out of reach. */
static struct tally unshared;
static struct tally *tally = &unshared;
static int is_preparing, is_probing;

/* For dlsym, which may itself allocate; never given back. */
static char arena[ARENA_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t arena_used;

static void *take_from_arena(size_t size)
{
    void *const memory = arena + arena_used;

    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > ARENA_BYTES - arena_used)
        return NULL;
    arena_used += size;
    return memory;
}

static int is_in_arena(const void *memory)
{
    return (const char *)memory >= arena && (const char *)memory < arena + ARENA_BYTES;
}

static void add(unsigned long *count, unsigned long more)
{
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

/* Counts memory that was given; NULL was not. */
static void *count(void *memory, size_t size)
{
    if (memory) {
        add(&tally->allocations, 1);
        add(&tally->bytes, size);
    }
    return memory;
}

static function *find(const char *name, function *fallback)
{
    function *found = NULL;

    if (dlsym)
        *(void **)&found = dlsym(RTLD_NEXT, name);
    return found ? found : fallback;
}

static void share_tally(void)
{
    const char *path = getenv(ALLOCATIONS_VARIABLE);
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared;

    if (file < 0)
        return;
    shared = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED)
        return;
    tally = shared;
    add(&tally->allocations, unshared.allocations);
    add(&tally->bytes, unshared.bytes);
}

/*
 * True if a call of malloc comes here. It does not where the program has an allocator of its own,
 * which comes before any library.
 */
static int is_reached(void)
{
    is_probing = 1;
    free(malloc(1));
    if (!is_probing)
        return 1;
    is_probing = 0;
    return 0;
}

static void prepare(void)
{
    const int number = errno;

    if (next.malloc || is_preparing)
        return;
    is_preparing = 1;
    next.calloc = (allocate_zeroed *)find("calloc", (function *)__libc_calloc);
    next.realloc = (allocate_again *)find("realloc", (function *)__libc_realloc);
    next.memalign = (allocate_aligned *)find("memalign", (function *)__libc_memalign);
    next.free = (give_back *)find("free", (function *)__libc_free);
    next.malloc = (allocate *)find("malloc", (function *)__libc_malloc);
    is_preparing = 0;

    share_tally();
    add(&tally->programs, 1);
    if (!is_reached())
        add(&tally->own_allocator, 1);
    errno = number;
}

static __attribute__((constructor)) void begin(void)
{
    prepare();
}

static void *counted_malloc(size_t size)
{
    prepare();
    if (is_preparing)
        return take_from_arena(size);
    if (is_probing) {
        is_probing = 0;
        return next.malloc(size);
    }
    return count(next.malloc(size), size);
}

static void *counted_calloc(size_t number, size_t size)
{
    prepare();
    /* The arena is zero, and what is taken from it is not used again. */
    return is_preparing ? take_from_arena(number * size)
                        : count(next.calloc(number, size), number * size);
}

static void *counted_realloc(void *memory, size_t size)
{
    prepare();
    if (is_preparing)
        return NULL;
    if (!is_in_arena(memory))
        return count(next.realloc(memory, size), size);

    char *const moved = count(next.malloc(size), size);
    for (size_t i = 0; moved && i < size && is_in_arena((char *)memory + i); i++)
        moved[i] = ((char *)memory)[i];
    return moved;
}

static void *counted_memalign(size_t alignment, size_t size)
{
    prepare();
    return is_preparing ? NULL : count(next.memalign(alignment, size), size);
}

static int counted_posix_memalign(void **memory, size_t alignment, size_t size)
{
    const int number = errno;
    void *given;

    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    given = counted_memalign(alignment, size);
    errno = number;
    if (!given)
        return ENOMEM;
    *memory = given;
    return 0;
}

static void *counted_valloc(size_t size)
{
    return counted_memalign((size_t)getpagesize(), size);
}

static void uncounted_free(void *memory)
{
    prepare();
    if (!is_in_arena(memory) && next.free)
        next.free(memory);
}

/* The names that programs know; a call of one within this library may go elsewhere. */
void *malloc(size_t size) __attribute__((alias("counted_malloc")));
void *calloc(size_t number, size_t size) __attribute__((alias("counted_calloc")));
void *realloc(void *memory, size_t size) __attribute__((alias("counted_realloc")));
void *memalign(size_t alignment, size_t size) __attribute__((alias("counted_memalign")));
void *aligned_alloc(size_t alignment, size_t size) __attribute__((alias("counted_memalign")));
int posix_memalign(void **memory, size_t alignment, size_t size)
    __attribute__((alias("counted_posix_memalign")));
void *valloc(size_t size) __attribute__((alias("counted_valloc")));
void free(void *memory) __attribute__((alias("uncounted_free")));
