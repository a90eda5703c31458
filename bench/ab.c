/* What bench/ab compares: `ab KIND NUMBER`, a command of about 10 ms at 1000, by what it waits for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void compute(long number)
{
    volatile unsigned long sum = 0;

    for (long i = 0; i < number * 20000; i++)
        sum += (unsigned long)i;
}

static void call(long number)
{
    for (long i = 0; i < number * 45; i++)
        syscall(SYS_getppid);
}

static int files(long number)
{
    static char bytes[16384];
    char name[] = "/tmp/unixmark-ab-XXXXXX";
    int file = mkstemp(name);

    for (long i = 0; file >= 0 && i < number; i++)
        if (pwrite(file, bytes, sizeof bytes, (i % 64) * (off_t)sizeof bytes) < 0 || pread(file, bytes, sizeof bytes, 0) < 0)
            return 1;
    return file < 0 || unlink(name) != 0;
}

int main(int argc, char **argv)
{
    const char *kind = argc == 3 ? argv[1] : "";
    const long number = argc == 3 ? atol(argv[2]) : 0;

    if (strcmp(kind, "files") == 0)
        return files(number);
    if (strcmp(kind, "calls") == 0)
        call(number);
    else if (strcmp(kind, "compute") == 0)
        compute(number);
    else
        return fprintf(stderr, "usage: ab compute|calls|files NUMBER\n"), 2;
    return 0;
}
