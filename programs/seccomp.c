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

/* Reads a filter from a file: instructions as the kernel has them. */
static struct sock_fprog read_filter(const char *path)
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

enum {
    STACK_BYTES = 1 << 16,
    MAX_FILES = 1024,
    NOTICE_BYTES = 512, /* room for any kernel's notice, which may be longer than the headers' */
};

enum { NOT_TAKEN, TAKEN, SHARED /* the supervisor has no files of its own */ };

/* What the program and its supervisor share: the listener of a filter on its way. */
struct handover {
    _Atomic int listener; /* -1 before there is one */
    _Atomic int taken;
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
        char room[NOTICE_BYTES];
    } notice;
    struct handover *handover = shared;
    int has_own_files;
    uint64_t id;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    /* If the program has ended before that call, no signal will come. */
    while (handover->listener < 0 && getppid() == handover->program)
        sched_yield();
    if (handover->listener < 0)
        return 1;
    has_own_files = unshare(CLONE_FILES) == 0;
    for (int file = 0; has_own_files && file < MAX_FILES; file++)
        if (file != handover->listener)
            close(file);
    handover->taken = has_own_files ? TAKEN : SHARED;

    for (;;) {
        memset(&notice, 0, sizeof notice); /* the kernel refuses what is not zeros */
        if (ioctl(handover->listener, SECCOMP_IOCTL_NOTIF_RECV, &notice.call) != 0) {
            /* ENOENT: the caller was killed, or a signal has interrupted its call. */
            if (errno != EINTR && errno != ENOENT)
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

/*
 * Takes a filter that needs a supervisor; returns 0, or -1 and errno if the kernel refuses it.
 * The supervisor is started first: under the filter, its own calls would wait for its answer.
 */
static int take_supervised(struct sock_fprog *program)
{
    static alignas(16) char stack[STACK_BYTES];
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

    /* Closed before the supervisor has files of its own, it would be closed there too. */
    while (handover->taken == NOT_TAKEN)
        sched_yield();
    if (handover->taken == TAKEN)
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

/* True if a filter has calls wait for a supervisor. */
static int needs_supervisor(const struct sock_fprog *program)
{
    const uint32_t notify = 0x7fc00000; /* SECCOMP_RET_USER_NOTIF, Linux 5.0 */

    for (int i = 0; i < program->len; i++)
        if (program->filter[i].code == (BPF_RET | BPF_K) && program->filter[i].k == notify)
            return 1;
    return 0;
}

/*
 * `allow` and `argument` allow every call. The answer of `allow` depends only on the call's number,
 * so the kernel (since 5.11) caches it; `argument` reads an argument, so it runs at every call.
 */
void seccomp_filter(const char *kind)
{
    static struct sock_filter plain[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    static struct sock_filter asking[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        /* Compares it with an arbitrary number: equal or not, the call is allowed. */
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
        program = read_filter(kind);
    else if (strcmp(kind, "allow") != 0)
        kit_error("seccomp=%s is neither allow nor argument nor a filter's path", kind);

    confine_gain_nothing();
    if ((needs_supervisor(&program) ? take_supervised(&program)
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
