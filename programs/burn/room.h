/* How much memory there is to take, for a program that takes much and must not harm others. */
#ifndef ROOM_H
#define ROOM_H

#include <stdint.h>

struct room {
    int64_t available; /* bytes that may still be used here without swapping */
    int64_t reserve;   /* of these must stay: a twentieth of all, at least 256 MiB */
    int64_t all, machine; /* bytes that it has in use or not, and what the whole machine has */
    /* where it is tightest: `this machine`, or one of the memory cgroups that this process is in */
    char place[256];
};

void room_look(struct room *room);

/* Bytes of the first processor's largest cache, or 0 where the kernel does not tell. */
int64_t room_cache(void);

/*
 * Percent of the last ten seconds in which some task waited for memory, or 0 where the kernel does
 * not tell.
 */
double room_pressure(void);

/* Bytes of memory that this process has. */
int64_t room_resident(void);

/* Has the kernel end this process before any other where memory ends. */
void room_offer_to_killer(void);

#endif
