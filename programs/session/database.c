/*
 * A user of a database: one sqlite3 shell, held open by pipes, does one transaction after the
 * other: an insert and a commit by the defaults, which wait for the disk, acknowledged by a select
 * of the row's number. One count is one transaction, and each is timed. At the end the rows are
 * counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "session/desk.h"

enum {
    PROOFS = 2,
    MAX_ANSWER_MS = 10000, /* of the last answer */
};

static int to = -1, from = -1; /* the shell's stdin and stdout */
static unsigned long rows;     /* acknowledged */

static void start_shell(void)
{
    char name[] = "sqlite3", batch[] = "-batch", init[] = "-init", none[] = "/dev/null",
         file[] = "purchases.db";
    char *words[] = {name, batch, init, none, file, NULL};
    int asked[2], answered[2];

    if (pipe2(asked, O_CLOEXEC) != 0 || pipe2(answered, O_CLOEXEC) != 0)
        kit_error("cannot make pipes (%s): is `ulimit -n` too low?", strerror(errno));
    desk_start(words, asked[0], answered[1]);
    close(asked[0]);
    close(answered[1]);
    to = asked[1];
    from = answered[0];
}

/* Of no more than the pipe takes at once. */
static void ask(const char *words)
{
    if (write(to, words, strlen(words)) != (ssize_t)strlen(words))
        kit_error("sqlite3 takes no more words after %lu rows (%s): run it by hand to see why",
                  rows, strerror(errno));
}

/* The number in the shell's next line. */
static unsigned long answer(void)
{
    char line[64], *end;
    size_t used = 0;
    unsigned long number;

    do {
        ssize_t n = read(from, line + used, sizeof line - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            kit_error("sqlite3 ended after %lu rows: run it by hand to see why", rows);
        used += (size_t)n;
    } while (line[used - 1] != '\n' && used < sizeof line - 1);
    line[used] = '\0';
    number = strtoul(line, &end, 10);
    if (end == line || *end != '\n')
        kit_error("sqlite3 said '%.*s' in place of a number, after %lu rows",
                  (int)strcspn(line, "\n"), line, rows);
    return number;
}

static void transact(void)
{
    char words[256];

    snprintf(words, sizeof words,
             "BEGIN;\nINSERT INTO purchases(customer, pence, what) VALUES(%lu, %lu, 'a lantern and "
             "a coil of rope');\n"
             "COMMIT;\nSELECT max(number) FROM purchases;\n",
             rows * 7919 % 1000, rows % 10000);
    ask(words);
    if (answer() != rows + 1)
        kit_error("the shell acknowledged another row than number %lu", rows + 1);
    rows++;
}

/*
 * The answer to what was asked last may still be on its way, or half of it read, before the one
 * that begins with a star.
 */
static unsigned long count_rows(void)
{
    static const char words[] = "SELECT '*' || count(*) FROM purchases;\n";
    struct pollfd pipe = {.fd = from, .events = POLLIN};
    char text[128], *star = NULL;
    size_t used = 0;

    if (write(to, words, sizeof words - 1) != sizeof words - 1)
        return 0;
    while (used < sizeof text - 1 && poll(&pipe, 1, MAX_ANSWER_MS) > 0) {
        ssize_t n = read(from, text + used, sizeof text - 1 - used);
        if (n <= 0)
            return 0;
        used += (size_t)n;
        text[used] = '\0';
        star = strchr(text, '*');
        if (star && strchr(star, '\n'))
            return strtoul(star + 1, NULL, 10);
    }
    return 0;
}

/* The one that was not acknowledged when the window ended may be there. */
static void check_rows(int finished)
{
    unsigned long found;

    if (!finished)
        return;
    found = count_rows();
    kit_check("kept", found == rows || found == rows + 1);
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    desk_open("database");
    desk_after(check_rows);
    start_shell();
    ask("CREATE TABLE purchases(number INTEGER PRIMARY KEY, customer INTEGER, pence INTEGER, what "
        "TEXT);\n"
        "CREATE INDEX customers ON purchases(customer);\nSELECT 0;\n");
    if (answer() != 0)
        kit_error("sqlite3 made no table: run it by hand to see why");
    for (int i = 0; i < PROOFS; i++)
        transact();
    kit_start();
    for (;;) {
        int64_t start = kit_now();
        transact();
        kit_time(kit_now() - start);
        kit_tick(1);
    }
}
