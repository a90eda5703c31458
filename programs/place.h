/*
 * Where and how a program is scheduled, by its arguments: the part of the kit that asks the kernel
 * for it.
 */
#ifndef PLACE_H
#define PLACE_H

/* Called by kit_init, so that threads and children inherit. */
void place_init(void);

/* Called last before `ready`: a program under the deadline policy can have no children after it. */
void place_deadline(void);

#endif
