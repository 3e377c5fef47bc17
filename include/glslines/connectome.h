/* Connectomes: how many streamlines join each pair of labelled regions. The defaults are those of MRtrix3's
 * tck2connectome 3.0. Sums are made in the order of the streamlines: they do not depend on threads and parcels. */
#ifndef GLSLINES_CONNECTOME_H
#define GLSLINES_CONNECTOME_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an end of a streamline finds its region. */
typedef enum gls_assignment {
    GLS_ASSIGN_RADIAL, /* the labelled voxel whose centre is nearest, if nearer than the radius */
    GLS_ASSIGN_END     /* the label of the voxel that holds the end */
} gls_assignment;

/* What a streamline brings to its cell, beside its weight. */
typedef enum gls_connectome_scale {
    GLS_SCALE_NONE,      /* 1 */
    GLS_SCALE_LENGTH,    /* mm */
    GLS_SCALE_INVLENGTH, /* 1 / mm; 0 for a streamline without length */
    GLS_SCALE_INVNODEVOL /* 2 / (voxels of the one region + voxels of the other) */
} gls_connectome_scale;

typedef enum gls_connectome_stat { GLS_STAT_SUM, GLS_STAT_MEAN, GLS_STAT_MIN, GLS_STAT_MAX } gls_connectome_stat;

typedef struct gls_connectome_options {
    size_t size;                /* of this struct */
    gls_assignment assignment;  /* default GLS_ASSIGN_RADIAL */
    double radius;              /* mm, > 0; default 4 */
    gls_connectome_scale scale; /* default GLS_SCALE_NONE */
    gls_connectome_stat stat;   /* default GLS_STAT_SUM; min and max ignore weights */
    bool symmetric;             /* mirror the upper triangle; default false: the lower one is 0 */
    bool zero_diagonal;         /* default false */
    bool keep_unassigned;       /* a first row and column for ends without a region; default false */
    const char *weights; /* column per streamline of one component; default NULL: 1. Borrowed until the connectome
                            is destroyed */
} gls_connectome_options;
GLS_API gls_connectome_options gls_connectome_options_default(void);

typedef struct gls_connectome_counts {
    uint64_t streamlines;
    uint64_t empty;      /* without points: they count nowhere */
    uint64_t joined;     /* both ends have a region */
    uint64_t unassigned; /* ends without a region */
} gls_connectome_counts;

#define GLS_CONNECTOME_MAX_NODES 20000

typedef struct gls_connectome gls_connectome;

/* labels: one volume of whole numbers >= 0, of any grid, 0: no region; name stands for it in messages. Regions are the
 * labels that occur, in ascending order. GLS_ERR_INPUT: other values, no label; GLS_ERR_UNSUPPORTED: more than
 * GLS_CONNECTOME_MAX_NODES labels. Memory: 4 bytes a voxel, 16 bytes a cell. */
GLS_API gls_status gls_connectome_create(const gls_image *labels, const char *name,
                                         const gls_connectome_options *options, gls_connectome **connectome);
/* The connectome as a sink, which stays with the caller: finishing or aborting it does nothing. GLS_ERR_INPUT: no
 * column of weights, a weight that is not finite. */
GLS_API gls_sink gls_connectome_sink(gls_connectome *connectome);
GLS_API gls_connectome_counts gls_connectome_get_counts(const gls_connectome *connectome);
/* Regions, and the label of each. */
GLS_API size_t gls_connectome_nodes(const gls_connectome *connectome, const int32_t **labels);
/* Rows and columns of the matrix: the regions, and one more with keep_unassigned. */
GLS_API size_t gls_connectome_size(const gls_connectome *connectome);
/* The value of a cell; cells without streamlines are 0, NaN for min and max. */
GLS_API double gls_connectome_value(const gls_connectome *connectome, size_t row, size_t column);
/* Writes the matrix as text, a row a line, separated by commas (.csv), tabs (.tsv) or blanks. An existing file is
 * replaced if overwrite says so. */
GLS_API gls_status gls_connectome_write(const gls_connectome *connectome, const char *path, bool overwrite);
/* Accepts NULL. */
GLS_API void gls_connectome_destroy(gls_connectome *connectome);

#ifdef __cplusplus
}
#endif
#endif
