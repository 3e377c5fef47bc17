/* The diffusion gradient table: b-values, directions, shells. */
#ifndef GLSLINES_GRADIENTS_H
#define GLSLINES_GRADIENTS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frame in which the vectors of a bvecs file are given. */
typedef enum gls_bvec_frame {
    GLS_BVEC_FSL,   /* voxel axes as stored, x negated where the affine's determinant is positive (the frame of FSL's
                       tools): the default */
    GLS_BVEC_IMAGE, /* voxel axes as they are (what DIPY and GPUStreamlines do) */
    GLS_BVEC_WORLD  /* scanner (RAS+) axes, rotated into the voxel frame */
} gls_bvec_frame;

/* Whether the lengths of vectors scale b-values. Scanners store several shells as one nominal b-value and vectors of
 * different lengths: the b-value is the nominal one times the squared length. MRtrix3 reads tables this way. */
typedef enum gls_bvalue_scaling {
    GLS_BVALUES_SCALED_AUTO, /* scale if the squared length of a weighted volume's vector differs from 1 by more than
                                1 %, with a warning: the default */
    GLS_BVALUES_SCALED,
    GLS_BVALUES_AS_GIVEN /* lengths mean nothing; vectors are normalised */
} gls_bvalue_scaling;

/* One entry per volume, in the order of the series. */
typedef struct gls_gradients {
    size_t n;
    double *bval;      /* s/mm2; >= 0 */
    double (*bvec)[3]; /* unit vector along the voxel axes; zero for a b0 volume whose vector is not finite or whose
                          length differs from 1 by more than 1 % */
    bool *is_b0;       /* bval <= b0_threshold */
    size_t n_b0;
    double b0_threshold; /* s/mm2 */
    bool x_flipped;      /* GLS_BVEC_FSL has negated x */
    bool scaled;         /* gls_bvalue_scaling has multiplied b-values by squared lengths */
} gls_gradients;

/* Options of gls_gradients_read(). */
typedef struct gls_gradients_options {
    size_t size;                /* size of this struct, set by the default function */
    double b0_threshold;        /* s/mm2, >= 0; volumes with b <= this count as b0; default 50 */
    gls_bvec_frame frame;       /* default GLS_BVEC_FSL */
    gls_bvalue_scaling scaling; /* default GLS_BVALUES_SCALED_AUTO */
    bool without_b0;            /* a table without a b0 is accepted; default false */
} gls_gradients_options;
GLS_API gls_gradients_options gls_gradients_options_default(void); /* NULL options mean these */

/* Reads text files of b-values (one row or one column) and vectors (3 x n or n x 3, a 3 x 3 table being FSL's: x, y, z
 * in rows; tabs, commas and '#' comments allowed). n_volumes is the length of the series. GLS_ERR_INPUT, with the file
 * and the volume counted from 0, for: another number of entries; a b-value that is negative or not finite; a table of
 * weighted volumes whose largest b-value is below 50 or above 1e6, which means other units; a table without a b0,
 * unless without_b0; a vector of a weighted volume that is zero or not finite. All other vectors of weighted volumes
 * are normalised, see gls_bvalue_scaling. Vectors of b0 volumes whose length differs from 1 by more than 1 % are set to
 * zero. grid: of the series; may be NULL for GLS_BVEC_IMAGE. The frame of the vectors and the number of b0s are logged.
 */
GLS_API gls_status gls_gradients_read(const char *bval_path, const char *bvec_path,
                                      const gls_gradients_options *options, const gls_grid *grid, size_t n_volumes,
                                      gls_gradients **gradients);
/* Makes a table from arrays, which are copied. Messages call them "b-values" and "b-vectors". */
GLS_API gls_status gls_gradients_create(const double *bval, const double (*bvec)[3], size_t n,
                                        const gls_gradients_options *options, const gls_grid *grid,
                                        gls_gradients **gradients);
/* Reads a table from one file: rows x y z b along the scanner axes, as MRtrix3 writes them (.b); JSON with such rows in
 * "dw_scheme"; or the header of a .mif, .mif.gz or .mih with dw_scheme. Each b is multiplied by the squared length of
 * its vector, as in MRtrix3; lengths that differ from 1 by more than 1 % give a warning. options->frame has no effect;
 * grid must not be NULL. Errors: as for gls_gradients_read(). */
GLS_API gls_status gls_gradients_read_table(const char *path, const gls_gradients_options *options,
                                            const gls_grid *grid, size_t n_volumes, gls_gradients **gradients);
/* Frees `gradients`, which may be NULL. */
GLS_API void gls_gradients_destroy(gls_gradients *gradients);

/* A shell: volumes of about the same b-value. All b0 volumes are one shell. Weighted volumes are clustered by density
 * (Ester et al. 1996), as in MRtrix3: two volumes are neighbours if their b-values differ by less than 80 s/mm2. A
 * volume with two or more neighbours starts a shell; its neighbours join it, and so do the neighbours of each joining
 * volume that has two or more itself. So 1000, 1060 and 1120, three volumes each, are one shell. A volume that no shell
 * takes belongs to none.
 */
typedef struct gls_shell {
    double bval;      /* mean, not rounded, s/mm2 */
    double deviation; /* standard deviation of the b-values, with the divisor n - 1; 0 for a single volume */
    double min_bval, max_bval;
    size_t n; /* number of volumes */
    bool is_b0;
} gls_shell;

/* Finds the shells in ascending order, b0 first. Stores at most the first `capacity` of them; *n_shells gets the number
 * of all shells. */
GLS_API gls_status gls_gradients_shells(const gls_gradients *gradients, gls_shell *shells, size_t capacity,
                                        size_t *n_shells);

/* Stands for the index of a shell where a volume belongs to none. */
#define GLS_NO_SHELL SIZE_MAX

/* Like gls_gradients_shells(), with all shells; free *shells by gls_free(). shell_of (may be NULL, else gradients->n
 * elements): shell_of[i] gets the index of the shell of volume i, or GLS_NO_SHELL. */
GLS_API gls_status gls_gradients_cluster(const gls_gradients *gradients, gls_shell **shells, size_t *n_shells,
                                         size_t *shell_of);

/* Finds the weighted shell for a b-value: the first shell whose range contains the value or whose mean differs from it
 * by at most 1 s/mm2; else, with a warning, the nearest shell, if it is 10 times nearer than the next one (in standard
 * deviations) and its mean differs by at most 20 %. bval: above 0. *found: index of the shell. GLS_ERR_INPUT, with a
 * list of the shells: there is none. */
GLS_API gls_status gls_gradients_find_shell(const gls_shell *shell, size_t n, double bval, size_t *found);

/* Copies the b0 volumes and the volumes of the shell that bval (> 0) names; volume[] (n of the result, to be freed with
 * gls_free()) gives the index of each in the old series. GLS_ERR_INPUT: bval names no shell; the message lists them. */
GLS_API gls_status gls_gradients_select_shell(const gls_gradients *gradients, double bval, gls_gradients **selected,
                                              size_t **volume);
/* Like gls_gradients_select_shell(), for several shells; b-values up to the b0 threshold name the b0 volumes, which
 * stay in any case. Also returns GLS_ERR_INPUT if two b-values name the same weighted shell, or all name the b0
 * volumes. */
GLS_API gls_status gls_gradients_select_shells(const gls_gradients *gradients, const double *bval, size_t n_bvals,
                                               gls_gradients **selected, size_t **volume);

#ifdef __cplusplus
}
#endif
#endif
