/* What the library for programs that are counted (allocations.c) shares with command/count. */
#ifndef COMMAND_ALLOCATIONS_H
#define COMMAND_ALLOCATIONS_H

/* The variable with the path of the file that holds a tally. */
#define ALLOCATIONS_VARIABLE "UNIXMARK_ALLOCATIONS"

/* The name of the library, which lies beside the programs. */
#define ALLOCATIONS_LIBRARY "allocations.so"

struct tally {
    unsigned long allocations, bytes;
    unsigned long programs;      /* that began with the library */
    unsigned long own_allocator; /* of these, those in which another malloc comes first */
};

#endif
