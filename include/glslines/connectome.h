/* Connectomes: how many streamlines join each pair of labelled regions. The defaults are those of MRtrix3's
 * tck2connectome 3.0. Sums are made in the order of the streamlines: they do not depend on threads and parcels. */
#ifndef GLSLINES_CONNECTOME_H
#define GLSLINES_CONNECTOME_H

#include <glslines/image.h>
#include <glslines/select.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a streamline finds its regions. All but the first two look at points, where tck2connectome does. */
typedef enum gls_assignment {
    GLS_ASSIGN_RADIAL,  /* of each end, the labelled voxel whose centre is nearest, if nearer than the radius */
    GLS_ASSIGN_END,     /* the label of the voxel that holds the end */
    GLS_ASSIGN_REVERSE, /* the first label from the end inwards, up to the middle; with a radius > 0 only until the way
                           is longer than that */
    GLS_ASSIGN_FORWARD, /* the cheapest labelled voxel within 45 degrees ahead of the end: cost is the distance of its
                           centre times 1 + angle / 45 degrees, and at most the radius */
    GLS_ASSIGN_ALL      /* all labels that the streamline meets: each pair of them, each with itself, too, gets its full
                           value; a single one is joined to none */
} gls_assignment;

/* What a streamline brings to its cell, beside its weight: the product of these bits. */
typedef enum gls_connectome_scale {
    GLS_SCALE_NONE = 0,          /* 1 */
    GLS_SCALE_LENGTH = 1,        /* mm */
    GLS_SCALE_INVLENGTH = 2,     /* 1 / mm; 0 for a streamline without length */
    GLS_SCALE_INVNODEVOL = 4,    /* number of regions / (sum of their voxels) */
    GLS_SCALE_INVNODEVOL_MM3 = 8 /* number of regions / (sum of their volumes in mm3) */
} gls_connectome_scale;

typedef enum gls_connectome_stat { GLS_STAT_SUM, GLS_STAT_MEAN, GLS_STAT_MIN, GLS_STAT_MAX } gls_connectome_stat;

typedef struct gls_connectome_options {
    size_t size;               /* of this struct */
    gls_assignment assignment; /* default GLS_ASSIGN_RADIAL */
    gls_roi_test test;         /* GLS_ASSIGN_ALL: where a streamline is; default GLS_ROI_TEST_SEGMENT */
    double radius;  /* mm; default 4. > 0 for GLS_ASSIGN_RADIAL; >= 0 for GLS_ASSIGN_REVERSE; > 0 and at most 12 voxel
                       sides for GLS_ASSIGN_FORWARD (tck2connectome: 3) */
    unsigned scale; /* bits of gls_connectome_scale; default GLS_SCALE_NONE */
    gls_connectome_stat stat; /* default GLS_STAT_SUM; min and max ignore weights */
    bool symmetric;           /* mirror the upper triangle; default false: the lower one is 0 */
    bool zero_diagonal;       /* default false */
    bool keep_unassigned;     /* a first row and column for ends without a region; default false */
    bool raw_labels;     /* rows for all labels from 1 to the largest; default false: for those that occur, ascending */
    bool edges;          /* collect what gls_connectome_get_edge() tells, 48 bytes a cell; default false */
    const char *weights; /* column per streamline of one component; default NULL: 1. Borrowed until the connectome
                            is destroyed */
    const char *scale_column; /* column per streamline of one component by which the value is multiplied; default NULL.
                                 Borrowed in the same way */
    /* Told the labels of each streamline in order: of the first and the last end, 0 for none, or, with GLS_ASSIGN_ALL,
     * all n >= 0 of them; default NULL */
    void (*assigned)(void *user, const int32_t *label, size_t n);
    void *user;
} gls_connectome_options;
GLS_API gls_connectome_options gls_connectome_options_default(void);

typedef struct gls_connectome_counts {
    uint64_t streamlines;
    uint64_t empty;      /* without points: they count nowhere */
    uint64_t joined;     /* two regions or more */
    uint64_t unassigned; /* ends without a region; with GLS_ASSIGN_ALL 2 or 1 for a streamline of none or one */
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
typedef struct gls_connectome_node {
    int32_t label;
    uint64_t voxels, ends; /* ends of streamlines; with GLS_ASSIGN_ALL streamlines */
    double volume;         /* mm3 */
    double centroid[3];    /* world mm */
} gls_connectome_node;
GLS_API gls_connectome_node gls_connectome_get_node(const gls_connectome *connectome, size_t i);
/* Rows and columns of the matrix: the regions, and one more with keep_unassigned. */
GLS_API size_t gls_connectome_size(const gls_connectome *connectome);
/* The value of a cell; cells without streamlines are 0, NaN for min and max. */
GLS_API double gls_connectome_value(const gls_connectome *connectome, size_t row, size_t column);
/* All about a cell, whatever the options make of its value. */
typedef struct gls_connectome_edge {
    uint64_t count;
    double weight;      /* sum of weights */
    double sum, mean;   /* of the weighted values; NaN where nothing is */
    double min, max;    /* of the values */
    double mean_length; /* mm, weighted */
} gls_connectome_edge;
/* row <= column; needs the option edges. */
GLS_API gls_connectome_edge gls_connectome_get_edge(const gls_connectome *connectome, size_t row, size_t column);
/* Writes the matrix as text, a row a line, separated by commas (.csv), tabs (.tsv) or blanks. An existing file is
 * kept or replaced, as `existing` says. */
GLS_API gls_status gls_connectome_write(const gls_connectome *connectome, const char *path, gls_existing existing);
/* Accepts NULL. */
GLS_API void gls_connectome_destroy(gls_connectome *connectome);

#ifdef __cplusplus
}
#endif
#endif
