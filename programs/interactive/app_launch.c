/*
 * Programs that start: fork, execute, read what a program reads, and say ready. The program that is
 * launched is this one.
 *
 *     period=US                 from launch to launch [250000]; a launch is dropped if the one
 *                               before is still running when it is due
 *     files=N heap=MIB work=US  what each reads, of 4 to 64 KiB [50], touches [8] and works [5000]
 *                               before it is ready
 *     cold=1                    the files are dropped from memory before each launch, outside of
 *                               what is timed
 *     deadline=US               from the planned moment to ready [0: none]
 *
 * Ready is the moment when its window would be shown: it writes that into a pipe. The end of the
 * pipe is its end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interactive/chain.h"
#include "interactive/world.h"

enum {
    MIN_FILE_BYTES = 4 << 10,
    MAX_FILE_BYTES = 64 << 10,
    MAX_FILES = 1000,
    NAME_BYTES = 24,
    MAX_HEAP_MIB = 1 << 16,
    MAX_PERIOD_US = 10000000, /* of a deadline and of work, too */
    PAGE = 4096,              /* the smallest: larger ones are touched several times */
    MEBI = 1 << 20,
    NOT_EXECUTED = 99, /* the exit status of a child that could not execute the program */
    MAX_WORDS = 16,
};

/* Arguments that the launcher passes on to the launched program. */
static const char *const passed_on[] = {"policy",   "priority", "timeslice", "nice",
                                        "fallback", "lock",     "footprint", "unit"};

static char launched_word[] = "launched";
static char folder[32];
static char names[MAX_FILES][NAME_BYTES];
static int folder_file = -1;
static long files, heap; /* heap: MiB */
static int is_cold;
static int64_t period, work, deadline; /* ns */
static char *words[MAX_WORDS + 1]; /* of the launched program; NULL after the last */
static volatile pid_t launched; /* 0 while none runs */
static volatile unsigned sum; /* of bytes that were read: what is not used would not be done */

/* --- the program that is launched --- */

/* Stdout is the pipe to the launcher, which reports what is written there. */
static _Noreturn void fail(const char *what)
{
    dprintf(STDOUT_FILENO, "cannot %s (%s)", what, strerror(errno));
    _exit(1);
}

static int open_file(const char *directory, long number)
{
    char path[64];
    int file;

    snprintf(path, sizeof path, "%s/%03ld", directory, number);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        fail("open a file");
    return file;
}

static unsigned read_files(const char *directory, long number)
{
    char *buffer = malloc(MAX_FILE_BYTES);
    unsigned found = 0;

    for (long i = 0; buffer && i < number; i++) {
        int file = open_file(directory, i);
        ssize_t got;
        while ((got = read(file, buffer, MAX_FILE_BYTES)) > 0)
            found += (unsigned char)buffer[got - 1];
        if (got < 0)
            fail("read a file");
        close(file);
    }
    free(buffer);
    return found;
}

/* As the dynamic linker maps a library: what is used is read by page faults. */
static unsigned map_file(const char *directory)
{
    int file = open_file(directory, 0);
    struct stat status;
    unsigned char *memory;
    unsigned found = 0;

    if (fstat(file, &status) != 0)
        fail("look at a file");
    memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        fail("map a file");
    for (off_t i = 0; i < status.st_size; i += PAGE)
        found += memory[i];
    close(file);
    return found;
}

static unsigned touch_heap(long size)
{
    volatile unsigned char *memory = malloc((size_t)size + 1);

    if (!memory)
        fail("allocate memory");
    for (long i = 0; i < size; i += PAGE)
        memory[i] = 1;
    memory[size] = 1;
    return memory[size];
}

/* Reports ready with a time stamp, so that the launcher's own wake-up is not timed. */
static _Noreturn void be_launched(int argc, char **argv)
{
    const char *directory;
    char line[48];
    int length;

    kit_init(argc, argv);
    world_prepare(0);
    directory = kit_arg("directory", "");

    sum = read_files(directory, kit_arg_number("files", 0, 0, MAX_FILES));
    sum += map_file(directory);
    sum += touch_heap(kit_arg_number("heap", 0, 0, MAX_HEAP_MIB) * MEBI);
    world_work(kit_arg_number("work", 0, 0, MAX_PERIOD_US) * 1000);
    length = snprintf(line, sizeof line, "ready %lld\n", (long long)kit_now());
    _exit(write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 1);
}

/* --- the launcher --- */

static void clean(int finished)
{
    if (launched)
        chain_end(launched, finished);
    for (long i = 0; folder_file >= 0 && i < files; i++)
        unlinkat(folder_file, names[i], 0);
    if (folder_file >= 0)
        rmdir(folder);
}

/* Descriptor 1 is the pipe. Stderr stays, for what goes wrong. */
static _Noreturn void become_launched(int ready, pid_t parent)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(0);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(ready, STDOUT_FILENO) < 0)
        _exit(1);
    execv("/proc/self/exe", words);
    _exit(NOT_EXECUTED);
}

/* Starts the program; returns the end of the pipe from which what it says can be read. */
static int start(void)
{
    const pid_t parent = getpid();
    pid_t child;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    child = fork();
    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (child == 0)
        become_launched(ends[1], parent);
    launched = child;
    close(ends[1]);
    return ends[0];
}

static void check_end(int64_t ready)
{
    int status = 0;

    waitpid(launched, &status, 0);
    launched = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED)
        kit_error("cannot execute /proc/self/exe: is /proc mounted?");
    if (status != 0)
        kit_error("the program that was launched ended with wait status %d: was it killed, or "
                  "memory short?",
                  status);
    if (ready == 0)
        kit_error("the program that was launched ended without being ready");
}

/* Returns when the program was ready; ends this one if it said that it cannot be. */
static int64_t read_ready(const char *line)
{
    if (strncmp(line, "ready ", 6) != 0)
        kit_error("the program that was launched failed: %s", line);
    return strtoll(line + 6, NULL, 10);
}

/* Launches and waits for the end; returns when it was ready. */
static int64_t launch(void)
{
    struct pollfd pipe = {.fd = start(), .events = POLLIN};
    int64_t ready = 0;
    ssize_t got = 1;

    while (got != 0) {
        char line[256] = "";
        chain_poll(&pipe, 1, INT64_MAX);
        if (!pipe.revents)
            continue;
        got = read(pipe.fd, line, sizeof line - 1);
        if (got > 0)
            ready = read_ready(line);
    }
    close(pipe.fd);
    check_end(ready);
    return ready;
}

/* The files were written through to the disk, so that all of them can be dropped. */
static void drop_files(void)
{
    for (long i = 0; is_cold && i < files; i++) {
        int file = openat(folder_file, names[i], O_RDONLY | O_CLOEXEC);
        if (file < 0)
            kit_error("the file %s/%s is gone: was it removed by something else?", folder,
                      names[i]);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        close(file);
    }
}

/*
 * A launch that would begin when the next one is due is dropped, with those that were due while one
 * was still running.
 */
static void launch_all(const struct chain_window *window, long most)
{
    long slot = 0;
    int over = 0;

    while (!over && (most == 0 || slot < most)) {
        int64_t planned = window->base + slot * period, woke, done = 0;
        long next;
        chain_rest(planned);
        woke = kit_now();
        if (woke < planned + period)
            done = launch();
        over = chain_frame(planned, 0, woke, done, work);
        drop_files();
        next = (long)((kit_now() - window->base + period - 1) / period);
        slot = next > slot ? next : slot + 1;
    }
}

/* --- preparation --- */

static void write_file(long number, uint64_t *seed)
{
    static char bytes[MAX_FILE_BYTES];
    size_t size = MIN_FILE_BYTES + (size_t)(world_random(seed) * (MAX_FILE_BYTES - MIN_FILE_BYTES));
    int file;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(world_random(seed) * 255);
    snprintf(names[number], NAME_BYTES, "%03ld", number);
    file = openat(folder_file, names[number], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || (is_cold && fsync(file) != 0))
        kit_error("cannot write %s/%s (%s): try another --dir", folder, names[number],
                  strerror(errno));
    close(file);
}

static void write_files(void)
{
    uint64_t seed = 1;

    snprintf(folder, sizeof folder, "launch-%ld", (long)getpid());
    if (mkdir(folder, 0700) == 0)
        folder_file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_file < 0)
        kit_error("cannot make the directory %s (%s): try another --dir", folder, strerror(errno));
    for (long i = 0; i < files; i++)
        write_file(i, &seed);
}

/* Whether the first page of a file is in memory. */
static int is_resident(long number)
{
    unsigned char page = 0;
    int file = openat(folder_file, names[number], O_RDONLY | O_CLOEXEC);
    void *memory = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);

    if (memory == MAP_FAILED || mincore(memory, 1, &page) != 0)
        page = 0;
    if (memory != MAP_FAILED)
        munmap(memory, 1);
    close(file);
    return page & 1;
}

static void prove_cold(void)
{
    long resident = 0;

    drop_files();
    for (long i = 0; is_cold && i < files; i++)
        resident += is_resident(i);
    if (resident * 2 > files)
        kit_skip(
            "the file system keeps its files in memory, so none is ever cold: try --dir on a disk");
}

/* Adds an argument for the launched program: a text or, if that is NULL, a number. */
static void add_argument(const char *name, const char *text, long number)
{
    static char lines[MAX_WORDS][64];
    static int used;
    char *line = lines[used++];

    if (text)
        snprintf(line, sizeof lines[0], "%s=%s", name, text);
    else
        snprintf(line, sizeof lines[0], "%s=%ld", name, number);
    for (char **word = words;; word++)
        if (!*word) {
            *word = line;
            return;
        }
}

/* The launched program sets its own policy; the default is the normal one. */
static void prepare_words(char *path)
{
    words[0] = path;
    words[1] = launched_word;
    add_argument("directory", folder, 0);
    add_argument("files", NULL, files);
    add_argument("heap", NULL, heap);
    add_argument("work", NULL, work / 1000);
    add_argument("speed", NULL, (long)world_speed());
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        if (kit_arg(passed_on[i], NULL))
            add_argument(passed_on[i], kit_arg(passed_on[i], NULL), 0);
}

static void read_arguments(void)
{
    period = kit_arg_number("period", 250000, 1000, MAX_PERIOD_US) * 1000;
    files = kit_arg_number("files", 50, 1, MAX_FILES);
    heap = kit_arg_number("heap", 8, 0, MAX_HEAP_MIB);
    work = kit_arg_number("work", 5000, 0, MAX_PERIOD_US) * 1000;
    is_cold = (int)kit_arg_number("cold", 0, 0, 1);
    deadline = kit_arg_number("deadline", 0, 0, MAX_PERIOD_US) * 1000;
}

/* Launches whose whole period lies in the window; the first is due when it opens. */
static long count_launches(const struct chain_window *window)
{
    long launches = (long)((window->end - window->base) / period);

    return launches ? launches : 1;
}

int main(int argc, char **argv)
{
    const struct chain_window *window;
    struct frames_plan plan = {.latency = "response"};

    if (argc > 1 && strcmp(argv[1], launched_word) == 0)
        be_launched(argc - 1, argv + 1);

    kit_init(argc, argv);
    frames_init();
    world_prepare(0);
    read_arguments();
    chain_open();
    chain_after(clean);
    write_files();
    prepare_words(argv[0]);
    launch(); /* not timed; a program that cannot be launched is an error before ready */
    prove_cold();

    window = chain_hear();
    if (window->kit.slices)
        plan.frames = count_launches(window);
    plan.period = period;
    plan.deadline = deadline;
    plan.work = work;
    frames_prepare(plan.frames, 0);
    chain_begin();
    launch_all(window, plan.frames);
    chain_finish(&plan);
}
