/*
 * What a burn-in program also prints: it runs as a load (`go 0 0 0`) until stdin closes, and each
 * line is written at once. Its pulses come in between, as with any load, until it reads `mark`.
 *
 * Memory:
 *
 *     stage PASS PATTERN DONE TOTAL        bytes of this pass that were written or read so far, and
 *                                          in all; when a pattern begins, and at least once a
 *                                          second
 *     fault PASS PATTERN ADDRESS PHYSICAL EXPECTED READ RETEST
 *                                          addresses and words in hexadecimal with 0x; PHYSICAL is
 *                                          0x0 if unknown; RETEST is the result of reading once
 *                                          more after a flush
 *     faults COUNT                         faults so far, including those beyond the first
 *                                          thousand, which are not printed one by one; before the
 *                                          `stage` or `pass` line that follows a fault
 *     pass PASS SECONDS BYTES FAULTS       a pass has ended: its duration, bytes moved and faults
 *     shrunk BYTES REASON                  it gave memory back to the machine and continues with
 *                                          this many bytes, restarting the pattern; TOTAL changes
 *                                          from here on
 *
 * For block-move, ADDRESS is where the word is after its moves: it may have gone wrong in any of
 * its places. A wrong word that is right at the second read is a fault too: ADDRESS is then that of
 * its 512 bytes.
 *
 * Cooling, once a second for each thread:
 *
 *     beat NS THREAD CPU COUNT CLOCK WRONG time, processor, pieces of work in this second, the
 *                                          clock in GHz from a chain of additions (0: not measured
 *                                          in this second), wrong results so far
 *
 * On a line `rest` on stdin, cooling stops its work and continues with beats, so the clock is
 * visible while it cools: COUNT is then 0, and the clock is measured after 5 ms of additions,
 * because a processor takes some time to leave its idle clock.
 *
 * At the end both report `check faults N`, the faults or wrong results. In a window with slices
 * nothing is printed earlier.
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

/*
 * Prints ready and waits for the start. From then on `count` returns the work done; main must wait
 * with burn_wait only.
 */
void burn_start(unsigned long (*count)(void));

/* Starts the threads; the i-th runs work(i) on the i-th processor of cpu=A,B,... */
void burn_hire(void (*work)(int thread));

/*
 * In main: waits until `file` is readable, which it returns, or `ms` have passed; reads stdin
 * meanwhile.
 */
int burn_wait(int file, int ms);

/* In main: ends before the tool asks for it. */
_Noreturn void burn_finish(void);

/* A pseudo-random number, different for every argument: splitmix64 by Steele, Lea and Flood. */
static inline uint64_t burn_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
