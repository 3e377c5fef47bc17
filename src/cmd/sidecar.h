/* The JSON file beside an output, which says how that was made: it appears under its name only when complete. */
#ifndef GLS_CMD_SIDECAR_H
#define GLS_CMD_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/common.h>

typedef struct cmd_sidecar cmd_sidecar;

/* Where the sidecar of a tractogram goes if nobody says: x.json for x.tck, or x.tck.json where x.json describes another
 * output that lies beside it still. From malloc; NULL: out of memory. */
char *cmd_sidecar_name(const char *output);
/* Where it lies, once written. */
char *cmd_sidecar_find(const char *output);
/* Like cmd_output_check() for a sidecar that has but one name: one that describes another output is kept even with
 * force. own: the outputs that are to be described, of which NULL are left out. */
int cmd_sidecar_check(const char *path, const char *const *own, size_t n_own, bool force);

/* Opens a temporary file beside path, so that a place that cannot be written is found before the work; nothing appears
 * under path before finish. */
gls_status cmd_sidecar_create(const char *path, cmd_sidecar **sidecar, char *error, size_t error_size);
/* Writes text and a line end, moves to its name and frees. On failure nothing is left behind. */
gls_status cmd_sidecar_finish(cmd_sidecar *sidecar, const char *text, char *error, size_t error_size);
/* Removes and frees; accepts NULL. */
void cmd_sidecar_abort(cmd_sidecar *sidecar);

/* All at once, replacing a file. */
gls_status cmd_sidecar_write(const char *path, const char *text, char *error, size_t error_size);

#endif
