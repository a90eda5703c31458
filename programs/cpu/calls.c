/*
 * Calls of a function that does almost nothing (the absolute value of a number), each independent
 * of the one before.
 *
 *   kind=direct     of this program
 *   kind=indirect   through a pointer
 *   kind=plt        of the C library, through the table that the dynamic linker fills
 *   wrong=1         spoils the answer, so that a test can see the check fail
 */
#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>

#include "cpu/opaque.h"
#include "kit.h"

enum { CALLS = 16, ROUNDS = 1000 };

/* Under a name of our own, so that it is an unknown function to the compiler. */
extern intmax_t library_magnitude(intmax_t number) __asm__("imaxabs");

__attribute__((noinline)) static intmax_t magnitude(intmax_t number)
{
    OPAQUE(number);
    return number < 0 ? -number : number;
}

#define CALL(function) result = number; OPAQUE(result); result = function(result); OPAQUE(result);
#define FOUR(function) CALL(function) CALL(function) CALL(function) CALL(function)

#define ROUNDS_OF(name, prepare, function)                                  \
    static intmax_t name(intmax_t number)                                   \
    {                                                                       \
        intmax_t result = 0;                                                \
        prepare                                                             \
        for (int i = 0; i < ROUNDS; i++) {                                  \
            FOUR(function) FOUR(function) FOUR(function) FOUR(function)     \
        }                                                                   \
        return result;                                                      \
    }

ROUNDS_OF(direct, , magnitude)
ROUNDS_OF(indirect,
          intmax_t (*volatile place)(intmax_t) = magnitude; intmax_t (*pointer)(intmax_t) = place;,
          pointer)
ROUNDS_OF(plt, , library_magnitude)

/* A program that no dynamic linker started has no such table. */
static int has_plt(void)
{
#ifdef __FreeBSD__
    void *linker = NULL;

    return elf_aux_info(AT_BASE, &linker, sizeof linker) == 0 && linker;
#else
    return getauxval(AT_BASE) != 0;
#endif
}

int main(int argc, char **argv)
{
    intmax_t (*rounds)(intmax_t number) = NULL;
    const char *kind;
    intmax_t wrong;

    kit_init(argc, argv);
    kind = kit_arg("kind", "direct");
    wrong = kit_arg_number("wrong", 0, 0, 1);
    if (strcmp(kind, "direct") == 0)
        rounds = direct;
    else if (strcmp(kind, "indirect") == 0)
        rounds = indirect;
    else if (strcmp(kind, "plt") == 0)
        rounds = plt;
    else
        kit_error("unknown kind=%s: try direct, indirect or plt", kind);
    if (rounds == plt && !has_plt())
        kit_skip("this program is linked statically, so calls of the C library are direct ones: "
                 "try the native build");
    kit_check("answer", (double)(rounds(-42) ^ wrong));
    kit_start();
    for (;;) {
        rounds(-42);
        kit_piece(ROUNDS * CALLS);
    }
}
