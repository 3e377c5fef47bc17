/* Progress on the desktop's launcher icon (Ubuntu dock, Plasma, Plank) through libunity, where it was built in and a
 * session bus exists; notifications by the same way. */
#ifndef GLS_CMD_LAUNCHER_H
#define GLS_CMD_LAUNCHER_H

typedef struct cmd_launcher cmd_launcher;

/* NULL where there is nothing to show progress on, which the others accept. All calls from one thread. */
cmd_launcher *cmd_launcher_create(void);
void cmd_launcher_update(cmd_launcher *launcher, double fraction);
void cmd_launcher_destroy(cmd_launcher *launcher);
/* A notification on the desktop; without a desktop nothing. */
void cmd_launcher_notify(const char *title, const char *text);

#endif
