/* Commands that make results from a tractogram or from FODs: the options of each command, and the function that runs
 * it. The function leaves all outputs complete in the output group of the run; gls_tract_run_commit() then gives the
 * outputs their names. */
#ifndef GLS_TOOLS_TRACT_RESULTS_H
#define GLS_TOOLS_TRACT_RESULTS_H

#include <glslines/score.h>
#include <glslines/weights.h>

#include "record/tract_run.h"
#include "weights/fod.h"

/* PART_ROW is a row of a member of a member, which the struct names itself. */
#define ROW GLS_ROW_FIELD
#define PART_ROW(...)
typedef struct gls_convert_cli {
#include "tools/convert.def"
} gls_convert_cli;
typedef struct gls_edit_cli {
#include "tools/edit.def"
} gls_edit_cli;
typedef struct gls_transform_cli {
#include "tools/transform.def"
} gls_transform_cli;
typedef struct gls_register_cli {
#include "tools/register.def"
} gls_register_cli;
typedef struct gls_anat_cli {
#include "tools/anat.def"
} gls_anat_cli;
typedef struct gls_sample_cli {
#include "tools/sample.def"
} gls_sample_cli;
typedef struct gls_stats_cli {
#include "tools/stats.def"
} gls_stats_cli;
typedef struct gls_segment_cli {
#include "tools/segment.def"
} gls_segment_cli;
typedef struct gls_cluster_cli {
#include "tools/cluster.def"
} gls_cluster_cli;
typedef struct gls_search_cli {
#include "tools/search.def"
} gls_search_cli;
typedef struct gls_recognize_cli {
#include "tools/recognize.def"
} gls_recognize_cli;
typedef struct gls_similarity_cli {
#include "tools/similarity.def"
} gls_similarity_cli;
typedef struct gls_atlas_cli {
#include "tools/atlas.def"
} gls_atlas_cli;
typedef struct gls_clean_cli {
#include "tools/outliers.def"
} gls_clean_cli;
typedef struct gls_profile_cli {
#include "tools/profile.def"
} gls_profile_cli;
typedef struct gls_score_cli {
#include "tools/score.def"
} gls_score_cli;
typedef struct gls_density_cli {
#include "tools/density.def"
} gls_density_cli;
typedef struct gls_connectome_cli {
#include "tools/connectome.def"
} gls_connectome_cli;
typedef struct gls_edges_cli {
#include "tools/edges.def"
} gls_edges_cli;
typedef struct gls_permute_cli {
#include "tools/permute.def"
} gls_permute_cli;
typedef struct gls_info_cli {
#include "tools/info.def"
} gls_info_cli;
typedef struct gls_fixels_cli {
    gls_fod_options fod;
#include "tools/fixels.def"
} gls_fixels_cli;
typedef struct gls_peaks_cli {
#include "tools/fod_peaks.def"
} gls_peaks_cli;
typedef struct gls_weights_cli {
    gls_weights_options model;
    gls_fod_options fod;
#include "tools/weights.def"
} gls_weights_cli;
#undef PART_ROW
#undef ROW

/* Each function below with the arguments `options` and `file` runs one command. options: the gls_..._cli of the
 * command. file: the n arguments, in the order that the comment gives. Texts to print are left in run->printed. */
/* Runs `glslines convert`. file: IN OUT */
gls_status gls_tract_convert(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines edit`. file: inputs, and the output last. */
gls_status gls_tract_edit(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines transform`. file: an image or a tractogram */
gls_status gls_tract_transform(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines register`. file: MOVING FIXED */
gls_status gls_tract_register(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines anat`. file: a T1 image */
gls_status gls_tract_anat(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines sample`. file: TRACKS IMAGE... */
gls_status gls_tract_sample(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines stats`. file: TRACKS... */
gls_status gls_tract_stats(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines segment`. file: TRACKS BUNDLES */
gls_status gls_tract_segment(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines cluster`. file: TRACKS */
gls_status gls_tract_cluster(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines search`. file: TRACKS REFERENCES */
gls_status gls_tract_search(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines recognize`. file: TRACKS ATLAS */
gls_status gls_tract_recognize(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines recognize`. */
gls_recognize_cli gls_recognize_cli_default(void);
/* Runs `glslines similarity`. file: INPUT... */
gls_status gls_tract_similarity(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines atlas`. file: SUBJECT... */
gls_status gls_tract_atlas(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines clean`. file: TRACKS OUT */
gls_status gls_tract_clean(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines profile`. file: TRACKS IMAGE... */
gls_status gls_tract_profile(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines profile`. */
gls_profile_cli gls_profile_cli_default(void);
/* Adds counts and means of a score to a sidecar. */
void gls_score_add_counts(struct cJSON *object, const gls_score_result *result);
/* Adds one entry for each bundle of a score to a sidecar. */
void gls_score_add_bundles(struct cJSON *object, const gls_score_result *result, const gls_score_bundle *bundles);
/* Scores a tractogram by --truth or --against. */
gls_status gls_score_tracks(gls_tract_run *run, const gls_score_cli *options, const char *tracks);
/* Runs `glslines density`. file: TRACKS OUT */
gls_status gls_tract_density(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines connectome`. file: TRACKS LABELS OUT */
gls_status gls_tract_connectome(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines connectome`. */
gls_connectome_cli gls_connectome_cli_default(void);
/* Runs `glslines edges`. file: TRACKS ASSIGNMENTS OUT */
gls_status gls_tract_edges(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines permute`. file: FILES DESIGN CONTRASTS */
gls_status gls_tract_permute(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines info`. file: TRACKS... */
gls_status gls_tract_info(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines fixels`. file: IN OUT */
gls_status gls_tract_fixels(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines fixels`. */
gls_fixels_cli gls_fixels_cli_default(void);
/* Checks that a fixel directory can be written. names: the names of its n files of values, without .nii. */
gls_status gls_tract_fixels_check(const gls_tract_run *run, const char *directory, const char *const *names, size_t n);
/* Runs `glslines peaks`. file: SH */
gls_status gls_tract_peaks(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Runs `glslines weights`. file: TRACKS SH, and OUT unless --output or --in-place is given. */
gls_status gls_tract_weigh(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines weights`. */
gls_weights_cli gls_weights_cli_default(void);

#endif
