/* The JSON file beside an output, which says how that was made. */
#ifndef GLS_WORKFLOW_SIDECAR_H
#define GLS_WORKFLOW_SIDECAR_H

#include <cJSON.h>

#include "util/file.h"
#include "util/output_file.h"
#include "workflow/inputs.h"

/* The member that tells of a run's files: an object of each by its role, see workflow/written.h. */
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
/* Like gls_place_check() for a sidecar that has but one name: one that describes another output is kept even with
 * force. own: the outputs that are to be described, of which NULL are left out. */
gls_status gls_sidecar_check(const char *path, bool force, const gls_inputs *inputs, const char *const *own,
                             size_t n_own);

/* For a name that nobody gave: GLS_ERR_OUTPUT where a file has it that is no sidecar of ours, whatever the options. */
gls_status gls_sidecar_check_free(const char *path);
/* Both. */
gls_status gls_sidecar_check_named(const char *path, bool force, const gls_inputs *inputs, const char *const *own,
                                   size_t n_own);

/* Reads the sidecar of any command. *text: as it stands in the file, from malloc; both are the caller's even after an
 * error. GLS_ERR_INPUT: damaged, or of another program; GLS_ERR_UNSUPPORTED: of a newer version. */
gls_status gls_sidecar_read(const char *path, char **text, cJSON **sidecar);
/* Whether it is of a run of 'glslines track', or of its shards merged. */
bool gls_sidecar_tells_tracking(const cJSON *sidecar);

/* Writes text and a line end to an output that was opened for the sidecar at path, and gives it its name. NULL text:
 * memory ran out. Whatever happens, output is then as after gls_output_discard(). */
gls_status gls_sidecar_finish(gls_output *output, const char *path, const char *text);
/* The same at once, in group unless that is NULL; an existing file is an error unless force. */
gls_status gls_sidecar_write(const char *path, bool force, gls_output_group *group, const char *text);
/* The timeline of gls_trace_start(), which ends, to a file of its own. */
gls_status gls_sidecar_write_trace(const char *path, bool force);

#endif
