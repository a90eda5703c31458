/*
 * Opens and closes a file at a rate, for what watches opens.
 *
 *   rate=N share=PERCENT   so many a second, share of that [100]; an open that is late is made at
 *                          once, so that what was missed is caught up with. Without a rate as fast
 *                          as it can, which it first reports as `capacity`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

enum {
    SECOND = 1000000000,
    SLEEP = 200000, /* ns: until what is due sooner it spins, which comes in time */
    LOOKS = 20000, /* opens by which the capacity is known */
};

static const char *const path = "opened";

static void open_once(void)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        kit_error("cannot open its file (%s): try another --dir", strerror(errno));
    close(file);
}

static void tell_capacity(void)
{
    int64_t began = kit_now();

    for (int i = 0; i < LOOKS; i++)
        open_once();
    kit_value("capacity", (double)LOOKS * SECOND / (double)(kit_now() - began), "1/s");
}

static void wait_until(int64_t due)
{
    if (due - kit_now() > SLEEP)
        kit_sleep_until(due);
    while (kit_now() < due)
        ;
}

int main(int argc, char **argv)
{
    double rate, due;
    int file;

    kit_init(argc, argv);
    rate = (double)kit_arg_number("rate", 0, 0, 100000000) *
           (double)kit_arg_number("share", 100, 1, 1000) / 100;
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || close(file) != 0)
        kit_error("cannot make a file (%s): try another --dir", strerror(errno));
    open_once();
    if (rate > 0)
        kit_value("offered", rate, "1/s");
    else
        tell_capacity();
    kit_start();
    due = (double)kit_now();
    for (;; kit_count++) {
        if (rate > 0)
            wait_until((int64_t)(due += SECOND / rate));
        open_once();
    }
}
