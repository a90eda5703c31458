/* Commands that must print the same. */
#ifndef COMMAND_SAME_H
#define COMMAND_SAME_H

/* Ends the program if the number-th command printed another line than the first, and shows it. */
void same_check(int first, int other, long number);

#endif
