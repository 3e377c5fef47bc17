/* Commands that make weights of a tractogram: how it is opened and read to its end, and the sidecar of what was made.
 */
#ifndef GLS_CMD_TRACT_FILES_H
#define GLS_CMD_TRACT_FILES_H

#include "cmd/tract.h"

struct cJSON;

/* Opens a tractogram. */
gls_status tract_open(const tract_input *input, const char *path, bool allow_invalid, gls_tractogram_reader **reader);
/* Appends all that is left in the reader to the sink; a signal ends it with GLS_ERR_CANCELLED, and a message that names
 * output, which is not written. To be used between cmd_interrupt_catch() and cmd_interrupt_release(). */
gls_status tract_pump(gls_tractogram_reader *reader, const gls_sink *sink, const char *output);

/* Checks where an output and its sidecar go; *sidecar is from malloc. inputs may have NULL entries. */
gls_status tract_output_check(const char *output, bool force, const char *const *inputs, size_t n_inputs,
                              char **sidecar);
/* A sidecar with software, command line, inputs, parameters and, unless NULL, the path of the output. */
struct cJSON *tract_sidecar_begin(const char *description, const cmd_command *command, const void *values,
                                  const cmd_arguments *arguments, const char *const *inputs, size_t n_inputs,
                                  const char *output);
/* Writes it and frees root. */
gls_status tract_sidecar_write(const char *path, bool force, struct cJSON *root);

#endif
