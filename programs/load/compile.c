/*
 * A build as the kernel sees one: many short processes, small files, and some CPU time between.
 * jobs=N workers (0: one for each CPU) build one unit after the other, in three stages, each a
 * process of its own that reads files and writes one:
 *
 *     preprocess   a source and the headers it includes, without comments        -> .i
 *     compile      counts the .i's identifiers in a hash table, some 10 ms of it  -> .s
 *     assemble     packs the lines of the .s                                      -> .o
 *
 * and after every 20 units all their .o are linked. One count is a stage done. Stages are this
 * program again, started as `compile stage NAME FOLDER WORKER UNIT`.
 */
#define _GNU_SOURCE
#include <ctype.h>
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

enum {
    UNITS = 20,
    HEADERS = 12,
    INCLUDES = 6, /* of a source */
    FUNCTIONS = 40,
    BUCKETS = 4096,
    PASSES = 28, /* over the expanded source */
    NO_EXEC = 99,
    STAGE_WORDS = 6, /* in the command line of a stage */
};

/* --- small files, for stages: failures are reported by the exit status --- */

struct text {
    char *bytes;
    size_t size;
};

static _Noreturn void give_up(const char *path)
{
    fprintf(stderr, "cannot read or write %s (%s)\n", path, strerror(errno));
    _exit(1);
}

static struct text read_text(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct text text;
    struct stat status;

    if (file < 0 || fstat(file, &status) != 0)
        give_up(path);
    text.size = (size_t)status.st_size;
    text.bytes = malloc(text.size + 1);
    if (!text.bytes || read(file, text.bytes, text.size) != (ssize_t)text.size)
        give_up(path);
    text.bytes[text.size] = '\0';
    close(file);
    return text;
}

/*
 * A new file, as assemblers make it: some file systems flush a truncated file to disk when it is
 * closed.
 */
static FILE *create(const char *path)
{
    FILE *file;

    unlink(path);
    file = fopen(path, "we");
    if (!file)
        give_up(path);
    return file;
}

static void finish(FILE *file, const char *path)
{
    if (fclose(file) != 0)
        give_up(path);
}

/* --- the stages --- */

/*
 * Copies a file line by line without its comments, and what it includes in the place of the line
 * that does.
 */
static void expand(const char *path, FILE *into)
{
    struct text text = read_text(path);
    char included[32];

    for (char *line = text.bytes, *next; *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        if (sscanf(line, "#include \"%31[^\"]\"", included) == 1)
            expand(included, into);
        else if (strncmp(line, "//", 2) != 0)
            fwrite(line, 1, (size_t)(next - line), into);
    }
    free(text.bytes);
}

static void preprocess(const char *worker, const char *unit)
{
    char path[64], source[64];
    FILE *into;

    snprintf(path, sizeof path, "%s-%s.i", worker, unit);
    snprintf(source, sizeof source, "unit%s.c", unit);
    into = create(path);
    expand(source, into);
    finish(into, path);
}

struct symbol {
    struct symbol *next;
    unsigned long times;
    size_t length;
    char name[];
};

static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619U;
    return hash;
}

static void note_symbol(struct symbol **table, const char *name, size_t length)
{
    struct symbol **bucket = &table[hash_of(name, length) % BUCKETS], *symbol = *bucket;

    while (symbol && (symbol->length != length || memcmp(symbol->name, name, length) != 0))
        symbol = symbol->next;
    if (!symbol) {
        symbol = malloc(sizeof *symbol + length + 1);
        if (!symbol)
            give_up("the table of symbols");
        *symbol = (struct symbol){.next = *bucket, .length = length};
        memcpy(symbol->name, name, length);
        symbol->name[length] = '\0';
        *bucket = symbol;
    }
    symbol->times++;
}

static void tokenise(const char *text, struct symbol **table)
{
    while (*text) {
        const char *begin = text;
        while (isalnum((unsigned char)*text) || *text == '_')
            text++;
        if (text == begin)
            text++;
        else
            note_symbol(table, begin, (size_t)(text - begin));
    }
}

static void empty(struct symbol **table, FILE *into)
{
    for (int i = 0; i < BUCKETS; i++)
        while (table[i]) {
            struct symbol *symbol = table[i];
            table[i] = symbol->next;
            if (into)
                fprintf(into, "\t.symbol %s, %lu\n", symbol->name, symbol->times);
            free(symbol);
        }
}

static void compile(const char *worker, const char *unit)
{
    static struct symbol *table[BUCKETS];
    struct text text;
    char path[64];
    FILE *into;

    snprintf(path, sizeof path, "%s-%s.i", worker, unit);
    text = read_text(path);
    for (int pass = 1; pass < PASSES; pass++) {
        tokenise(text.bytes, table);
        empty(table, NULL);
    }
    tokenise(text.bytes, table);
    snprintf(path, sizeof path, "%s-%s.s", worker, unit);
    into = create(path);
    empty(table, into);
    finish(into, path);
    free(text.bytes);
}

static void assemble(const char *worker, const char *unit)
{
    struct text text;
    char path[64];
    FILE *into;

    snprintf(path, sizeof path, "%s-%s.s", worker, unit);
    text = read_text(path);
    snprintf(path, sizeof path, "%s-%s.o", worker, unit);
    into = create(path);
    for (char *line = text.bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
        uint32_t packed[2] = {(uint32_t)(end - line), hash_of(line, (size_t)(end - line))};
        fwrite(packed, sizeof packed, 1, into);
    }
    finish(into, path);
    free(text.bytes);
}

static void link_units(const char *worker, const char *unit)
{
    char path[64];
    FILE *into;

    (void)unit;
    snprintf(path, sizeof path, "%s.out", worker);
    into = create(path);
    for (int i = 0; i < UNITS; i++) {
        char object[64];
        struct text text;
        snprintf(object, sizeof object, "%s-%d.o", worker, i);
        text = read_text(object);
        fwrite(text.bytes, 1, text.size, into);
        free(text.bytes);
    }
    finish(into, path);
}

static const struct {
    const char *name;
    void (*run)(const char *worker, const char *unit);
} stages[] = {
    {"preprocess", preprocess}, {"compile", compile}, {"assemble", assemble}, {"link", link_units}};

enum { LINK = 3 };

/* In the process of a stage. */
static int run_stage(char **words)
{
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(words[0], stages[i].name) == 0) {
            if (chdir(words[1]) != 0)
                give_up(words[1]);
            stages[i].run(words[2], words[3]);
            return 0;
        }
    return 1;
}

/* --- the workers --- */

static char *program;
static const char *folder;

static _Noreturn void become(int stage, long parent, long worker, long unit)
{
    char name[16], directory[64], worker_text[24], unit_text[24];
    char *words[] = {program, "stage", name, directory, worker_text, unit_text, NULL};

    crew_die_with(parent, SIGKILL);
    snprintf(name, sizeof name, "%s", stages[stage].name);
    snprintf(directory, sizeof directory, "%s", folder);
    snprintf(worker_text, sizeof worker_text, "%ld", worker);
    snprintf(unit_text, sizeof unit_text, "%ld", unit);
    execv("/proc/self/exe", words);
    _exit(NO_EXEC);
}

static void do_stage(int stage, long worker, long unit)
{
    const long parent = getpid();
    int status;
    pid_t child = fork();

    if (child == 0)
        become(stage, parent, worker, unit);
    if (child < 0)
        crew_fail("cannot fork (%s): is `ulimit -u` or the pids cgroup too low?", strerror(errno));
    if (waitpid(child, &status, 0) != child)
        crew_fail("lost a stage (%s)", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
        crew_fail("cannot execute /proc/self/exe: is /proc mounted?");
    if (status != 0)
        crew_fail("stage %s ended with wait status %d: is the file system full?",
                  stages[stage].name, status);
    ++*crew_count;
    crew_rest();
}

static void build(long worker)
{
    crew_go();
    for (;;) {
        for (long unit = 0; unit < UNITS; unit++)
            for (int stage = 0; stage < LINK; stage++)
                do_stage(stage, worker, unit);
        do_stage(LINK, worker, 0);
    }
}

/* --- the sources --- */

static size_t write_functions(char *text, size_t size, char kind, int number)
{
    size_t used = 0;

    for (int i = 0; i < FUNCTIONS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "// Returns something for value_%c%d_%d.\nstatic int "
                                 "value_%c%d_%d(int first, int second)\n"
                                 "{\n\tint sum_%d = first * %d + second;\n\treturn sum_%d > %d ? "
                                 "sum_%d : value_h%d_%d(sum_%d);\n}\n",
                                 kind, number, i, kind, number, i, i, i + 3, i, i * 7, i,
                                 i % HEADERS, i, i);
    return used < size ? used : size - 1;
}

static void write_source(char kind, int number)
{
    static char text[64 << 10];
    char path[96];
    size_t used = 0;

    for (int i = 0; kind == 'u' && i < INCLUDES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "#include \"header%d.h\"\n",
                                 (number + i * 5) % HEADERS);
    used += write_functions(text + used, sizeof text - used, kind, number);
    snprintf(path, sizeof path, kind == 'u' ? "%s/unit%d.c" : "%s/header%d.h", folder, number);
    files_write(path, text, used);
}

int main(int argc, char **argv)
{
    long jobs;

    if (argc == STAGE_WORDS && strcmp(argv[1], "stage") == 0)
        return run_stage(argv + 2);
    program = argv[0];
    kit_init(argc, argv);
    jobs = crew_size("jobs");
    crew_take_duty();
    crew_open(jobs);
    crew_after(files_remove_folder);
    folder = files_folder("compile");
    for (int i = 0; i < HEADERS; i++)
        write_source('h', i);
    for (int i = 0; i < UNITS; i++)
        write_source('u', i);
    for (long i = 0; i < jobs; i++)
        crew_hire(build, i);
    crew_run();
}
