/*
 * System call overhead: calls that do next to nothing, in a row.
 *
 *   mode=mix      dup, close, getpid, getuid, umask: five calls
 *   mode=close    dup, close
 *   mode=getpid   getpid
 *   mode=exec     fork, and the child executes /bin/true
 *
 * The descriptor that is duplicated is a pipe's of our own: copies must not meet at one shared
 * reference count. Copies that are threads share the table of descriptors and the umask; mode=exec
 * has none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "thread/team.h"

/*
 * syscall(): the C library has at times remembered the answer of getpid. Results are checked
 * before, in prove.
 */
static inline void mix(int fd)
{
    close(dup(fd));
    syscall(SYS_getpid);
    getuid();
    umask(022);
}

static void exec_true(void)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` too low?", strerror(errno));
    if (child == 0) {
        execl("/bin/true", "/bin/true", (char *)NULL);
        _exit(99);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        kit_error("/bin/true ended with wait status %d: is it there?", status);
}

static void prove(int fd)
{
    int copy = dup(fd);
    int works = copy >= 0 && close(copy) == 0 && close(copy) != 0 && errno == EBADF;

    works = works && syscall(SYS_getpid) == getpid() && getuid() == geteuid();
    umask(022);
    kit_check("works", works && umask(022) == 022);
}

static int own_descriptor(void)
{
    int ends[2];

    if (pipe(ends) != 0 || close(ends[1]) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    return ends[0];
}

static __thread int fd;

static void prepare(struct kit_thread *me)
{
    (void)me;
    fd = own_descriptor();
    prove(fd);
}

static void work_mix(struct kit_thread *me)
{
    for (const int own = fd;; me->count++)
        mix(own);
}

static void work_close(struct kit_thread *me)
{
    for (const int own = fd;; me->count++)
        close(dup(own));
}

static void work_getpid(struct kit_thread *me)
{
    for (;; me->count++)
        syscall(SYS_getpid);
}

static _Noreturn void work_exec(void)
{
    prove(own_descriptor());
    exec_true();
    for (kit_start();; kit_count++)
        exec_true();
}

int main(int argc, char **argv)
{
    const char *mode;

    kit_init(argc, argv);
    mode = kit_arg("mode", "mix");
    if (strcmp(mode, "exec") == 0)
        work_exec();
    team_prepare(prepare);
    if (strcmp(mode, "mix") == 0)
        team_start(work_mix);
    if (strcmp(mode, "close") == 0)
        team_start(work_close);
    if (strcmp(mode, "getpid") == 0)
        team_start(work_getpid);
    kit_error("unknown mode=%s: try mix, close, getpid or exec", mode);
}
