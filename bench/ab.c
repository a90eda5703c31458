/*
 * What bench/ab compares: `ab KIND NUMBER [MILLIONTHS START_NS]`, a command by what it spends its time on. It
 * uses MILLIONTHS more of its processor time, to which the rest of START_NS is added, the time of a process that does nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
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

static long long used(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
    const long long began = used();
    const char *kind = argc == 3 || argc == 5 ? argv[1] : "";
    const long number = argc > 2 ? atol(argv[2]) : 0;
    const double more = argc == 5 ? atof(argv[3]) / 1e6 : 0;
    const long long start = argc == 5 ? atoll(argv[4]) : 0;
    long long end;
    int failed = 0;

    if (strcmp(kind, "files") == 0)
        failed = files(number);
    else if (strcmp(kind, "calls") == 0)
        call(number);
    else if (strcmp(kind, "compute") == 0)
        compute(number);
    else
        return fprintf(stderr, "usage: ab compute|calls|files NUMBER [MILLIONTHS START_NS]\n"), 2;
    end = used();
    end += (long long)(more * (double)(end + (start > began ? start - began : 0)));
    while (used() < end)
        ;
    return failed;
}
