/* How fast the work of a frame goes: what the other programs here count it by. */
#include "kit.h"
#include "world.h"

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    world_prepare(0);
    kit_value("speed", world_speed(), "ops/ms");
    kit_start();
    for (;;) {
        world_work(20000);
        kit_count++;
    }
}
