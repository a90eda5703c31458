/*
 * What copies contend for in the kernel: case=NAME of cases.h, whose names are will-it-scale's.
 * Each copy works on files, descriptors and memory of its own, or on a file that all share, as the
 * case says. Copies that are threads always share the memory map, the table of descriptors and the
 * handlers of signals, so a case that scales as processes and not as threads contends for one of
 * these.
 *
 * Files are in the current directory, which copies share. will-it-scale was never read for this:
 * what its cases do was seen with strace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit.h"
#include "memory/pages.h"
#include "thread/team.h"

enum {
    BLOCK = 4096,
    MIB = 1 << 20,
    AREA = 128 * MIB, /* bytes of a mapping */
    LENGTH = MIB, /* of a file that is read or written on and on */
    POLLED = 128,
    PLACES = 256,     /* of processes in a shared file */
    PROOFS = 20,      /* times that must be right before it starts; the pages of a mapping once */
    FOLDER = 48,
    NAME = FOLDER + 16,
};

#define SHARED "shared"

/* What belongs to one copy. */
struct copy {
    struct kit_thread *thread;
    int file, other;       /* descriptors */
    off_t at;              /* the copy's own block of a shared file */
    char folder[FOLDER], name[NAME];
    char *block, *area;
    size_t page;           /* of the area, the next to be given back */
    struct pollfd polls[POLLED];
    uint32_t word;
    sem_t semaphore;
    pthread_mutex_t mutex;
    volatile sig_atomic_t *signals;
} __attribute__((aligned(128)));

/* What threads share beside what the kernel has them share. */
static struct {
    pthread_mutex_t mutex;
} for_all = {PTHREAD_MUTEX_INITIALIZER};

static __thread struct copy *mine;
static __thread volatile sig_atomic_t signals;
static size_t page_bytes;
static size_t touched_bytes = AREA; /* of a mapping whose pages are all touched and kept */

/* --- the work; each says whether the answers were right --- */

static int closed(int made)
{
    return made >= 0 && close(made) == 0;
}

static int passed(struct copy *my)
{
    uint64_t sent = 1, got = 0;

    return write(my->file, &sent, sizeof sent) == sizeof sent &&
           read(my->file, &got, sizeof got) == sizeof got && got == sent;
}

static int moved(struct copy *my)
{
    char byte = 1;

    return write(my->other, &byte, 1) == 1 && read(my->file, &byte, 1) == 1;
}

static int locked(struct copy *my)
{
    struct flock taken = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    struct flock left = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(my->file, F_SETLKW, &taken) == 0 && fcntl(my->file, F_SETLKW, &left) == 0;
}

static int sought(struct copy *my, off_t at)
{
    return lseek(my->file, at, SEEK_SET) == at;
}

/* To the end of the file, and then from its beginning on. */
static int read_on(struct copy *my)
{
    ssize_t n = read(my->file, my->block, BLOCK);

    if (n == 0)
        return sought(my, 0) && read(my->file, my->block, BLOCK) == BLOCK;
    return n == BLOCK;
}

static int written_on(struct copy *my)
{
    my->at += BLOCK;
    if (my->at <= LENGTH)
        return write(my->file, my->block, BLOCK) == BLOCK;
    my->at = BLOCK;
    return sought(my, 0) && write(my->file, my->block, BLOCK) == BLOCK;
}

static char *map(size_t bytes, int flags, int file)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
}

static int unmapped(char *area)
{
    return area != MAP_FAILED && munmap(area, AREA) == 0;
}

/* Compilers would leave out a pair whose memory nobody sees. */
static int allocated(size_t bytes)
{
    void *made = malloc(bytes);

    __asm__ volatile("" : "+r"(made) : : "memory");
    if (!made)
        return 0;
    free(made);
    return 1;
}

static int touched(struct copy *my, int flags, int file)
{
    char *area = map(touched_bytes, flags, file);

    if (area == MAP_FAILED)
        return 0;
    for (size_t at = 0; at < touched_bytes; at += page_bytes) {
        *(volatile char *)(area + at) = 1;
        my->thread->count++;
    }
    return munmap(area, touched_bytes) == 0;
}

/* One page after the other is touched and given back, which other processors have to hear of. */
static int given_back(struct copy *my)
{
    char *page = my->area + my->page;

    my->page = (my->page + page_bytes) % AREA;
    *(volatile char *)page = 1;
    return madvise(page, page_bytes, MADV_DONTNEED) == 0;
}

static int woken(struct copy *my, int operation)
{
    return syscall(SYS_futex, &my->word, operation, 1, NULL, NULL, 0) == 0;
}

static int missed(struct copy *my, int operation)
{
    return syscall(SYS_futex, &my->word, operation, 1, NULL, NULL, 0) < 0 && errno == EAGAIN;
}

static int held(pthread_mutex_t *mutex)
{
    return pthread_mutex_lock(mutex) == 0 && pthread_mutex_unlock(mutex) == 0;
}

static int caught(struct copy *my)
{
    int before = *my->signals;

    return raise(SIGUSR1) == 0 && *my->signals != before;
}

/* --- what is there before --- */

static void prepare_nothing(struct copy *my)
{
    (void)my;
}

static int open_file(const char *name, int flags)
{
    int file = open(name, O_RDWR | O_CREAT | flags, 0600);

    if (file < 0)
        kit_error("cannot make %s in the current directory (%s): try another --dir", name,
                  strerror(errno));
    return file;
}

static void fill(int file, off_t length)
{
    for (off_t at = 0; at < length; at += BLOCK)
        if (pwrite(file, mine->block, BLOCK, at) != BLOCK)
            kit_error("cannot write %lld bytes to a file (%s): is the file system full?",
                      (long long)length, strerror(errno));
}

/* Without a name: nobody else can find it, and nothing is left of it. */
static int open_nameless(void)
{
    int file = open_file(mine->name, O_EXCL);

    unlink(mine->name);
    return file;
}

static void prepare_file(struct copy *my)
{
    my->file = open_nameless();
    fill(my->file, LENGTH);
}

/*
 * Each copy opens it by itself, and has a position and a place of its own: processes by their
 * numbers, which follow each other. All write the same into it.
 */
static void prepare_shared(struct copy *my)
{
    my->at = (off_t)(getpid() % PLACES + my->thread->number) * BLOCK;
    my->file = open_file(SHARED, 0);
    fill(my->file, LENGTH);
    fill(my->file, my->at + BLOCK);
}

static void prepare_name(struct copy *my)
{
    close(open_file(my->name, O_EXCL));
}

static void prepare_folder(struct copy *my)
{
    snprintf(my->name, NAME, "%s/file", my->folder);
    if (mkdir(my->folder, 0700) != 0)
        kit_error("cannot make the directory %s in the current one (%s): try another --dir",
                  my->folder, strerror(errno));
    prepare_name(my);
}

static void prepare_event(struct copy *my)
{
    my->file = eventfd(0, 0);
    if (my->file < 0)
        kit_error("cannot make an eventfd (%s): is `ulimit -n` too low?", strerror(errno));
}

static void prepare_pipe(struct copy *my)
{
    int ends[2];

    if (pipe(ends) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    my->file = ends[0];
    my->other = ends[1];
}

static void prepare_pair(struct copy *my)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        kit_error("cannot make a pair of sockets (%s): is `ulimit -n` too low?", strerror(errno));
    my->file = ends[0];
    my->other = ends[1];
}

static void prepare_polls(struct copy *my)
{
    for (int i = 0; i < POLLED; i++)
        my->polls[i] = (struct pollfd){.fd = open_nameless(), .events = POLLOUT};
}

static void prepare_area_of_file(struct copy *my)
{
    my->file = open_nameless();
    if (ftruncate(my->file, AREA) != 0)
        kit_error("cannot make a file of %d MiB (%s)", AREA / MIB, strerror(errno));
}

static void map_area(struct copy *my, int flags, int file)
{
    my->area = map(AREA, flags, file);
    if (my->area == MAP_FAILED)
        kit_error("cannot map %d MiB (%s)", AREA / MIB, strerror(errno));
}

/* A huge page would be split where one of its pages is given back. */
static void prepare_pages(struct copy *my)
{
    map_area(my, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    madvise(my->area, AREA, MADV_NOHUGEPAGE);
}

static void prepare_private_pages(struct copy *my)
{
    prepare_area_of_file(my);
    map_area(my, MAP_PRIVATE, my->file);
}

static void prepare_shared_pages(struct copy *my)
{
    prepare_area_of_file(my);
    map_area(my, MAP_SHARED, my->file);
}

static void prepare_semaphore(struct copy *my)
{
    if (sem_init(&my->semaphore, 0, 0) != 0)
        kit_error("cannot make a semaphore (%s)", strerror(errno));
}

static void prepare_mutex(struct copy *my)
{
    pthread_mutex_init(&my->mutex, NULL);
}

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void prepare_handler(struct copy *my)
{
    struct sigaction action = {.sa_handler = on_signal};

    my->signals = &signals;
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        kit_error("cannot handle a signal (%s)", strerror(errno));
}

/* --- the table --- */

static _Noreturn void fail(const char *name, unsigned long count)
{
    kit_error("%s failed after %lu times (%s)", name, count, strerror(errno));
}

#define CASE(name, before, counts, ...)                                \
    static int do_##name(struct copy *my)                              \
    {                                                                  \
        (void)my;                                                      \
        return (__VA_ARGS__);                                          \
    }                                                                  \
                                                                       \
    static void repeat_##name(struct kit_thread *me)                   \
    {                                                                  \
        struct copy *my = mine;                                        \
                                                                       \
        for (;;) {                                                     \
            if (!do_##name(my))                                        \
                fail(#name, me->count);                                \
            me->count += counts;                                       \
        }                                                              \
    }
#include "kernel/cases.h"
#undef CASE

static const struct row {
    const char *name;
    void (*prepare)(struct copy *my);
    int (*work)(struct copy *my);
    void (*repeat)(struct kit_thread *me);
    int counts;
} rows[] = {
#define CASE(name, before, counts, ...) \
    {#name, prepare_##before, do_##name, repeat_##name, counts},
#include "kernel/cases.h"
};

static const struct row *chosen;

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    kit_error("unknown case=%s: programs/kernel/cases.h has all of them", name);
}

static void write_names(char *folder, char *name, int number)
{
    snprintf(folder, FOLDER, "copy-%ld-%d", (long)getpid(), number);
    snprintf(name, NAME, "file-%ld-%d", (long)getpid(), number);
}

/* Others may use the shared file still: it ends with the directory of the trial. */
static void remove_names(int finished)
{
    char folder[FOLDER], name[NAME], file[NAME];

    (void)finished;
    for (int number = 0; number < team_number(); number++) {
        write_names(folder, name, number);
        snprintf(file, NAME, "%s/file", folder);
        unlink(name);
        unlink(file);
        rmdir(folder);
    }
}

static void prepare(struct kit_thread *me)
{
    const int proofs = chosen->counts ? PROOFS : 1; /* once: the work goes over a whole mapping */
    int right = 0;

    mine = aligned_alloc(128, sizeof *mine);
    if (!mine)
        kit_error("no memory for a copy");
    memset(mine, 0, sizeof *mine);
    mine->thread = me;
    mine->block = aligned_alloc(BLOCK, BLOCK);
    if (!mine->block)
        kit_error("no memory for a block of %d bytes", BLOCK);
    memset(mine->block, 0, BLOCK);

    write_names(mine->folder, mine->name, me->number);

    chosen->prepare(mine);
    for (int i = 0; i < proofs; i++)
        right += chosen->work(mine);
    if (right != proofs)
        fail(chosen->name, (unsigned long)right);
    kit_check("right", 1);
    me->count = 0; /* without the proofs */
}

/* All copies together leave the others of the machine room. */
static void fit_memory(void)
{
    size_t most = pages_most() / page_bytes * page_bytes;

    if (most >= touched_bytes)
        return;
    touched_bytes = most > page_bytes ? most : page_bytes;
    if (chosen->counts == 0)
        kit_note("a copy touches %zu MiB at a time, and not %d: memory has no room for that",
                 touched_bytes / MIB, AREA / MIB);
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    chosen = find_row(kit_arg("case", "getppid1"));
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    fit_memory();
    kit_at_end(remove_names);
    /* Threads have one table of files. */
    kit_raise_file_limit();
    team_prepare(prepare);
    team_start(chosen->repeat);
}
