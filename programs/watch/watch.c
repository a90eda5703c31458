/*
 * Who watches files, as what runs beside measured programs: it takes every event and does nothing
 * with it. One count is an event. It watches where it is started:
 *
 *     kind=inotify      the directory, not what is below it
 *     kind=notify       by fanotify, the whole file system of the directory: every open, read,
 *                       write and close
 *     kind=permission   the same, but opens wait until they are allowed, as virus scanners and
 *                       lists of allowed programs have it
 *
 * Before it is ready it has a child open a file, and must see that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

enum {
    EVENT_BYTES = 1 << 16, /* taken at once */
    EVENT_MS = 5000,       /* in which the child's first event must have come */
};

static const char proof[] = "watch-proof";
static char events[EVENT_BYTES] __attribute__((aligned(8)));
static int source;
static int is_inotify;
static volatile unsigned long overflows;

/* --- taking events --- */

static unsigned long take_inotify(size_t size)
{
    unsigned long number = 0;
    struct inotify_event event;

    for (size_t at = 0; at + sizeof event <= size; at += sizeof event + event.len) {
        memcpy(&event, events + at, sizeof event);
        overflows += (event.mask & IN_Q_OVERFLOW) != 0;
        number++;
    }
    return number;
}

static void allow(int file)
{
    struct fanotify_response response = {.fd = file, .response = FAN_ALLOW};

    while (write(source, &response, sizeof response) < 0 && errno == EINTR)
        ;
}

static unsigned long take_fanotify(ssize_t size)
{
    unsigned long number = 0;

    for (struct fanotify_event_metadata *event = (void *)events; FAN_EVENT_OK(event, size);
         event = FAN_EVENT_NEXT(event, size)) {
        if (event->mask & FAN_OPEN_PERM)
            allow(event->fd);
        if (event->fd >= 0)
            close(event->fd);
        overflows += (event->mask & FAN_Q_OVERFLOW) != 0;
        number++;
    }
    return number;
}

static unsigned long take(void)
{
    ssize_t size = read(source, events, sizeof events);

    if (size < 0 && errno != EINTR && errno != EAGAIN)
        kit_error("cannot read events (%s)", strerror(errno));
    if (size <= 0)
        return 0;
    return is_inotify ? take_inotify((size_t)size) : take_fanotify(size);
}

/* --- beginning to watch --- */

static void watch_directory(void)
{
    is_inotify = 1;
    source = inotify_init1(IN_CLOEXEC);
    if (source < 0 || inotify_add_watch(source, ".", IN_ALL_EVENTS) < 0)
        kit_skip("inotify was refused (%s): is fs.inotify.max_user_watches or max_user_instances "
                 "too low?",
                 strerror(errno));
}

/*
 * Watches all mounts of the file system, also those in other namespaces. Kernels before Linux 4.20
 * refuse that with EINVAL: there it watches only the mount that it is started in.
 */
static void watch_file_system(int permission)
{
    const uint64_t mask =
        permission ? FAN_OPEN_PERM : FAN_OPEN | FAN_ACCESS | FAN_MODIFY | FAN_CLOSE;
    int marked;

    source = fanotify_init(FAN_CLOEXEC | (permission ? FAN_CLASS_CONTENT : FAN_CLASS_NOTIF),
                           O_RDONLY | O_LARGEFILE | O_CLOEXEC);
    if (source < 0)
        kit_skip("fanotify was refused (%s): it needs root, and a kernel with CONFIG_FANOTIFY%s",
                 strerror(errno), permission ? "_ACCESS_PERMISSIONS" : "");
    marked = fanotify_mark(source, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, mask, AT_FDCWD, ".");
    if (marked != 0 && errno == EINVAL)
        marked = fanotify_mark(source, FAN_MARK_ADD | FAN_MARK_MOUNT, mask, AT_FDCWD, ".");
    if (marked != 0)
        kit_skip("fanotify cannot watch this file system (%s)", strerror(errno));
}

static _Noreturn void touch_file(void)
{
    int file = open(proof, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    close(file);
    unlink(proof);
    _exit(file < 0);
}

/*
 * Has a child open a file, and must see an event. Takes events until the child has ended, since a
 * child whose open waits for permission ends only when it gets that.
 */
static void prove(void)
{
    struct pollfd in = {.fd = source, .events = POLLIN};
    unsigned long seen = 0;
    pid_t child = fork();
    int status = -1;

    if (child < 0)
        kit_error("cannot fork (%s)", strerror(errno));
    if (child == 0)
        touch_file();

    while (seen == 0 && poll(&in, 1, EVENT_MS) > 0)
        seen += take();
    if (seen == 0)
        kit_error("a file was opened here, and no event came: this is not watched");

    while (waitpid(child, &status, WNOHANG) == 0)
        if (poll(&in, 1, 1) > 0)
            take();
    if (status != 0)
        kit_error("cannot make a file here: is the disk full?");
    kit_check("watches", 1);
}

static void tell_overflows(int finished)
{
    if (finished)
        kit_report("value overflows %lu times\n", overflows);
}

int main(int argc, char **argv)
{
    const char *kind;

    kit_init(argc, argv);
    kind = kit_arg("kind", "inotify");
    if (strcmp(kind, "inotify") == 0)
        watch_directory();
    else if (strcmp(kind, "notify") == 0 || strcmp(kind, "permission") == 0)
        watch_file_system(*kind == 'p');
    else
        kit_error("unknown kind=%s: try inotify, notify or permission", kind);
    prove();
    kit_at_end(tell_overflows);
    kit_start();
    for (;;)
        kit_count += take();
}
