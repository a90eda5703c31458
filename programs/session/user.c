/*
 * A user at a shell who does one thing again and again in a directory of its own; one count is one
 * of them completed, with its result checked.
 *
 *   job=compile    cc -O1 of a program of some 60 lines, and linking it
 *   job=pipeline   counts the words of 64 KiB of text: tr | sort | uniq -c | sort -rn, five
 *                  processes with the shell
 *   job=tree       unpacks 80 files from an archive, searches them with grep and find, removes
 *                  them: five processes
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "session/desk.h"
#include "shell/text.h"

enum {
    TEXT = 1 << 20,
    PIPELINE = 64 << 10, /* bytes of the text whose words are counted */
    DIRECTORIES = 8,
    FILES = 10, /* in each */
    LENGTH = 2000,
};

static char text[TEXT];

/* --- compile --- */

static const char source[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
    "enum { WORDS = 64, LETTERS = 12 };\n\n"
    "struct word {\n    char letters[LETTERS];\n    unsigned times;\n};\n\n"
    "static struct word words[WORDS];\nstatic unsigned state = 1;\n\n"
    "static unsigned next(void)\n{\n    state = state * 1664525u + 1013904223u;\n    return state "
    ">> 16;\n}\n\n"
    "static void spell(struct word *word)\n{\n    size_t length = 3 + next() % (LETTERS - 4);\n\n"
    "    for (size_t i = 0; i < length; i++)\n        word->letters[i] = (char)('a' + next() % "
    "26);\n"
    "    word->times = next() % 100;\n}\n\n"
    "static int compare(const void *one, const void *other)\n{\n"
    "    const struct word *a = one, *b = other;\n\n"
    "    if (a->times != b->times)\n        return a->times < b->times ? 1 : -1;\n"
    "    return strcmp(a->letters, b->letters);\n}\n\n"
    "static unsigned long sum(void)\n{\n    unsigned long total = 0;\n\n"
    "    for (int i = 0; i < WORDS; i++)\n        for (size_t j = 0; words[i].letters[j]; j++)\n"
    "            total = (total * 31 + (unsigned char)words[i].letters[j] + words[i].times) % "
    "1000003;\n"
    "    return total;\n}\n\n"
    "int main(void)\n{\n    for (int i = 0; i < WORDS; i++)\n        spell(&words[i]);\n"
    "    qsort(words, WORDS, sizeof *words, compare);\n    printf(\"%lu\\n\", sum());\n    return "
    "0;\n}\n";

static void compile(void)
{
    struct stat made;

    desk_run("exec cc -O1 -o program program.c");
    if (stat("program", &made) != 0 || !S_ISREG(made.st_mode) || unlink("program") != 0)
        kit_error("cc made no program (%s): is it a compiler?", strerror(errno));
}

static void prepare_compile(void)
{
    char said[64];

    desk_write("program.c", source, sizeof source - 1);
    desk_run("cc -O1 -o program program.c; ./program >said");
    desk_read("said", said, sizeof said);
    kit_check("sum", strtod(said, NULL));
}

/* --- pipeline --- */

/* Of numbers and words, without the blanks before them, in which tools differ. */
static double sum_of_counts(void)
{
    size_t length = desk_read("counts", text, sizeof text), kept = 0;
    int begin = 1;

    for (size_t i = 0; i < length; i++) {
        if (!begin || text[i] != ' ')
            text[kept++] = text[i];
        begin = text[i] == '\n' || (begin && text[i] == ' ');
    }
    return desk_hash(DESK_HASH, text, kept);
}

static double expected;

static void pipeline(void)
{
    desk_run("tr -cs a-z '\\n' <text | sort | uniq -c | sort -rn >counts");
    if (sum_of_counts() != expected)
        kit_error("the words were counted differently from the time before, after %lu times",
                  kit_count);
}

static void prepare_text(void)
{
    if (write_text("text") != 0)
        kit_error("cannot write a text (%s): try another --dir", strerror(errno));
}

static void prepare_pipeline(void)
{
    prepare_text();
    if (truncate("text", PIPELINE) != 0)
        kit_error("cannot shorten a text (%s)", strerror(errno));
    desk_run("tr -cs a-z '\\n' <text | sort | uniq -c | sort -rn >counts");
    expected = sum_of_counts();
    kit_check("sum", expected);
}

/* --- tree --- */

static int lines_of(const char *name)
{
    size_t length = desk_read(name, text, sizeof text);
    int lines = 0;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

static int search(void)
{
    desk_run("tar -xf tree.tar; grep -rl 'reef harbour' tree >found; find tree -type f -name '*.c' "
             ">>found; rm -r tree");
    return lines_of("found");
}

static void tree(void)
{
    if (search() != (int)expected)
        kit_error("another number of files was found than the time before, after %lu times",
                  kit_count);
}

static void write_directory(int number)
{
    char name[64];

    snprintf(name, sizeof name, "tree/part%d", number);
    if (mkdir(name, 0700) != 0)
        kit_error("cannot make %s (%s): try another --dir", name, strerror(errno));
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "tree/part%d/file%d.%c", number, i, i % 3 ? 'c' : 'h');
        desk_write(name, text + (number * FILES + i) * LENGTH, LENGTH);
    }
}

static void prepare_tree(void)
{
    prepare_text();
    desk_read("text", text, sizeof text);
    if (mkdir("tree", 0700) != 0)
        kit_error("cannot make a directory (%s): try another --dir", strerror(errno));
    for (int i = 0; i < DIRECTORIES; i++)
        write_directory(i);
    desk_run("tar -cf tree.tar tree; rm -r tree");
    expected = search();
    kit_check("found", expected);
}

static const struct job {
    const char *name;
    void (*prepare)(void);
    void (*work)(void);
} jobs[] = {
    {"compile", prepare_compile, compile},
    {"pipeline", prepare_pipeline, pipeline},
    {"tree", prepare_tree, tree},
};

static const struct job *chosen(const char *name)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (strcmp(jobs[i].name, name) == 0)
            return &jobs[i];
    kit_error("unknown job=%s: try compile, pipeline or tree", name);
}

int main(int argc, char **argv)
{
    const struct job *job;

    kit_init(argc, argv);
    job = chosen(kit_arg("job", "compile"));
    desk_open(job->name);
    job->prepare();
    kit_start();
    for (;;) {
        int64_t start = kit_now();
        job->work();
        kit_time(kit_now() - start);
        kit_tick(1);
    }
}
