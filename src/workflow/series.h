/* A diffusion series with its gradient table, and the part of a run that `fit` and `response` share. */
#ifndef GLS_WORKFLOW_SERIES_H
#define GLS_WORKFLOW_SERIES_H

#include <glslines/workflow.h>

#include "workflow/run.h"

/* --- A diffusion series with its gradient table, read from files. */

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

/* --- A command that makes files of a diffusion series, its gradient table and a mask: what `fit` and `response` share.
 */

/* The first inputs of such a command. */
enum { SERIES_DWI, SERIES_BVAL, SERIES_BVEC, SERIES_MASK, SERIES_N_FILES, SERIES_MAX_FILES = 16 };

typedef struct gls_series_run {
    gls_run run;
    const gls_monitor *monitor;
    gls_input_file file[SERIES_MAX_FILES];
    size_t n_files;
    char *bval, *bvec; /* found beside the series; NULL: given */
    gls_series series;
    gls_image *mask; /* read, or made from the series */
    uint64_t mask_voxels;
    double seconds_read;
} gls_series_run;

/* Begins the run and notes its inputs: those that a series has, of which bval, bvec and mask may be NULL, and n others.
 * To be ended by gls_series_run_end(), whatever comes. */
gls_status gls_series_run_begin(gls_series_run *run, bool force, const char *const first[SERIES_N_FILES],
                                const gls_input_file *others, size_t n);
/* Reads the series, and says which shells it has. */
gls_status gls_series_run_read(gls_series_run *run, const gls_model_options *options);
/* Reads or makes the mask, checks the signal in it, and takes the checksums of all inputs. */
gls_status gls_series_run_read_mask(gls_series_run *run);
/* What a sidecar begins with; NULL: memory ran out. */
struct cJSON *gls_series_run_sidecar(const gls_series_run *run, const char *description, int argc, char *const *argv);
/* Writes the sidecar, unless the user cancels by now; all outputs get their names. root is the run's from here on. */
gls_status gls_series_run_commit(gls_series_run *run, struct cJSON *root);
void gls_series_run_end(gls_series_run *run);

#endif
