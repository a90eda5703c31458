/* Processors: see cpus.h. */
#define _GNU_SOURCE
#include "memory/cpus.h"

#include <sched.h>
#include <string.h>
#ifdef __FreeBSD__
#include <pthread_np.h>
#endif

#include "kit.h"

enum { MAX_CPUS = 8192, BITS = 8 * sizeof(unsigned long) }; /* a cpu_set_t ends at 1024 */

int cpus_allowed(int *list, int most)
{
    unsigned long set[MAX_CPUS / BITS] = {0};
    int number = 0;

    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)(void *)set) != 0)
        return 0;
    for (int cpu = 0; cpu < MAX_CPUS; cpu++)
        if (set[cpu / BITS] >> cpu % BITS & 1 && number++ < most)
            list[number - 1] = cpu;
    return number;
}

void cpus_pin(pthread_t thread, int cpu)
{
    unsigned long set[MAX_CPUS / BITS] = {0};
    int why;

    set[cpu / BITS] |= 1UL << cpu % BITS;
    why = pthread_setaffinity_np(thread, sizeof set, (const cpu_set_t *)(const void *)set);
    if (why)
        kit_error("cannot run on cpu %d any more (%s): was it taken away?", cpu, strerror(why));
}
