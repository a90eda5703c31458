/* What is there before a system call is measured: see prepared.h. */
#define _GNU_SOURCE
#include "kernel/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

struct prepared have = {.file = -1, .other = -1, .port = {.sin_family = AF_INET}};

void prepare_nothing(void)
{
    have.self = getpid();
    have.user = getuid();
    have.group = getgid();
}

void prepare_umask(void)
{
    umask(PREPARED_MASK);
}

void prepare_priority(void)
{
    have.priority = getpriority(PRIO_PROCESS, 0);
}

/* --- a directory of this copy's own --- */

static char folder[32];
static int above = -1; /* the directory it is in */

/* What any call makes there. */
static const char *const names[] = {"file", "moved", "new", "link", "image"};

static void remove_folder(int finished)
{
    while (finished && waitpid(-1, NULL, 0) > 0)
        ;
    if (above < 0)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (unlink(names[i]) != 0 && errno == EISDIR)
            rmdir(names[i]);
    unlinkat(above, folder, AT_REMOVEDIR);
}

void prepare_place(void)
{
    above = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(folder, sizeof folder, "call-%ld", (long)have.self);
    if (above < 0 || mkdir(folder, 0700) != 0 || chdir(folder) != 0)
        kit_error("cannot make the directory %s (%s): try another --dir", folder, strerror(errno));
    kit_at_end(remove_folder);
}

void prepare_file(void)
{
    prepare_place();
    have.file = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (have.file < 0 || write(have.file, have.bytes, PREPARED_LENGTH) != PREPARED_LENGTH ||
        symlink("file", "link") != 0)
        kit_error("cannot make a file in %s (%s): try another --dir", folder, strerror(errno));
}

void prepare_folder(void)
{
    prepare_file();
    have.other = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (have.other < 0)
        kit_error("cannot open the directory %s (%s)", folder, strerror(errno));
}

/* --- descriptors, memory, a port --- */

static void open_device(const char *path)
{
    have.file = open(path, O_RDWR | O_CLOEXEC);
    if (have.file < 0)
        kit_skip("cannot open %s (%s)", path, strerror(errno));
}

void prepare_zero(void)
{
    open_device("/dev/zero");
}

void prepare_null(void)
{
    open_device("/dev/null");
}

void prepare_pipe(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        kit_error("cannot make a pipe (%s): is `ulimit -n` too low?", strerror(errno));
    have.file = ends[0];
    have.other = ends[1];
}

/* The eventfd has nothing to read. */
void prepare_event(void)
{
    struct epoll_event wanted = {.events = EPOLLIN};

    have.file = eventfd(0, EFD_CLOEXEC);
    have.other = epoll_create1(EPOLL_CLOEXEC);
    if (have.file < 0 || have.other < 0 ||
        epoll_ctl(have.other, EPOLL_CTL_ADD, have.file, &wanted) != 0)
        kit_error("cannot make an eventfd and an epoll (%s): is `ulimit -n` too low?",
                  strerror(errno));
}

void prepare_area(void)
{
    have.area =
        mmap(NULL, PREPARED_AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (have.area == MAP_FAILED)
        kit_error("cannot map %d bytes (%s)", PREPARED_AREA, strerror(errno));
}

void prepare_pair(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
        kit_skip("a pair of sockets was refused (%s)", strerror(errno));
    have.file = ends[0];
    have.other = ends[1];
}

/* The bound port belongs to this copy, and nobody else listens on it. */
void prepare_port(void)
{
    socklen_t length = sizeof have.port;

    have.port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    have.file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    have.other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (have.file < 0 || have.other < 0)
        kit_skip("a TCP socket was refused (%s)", strerror(errno));
    if (bind(have.file, (struct sockaddr *)&have.port, length) != 0
        || getsockname(have.file, (struct sockaddr *)&have.port, &length) != 0)
        kit_skip("the loopback device gives no port (%s): try `ip link set lo up`",
                 strerror(errno));
}

void prepare_listener(void)
{
    prepare_port();
    if (listen(have.file, 1) != 0)
        kit_skip("nobody may listen on the loopback device (%s)", strerror(errno));
}

void prepare_address(void)
{
    have.port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

/* --- a program --- */

/*
 * The least program there is: it calls exit_group(0) at once, and needs no linker. FLAGS name its
 * ABI.
 */
#if defined(__x86_64__)
static const unsigned char code[] = {0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05};
enum { MACHINE = EM_X86_64, FLAGS = 0 };
#elif defined(__aarch64__)
static const unsigned char code[] = {0xc8, 0x0b, 0x80, 0xd2, 0, 0, 0x80, 0xd2, 1, 0, 0, 0xd4};
enum { MACHINE = EM_AARCH64, FLAGS = 0 };
#elif defined(__riscv) && __riscv_xlen == 64
static const unsigned char code[] = {0x93, 0x08, 0xe0, 0x05, 0x13, 0x05, 0, 0, 0x73, 0, 0, 0};
enum { MACHINE = EM_RISCV, FLAGS = 0 };
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
static const unsigned char code[] = {0xea, 0, 0, 0x38, 0, 0, 0x60, 0x38, 2, 0, 0, 0x44};
enum { MACHINE = EM_PPC64, FLAGS = 2 };
#elif defined(__s390x__)
static const unsigned char code[] = {0xa7, 0x29, 0, 0, 0x0a, 0xf8};
enum { MACHINE = EM_S390, FLAGS = 0 };
#elif defined(__ARM_EABI__) && !defined(__ARM_BIG_ENDIAN)
static const unsigned char code[] = {0xf8, 0x70, 0xa0, 0xe3, 0, 0, 0xa0, 0xe3, 0, 0, 0, 0xef};
enum { MACHINE = EM_ARM, FLAGS = EF_ARM_EABI_VER5 };
#elif defined(__loongarch64)
static const unsigned char code[] = {0x0b, 0x78, 0x81, 0x03, 4, 0, 0x80, 0x03, 0, 0, 0x2b, 0};
enum { MACHINE = 258, FLAGS = 0x43 }; /* EM_LOONGARCH is younger than many a C library */
#else
static const unsigned char code[] = {0};
enum { MACHINE = EM_NONE, FLAGS = 0 };
#endif

enum {
    CLASS = sizeof(void *) == 4 ? ELFCLASS32 : ELFCLASS64,
    ORDER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB,
    MAX_PAGE_BYTES = 64 << 10, /* on any of these processors */
};

/* Writes ELF's header, the header of the only segment, and the code. */
void prepare_image(void)
{
    const size_t base = 0x400000, begin = sizeof(ElfW(Ehdr)) + sizeof(ElfW(Phdr)),
                 size = begin + sizeof code;
    const ElfW(Phdr) part = {.p_type = PT_LOAD,
                             .p_flags = PF_R | PF_X,
                             .p_vaddr = base,
                             .p_paddr = base,
                             .p_filesz = size,
                             .p_memsz = size,
                             .p_align = MAX_PAGE_BYTES};
    ElfW(Ehdr) head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, CLASS, ORDER, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = MACHINE,
                       .e_version = EV_CURRENT,
                       .e_entry = base + begin,
                       .e_phoff = sizeof head,
                       .e_flags = FLAGS,
                       .e_ehsize = sizeof head,
                       .e_phentsize = sizeof part,
                       .e_phnum = 1};
    int file;

    if (MACHINE == EM_NONE)
        kit_skip("the least program is not known for this kind of processor");

    prepare_place();
    memcpy(have.bytes, &head, sizeof head);
    memcpy(have.bytes + sizeof head, &part, sizeof part);
    memcpy(have.bytes + begin, code, sizeof code);
    file = open("image", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (file < 0 || write(file, have.bytes, size) != (ssize_t)size || close(file) != 0)
        kit_error("cannot write a program in %s (%s): try another --dir", folder, strerror(errno));
}

