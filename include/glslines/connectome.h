/* Connectomes: how many streamlines connect each pair of labelled regions. The defaults are those of tck2connectome in
 * MRtrix3 3.0. Sums are made in the order of the streamlines, so they do not depend on the number of threads or on
 * blocks. */
#ifndef GLSLINES_CONNECTOME_H
#define GLSLINES_CONNECTOME_H

#include <glslines/labels.h>
#include <glslines/select.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the regions of a streamline are found. GLS_ASSIGN_REVERSE looks at the points only, as tck2connectome does, not
 * at the lines between them; for GLS_ASSIGN_ALL see gls_connectome_options.test. */
typedef enum gls_assignment {
    GLS_ASSIGN_RADIAL,  /* for each end, the labelled voxel with the nearest centre, if it is nearer than the radius */
    GLS_ASSIGN_END,     /* label of the voxel that contains the end */
    GLS_ASSIGN_REVERSE, /* first label from the end inwards, up to the middle; with a radius > 0 only within this
                           distance along the streamline */
    GLS_ASSIGN_FORWARD, /* cheapest labelled voxel within 45 degrees ahead of the end; its cost is the distance of its
                           centre times 1 + angle / 45 degrees, and must not exceed the radius */
    GLS_ASSIGN_ALL /* all labels on the streamline. If there are two or more, each pair of them, and each with itself,
                      gets the full value; a single label is not connected, not even with itself */
} gls_assignment;

/* Factors of a streamline's value, beside its weight: the value is the product of the factors whose bits are set. */
typedef enum gls_connectome_scale {
    GLS_SCALE_NONE = 0,          /* factor 1 */
    GLS_SCALE_LENGTH = 1,        /* length in mm */
    GLS_SCALE_INVLENGTH = 2,     /* 1 / length in mm; 0 for a streamline without length */
    GLS_SCALE_INVNODEVOL = 4,    /* number of regions / (sum of their voxels) */
    GLS_SCALE_INVNODEVOL_MM3 = 8 /* number of regions / (sum of their volumes in mm3) */
} gls_connectome_scale;

typedef enum gls_connectome_stat {
    GLS_STAT_SUM,
    GLS_STAT_MEAN,
    GLS_STAT_MIN,
    GLS_STAT_MAX,
    GLS_STAT_MEDIAN /* of an even number of values the mean of the two in the middle; 16 bytes for each streamline */
} gls_connectome_stat;

/* Labels that have a row. For `glslines connectome` and track --connectome: gls_connectome_options has raw_labels and
 * rows. */
typedef enum gls_connectome_rows {
    GLS_LABELS_COMPACT, /* labels that occur */
    GLS_LABELS_RAW,     /* all labels from 1 to the largest */
    GLS_LABELS_LUT,     /* labels of a table and those that occur */
    GLS_LABELS_SOFT,    /* a row for each volume of an image of probabilities: gls_connectome_create_soft() */
    GLS_LABELS_MAX      /* the same rows; the label of a voxel is the volume with the largest value */
} gls_connectome_rows;

typedef struct gls_connectome_options {
    size_t size;               /* size of this struct, set by the default function */
    gls_assignment assignment; /* default GLS_ASSIGN_RADIAL */
    gls_roi_test test;         /* GLS_ASSIGN_ALL: where labels are looked up; default GLS_ROI_TEST_SEGMENT */
    double radius;  /* mm; default 4. > 0 for GLS_ASSIGN_RADIAL; >= 0 for GLS_ASSIGN_REVERSE; > 0 and at most 12 voxel
                       sides for GLS_ASSIGN_FORWARD (tck2connectome: 3) */
    unsigned scale; /* bits of gls_connectome_scale; default GLS_SCALE_NONE */
    gls_connectome_stat stat; /* default GLS_STAT_SUM; min, max and median ignore weights */
    bool symmetric;           /* mirror the upper triangle; default false: the lower one is 0 */
    bool zero_diagonal;       /* default false */
    bool keep_unassigned;     /* adds a first row and column for ends without a region; default false */
    bool vector; /* one row in place of the matrix: a streamline counts for the region of its last end, whatever that of
                    its first; default false. Not with GLS_ASSIGN_ALL, symmetric, zero_diagonal and edges */
    bool raw_labels;     /* rows for all labels from 1 to the largest; default false: only for labels that occur, in
                            ascending order */
    const int32_t *rows; /* n_rows labels from 1 on that have rows although they may not occur, in any order; default
                            NULL. Needed during gls_connectome_create() only */
    size_t n_rows;
    bool edges;          /* collects what gls_connectome_get_edge() returns, 48 bytes for each cell; default false */
    const char *weights; /* column of one component for each streamline; default NULL: weights of 1. Borrowed until the
                            connectome is destroyed */
    const char *scale_column; /* column of one component for each streamline by which the value is multiplied; default
                                 NULL: none. Borrowed, as the column of weights */
    /* Receives the labels of each streamline, in the order of streamlines: n = 2 labels, of its first and of its last
     * end, 0 for none; with GLS_ASSIGN_ALL all n >= 0 labels. Default NULL. */
    void (*assigned)(void *user, const int32_t *label, size_t n);
    void *user;
} gls_connectome_options;
GLS_API gls_connectome_options gls_connectome_options_default(void);

typedef struct gls_connectome_counts {
    uint64_t streamlines;
    uint64_t empty;      /* streamlines without points, which are not counted anywhere */
    uint64_t joined;     /* streamlines with a region, possibly the same, at both ends; with GLS_ASSIGN_ALL, streamlines
                            with two or more regions */
    uint64_t unassigned; /* number of ends without a region. With GLS_ASSIGN_ALL, a streamline without a region counts
                            as two ends, a streamline with one region as one end */
} gls_connectome_counts;

/* Largest number of regions of a connectome. */
#define GLS_CONNECTOME_MAX_NODES 20000

typedef struct gls_connectome gls_connectome;

/* Creates a connectome. labels: on any grid. name: for messages. Regions are
 * the labels that occur and those of `rows`, or with raw_labels all labels up to the largest, in ascending order.
 * Memory: 4 bytes for each voxel, 16 bytes for each cell. GLS_ERR_INPUT: a value below 0, or no label;
 * GLS_ERR_UNSUPPORTED: more than GLS_CONNECTOME_MAX_NODES regions. */
GLS_API gls_status gls_connectome_create(const gls_labels *labels, const char *name,
                                         const gls_connectome_options *options, gls_connectome **connectome);
/* Creates a connectome of a probabilistic parcellation: volume k of the image, from 1, is the probability of region k,
 * which is its label. An end belongs to a region by its probability there, trilinear between voxels; where the sum of
 * all exceeds 1 they are divided by it, and what is left to 1 has no region. With GLS_ASSIGN_RADIAL an end where the
 * sum is below 0.01 gets the probabilities of the nearest voxel within the radius that has more. A streamline adds to
 * each pair of regions the product of the probabilities of its ends. GLS_ERR_INPUT: a value outside 0 to 1, or NaN;
 * GLS_ERR_UNSUPPORTED: other assignments, min, max, median, invnodevol, `edges` and `assigned`. Options of rows have no
 * effect. Since 0.2.0. */
GLS_API gls_status gls_connectome_create_soft(const gls_image *probabilities, const char *name,
                                              const gls_connectome_options *options, gls_connectome **connectome);
/* Returns the connectome as a sink. The connectome stays with the caller: finishing or aborting the sink does nothing.
 * GLS_ERR_INPUT: a column that the options name is missing, or has a value that is not finite. */
GLS_API gls_sink gls_connectome_sink(gls_connectome *connectome);
/* Counts of the streamlines that the sink has received so far. */
GLS_API gls_connectome_counts gls_connectome_get_counts(const gls_connectome *connectome);
/* Returns the number of regions. *labels (may be NULL) gets an array of the labels of the regions, valid as long as the
 * connectome. */
GLS_API size_t gls_connectome_nodes(const gls_connectome *connectome, const int32_t **labels);
typedef struct gls_connectome_node {
    int32_t label;
    /* voxels: of probabilities those above 0. ends: number of ends of streamlines in the region, of probabilities where
     * its own is above 0; with GLS_ASSIGN_ALL, number of streamlines that meet the region */
    uint64_t voxels, ends;
    double volume;      /* mm3 */
    double centroid[3]; /* world mm; NaN if the region has no voxels */
} gls_connectome_node;
/* Region i of gls_connectome_nodes(). */
GLS_API gls_connectome_node gls_connectome_get_node(const gls_connectome *connectome, size_t i);
/* Number of rows and columns of the matrix: the regions, and one more with keep_unassigned. With `vector` there is one
 * row. */
GLS_API size_t gls_connectome_size(const gls_connectome *connectome);
/* Value of a cell by the statistic that the options choose; row and column are below gls_connectome_size(). A cell
 * without streamlines is 0, or NaN for min, max and median. Below the diagonal all cells are 0 unless the option
 * `symmetric` is set; on the diagonal they are 0 with zero_diagonal. */
GLS_API double gls_connectome_value(const gls_connectome *connectome, size_t row, size_t column);
/* All statistics of a cell; gls_connectome_value() gives the statistic that the option stat chooses. */
typedef struct gls_connectome_edge {
    uint64_t count;
    double weight;      /* sum of weights */
    double sum, mean;   /* sum of the weighted values, and sum / weight; the mean is NaN if weight is 0 */
    double min, max;    /* smallest and largest value, without weights; NaN if count is 0 */
    double mean_length; /* mm, weighted; NaN if weight is 0 */
} gls_connectome_edge;
/* Returns the statistics of a cell, row <= column. If the option `edges` is not set, or row or column is not below
 * gls_connectome_size(), returns the statistics of an empty cell. */
GLS_API gls_connectome_edge gls_connectome_get_edge(const gls_connectome *connectome, size_t row, size_t column);
/* Writes the matrix as text, one row in a line, separated by commas (.csv), tabs (.tsv) or blanks. existing: what to do
 * with an existing file. */
GLS_API gls_status gls_connectome_write(const gls_connectome *connectome, const char *path, gls_existing existing);
/* Frees `connectome`, which may be NULL. */
GLS_API void gls_connectome_destroy(gls_connectome *connectome);

#ifdef __cplusplus
}
#endif
#endif
