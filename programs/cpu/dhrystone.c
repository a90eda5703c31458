/*
 * Dhrystone 2.1, first translation unit: the data, the loop, and the procedures that may be inlined
 * into it.
 */
#include <stdlib.h>
#include <string.h>

#include "dhry.h"
#include "kit.h"

enum { PROOF = 500 };

/* Global and not static, as the definition has it: what is stored there must really be stored. */
struct record *record_main, *record_next;
int int_global, bool_global;
char letter_1_global, letter_2_global;
int array_1[50];
int array_2[50][50];

void proc_1(REG struct record *record);
void proc_2(int *number);
void proc_3(struct record **record);
void proc_4(void);
void proc_5(void);

void proc_1(REG struct record *record)
{
    REG struct record *next = record->next;

    *record->next = *record_main;
    record->variant.first.number = 5;
    next->variant.first.number = record->variant.first.number;
    next->next = record->next;
    proc_3(&next->next);
    if (next->discriminant == IDENT_1) {
        next->variant.first.number = 6;
        proc_6(record->variant.first.ident, &next->variant.first.ident);
        next->next = record_main->next;
        proc_7(next->variant.first.number, 10, &next->variant.first.number);
    } else {
        *record = *record->next;
    }
}

void proc_2(int *number)
{
    int local = *number + 10;
    enum ident flag = IDENT_2; /* anything but the first */

    do
        if (letter_1_global == 'A') {
            local -= 1;
            *number = local - int_global;
            flag = IDENT_1;
        }
    while (flag != IDENT_1);
}

void proc_3(struct record **record)
{
    if (record_main)
        *record = record_main->next;
    proc_7(10, int_global, &record_main->variant.first.number);
}

void proc_4(void)
{
    int is_a = letter_1_global == 'A';

    bool_global = is_a | bool_global;
    letter_2_global = 'B';
}

void proc_5(void)
{
    letter_1_global = 'A';
    bool_global = 0;
}

static void check_records(void)
{
    kit_check("main_discriminant", record_main->discriminant);
    kit_check("main_ident", record_main->variant.first.ident);
    kit_check("main_number", record_main->variant.first.number);
    kit_check("next_ident", record_next->variant.first.ident);
    kit_check("next_number", record_next->variant.first.number);
    kit_check("strings",
              strcmp(record_main->variant.first.string, record_next->variant.first.string) == 0);
}

static void check_globals(void)
{
    kit_check("int_global", int_global);
    kit_check("bool_global", bool_global);
    kit_check("letters", letter_1_global == 'A' && letter_2_global == 'B');
    kit_check("array_1", array_1[8]);
    kit_check("array_2", array_2[8][7]);
}

/*
 * Inlined twice: once as a proof with `runs`, and once for ever (0), where the compiler may use the
 * fact that nothing is read after the loop. That is the code this benchmark has always had.
 */
static inline __attribute__((always_inline)) void run(unsigned long runs)
{
    int number_1 = 0, number_3 = 0;
    REG int number_2 = 0;
    REG char letter;
    enum ident ident = IDENT_1;
    string_30 string_1, string_2;

    strcpy(string_1, "DHRYSTONE PROGRAM, 1'ST STRING");
    for (; runs == 0 || kit_count != runs; kit_count++) {
        proc_5();
        proc_4();
        number_1 = 2;
        number_2 = 3;
        strcpy(string_2, "DHRYSTONE PROGRAM, 2'ND STRING");
        ident = IDENT_2;
        bool_global = !func_2(string_1, string_2);
        while (number_1 < number_2) {
            number_3 = 5 * number_1 - number_2;
            proc_7(number_1, number_2, &number_3);
            number_1 += 1;
        }
        proc_8(array_1, array_2, number_1, number_3);
        proc_1(record_main);
        for (letter = 'A'; letter <= letter_2_global; ++letter)
            if (ident == func_1(letter, 'C')) {
                proc_6(IDENT_1, &ident);
                strcpy(string_2, "DHRYSTONE PROGRAM, 3'RD STRING");
                number_2 = (int)kit_count;
                int_global = (int)kit_count;
            }
        number_2 = number_2 * number_1;
        number_1 = number_2 / number_3;
        number_2 = 7 * (number_2 - number_3) - number_1;
        proc_2(&number_1);
    }
    kit_check("number_1", number_1);
    kit_check("number_2", number_2);
    kit_check("number_3", number_3);
    kit_check("ident", ident);
    kit_check("string_2", strcmp(string_2, "DHRYSTONE PROGRAM, 2'ND STRING") == 0);
}

static void prepare(void)
{
    record_next = malloc(sizeof *record_next);
    record_main = malloc(sizeof *record_main);
    if (!record_next || !record_main)
        kit_error("no memory for two records");
    record_main->next = record_next;
    record_main->discriminant = IDENT_1;
    record_main->variant.first.ident = IDENT_3;
    record_main->variant.first.number = 40;
    strcpy(record_main->variant.first.string, "DHRYSTONE PROGRAM, SOME STRING");
    array_2[8][7] = 10;
}

int main(int argc, char **argv)
{
    kit_init(argc, argv);
    prepare();
    run(PROOF);
    check_records();
    check_globals();
    kit_count = 0;
    kit_start();
    run(0);
}
