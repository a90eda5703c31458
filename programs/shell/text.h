/* The text that grep searches. */
#ifndef TEXT_H
#define TEXT_H

/*
 * Writes it to `path` and returns 0, or -1 with errno. Copies may do so at the same time: it is
 * always the same text.
 */
int write_text(const char *path);

#endif
