/*
 * A lock that all processes of the machine can share: a file is opened, locked with flock(2) and
 * closed, which unlocks it. One count is such a cycle, of three system calls, and each is timed.
 * All copies contend for one file in the directory they run in. The lock is the kernel's and goes
 * with the process; the file stays until the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "kit.h"

#define NAME "flock.lock"

static void clean(int finished)
{
    (void)finished;
    unlink(NAME); /* a copy that ends later creates it again and removes it */
}

/*
 * O_CREAT only where it is needed: with it some kernels lock the directory, and copies would meet
 * there.
 */
static int open_file(void)
{
    int file = open(NAME, O_RDWR | O_CLOEXEC);

    if (file < 0 && errno == ENOENT)
        file = open(NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        kit_error("cannot open %s in the current directory (%s): try another --dir", NAME,
                  strerror(errno));
    return file;
}

static void lock(int file)
{
    int result;

    do
        result = flock(file, LOCK_EX);
    while (result != 0 && errno == EINTR);
    if (result == 0)
        return;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == ENOLCK)
        kit_skip("the file system of the current directory has no locks (%s): try another --dir",
                 strerror(errno));
    kit_error("cannot lock %s (%s)", NAME, strerror(errno));
}

/* While one descriptor has the lock, another of the same process is refused it. */
static int excludes(void)
{
    int holder = open_file(), other = open_file(), refused;

    lock(holder);
    refused = flock(other, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(holder);
    lock(other);
    close(other);
    return refused;
}

int main(int argc, char **argv)
{
    int64_t before;

    kit_init(argc, argv);
    kit_at_end(clean);
    kit_check("exclusive", excludes());
    kit_start();
    before = kit_now();
    for (;;) {
        int64_t now;
        int file = open_file();
        lock(file);
        close(file);
        now = kit_now();
        kit_time(now - before);
        before = now;
        kit_count++;
    }
}
