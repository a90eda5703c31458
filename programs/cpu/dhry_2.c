/* Dhrystone, second translation unit: what the first one calls. */
#include <string.h>

#include "dhry.h"

static int func_3(enum ident value)
{
    return value == IDENT_3;
}

void proc_6(enum ident value, enum ident *result)
{
    *result = value;
    if (!func_3(value))
        *result = IDENT_4;
    switch (value) {
    case IDENT_1:
        *result = IDENT_1;
        break;
    case IDENT_2:
        *result = int_global > 100 ? IDENT_1 : IDENT_4;
        break;
    case IDENT_3:
        *result = IDENT_2;
        break;
    case IDENT_4:
        break;
    case IDENT_5:
        *result = IDENT_3;
        break;
    }
}

void proc_7(int a, int b, int *result)
{
    int local = a + 2;

    *result = b + local;
}

void proc_8(int one[50], int two[50][50], int x, int y)
{
    REG int i;
    REG int at = x + 5;

    one[at] = y;
    one[at + 1] = one[at];
    one[at + 30] = at;
    for (i = at; i <= at + 1; i++)
        two[at][i] = at;
    two[at][at - 1] += 1;
    two[at + 20][at] = one[at];
    int_global = 5;
}

enum ident func_1(char a, char b)
{
    char copy = a, other = copy;

    if (other != b)
        return IDENT_1;
    letter_1_global = copy;
    return IDENT_2;
}

int func_2(const char *a, const char *b)
{
    REG int at = 2;
    char letter = 'A';

    while (at <= 2)
        if (func_1(a[at], b[at + 1]) == IDENT_1) {
            letter = 'A';
            at += 1;
        }
    if (letter >= 'W' && letter < 'Z')
        at = 7;
    if (letter == 'R')
        return 1;
    if (strcmp(a, b) > 0) {
        at += 7;
        int_global = at;
        return 1;
    }
    return 0;
}
