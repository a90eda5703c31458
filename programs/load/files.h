/*
 * Files of loads, in the current directory: how large they may be, what is in them, and their end.
 */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The size in MiB of a large file `name`: the argument size=, by default a sixteenth of the memory,
 * from 64 to 1024, and less if there is no room.
 */
long files_size(const char *name);

/* Skips unless a file `name` of so many MiB leaves a tenth of the file system and 256 MiB free. */
void files_need(const char *name, long mib);

/*
 * Fills memory with what no file system can compress: another seed gives other bytes. `size` is a
 * multiple of 8.
 */
void files_random(void *memory, size_t size, uint64_t seed);

/*
 * The name of the file of random bytes that loads read and leave for the next trial. files_data
 * opens it for reading and sees to it that it has `mib` MiB, or what can be written within some
 * seconds, which is returned in `mib`; and that it is on the disk, so that nothing is written back
 * during the measurement.
 */
#define FILES_DATA "load-data"
int files_data(long *mib);

/* Forgets what the page cache has of it. */
void files_forget(int file);

/* MemTotal, MemAvailable and the like of /proc/meminfo, in MiB. */
long files_memory(const char *what);

/*
 * Makes a directory of this process's own for small files, below the current one: its name begins
 * with `what`.
 */
const char *files_folder(const char *what);

/*
 * Removes that directory and all in it, in which nobody may be writing any more. Async-signal-safe.
 */
void files_remove_folder(void);

/* Writes a whole small file, or fails with an error. */
void files_write(const char *path, const char *text, size_t size);

#endif
