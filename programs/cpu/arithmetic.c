/*
 * One arithmetic instruction at a time: its latency, and how many of them a core does in parallel.
 *
 *   op=NAME     a row of the table below; those that end in -chain are one chain, in which each
 *               waits for the one before
 *   vector=N    bytes of the vectors, of the operations that use them (0: the widest that this
 *               processor has)
 *   wrong=1     spoils an answer, so that a test can see the check fail
 *
 * The results are not used, and a compiler that notices computes nothing: each result passes
 * through opaque.h. Vectors are selected when the program runs, so that every build reaches what
 * the processor can do.
 */
#include <stdint.h>
#include <string.h>

#include "cpu/opaque.h"
#include "kit.h"

#ifdef __x86_64__
#include <immintrin.h>
#define WITH_AVX __attribute__((target("avx")))
#define WITH_FMA __attribute__((target("fma")))
#define WITH_AVX512 __attribute__((target("avx512f")))
typedef double four __attribute__((vector_size(32), may_alias));
typedef double eight __attribute__((vector_size(64), may_alias));
#endif
#ifdef __aarch64__
#include <arm_neon.h>
#endif
#if defined __x86_64__ || defined __aarch64__
typedef double two __attribute__((vector_size(16), may_alias));
#endif

/*
 * On x86 a processor may have it or not, and says so; the others here always have, or the compiler
 * knows.
 */
#if defined __x86_64__ || defined __aarch64__ || defined __powerpc64__ || defined __s390x__ || \
    __riscv_flen >= 64 || defined __FP_FAST_FMA
#define HAS_FMA
#endif

/* --- the operations: on x, with two numbers that the compiler does not know --- */

#define ADD(x, a, b) ((x) + (a))
#define SUBTRACT(x, a, b) ((x) - (b))
#define MULTIPLY(x, a, b) ((x) * (a))
#define MULTIPLY_BACK(x, a, b) ((x) * (b))
#define DIVIDE(x, a, b) ((a) / (x))
#define DIVIDE_NEXT(x, a, b) ((b) / (x))
#define FUSED(x, a, b) __builtin_fma(x, a, b)

/* Added to what is there: the only form that Arm's vectors have. */
#define FUSED_INTO(x, a, b) __builtin_fma(a, b, x)
#define FUSED_NEXT(x, a, b) __builtin_fma(a, a, x)
#define FUSED_INTO_2(x, a, b) vfmaq_f64(x, a, b)
#define FUSED_NEXT_2(x, a, b) vfmaq_f64(x, a, a)
#define FUSED_INTO_4(x, a, b) _mm256_fmadd_pd(a, b, x)
#define FUSED_NEXT_4(x, a, b) _mm256_fmadd_pd(a, a, x)
#define FUSED_INTO_8(x, a, b) _mm512_fmadd_pd(a, b, x)
#define FUSED_NEXT_8(x, a, b) _mm512_fmadd_pd(a, a, x)

/* Divisions are by numbers of 16 bits, of numbers of 31: a quotient is the next divisor. */
static const volatile uint32_t int_add_by[2] = {0x12345678, 0x9abcdef};
static const volatile uint32_t int_mul_by[2] = {1664525, 22695477};
static const volatile int32_t int_div_by[2] = {2147483647, 2147400000};

/*
 * Each x goes to and fro between two numbers of about 1, with digits in all of the mantissa, and
 * hardly moves on.
 */
static const volatile double add_by[2] = {0.7654321, 0.7654320};
static const volatile double mul_by[2] = {1.7, 0.5882353};
static const volatile double div_by[2] = {3.1, 3.0999999};
#ifdef HAS_FMA
static const volatile double fma_chain_by[2] = {-0.9999999, 3.1};
static const volatile double fma_by[2] = {1.7, -1.7000001};
#endif

/* --- the loops: rounds of 16 operations, on one chain or on several side by side --- */

enum { ROUND = 16 };

#define ONE(DO, with) DO(0, with)
#define SIX(DO, with) ONE(DO, with) DO(1, with) DO(2, with) DO(3, with) DO(4, with) DO(5, with)
#define TWELVE(DO, with) \
    SIX(DO, with) DO(6, with) DO(7, with) DO(8, with) DO(9, with) DO(10, with) DO(11, with)
#define TWENTY(DO, with) \
    TWELVE(DO, with) \
    DO(12, with) DO(13, with) DO(14, with) DO(15, with) DO(16, with) DO(17, with) DO(18, with) \
        DO(19, with)

/*
 * Latency times units at least, and no more than the registers hold: some of Arm's cores have 4
 * units that take 4 cycles.
 */
#ifdef __aarch64__
enum { MANY_CHAINS = 20 };
#define MANY TWENTY
#else
enum { MANY_CHAINS = 12 };
#define MANY TWELVE
#endif

union state {
    int32_t ints[MANY_CHAINS * 16];
    double doubles[MANY_CHAINS * 8];
} __attribute__((aligned(64)));

#define LOAD(i, type) type x##i = ((const type *)(const void *)from)[i];
#define STORE(i, type) ((type *)(void *)to)[i] = x##i;
#define INT(i, op) x##i = op(x##i, a, b); OPAQUE(x##i);
#define FLOAT(i, op) x##i = op(x##i, a, b); OPAQUE_FLOAT(x##i);
#define PAIR(CHAINS, STEP, first, second) CHAINS(STEP, first) CHAINS(STEP, second)
#define FOUR_PAIRS(...) PAIR(__VA_ARGS__) PAIR(__VA_ARGS__) PAIR(__VA_ARGS__) PAIR(__VA_ARGS__)

#define LOOP(name, type, by, CHAINS, STEP, first, second)                                \
    static void name(const union state *from, union state *to, long rounds)              \
    {                                                                                    \
        const type a = (type){0} + by[0], b = (type){0} + by[1];                         \
        CHAINS(LOAD, type)                                                               \
        for (; rounds > 0; rounds--) {                                                   \
            FOUR_PAIRS(CHAINS, STEP, first, second)                                      \
            FOUR_PAIRS(CHAINS, STEP, first, second)                                      \
        }                                                                                \
        CHAINS(STORE, type)                                                              \
    }

/*
 * The same of one element, as the compiler must do it that may not keep anything: the answer that
 * is right.
 */
#define PLAIN(name, type, by, first, second)                                             \
    static void name(void *element, long rounds)                                         \
    {                                                                                    \
        volatile type *x = element;                                                      \
        for (long pair = 0; pair < rounds * ROUND / 2; pair++) {                         \
            *x = first(*x, by[0], by[1]);                                                \
            *x = second(*x, by[0], by[1]);                                               \
        }                                                                                \
    }

PLAIN(plain_int_add, uint32_t, int_add_by, ADD, SUBTRACT)
PLAIN(plain_int_mul, uint32_t, int_mul_by, MULTIPLY, MULTIPLY_BACK)
PLAIN(plain_int_div, int32_t, int_div_by, DIVIDE, DIVIDE_NEXT)
PLAIN(plain_add, double, add_by, ADD, SUBTRACT)
PLAIN(plain_mul, double, mul_by, MULTIPLY, MULTIPLY_BACK)
PLAIN(plain_div, double, div_by, DIVIDE, DIVIDE_NEXT)
#ifdef HAS_FMA
PLAIN(plain_fma_chain, double, fma_chain_by, FUSED, FUSED)
PLAIN(plain_fma, double, fma_by, FUSED_INTO, FUSED_NEXT)
#endif

LOOP(int_add_chain, uint32_t, int_add_by, ONE, INT, ADD, SUBTRACT)
LOOP(int_mul_chain, uint32_t, int_mul_by, ONE, INT, MULTIPLY, MULTIPLY_BACK)
LOOP(int_div_chain, int32_t, int_div_by, ONE, INT, DIVIDE, DIVIDE_NEXT)
LOOP(add_chain, double, add_by, ONE, FLOAT, ADD, SUBTRACT)
LOOP(mul_chain, double, mul_by, ONE, FLOAT, MULTIPLY, MULTIPLY_BACK)
LOOP(div_chain, double, div_by, ONE, FLOAT, DIVIDE, DIVIDE_NEXT)

LOOP(int_add, uint32_t, int_add_by, MANY, INT, ADD, SUBTRACT)
LOOP(int_mul, uint32_t, int_mul_by, MANY, INT, MULTIPLY, MULTIPLY_BACK)
LOOP(int_div, int32_t, int_div_by, SIX, INT, DIVIDE, DIVIDE_NEXT)

#define ADD_MUL_DIV(type, WITH)                                                          \
    WITH LOOP(add_##type, type, add_by, MANY, FLOAT, ADD, SUBTRACT)                      \
    WITH LOOP(mul_##type, type, mul_by, MANY, FLOAT, MULTIPLY, MULTIPLY_BACK)            \
    WITH LOOP(div_##type, type, div_by, SIX, FLOAT, DIVIDE, DIVIDE_NEXT)

#if defined __x86_64__
ADD_MUL_DIV(two, )
ADD_MUL_DIV(four, WITH_AVX)
ADD_MUL_DIV(eight, WITH_AVX512)
WITH_FMA LOOP(fma_chain, double, fma_chain_by, ONE, FLOAT, FUSED, FUSED)
WITH_FMA LOOP(fma_four, four, fma_by, MANY, FLOAT, FUSED_INTO_4, FUSED_NEXT_4)
WITH_AVX512 LOOP(fma_eight, eight, fma_by, MANY, FLOAT, FUSED_INTO_8, FUSED_NEXT_8)
#elif defined __aarch64__
ADD_MUL_DIV(two, )
LOOP(fma_chain, double, fma_chain_by, ONE, FLOAT, FUSED, FUSED)
LOOP(fma_two, two, fma_by, MANY, FLOAT, FUSED_INTO_2, FUSED_NEXT_2)
#else
ADD_MUL_DIV(double, )
#ifdef HAS_FMA
LOOP(fma_chain, double, fma_chain_by, ONE, FLOAT, FUSED, FUSED)
LOOP(fma_double, double, fma_by, MANY, FLOAT, FUSED_INTO, FUSED_NEXT)
#endif
#endif

/* --- which there are --- */

enum feature { NOTHING, AVX, FMA, AVX512 };

struct operation {
    const char *name;
    void (*loop)(const union state *from, union state *to, long rounds);
    void (*plain)(void *element, long rounds);
    enum feature needs;
    int bytes;   /* of an element */
    int lanes;   /* elements in a vector */
    int chains;
    int counts;  /* for an element's operation */
    long rounds; /* some 100,000 cycles of today's cores */
};

#define INT_OPERATION(name, loop, plain, chains, rounds) \
    {name, loop, plain, NOTHING, 4, 1, chains, 1, rounds}
#define CHAIN(name, loop, plain, needs, rounds) {name, loop, plain, needs, 8, 1, 1, 1, rounds}
#define VECTORS(type, needs, lanes)                                                      \
    {"float-add", add_##type, plain_add, needs, 8, lanes, MANY_CHAINS, 1, 1000},         \
    {"float-mul", mul_##type, plain_mul, needs, 8, lanes, MANY_CHAINS, 1, 1000},         \
    {"float-div", div_##type, plain_div, needs, 8, lanes, 6, 1, 100}
#define FMA_VECTORS(type, needs, lanes) \
    {"float-fma", fma_##type, plain_fma, needs, 8, lanes, MANY_CHAINS, 2, 1000}

/* The widest first. */
static const struct operation operations[] = {
    INT_OPERATION("clock", int_add_chain, plain_int_add, 1, 8000),
    INT_OPERATION("int-add-chain", int_add_chain, plain_int_add, 1, 8000),
    INT_OPERATION("int-mul-chain", int_mul_chain, plain_int_mul, 1, 2500),
    INT_OPERATION("int-div-chain", int_div_chain, plain_int_div, 1, 500),
    INT_OPERATION("int-add", int_add, plain_int_add, MANY_CHAINS, 2500),
    INT_OPERATION("int-mul", int_mul, plain_int_mul, MANY_CHAINS, 800),
    INT_OPERATION("int-div", int_div, plain_int_div, 6, 150),
    CHAIN("float-add-chain", add_chain, plain_add, NOTHING, 2500),
    CHAIN("float-mul-chain", mul_chain, plain_mul, NOTHING, 2000),
    CHAIN("float-div-chain", div_chain, plain_div, NOTHING, 500),
#if defined __x86_64__
    CHAIN("float-fma-chain", fma_chain, plain_fma_chain, FMA, 1500),
    FMA_VECTORS(eight, AVX512, 8),
    FMA_VECTORS(four, FMA, 4),
    VECTORS(eight, AVX512, 8),
    VECTORS(four, AVX, 4),
    VECTORS(two, NOTHING, 2),
#elif defined __aarch64__
    CHAIN("float-fma-chain", fma_chain, plain_fma_chain, NOTHING, 1500),
    FMA_VECTORS(two, NOTHING, 2),
    VECTORS(two, NOTHING, 2),
#else
#ifdef HAS_FMA
    CHAIN("float-fma-chain", fma_chain, plain_fma_chain, NOTHING, 1500),
    FMA_VECTORS(double, NOTHING, 1),
#endif
    VECTORS(double, NOTHING, 1),
#endif
};

/* The system must save the registers too, which this asks as well. */
static int has(enum feature feature)
{
#ifdef __x86_64__
    switch (feature) {
    case AVX512: return __builtin_cpu_supports("avx512f") != 0;
    case FMA: return __builtin_cpu_supports("fma") != 0;
    case AVX: return __builtin_cpu_supports("avx") != 0;
    case NOTHING: break;
    }
#endif
    return feature == NOTHING;
}

static const struct operation *choose(const char *name, long vector)
{
    const size_t number = sizeof operations / sizeof *operations;
    int known = strncmp(name, "float-fma", 9) == 0;

    for (const struct operation *at = operations; at < operations + number; at++) {
        if (strcmp(at->name, name) != 0)
            continue;
        known = 1;
        if (has(at->needs) && (!vector || vector == at->bytes * at->lanes))
            return at;
    }
    if (!known)
        kit_error("unknown op=%s: try int-add, float-fma-chain, ... (programs/cpu/arithmetic.c has "
                  "the table)",
                  name);
    kit_skip("this processor has no %s%s: try another, or without vector=", name,
             vector ? " with such vectors" : "");
}

/* --- the proof --- */

/* Each element begins with another number, so that one that lands in another's place is noticed. */
static void fill(const struct operation *op, union state *state)
{
    for (int i = 0; i < op->chains * op->lanes; i++)
        if (op->bytes == 4)
            state->ints[i] = 40000 + i;
        else
            state->doubles[i] = 1.2345678 + i / 512.0;
}

static int is_right(const struct operation *op, const union state *start, long wrong)
{
    enum { PROVEN = 5 };
    union state fast, slow = *start;
    const size_t size = (size_t)(op->chains * op->lanes * op->bytes);

    op->loop(start, &fast, PROVEN);
    fast.ints[0] ^= (int32_t)wrong;
    for (size_t at = 0; at < size; at += (size_t)op->bytes)
        op->plain((char *)&slow + at, PROVEN);
    return memcmp(&fast, &slow, size) == 0 && memcmp(&fast, start, size) != 0;
}

int main(int argc, char **argv)
{
    static union state start, end;
    const struct operation *op;
    unsigned long counts;

    kit_init(argc, argv);
    op = choose(kit_arg("op", "int-add"), kit_arg_number("vector", 0, 0, 64));
    fill(op, &start);
    kit_check("right", is_right(op, &start, kit_arg_number("wrong", 0, 0, 1)));
    if (op->lanes > 1)
        kit_value("vector", op->bytes * op->lanes, "bytes");
    counts = (unsigned long)(op->rounds * ROUND * op->chains * op->lanes * op->counts);
    if (strcmp(op->name, "clock") == 0)
        counts *= (unsigned long)kit_arg_number("add_cycles", 1, 1, 16);
    kit_start();
    for (;;) {
        op->loop(&start, &end, op->rounds);
        kit_piece(counts);
    }
}
