/*
 * Loops that move bytes: see loops.h. They are written once, in loops_width.h, with the vectors
 * that gcc and clang have for every processor; on x86-64 they are compiled for each width there is,
 * and which is used is decided when the program runs, so that the portable build is as fast as the
 * native one.
 */
#include "memory/loops.h"

#include "kit.h"

/* Has the compiler forget what it knows of memory. */
#define FORGET __asm__ volatile("" ::: "memory")
#define ADD(sum, number) \
    (sum) += (number); \
    FORGET;

/* Unrolled by hand, since a compiler at -O2 may not. */
#define AT(number, step) \
    { \
        enum { i = number }; \
        step \
    }
#define EIGHT(step) \
    AT(0, step) AT(1, step) AT(2, step) AT(3, step) AT(4, step) AT(5, step) AT(6, step) AT(7, step)
#define INLINE static inline __attribute__((always_inline))

#ifdef __x86_64__

const int loops_can_stream = 1;

/* Unless told, clang uses no wider vectors than it considers worthwhile. */
#ifdef __clang__
#define WIDEN(bits) , min_vector_width(bits)
#else
#define WIDEN(bits)
#endif

#ifdef __AVX__
#define STREAM(at, value) __asm__ volatile("vmovntdq %1, %0" : "=m"(at) : "x"(value))
#else
#define STREAM(at, value) __asm__ volatile("movntdq %1, %0" : "=m"(at) : "x"(value))
#endif
#define WIDTH 16
#define NAME(name) name##_16
#define TARGET
#include "memory/loops_width.h"

#define WIDTH 32
#define NAME(name) name##_32
#define TARGET __attribute__((target("avx2") WIDEN(256)))
#define STREAM(at, value) __asm__ volatile("vmovntdq %1, %0" : "=m"(at) : "x"(value))
#include "memory/loops_width.h"

#define WIDTH 64
#define NAME(name) name##_64
#define TARGET __attribute__((target("avx512f") WIDEN(512)))
#define STREAM(at, value) __asm__ volatile("vmovntdq %1, %0" : "=m"(at) : "v"(value))
#include "memory/loops_width.h"

static int widest(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}

struct loops loops_of(int width)
{
    if (width > widest())
        kit_skip("this processor has no vectors of %d bytes: try width=%d", width, widest());
    switch (width ? width : widest()) {
    case 16:
        return all_16;
    case 32:
        return all_32;
    case 64:
        return all_64;
    }
    kit_error("width=%d is none of 16, 32 and 64", width);
}

#else

const int loops_can_stream = 0;

#define WIDTH 16
#define NAME(name) name##_16
#define TARGET
#define STREAM(at, value) ((at) = (value))
#include "memory/loops_width.h"

struct loops loops_of(int width)
{
    if (width && width != 16)
        kit_skip("vectors of %d bytes are used on x86-64 only: try width=16", width);
    return all_16;
}

#endif
