/* Places that outputs go to. */
#ifndef GLS_CMD_OUTPUT_H
#define GLS_CMD_OUTPUT_H

#include <stdbool.h>

/* A place that cannot be written is told before the work, not after it. Returns an exit code, the message printed. */
int cmd_output_check(const char *path, bool force);

#endif
