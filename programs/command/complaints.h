/* What commands say on stderr. */
#ifndef COMMAND_COMPLAINTS_H
#define COMMAND_COMPLAINTS_H

enum { MAX_SERVERS = 8 };

/*
 * Whose words they are: a server that --setup started may go on to speak while commands are
 * executed. Servers of --serve have speakers of their own, from FIRST_SERVER.
 */
enum speaker { COMMAND, AROUND, FIRST_SERVER, MAX_SPEAKERS = FIRST_SERVER + MAX_SERVERS };

/* Makes the stderr of commands and of servers. Comes before this program adopts orphans. */
void complaints_init(long servers);

/* Has the next command, which is a speaker's, begin with nothing said. */
void complaints_begin(enum speaker speaker);

/* Before this program ends: has what commands said shown to the last byte. */
void complaints_end(void);

/* The file that is the stderr of the command that was begun last. */
int complaints_file(void);

/* The last line that this command has said; empty without one. */
const char *complaints_last(void);

/* The last line of a speaker's last command. */
const char *complaints_last_of(enum speaker speaker);

#endif
