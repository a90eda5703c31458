/*
 * The loops of one vector width: loops.c defines WIDTH, NAME, TARGET and STREAM and includes this,
 * once for each width.
 */

typedef uint64_t NAME(words) __attribute__((vector_size(WIDTH), may_alias));
typedef double NAME(reals) __attribute__((vector_size(WIDTH), may_alias));

/*
 * Eight sums: as many additions are under way at once as there are units for. FORGET keeps the
 * loads in the order of their addresses, without which second-level caches have been seen to give
 * half as much, and one pass from doing for all.
 */
TARGET static uint64_t NAME(read)(const void *from, size_t bytes, long passes)
{
    const NAME(words) *const first = from, *const end = first + bytes / WIDTH;
    NAME(words) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    uint64_t sum = 0;

    for (; passes > 0; passes--)
        for (const NAME(words) *at = first; at < end; at += 16) {
            ADD(s0, at[0]) ADD(s1, at[1]) ADD(s2, at[2]) ADD(s3, at[3])
            ADD(s4, at[4]) ADD(s5, at[5]) ADD(s6, at[6]) ADD(s7, at[7])
            ADD(s0, at[8]) ADD(s1, at[9]) ADD(s2, at[10]) ADD(s3, at[11])
            ADD(s4, at[12]) ADD(s5, at[13]) ADD(s6, at[14]) ADD(s7, at[15])
        }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    for (size_t i = 0; i < WIDTH / sizeof sum; i++)
        sum += s0[i];
    return sum;
}

TARGET INLINE void NAME(put)(NAME(words) *at, const NAME(words) *value, int stream)
{
    if (stream)
        STREAM(*at, *value);
    else
        *at = *value;
}

/*
 * In the loops that write, FORGET also keeps compilers from making calls of memset and memcpy of
 * them.
 */
TARGET INLINE void NAME(write_by)(void *to, uint64_t word, size_t bytes, long passes, int stream)
{
    NAME(words) *const first = to, *const end = first + bytes / WIDTH;
    const NAME(words) value = word - (NAME(words)){0};

    for (; passes > 0; passes--)
        for (NAME(words) *at = first; at < end; at += 8) {
            EIGHT(NAME(put)(at + i, &value, stream);)
            FORGET;
        }
}

TARGET INLINE void NAME(copy_by)(void *to, const void *from, size_t bytes, long passes, int stream)
{
    NAME(words) *const first = to, *const end = first + bytes / WIDTH;

    for (; passes > 0; passes--) {
        const NAME(words) *of = from;
        for (NAME(words) *at = first; at < end; at += 8, of += 8) {
            EIGHT(NAME(put)(at + i, of + i, stream);)
            FORGET;
        }
    }
}

TARGET INLINE void NAME(triad_by)(void *to, const void *one, const void *other, size_t bytes,
                                  long passes, int stream)
{
    NAME(words) *const first = to, *const end = first + bytes / WIDTH;

    for (; passes > 0; passes--) {
        const NAME(reals) *a = one, *b = other;
        for (NAME(words) *at = first; at < end; at += 8, a += 8, b += 8) {
            EIGHT(const NAME(reals) value = a[i] + LOOPS_FACTOR * b[i];
                  NAME(put)(at + i, (const void *)&value, stream);)
            FORGET;
        }
    }
}

TARGET static void NAME(write)(void *to, uint64_t word, size_t bytes, long passes, int stream)
{
    if (stream)
        NAME(write_by)(to, word, bytes, passes, 1);
    else
        NAME(write_by)(to, word, bytes, passes, 0);
}

TARGET static void NAME(copy)(void *to, const void *from, size_t bytes, long passes, int stream)
{
    if (stream)
        NAME(copy_by)(to, from, bytes, passes, 1);
    else
        NAME(copy_by)(to, from, bytes, passes, 0);
}

TARGET static void NAME(triad)(void *to, const void *one, const void *other, size_t bytes,
                               long passes, int stream)
{
    if (stream)
        NAME(triad_by)(to, one, other, bytes, passes, 1);
    else
        NAME(triad_by)(to, one, other, bytes, passes, 0);
}

static const struct loops NAME(all) = {WIDTH, NAME(read), NAME(write), NAME(copy), NAME(triad)};

#undef WIDTH
#undef NAME
#undef TARGET
#undef STREAM
