/*
 * System calls one by one: call=NAME of the table at the end. One count is one call, or a few that cannot be separated (open
 * and close); `value calls` says how many. Everything else is prepared before, and every answer is checked.
 *
 * Calls that a C library might cache or turn into several are made through syscall(2). The loop reads no clock, which would
 * be a system call itself on some machines; only calls that take 50 us and more are noted when they complete.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/prepared.h"
#include "kit.h"

enum {
    PROOFS = 20, /* calls that must give the right answer before it starts */
    SIGNALS = 8, /* bytes of the kernel's set of signals */
};

/* For calls that go to and fro. */
static long turn;

/* --- the calls: each returns whether the answer was right --- */

#define CALL(name, right) static int call_##name(void) { return (right); }

/* Of the process. A parent outside of this container is 0. */
CALL(getpid, syscall(SYS_getpid) == have.self)
CALL(getppid, syscall(SYS_getppid) >= 0)
CALL(gettid, syscall(SYS_gettid) == have.self)
CALL(getuid, getuid() == have.user)
CALL(getpgid, getpgid(0) >= 0)
CALL(getgroups, getgroups(0, NULL) >= 0)
CALL(setuid, syscall(SYS_setuid, have.user) == 0)
CALL(setgid, syscall(SYS_setgid, have.group) == 0)
CALL(umask, umask(PREPARED_MASK) == PREPARED_MASK)
CALL(prctl, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) >= 0)
CALL(personality, personality(0xffffffff) >= 0)

static int call_getpriority(void)
{
    return syscall(SYS_getpriority, PRIO_PROCESS, 0) > 0; /* the kernel's is 20 less the priority */
}

CALL(setpriority, setpriority(PRIO_PROCESS, 0, have.priority) == 0)

static int call_capget(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    return syscall(SYS_capget, &head, data) == 0;
}

static int call_getrlimit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0;
}

static int call_getrusage(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0;
}

/* Of the system. */
static int call_uname(void)
{
    struct utsname name;

    return uname(&name) == 0 && name.sysname[0];
}

static int call_sysinfo(void)
{
    struct sysinfo info;

    return sysinfo(&info) == 0 && info.procs > 0;
}

static int call_getrandom(void)
{
    return syscall(SYS_getrandom, have.bytes, 16, 0) == 16;
}

/* Time and the scheduler. */
static int call_clock(void)
{
    struct timespec now = {0};

    return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0 && now.tv_nsec + now.tv_sec > 0;
}

static int call_nanosleep(void)
{
    const struct timespec none = {0};

    return syscall(SYS_nanosleep, &none, NULL) == 0;
}

CALL(yield, sched_yield() == 0)

static int call_getaffinity(void)
{
    return syscall(SYS_sched_getaffinity, 0, sizeof have.bytes, have.bytes) > 0;
}

/* Signals. */
CALL(kill, kill(have.self, 0) == 0)

static int call_sigaction(void)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};

    return sigaction(SIGUSR2, &ignored, NULL) == 0;
}

static int call_sigprocmask(void)
{
    const uint64_t second = UINT64_C(1) << (SIGUSR2 - 1);

    return syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &second, NULL, SIGNALS) == 0;
}

/* Memory. */
static int call_mmap(void)
{
    void *mapped = mmap(NULL, PREPARED_AREA, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mapped != MAP_FAILED && munmap(mapped, PREPARED_AREA) == 0;
}

CALL(mprotect, mprotect(have.area, PREPARED_AREA, ++turn % 2 ? PROT_READ : PROT_READ | PROT_WRITE) == 0)
CALL(madvise, madvise(have.area, PREPARED_AREA, MADV_DONTNEED) == 0)
CALL(brk, syscall(SYS_brk, 0) > 0)

/* Descriptors. */
CALL(read, read(have.file, have.bytes, 1) == 1)
CALL(write, write(have.file, have.bytes, 1) == 1)
CALL(pread, pread(have.file, have.bytes, 1, 0) == 1)
CALL(pwrite, pwrite(have.file, have.bytes, 1, 0) == 1)
CALL(lseek, lseek(have.file, 0, SEEK_SET) == 0)
CALL(dup2, dup2(have.file, have.other) == have.other)
CALL(fcntl, fcntl(have.file, F_GETFD) == FD_CLOEXEC)
CALL(eventfd, write(have.file, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t))
CALL(flock, flock(have.file, LOCK_EX) == 0 && flock(have.file, LOCK_UN) == 0)
CALL(pipe, write(have.other, have.bytes, 1) == 1 && read(have.file, have.bytes, 1) == 1)
CALL(epoll, epoll_wait(have.other, &(struct epoll_event){0}, 1, 0) == 0)
CALL(poll, poll(&(struct pollfd){.fd = have.file, .events = POLLIN}, 1, 0) == 0)

static int call_dup(void)
{
    int made = dup(have.file);

    return made >= 0 && close(made) == 0;
}

static int call_ioctl(void)
{
    int waiting = -1;

    return ioctl(have.file, FIONREAD, &waiting) == 0 && waiting == 0;
}

static int call_select(void)
{
    struct timeval none = {0};
    fd_set wanted;

    FD_ZERO(&wanted);
    FD_SET(have.file, &wanted);
    return select(have.file + 1, &wanted, NULL, NULL, &none) == 0;
}

static int call_pipe2(void)
{
    int ends[2];

    return pipe2(ends, O_CLOEXEC) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0;
}

static int call_memfd(void)
{
    int made = memfd_create("call", MFD_CLOEXEC);

    return made >= 0 && close(made) == 0;
}

static int call_futex(void)
{
    static uint32_t word;

    return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0;
}

/* Names and files. */
static struct stat found;

CALL(stat, stat("file", &found) == 0 && found.st_size == PREPARED_LENGTH)
CALL(fstat, fstat(have.file, &found) == 0 && found.st_size == PREPARED_LENGTH)
CALL(statx, statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, (struct statx *)have.bytes) == 0)
CALL(statfs, statfs("file", (struct statfs *)have.bytes) == 0)
CALL(access, access("file", R_OK) == 0)
CALL(missing, open("missing", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT)
CALL(link, link("file", "new") == 0 && unlink("new") == 0)
CALL(symlink, symlink("file", "new") == 0 && unlink("new") == 0)
CALL(readlink, readlink("link", have.bytes, sizeof have.bytes) == sizeof "file" - 1)
CALL(mkdir, mkdir("new", 0700) == 0 && rmdir("new") == 0)
CALL(chmod, chmod("file", ++turn % 2 ? 0640 : 0600) == 0)
CALL(fchmod, fchmod(have.file, ++turn % 2 ? 0640 : 0600) == 0)
CALL(chown, chown("file", have.user, have.group) == 0)
CALL(utimensat, utimensat(AT_FDCWD, "file", NULL, 0) == 0)
CALL(ftruncate, ftruncate(have.file, ++turn % 2 ? 2 * PREPARED_LENGTH : PREPARED_LENGTH) == 0)
CALL(fsync, fsync(have.file) == 0)
CALL(getdents, lseek(have.other, 0, SEEK_SET) == 0 && syscall(SYS_getdents64, have.other, have.bytes, sizeof have.bytes) > 0)
CALL(getcwd, syscall(SYS_getcwd, have.bytes, sizeof have.bytes) > 0)
CALL(chdir, chdir(".") == 0)
CALL(fchdir, fchdir(have.other) == 0)

static int call_open(void)
{
    int opened = open("file", O_RDONLY | O_CLOEXEC);

    return opened >= 0 && close(opened) == 0;
}

static int call_creat(void)
{
    int made = open("new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return made >= 0 && close(made) == 0 && unlink("new") == 0;
}

static int call_rename(void)
{
    return ++turn % 2 ? rename("file", "moved") == 0 : rename("moved", "file") == 0;
}

/* The network. */
CALL(send, sendto(have.other, have.bytes, 64, 0, NULL, 0) == 64 && recvfrom(have.file, have.bytes, 64, 0, NULL, NULL) == 64)
CALL(connect, connect(have.other, (struct sockaddr *)&have.port, sizeof have.port) < 0 && errno == ECONNREFUSED)
CALL(accept, accept4(have.file, NULL, NULL, SOCK_CLOEXEC) < 0 && errno == EAGAIN)
CALL(setsockopt, setsockopt(have.file, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0)

static int call_socket(void)
{
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return made >= 0 && close(made) == 0;
}

static int call_bind(void)
{
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    return made >= 0 && bind(made, (struct sockaddr *)&have.port, sizeof have.port) == 0 && close(made) == 0;
}

/* Processes. The library's fork makes more calls than one; what this child does needs no library. */
/* On s390 the stack comes before the flags (clone(2)). */
#ifdef __s390__
#define FORK 0, SIGCHLD
#else
#define FORK SIGCHLD, 0
#endif

static int call_fork(void)
{
    int status = -1;
    pid_t child = (pid_t)syscall(SYS_clone, FORK, 0, 0, 0);

    if (child == 0)
        for (;;)
            syscall(SYS_exit_group, 0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int call_exec(void)
{
    char name[] = "image", *words[] = {name, NULL}, *none[] = {NULL};
    int status = -1;
    pid_t child = vfork();

    if (child == 0) {
        execve(name, words, none);
        _exit(99);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* --- the table --- */

static const struct row {
    const char *name;
    void (*prepare)(void);
    int (*call)(void);
    int calls; /* system calls per count, those of children too */
    int slow;  /* whether one may take 50 us and more */
} rows[] = {
#define ROW(name, before, calls, slow) {#name, prepare_##before, call_##name, calls, slow}
    ROW(getpid, nothing, 1, 0),
    ROW(getppid, nothing, 1, 0),
    ROW(gettid, nothing, 1, 0),
    ROW(getuid, nothing, 1, 0),
    ROW(getpgid, nothing, 1, 0),
    ROW(getgroups, nothing, 1, 0),
    ROW(setuid, nothing, 1, 0),
    ROW(setgid, nothing, 1, 0),
    ROW(umask, umask, 1, 0),
    ROW(prctl, nothing, 1, 0),
    ROW(personality, nothing, 1, 0),
    ROW(getpriority, nothing, 1, 0),
    ROW(setpriority, priority, 1, 0),
    ROW(capget, nothing, 1, 0),
    ROW(getrlimit, nothing, 1, 0),
    ROW(getrusage, nothing, 1, 0),
    ROW(uname, nothing, 1, 0),
    ROW(sysinfo, nothing, 1, 0),
    ROW(getrandom, nothing, 1, 0),
    ROW(clock, nothing, 1, 0),
    ROW(nanosleep, nothing, 1, 1),
    ROW(yield, nothing, 1, 0),
    ROW(getaffinity, nothing, 1, 0),
    ROW(kill, nothing, 1, 0),
    ROW(sigaction, nothing, 1, 0),
    ROW(sigprocmask, nothing, 1, 0),
    ROW(mmap, nothing, 2, 0),
    ROW(mprotect, area, 1, 0),
    ROW(madvise, area, 1, 0),
    ROW(brk, nothing, 1, 0),
    ROW(read, zero, 1, 0),
    ROW(write, null, 1, 0),
    ROW(pread, file, 1, 0),
    ROW(pwrite, file, 1, 0),
    ROW(lseek, file, 1, 0),
    ROW(dup, pipe, 2, 0),
    ROW(dup2, pipe, 1, 0),
    ROW(fcntl, pipe, 1, 0),
    ROW(ioctl, pipe, 1, 0),
    ROW(poll, event, 1, 0),
    ROW(epoll, event, 1, 0),
    ROW(select, event, 1, 0),
    ROW(eventfd, event, 1, 0),
    ROW(futex, nothing, 1, 0),
    ROW(flock, file, 2, 0),
    ROW(pipe, pipe, 2, 0),
    ROW(pipe2, nothing, 3, 0),
    ROW(memfd, nothing, 2, 0),
    ROW(open, file, 2, 0),
    ROW(missing, file, 1, 0),
    ROW(creat, file, 3, 0),
    ROW(stat, file, 1, 0),
    ROW(fstat, file, 1, 0),
    ROW(statx, file, 1, 0),
    ROW(statfs, file, 1, 0),
    ROW(access, file, 1, 0),
    ROW(rename, file, 1, 0),
    ROW(link, file, 2, 0),
    ROW(symlink, file, 2, 0),
    ROW(readlink, file, 1, 0),
    ROW(mkdir, file, 2, 0),
    ROW(chmod, file, 1, 0),
    ROW(fchmod, file, 1, 0),
    ROW(chown, file, 1, 0),
    ROW(utimensat, file, 1, 0),
    ROW(ftruncate, file, 1, 0),
    ROW(fsync, file, 1, 1),
    ROW(getdents, folder, 2, 0),
    ROW(getcwd, place, 1, 0),
    ROW(chdir, place, 1, 0),
    ROW(fchdir, folder, 1, 0),
    ROW(socket, nothing, 2, 0),
    ROW(bind, address, 3, 0),
    ROW(connect, port, 1, 0),
    ROW(accept, listener, 1, 0),
    ROW(setsockopt, port, 1, 0),
    ROW(send, pair, 2, 0),
    ROW(fork, nothing, 3, 1),
    ROW(exec, image, 4, 1),
};

static const struct row *chosen(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    kit_error("unknown call=%s: the table in programs/kernel/call.c has all of them", name);
}

static void prove(const struct row *row)
{
    int good = 0;

    for (int i = 0; i < PROOFS; i++) {
        errno = 0;
        good += row->call();
        if (!good && (errno == ENOSYS || errno == EPERM || errno == EACCES))
            kit_skip("the kernel refuses %s (%s)", row->name, strerror(errno));
    }
    kit_check("good", good);
    kit_value("calls", row->calls, "calls");
}

/* The kit's timer may interrupt a call that looks for signals, such as poll: it is one call all the same. */
static void look_at_failure(const struct row *row)
{
    if (errno != EINTR)
        kit_error("%s failed after %lu times (%s)", row->name, kit_count, strerror(errno));
    errno = 0;
}

int main(int argc, char **argv)
{
    const struct row *row;

    kit_init(argc, argv);
    prepare_nothing();
    row = chosen(kit_arg("call", "getpid"));
    row->prepare();
    prove(row);
    kit_start();
    for (;;) {
        if (!row->call())
            look_at_failure(row);
        if (row->slow)
            kit_tick();
        else
            kit_count++;
    }
}
