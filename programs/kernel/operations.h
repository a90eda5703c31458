/* The operations that core.c times: each file has a table of its own. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stddef.h>

struct operation {
    const char *name;
    void (*prepare)(void);  /* once; ends the program where it does not work, as the others do */
    void (*before)(void);   /* in each round, not timed */
    int (*work)(int times); /* returns how many were right */
    void (*after)(void);    /* in each round, not timed */
    int times;              /* of a round; 0: as many as take some 200 KiB, and at most 64 */
};

/* The last of each has no name. */
extern const struct operation file_operations[], descriptor_operations[], process_operations[];

/* A function that does `right` that many times, the i-th with an i of its own. */
#define WORK(name, right)                  \
    static int name(int times)             \
    {                                      \
        int good = 0;                      \
                                           \
        for (int i = 0; i < times; i++)    \
            good += (right);               \
        return good;                       \
    }

/* Arguments of the program. */
extern long size;
extern int number;

/* The number of this copy, where copies are threads. */
extern __thread int copy_number;

/* A file of this copy's own, and as many bytes as are read from it and written to it at once. */
extern __thread int file;
extern __thread char *buffer;
void make_file(void);
void make_buffer(void);

/* Removes the files of all copies, for kit_at_end. */
void remove_files(int finished);

void *memory(size_t bytes);
int handle(int signal, void (*handler)(int)); /* installs it, and returns whether it could */

#endif
