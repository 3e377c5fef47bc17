/* Fixels from images of FODs, and what is written about weights of streamlines: files, log and sidecar. */
#ifndef GLS_SINKS_WEIGHT_FILES_H
#define GLS_SINKS_WEIGHT_FILES_H

#include <cJSON.h>

#include <glslines/fixels.h>
#include <glslines/tractogram.h>
#include <glslines/weights.h>
#include <glslines/workflow.h>

#include "util/output_file.h"

/* --- From files of FODs to fixels. */

/* Which image of FODs is read, and how it is segmented. */
typedef struct gls_fod_options {
    /* image of FODs */
    const char *sh;
    /* basis of the SH coefficients */
    gls_sh_basis basis;
    /* axes of the SH coefficients */
    gls_frame frame;
    const char *act;       /* path of a five-tissue image; NULL: none */
    const char *proc_mask; /* path of an image of voxel weights; NULL: none */
    bool no_dilate;        /* overrides fixel.dilate */
    bool fd_scale_gm;      /* needs act: lowers densities in grey matter */
    gls_fixel_options fixel;
} gls_fod_options;

/* The fixels of an image of FODs, owned; free with gls_fod_finish(). */
typedef struct gls_fod {
    /* fixels of all FODs, or of those in the mask */
    gls_fixels *fixels;
    gls_image *mask, *scale; /* mask: weight of each voxel; scale: factor of the voxel's densities; NULL: 1 */
} gls_fod;

/* Checks that an image holds SH coefficients. GLS_ERR_INPUT if it holds something else, such as peaks. Warns in
 * doubtful cases. */
gls_status gls_fod_check(const gls_image *sh, const char *name);
/* Warns if an image of peaks may be something else: SH coefficients, tensors, a colour map, a series. */
void gls_peaks_doubt(const gls_image *peaks, const char *name);
/* Reads the files and segments the FODs into fixels. Call gls_fod_finish() also after a failure. */
gls_status gls_fod_read(const gls_fod_options *options, gls_fod *fod);
/* Like gls_fod_read(), but takes the image. sh: tournier07 coefficients along the scanner axes. */
gls_status gls_fod_segment(const gls_fod_options *options, const gls_image *sh, gls_fod *fod);
/* Frees fixels and images. */
void gls_fod_finish(gls_fod *fod);

/* --- Steps of streamlines, and the files with the weights. */

/* Names of the columns with weights in a tractogram. */
#define GLS_DPS_WEIGHTS "sift2_weights"
#define GLS_DPS_COEFFICIENTS "sift2_coefficients"

/* Steps of streamlines, as gls_step_range_sink() measures them. */
typedef struct gls_step_range {
    /* largest step and sum of steps so far, mm */
    double max, sum;
    /* number of steps */
    uint64_t n;
} gls_step_range;
/* Returns a sink that measures steps. range must outlive the sink and be zero at first. The sink needs no finish. */
gls_sink gls_step_range_sink(gls_step_range *range);

/* Logs what was mapped to fixels, and the result of the fit. */
void gls_weights_log(const gls_weights *weights);

/* Writes n values, each times `factor`, in MRtrix3's format: a comment line and one line of values. group: the output
 * group; NULL: none. */
gls_status gls_weights_write_text(const char *path, bool overwrite, gls_output_group *group, const float *value,
                                  uint64_t n, double factor, const char *comment);
/* Writes a table with the columns of tcksift2: a row for the start, then one for each iteration. */
gls_status gls_weights_write_iterations(const gls_weights *weights, const char *path, bool overwrite,
                                        gls_output_group *group);
/* Writes a fixel directory with all gls_weights_values of the fit. */
gls_status gls_weights_write_fixels(const gls_weights *weights, const gls_fixels *fixels, const char *directory,
                                    bool overwrite, gls_output_group *group);
/* Adds the result to a sidecar. */
void gls_weights_describe(cJSON *root, const gls_weights *weights);

#endif
