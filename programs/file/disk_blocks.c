/* Blocks of the disk tests: see disk_blocks.h. */
#include "file/disk_blocks.h"

enum { WORDS = BLOCKS_SECTOR / sizeof(uint64_t) };

/* The finaliser of splitmix64 by Steele, Lea and Flood. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void blocks_fill(void *memory, size_t size, uint64_t seed)
{
    uint64_t *words = memory;

    seed = mix(seed);
    for (size_t i = 0; i < size / sizeof *words; i++)
        words[i] = mix(seed + i * UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * The last word is made of the first two: of a sector that is half of one write and half of another
 * they do not fit.
 */
void blocks_stamp(void *memory, size_t size, off_t at, uint64_t salt)
{
    uint64_t number = (uint64_t)at / BLOCKS_SECTOR, end = number + size / BLOCKS_SECTOR;

    for (uint64_t *words = memory; number < end; number++, words += WORDS) {
        words[0] = number;
        words[1] = salt;
        words[WORDS - 1] = mix(number + salt);
    }
}

int blocks_right(const void *memory, size_t size, off_t at, const uint64_t *salt)
{
    uint64_t number = (uint64_t)at / BLOCKS_SECTOR, end = number + size / BLOCKS_SECTOR;
    int right = 1;

    for (const uint64_t *words = memory; number < end; number++, words += WORDS)
        right &= words[0] == number && words[WORDS - 1] == mix(number + words[1]) &&
                 (!salt || words[1] == *salt);
    return right;
}

/*
 * Every step maps the numbers below a power of two onto themselves, so their sequence does too;
 * what is not below the count is sent round again.
 */
uint64_t blocks_nth(uint64_t n, uint64_t count, uint64_t seed)
{
    const int bits = count > 1 ? 64 - __builtin_clzll(count - 1) : 1;
    const uint64_t mask = (UINT64_C(1) << bits) - 1, key = mix(seed + mix(n / count));
    uint64_t x = n % count;

    do
        for (int round = 0; round < 3; round++) {
            x = (x + (key >> 16 * round)) * UINT64_C(0x9e3779b97f4a7c15) & mask;
            x ^= x >> (bits / 2 + 1);
        }
    while (x >= count);
    return x;
}
