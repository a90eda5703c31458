/*
 * make -jN of a generated tree in C, from clean, over and over, with the compiler of the machine:
 * jobs=N (0: one for each CPU). One count is an object file made. The tree has a main program,
 * units=64 small units and a header, in the directory make-PID. With link=MIB the units are
 * compiled once, with so much data in all; then only the program is linked, and one count is a
 * link.
 *
 * The recipe of what is counted adds a byte to the file `count`, and the length of that file is the
 * count: the kit's timer can ask for it at any moment, and nobody needs to follow make.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/crew.h"
#include "load/files.h"

enum { MIB = 1 << 20, MAX_LINKED_MIB = 4096, MAX_UNITS = 256, FUNCTIONS = 6, NOT_FOUND = 99 };

#define END_LIMIT INT64_C(1000000000)

static const char *folder;
static long units;
static long linked; /* MiB of data in the program, where only that is made */
static char jobs_word[16];
static int count_file = -1;
static int quiet; /* whether make's complaints are dropped */

static unsigned long count_made(void)
{
    struct stat status;

    return fstat(count_file, &status) == 0 ? (unsigned long)status.st_size : 0;
}

/* Jobs of a make that was killed are orphans, and ours. */
static void clean(int finished)
{
    (void)finished;
    crew_reap(END_LIMIT);
    if (folder)
        files_remove_folder();
}

/* --- the tree --- */

static void write_in_folder(const char *name, const char *text, size_t size)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    files_write(path, text, size);
}

static void write_unit(int number)
{
    static char text[16 << 10];
    char name[32];
    size_t used = (size_t)snprintf(text, sizeof text, "#include \"common.h\"\n");

    for (int i = 0; i < FUNCTIONS; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "static int step%d(const char *words, int *table)\n{\n    int sum = %d;\n"
            "    for (size_t i = 0; words[i]; i++) {\n        table[(words[i] + %d) %% SIZE] += "
            "(int)i;\n"
            "        sum = sum * 31 + table[i %% SIZE];\n    }\n    return sum;\n}\n",
            i, number, i);
    if (linked)
        used += (size_t)snprintf(text + used, sizeof text - used, "char data%d[%ld] = {1};\n",
                                 number, linked * MIB / units);
    used += (size_t)snprintf(
        text + used, sizeof text - used,
        "int unit%d(const char *words)\n{\n    int table[SIZE] = {0}, sum = 0;\n", number);
    for (int i = 0; i < FUNCTIONS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "    sum += step%d(words, table);\n", i);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "    printf(\"%%d\\n\", sum);\n    return sum;\n}\n");
    snprintf(name, sizeof name, "unit%d.c", number);
    write_in_folder(name, text, used);
}

static void write_header_and_main(void)
{
    static char text[16 << 10];
    size_t used;

    used = (size_t)snprintf(
        text, sizeof text,
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#define SIZE 64\n");
    for (int i = 0; i < units; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "int unit%d(const char *words);\n", i);
    write_in_folder("common.h", text, used);
    used = (size_t)snprintf(text, sizeof text,
                            "#include \"common.h\"\nint main(void)\n{\n    int sum = 0;\n");
    for (int i = 0; i < units; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "    sum += unit%d(\"words\");\n", i);
    used += (size_t)snprintf(text + used, sizeof text - used, "    return sum == 0;\n}\n");
    write_in_folder("main.c", text, used);
}

static void write_makefile(void)
{
    static const char count[] = "\t@printf . >>count\n";
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "CC = cc\nCFLAGS = -O1\nOBJECTS = main.o");

    for (int i = 0; i < units; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " unit%d.o", i);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "\nprogram: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n%s"
                             "%%.o: %%.c common.h Makefile\n\t$(CC) $(CFLAGS) -c -o $@ $<\n%s",
                             linked ? count : "", linked ? "" : count);
    write_in_folder("Makefile", text, used);
}

static void write_tree(void)
{
    char path[96];

    folder = files_folder("make");
    for (int i = 0; i < units; i++)
        write_unit(i);
    write_header_and_main();
    write_makefile();
    snprintf(path, sizeof path, "%s/count", folder);
    count_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (count_file < 0)
        kit_error("cannot make %s (%s): try another --dir", path, strerror(errno));
}

static void remove_file(const char *name)
{
    char path[96];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* What the next make is to make again. */
static void remove_made(void)
{
    char name[32];

    remove_file("program");
    for (int i = 0; i < units && !linked; i++) {
        snprintf(name, sizeof name, "unit%d.o", i);
        remove_file(name);
    }
    if (!linked)
        remove_file("main.o");
}

/* --- make --- */

/*
 * A make above this one must not tell ours what to do, and the compiler's temporary files are to be
 * where they are removed.
 */
static void set_environment(void)
{
    unsetenv("MAKEFLAGS");
    unsetenv("MFLAGS");
    unsetenv("GNUMAKEFLAGS");
    unsetenv("MAKELEVEL");
    unsetenv("MAKEFILES");
    setenv("CCACHE_DISABLE", "1", 1);
    setenv("TMPDIR", ".", 1);
}

/* SIGTERM, as make then ends its jobs first. */
static _Noreturn void become_make(long parent)
{
    char *words[] = {"make", "-s", jobs_word, NULL};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    crew_die_with(parent, SIGTERM);
    if (chdir(folder) != 0 || null < 0 || (quiet && dup2(null, STDERR_FILENO) < 0))
        _exit(NOT_FOUND);
    execvp(words[0], words);
    _exit(NOT_FOUND);
}

static void run_make(void)
{
    const long parent = getpid();
    int status;
    pid_t child = fork();

    if (child == 0)
        become_make(parent);
    if (child < 0)
        kit_error("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (waitpid(child, &status, 0) != child)
        kit_error("lost make (%s)", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        kit_error("cannot execute make: is it installed?");
    if (status != 0)
        kit_error(
            "make ended with wait status %d: try `cc` by hand, and whether the file system is full",
            status);
    remove_made();
}

int main(int argc, char **argv)
{
    unsigned long wanted;

    kit_init(argc, argv);
    snprintf(jobs_word, sizeof jobs_word, "-j%ld", crew_size("jobs"));
    units = kit_arg_number("units", 64, 1, MAX_UNITS);
    linked = kit_arg_number("link", 0, 0, MAX_LINKED_MIB);
    if (linked)
        files_need("program", 2 * linked);
    wanted = linked ? 1 : (unsigned long)units + 1;
    kit_detach_stdio();
    crew_adopt();
    kit_at_end(clean);
    kit_counter(count_made);
    set_environment();
    write_tree();
    run_make();
    if (count_made() != wanted)
        kit_error("make made %lu files instead of %lu: is `make` another program here?",
                  count_made(), wanted);
    if (ftruncate(count_file, 0) != 0)
        kit_error("cannot set the count to 0 (%s)", strerror(errno));
    quiet = 1;
    kit_start();
    for (;;)
        run_make();
}
