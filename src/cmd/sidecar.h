/* The JSON file beside a tractogram: everything needed to know how it was made. */
#ifndef GLS_CMD_SIDECAR_H
#define GLS_CMD_SIDECAR_H

#include "cmd/track_run.h"

typedef struct cmd_sidecar cmd_sidecar;

/* Opens a temporary file beside path, so that a place that cannot be written is found before the work; nothing appears under path before finish. */
gls_status cmd_sidecar_create(const char *path, cmd_sidecar **sidecar, char *error, size_t error_size);
/* Writes, moves to its name and frees. On failure nothing is left behind. */
gls_status cmd_sidecar_finish(cmd_sidecar *sidecar, const track_run *run, char *error, size_t error_size);
/* Removes and frees; accepts NULL. */
void cmd_sidecar_abort(cmd_sidecar *sidecar);

/* The text, from malloc; NULL without memory. */
char *cmd_sidecar_text(const track_run *run);

#endif
