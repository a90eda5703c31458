/*
 * What burn-in programs share: see burn.h. The kit's timer can interrupt main only within
 * burn_wait, so it never splits a line and never waits for a lock that main itself holds.
 */
#define _GNU_SOURCE
#include "burn/burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

enum { MAX_THREADS = 16384, STACK_BYTES = 512 << 10 };

atomic_ulong burn_faults;

static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;
static int silent = 1;
static int number;
static int64_t begun;
static unsigned long (*count_of_all)(void);
static void (*work_of_all)(int thread);

void burn_say(const char *format, ...)
{
    char line[512];
    size_t length, written = 0;
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    length = strlen(line);
    line[length++] = '\n';
    pthread_mutex_lock(&speaking);
    while (!silent && written < length) {
        ssize_t n = write(STDOUT_FILENO, line + written, length - written);
        if (n < 0 && errno != EINTR)
            _exit(1); /* the reader is gone */
        written += n > 0 ? (size_t)n : 0;
    }
    pthread_mutex_unlock(&speaking);
}

/* Keeps the lock: nothing may be printed after `done`. */
static void hush(int finished)
{
    pthread_mutex_lock(&speaking);
    if (finished)
        kit_report("check faults %lu\n", atomic_load(&burn_faults));
}

int burn_threads(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (!number)
        number = (int)kit_arg_number("threads", online > 0 ? online : 1, 1, MAX_THREADS);
    return number;
}

void burn_start(unsigned long (*count)(void))
{
    sigset_t alarm;

    count_of_all = count;
    kit_counter(count);
    kit_at_end(hush);
    silent = kit_hear().slices > 0;
    kit_start();
    begun = kit_now();
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
}

static void *begin(void *own)
{
    const int thread = (int)(intptr_t)own;

    kit_pin(thread);
    work_of_all(thread);
    return NULL;
}

void burn_hire(void (*work)(int thread))
{
    pthread_attr_t attributes;

    work_of_all = work;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < number; i++) {
        pthread_t thread;
        int why = pthread_create(&thread, &attributes, begin, (void *)(intptr_t)i);
        if (why)
            kit_error("cannot start thread %d of %d (%s): try fewer, or a higher `ulimit -u`",
                      i + 1, number, strerror(why));
    }
    pthread_attr_destroy(&attributes);
}

int burn_wait(int file, int ms)
{
    struct pollfd wanted = {.fd = file, .events = POLLIN};
    const struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    sigset_t nothing;

    sigemptyset(&nothing);
    return ppoll(&wanted, 1, &limit, &nothing) > 0;
}

void burn_finish(void)
{
    kit_slice(begun, kit_now(), count_of_all());
    kit_finish();
}
