/* Filters of system calls. */
#ifndef SECCOMP_H
#define SECCOMP_H

/*
 * Linux only. Takes a filter: `allow`, `argument`, or the one in the file at an absolute path; none
 * if `kind` is empty. Skips if the kernel refuses it.
 */
void seccomp_filter(const char *kind);

#endif
