/*
 * What a program makes the kernel do to it, by its arguments: how security features are measured.
 */
#ifndef CONFINE_H
#define CONFINE_H

/* Called by kit_init after the placement, so that threads and children inherit. */
void confine_init(void);

/*
 * For slowed=PERCENT: called when the window opens, and whenever the timer is about to read what
 * was done.
 */
void confine_begin(int with_pulse);
void confine_pay(void);

/* The share of its time that a program must waste that does so itself; 0 if it need not. */
double confine_take_slowed(void);

/*
 * Linux only: a number of /proc/self/status, -1 where it has none; and no new privileges by execve,
 * without which the kernel takes neither filters nor Landlock from anybody but root.
 */
long confine_status(const char *key);
void confine_gain_nothing(void);

#endif
