/* The threads' counts against their work: see tally.h. */
#include "thread/tally.h"

#include "thread/team.h"

enum { READINGS = 100 };

static const struct kit_thread *members;
static int64_t began;

/* The cleaner runs in the first thread too. */
void tally_join(const struct kit_thread *me)
{
    if (me->number == 0) {
        began = kit_now();
        members = me;
    }
}

static unsigned long counted(void)
{
    unsigned long sum = 0;

    for (int i = 0; members && i < team_number(); i++)
        sum += members[i].count;
    return sum;
}

/* One of many readings may be spoilt, to the good, by an interruption between the two looks. */
void tally_check(const char *name, unsigned long (*done)(void), unsigned long most)
{
    int right = 1;

    for (int i = 0; i < READINGS; i++) {
        unsigned long before = done(), sum = counted(), after = done();
        right &= sum <= after + most && before <= sum + most;
    }
    kit_report("check %s %d\n", name, right);
}

void tally_rate(const char *name, unsigned long times)
{
    kit_report("value %s %.9g 1/s\n", name, (double)times / ((double)(kit_now() - began) / 1e9));
}

/*
 * The index of Jain, Chiu and Hawe: the square of the sum over the number times the sum of the
 * squares.
 */
void tally_fairness(void)
{
    double sum = 0, squares = 0;

    for (int i = 0; members && i < team_number(); i++) {
        double count = (double)members[i].count;
        sum += count;
        squares += count * count;
    }
    if (squares > 0)
        kit_report("value fairness %.6g 1\n", sum * sum / squares / team_number());
}
