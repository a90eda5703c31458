/*
 * Filters of system calls, and a supervisor for those that notify one: seccomp(2),
 * seccomp_unotify(2).
 */
#define _GNU_SOURCE
#include "seccomp.h"

#include "confine.h"
#include "kit.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The filter in a file: instructions as the kernel has them. */
static struct sock_fprog filter_in(const char *path)
{
    static struct sock_filter program[BPF_MAXINSNS];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? -1 : read(file, program, sizeof program);

    if (bytes < 0)
        kit_error("the filter %s cannot be read (%s)", path, strerror(errno));
    close(file);
    return (struct sock_fprog){(unsigned short)((size_t)bytes / sizeof *program), program};
}

#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE /* Linux 5.5 */

enum { STACK = 1 << 16, MOST_FILES = 1024, NOTICE = 512 /* bytes, in any kernel */ };

/* How the listener of a filter that notifies comes to its supervisor. */
struct handover {
    _Atomic int listener, is_taken;
    pid_t program;
};

/*
 * The least that a supervisor does: lets each call go on. It shares the program's files until it
 * has the listener, is none of the children that the program can wait for, and ends with it.
 */
static int supervise(void *shared)
{
    static union {
        struct seccomp_notif call;
        struct seccomp_notif_resp answer;
        char room[NOTICE];
    } notice;
    struct handover *handover = shared;
    uint64_t id;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    /* The program may have ended before that. */
    while (handover->listener < 0 && getppid() == handover->program)
        sched_yield();
    if (handover->listener < 0)
        return 1;
    if (unshare(CLONE_FILES) != 0)
        return 1;
    for (int file = 0; file < MOST_FILES; file++)
        if (file != handover->listener)
            close(file);
    handover->is_taken = 1;
    for (;;) {
        memset(&notice, 0, sizeof notice);
        if (ioctl(handover->listener, SECCOMP_IOCTL_NOTIF_RECV, &notice.call) != 0) {
            if (errno != EINTR && errno != ENOENT) /* the caller is gone */
                return 1;
            continue;
        }
        id = notice.call.id;
        memset(&notice, 0, sizeof notice);
        notice.answer.id = id;
        notice.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(handover->listener, SECCOMP_IOCTL_NOTIF_SEND, &notice.answer);
    }
}

/* Takes a filter that notifies a supervisor. */
static int take_supervised(struct sock_fprog *program)
{
    static alignas(16) char stack[STACK];
    struct handover *handover =
        mmap(NULL, sizeof *handover, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int listener;

    if (handover == MAP_FAILED)
        kit_error("no memory (%s)", strerror(errno));
    handover->listener = -1;
    handover->program = getpid();
    if (clone(supervise, stack + sizeof stack, CLONE_FILES, handover) < 0)
        kit_error("no supervisor can be started (%s)", strerror(errno));
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                            program);
    if (listener < 0)
        return -1;
    handover->listener = listener;
    while (!handover->is_taken)
        sched_yield();
    close(listener);
    kit_value("supervisors", 1, "processes");
    return 0;
}

#else

static int take_supervised(struct sock_fprog *program)
{
    (void)program;
    kit_skip("filters that notify need a build with the headers of Linux 5.5 or newer");
}

#endif

static int notifies(const struct sock_fprog *program)
{
    const uint32_t notify = 0x7fc00000; /* SECCOMP_RET_USER_NOTIF, Linux 5.0 */

    for (int i = 0; i < program->len; i++)
        if (program->filter[i].code == (BPF_RET | BPF_K) && program->filter[i].k == notify)
            return 1;
    return 0;
}

/*
 * The first two allow everything. The answer of the first depends only on the call's number, so the
 * kernel (since 5.11) caches it; the second reads an argument, so it runs at every call.
 */
void seccomp_filter(const char *kind)
{
    static struct sock_filter plain[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    static struct sock_filter asking[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x756e6978, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof plain / sizeof *plain, plain};
    long mode;

    if (!*kind)
        return;
    if (strcmp(kind, "argument") == 0)
        program = (struct sock_fprog){sizeof asking / sizeof *asking, asking};
    else if (*kind == '/')
        program = filter_in(kind);
    else if (strcmp(kind, "allow") != 0)
        kit_error("seccomp=%s is neither allow nor argument nor a filter's path", kind);
    confine_gain_nothing();
    if ((notifies(&program) ? take_supervised(&program)
                            : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) != 0)
        kit_skip("a seccomp filter was refused (%s): it needs a kernel with CONFIG_SECCOMP_FILTER",
                 strerror(errno));
    mode = confine_status("\nSeccomp:");
    if (mode != SECCOMP_MODE_FILTER)
        kit_error("a seccomp filter was taken, but /proc/self/status has the mode %ld and not 2",
                  mode);
    kit_value("seccomp", (double)mode, "mode");
}

#endif
