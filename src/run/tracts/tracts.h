/* The commands on tractograms: their options, and one function for each. The function leaves all outputs complete in
 * the group of the run; gls_tract_run_commit() then gives them their names. */
#ifndef GLS_RUN_TRACTS_TRACTS_H
#define GLS_RUN_TRACTS_TRACTS_H

#include "record/tract_run.h"
#include "sinks/weight_files.h"

#define ROW GLS_ROW_FIELD
typedef struct gls_edit_cli {
#include "run/tracts/edit.def"
} gls_edit_cli;
typedef struct gls_sample_cli {
#include "run/tracts/sample.def"
} gls_sample_cli;
typedef struct gls_stats_cli {
#include "run/tracts/stats.def"
} gls_stats_cli;
typedef struct gls_segment_cli {
#include "run/tracts/segment.def"
} gls_segment_cli;
typedef struct gls_profile_cli {
#include "run/tracts/profile.def"
} gls_profile_cli;
typedef struct gls_score_cli {
#include "run/tracts/score.def"
} gls_score_cli;
typedef struct gls_density_cli {
#include "run/tracts/density.def"
} gls_density_cli;
typedef struct gls_connectome_cli {
#include "run/tracts/connectome.def"
} gls_connectome_cli;
typedef struct gls_convert_cli {
#include "run/tracts/convert.def"
} gls_convert_cli;
typedef struct gls_info_cli {
#include "run/tracts/info.def"
} gls_info_cli;
typedef struct gls_fixels_cli {
#include "run/tracts/fod.def"
} gls_fixels_cli;
typedef struct gls_peaks_cli {
#include "run/tracts/fod_peaks.def"
} gls_peaks_cli;
typedef struct gls_weights_cli {
#include "run/tracts/weights.def"
} gls_weights_cli;
#undef ROW

/* Each function below runs one command. options: the command's gls_..._cli. file: its n arguments, in the order of the
 * comment. Texts to print are left in run->printed. */
/* file: inputs, and the output last. */
gls_status gls_tract_edit(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS IMAGE... */
gls_status gls_tract_sample(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS... */
gls_status gls_tract_stats(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS BUNDLES */
gls_status gls_tract_segment(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS IMAGE... */
gls_status gls_tract_profile(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS, or nothing for the phantom */
gls_status gls_tract_score(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options. Rows that the tracker also has get the tracker's defaults. */
gls_score_cli gls_score_cli_default(void);
/* file: TRACKS OUT */
gls_status gls_tract_density(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS LABELS OUT */
gls_status gls_tract_connectome(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: IN OUT */
gls_status gls_tract_convert(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS... */
gls_status gls_tract_info(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: SH DIR */
gls_status gls_tract_fixels(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Options of FODs from those of the command. sh: borrowed. */
gls_fod_options gls_tract_fod_options(const gls_fixels_cli *options, const char *sh);
/* Checks that a fixel directory with n lists of values can be written. */
gls_status gls_tract_fixels_check(const gls_tract_run *run, const char *directory, const char *const *names, size_t n);
/* file: SH */
gls_status gls_tract_peaks(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS SH */
gls_status gls_tract_weigh(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options of `glslines weights`. */
gls_weights_cli gls_weights_cli_default(void);

#endif
