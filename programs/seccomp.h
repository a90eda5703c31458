/* Filters of system calls. */
#ifndef SECCOMP_H
#define SECCOMP_H

/*
 * Linux only. Takes a filter: `allow`, `argument`, or a path of one; none if KIND is empty. A skip
 * where the kernel refuses.
 */
void seccomp_filter(const char *kind);

#endif
