/*
 * What a burn-in program says besides: it runs as a load (`go 0 0 0`) until stdin closes, and each line goes out at once.
 *
 * Memory:
 *
 *     stage PASS PATTERN DONE TOTAL        bytes of this pass that were written or read so far, and of the whole pass; as it
 *                                          begins and at least once a second
 *     fault PASS PATTERN ADDRESS PHYSICAL EXPECTED READ RETEST
 *                                          addresses and words in hexadecimal with 0x; PHYSICAL is 0x0 where it may not be
 *                                          known; RETEST is what reading once more, after a flush, gives
 *     faults COUNT                         faults so far, also those beyond the first thousand that are not told one by one
 *     pass PASS SECONDS BYTES FAULTS       a pass is over: how long it took, what moved, faults of this pass
 *     shrunk BYTES REASON                  it gave memory back to the machine, and goes on with so many bytes
 *
 * Cooling, once a second and thread:
 *
 *     beat NS THREAD CPU COUNT CLOCK WRONG moment, processor, pieces of work in this second, the clock in GHz by a chain of
 *                                          additions (0: not measured in this second), wrong results so far
 *
 * A line `rest` on stdin has cooling stop its work and go on with beats, so that the clock is seen while it cools.
 */
#ifndef BURN_H
#define BURN_H

/* Prints one line at once. Any thread may. */
__attribute__((format(printf, 1, 2))) void burn_say(const char *format, ...);

#endif
