/* A second thread of a program, for what takes two. */
#ifndef PARTNER_H
#define PARTNER_H

/*
 * Starts a thread that runs `work`, on the second processor of cpu=A,B or on the first one's where
 * there is one only. It takes no signals, since the timer's is for the first thread, and ends with
 * the program. It must not end the program itself.
 */
void partner_start(void (*work)(void));

#endif
