/*
 * What a program says, line by line, and its ways out: see kit.h. No stdio on the way through a
 * measurement.
 */
#define _GNU_SOURCE
#include "speech.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "sample.h"

int speech_output = STDOUT_FILENO;
int speech_is_ready;

static char text[1024]; /* lines not yet written */
static size_t text_used;
static void (*cleaner)(int finished);
static void (*reporter)(void);
static const char *reported_error; /* the line of the error for which `reporter` runs, or NULL */
static volatile sig_atomic_t is_ending;

/* --- ways out --- */

_Noreturn void speech_leave(int status, int finished)
{
    is_ending = 1;
    if (cleaner)
        cleaner(finished);
    _exit(status);
}

static void write_all(const char *bytes, size_t number)
{
    for (size_t written = 0; written < number;) {
        ssize_t n = write(speech_output, bytes + written, number - written);
        if (n < 0 && errno != EINTR)
            speech_leave(1, 0); /* nobody reads any more */
        if (n > 0)
            written += (size_t)n;
    }
}

void speech_flush(void)
{
    write_all(text, text_used);
    text_used = 0;
}

void speech_put(const char *words)
{
    for (; *words; words++) {
        if (text_used == sizeof text)
            speech_flush();
        text[text_used++] = *words;
    }
}

void speech_number(int64_t number)
{
    char digits[24];
    char *first = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    speech_put(" ");
    speech_put(first);
}

/*
 * At the end the first thread of a team removes what the others may still use. An error that they
 * see then is not reported: they wait here for the end of the process.
 */
static void wait_for_end(void)
{
    while (is_ending && !sample_is_first())
        pause();
}

/*
 * Ends the program with one line in place of its report. What was kept is dropped, unless
 * kit_at_error has something to report first; an error of that follows the first in its line. The
 * timer is blocked, since its report must not come between. Any thread may call this: the line goes
 * out whole.
 */
static _Noreturn void give_up(const char *kind, int status, const char *format, va_list values)
{
    char line[1024];
    size_t length;
    void (*report)(void) = status ? reporter : NULL; /* a skip has none */
    sigset_t alarm;

    wait_for_end();
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);

    if (reported_error)
        snprintf(line, sizeof line - 1, "%s; afterwards ", reported_error);
    else
        snprintf(line, sizeof line - 1, "%s", kind);
    length = strlen(line);
    vsnprintf(line + length, sizeof line - length - 1, format, values);

    if (report) {
        reporter = NULL;
        reported_error = line;
        report();
        if (speech_is_ready)
            speech_flush();
    }
    length = strlen(line);
    line[length++] = '\n';
    write_all(line, length);
    speech_leave(status, 0);
}

void kit_skip(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    give_up("skip ", 0, format, values);
}

void kit_error(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    give_up("error ", 1, format, values);
}

void kit_at_error(void (*report)(void))
{
    reporter = report;
}

void speech_clean(void)
{
    is_ending = 1;
    if (cleaner)
        cleaner(1);
    cleaner = NULL;
}

void kit_at_end(void (*clean)(int finished))
{
    cleaner = clean;
}

/* --- lines of the report --- */

/* Copies that are threads prepare one by one, and say the same: it is kept once. */
static int is_kept(const char *line)
{
    return memmem(text, text_used, line, strlen(line)) != NULL;
}

static void keep(const char *line)
{
    if (is_kept(line))
        return;
    if (text_used + strlen(line) > sizeof text)
        kit_error("too many checks and values: %s", line);
    speech_put(line);
}

void kit_check(const char *name, double number)
{
    char line[128];

    snprintf(line, sizeof line, "check %s %.15g\n", name, number);
    keep(line);
}

void kit_value(const char *name, double number, const char *unit)
{
    char line[128];

    if (!sample_is_first())
        return;
    snprintf(line, sizeof line, "value %s %.15g %s\n", name, number, unit);
    keep(line);
}

void kit_note(const char *format, ...)
{
    char line[256] = "note ";
    const size_t lead = strlen(line);
    va_list values;
    int length;

    if (!sample_is_first())
        return;
    va_start(values, format);
    length = vsnprintf(line + lead, sizeof line - lead - 1, format, values);
    va_end(values);
    memcpy(line +
               (length < (int)(sizeof line - lead - 1) ? lead + (size_t)length : sizeof line - 2),
           "\n", 2);
    keep(line);
}

void kit_report(const char *format, ...)
{
    char line[256];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    speech_put(line);
}

void kit_slice(int64_t start, int64_t end, unsigned long count)
{
    speech_put("slice");
    speech_number(start);
    speech_number(end);
    speech_number((int64_t)count);
    speech_put("\n");
}
