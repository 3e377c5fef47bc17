/* Sidecars: the JSON file beside an output that says how the output was made. */
#ifndef GLS_WORKFLOW_SIDECAR_H
#define GLS_WORKFLOW_SIDECAR_H

#include <cJSON.h>

#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "workflow/run.h"
#include "workflow/series.h"

/* --- The JSON file beside an output, which says how that was made. */

/* The member that tells of a run's files: an object of each by its role, see workflow/sidecar.h. */
#define GLS_SIDECAR_OUTPUTS "outputs"
/* More no sidecar has. */
#define GLS_SIDECAR_MAX_BYTES ((size_t)256 << 20)

/* Where the sidecar of a tractogram goes if nobody says: x.json for x.tck, or x.tck.json where x.json describes another
 * output that lies beside it still, or is no sidecar of ours. From malloc; NULL: out of memory. */
char *gls_sidecar_name(const char *output);
/* The other of the two, for a run whose first choice is taken while it runs: x.tck.json. From malloc. */
char *gls_sidecar_second_name(const char *output);
/* Where it lies, once written. */
char *gls_sidecar_find(const char *output);
/* GLS_ERR_OUTPUT where a file has the name that is no sidecar of ours: it is never replaced, whatever the options. */
gls_status gls_sidecar_check_free(const char *path);
/* The same, and where the file is a sidecar of ours that describes none of the outputs own (NULL entries count for
 * nothing), but one that still lies beside it. */
gls_status gls_sidecar_check(const char *path, const char *const *own, size_t n_own);

/* Reads the sidecar of any command. *text: as it stands in the file, from malloc; both are the caller's even after an
 * error. GLS_ERR_INPUT: damaged, or of another program; GLS_ERR_UNSUPPORTED: of a newer version. */
gls_status gls_sidecar_read(const char *path, char **text, cJSON **sidecar);
/* Whether it is of a run of 'glslines track', or of its shards merged. */
bool gls_sidecar_describes_tracking(const cJSON *sidecar);

/* Writes text and a line end to an output that was opened for the sidecar at path, and gives it its name. NULL text:
 * memory ran out. Whatever happens, output is then as after gls_output_discard(). */
gls_status gls_sidecar_finish(gls_output *output, const char *path, const char *text);
/* The same at once, in group unless that is NULL; an existing file is an error unless force. */
gls_status gls_sidecar_write(const char *path, bool force, gls_output_group *group, const char *text);
/* The timeline of gls_trace_start(), which ends, to a file of its own. */
gls_status gls_sidecar_write_trace(const char *path, bool force);

/* --- Parts that all sidecars have, and numbers that JSON readers get back exactly. */

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

/* --- Files that a run wrote, as its sidecar tells them to later runs: their size and a checksum of what is in them. */

/* Adds size and checksum to an entry: "xxh3_64", or of a large file "xxh3_64_of_parts", which tells files of two runs
 * apart and takes no time. GLS_ERR_INPUT: it cannot be read. */
gls_status gls_written_note(cJSON *entry, const char *path);
/* The same of an output that is complete and has not got its name yet. */
gls_status gls_written_note_output(cJSON *entry, const gls_output *output);
/* Whether the file at path is the one that was noted: a regular file of this size and checksum. An entry that has the
 * time of its last change, too ("modified"), needs no checksum where that is the same. */
bool gls_written_is(const cJSON *entry, const char *path);
/* Adds the time of the last change of a file that has its name. */
gls_status gls_written_note_time(cJSON *entry, const char *path);

#endif
