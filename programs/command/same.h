/* Commands that must print the same. */
#ifndef COMMAND_SAME_H
#define COMMAND_SAME_H

/* Ends the program where what the first command printed differs from what the number-th did: the error shows the line. */
void same_check(int first, int other, long number);

#endif
