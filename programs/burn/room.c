/* How much memory there is to take: see room.h. */
#define _GNU_SOURCE
#include "burn/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

enum { RESERVE_DIVISOR = 20, FOLDER = 640, PATH = FOLDER + 64 };

#define LEAST (INT64_C(256) << 20)

/*
 * Reads a small file of the kernel's, at most `size` - 1 bytes of it. Returns whether there is one.
 */
static int slurp(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n;

    while (file >= 0 && (n = read(file, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    if (file >= 0)
        close(file);
    return used > 0;
}

/* The number after a name that begins a line, or -1. */
static int64_t number_of(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, length) == 0 && (line[length] == ':' || line[length] == ' '))
            return strtoll(line + length + 1, NULL, 10);
    return -1;
}

static int64_t number_in(const char *folder, const char *name)
{
    char path[PATH], text[32];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return slurp(path, text, sizeof text) && text[0] >= '0' && text[0] <= '9'
               ? strtoll(text, NULL, 10)
               : -1;
}

/* The place that allows the least counts. */
static void consider(struct room *room, const char *place, int64_t available, int64_t all)
{
    const int64_t reserve = all / RESERVE_DIVISOR > LEAST ? all / RESERVE_DIVISOR : LEAST;

    if (room->all && available - reserve >= room->available - room->reserve)
        return;
    room->available = available;
    room->reserve = reserve;
    room->all = all;
    snprintf(room->place, sizeof room->place, "%.250s", place);
}

/* --- memory cgroups --- */

struct files {
    const char *limit, *usage, *idle; /* idle: a line of memory.stat, files that can be dropped */
};

static void consider_cgroup(struct room *room, const char *folder, const struct files *files)
{
    const int64_t limit = number_in(folder, files->limit), usage = number_in(folder, files->usage);
    char path[PATH], text[4096];
    int64_t idle = 0;

    if (limit < 0 || usage < 0 || limit > room->machine)
        return;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    if (slurp(path, text, sizeof text))
        idle = number_of(text, files->idle);
    consider(room, folder, limit - usage + (idle > 0 ? idle : 0), limit);
}

/* That of this process and all above it. */
static void consider_cgroups(struct room *room, const char *root, const char *path,
                             const struct files *files)
{
    char folder[FOLDER];

    snprintf(folder, sizeof folder, "%s%s", root, strcmp(path, "/") == 0 ? "" : path);
    for (;;) {
        char *slash = strrchr(folder, '/');
        consider_cgroup(room, folder, files);
        if (slash < folder + strlen(root))
            return;
        *slash = '\0';
    }
}

void room_look(struct room *room)
{
    static const struct files version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                           "total_inactive_file"};
    static const struct files version_2 = {"memory.max", "memory.current", "inactive_file"};
    char text[4096], *path;
    int64_t available;

    *room = (struct room){.all = 0};
    slurp("/proc/meminfo", text, sizeof text);
    room->machine = number_of(text, "MemTotal") * 1024;
    available = number_of(text, "MemAvailable"); /* since Linux 3.14 */
    if (available < 0)
        available = number_of(text, "MemFree");
    consider(room, "this machine", available * 1024, room->machine);
    slurp("/proc/self/cgroup", text, sizeof text);
    for (char *line = strtok_r(text, "\n", &path); line; line = strtok_r(NULL, "\n", &path)) {
        char *controller = strstr(line, ":memory:");
        if (strncmp(line, "0::", 3) == 0)
            consider_cgroups(room, "/sys/fs/cgroup", line + 3, &version_2);
        else if (controller)
            consider_cgroups(room, "/sys/fs/cgroup/memory", controller + strlen(":memory:"),
                             &version_1);
    }
}

/* --- this process, and the machine --- */

int64_t room_cache(void)
{
    char folder[64];
    int64_t kib, most = 0;

    for (int i = 0; i < 8; i++) {
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu0/cache/index%d", i);
        kib = number_in(folder, "size");
        most = kib > most ? kib : most;
    }
    return most * 1024;
}

double room_pressure(void)
{
    char text[256], *at;

    if (!slurp("/proc/pressure/memory", text, sizeof text) || !(at = strstr(text, "some avg10=")))
        return 0;
    return strtod(at + strlen("some avg10="), NULL);
}

int64_t room_resident(void)
{
    char text[128], *at;

    if (!slurp("/proc/self/statm", text, sizeof text) || !(at = strchr(text, ' ')))
        return 0;
    return strtoll(at, NULL, 10) * sysconf(_SC_PAGESIZE);
}

void room_offer_to_killer(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0 && write(file, "1000", 4) != 4)
        kit_note("it is not the first that the kernel would end where memory ends (%s)",
                 strerror(errno));
    if (file >= 0)
        close(file);
}
