/* Threads that share memory: see team.h. */
#define _GNU_SOURCE
#include "team.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 16384 };

static struct kit_thread *threads;
static int number;
static void (*work_of_all)(struct kit_thread *me);
static pthread_barrier_t gathered, opened;
static int64_t start;

int team_number(void)
{
    if (!number)
        number = (int)kit_arg_number("threads", 1, 1, MOST);
    return number;
}

static void *member(void *own)
{
    kit_is(own);
    kit_pin(((struct kit_thread *)own)->number);
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

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    why = pthread_create(&thread, &attributes, work, own);
    pthread_attr_destroy(&attributes);
    return why;
}

static void create_members(void)
{
    for (int i = 1; i < number; i++) {
        int why = team_thread(member, threads + i);
        if (why)
            kit_error("cannot start thread %d of %d (%s): try fewer copies, or a higher `ulimit -u`", i + 1, number,
                      strerror(why));
    }
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
    create_members();
    kit_team(threads, number);
    kit_is(threads);
    pthread_barrier_wait(&gathered);
    start = kit_hear().start;
    pthread_barrier_wait(&opened);
    kit_start();
    work(threads);
    abort();
}
