/* SIGINT and SIGTERM. Outside catch .. release the program ends at once with exit code 130: there is nothing to clean
 * up. Inside, where temporary files exist, they are a request to stop; a second one of the same kind ends the program
 * at once. */
#ifndef GLS_CMD_INTERRUPT_H
#define GLS_CMD_INTERRUPT_H

#include <stdbool.h>

/* Once, at the start of the program. */
void cmd_interrupt_init(void);
void cmd_interrupt_catch(void);
void cmd_interrupt_release(void);
/* Whether one came since catch. */
bool cmd_interrupted(void);

#endif
