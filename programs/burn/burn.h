/*
 * What a burn-in program says besides: it runs as a load (`go 0 0 0`) until stdin closes, and each line goes out at once. Its
 * pulses come between, as any load's do, until it is told `mark`.
 *
 * Memory:
 *
 *     stage PASS PATTERN DONE TOTAL        bytes of this pass that were written or read so far, and of the whole pass; as a
 *                                          pattern begins and at least once a second
 *     fault PASS PATTERN ADDRESS PHYSICAL EXPECTED READ RETEST
 *                                          addresses and words in hexadecimal with 0x; PHYSICAL is 0x0 where it may not be
 *                                          known; RETEST is what reading once more, after a flush, gives
 *     faults COUNT                         faults so far, also those beyond the first thousand that are not told one by one;
 *                                          before the `stage` or `pass` line that follows a fault
 *     pass PASS SECONDS BYTES FAULTS       a pass is over: how long it took, what moved, faults of this pass
 *     shrunk BYTES REASON                  it gave memory back to the machine, and goes on with so many bytes, with this
 *                                          pattern from its beginning; TOTAL is another from here on
 *
 * Of block-move, ADDRESS is where the word lies after its moves: it may have gone wrong in any of its places. A wrong word that
 * is right when looked at once more is a fault too: ADDRESS is then that of its 512 bytes.
 *
 * Cooling, once a second and thread:
 *
 *     beat NS THREAD CPU COUNT CLOCK WRONG moment, processor, pieces of work in this second, the clock in GHz by a chain of
 *                                          additions (0: not measured in this second), wrong results so far
 *
 * A line `rest` on stdin has cooling stop its work and go on with beats, so that the clock is seen while it cools: COUNT is
 * then 0, and the clock is that after 5 ms of nothing but additions, since a processor needs some time to leave its idle clock.
 *
 * At the end both report `check faults N`, the faults or wrong results. In a window with slices nothing is said before that.
 */
#ifndef BURN_H
#define BURN_H

#include <stdatomic.h>
#include <stdint.h>

/* Prints one line at once. Any thread may. */
__attribute__((format(printf, 1, 2))) void burn_say(const char *format, ...);

/* Errors found so far. */
extern atomic_ulong burn_faults;

/* How many threads: threads=N, or one for each CPU that is online. Before burn_start. */
int burn_threads(void);

/* Says ready and waits for the start. From then on `count` tells what was done; main must wait with burn_wait alone. */
void burn_start(unsigned long (*count)(void));

/* Starts the threads, the i-th of which runs work(i) on the i-th processor of cpu=A,B,... */
void burn_hire(void (*work)(int thread));

/* In main: waits until `file` is readable, which it returns, or `ms` have passed; the tool is listened to meanwhile. */
int burn_wait(int file, int ms);

/* In main: ends before the tool has said so. */
_Noreturn void burn_finish(void);

/* A number that looks random, another for every number: splitmix64 by Steele, Lea and Flood. */
static inline uint64_t burn_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
