/*
 * Pipe throughput: one process writes 512 bytes into a pipe and reads them back. Nobody is woken.
 * Copies that are threads have a pipe each, in one table of descriptors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "thread/team.h"

enum { SIZE = 512 };

static __thread int ends[2];
static __thread char buffer[SIZE];

static void prepare(struct kit_thread *me)
{
    char sent[SIZE];

    (void)me;
    memset(sent, 'u', SIZE);
    if (pipe(ends) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    if (write(ends[1], sent, SIZE) != SIZE || read(ends[0], buffer, SIZE) != SIZE)
        kit_error("a pipe does not take %d bytes (%s)", SIZE, strerror(errno));
    kit_check("same", memcmp(sent, buffer, SIZE) == 0);
}

static void work(struct kit_thread *me)
{
    const int from = ends[0], to = ends[1];

    for (;;) {
        if (write(to, buffer, SIZE) != SIZE || read(from, buffer, SIZE) != SIZE)
            kit_error("the pipe broke after %lu rounds (%s)", me->count, strerror(errno));
        me->count++;
    }
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    team_prepare(prepare);
    team_start(work);
}
