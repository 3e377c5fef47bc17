/* Which streamlines are kept, by regions, length, shape, weight and membership; and what is cut or turned round by
 * regions. Regions are given as text, see <glslines/regions.h>, on any grid. */
#ifndef GLSLINES_SELECT_H
#define GLSLINES_SELECT_H

#include <glslines/filters.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a streamline is. */
typedef enum gls_roi_test {
    GLS_ROI_TEST_SEGMENT, /* on the lines between its points, cut exactly at voxel faces and spheres */
    GLS_ROI_TEST_VERTEX   /* at its points only, as tckedit of MRtrix3 */
} gls_roi_test;

typedef enum gls_select_role {
    GLS_SELECT_INCLUDE,      /* has to be met */
    GLS_SELECT_EXCLUDE,      /* must not be met */
    GLS_SELECT_ORDERED,      /* all of these are met in the order in which they are listed; coming back to the last
                                one is allowed */
    GLS_SELECT_END,          /* holds one end; of two, one holds the one end and the other the other end */
    GLS_SELECT_EXCLUDE_ENDS, /* holds no end */
    GLS_SELECT_BOTH_ENDS,    /* both ends lie in the union of these */
    GLS_SELECT_ALL           /* holds the whole streamline */
} gls_select_role;
#define GLS_SELECT_ROLES 7

typedef struct gls_select_region {
    gls_select_role role;
    const char *text;
} gls_select_region;

/* The tests in the order in which they are made; what fails the first is counted there. */
typedef enum gls_select_test {
    GLS_SELECT_BY_ID,
    GLS_SELECT_BY_GROUP,
    GLS_SELECT_BY_WEIGHT,
    GLS_SELECT_BY_POINTS,
    GLS_SELECT_BY_LENGTH,
    GLS_SELECT_BY_SHAPE,  /* turns and winding */
    GLS_SELECT_BY_REGION, /* and streamlines without points, where there are regions */
    GLS_SELECT_N_TESTS
} gls_select_test;

typedef struct gls_select_options {
    size_t size; /* size of this struct, set by the default function */
    const gls_select_region *region;
    size_t n_regions;
    gls_roi_test test;             /* default GLS_ROI_TEST_SEGMENT */
    bool either_way;               /* GLS_SELECT_ORDERED also from the end; default false */
    double distance;               /* mm by which regions are widened, >= 0; default 0. Voxels whose centre is within
                                      it of the centre of one inside count as inside */
    double min_length, max_length; /* mm, with a slack of 1e-4 mm; default 0, INFINITY */
    const char *weights;           /* column per streamline for the next two; default NULL: none */
    double min_weight, max_weight; /* default -INFINITY, INFINITY */
    uint64_t min_points;           /* default 0 */
    double max_turn;               /* degrees between successive steps; default INFINITY */
    double max_winding;            /* degrees, sum of the turns; default INFINITY */
    const char *const *group;      /* a streamline has to be in all of these */
    size_t n_groups;
    const char *const *not_group; /* and in none of these */
    size_t n_not_groups;
    const uint64_t *id; /* places in the stream counted from 0, ascending; NULL: all */
    size_t n_ids;
    bool inverse; /* keep what fails a test; default false */
} gls_select_options;
GLS_API gls_select_options gls_select_options_default(void);

typedef struct gls_select_counts {
    uint64_t taken, kept;
    uint64_t failed[GLS_SELECT_N_TESTS]; /* by the first test that failed */
} gls_select_counts;

typedef struct gls_selection gls_selection;

/* Reads the regions. What options point to, regions apart, is borrowed until the selection is destroyed.
 * GLS_ERR_ARGUMENT: out of range, text that is no region, more than two GLS_SELECT_END. GLS_ERR_INPUT: files. */
GLS_API gls_status gls_selection_create(const gls_select_options *options, gls_selection **selection);
/* The selection as a filter in front of next; it stays with the caller and has to outlive the filter. Streamlines are
 * tested by several threads and go on in their order. GLS_ERR_INPUT: no such column or group. */
GLS_API gls_status gls_selection_filter(gls_selection *selection, const gls_sink *next, gls_sink *filter);
/* Counts of the streamlines that the filter has taken so far; all zero for NULL. */
GLS_API gls_select_counts gls_selection_get_counts(const gls_selection *selection);
/* The first region that no streamline has come near: its box and the box of all streamlines share nothing, as
 * it happens where they lie in different spaces. NULL: none. */
GLS_API const char *gls_selection_far_region(const gls_selection *selection);
/* The first region whose image has values between 0 and 1, NULL: none. */
GLS_API const char *gls_selection_graded_region(const gls_selection *selection);
/* Accepts NULL. */
GLS_API void gls_selection_destroy(gls_selection *selection);

/* The side of the region that is kept of each streamline. */
typedef enum gls_crop_side { GLS_CROP_INSIDE, GLS_CROP_OUTSIDE } gls_crop_side;
/* How the kept pieces of a streamline are stored. */
typedef enum gls_crop_pieces {
    GLS_CROP_ALL,     /* each is a streamline of its own, with the columns and groups of the whole */
    GLS_CROP_LONGEST, /* the one with most mm */
    GLS_CROP_ENDS     /* only what lies before the first and behind the last piece is cut off */
} gls_crop_pieces;
typedef struct gls_crop_options {
    size_t size;            /* size of this struct, set by the default function */
    gls_roi_test test;      /* GLS_ROI_TEST_SEGMENT (default) puts a point where the streamline passes a face,
                               GLS_ROI_TEST_VERTEX keeps whole points, as tckedit -mask does */
    gls_crop_side side;     /* default GLS_CROP_INSIDE */
    gls_crop_pieces pieces; /* default GLS_CROP_ALL */
} gls_crop_options;
GLS_API gls_crop_options gls_crop_options_default(void); /* also what NULL options mean */
/* A filter that crops streamlines at a region; pieces of fewer than two points are dropped. */
GLS_API gls_status gls_filter_crop_create(const char *region, const gls_crop_options *options, const gls_sink *next,
                                          gls_sink *filter);

/* Moves points, and seeds, to where an image of three volumes says: the world position of each voxel's centre,
 * interpolated between them. A point that leaves the image, or lies beside a voxel that is not finite, is NaN. The
 * image is borrowed until the filter is finished. As tcktransform of MRtrix3. */
GLS_API gls_status gls_filter_warp_create(const gls_image *warp, const gls_sink *next, gls_sink *filter);

typedef enum gls_inside_kept { GLS_INSIDE_PART, GLS_INSIDE_WHOLE } gls_inside_kept;
/* A filter for points that are not finite or, unless grid is NULL, outside its outer faces: of each streamline the
 * longest run of other points stays, or all or nothing. Streamlines without points are dropped. */
GLS_API gls_status gls_filter_inside_create(const gls_grid *grid, gls_inside_kept kept, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);

/* Which end of a streamline becomes its start. */
typedef struct gls_orientation {
    int axis;               /* 1, 2, 3: the end with the smaller world x, y, z; 0: not by axis */
    const double *centre;   /* or the end nearer to this point, world mm; NULL */
    const float (*line)[3]; /* or the direction in which 12 points along it lie nearer to those of this line */
    size_t n_line;
} gls_orientation;
/* A filter that turns streamlines round, with their columns per vertex; *n_turned (may be NULL) counts them. */
GLS_API gls_status gls_filter_orient_create(const gls_orientation *orientation, uint64_t *n_turned,
                                            const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
