/* The patterns of a memory test: see patterns.h. */
#include "burn/patterns.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "burn/burn.h"
#include "burn/fault.h"

/* As many bytes at once as the processor has instructions for. */
#if defined __AVX512F__
#define WIDTH 64
#elif defined __AVX2__
#define WIDTH 32
#else
#define WIDTH 16
#endif

enum {
    WORDS = BLOCK / 8,
    BLOCKS = CHUNK / BLOCK,
    VECTORS = BLOCK / WIDTH,
    LANES = WIDTH / 8,
    LINE = 64,
    LOOK = 512,         /* bytes whose differences are gathered before one looks */
    STREAMS = 4,        /* of random vectors, which do not wait for each other */
    BITE = 64 << 10,    /* bytes moved at once */
    PIECE = CHUNK / 10, /* bytes of each of the group's chunks that one part moves */
};

typedef uint64_t vector __attribute__((vector_size(WIDTH), may_alias));

/* --- contents --- */

static void own_address(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    const uint64_t flipped = content ? UINT64_MAX : 0;
    vector address, *out = (vector *)words;

    (void)seed;
    for (uint64_t i = 0; i < LANES; i++)
        address[i] = place + 8 * i;
    for (int i = 0; i < VECTORS; i++, address += WIDTH)
        out[i] = address ^ flipped;
}

/* Neighbours have other bits set. */
static void walking_ones(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    (void)place, (void)seed;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = UINT64_C(1) << (content + i) % 64;
}

static void walking_zeros(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    (void)place, (void)seed;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = ~(UINT64_C(1) << (content + i) % 64);
}

/* P, ~P and P again: first with all zeros, then with random bits. */
static void inversions(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    const uint64_t word = content < 3 ? 0 : seed;

    (void)place;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = content % 3 == 1 ? ~word : word;
}

/* Every twentieth word is P and all others ~P, which are written twice before P is looked at. */
static void modulo_20(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    (void)place;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = i % 20 == content / 2 ? seed : ~seed;
}

/*
 * Marsaglia's xorshift: only shifts, which every vector unit has. Odd contents are the complements
 * of even ones.
 */
static void pseudo_random(uint64_t *words, unsigned content, uint64_t place, uint64_t seed)
{
    const uint64_t flipped = content % 2 ? UINT64_MAX : 0,
                   start = burn_mix(burn_mix(seed + content / 2) ^ place);
    vector streams[STREAMS], *out = (vector *)words;

    for (uint64_t i = 0; i < STREAMS * LANES; i++)
        streams[i / LANES][i % LANES] = ((i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ start) | 1;
    for (int i = 0; i < VECTORS; i += STREAMS)
        for (int k = 0; k < STREAMS; k++) {
            vector x = streams[k];
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            streams[k] = x;
            out[i + k] = x ^ flipped;
        }
}

const struct pattern patterns[PATTERNS] = {
    {.name = "own-address", .contents = 2, .make = own_address},
    {.name = "walking-ones", .contents = 64, .alike = 1, .make = walking_ones},
    {.name = "walking-zeros", .contents = 64, .alike = 1, .make = walking_zeros},
    {.name = "moving-inversions",
     .contents = 6,
     .down = 1 << 2 | 1 << 5,
     .alike = 1,
     .make = inversions},
    {.name = "modulo-20", .contents = 40, .alike = 1, .make = modulo_20},
    {.name = "random", .contents = 8, .make = pseudo_random},
    {.name = "block-move", .contents = 1, .moves = 15, .make = pseudo_random},
};

/* --- blocks --- */

static int moves(const struct sweep *sweep)
{
    return sweep->number > 0 && sweep->number <= sweep->pattern->moves;
}

static int writes(const struct sweep *sweep)
{
    return sweep->number < sweep->pattern->contents;
}

static int descends(const struct sweep *sweep)
{
    return sweep->pattern->down >> sweep->number % 32 & 1;
}

/* Past the caches where the processor can: it need not read what is overwritten. */
static void write_block(vector *to, const vector *content)
{
#ifdef __SSE2__
    const __m128i *from = (const __m128i *)content;

    for (int i = 0; i < BLOCK / 16; i++)
        _mm_stream_si128((__m128i *)to + i, from[i]);
#else
    memcpy(to, content, BLOCK);
#endif
}

/*
 * The bits in which LOOK bytes differ. Asks for the block `ahead` bytes on: work on one hides the
 * wait for another.
 */
static inline uint64_t differences(const vector *at, const vector *right, ptrdiff_t ahead)
{
    vector all = {0};
    uint64_t any = 0;

    for (int i = 0; i < LOOK / LINE; i++)
        __builtin_prefetch((const char *)at + ahead + i * LINE, 1);
    for (int i = 0; i < LOOK / WIDTH; i++)
        all |= at[i] ^ right[i];
    for (int i = 0; i < LANES; i++)
        any |= all[i];
    return any;
}

/* Without a next content it only checks. */
static inline void check_block(const struct sweep *sweep, vector *at, const vector *right,
                               const vector *next)
{
    const ptrdiff_t ahead = descends(sweep) ? -BLOCK : BLOCK;

    for (int i = 0; i < VECTORS; i += LOOK / WIDTH) {
        uint64_t wrong = differences(at + i, right + i, ahead);
        if (__builtin_expect(wrong != 0, 0))
            fault_found(sweep, (uint64_t *)(at + i), (const uint64_t *)(right + i), LOOK / 8,
                        wrong);
        if (next)
            for (int k = i; k < i + LOOK / WIDTH; k++)
                at[k] = next[k];
    }
}

/* --- sweeps --- */

unsigned pattern_sweeps(const struct pattern *pattern)
{
    return pattern->contents + pattern->moves + 1;
}

size_t sweep_parts(const struct sweep *sweep)
{
    return moves(sweep) ? sweep->chunks / GROUP * (CHUNK / PIECE) : sweep->chunks;
}

uint64_t sweep_part_bytes(const struct sweep *sweep)
{
    if (moves(sweep))
        return 2 * GROUP * PIECE;
    return (uint64_t)CHUNK * (unsigned)((sweep->number > 0) + writes(sweep));
}

uint64_t sweep_bytes(const struct sweep *sweep)
{
    return sweep_parts(sweep) * sweep_part_bytes(sweep);
}

/* The chunk whose content a chunk has after all moves. */
static size_t origin(const struct sweep *sweep, size_t chunk)
{
    const size_t stride = sweep->chunks / GROUP, place = chunk / stride;

    if (sweep->number == 0 || place >= GROUP)
        return chunk;
    return (place + sweep->pattern->moves) % GROUP * stride + chunk % stride;
}

/*
 * A piece of a chunk goes to the place a quarter of the memory below, and that of the lowest to the
 * highest. memmove(3) copies as programs do, which may be by other instructions than the checks'.
 */
static void rotate(const struct sweep *sweep, size_t part)
{
    const size_t stride = sweep->chunks / GROUP * CHUNK;
    char *lowest = sweep->memory + part / (CHUNK / PIECE) * CHUNK + part % (CHUNK / PIECE) * PIECE;
    char aside[BITE];

    for (char *at = lowest; at < lowest + PIECE; at += BITE) {
        memmove(aside, at, BITE);
        for (int place = 0; place < GROUP - 1; place++)
            memmove(at + (size_t)place * stride, at + (size_t)(place + 1) * stride, BITE);
        memmove(at + (GROUP - 1) * stride, aside, BITE);
    }
}

/*
 * What content depends on: the address, or the number of the block, with moves of the one that it
 * came from.
 */
static uint64_t place_of(const struct sweep *sweep, size_t chunk, size_t block)
{
    if (sweep->pattern->make == own_address)
        return (uintptr_t)(sweep->memory + chunk * CHUNK + block * BLOCK);
    return (sweep->pattern->moves ? origin(sweep, chunk) : chunk) * BLOCKS + block;
}

static void go_through(const struct sweep *sweep, size_t chunk)
{
    const struct pattern *pattern = sweep->pattern;
    const unsigned number = sweep->number, last = pattern->contents - 1;
    vector right[VECTORS], next[VECTORS];

    for (size_t i = 0; i < BLOCKS; i++) {
        const size_t block = descends(sweep) ? BLOCKS - 1 - i : i;
        vector *at = (vector *)(sweep->memory + chunk * CHUNK + block * BLOCK);
        if (number > 0 && (i == 0 || !pattern->alike))
            pattern->make((uint64_t *)right, number - 1 < last ? number - 1 : last,
                          place_of(sweep, chunk, block), sweep->seed);
        if (writes(sweep) && (i == 0 || !pattern->alike))
            pattern->make((uint64_t *)next, number, place_of(sweep, chunk, block), sweep->seed);
        if (number == 0)
            write_block(at, next);
        else if (writes(sweep))
            check_block(sweep, at, right, next);
        else
            check_block(sweep, at, right, NULL);
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
}

void sweep_do(const struct sweep *sweep, size_t part)
{
    if (moves(sweep))
        rotate(sweep, part);
    else
        go_through(sweep, descends(sweep) ? sweep->chunks - 1 - part : part);
}
