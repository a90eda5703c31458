/*
 * Executes a command where ptrace, perf_event_open and personality are forbidden, as in a
 * container.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(number, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, skip, 0)

int main(int argc, char **argv)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_ptrace, 3),
        REFUSE(SYS_perf_event_open, 2),
        REFUSE(SYS_personality, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog filter = {
        .len = sizeof instructions / sizeof *instructions,
        .filter = instructions,
    };

    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 125;
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
