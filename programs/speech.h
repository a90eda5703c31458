/* The part of the kit that says lines, as kit.c sees it. */
#ifndef SPEECH_H
#define SPEECH_H

#include <stdint.h>

/* Where lines go. */
extern int speech_output;

/* `ready` was said: lines of a report may follow. */
extern int speech_is_ready;

/* Keeps words, or a space and a number, to be written; what does not fit is written at once. */
void speech_put(const char *words);
void speech_number(int64_t number);

/* Writes what was kept. */
void speech_flush(void);

/* Has the program's own clean up after a finished window, once. */
void speech_clean(void);

/* Cleans up and ends the process. */
_Noreturn void speech_leave(int status, int finished);

#endif
