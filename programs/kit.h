/*
 * The kit: everything a test program needs to speak unixmark's protocol.
 *
 * A test is one C file. This is a whole one:
 *
 *     #include <unistd.h>
 *     #include "kit.h"
 *
 *     int main(int argc, char **argv)
 *     {
 *         kit_init(argc, argv);
 *         long size = kit_arg_number("size", 512, 1, 4096);
 *         ... prepare; check once that the work is right: kit_check("answer", 42) ...
 *         kit_start();
 *         for (;;) {
 *             ... one piece of work of that size ...
 *             kit_count++;
 *         }
 *     }
 *
 * Put it in the folder named after what it exercises and add a row to a table of catalogue/.
 *
 * The protocol. The program is started as `PROGRAM key=value ... [-- COMMAND ...]`, prepares,
 * prints `ready` and reads one line from stdin:
 *
 *     go START_NS SLICE_NS SLICES
 *
 * in nanoseconds of CLOCK_MONOTONIC; 0 means now. It sleeps until then and works. A program that
 * wakes late, even after the window, never moves it: its slices end when they were planned to, and
 * the first starts late. Only when the last slice is over it prints
 *
 *     slice START_NS END_NS COUNT          one per slice: the work done in it
 *     value NAME NUMBER UNIT               anything else it measured
 *     check NAME NUMBER                    an answer that must be right
 *     note TEXT                            something the reader of the numbers must know
 *     usage USER_NS SYSTEM_NS CHILD_USER_NS CHILD_SYSTEM_NS MINOR_FAULTS MAJOR_FAULTS VOLUNTARY
 *           INVOLUNTARY MAXRSS_KB
 *     done
 *
 *     time NS COUNT                        how many single operations took this long: a histogram,
 *                                          within 1 %
 *     copy NUMBER                          what follows belongs to this thread: see thread/team.h
 *
 * (usage covers the window; faults and switches include the children's) or, instead of all that,
 * one line `skip REASON` or `error REASON`. SLICES 0 makes it a load: it works until stdin closes,
 * then reports one slice. That slice starts at the line `mark`; until it reads that, a load prints
 * ten times a second
 *
 *     pulse NS COUNT                       the work done so far
 *
 * Interactive tests also report frames: see interactive/frames.h.
 * EOF on stdin ends any program silently within a second: nothing outlives the tool.
 *
 * By hand: start it and type the go line, or `(echo go 0 250000000 4; sleep 2) | PROGRAM`.
 *
 * Every program understands these, and skips if the kernel refuses one (with fallback=1 it
 * continues, with a note):
 *
 *     cpu=N[,N...]         processors, assigned to threads in turn
 *     nice=N
 *     policy=other|batch|idle|fifo|rr|deadline
 *     priority=1..99       of fifo and rr [50]
 *     runtime=US           of the deadline policy
 *     timeslice=US         request of a fair task (Linux 6.12)
 *     uclamp_min=N uclamp_max=N
 *     slack=NS             of its timers
 *     lock=1               its memory
 *     session=1            its own session, hence autogroup
 *     cgroup=DIR[:DIR...]
 *     idle_latency=US      limits the exit latency of idle states
 *     add_cycles=N         of an addition that waits for another, by which the core's clock is
 *                          measured; 1 on most cores
 *
 * And these, for conditions; each proves itself with a `value` line of its name, and a refusal is
 * always a skip:
 *
 *     seccomp=allow|argument|FILE
 *                          a filter that allows everything; one that reads an argument; one of
 *                          instructions
 *     landlock=LAYERS landlock_rules=N
 *                          layers that allow everything, and the rules in each
 *     namespaces=1
 *     apparmor=PROFILE     one that is loaded
 *     prove_tracer=1       reports the tracer's pid
 *     prove_nice=1         reports the nice value
 *     outside=NAMESPACE    reports `inside`, 1 if its mount namespace is another
 *     slowed=PERCENT       only to test comparisons: the main thread and the children it waits for
 *                          lose that share of their processor time; it is spent at the end of
 *                          slices, when the timer reads the count, and makes them longer by that
 *                          much; what executes commands makes each execution longer
 */
#ifndef KIT_H
#define KIT_H

#include <stdint.h>

#define KIT_PRINTF __attribute__((format(printf, 1, 2)))

/*
 * The work done so far. The loop adds to it and the kit's timer reads it, so the loop calls no
 * clock.
 */
extern volatile unsigned long kit_count;

/* First call of every program. */
void kit_init(int argc, char **argv);

/*
 * The value of an argument. An argument that the program has not asked for when it calls kit_start
 * is an error, which catches misspelt names.
 */
const char *kit_arg(const char *name, const char *missing);
long kit_arg_number(const char *name, long missing, long low, long high);

/*
 * The number of bytes at the start of a text, with suffix k, m or g (KiB, MiB, GiB); *end is what
 * follows.
 */
uint64_t kit_bytes(const char *text, const char **end);

/* The words after `--`, ended by NULL; NULL if there are none. */
char **kit_command(void);

/* Lets the program have as many open files as this user may. */
void kit_raise_file_limit(void);

/* Keeps a line for the report. */
void kit_check(const char *name, double number);
void kit_value(const char *name, double number, const char *unit);
void kit_note(const char *format, ...) KIT_PRINTF;

/* Prints a line of the report after the window; there may be any number of them. */
void kit_report(const char *format, ...) KIT_PRINTF;

/*
 * Prints ready, waits for go and the start. From then on the timer reads the count at slice edges
 * and ends the program.
 */
void kit_start(void);

/*
 * Instead of kit_count += work if one piece of work takes more than about 50 us: notes when it was
 * completed, so that a slice ends with the last piece completed in it (and has length 0 if there is
 * none).
 */
void kit_tick(unsigned long work);

/*
 * In addition to the count, the time of a single operation that takes longer than about 200 ns: for
 * minimum, p10, p50, p99.
 */
void kit_time(int64_t ns);

/*
 * Instead of kit_count += work, if the work is core-bound and 20 to 100 us of it were done since
 * the last call: keeps the shortest time per unit of work and, occasionally, the core's clock,
 * measured by a chain of additions. They are reported as `value best NS ns` and `value clock GHZ
 * GHz`: best * clock is what a unit takes in cycles, undisturbed.
 */
void kit_piece(unsigned long work);

/*
 * The core's clock in GHz, from one such chain of 5 us: the highest of several is the undisturbed
 * one.
 */
double kit_clock(void);

/*
 * Instead of kit_start for a program that the timer cannot follow: it watches the window itself,
 * reports its work with kit_slice, and calls kit_finish. A window without slices is a load: work
 * for ever and add to kit_count.
 */
struct kit_window {
    int64_t start; /* from kit_hear: the planned start; from kit_wait: the actual one */
    int64_t first_edge, slice;
    long slices;
};

/* Prints ready; returns after go, a little before the start. */
struct kit_window kit_hear(void);

/* Returns at the start; calls kit_hear if the program has not. */
struct kit_window kit_wait(void);

void kit_slice(int64_t start, int64_t end, unsigned long count);
_Noreturn void kit_finish(void);

/* Ends what `usage` counts, before a report that takes time. */
void kit_stop(void);

/*
 * After kit_wait: stops the kit's timer, which watches stdin. The program must call kit_abandoned
 * itself.
 */
void kit_quiet(void);

/*
 * For a program of several processes or threads: the work done so far, instead of kit_count.
 * Async-signal-safe.
 */
void kit_counter(unsigned long (*read_count)(void));

/*
 * Has `listen` called, from a signal handler, with what a load reads after go, perhaps several
 * lines.
 */
void kit_listener(void (*listen)(const char *words));

/*
 * What one thread does; a program without a team has one. What is below `number` belongs to
 * sample.c.
 */
struct kit_thread {
    volatile unsigned long count;
    int number;
    int64_t lap, clock_due;
    double best, clock;
    uint32_t *times;
} __attribute__((aligned(128)));

/* For thread/team.c: the threads whose counts the timer reads in place of kit_count. */
void kit_team(struct kit_thread *threads, int number);

/* Has the calling thread's samples go to `me`. */
void kit_is(struct kit_thread *me);

/* Pins the calling thread to the number-th processor of the cpu= list, where that was given. */
void kit_pin(int number);

/* Ways out without a result. The error says what happened, to what, and what to try. */
_Noreturn void kit_skip(const char *format, ...) KIT_PRINTF;
_Noreturn void kit_error(const char *format, ...) KIT_PRINTF;

/*
 * Has `report` called, once, before the line of an error: kit_report's lines come before it. If
 * that fails, too, the line has both errors. NULL: no more.
 */
void kit_at_error(void (*report)(void));

/*
 * Has `clean` called on every way out, perhaps from a signal handler: async-signal-safe calls only.
 * `finished` is 0 where stdin closed or something failed, and nothing must be waited for.
 */
void kit_at_end(void (*clean)(int finished));

/*
 * For programs that start commands: puts /dev/null on 0 and 1 and keeps the protocol out of the
 * commands' reach.
 */
void kit_detach_stdio(void);

/* Whether stdin has closed, for programs without the timer, and the way out then. */
int kit_abandoned(void);
_Noreturn void kit_leave(void);

/* CLOCK_MONOTONIC in ns. */
int64_t kit_now(void);

/* Sleeps until a moment of that clock, whatever signals come. */
void kit_sleep_until(int64_t when);

#endif
