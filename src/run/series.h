/* A diffusion series with its gradient table, read from files, and the part of a run that `fit` and `response` share.
 */
#ifndef GLS_RUN_SERIES_H
#define GLS_RUN_SERIES_H

#include <glslines/workflow.h>

#include "record/run.h"

struct cJSON;

/* --- The series. */

/* shells that are listed; more are only counted */
#define SERIES_MAX_SHELLS 64

/* Finds the gradient table of a series. *bval and *bvec, from malloc: "-" and "-" if the header of a .mif has the
 * table; else x.bval and x.bvec, or x.bvals and x.bvecs, beside x.nii.gz; else bvals and bvecs in the same folder.
 * GLS_ERR_INPUT lists the names that were tried. */
gls_status gls_series_find_table(const char *dwi, char **bval, char **bvec);
/* Path of a part of the gradient table. NULL for "-", which means that another file holds this part: the file of
 * b-values or the image. */
const char *gls_table_path(const char *path);

/* A diffusion series in memory. */
typedef struct gls_series {
    const char *name; /* name of the series for messages */
    gls_image *dwi;   /* NULL: not read */
    gls_gradients *gradients;
    gls_bvec_frame frame; /* axes in which the file gave the vectors */
    gls_shell shell[SERIES_MAX_SHELLS];
    size_t n_shells; /* entries of shell[] that are set */
} gls_series;

/* Adds the name of the series to the message of the last error if the error is one of the series itself. Returns
 * status. */
gls_status gls_series_fail(const gls_series *series, gls_status status);

/* Reads the series. files: image, b-values, vectors, in this order. */
gls_status gls_series_read(gls_series *series, const gls_input_file *files, const gls_model_options *options);
/* Reads the table of a series whose image has been read. Warns if the header of the image, or files beside it, hold a
 * different table. */
gls_status gls_series_read_table(gls_series *series, const gls_input_file *files, const gls_model_options *options);
/* Warns if another table of the series differs from the one in use. bval and bvec: files in FSL's axes; bvec NULL: bval
 * is a table of one file. used: name of the table in use. */
void gls_series_compare_table(const gls_series *series, const char *bval, const char *bvec, const char *used);
/* Checks the values of the series. Sets voxels with a value that is not finite to 0, because interpolation would spread
 * it, and warns. GLS_ERR_INPUT: no signal in the mask. */
gls_status gls_series_check(gls_series *series, const gls_image *mask);
/* Stores the shells in the series and logs them. */
gls_status gls_series_log_shells(gls_series *series);
/* Frees image and table. The name is borrowed. */
void gls_series_finish(gls_series *series);

/* Adds to a sidecar the gradient table and the shells. */
void gls_sidecar_add_gradients(struct cJSON *root, const gls_series *series);

/* Computes a brain mask from the series and logs its size. The caller frees *mask. */
gls_status gls_series_make_mask(const gls_series *series, gls_image **mask);

/* --- A command that makes files from a series, its gradient table and a mask: `fit` and `response`. */

/* Positions of the first input files of such a command. */
enum { SERIES_DWI, SERIES_BVAL, SERIES_BVEC, SERIES_MASK, SERIES_N_FILES, SERIES_MAX_FILES = 16 };

/* Inputs of `fit` and `response`: files, series and mask. */
typedef struct gls_series_run {
    /* files of the run */
    gls_run run;
    /* for progress; may be NULL */
    const gls_monitor *monitor;
    /* series, table, mask and further files */
    gls_input_file file[SERIES_MAX_FILES];
    /* number of elements of `file` */
    size_t n_files;
    char *bval, *bvec; /* table found beside the series, owned; NULL: the user named it */
    gls_series series;
    gls_image *mask;      /* read from a file, or computed from the series */
    uint64_t mask_voxels; /* voxels in the mask */
    double seconds_read;
} gls_series_run;

/* Begins the run and adds its inputs: the files of the series (bval, bvec and mask may be NULL) and n others. Call
 * gls_series_run_end() afterwards, also after a failure. */
gls_status gls_series_run_begin(gls_series_run *run, bool force, const char *const first[SERIES_N_FILES],
                                const gls_input_file *others, size_t n);
/* Reads the series and logs its shells. */
gls_status gls_series_run_read(gls_series_run *run, const gls_model_options *options);
/* Reads or computes the mask, checks that there is signal in it, and hashes all inputs. */
gls_status gls_series_run_read_mask(gls_series_run *run);
/* First members of the sidecar. NULL: memory ran out. */
struct cJSON *gls_series_run_sidecar(const gls_series_run *run, const char *description, int argc, char *const *argv);
/* Writes root as the sidecar and gives all outputs their final names. Fails with GLS_ERR_CANCELLED if the user has
 * cancelled. Takes ownership of root. */
gls_status gls_series_run_commit(gls_series_run *run, struct cJSON *root);
/* Frees everything and discards outputs that were not committed. */
void gls_series_run_end(gls_series_run *run);

#endif
