/* The processors that the program may run on, for threads that choose their own. */
#ifndef CPUS_H
#define CPUS_H

#include <pthread.h>

/*
 * Writes up to `most` of them into `list` and returns how many there are. Call it before kit_init,
 * which may pin to one.
 */
int cpus_allowed(int *list, int most);

/* From now on, and when this returns, the thread runs on that processor only. */
void cpus_pin(pthread_t thread, int cpu);

#endif
