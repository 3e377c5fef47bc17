/* Manual pages in man(7), which man-db (groff) and mandoc read: topics in section 7, commands in section 1. */
#ifndef GLS_CMD_MANUAL_MAN_H
#define GLS_CMD_MANUAL_MAN_H

#include <stdio.h>

#include "cmd/manual.h"
#include "options/options.h"

/* Writes the manual page of a topic in man(7), for section 7. */
bool manual_write_topic_page(FILE *out, const manual_topic *topic);
/* Writes the manual page of a command, for section 1. */
bool manual_write_command_page(FILE *out, const cmd_command *command);
/* Writes the manual page of the program, which lists commands and topics, for section 1. */
bool manual_write_overview_page(FILE *out, const cmd_command *const *commands);

#endif
