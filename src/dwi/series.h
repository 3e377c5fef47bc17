/* A diffusion series and its gradient table: names of shells, checks of units, reading from files, brain mask. */
#ifndef GLS_DWI_SERIES_H
#define GLS_DWI_SERIES_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

/* --- Series. */

/* largest number of shells that are stored and listed; the list ends with the number of further ones */
#define SERIES_MAX_SHELLS 64

/* Finds the gradient table of a series. *bval and *bvec, from malloc: "-" and "-" if the header of a .mif has the
 * table; else x.bval and x.bvec, or x.bvals and x.bvecs, beside x.nii.gz; else bvals and bvecs, or bval and bvec, in
 * the same folder. GLS_ERR_INPUT: there is no table; the message ends with the remedy, what to give; NULL: as for
 * 'glslines track'. */
gls_status gls_series_find_table(const char *dwi, const char *remedy, char **bval, char **bvec);
/* Path of a part of the gradient table. NULL for "-", which means that another file holds this part: the file of
 * b-values or the image. */
const char *gls_table_path(const char *path);

/* The volumes of a diffusion series that a run uses: b = 0 and the shells of --shells. Whatever is computed from the
 * series is computed from these, the tensor from gls_series_tensor_dwi(). */
typedef struct gls_series {
    const char *name; /* name of the series for messages */
    gls_image *dwi;   /* NULL: not read */
    gls_gradients *gradients;
    gls_image *tensor_dwi; /* the volumes of --tensor-shells and their table; NULL: those of the run */
    gls_gradients *tensor_gradients;
    gls_gradients *table;               /* gradient table of all volumes of the file; NULL: the run uses all */
    gls_bvec_frame frame;               /* axes in which the file gave the vectors */
    gls_shell shell[SERIES_MAX_SHELLS]; /* the shells of the file */
    size_t n_shells;                    /* entries of shell[] that are set */
} gls_series;

/* Adds the name of the series to the message of the last error if status is GLS_ERR_INPUT. Returns status. */
gls_status gls_series_fail(const gls_series *series, gls_status status);
/* Reads image and table into *series, which must be empty, and selects volumes by gls_series_select(). path: the files
 * of the image, b-values and vectors; NULL for b-values or vectors: another of these files has them. values false:
 * reads only the header of the image, so that dwi->data is NULL and there are no volumes of --tensor-shells. Call
 * gls_series_finish() also after a failure. */
gls_status gls_series_read(gls_series *series, const char *const path[3], const gls_model_options *options,
                           bool values);
/* Selects the volumes that the options choose: drops all others, and copies those of --tensor-shells if they are not
 * those of the run. dwi may be NULL: the table alone. Call it once. GLS_ERR_INPUT: the series has no such shell. */
gls_status gls_series_select(gls_series *series, const gls_model_options *options);
/* Volumes from which tensors are fitted, and their table. Borrowed. */
const gls_image *gls_series_tensor_dwi(const gls_series *series);
const gls_gradients *gls_series_tensor_gradients(const gls_series *series);
/* The table of all volumes of the file. Borrowed. */
const gls_gradients *gls_series_table(const gls_series *series);
/* Reads the table of a series whose image has been read. If the header of a .mif has a table, warns where it differs
 * from the table of the files in use or beside the image. */
gls_status gls_series_read_table(gls_series *series, const char *bval, const char *bvec,
                                 const gls_gradients_options *options);
/* Warns if another table of the series differs from the one in use, or cannot be read. bval and bvec: files in FSL's
 * axes. bvec NULL: bval has the whole table, in a file of one table or in the header of an image. used: name of the
 * table in use. */
void gls_series_compare_table(const gls_series *series, const char *bval, const char *bvec, const char *used);
/* Warns if the deviations of the gradients from voxel to voxel lie beside the series, as in data of the Human
 * Connectome Project. Whoever reads a table by other means than gls_series_read_table() calls it. */
void gls_series_warn_of_deviations(const char *dwi);
/* Checks the values of the series. Warns of voxels with a value that is not finite, and sets all values of these voxels
 * to 0, because interpolation would spread the bad value. GLS_ERR_INPUT: no value in the mask is above 0, or no value
 * of the b0 volumes, if there are any. */
gls_status gls_series_check(gls_series *series, const gls_image *mask);
/* Stores the shells of the file in the series and logs them, and which of them are used. */
gls_status gls_series_log_shells(gls_series *series);
/* Frees image and table. The name is borrowed. */
void gls_series_finish(gls_series *series);
/* Computes a brain mask from the series and logs its size. The caller frees *mask. */
gls_status gls_series_make_mask(const gls_series *series, gls_image **mask);

#endif
