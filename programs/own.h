/* Memory that the kit keeps for itself. */
#ifndef OWN_H
#define OWN_H

#include <stddef.h>
#include <sys/mman.h>

/* Touches it in advance; elsewhere than on Linux the first use of a page takes longer. */
#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

/*
 * A mapping that is not handed to children, so that a fork costs the same with and without it; NULL
 * if it was refused.
 */
static inline void *own_memory(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_DONTFORK
    return madvise(memory, size, MADV_DONTFORK) == 0 ? memory : NULL;
#else
    return minherit(memory, size, INHERIT_NONE) == 0 ? memory : NULL; /* the BSDs */
#endif
}

#endif
