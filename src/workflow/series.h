/* A diffusion series with its gradient table, read from files. */
#ifndef GLS_WORKFLOW_SERIES_H
#define GLS_WORKFLOW_SERIES_H

#include <glslines/workflow.h>

#include "workflow/inputs.h"

#define SERIES_MAX_SHELLS 64

/* The table of a series: "-" and "-" for the one in the header of a .mif; else the files beside it, for x.nii.gz x.bval
 * and x.bvec, or .bvals and .bvecs, else bvals and bvecs in its folder; from malloc. GLS_ERR_INPUT names what was
 * looked for. */
gls_status gls_series_find_table(const char *dwi, char **bval, char **bvec);
/* The file of a part of the gradient table, NULL for "-": the part before it, or the image, has it. */
const char *gls_table_path(const char *path);

typedef struct gls_series {
    const char *name; /* of the series, for messages */
    gls_image *dwi;   /* NULL: there is none */
    gls_gradients *gradients;
    gls_bvec_frame frame; /* in which its vectors were given */
    gls_shell shell[SERIES_MAX_SHELLS];
    size_t n_shells; /* stored ones */
} gls_series;

/* Puts the name of the series in front of the message that says what is wrong with it; of other failures nothing. */
gls_status gls_series_fail(const gls_series *series, gls_status status);

/* From the files of the series, the b-values and the vectors, in this order. */
gls_status gls_series_read(gls_series *series, const gls_input_file *files, const gls_model_options *options);
/* The table of a series whose image was read. A warning tells where the header of the image, or files beside it, have
 * another table. */
gls_status gls_series_read_table(gls_series *series, const gls_input_file *files, const gls_model_options *options);
/* Warns where another table of the series differs from the one that was read, whose name is used: b-values and vectors
 * in FSL's axes, or a table of one file (bvec NULL). */
void gls_series_compare_table(const gls_series *series, const char *bval, const char *bvec, const char *used);
/* Empties voxels with values that are not finite, which would spread through interpolation; a series without signal in
 * the mask would give an empty result without a reason. */
gls_status gls_series_check(gls_series *series, const gls_image *mask);
/* Notes and prints the shells. */
gls_status gls_series_log_shells(gls_series *series);
void gls_series_finish(gls_series *series);

/* The brain in a series, and a line in the log. */
gls_status gls_series_make_mask(const gls_series *series, gls_image **mask);

/* An image of one volume on this grid, which name_of_grid stands for. */
gls_status gls_image_read_on_grid(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **image);
/* Voxels > 0; none is an error that calls the image by this name and kind. */
gls_status gls_image_count_voxels(const gls_image *image, const char *name, const char *kind, uint64_t *count);

#endif
