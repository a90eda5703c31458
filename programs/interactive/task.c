/*
 * A task that works and sleeps by a schedule: audio, video, a window that is dragged, a compositor,
 * a bare timer.
 */
#include "engine.h"
#include "kit.h"

int main(int argc, char **argv)
{
    struct engine_task task;

    kit_init(argc, argv);
    task = engine_read_task();
    engine_run(&task);
}
