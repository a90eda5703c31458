/*
 * Recursion: the Tower of Hanoi. One count moves disks=10 disks from the first peg to the third:
 * 1,023 moves.
 */
#include "kit.h"

static int pegs[4]; /* disks on pegs 1 to 3 */

static void move(int disks, int from, int to)
{
    int other = 6 - from - to;

    if (disks == 1) {
        pegs[from]--;
        pegs[to]++;
        return;
    }
    move(disks - 1, from, other);
    move(1, from, to);
    move(disks - 1, other, to);
}

static void tower(int disks)
{
    pegs[1] = disks;
    pegs[3] = 0;
    move(disks, 1, 3);
}

int main(int argc, char **argv)
{
    int disks;

    kit_init(argc, argv);
    disks = (int)kit_arg_number("disks", 10, 1, 30);
    tower(disks);
    kit_check("left", pegs[1] + pegs[2]);
    kit_check("moved", pegs[3]);
    kit_start();
    for (;;) {
        tower(disks);
        kit_count++;
    }
}
