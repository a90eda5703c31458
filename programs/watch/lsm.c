/*
 * BPF programs on hooks of the kernel's security modules, as what runs beside measured programs.
 * The first on each hook counts in a map, the others do nothing; all allow everything. One count is
 * a passage of a hook:
 *
 *     kind=N   programs on each hook (1 to 32)
 *
 * Before it is ready it has a child open a file, and must see that.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

enum {
    MAX_PROGRAMS = 32,
    HOOKS = 7,
    CPUS = 8192,      /* the most that the kernel can have */
    PAUSE = 10000000, /* ns between looks at the map */
    MAGIC = 0xeb9f,   /* of BTF, the kernel's description of its types */
    FUNCTION = 12,    /* a kind of type */
    KINDS = 20,       /* of types, from 0 */
};

static const char *const hooks[HOOKS] = {
    "bpf_lsm_file_open",      "bpf_lsm_file_permission", "bpf_lsm_inode_permission",
    "bpf_lsm_mmap_file",      "bpf_lsm_task_alloc",      "bpf_lsm_bprm_check_security",
    "bpf_lsm_socket_sendmsg",
};

static int map;

static int bpf(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/* --- functions of the kernel: Documentation/bpf/btf.rst --- */

struct header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t length, types, types_length, strings, strings_length;
};

struct type {
    uint32_t name, info, size;
};

static char *read_types(size_t *size)
{
    const char *path = "/sys/kernel/btf/vmlinux";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    char *text = NULL;
    size_t done = 0;

    if (file < 0 || fstat(file, &stat) != 0)
        kit_skip("%s cannot be read (%s): the kernel needs CONFIG_DEBUG_INFO_BTF", path,
                 strerror(errno));
    *size = (size_t)stat.st_size;
    text = malloc(*size + 1);
    while (text && done < *size) {
        ssize_t n = read(file, text + done, *size - done);

        if (n <= 0)
            kit_error("%s cannot be read (%s)", path, strerror(errno));
        done += (size_t)n;
    }
    close(file);
    if (!text || *size < sizeof(struct header) || ((struct header *)text)->magic != MAGIC)
        kit_skip("%s is not of a form that is known", path);
    text[*size] = '\0';
    return text;
}

/* Sets the number of each hook's function; leaves those of functions that the kernel lacks. */
static void find_hooks(uint32_t ids[HOOKS])
{
    /*
     * Bytes that follow a type of a kind, and bytes for each of its members. Followed by some: 1
     * integers, 3 arrays, 14 variables, 17 tags. With members: 4 structures, 5 unions, 6 and 19
     * enumerations (of 64 bits), 13 prototypes, 15 sections. Other kinds have neither.
     */
    static const uint8_t fixed[KINDS] = {[1] = 4, [3] = 12, [14] = 4, [17] = 4};
    static const uint8_t each[KINDS] = {[4] = 12, [5] = 12,  [6] = 8,
                                        [13] = 8, [15] = 12, [19] = 12};
    size_t size;
    char *text = read_types(&size);
    const struct header *header = (const struct header *)text;
    const size_t strings = header->length + header->strings,
                 end = header->length + header->types + header->types_length;
    size_t at = header->length + header->types;

    /* A type's number is its place in the list; 0 is void, which is not in it. */
    for (uint32_t id = 1; at + sizeof(struct type) <= end && end <= size; id++) {
        struct type type;
        uint32_t kind, members;

        memcpy(&type, text + at, sizeof type);
        kind = type.info >> 24 & 0x1f;
        members = type.info & 0xffff;
        if (kind >= KINDS)
            kit_skip("the kernel's types have a kind %u, which is not known", kind);
        for (int i = 0; i < HOOKS && kind == FUNCTION && strings + type.name < size; i++)
            if (strcmp(text + strings + type.name, hooks[i]) == 0)
                ids[i] = id;
        at += sizeof type + fixed[kind] + (size_t)members * each[kind];
    }
    free(text);
}

/* --- programs --- */

static const struct bpf_insn idle[] = {
    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
    {.code = BPF_JMP | BPF_EXIT},
};

enum { IDLE = sizeof idle / sizeof *idle, COUNTING = 9 + IDLE };

/* Adds 1 to this processor's count. */
static void make_counting(struct bpf_insn *program)
{
    const struct bpf_insn counting[] = {
        {.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4},
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
        {.code = BPF_LD | BPF_DW | BPF_IMM,
         .dst_reg = BPF_REG_1,
         .src_reg = BPF_PSEUDO_MAP_FD,
         .imm = map},
        {0},
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
        {.code = BPF_STX | BPF_XADD | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1},
    };

    memcpy(program, counting, sizeof counting);
    memcpy(program + COUNTING - IDLE, idle, sizeof idle);
}

/* The kernel detaches the program when this process ends. */
static void attach(uint32_t hook, const struct bpf_insn *program, unsigned length)
{
    union bpf_attr load, open;

    memset(&load, 0, sizeof load);
    load.prog_type = BPF_PROG_TYPE_LSM;
    load.insns = (uintptr_t)program;
    load.insn_cnt = length;
    load.license = (uintptr_t) "GPL";
    load.expected_attach_type = BPF_LSM_MAC;
    load.attach_btf_id = hook;
    memset(&open, 0, sizeof open);
    open.raw_tracepoint.prog_fd = (uint32_t)bpf(BPF_PROG_LOAD, &load);
    if ((int)open.raw_tracepoint.prog_fd < 0)
        kit_skip("the kernel takes no BPF program for a security hook (%s): it needs root, and "
                 "CONFIG_BPF_LSM",
                 strerror(errno));
    if (bpf(BPF_RAW_TRACEPOINT_OPEN, &open) < 0)
        kit_skip("a BPF program cannot be put on a security hook (%s)", strerror(errno));
}

static void attach_all(long programs)
{
    uint32_t ids[HOOKS] = {0};
    struct bpf_insn counting[COUNTING];

    find_hooks(ids);
    make_counting(counting);
    for (int i = 0; i < HOOKS; i++) {
        if (!ids[i])
            kit_skip("the kernel has no hook %s: it needs CONFIG_BPF_LSM", hooks[i]);
        attach(ids[i], counting, COUNTING);
        for (long n = 1; n < programs; n++)
            attach(ids[i], idle, IDLE);
    }
}

/* --- counts --- */

static void make_map(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    union bpf_attr create;

    memset(&create, 0, sizeof create);
    create.map_type = BPF_MAP_TYPE_PERCPU_ARRAY;
    create.key_size = 4;
    create.value_size = 8;
    create.max_entries = 1;
    /* Before Linux 5.11 maps count as locked memory. */
    setrlimit(RLIMIT_MEMLOCK, &all);
    map = bpf(BPF_MAP_CREATE, &create);
    if (map < 0)
        kit_skip("BPF was refused (%s): it needs root", strerror(errno));
}

static uint64_t count_passages(void)
{
    static uint64_t counts[CPUS];
    const uint32_t key = 0;
    union bpf_attr look;
    uint64_t sum = 0;

    memset(&look, 0, sizeof look);
    look.map_fd = (uint32_t)map;
    look.key = (uintptr_t)&key;
    look.value = (uintptr_t)counts;
    if (bpf(BPF_MAP_LOOKUP_ELEM, &look) != 0)
        kit_error("a BPF map cannot be read (%s)", strerror(errno));
    for (int i = 0; i < CPUS; i++)
        sum += counts[i];
    return sum;
}

static void prove(void)
{
    const uint64_t before = count_passages();
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(open("/dev/null", O_RDONLY | O_CLOEXEC) < 0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        kit_error("a child cannot open /dev/null (%s)", strerror(errno));
    if (count_passages() == before)
        kit_skip("a file was opened, and no BPF program ran: bpf is not among the kernel's lsm=");
    kit_check("watches", 1);
}

int main(int argc, char **argv)
{
    uint64_t last;

    kit_init(argc, argv);
    make_map();
    attach_all(kit_arg_number("kind", 1, 1, MAX_PROGRAMS));
    prove();
    kit_start();
    for (last = count_passages();;) {
        const uint64_t now = count_passages();

        kit_count += (unsigned long)(now - last);
        last = now;
        kit_sleep_until(kit_now() + PAUSE);
    }
}
