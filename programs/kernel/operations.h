/* What core.c times: each returns how many of the given number were right. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

enum {
    FILES = 32, /* of a round */
    AREAS = 16, /* mappings of a round */
};

extern long size;
extern int number, file;

/* Each ends the program where it does not work. */
void make_null(void);
void make_file(void);
void make_names(void); /* of the files of a round */
void make_fault(void);
void make_handler(void);
void make_pair(void);
void make_ready(void);
void make_files(void); /* descriptors of one */
void make_epoll(void);
void make_pages(void);

int handle(int signal, void (*handler)(int)); /* installs it, and returns whether it could */

void remove_file(int finished);
void rewind_file(void);
void create_all(void);
void delete_all(void);
void map_all(void);
void unmap_all(void);
void send_messages(void);
void take_messages(void);
void wait_for_children(void);
void join_thread(void);

int null_call(int times);
int null_io(int times);
int stat_file(int times);
int open_file(int times);
int read_file(int times);
int write_file(int times);
int create_files(int times);
int delete_files(int times);
int map_file(int times);
int unmap_file(int times);
int touch_file(int times);
int map_sparsely(int times);
int fault(int times);
int install_handler(int times);
int catch_signal(int times);
int send_message(int times);
int receive_message(int times);
int select_ready(int times);
int poll_ready(int times);
int epoll_ready(int times);
int fork_child(int times);
int start_thread(int times);
int fork_exit(int times);
int fork_exec(int times);
int fork_shell(int times);

#endif
