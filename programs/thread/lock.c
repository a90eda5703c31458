/*
 * A lock that threads contend for. One count is an acquisition, and the thread that releases it may
 * well be the next to get it: `handovers` reports how often it really went to another thread.
 *
 *   kind=normal|adaptive|pi   a mutex of the C library: plain, spinning a little before it sleeps,
 *                             with priority inheritance
 *   kind=spin                 a word that is watched until it is free, then exchanged
 *   critical=N think=N        work while the lock is held, and between (0 units). A unit is one
 *                             multiplication that waits for the one before: 3 cycles on most
 *                             processors
 *
 * What the lock guards, three words, is in a cache line of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "thread/partner.h"
#include "thread/tally.h"
#include "thread/team.h"

enum {
    LINE = 128,     /* two lines of 64 bytes: some processors fetch them in pairs */
    /* looks at a taken spinlock, some 5 us, before its owner may need this processor */
    MAX_SPINS = 200,
};

static struct {
    pthread_mutex_t mutex;
    int word;
} lock __attribute__((aligned(LINE)));

static struct {
    unsigned long acquired, handovers;
    int owner;
} guarded __attribute__((aligned(LINE)));

static struct {
    long critical, think;
} units __attribute__((aligned(LINE)));

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static void lock_mutex(void)
{
    pthread_mutex_lock(&lock.mutex);
}

static void unlock_mutex(void)
{
    pthread_mutex_unlock(&lock.mutex);
}

/* Spinning reads only, so that the line need not travel until the lock is free. */
static void lock_spin(void)
{
    unsigned looks = 0;

    while (__atomic_exchange_n(&lock.word, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&lock.word, __ATOMIC_RELAXED))
            if (++looks % MAX_SPINS)
                relax();
            else
                sched_yield();
}

static void unlock_spin(void)
{
    __atomic_store_n(&lock.word, 0, __ATOMIC_RELEASE);
}

static void spend(long number)
{
    unsigned long product = 1, factor = 5;

    __asm__ volatile("" : "+r"(factor)); /* compilers multiply by a known 5 with additions */
    for (; number > 0; number--) {
        product *= factor;
        __asm__ volatile("" : "+r"(product));
    }
}

static void enter(int number)
{
    guarded.acquired++;
    if (guarded.owner != number) {
        guarded.owner = number;
        guarded.handovers++;
    }
}

static inline __attribute__((always_inline)) void contend(struct kit_thread *me, void (*take)(void),
                                                          void (*release)(void))
{
    tally_join(me);
    for (;;) {
        take();
        enter(me->number);
        spend(units.critical);
        release();
        me->count++;
        spend(units.think);
    }
}

static void work_with_mutex(struct kit_thread *me)
{
    contend(me, lock_mutex, unlock_mutex);
}

static void work_with_spinlock(struct kit_thread *me)
{
    contend(me, lock_spin, unlock_spin);
}

static unsigned long acquired(void)
{
    return __atomic_load_n(&guarded.acquired, __ATOMIC_SEQ_CST);
}

/* An acquisition that met another would have lost one of the two additions to the plain word. */
static void report(int finished)
{
    if (!finished)
        return;
    tally_check("exclusive", acquired, (unsigned long)team_number());
    tally_rate("handovers", __atomic_load_n(&guarded.handovers, __ATOMIC_SEQ_CST));
    tally_fairness();
}

static void prepare_mutex(const char *kind)
{
    pthread_mutexattr_t attributes;
    int why = 0;

    pthread_mutexattr_init(&attributes);
    if (strcmp(kind, "pi") == 0)
        why = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    else if (strcmp(kind, "adaptive") == 0)
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
        why = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#else
        why = ENOTSUP;
#endif
    else if (strcmp(kind, "normal") != 0)
        kit_error("unknown kind=%s: try normal, adaptive, pi or spin", kind);
    why = why ? why : pthread_mutex_init(&lock.mutex, &attributes);
    if (why)
        kit_skip("a mutex of kind=%s was refused (%s): try kind=normal", kind, strerror(why));
    pthread_mutexattr_destroy(&attributes);
}

static void idle(void)
{
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *kind;

    kit_init(argc, argv);
    kind = kit_arg("kind", "normal");
    units.critical = kit_arg_number("critical", 0, 0, 1000000);
    units.think = kit_arg_number("think", 0, 0, 1000000);
    kit_at_end(report);
    if (team_number() == 1)
        /* in a process of one thread the C library locks without atomic instructions */
        partner_start(idle);
    if (strcmp(kind, "spin") == 0)
        team_start(work_with_spinlock);
    prepare_mutex(kind);
    team_start(work_with_mutex);
}
