/*
 * Dhrystone 2.1 in two translation units, as its rules require: the compiler must not see through
 * the calls from one to the other. So there is no link-time optimisation either.
 *
 * Written from the definition of its work: the same statements on the same data in the same order.
 */
#ifndef DHRY_H
#define DHRY_H

/* Empty, or `register`. */
#ifndef REG
#define REG
#endif

enum ident { IDENT_1, IDENT_2, IDENT_3, IDENT_4, IDENT_5 };

typedef char string_30[31];

struct record {
    struct record *next;
    enum ident discriminant;
    union {
        struct {
            enum ident ident;
            int number;
            char string[31];
        } first;
        struct {
            enum ident ident;
            char string[31];
        } second;
        struct {
            char letter_1, letter_2;
        } third;
    } variant;
};

extern int int_global;
extern char letter_1_global;

void proc_6(enum ident value, enum ident *result);
void proc_7(int a, int b, int *result);
void proc_8(int one[50], int two[50][50], int x, int y);
enum ident func_1(char a, char b);
int func_2(const char *a, const char *b);

#endif
