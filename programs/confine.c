/*
 * Confinement: see kit.h for the arguments. Each proves that it is on with a `value` line; if the
 * kernel refuses, it is a skip, even with fallback=1, because a cost measured without its cause
 * would be a lie.
 */
#define _GNU_SOURCE
#include "confine.h"

#include "kit.h"
#include "seccomp.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    STATUS = 8192, /* bytes of /proc/self/status; its list of groups may be long */
    MOST_LAYERS = 16,
    MOST_RULES = 4096,
};

/* --- what /proc says of the program --- */

/* A number of /proc/self/status; -1 where it has none. */
long confine_status(const char *key)
{
    static const char path[] = "/proc/self/status";
    char text[STATUS];
    const char *found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);

    if (n < 0)
        kit_error("cannot read %s (%s), so that nothing could be proved: %s", path, strerror(errno),
                  errno == ENOENT ? "is /proc mounted?"
                                  : "does the profile forbid openat or read?");
    close(file);
    text[n] = '\0';
    found = strstr(text, key);
    return found ? strtol(found + strlen(key), NULL, 10) : -1;
}

static void tell_tracer(void)
{
    const long tracer = confine_status("\nTracerPid:");

    if (tracer <= 0)
        kit_error("nobody traces this program: was it started by the tracer?");
    kit_value("tracer", (double)tracer, "pid");
}

/*
 * No new privileges by execve: otherwise the kernel accepts neither filters nor Landlock without
 * root.
 */
void confine_gain_nothing(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        kit_skip("no_new_privs was refused (%s): it needs Linux 3.5", strerror(errno));
}

/* --- Landlock; older C libraries and headers have neither its numbers nor its structures --- */

#ifdef __alpha__
enum { CREATE_RULESET = 554, ADD_RULE = 555, RESTRICT_SELF = 556 };
#else
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
#endif

enum { VERSION = 1, PATH_BENEATH = 1, MAKE_BLOCK = 1 << 11 };

struct ruleset {
    uint64_t handled;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* Every right to files that a version of Landlock knows; later ones add to them. */
static uint64_t rights(long version)
{
    static const unsigned char known[] = {0, 13, 14, 15, 15, 16};
    const long last = (long)sizeof known - 1;

    return (UINT64_C(1) << known[version < last ? version : last]) - 1;
}

/*
 * Further rules of a layer, each for a directory in this program's own: all are looked through for
 * each part of a path.
 */
static int add_rules(int layer, long rules, struct beneath rule)
{
    char name[32];
    int refused = 0;

    for (long i = 1; i < rules && !refused; i++) {
        snprintf(name, sizeof name, "landlock-%ld", i);
        refused = mkdir(name, 0700) != 0 && errno != EEXIST;
        rule.parent = open(name, O_PATH | O_CLOEXEC);
        refused = refused || syscall(ADD_RULE, layer, PATH_BENEATH, &rule, 0) != 0;
        close(rule.parent);
    }
    return refused;
}

/* A layer that allows everything below / but one thing no test does: to make a block device. */
static void add_layer(long version, int root, long rules)
{
    struct ruleset set = {rights(version)};
    struct beneath rule = {set.handled & ~(uint64_t)MAKE_BLOCK, root};
    int layer = (int)syscall(CREATE_RULESET, &set, sizeof set, 0);

    if (layer < 0 || syscall(ADD_RULE, layer, PATH_BENEATH, &rule, 0) != 0 ||
        add_rules(layer, rules, rule))
        kit_error("a layer of Landlock cannot be made (%s)", strerror(errno));
    if (syscall(RESTRICT_SELF, layer, 0) != 0)
        kit_skip(
            "a layer of Landlock was refused (%s): there are at most 16, of who started this too",
            strerror(errno));
    close(layer);
}

static void restrict_files(long layers, long rules)
{
    const char *proof = "landlock-proof";
    const long version = layers ? syscall(CREATE_RULESET, NULL, 0, VERSION) : 0;
    int root;

    if (!layers)
        return;
    if (version < 1)
        kit_skip("there is no Landlock (%s): it needs Linux 5.13 and a kernel that has it among "
                 "its lsm=",
                 strerror(errno));
    confine_gain_nothing();
    root = open("/", O_PATH | O_CLOEXEC);
    for (long i = 0; i < layers; i++)
        add_layer(version, root, rules);
    close(root);
    if (mknod(proof, S_IFBLK | 0600, makedev(1, 0)) == 0) {
        unlink(proof);
        kit_error("Landlock was taken, but what it forbids was done: it is not on");
    }
    if (errno != EACCES)
        kit_error("Landlock was taken, but what it forbids failed otherwise (%s): it is not on",
                  strerror(errno));
    kit_value("landlock", (double)layers, "layers");
    kit_value("landlock_abi", (double)version, "version");
    if (rules)
        kit_value("landlock-rules", (double)rules, "rules");
}

/* --- AppArmor: Documentation/admin-guide/LSM/apparmor.rst, and aa_change_profile(2) --- */

static void change_profile(const char *profile)
{
    /* Linux 5.1 */
    const char *path = access("/proc/self/attr/apparmor", F_OK) == 0
                           ? "/proc/self/attr/apparmor/current"
                           : "/proc/self/attr/current";
    const size_t length = strlen(profile);
    char text[STATUS];
    int file, size;
    ssize_t n;

    if (!*profile)
        return;
    size = snprintf(text, sizeof text, "changeprofile %s", profile);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || size >= (int)sizeof text || write(file, text, (size_t)size) != size)
        kit_skip("AppArmor does not change to the profile %s (%s): is it loaded? `aa-status` lists "
                 "profiles",
                 profile, strerror(errno));
    n = pread(file, text, sizeof text - 1, 0);
    close(file);
    text[n < 0 ? 0 : n] = '\0';
    if (strncmp(text, profile, length) != 0 || (text[length] != ' ' && text[length] != '\n'))
        kit_error("AppArmor has taken the profile %s, but %s says %.80s: it is not on", profile,
                  path, text);
    kit_value("apparmor", 1, "profiles");
}

/* --- namespaces --- */

enum { KINDS = 5, LINK = 32 };

static const struct {
    int flag;
    char path[24];
} kinds[KINDS] = {{CLONE_NEWNS, "/proc/self/ns/mnt"},
                  {CLONE_NEWNET, "/proc/self/ns/net"},
                  {CLONE_NEWIPC, "/proc/self/ns/ipc"},
                  {CLONE_NEWUTS, "/proc/self/ns/uts"},
                  {CLONE_NEWCGROUP, "/proc/self/ns/cgroup"}};

static void read_links(char links[KINDS][LINK])
{
    for (int i = 0; i < KINDS; i++) {
        ssize_t n = readlink(kinds[i].path, links[i], LINK - 1);
        links[i][n < 0 ? 0 : n] = '\0';
    }
}

static void put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);

    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        kit_skip("%s cannot be written (%s): try it as root", path, strerror(errno));
    close(file);
}

/* Without root it takes a user namespace too, in which the user stays the same. */
static void become_oneself(unsigned user, unsigned group)
{
    char text[32];

    put("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", user, user);
    put("/proc/self/uid_map", text);
    snprintf(text, sizeof text, "%u %u 1", group, group);
    put("/proc/self/gid_map", text);
}

/* A new network namespace has a loopback interface that is down. */
static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    request.ifr_flags = IFF_UP;
    if (any < 0 || ioctl(any, SIOCSIFFLAGS, &request) != 0)
        kit_error("the loopback interface of a new network namespace cannot be raised (%s)",
                  strerror(errno));
    close(any);
}

/* Enters a new namespace of each of these kinds, and proves that it is another than before. */
static void enter_namespaces(void)
{
    const unsigned user = geteuid(), group = getegid();
    char before[KINDS][LINK], after[KINDS][LINK];
    int flags = user ? CLONE_NEWUSER : 0, changed = 0;

    for (int i = 0; i < KINDS; i++)
        flags |= kinds[i].flag;
    read_links(before);
    if (unshare(flags) != 0)
        kit_skip(
            "new namespaces were refused (%s): they need root, or user namespaces for everybody",
            strerror(errno));

    if (user)
        become_oneself(user, group);
    raise_loopback();

    read_links(after);
    for (int i = 0; i < KINDS; i++)
        changed += after[i][0] && strcmp(before[i], after[i]) != 0;
    if (changed != KINDS)
        kit_error("only %d of %d namespaces are new", changed, KINDS);
    kit_value("namespaces", changed, "namespaces");
}

/*
 * Reports whether this is another mount namespace than the one of its starter, as in a container.
 */
static void tell_inside(const char *outside)
{
    char links[KINDS][LINK];

    if (!*outside)
        return;
    read_links(links);
    kit_value("inside", links[0][0] && strcmp(links[0], outside) != 0, "containers");
}

static void confine_by_linux(void)
{
    const long rules = kit_arg_number("landlock_rules", 0, 1, MOST_RULES);

    if (kit_arg_number("prove_tracer", 0, 0, 1))
        tell_tracer();
    tell_inside(kit_arg("outside", ""));
    if (kit_arg_number("namespaces", 0, 0, 1))
        enter_namespaces();
    /* Landlock keeps processes from changing their profile. */
    change_profile(kit_arg("apparmor", ""));
    restrict_files(kit_arg_number("landlock", rules > 0, 1, MOST_LAYERS), rules);
    seccomp_filter(kit_arg("seccomp", ""));
}

#else

static void confine_by_linux(void)
{
    static const char *const names[] = {"prove_tracer",   "outside",  "namespaces", "landlock",
                                        "landlock_rules", "apparmor", "seccomp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*kit_arg(names[i], ""))
            kit_skip("%s= needs Linux", names[i]);
}

#endif

/* --- slowed: what a comparison must find --- */

static double share; /* share of the processor time that is wasted */
static int64_t began, spun; /* ns of that time */

/* That of the main thread and of the children it waited for, which may be most of it. */
static int64_t processor_time(void)
{
    struct timespec now;
    struct rusage children;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    getrusage(RUSAGE_CHILDREN, &children);
    return ((int64_t)now.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec) *
               1000000000 +
           now.tv_nsec + ((int64_t)children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
}

static void read_slowed(void)
{
    const char *text = kit_arg("slowed", "");
    char *end;
    double percent;

    if (!*text)
        return;
    percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0.01 && percent <= 50))
        kit_error("slowed=%s is not a share in per cent: try one from 0.01 to 50", text);
    share = percent / 100;
}

double confine_take_slowed(void)
{
    const double taken = share;

    if (taken > 0)
        kit_value("slowed", taken * 100, "%");
    share = 0;
    return taken;
}

void confine_begin(int with_pulse)
{
    if (share == 0)
        return;
    if (!with_pulse)
        kit_skip("slowed= is for programs whose counts the timer reads");
    kit_value("slowed", share * 100, "%");
    began = processor_time();
}

/*
 * Compensates for all the work since the window opened, so errors do not add up; and processor time
 * does not pass while others run. A timer of its own would not be exact: its interrupts take time
 * too, in a virtual machine a lot.
 */
void confine_pay(void)
{
    int64_t from, now, owed;

    if (began == 0)
        return;
    now = from = processor_time();
    owed = (int64_t)((double)(from - began - spun) * share / (1 - share)) - spun;
    while (now - from < owed)
        now = processor_time();
    spun += now - from;
}

/* --- all of it --- */

void confine_init(void)
{
    if (kit_arg_number("prove_nice", 0, 0, 1))
        kit_value("nice", getpriority(PRIO_PROCESS, 0), "nice");
    confine_by_linux();
    read_slowed();
}
