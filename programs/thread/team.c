/* Threads that share memory: see team.h. */
#define _GNU_SOURCE
#include "team.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_THREADS = 16384 };

static struct kit_thread *threads;
static int number;
static void (*work_of_all)(struct kit_thread *me);
static void (*preparation)(struct kit_thread *me);
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t gathered, opened;
static int64_t start;

int team_number(void)
{
    if (!number)
        number = (int)kit_arg_number("threads", 1, 1, MAX_THREADS);
    return number;
}

void team_prepare(void (*prepare)(struct kit_thread *me))
{
    preparation = prepare;
}

/* A preparation may ask the kit for arguments and report, which only one thread at a time can. */
static void prepare_in_turn(struct kit_thread *me)
{
    if (!preparation)
        return;
    pthread_mutex_lock(&turn);
    preparation(me);
    pthread_mutex_unlock(&turn);
}

static void *member(void *own)
{
    kit_is(own);
    kit_pin(((struct kit_thread *)own)->number);
    prepare_in_turn(own);
    pthread_barrier_wait(&gathered);
    pthread_barrier_wait(&opened);
    kit_sleep_until(start);
    work_of_all(own);
    return NULL;
}

int team_thread(void *(*work)(void *), void *own)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t alarm;
    int why;

    /* The new thread inherits this. In the first, whose signal it is, the kit unblocks it. */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    why = pthread_create(&thread, &attributes, work, own);
    pthread_attr_destroy(&attributes);
    return why;
}

/*
 * Sleeps next to a single copy that is a thread: only where there is a second one does the kernel
 * lock, and count references to, what threads share. So one copy compares with many.
 */
static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void create(void *(*work)(void *), void *own)
{
    int why = team_thread(work, own);

    if (why)
        kit_error("cannot start a thread (%s): try a higher `ulimit -u`, or fewer copies",
                  strerror(why));
}

static void create_members(void)
{
    for (int i = 1; i < number; i++)
        create(member, threads + i);
    if (number == 1 && kit_arg("threads", NULL)) /* else copies are processes */
        create(sleep_for_ever, NULL);
}

void team_start(void (*work)(struct kit_thread *me))
{
    size_t size = (size_t)team_number() * sizeof *threads;

    threads = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (threads == MAP_FAILED)
        kit_error("no memory for %d threads (%s)", number, strerror(errno));
    for (int i = 0; i < number; i++)
        threads[i].number = i;

    work_of_all = work;
    pthread_barrier_init(&gathered, NULL, (unsigned)number);
    pthread_barrier_init(&opened, NULL, (unsigned)number);

    kit_is(threads);
    prepare_in_turn(threads);
    create_members();
    kit_team(threads, number);

    pthread_barrier_wait(&gathered);
    start = kit_hear().start;
    pthread_barrier_wait(&opened);
    kit_start();
    work(threads);
    abort();
}
