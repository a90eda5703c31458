/*
 * Memory bandwidth: one count is a byte.
 *
 *   op=read|write|copy|triad|move  read sums up 64-bit words, write stores one over and over, copy
 *                                  stores what it loads, and triad is a[i] = b[i] + 3 c[i] in
 *                                  doubles. Bytes loaded and bytes stored count. move is the C
 *                                  library's memmove; moved bytes count once.
 *   size=l1|l2|l3|ram|BYTES        of each array: see caches.h
 *   stores=stream|plain            whether stores bypass the caches. Plain ones first fetch the
 *                                  line that they overwrite, traffic that does not count; on
 *                                  x86-64, arrays as large as ram get streaming ones.
 *   pages=huge|small               pages of the arrays
 *   width=16|32|64                 bytes of the vectors (the widest there are)
 *   wrong=1                        spoils a byte after the window, to see that this is noticed
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>

#include "kit.h"
#include "load/files.h"
#include "memory/caches.h"
#include "memory/loops.h"
#include "memory/pages.h"
#include "thread/team.h"

enum {
    PAGE = 4096,
    APART = 256, /* a load must not meet a store to the same place of another page */
    PIECE = 40000, /* ns of work between two looks at the clock */
    LONG_MOVE = 1 << 20, /* bytes: takes longer than a piece should */
    SAMPLES = 5,
    SAMPLE = 256 << 10, /* bytes to learn the speed from */
};

#define WORD UINT64_C(0x9e3779b97f4a7c15)

enum kind { READ, WRITE, COPY, TRIAD, MOVE };

static const struct operation {
    const char *name;
    size_t arrays, counted; /* counted: times the size of an array */
} operations[] = {[READ] = {"read", 1, 1},
                  [WRITE] = {"write", 1, 1},
                  [COPY] = {"copy", 2, 2},
                  [TRIAD] = {"triad", 3, 3},
                  [MOVE] = {"move", 2, 1}};

static enum kind kind;
static struct loops loops;
static int stream, wrong;
static size_t size;

/* Each copy has arrays of its own; the first is what is written, or read. */
static __thread char *arrays[3];
static __thread uint64_t sum, right_sum;
static __thread volatile size_t covered; /* bytes that were worked on within the window */
static __thread double speed; /* ns for a byte of an array */

/* Whether a copy read other sums than it should. */
static volatile int misread;

/* --- the work and its proof --- */

/* Waits until what was stored has left the core: streaming stores are buffered there. */
static void drain(void)
{
#ifdef __x86_64__
    if (stream)
        __asm__ volatile("sfence" ::: "memory");
#endif
}

static void pass_over(size_t at, size_t bytes, long passes)
{
    switch (kind) {
    case READ:
        sum += loops.read(arrays[0] + at, bytes, passes);
        break;
    case WRITE:
        loops.write(arrays[0] + at, WORD, bytes, passes, stream);
        break;
    case COPY:
        loops.copy(arrays[0] + at, arrays[1] + at, bytes, passes, stream);
        break;
    case TRIAD:
        loops.triad(arrays[0] + at, arrays[1] + at, arrays[2] + at, bytes, passes, stream);
        break;
    case MOVE:
        for (; passes > 0; passes--) {
            memmove(arrays[0] + at, arrays[1] + at, bytes);
            __asm__ volatile("" ::: "memory"); /* no pass may be left out */
        }
        break;
    }
    drain();
}

static uint64_t sum_of(const void *array, size_t bytes)
{
    const uint64_t *words = array;
    uint64_t all = 0;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        all += words[i];
    return all;
}

static int is_written(const uint64_t *words, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        if (words[i] != WORD)
            return 0;
    return 1;
}

static int is_triad(const double *a, const double *b, const double *c, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        if (a[i] != b[i] + LOOPS_FACTOR * c[i])
            return 0;
    return 1;
}

/* Whether the first bytes of the array are what they should be. */
static int is_right(size_t bytes)
{
    switch (kind) {
    case READ:
        return !misread && loops.read(arrays[0], size, 1) == right_sum;
    case WRITE:
        return is_written((const void *)arrays[0], bytes);
    case TRIAD:
        return is_triad((const void *)arrays[0], (const void *)arrays[1], (const void *)arrays[2],
                        bytes);
    default:
        return memcmp(arrays[0], arrays[1], bytes) == 0;
    }
}

/*
 * The last call, from the timer's handler: the work is interrupted, perhaps in the middle of a
 * piece. The handler runs in the first copy, whose arrays are looked at.
 */
static void prove(int finished)
{
    if (!finished)
        return;
    kit_stop();
    if (wrong)
        arrays[0][covered / 2] ^= 1;
    /* Of a large move that outlasts the window, while other copies' moves do not, nothing is looked
     * at. */
    kit_report("check after %d\n", is_right(covered));
}

/* --- preparation --- */

static enum kind operation(void)
{
    const char *name = kit_arg("op", "read");

    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(name, operations[i].name) == 0)
            return (enum kind)i;
    kit_error("unknown op=%s: try read, write, copy, triad or move", name);
}

static int stores(void)
{
    const char *word = kit_arg("stores", "");
    int streams = strcmp(word, "stream") == 0;

    if (!*word)
        return loops_can_stream && kind != READ && kind != MOVE && size >= caches_ram();
    if (!streams && strcmp(word, "plain") != 0)
        kit_error("stores=%s is neither stream nor plain", word);
    if (streams && !loops_can_stream)
        kit_skip("streaming stores are used on x86-64 only: try stores=plain");
    return streams;
}

/* Small whole numbers, so that the sums are exact. */
static void make_numbers(void *array)
{
    const uint64_t *words = array;
    double *numbers = array;

    for (size_t i = 0; i < size / sizeof *words; i++) {
        double number = (double)(words[i] & 0xfffff);
        memcpy(numbers + i, &number, sizeof number);
    }
}

/* Memory that an array takes. */
static size_t room_for(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE + APART;
}

/*
 * Has arrays for memory fit where there is little of it, if all together still have twice what the
 * largest cache has.
 */
static void fit(void)
{
    const size_t number = operations[kind].arrays, wanted = size;
    size_t most;

    if (strcmp(kit_arg("size", ""), "ram") != 0)
        return;
    most = pages_most() / 16 * 15 / number / PAGE * PAGE; /* others take memory meanwhile */
    if (room_for(size) <= most || most * number < caches_ram() / 2)
        return;
    size = most - PAGE;
    kit_note("each array has %zu MiB, and not the %zu MiB that are four times the largest cache: "
             "memory has no room for that",
             size >> 20, wanted >> 20);
}

static void lay_arrays(void)
{
    const size_t number = operations[kind].arrays, room = room_for(size);
    char *memory = pages_map(number * room);

    for (size_t i = 0; i < number; i++) {
        arrays[i] = memory + i * room;
        files_random(arrays[i], (size + 7) / 8 * 8, i);
        if (kind == TRIAD)
            make_numbers(arrays[i]);
    }
    if (kind == READ)
        right_sum = sum_of(arrays[0], size);
    kit_value("huge", 100 * pages_huge(memory, number * room), "%");
}

/*
 * The least ns for a byte of an array. Of a large one each sample takes another part, which no
 * cache has.
 */
static double learn_speed(void)
{
    const size_t bytes = size < SAMPLE ? size : SAMPLE,
                 apart = (size - bytes) / (2 * SAMPLES) / LOOPS_STEP * LOOPS_STEP;
    const long passes = (long)(SAMPLE / bytes);
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < SAMPLES; i++) {
        int64_t start = kit_now(), took;
        pass_over(i * apart, bytes, passes);
        took = kit_now() - start;
        if (took < least)
            least = took;
    }
    return (double)(least > 0 ? least : 1) / ((double)bytes * (double)passes);
}

/* --- the loops --- */

/* One piece is as many passes, or as large a part of one, as take PIECE ns. */
static _Noreturn void go_over(void)
{
    const long whole_passes = (long)(PIECE / speed / (double)size);
    const long passes = whole_passes > 1 ? whole_passes : 1;
    const size_t steps = (size_t)(PIECE / speed) / LOOPS_STEP + 1;
    const size_t piece = whole_passes || kind == MOVE || steps * LOOPS_STEP > size
                             ? size
                             : steps * LOOPS_STEP;

    for (size_t at = 0;;) {
        size_t bytes = size - at < piece ? size - at : piece;

        pass_over(at, bytes, passes);
        at += bytes;
        if (covered < at)
            covered = at;
        kit_piece(operations[kind].counted * bytes * (size_t)passes);

        if (at == size) {
            if (kind == READ && sum != right_sum * (uint64_t)passes)
                __atomic_store_n(&misread, 1, __ATOMIC_RELAXED);
            sum = 0;
            at = 0;
        }
    }
}

/*
 * Moves that take longer than a piece are noted one by one, so that a slice ends with a move; those
 * of several threads end at different moments.
 */
static _Noreturn void move_whole(struct kit_thread *me)
{
    for (;;) {
        pass_over(0, size, 1);
        covered = size;
        if (team_number() == 1)
            kit_tick(size);
        else
            me->count += size;
    }
}

static void prepare(struct kit_thread *me)
{
    (void)me;
    lay_arrays();
    pass_over(0, size, 1);
    kit_check("before", is_right(size));
    speed = learn_speed();
    if (kind != READ)
        memset(arrays[0], 0, size);
    sum = 0;
}

static void work(struct kit_thread *me)
{
    if (kind == MOVE && size > LONG_MOVE)
        move_whole(me);
    go_over();
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    kind = operation();
    wrong = (int)kit_arg_number("wrong", 0, 0, 1);
    loops = loops_of((int)kit_arg_number("width", 0, 16, 64));
    size = caches_size((int)operations[kind].arrays, kind == MOVE ? 1 : LOOPS_STEP);
    stream = stores();
    fit();
    kit_value("size", (double)size, "B");
    if (kind != MOVE)
        kit_value("width", loops.width, "B");
    kit_at_end(prove);
    team_prepare(prepare);
    team_start(work);
}
