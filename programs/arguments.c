/* The arguments of a program, `key=value`: see kit.h. */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine.h"
#include "kit.h"
#include "place.h"
#include "sample.h"

enum {
    MAX_ARGS = 32,
    MAX_NAMES = 64,
};

static const char *known[MAX_NAMES]; /* the names that were requested */
static int known_number, common_number; /* the first are every program's */
static char **arguments;
static int argument_number;
static uint32_t asked; /* bit i: arguments[i] was requested */

void kit_init(int argc, char **argv)
{
    arguments = argv + 1;
    while (argument_number < argc - 1 && strcmp(arguments[argument_number], "--") != 0)
        argument_number++;
    if (argument_number > MAX_ARGS)
        kit_error("%d arguments are more than %d: a command goes after --", argument_number,
                  MAX_ARGS);
    place_init();
    confine_init();
    sample_init();
    common_number = known_number;
}

static int is_known(const char *name)
{
    for (int i = 0; i < known_number; i++)
        if (strcmp(known[i], name) == 0)
            return 1;
    return 0;
}

const char *kit_arg(const char *name, const char *missing)
{
    size_t length = strlen(name);
    const char *value = missing;

    if (!is_known(name) && known_number < MAX_NAMES)
        known[known_number++] = name;
    for (int i = 0; i < argument_number; i++)
        if (strncmp(arguments[i], name, length) == 0 && arguments[i][length] == '=') {
            asked |= UINT32_C(1) << i;
            value = arguments[i] + length + 1;
        }
    return value;
}

long kit_arg_number(const char *name, long missing, long low, long high)
{
    const char *value = kit_arg(name, NULL);
    char *end;
    long number;

    if (!value)
        return missing;
    errno = 0;
    number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < low || number > high)
        kit_error("%s=%s is not a whole number from %ld to %ld", name, value, low, high);
    return number;
}

uint64_t kit_bytes(const char *text, const char **end)
{
    static const char units[] = "kmg";
    char *after;
    uint64_t number = strtoull(text, &after, 10);
    const char *unit = *after ? strchr(units, *after | 0x20) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;

    *end = after + (unit != NULL);
    if (*text < '0' || *text > '9')
        *end = text; /* no sign, no space */
    return number > UINT64_MAX >> shift ? UINT64_MAX : number << shift;
}

char **kit_command(void)
{
    char **word = arguments + argument_number;

    return word[0] && word[1] ? word + 1 : NULL;
}

void arguments_refuse_unknown(void)
{
    char names[256] = "";
    size_t used = 0;

    for (int i = 0; i < argument_number; i++) {
        if (asked >> i & 1)
            continue;
        for (int k = common_number; k < known_number && used < sizeof names; k++)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s=", known[k]);
        if (used == 0)
            kit_error(
                "unknown argument %s: this program takes none of its own, only those of kit.h",
                arguments[i]);
        kit_error("unknown argument %s: try one of%s, or what every program takes (kit.h)",
                  arguments[i], names);
    }
}
