/* The empty loop: what the harness itself costs, and how steady the clock and the pulse are. */
#include "kit.h"

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    kit_start();
    for (;;)
        kit_count++;
}
