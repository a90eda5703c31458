/*
 * The file of the disk tests, in the current directory: laid out once, with blocks that tell which
 * they are.
 */
#ifndef DISK_FILE_H
#define DISK_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Sizes are multiples of this. */
enum { DISK_PIECE = 1 << 20 };

/*
 * Opens a file of `size` bytes, none of them in the page cache; with `direct` past that cache, for
 * blocks of `block` bytes. With `keep` it is `unixmark-disk`, which stays and is reused; otherwise
 * it has no name and disappears with the program. Skips if there is no disk, no direct access or no
 * room.
 */
int disk_file(off_t size, size_t block, int direct, int keep);

/* Removes what is half laid out. Async-signal-safe. */
void disk_file_clean(void);

#endif
