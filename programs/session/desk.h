/*
 * The desk of one simulated user: a directory of its own below the current one, and the commands
 * started there. Every way out kills what was started and removes the directory with all that is in
 * it.
 */
#ifndef DESK_H
#define DESK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Makes the directory, named after the user's work, and moves into it. Stdin and stdout become
 * /dev/null; commands get the C locale and keep their temporary files here.
 */
void desk_open(const char *work);

/* Has `clean` called before the end, as kit_at_end would, while what was started still runs. */
void desk_after(void (*clean)(int finished));

/*
 * Starts a command, which dies with this process, with those descriptors as its stdin and stdout;
 * -1 is /dev/null.
 */
pid_t desk_start(char *const words[], int in, int out);

/* Runs a script by `sh -e` to its end; any status but 0 ends the program with an error. */
void desk_run(const char *script);

/* Writes a whole file, or fails with an error. */
void desk_write(const char *name, const char *text, size_t size);

/*
 * Reads a whole file of less than `size` bytes, ends it with a zero byte, and returns how long it
 * is.
 */
size_t desk_read(const char *name, char *text, size_t size);

/* FNV-1a by Fowler, Noll and Vo, of 32 bits: fits a check value. Begin with a hash of DESK_HASH. */
#define DESK_HASH UINT32_C(2166136261)
uint32_t desk_hash(uint32_t hash, const char *text, size_t size);

#endif
