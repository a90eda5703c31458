/* What is done about a word that is not what was written: see fault.h. */
#define _GNU_SOURCE
#include "burn/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "burn/burn.h"
#include "kit.h"

enum { MAX_TOLD_FAULTS = 1000 };

static int page_map = -1, own_memory = -1;

/* What the processor itself finds wrong and cannot correct: the kernel takes the page away. */
static void on_lost(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    kit_error("the memory at %p is lost (SIGBUS): see the kernel's words in `dmesg`, and replace "
              "the module",
              info->si_addr);
}

void fault_open(void)
{
    struct sigaction lost = {.sa_sigaction = on_lost, .sa_flags = SA_SIGINFO};

    sigemptyset(&lost.sa_mask);
    sigaction(SIGBUS, &lost, NULL);
    page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    own_memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

/* The page's frame is readable for root only. */
static uint64_t physical(const void *address)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), frames = (UINT64_C(1) << 55) - 1,
                   present = UINT64_C(1) << 63;
    uint64_t entry = 0;

    if (pread(page_map, &entry, sizeof entry, (off_t)((uintptr_t)address / page * sizeof entry)) !=
        sizeof entry)
        return 0;
    return entry & present && entry & frames ? (entry & frames) * page + (uintptr_t)address % page
                                             : 0;
}

/*
 * From memory instead of a cache or, if a program cannot flush one, through the kernel's mapping of
 * it.
 */
static uint64_t read_again(volatile uint64_t *word)
{
#if defined __SSE2__
    _mm_clflush((const void *)(uintptr_t)word);
    _mm_mfence();
    return *word;
#elif defined __aarch64__
    __asm__ volatile("dc civac, %0\n\tdsb sy" : : "r"(word) : "memory");
    return *word;
#else
    uint64_t found;
    return pread(own_memory, &found, sizeof found, (off_t)(uintptr_t)word) == sizeof found ? found
                                                                                           : *word;
#endif
}

static void tell(const struct sweep *sweep, uint64_t *word, uint64_t right, uint64_t found)
{
    if (atomic_fetch_add(&burn_faults, 1) >= MAX_TOLD_FAULTS)
        return;
    burn_say("fault %ld %s 0x%llx 0x%llx 0x%016llx 0x%016llx 0x%016llx", sweep->pass,
             sweep->pattern->name, (unsigned long long)(uintptr_t)word,
             (unsigned long long)physical(word), (unsigned long long)right,
             (unsigned long long)found, (unsigned long long)read_again(word));
}

void fault_found(const struct sweep *sweep, uint64_t *words, const uint64_t *right, unsigned number,
                 uint64_t seen)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < number; i++) {
        uint64_t found = *(volatile uint64_t *)(words + i);
        if (found == right[i])
            continue;
        wrong++;
        tell(sweep, words + i, right[i], found);
        words[i] = right[i];
    }
    if (!wrong)
        tell(sweep, words, right[0], right[0] ^ seen);
}

void fault_plant(const struct sweep *sweep)
{
    const uint64_t place = burn_mix(sweep->seed + sweep->number);
    const unsigned bit = place >> 58;
    volatile uint64_t *words = (uint64_t *)sweep->memory,
                      *word = words + place % (sweep->chunks * CHUNK / sizeof *words);

    *word ^= UINT64_C(1) << bit;
    fprintf(stderr, "planted %ld %s 0x%llx bit %u\n", sweep->pass, sweep->pattern->name,
            (unsigned long long)(uintptr_t)word, bit);
}
