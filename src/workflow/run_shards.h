/* Shards: the part of a run that one process tracks, and how parts are merged. */
#ifndef GLS_WORKFLOW_RUN_SHARDS_H
#define GLS_WORKFLOW_RUN_SHARDS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "util/output_file.h"
#include "util/status.h"
#include "workflow/track_inputs.h"

/* --- Which part of a run a process tracks, and what tells the run from others. */

/* Hashes by which runs that give the same streamlines know each other. */
typedef struct gls_run_identity {
    uint64_t parameters, inputs;
} gls_run_identity;
/* Once the input is read. mm: the parameters of the tracker. */
gls_status gls_run_identify(const gls_job_inputs *inputs, const gls_job_options *options, const gls_track_params *mm,
                            gls_run_identity *identity);

/* "3/8", or "auto": from the variables that Slurm, Open MPI and PMI set. Sets index and count. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);
/* "dir/out.trx" -> "dir/out_shard-3of8.trx", from malloc; NULL without memory. */
char *gls_shard_name(const char *path, const gls_shard *shard);

/* Once the input is read: the seeds of this part, and the hashes that tell its run from others. mm: the parameters of
 * the tracker. Nothing where the shard's count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_job_inputs *inputs, const gls_job_options *options,
                              const gls_track_params *mm);

/* --- Lengths of the streamlines of a run: sums of the distances between their points, as tckstats and 'glslines stats'
 * have them. Where all steps are straight and all points are written, the tracker's own counts of steps tell the same.
 */

/* Lengths are whole multiples of 1 / GLS_LENGTH_PARTS mm, so that sums are exact and parts of a run add up to it. */
#define GLS_LENGTH_PARTS 1024.0

typedef struct gls_run_lengths {
    uint64_t n, sum; /* streamlines; of their lengths, in parts */
    uint64_t min, max;
    uint32_t *part; /* of each streamline of a parcel, which has room for so many */
    size_t room;
    uint64_t *bin; /* streamlines by length */
    size_t n_bins;
} gls_run_lengths;

/* Whether steps do not tell the lengths: the getter's are curved, or points are left out or moved. */
bool gls_lengths_need_points(const gls_job_options *options);
gls_status gls_run_lengths_add(gls_run_lengths *lengths, const gls_streamlines *streamlines);
/* Puts mean, median and extremes in the place of those of the steps; nothing, where there are no streamlines. */
void gls_run_lengths_get(const gls_run_lengths *lengths, gls_track_result *result);
void gls_run_lengths_finish(gls_run_lengths *lengths);

/* --- Maps of the parts of a run: images of counts, and matrices, which add up to those of the whole run. */

/* Whether the name is that of such a map: .nii, .nii.gz, .csv, .tsv. */
bool gls_is_map_name(const char *path);
/* Adds up the files, whose names have to say that they are all parts of one run, x_shard-1of3.csv and so on; the sum
 * has the bytes of the map of the whole run. GLS_ERR_INPUT: a part is missing or there twice, or does not fit. */
gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group);

/* --- Sidecars of shards: whether they are of one run, and the sidecar that this run would have had. */

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    const char *path;
    char *sidecar; /* path */
    cJSON *root;   /* its contents */
} gls_merge_shard;

/* Reads the sidecar of a shard, which lies beside it under its name with .json; a shard of another size than its
 * sidecar tells was cut or changed. */
gls_status gls_merge_shard_read(gls_merge_shard *shard);
void gls_merge_shard_finish(gls_merge_shard *shard);
/* Whether b is of the same run as a: the message of a failure names the first thing that differs. Devices that differ
 * are warned of, once: *warned is false before the first call. */
gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned);
/* Contents of the sidecar of the whole run, from malloc. output: the tractogram, complete. Puts the shards in the order
 * of their parts. */
gls_status gls_merge_sidecar_text(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                                  const gls_warnings *warnings, const gls_merge_result *result,
                                  const gls_output *output, char **text);

#endif
