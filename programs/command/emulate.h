/*
 * The instructions of a command that valgrind emulates: of all of it, where the processor's
 * counters are hidden, or by function.
 */
#ifndef COMMAND_EMULATE_H
#define COMMAND_EMULATE_H

enum emulated {
    EMULATE_ALL,        /* how many there are */
    EMULATE_BY_ADDRESS, /* how many at each address of each file, for crates/profile */
};

/*
 * The words that execute `words` by valgrind, which writes its counts into the folder; NULL if
 * there is no memory. The caller frees the array. The words are valid until the next call.
 */
char **emulate_words(char **words, const char *folder, enum emulated what);

/* True if there is a valgrind in $PATH. */
int emulate_is_possible(void);

/* Makes the folder, without the files of an earlier one; returns 0, or -1 and errno. */
int emulate_make_folder(const char *folder);
void emulate_remove_folder(const char *folder);

/* The instructions of all processes that have a file in the folder; -1 if no file has a count. */
long long emulate_count(const char *folder);

#endif
