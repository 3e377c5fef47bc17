/* Sidecars: the JSON file beside an output that says how the output was made. */
#ifndef GLS_RECORD_SIDECAR_H
#define GLS_RECORD_SIDECAR_H

#include <cJSON.h>

#include <glslines/image.h>

#include "record/inputs.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"

/* --- Names of sidecars, reading, writing. */

/* Member of a sidecar with the files that the run wrote: one object for each, by role. */
#define GLS_SIDECAR_OUTPUTS "outputs"
/* Largest sidecar that is read. */
#define GLS_SIDECAR_MAX_BYTES ((size_t)256 << 20)

/* Default name of the sidecar of an output: x.json for x.tck. x.tck.json if the output has this sidecar already, or if
 * x.json is a file of another kind or the sidecar of another output that still exists; x.json.json for x.json. From
 * malloc; NULL: out of memory. */
char *gls_sidecar_name(const char *output);
/* The second name, x.tck.json, for a run whose sidecar x.json another run has written meanwhile. From malloc; NULL: out
 * of memory. */
char *gls_sidecar_second_name(const char *output);
/* Name of the sidecar of an output x.tck: x.tck.json if it exists, else x.json. From malloc; NULL: out of memory. */
char *gls_sidecar_find(const char *output);
/* Returns GLS_ERR_OUTPUT if a file of this name exists that is neither empty nor a sidecar of glslines. Such a file is
 * never replaced, not even with force. */
gls_status gls_sidecar_check_free(const char *path);
/* Like gls_sidecar_check_free(). Also GLS_ERR_OUTPUT if the file is a sidecar that describes none of the outputs `own`
 * (NULL entries are skipped) but another output that still exists. */
gls_status gls_sidecar_check(const char *path, const char *const *own, size_t n_own);

/* Reads the sidecar of any command. *text: contents of the file, from malloc. The caller frees *text and *sidecar, also
 * after an error. GLS_ERR_INPUT: damaged, or written by another program. GLS_ERR_UNSUPPORTED: written by a newer
 * major version. */
gls_status gls_sidecar_read(const char *path, char **text, cJSON **sidecar);
/* Whether the sidecar is from `glslines track` or from its merged shards. */
bool gls_sidecar_describes_tracking(const cJSON *sidecar);

/* Writes text and a line end to an output that was opened for the sidecar at path, and commits the output. Discards the
 * output after a failure. text NULL: GLS_ERR_MEMORY. */
gls_status gls_sidecar_finish(gls_output *output, const char *path, const char *text);
/* Ends the timeline of gls_trace_start() and writes it to path. */
gls_status gls_sidecar_write_trace(const char *path, bool force);

/* --- Parts that all sidecars have. */

/* Adds the members "software" and "command_line". */
void gls_sidecar_add_software(cJSON *root, int argc, char *const *argv);
/* Adds the member "warnings". */
void gls_sidecar_add_warnings(cJSON *root, const gls_warnings *warnings);
/* Adds an input file and its companion, with sizes and hashes. Adds nothing if the file has no path. */
void gls_sidecar_add_file(cJSON *inputs, const gls_input_file *file);
/* Adds the grid: dimensions, voxel size, affine with its determinant, and directions of the axes. */
void gls_sidecar_add_grid(cJSON *root, const gls_grid *grid);

/* --- Files that a run wrote, recorded in its sidecar with size and checksum, so that a later run recognises them. */

/* Adds size and checksum of a file to an entry: "xxh3_64", or for a large file "xxh3_64_of_parts", a checksum of
 * samples that is quick and still differs between runs. GLS_ERR_INPUT: the file cannot be read. */
gls_status gls_written_note(cJSON *entry, const char *path);
/* Like gls_written_note() for an output that is complete but does not have its final name yet. */
gls_status gls_written_note_output(cJSON *entry, const gls_output *output);
/* Whether the file at path is the file that the entry records: a regular file of the same size and checksum. If the
 * entry has the time of the last change ("modified") and the file has the same time, the checksum is not computed. */
bool gls_written_is(const cJSON *entry, const char *path);
/* Like gls_written_is(), but always computes the checksum, since times may be copied. */
bool gls_written_is_unchanged(const cJSON *entry, const char *path);
/* Key of the name of the file, without its folder, in an entry of track. */
#define GLS_WRITTEN_FILE "file"
/* Adds the time of the last change of a file that has its final name. */
gls_status gls_written_note_time(cJSON *entry, const char *path);

#endif
