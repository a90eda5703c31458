/* What is there before a system call is measured: descriptors, a directory, memory, a port. */
#ifndef PREPARED_H
#define PREPARED_H

#include <netinet/in.h>
#include <sys/types.h>

enum {
    PREPARED_AREA = 64 << 10,
    PREPARED_LENGTH = 1000, /* bytes of the file */
    PREPARED_MASK = 077,
};

/* What the calls find. */
extern struct prepared {
    pid_t self;
    uid_t user;
    gid_t group;
    int priority;
    int file, other; /* descriptors, -1 where there is none */
    char *area;      /* mapped, never touched */
    struct sockaddr_in port;
    char bytes[4096] __attribute__((aligned(16)));
} have;

/*
 * Each ends the program where it does not work, by an error, or by skip where the kernel or the
 * machine refuses it.
 */
void prepare_nothing(void);  /* self, user, group: comes first */
void prepare_umask(void);    /* PREPARED_MASK */
void prepare_priority(void); /* the process's own */
/* a directory of this copy's own, which is the current one from then on */
void prepare_place(void);
/* there "file", open, and "link", a symbolic link to it; calls may make "new" and "moved" */
void prepare_file(void);
void prepare_folder(void);   /* the same, and the directory itself is `other` */
/* there "image", the least program there is: one system call, which ends it */
void prepare_image(void);
void prepare_zero(void);     /* /dev/zero */
void prepare_null(void);     /* /dev/null */
void prepare_pipe(void);     /* an empty one, from `other` to `file` */
void prepare_event(void);    /* an eventfd of 0, and as `other` an epoll that waits for it */
void prepare_area(void);
void prepare_pair(void);     /* of Unix datagram sockets */
void prepare_address(void);  /* any port of the loopback device */
/* one that is bound to `file`, where nobody listens; `other` is another socket */
void prepare_port(void);
void prepare_listener(void); /* one where `file` listens, and never waits */

#endif
