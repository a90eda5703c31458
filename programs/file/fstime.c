/*
 * File write, read and copy through the page cache, always the same file again: mode=write, read or
 * copy in buffers of block=1024 bytes, the file being blocks=2000 KiB long. The count is in units
 * of 256 bytes.
 *
 * prime=SECONDS is UnixBench's preparation: it writes and reads for so long, with sync and sleep
 * before each phase; what is only written starts empty. prime=0 goes through the file once in every
 * way the mode needs. The files are dummy0-PID-N and dummy1-PID-N in the current directory,
 * N being the number of a copy that is a thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "thread/team.h"

enum { UNIT_BYTES = 256, MAX_BLOCK_BYTES = 8192, PAGE = 4096, OFFSET = 480 };

/*
 * The speed of the kernel's copying depends on where in its page the buffer begins, by 10 % and
 * more. UnixBench's begins at byte 480, as strace shows, so ours does.
 */
static __thread char pages[MAX_BLOCK_BYTES + PAGE] __attribute__((aligned(PAGE)));
#define buffer (pages + OFFSET)

enum { NAME_BYTES = 48 };

static __thread int source, target;
static __thread struct kit_thread *self;
static size_t block;
static long passes_buffers, prime_seconds; /* passes_buffers: buffers in the file */
static void (*pass)(void);

static void write_name(char *name, int which, int copy)
{
    snprintf(name, NAME_BYTES, "dummy%d-%ld-%d", which, (long)getpid(), copy);
}

static void remove_files(int finished)
{
    char name[NAME_BYTES];

    (void)finished;
    for (int copy = 0; copy < team_number(); copy++)
        for (int which = 0; which < 2; which++) {
            write_name(name, which, copy);
            unlink(name);
        }
}

static int make_file(int which)
{
    char name[NAME_BYTES];
    int fd;

    write_name(name, which, self->number);
    /* Others may write in the directory, and know the name. */
    unlink(name);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", name,
                  strerror(errno));
    return fd;
}

static void rewind_file(int fd)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        kit_error("cannot go back to the start of a file (%s)", strerror(errno));
}

static void write_block(int fd, size_t size)
{
    ssize_t n = write(fd, buffer, size);

    if (n != (ssize_t)size)
        kit_error("wrote %zd of %zu bytes (%s): is the file system full?", n, size,
                  n < 0 ? strerror(errno) : "short");
}

static size_t read_block(int fd)
{
    ssize_t n = read(fd, buffer, block);

    if (n < 0)
        kit_error("cannot read the file (%s)", strerror(errno));
    return (size_t)n;
}

static inline void count(size_t size)
{
    self->count += (size + UNIT_BYTES / 2) / UNIT_BYTES;
}

/* Each of these goes through the file once. */

static void write_file(void)
{
    for (long i = 0; i < passes_buffers; i++) {
        write_block(source, block);
        count(block);
    }
    rewind_file(source);
}

static void read_file(void)
{
    size_t n;

    while ((n = read_block(source)) > 0)
        count(n);
    rewind_file(source);
}

static void copy_file(void)
{
    size_t n;

    while ((n = read_block(source)) > 0) {
        write_block(target, n);
        count(n);
    }
    rewind_file(source);
    rewind_file(target);
}

static void settle(unsigned first, unsigned second)
{
    sync();
    sleep(first);
    sync();
    sleep(second);
}

static void repeat(void (*go_through)(void), long seconds)
{
    int64_t end = kit_now() + seconds * 1000000000;

    do
        go_through();
    while (kit_now() < end);
}

/*
 * Until the file has been written, and read and copied if that is measured: all before ready, and
 * none of it counts.
 */
static void prime(void)
{
    const long seconds = prime_seconds;

    if (seconds > 0)
        settle(2, 2);
    repeat(write_file, pass == write_file ? 0 : seconds);
    if (seconds > 0 && pass != write_file)
        settle(2, 2);
    if (pass == copy_file || (seconds == 0 && pass == read_file))
        repeat(read_file, seconds);
    if (pass == copy_file && seconds > 0)
        settle(2, 1);
    if (pass == copy_file && seconds == 0)
        copy_file();
}

/* The file must have the requested length: a short one would be copied faster. */
static void check_files(void)
{
    off_t length = (off_t)passes_buffers * (off_t)block;

    kit_check("length", lseek(source, 0, SEEK_END) == length);
    rewind_file(source);
}

static void (*parse_mode(const char *mode))(void)
{
    if (strcmp(mode, "copy") == 0)
        return copy_file;
    if (strcmp(mode, "write") == 0)
        return write_file;
    if (strcmp(mode, "read") == 0)
        return read_file;
    kit_error("unknown mode=%s: try copy, write or read", mode);
}

static void prepare(struct kit_thread *me)
{
    self = me;
    for (int i = 0; i < MAX_BLOCK_BYTES; i++)
        buffer[i] = (char)i;
    source = make_file(0);
    target = make_file(1);
    prime();
    check_files();
    if (prime_seconds > 0 && pass == write_file && ftruncate(source, 0) != 0)
        kit_error("cannot empty the file (%s)", strerror(errno));
    me->count = 0;
}

static void work(struct kit_thread *me)
{
    (void)me;
    for (;;)
        pass();
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    pass = parse_mode(kit_arg("mode", "copy"));
    block = (size_t)kit_arg_number("block", 1024, UNIT_BYTES, MAX_BLOCK_BYTES);
    passes_buffers = kit_arg_number("blocks", 2000, 1, 1048576) * 1024 / (long)block;
    prime_seconds = kit_arg_number("prime", 0, 0, 60);
    kit_at_end(remove_files);
    team_prepare(prepare);
    team_start(work);
}
