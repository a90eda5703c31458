/* Pipe throughput: one process writes 512 bytes into a pipe and reads them back. Nobody is woken. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

enum { SIZE = 512 };

int main(int argc, char **argv)
{
    char sent[SIZE], buffer[SIZE];
    int ends[2];

    kit_init(argc, argv);
    memset(sent, 'u', SIZE);
    memset(buffer, 0, SIZE);
    if (pipe(ends) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    if (write(ends[1], sent, SIZE) != SIZE || read(ends[0], buffer, SIZE) != SIZE)
        kit_error("a pipe does not take %d bytes (%s)", SIZE, strerror(errno));
    kit_check("same", memcmp(sent, buffer, SIZE) == 0);
    kit_start();
    for (;;) {
        if (write(ends[1], buffer, SIZE) != SIZE || read(ends[0], buffer, SIZE) != SIZE)
            kit_error("the pipe broke after %lu rounds (%s)", kit_count, strerror(errno));
        kit_count++;
    }
}
