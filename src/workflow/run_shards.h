/* Shards: the part of a run that one process tracks, and how the results of all parts are merged. */
#ifndef GLS_WORKFLOW_RUN_SHARDS_H
#define GLS_WORKFLOW_RUN_SHARDS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "util/output_file.h"
#include "util/status.h"
#include "workflow/job_inputs.h"

/* --- Which part of the run. */

/* Sets index and count of the shard. text: "3/8", or "auto", which takes them from the variables of Slurm, Open MPI or
 * PMI. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);
/* "dir/out.trx" -> "dir/out_shard-3of8.trx", from malloc. NULL: out of memory. */
char *gls_shard_name(const char *path, const gls_shard *shard);

/* Restricts the seeds to those of this shard. select: number of streamlines of --select. Does nothing if the shard's
 * count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_seeds *seeds, uint64_t select);

/* --- Lengths of streamlines as sums of distances between their points, as in tckstats and `glslines stats`.
 * If all steps are straight and all points are written, the tracker's counts of steps give the same lengths. */

/* Lengths are rounded to 1 / GLS_LENGTH_PARTS mm, so that sums are exact and shards add up to the whole run. */
#define GLS_LENGTH_PARTS 1024.0

/* Measured lengths of the streamlines of a run, in whole parts of a mm (GLS_LENGTH_PARTS), so that sums do not depend
 * on the order. */
typedef struct gls_run_lengths {
    uint64_t n, sum; /* number of streamlines; sum of their lengths in parts */
    /* in parts */
    uint64_t min, max;
    uint32_t *part; /* length of each streamline of one batch; has `room` elements */
    size_t room;
    uint64_t *bin; /* histogram of lengths */
    size_t n_bins;
} gls_run_lengths;

/* Whether lengths need the points: the getter's steps are curved, or points are left out or moved. */
bool gls_lengths_need_points(const gls_job_options *options);
/* Adds the lengths of streamlines. */
gls_status gls_run_lengths_add(gls_run_lengths *lengths, const gls_streamlines *streamlines);
/* Sets mean, median and extremes of *result to the measured lengths, mm. The tracker had set them to numbers of steps
 * times the step size. Does nothing without streamlines. */
void gls_run_lengths_get(const gls_run_lengths *lengths, gls_track_result *result);
/* Frees the arrays and sets everything to 0. */
void gls_run_lengths_finish(gls_run_lengths *lengths);

/* --- Merging sidecars: check that shards belong to one run, and make the sidecar of that run. */

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    /* path of the shard */
    const char *path;
    char *sidecar; /* path of the sidecar */
    cJSON *root;   /* contents of the sidecar */
} gls_merge_shard;

/* Reads the sidecar that lies beside a shard (its name with .json). GLS_ERR_INPUT: there is none, or its size, count or
 * index is not that of the shard, so that the shard was cut, changed or renamed. */
gls_status gls_merge_shard_read(gls_merge_shard *shard);
/* Frees the sidecar. path is borrowed. */
void gls_merge_shard_finish(gls_merge_shard *shard);
/* Returns GLS_ERR_INPUT if b is not a shard of the same run as a; the message names the first difference. Warns once if
 * devices differ. *warned: false before the first call. */
gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned);
/* Fills in *text: contents of the sidecar of the whole run, from malloc. output: the merged tractogram, complete. Sorts
 * the shards by their index. */
gls_status gls_merge_sidecar_text(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                                  const gls_warnings *warnings, const gls_merge_result *result,
                                  const gls_output *output, char **text);

#endif
