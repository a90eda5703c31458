/*
 * Work that heats a processor and whose result is known. Scalar and vector work follow the
 * quadratic map x = C - x * x, one fused operation where there are such. It is chaotic: its bits
 * change all the time, as heat needs, and one wrong bit anywhere changes all that follows.
 */
#define _GNU_SOURCE
#include "burn/heat.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "burn/burn.h"

enum {
    STEPS = 100000, /* in each half of a piece: a ms or two */
    TABLE = 512,    /* words: within the first-level cache */
    /* independent vectors: as many as two units with a latency of four or five cycles need */
    CHAINS = 12,
    HALF = HEAT_MEMORY / 2 / 8, /* words */
    PARTS = 8,
    PART = HALF / PARTS,
};

#define C 1.9

/* Keeps the compiler from working on several numbers at once. */
#if defined __SSE2__
#define APART(number) __asm__ volatile("" : "+x"(number))
#elif defined __aarch64__
#define APART(number) __asm__ volatile("" : "+w"(number))
#else
#define APART(number) (void)(number)
#endif

static uint64_t table[TABLE];
static uint64_t (*vectors)(int wrong);
static const char *vectors_name;
static uint64_t right[2], sums[PARTS];

static uint64_t fold(const void *from, size_t bytes)
{
    const char *at = from;
    uint64_t all = 0, word;

    for (size_t i = 0; i < bytes; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        all = burn_mix(all ^ word);
    }
    return all;
}

/* --- scalar --- */

/*
 * A multiplication, a look into the table, a rotation, and floating point: four such chains do not
 * wait for each other.
 */
#define STEP(a, x, sum) \
    do { \
        a = a * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); \
        __asm__ volatile("" : "+r"(a)); \
        sum = (sum << 7 | sum >> 57) ^ table[a >> 55]; \
        x = C - x * x; \
        APART(x); \
    } while (0)

static uint64_t scalar(int wrong)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    double x = 0.1, y = 0.2, z = 0.3, w = 0.4;

    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < STEPS; i++) {
            STEP(a, x, e);
            STEP(b, y, f);
            STEP(c, z, g);
            STEP(d, w, h);
        }
        if (wrong && half == 0)
            y += 0x1p-50;
    }
    return fold((uint64_t[]){a, b, c, d, e, f, g, h}, 64) ^ fold((double[]){x, y, z, w}, 32);
}

/* --- vectors --- */

/* As wide as the target has them: the body is the same. */
#define VECTORS(name, bytes, ...) \
    __VA_ARGS__ static uint64_t name(int wrong) \
    { \
        typedef double vector __attribute__((vector_size(bytes))); \
        vector x[CHAINS]; \
 \
        for (int k = 0; k < CHAINS; k++) \
            for (size_t i = 0; i < bytes / sizeof(double); i++) \
                x[k][i] = 0.1 + 0.007 * (double)(k * 8 + (int)i); \
        for (int half = 0; half < 2; half++) { \
            for (int i = 0; i < 4 * STEPS; i++) \
                for (int k = 0; k < CHAINS; k++) \
                    x[k] = C - x[k] * x[k]; \
            if (wrong && half == 0) \
                x[CHAINS / 2][1] += 0x1p-50; \
        } \
        return fold(x, sizeof x); \
    }

VECTORS(vectors_plain, 16, )
#ifdef __x86_64__
VECTORS(vectors_avx2, 32, __attribute__((target("avx2,fma"))))
VECTORS(vectors_avx512, 64, __attribute__((target("avx512f"))))
#endif

static void choose_vectors(void)
{
    vectors = vectors_plain;
    vectors_name = "128 bits";
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        vectors = vectors_avx512;
        vectors_name = "AVX-512";
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        vectors = vectors_avx2;
        vectors_name = "AVX2";
    }
#endif
}

const char *heat_vectors(void)
{
    return vectors_name;
}

/* --- memory --- */

/* The source's first half; the same for every thread, so that the sums are known once. */
static void fill(uint64_t *words, unsigned part)
{
    for (uint64_t i = 0; i < PART; i++)
        words[i] = burn_mix(part * (uint64_t)PART + i);
}

static uint64_t copy(uint64_t *to, const uint64_t *from)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < PART; i++)
        sum += to[i] = from[i];
    return sum;
}

struct store {
    unsigned part, turn;
    uint64_t words[2][HALF]; /* copied from one to the other and back */
};

void *heat_memory(void)
{
    struct store *store =
        mmap(NULL, sizeof *store, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (store == MAP_FAILED)
        return NULL;
    madvise(store, sizeof *store, MADV_HUGEPAGE);
    for (unsigned part = 0; part < PARTS; part++)
        fill(store->words[0] + part * PART, part);
    return store;
}

/* A wrong part is written again, so that it counts once. */
static int memory_piece(struct store *store, int wrong)
{
    const unsigned part = store->part;
    uint64_t *from = store->words[store->turn] + part * PART,
             *to = store->words[!store->turn] + part * PART;
    int good;

    if (wrong)
        from[PART / 3] ^= UINT64_C(1) << 21;
    good = copy(to, from) == sums[part];
    if (!good)
        fill(to, part);
    store->part = (part + 1) % PARTS;
    store->turn ^= store->part == 0;
    return good;
}

/* --- all kinds --- */

void heat_prepare(void)
{
    for (unsigned i = 0; i < TABLE; i++)
        table[i] = burn_mix(i);
    choose_vectors();
    right[SCALAR] = scalar(0);
    right[VECTOR] = vectors(0);
    for (unsigned part = 0; part < PARTS; part++)
        for (uint64_t i = 0; i < PART; i++)
            sums[part] += burn_mix(part * (uint64_t)PART + i);
}

int heat_piece(enum heat kind, void *memory, int wrong)
{
    if (kind == MEMORY)
        return memory_piece(memory, wrong);
    return (kind == SCALAR ? scalar(wrong) : vectors(wrong)) == right[kind];
}
