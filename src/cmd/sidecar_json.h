/* Parts of the sidecars of all commands, and numbers that JSON readers get back exactly. */
#ifndef GLS_CMD_SIDECAR_JSON_H
#define GLS_CMD_SIDECAR_JSON_H

#include <cJSON.h>

#include "cmd/series.h"

/* The shortest decimal that reads back as the same double; null where it is not finite. */
void json_double(cJSON *object, const char *key, double v);
void json_append_double(cJSON *array, double v);
/* A number up to 2^53, which every reader holds exactly; a string above. */
void json_uint(cJSON *object, const char *key, uint64_t v);

/* "software" and "command_line". */
void sidecar_add_software(cJSON *root, const cmd_arguments *arguments);
/* An input file, where there is one. */
void sidecar_add_file(cJSON *inputs, const cmd_file *file);
void sidecar_add_grid(cJSON *root, const gls_grid *grid);
/* Table and shells; rule names the frame of the vectors. */
void sidecar_add_gradients(cJSON *root, const cmd_series *series, const char *rule);
/* Every option of a command with its unit in the key. */
void sidecar_add_options(cJSON *parameters, const cmd_command *command, const void *values);
/* A value that had no part in the result would mislead: null in its place. */
void sidecar_drop_option(cJSON *parameters, const cmd_command *command, const char *name);

#endif
