/*
 * Memory burn-in: writes patterns all over a memory area, on all processors, and checks that they
 * stay. One count is a MiB written or read. It takes only what others do not need, gives it back
 * when they need more, and is the OOM killer's first choice.
 *
 *   size=BYTES (or k, m, g)   default four fifths of what is available; passes take less while
 *                             there is less
 *   threads=N                 default one per CPU
 *   patterns=A,B,...          default all of patterns.c
 *   passes=N                  0: for ever
 *   flip=PATTERN|all          for the tests: flips one bit in each pass of that pattern
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn/burn.h"
#include "burn/fault.h"
#include "burn/patterns.h"
#include "burn/room.h"
#include "kit.h"

enum {
    MIB = 1 << 20,
    HUGE_PAGE = 2 << 20,
    LOOK_MS = 100,     /* between looks at the memory that others have left */
    STALLED = 10,      /* percent of the time that tasks wait for memory: others suffer */
    ON_FAULT = 1,      /* MLOCK_ONFAULT: some C libraries lack the name */
    PIECE = 256 * MIB, /* unmapped at once: freeing this much takes some ms */
};

#define SECOND INT64_C(1000000000)
#define PATIENCE (10 * SECOND) /* what the kernel's average looks back on */

/* A thread's share of a sweep, from which others help themselves when they have done theirs. */
struct share {
    atomic_size_t next;
    size_t end;
    atomic_ullong bytes; /* what the thread has done, in all sweeps */
} __attribute__((aligned(128)));

static struct share *shares;
static int threads;

static struct sweep sweep;
static size_t wanted, mapped; /* chunks, bytes */
static char *mapping;
static const char *chosen, *flipped;

/* The sweep's number announces it to the threads; the last to finish its part signals the end. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static unsigned long sweeps;
static atomic_int busy, halted;
static int all_done = -1;

/* Of the pass: when it began, what was done before, and how much it will be. */
static uint64_t before, total;
static unsigned long faults_told;
static int64_t last_stage, last_look, patient_until;
static char reason[320]; /* of giving memory back */

static uint64_t done_in_all(void)
{
    uint64_t bytes = 0;

    for (int i = 0; i < threads; i++)
        bytes += atomic_load_explicit(&shares[i].bytes, memory_order_relaxed);
    return bytes;
}

static unsigned long mib_done(void)
{
    return (unsigned long)(done_in_all() / MIB);
}

/* --- the memory --- */

static int64_t may_take(struct room *room)
{
    const int64_t addresses = SIZE_MAX / 4;

    room_look(room);
    return room->available - room->reserve < addresses ? room->available - room->reserve
                                                       : addresses;
}

/* Locks without touching: that is what the threads do, all at once. */
static void lock_memory(void)
{
    struct rlimit limit = {0};

    if (syscall(SYS_mlock2, mapping, mapped, ON_FAULT) == 0)
        return;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    limit.rlim_cur -= limit.rlim_cur % HUGE_PAGE;
    if (limit.rlim_cur == 0 || limit.rlim_cur > mapped ||
        syscall(SYS_mlock2, mapping, limit.rlim_cur, ON_FAULT) != 0)
        limit.rlim_cur = 0;
    if (!sweeps)
        kit_note("of %zu MiB only %llu are locked in memory (%s): what is swapped tests the disk; "
                 "try root, or `ulimit -l`",
                 mapped / MIB, (unsigned long long)limit.rlim_cur / MIB, strerror(errno));
}

/* Returns whether there is room for it in the address space. */
static int map(void)
{
    const size_t size = wanted * CHUNK + HUGE_PAGE;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);

    if (at == MAP_FAILED)
        return 0;
    madvise(at, size, MADV_HUGEPAGE);
    madvise(at, size, MADV_DONTDUMP);
    mapping = at;
    mapped = size;
    sweep.memory = at + (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    sweep.chunks = wanted;
    return 1;
}

/* From the end and piece by piece, to keep reading stdin meanwhile. */
static void unmap(char *from, size_t size)
{
    while (size) {
        size_t piece = size < PIECE ? size : PIECE;
        size -= piece;
        munmap(from + size, piece);
        burn_wait(-1, 0);
    }
}

static void give_back(size_t chunks)
{
    const size_t head = (size_t)(sweep.memory - mapping);

    sweep.chunks = sweep.chunks > chunks + GROUP ? sweep.chunks - chunks : GROUP;
    unmap(sweep.memory + sweep.chunks * CHUNK, mapped - head - sweep.chunks * CHUNK);
    mapped = head + sweep.chunks * CHUNK;
    burn_say("shrunk %zu %s", sweep.chunks * CHUNK, reason);
}

/* What is available, less what is mapped and not touched yet. */
static int64_t left_for_others(struct room *room)
{
    const int64_t untouched = (int64_t)(sweep.chunks * CHUNK) - room_resident();

    room_look(room);
    return room->available - (untouched > 0 ? untouched : 0);
}

/* --- what others need --- */

static void say_stage(void)
{
    const unsigned long faults = atomic_load(&burn_faults);

    if (faults != faults_told)
        burn_say("faults %lu", faults);
    faults_told = faults;
    burn_say("stage %ld %s %llu %llu", sweep.pass, sweep.pattern->name,
             (unsigned long long)(done_in_all() - before), (unsigned long long)total);
    last_stage = kit_now();
}

/*
 * How many chunks to give up for others: if less is left for them than that share of the reserve,
 * or they wait for memory. Not if a quarter of it is available, because then this program is not
 * what makes them wait; nor soon after memory was mapped, because the kernel may then have had to
 * move pages to make huge ones.
 */
static size_t too_many(int share)
{
    const int64_t tenth = (int64_t)sweep.chunks / 10 + 1;
    struct room room;
    const int64_t left = left_for_others(&room), missing = (room.reserve - left) / CHUNK + 1;
    double stalled;

    if (left < room.reserve / share) {
        snprintf(reason, sizeof reason, "%lld MiB were left for others in %s",
                 (long long)(left / MIB), room.place);
        return (size_t)(missing > tenth ? missing : tenth);
    }
    stalled = room_pressure();
    if (stalled < STALLED || room.available > room.all / 4 || kit_now() < patient_until)
        return 0;
    snprintf(reason, sizeof reason, "some task waited for memory %.0f %% of the time", stalled);
    patient_until = kit_now() + PATIENCE;
    return (size_t)tenth;
}

/*
 * Reports progress once a second, and ten times a second makes the threads stop if others need
 * memory.
 */
static void look_around(size_t *excess)
{
    const int64_t now = kit_now();

    if (now - last_stage >= SECOND)
        say_stage();
    if (*excess || now - last_look < LOOK_MS * (SECOND / 1000) || sweep.chunks <= GROUP)
        return;
    last_look = now;
    *excess = too_many(2);
    if (*excess)
        atomic_store(&halted, 1);
}

/* --- threads --- */

/* The next part that is this thread's, or else another's. Returns whether there is any. */
static int take(int thread, size_t *part)
{
    for (int i = 0; i < threads && !atomic_load(&halted); i++) {
        struct share *share = &shares[(thread + i) % threads];
        if (atomic_load(&share->next) >= share->end)
            continue;
        *part = atomic_fetch_add(&share->next, 1);
        if (*part < share->end)
            return 1;
    }
    return 0;
}

static void work(int thread)
{
    const uint64_t one = 1;
    unsigned long known = 0;
    size_t part;

    for (;;) {
        pthread_mutex_lock(&gate);
        while (sweeps == known)
            pthread_cond_wait(&opened, &gate);
        known = sweeps;
        pthread_mutex_unlock(&gate);
        while (take(thread, &part)) {
            sweep_do(&sweep, part);
            atomic_fetch_add_explicit(&shares[thread].bytes, sweep_part_bytes(&sweep),
                                      memory_order_relaxed);
        }
        if (atomic_fetch_sub(&busy, 1) == 1 && write(all_done, &one, sizeof one) != sizeof one)
            kit_error("cannot say that a sweep is done (%s)", strerror(errno));
    }
}

static void share_out(void)
{
    const size_t parts = sweep_parts(&sweep);

    for (int i = 0; i < threads; i++) {
        atomic_store(&shares[i].next, parts * (size_t)i / (size_t)threads);
        shares[i].end = parts * (size_t)(i + 1) / (size_t)threads;
    }
    atomic_store(&busy, threads);
    pthread_mutex_lock(&gate);
    sweeps++;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&gate);
}

/*
 * One sweep by all threads. Returns 0 when it came to its end, or else how many chunks there must
 * be less.
 */
static size_t do_sweep(void)
{
    uint64_t ended;
    size_t excess = 0;

    share_out();
    do
        look_around(&excess);
    while (!burn_wait(all_done, LOOK_MS));
    if (read(all_done, &ended, sizeof ended) != sizeof ended)
        kit_error("cannot hear that a sweep is done (%s)", strerror(errno));
    atomic_store(&halted, 0);
    return excess;
}

/* --- passes --- */

/* Whether a list of names has this one. */
static int has(const char *list, const char *name)
{
    const size_t length = strlen(name);

    if (strcmp(list, "all") == 0)
        return 1;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    return 0;
}

static uint64_t bytes_of(const struct pattern *pattern)
{
    struct sweep each = sweep;
    uint64_t bytes = 0;

    each.pattern = pattern;
    for (each.number = 0; each.number < pattern_sweeps(pattern); each.number++)
        bytes += sweep_bytes(&each);
    return bytes;
}

/* How much the pass will be, from this pattern on. */
static void plan(void)
{
    total = done_in_all() - before;
    for (const struct pattern *rest = sweep.pattern; rest < patterns + PATTERNS; rest++)
        if (has(chosen, rest->name))
            total += bytes_of(rest);
}

/* Returns whether it came to its end. */
static int try_pattern(void)
{
    const unsigned number = pattern_sweeps(sweep.pattern);
    const unsigned flip =
        has(flipped, sweep.pattern->name) ? 1 + (unsigned)(burn_mix(sweep.seed) % (number - 1)) : 0;
    size_t excess;

    plan();
    say_stage();
    for (sweep.number = 0; sweep.number < number; sweep.number++) {
        if (flip && sweep.number == flip)
            fault_plant(&sweep);
        excess = do_sweep();
        if (excess) {
            give_back(excess);
            return 0;
        }
    }
    return 1;
}

/*
 * Maps new memory for the next pass. If there is room, some of the new memory is touched while the
 * old is still mapped: otherwise the kernel would hand out the same pages.
 */
static void change_pages(void)
{
    char *old = mapping;
    const size_t old_size = mapped;
    struct room room;
    const int64_t spare = may_take(&room) / CHUNK;
    size_t excess;

    for (sweep.pattern = patterns; !has(chosen, sweep.pattern->name);)
        sweep.pattern++;
    sweep.number = 0;
    plan();

    if (spare >= GROUP && map()) {
        sweep.chunks = spare < (int64_t)wanted ? (size_t)spare : wanted;
        do_sweep(); /* may stop early for others: too_many asks again below */
        unmap(old, old_size);
    } else {
        unmap(old, old_size);
        if (!map())
            kit_error("cannot map %zu MiB once more (%s): try a smaller size=",
                      wanted * CHUNK / MIB, strerror(errno));
    }

    sweep.chunks = wanted;
    lock_memory();
    patient_until = kit_now() + PATIENCE;
    excess = too_many(1);
    if (excess)
        give_back(excess);
}

static void do_pass(void)
{
    const int64_t start = kit_now();
    const unsigned long faults = atomic_load(&burn_faults);
    const uint64_t seed = burn_mix((uint64_t)start);

    before = done_in_all();
    if (sweep.pass > 1)
        change_pages();
    for (const struct pattern *pattern = patterns; pattern < patterns + PATTERNS; pattern++) {
        sweep.pattern = pattern;
        sweep.seed = burn_mix(seed + (uint64_t)(pattern - patterns));
        if (has(chosen, pattern->name))
            while (!try_pattern())
                ;
    }
    if (atomic_load(&burn_faults) != faults_told)
        burn_say("faults %lu", faults_told = atomic_load(&burn_faults));
    burn_say("pass %ld %.3f %llu %lu", sweep.pass, (double)(kit_now() - start) / (double)SECOND,
             (unsigned long long)(done_in_all() - before), atomic_load(&burn_faults) - faults);
}

/* --- arguments --- */

static void refuse_unknown(const char *argument, const char *list)
{
    int names = *list != '\0', found = 0;
    char known[256] = "";

    for (const char *at = list; *at; at++)
        names += *at == ',';
    for (int i = 0; i < PATTERNS; i++) {
        found += has(list, patterns[i].name);
        strcat(strcat(known, i ? ", " : ""), patterns[i].name);
    }
    if (found != names && strcmp(list, "all") != 0)
        kit_error("%s=%s has an unknown pattern, or one twice: try all, or some of %s", argument,
                  list, known);
}

/* Bytes, or 0 where none are given. */
static int64_t size_wanted(void)
{
    const char *text = kit_arg("size", ""), *end;
    const uint64_t size = kit_bytes(text, &end);

    if (*text && (end == text || *end || size == 0 || size > INT64_MAX))
        kit_error("size=%s is not a size: try bytes, or a whole number with k, m or g", text);
    return *text ? (int64_t)size : 0;
}

/* Decides how much to take, which must be available. */
static void choose_size(void)
{
    const int64_t least = (int64_t)GROUP * CHUNK, asked = size_wanted();
    struct room room;
    const int64_t most = may_take(&room), size = asked ? asked : most / 5 * 4;

    if (size > most || most < least)
        kit_skip("%lld MiB are more than the %lld that may be taken, as %lld of the %lld MiB "
                 "available in %s stay: try less",
                 (long long)((size > least ? size : least) / MIB),
                 (long long)(most > 0 ? most / MIB : 0), (long long)(room.reserve / MIB),
                 (long long)(room.available / MIB), room.place);
    if (size < least)
        kit_error("size=%s is less than %lld MiB, with which no pattern can work",
                  kit_arg("size", ""), (long long)(least / MIB));
    wanted = (size_t)size / CHUNK;
    if (size / 4 < room_cache())
        kit_note("%lld MiB are less than four times the last-level cache, which may hide errors: "
                 "try a larger size=",
                 (long long)(size / MIB));
}

int main(int argc, char **argv)
{
    long passes;

    kit_init(argc, argv);
    threads = burn_threads();
    passes = kit_arg_number("passes", 0, 0, 1000000000);
    refuse_unknown("patterns", chosen = kit_arg("patterns", "all"));
    refuse_unknown("flip", flipped = kit_arg("flip", ""));
    if (!*chosen)
        kit_error("patterns= names no pattern: try all");
    room_offer_to_killer();
    choose_size();
    if (!map())
        kit_error("cannot map %zu MiB (%s): try a smaller size=, or `ulimit -v unlimited`",
                  wanted * CHUNK / MIB, strerror(errno));
    lock_memory();
    fault_open();
    all_done = eventfd(0, EFD_CLOEXEC);
    shares = aligned_alloc(_Alignof(struct share), (size_t)threads * sizeof *shares);
    if (!shares || all_done < 0)
        kit_error("cannot prepare %d threads (%s): is `ulimit -n` too low?", threads,
                  strerror(errno));
    memset(shares, 0, (size_t)threads * sizeof *shares);
    burn_start(mib_done);
    burn_hire(work);
    patient_until = kit_now() + PATIENCE;
    for (sweep.pass = 1; !passes || sweep.pass <= passes; sweep.pass++)
        do_pass();
    burn_finish();
}
