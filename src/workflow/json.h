/* Parts that all sidecars have, and numbers that JSON readers get back exactly. */
#ifndef GLS_WORKFLOW_SIDECAR_JSON_H
#define GLS_WORKFLOW_SIDECAR_JSON_H

#include <cJSON.h>

#include "util/status.h"
#include "workflow/series.h"

/* The shortest decimal that reads back as the same double; null where it is not finite. */
void gls_json_double(cJSON *object, const char *key, double v);
void gls_json_append_double(cJSON *array, double v);
/* A number up to 2^53, which every reader holds exactly; a string above. */
void gls_json_uint(cJSON *object, const char *key, uint64_t v);
/* Back from there; false: it is no such number. */
bool gls_json_get_uint(const cJSON *value, uint64_t *n);
/* A copy with every number as the functions above write it: cJSON shortens numbers that read back as nearly the same.
 */
cJSON *gls_json_exact(const cJSON *entry);
/* Whether two values that were read are the same, numbers to their last bit: cJSON_Compare() lets them differ. */
bool gls_json_same(const cJSON *a, const cJSON *b);
/* The key of a member that only one of two objects has, or that differs; NULL: there is none. */
const char *gls_json_difference(const cJSON *a, const cJSON *b);
/* Takes over the object and gives it with its numbers as a file has them; NULL: out of memory. */
cJSON *gls_json_written(cJSON *object);
/* What a regular file of at most max_bytes holds; NULL: it cannot be read, or is no JSON. */
cJSON *gls_json_read(const char *path, size_t max_bytes);
/* The first member of an object; NULL where it is none, or empty: what an array holds has no names. */
const cJSON *gls_json_members(const cJSON *object);

/* "software" and "command_line"; "warnings". */
void gls_sidecar_add_software(cJSON *root, int argc, char *const *argv);
void gls_sidecar_add_warnings(cJSON *root, const gls_warnings *warnings);
/* An input file with size and checksum, where there is one. */
void gls_sidecar_add_file(cJSON *inputs, const gls_input_file *file);
void gls_sidecar_add_grid(cJSON *root, const gls_grid *grid);
/* Table and shells. */
void gls_sidecar_add_gradients(cJSON *root, const gls_series *series);
#endif
