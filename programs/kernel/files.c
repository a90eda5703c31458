/* Calls that need nothing, files and signals: see operations.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/operations.h"
#include "kit.h"
#include "thread/team.h"

enum {
    FILES = 32, /* of a round */
    DEPTH = 8,  /* directories above a deep file */
};

__thread int file = -1;
__thread char *buffer;

static __thread char path[128];
static __thread int zero, null;
static __thread struct stat found;
static char names[FILES][64];
static int file_depth = -1; /* directories above each copy's file; -1: there is none */
static volatile sig_atomic_t caught;

void *memory(size_t bytes)
{
    void *made = calloc(1, bytes);

    if (!made)
        kit_error("no memory for %zu bytes", bytes);
    return made;
}

void make_buffer(void)
{
    buffer = memory((size_t)size);
    memset(buffer, 'a', (size_t)size);
}

/* --- calls --- */

/* A parent outside of this container is 0. */
WORK(getppid_call, syscall(SYS_getppid) >= 0)

static void make_null(void)
{
    make_buffer();
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (zero < 0 || null < 0)
        kit_error("cannot open /dev/zero and /dev/null (%s)", strerror(errno));
}

/* One after the other: a count is half of the two, as lmbench has their mean. */
WORK(null_io, (i % 2 ? write(null, buffer, 1) : read(zero, buffer, 1)) == 1)

/* --- files --- */

/* The name of a copy's file, below so many directories. */
static void write_path(char *name, size_t room, int copy, int depth)
{
    int length = snprintf(name, room, "core-%ld-%d", (long)getpid(), copy);

    for (int i = 0; i < depth; i++)
        length += snprintf(name + length, room - (size_t)length, "/level%d", i + 1);
}

/* The innermost directory first. */
static void remove_file_of(int copy)
{
    char name[sizeof path];

    write_path(name, sizeof name, copy, file_depth);
    unlink(name);
    for (char *slash = strrchr(name, '/'); slash; slash = strrchr(name, '/')) {
        *slash = '\0';
        rmdir(name);
    }
}

void remove_files(int finished)
{
    (void)finished;
    for (int copy = 0; file_depth >= 0 && copy < team_number(); copy++)
        remove_file_of(copy);
    for (int i = 0; i < FILES && names[i][0]; i++)
        unlink(names[i]);
}

static void make_names(void)
{
    for (int i = 0; i < FILES; i++)
        snprintf(names[i], sizeof names[i], "core-%ld-%d", (long)getpid(), i);
}

static void create_file(int depth)
{
    int bad = 0;

    file_depth = depth;
    for (int above = 0; above < depth; above++) {
        write_path(path, sizeof path, copy_number, above);
        bad |= mkdir(path, 0700);
    }
    write_path(path, sizeof path, copy_number, depth);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (bad || file < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", path,
                  strerror(errno));
}

static void make_deep_file(void)
{
    create_file(DEPTH);
}

/* Long enough for a round of reads. */
void make_file(void)
{
    create_file(0);
    make_buffer();
    for (long length = 0; length == 0 || (length < 64 * size && length <= 4096000); length += size)
        if (write(file, buffer, (size_t)size) != size)
            kit_error("cannot write %s (%s): is the file system full?", path, strerror(errno));
}

static void rewind_file(void)
{
    if (lseek(file, 0, SEEK_SET) != 0)
        kit_error("cannot go back to the start of %s (%s)", path, strerror(errno));
}

static int opened(void)
{
    int made = open(path, O_RDONLY | O_CLOEXEC);

    return made >= 0 && close(made) == 0;
}

/* With size=1 there is nothing in it: the size of a file is never 0 otherwise. */
static int created(const char *name)
{
    static char bytes[65536];
    int made = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return made >= 0 && (size == 1 || write(made, bytes, (size_t)size) == size) && close(made) == 0;
}

WORK(stat_file, stat(path, &found) == 0 && S_ISREG(found.st_mode))
WORK(open_file, opened())
WORK(read_file, read(file, buffer, (size_t)size) == size)
WORK(write_file, write(file, buffer, (size_t)size) == size)
WORK(create_files, created(names[i]))
WORK(delete_files, unlink(names[i]) == 0)

static void create_all(void)
{
    if (create_files(FILES) != FILES)
        kit_error("cannot create a file in the current directory (%s): is it full?",
                  strerror(errno));
}

static void delete_all(void)
{
    if (delete_files(FILES) != FILES)
        kit_error("cannot delete a file in the current directory (%s)", strerror(errno));
}

/* --- signals --- */

static void on_signal(int signal)
{
    (void)signal;
    caught++;
}

int handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};

    return sigaction(signal, &action, NULL) == 0;
}

static void make_handler(void)
{
    if (!handle(SIGUSR1, on_signal))
        kit_error("cannot handle a signal (%s)", strerror(errno));
}

WORK(install_handler, handle(SIGUSR2, on_signal))

/* A signal to oneself that nothing blocks arrives before kill returns. */
static int catch_signal(int times)
{
    const pid_t self = getpid();

    caught = 0;
    for (int i = 0; i < times; i++)
        kill(self, SIGUSR1);
    return (int)caught;
}

const struct operation file_operations[] = {
    {"getppid", .work = getppid_call, .times = 256},
    {"null-io", .prepare = make_null, .work = null_io, .times = 128},
    {"stat", .prepare = make_file, .work = stat_file, .times = 64},
    {"stat-deep", .prepare = make_deep_file, .work = stat_file, .times = 64},
    {"open", .prepare = make_file, .work = open_file, .times = 64},
    {"read", .prepare = make_file, .before = rewind_file, .work = read_file},
    {"write", .prepare = make_file, .before = rewind_file, .work = write_file},
    {"create", .prepare = make_names, .work = create_files, .after = delete_all, .times = FILES},
    {"delete", .prepare = make_names, .before = create_all, .work = delete_files, .times = FILES},
    {"signal-install", .work = install_handler, .times = 64},
    {"signal-catch", .prepare = make_handler, .work = catch_signal, .times = 64},
    {.name = NULL},
};
