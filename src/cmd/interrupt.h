/* SIGINT, SIGTERM, SIGHUP and SIGXCPU. Outside catch .. release the program ends at once with exit code 128 and the
 * signal's number: there is nothing to clean up. Inside, where unfinished files exist, they are a request to stop; a
 * second one ends the program at once. They end waiting for an input that is a pipe, too. After done, when all outputs
 * are complete, the first one changes nothing.
 * SIGPIPE and SIGXFSZ are ignored, so that a write fails with a message instead. */
#ifndef GLS_CMD_INTERRUPT_H
#define GLS_CMD_INTERRUPT_H

#include <stdbool.h>

/* Once, at the start of the program. */
void cmd_interrupt_init(void);
/* Calls nest. */
void cmd_interrupt_catch(void);
void cmd_interrupt_release(void);
void cmd_interrupt_done(void);
/* Whether one came since catch, and asks for an end. */
bool cmd_interrupted(void);
/* The opposite. */
bool cmd_goes_on(void);
/* The exit code of a program that such a signal ended. */
int cmd_interrupt_code(void);

#endif
