/* Commands that must print the same. */
#ifndef COMMAND_SAME_H
#define COMMAND_SAME_H

/*
 * Compares what two commands printed into these files: the first one, and the number-th, from 2.
 * Ends the program at the first line that differs, and shows it.
 */
void same_check(int first, int other, long number);

#endif
