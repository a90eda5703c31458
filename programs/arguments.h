/* The part of the kit that keeps the arguments, as its other parts see it. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

/* Ends the program with an error if there is an argument that was never requested. */
void arguments_refuse_unknown(void);

#endif
