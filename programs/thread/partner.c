/* A second thread: see partner.h. */
#define _GNU_SOURCE
#include "thread/partner.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "kit.h"

static void (*work_of_partner)(void);

static void *run(void *unused)
{
    (void)unused;
    kit_pin(1);
    work_of_partner();
    return NULL;
}

void partner_start(void (*work)(void))
{
    sigset_t all, before;
    pthread_t thread;
    int why;

    work_of_partner = work;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    why = pthread_create(&thread, NULL, run, NULL);
    if (why)
        kit_error("cannot start a second thread (%s): is `ulimit -u` too low?", strerror(why));
    pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
