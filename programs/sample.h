/* The part of the kit that samples single operations and short pieces of work, as kit.c sees it. */
#ifndef SAMPLE_H
#define SAMPLE_H

struct kit_thread;

/* Called by kit_init. */
void sample_init(void);

/* Prints what was sampled in a thread of the team, or with NULL in a program without one. */
void sample_report(const struct kit_thread *of);

/* True in a program without a team, and in a team's first thread. */
int sample_is_first(void);

#endif
