/* Selects streamlines by regions, length, shape, weight and membership; crops them at regions and grids, warps and
 * orients them. Regions are given as text, see <glslines/regions.h>, on any grid. */
#ifndef GLSLINES_SELECT_H
#define GLSLINES_SELECT_H

#include <glslines/filters.h>
#include <glslines/image.h>
#include <glslines/regions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a streamline is tested against a region. */
typedef enum gls_roi_test {
    GLS_ROI_TEST_SEGMENT, /* on the lines between its points, cut exactly at voxel faces and spheres */
    GLS_ROI_TEST_VERTEX   /* only points of a streamline are tested, as tckedit of MRtrix3 */
} gls_roi_test;

/* A region, and what it does: one of the roles with a row GLS_REGION_FILTER in regions.def. Streamlines may return to
 * the last region of GLS_REGION_INCLUDE_ORDERED that they met. */
typedef struct gls_select_region {
    gls_region_role role;
    const char *text;
} gls_select_region;

/* The tests in the order in which they are made. A streamline is counted at the first test that it fails. */
typedef enum gls_select_test {
    GLS_SELECT_BY_ID,
    GLS_SELECT_BY_GROUP,
    GLS_SELECT_BY_WEIGHT,
    GLS_SELECT_BY_POINTS,
    GLS_SELECT_BY_LENGTH,
    GLS_SELECT_BY_SHAPE,  /* angle between successive steps, and sum of these angles */
    GLS_SELECT_BY_REGION, /* with regions, streamlines without points are also rejected by this test */
    GLS_SELECT_N_TESTS
} gls_select_test;

typedef struct gls_select_options {
    size_t size;                     /* size of this struct, set by the default function */
    const gls_select_region *region; /* n_regions regions that streamlines must meet or avoid; default none */
    size_t n_regions;
    gls_roi_test test; /* default GLS_ROI_TEST_SEGMENT */
    bool either_way;   /* true: streamlines may meet the regions of GLS_REGION_INCLUDE_ORDERED also in order from their
                          other end; default false */
    double distance; /* distance in mm by which regions are widened, >= 0; default 0. Voxels whose centre lies this near
                        to the centre of a voxel of the region belong to it; spheres and boxes grow by it */
    double min_length, max_length; /* limits in mm, with a tolerance of 1e-4 mm; default 0, INFINITY */
    const char *weights;           /* column with a value for each streamline, for min_weight and max_weight; default
                                      NULL: none */
    double min_weight, max_weight; /* default -INFINITY, INFINITY */
    uint64_t min_points;           /* default 0 */
    double max_turn;               /* largest angle between successive steps, degrees; default INFINITY */
    double max_winding;            /* largest sum of the angles between successive steps, degrees; default INFINITY */
    const char *const *group;      /* a streamline must belong to all of these groups; default none */
    size_t n_groups;
    const char *const *not_group; /* a streamline must not belong to any of these groups; default none */
    size_t n_not_groups;
    const uint64_t *id; /* only these positions in the stream, counted from 0, ascending; default NULL: all */
    size_t n_ids;
    bool inverse; /* keep the streamlines that fail a test; default false */
} gls_select_options;
GLS_API gls_select_options gls_select_options_default(void);

typedef struct gls_select_counts {
    uint64_t taken, kept;                /* number of streamlines received, and number handed on */
    uint64_t failed[GLS_SELECT_N_TESTS]; /* number of streamlines by the first test that they failed */
} gls_select_counts;

typedef struct gls_selection gls_selection;

/* Creates a selection and reads its regions. Everything that options point to, except texts of regions, is borrowed
 * until the selection is destroyed. GLS_ERR_ARGUMENT: an option is out of range, the text of a region is invalid, or
 * there are more than two GLS_REGION_INCLUDE_END. GLS_ERR_INPUT: an error in a file. */
GLS_API gls_status gls_selection_create(const gls_select_options *options, gls_selection **selection);
/* Creates a filter from the selection, which stays with the caller and must outlive the filter. Several threads test
 * streamlines, which go on in their order. GLS_ERR_INPUT: a column or group is missing. */
GLS_API gls_status gls_selection_filter(gls_selection *selection, const gls_sink *next, gls_sink *filter);
/* Counts of the streamlines that the filter has received so far; all zero for NULL. */
GLS_API gls_select_counts gls_selection_get_counts(const gls_selection *selection);
/* The first region that no streamline came near: its box and the box of all streamlines do not overlap, as happens when
 * they lie in different spaces. NULL: none. */
GLS_API const char *gls_selection_far_region(const gls_selection *selection);
/* The first region whose image has values between 0 and 1. NULL: none. */
GLS_API const char *gls_selection_graded_region(const gls_selection *selection);
/* Frees `selection`, which may be NULL. */
GLS_API void gls_selection_destroy(gls_selection *selection);

/* The side of the region on which streamlines are kept. */
typedef enum gls_crop_side { GLS_CROP_INSIDE, GLS_CROP_OUTSIDE } gls_crop_side;
/* How the kept pieces of a streamline are stored. */
typedef enum gls_crop_pieces {
    GLS_CROP_ALL,     /* each piece becomes a streamline, with the columns and groups of the whole */
    GLS_CROP_LONGEST, /* only the longest piece, in mm */
    GLS_CROP_ENDS     /* one streamline: only what lies before the first and behind the last piece is removed */
} gls_crop_pieces;
typedef struct gls_crop_options {
    size_t size;            /* size of this struct, set by the default function */
    gls_roi_test test;      /* GLS_ROI_TEST_SEGMENT (default) adds a point where the streamline crosses a face;
                               GLS_ROI_TEST_VERTEX keeps existing points, as tckedit -mask */
    gls_crop_side side;     /* default GLS_CROP_INSIDE */
    gls_crop_pieces pieces; /* default GLS_CROP_ALL */
} gls_crop_options;
/* The options with the defaults above. Since 0.2.0. */
GLS_API gls_crop_options gls_crop_options_default(void); /* NULL options mean these */
/* Creates a filter that crops streamlines at a region. Pieces of fewer than two points are dropped. */
GLS_API gls_status gls_filter_crop_create(const char *region, const gls_crop_options *options, const gls_sink *next,
                                          gls_sink *filter);

/* Creates a filter that moves points and seeds by an image of three volumes, which holds the new world position of each
 * voxel's centre; positions between centres are interpolated. A point outside the image, or beside a voxel that is not
 * finite, becomes NaN. The image is borrowed until the filter is finished. As tcktransform of MRtrix3. */
GLS_API gls_status gls_filter_warp_create(const gls_image *warp, const gls_sink *next, gls_sink *filter);

typedef enum gls_inside_kept { GLS_INSIDE_PART, GLS_INSIDE_WHOLE } gls_inside_kept;
/* Creates a filter that removes points that are not finite or, unless grid is NULL, outside the outer faces of the
 * grid. GLS_INSIDE_PART keeps the longest run of other points of a streamline; GLS_INSIDE_WHOLE drops a streamline
 * with such a point. Streamlines without points are dropped. */
GLS_API gls_status gls_filter_inside_create(const gls_grid *grid, gls_inside_kept kept, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);

/* Which end of a streamline becomes its start. Exactly one of axis, centre and line is set. */
typedef struct gls_orientation {
    int axis;               /* 1, 2, 3: the end with the smaller world x, y, z; 0: not set */
    const double *centre;   /* the end nearer to this point, world mm; NULL: not set */
    const float (*line)[3]; /* streamlines run in the direction in which 12 points along them lie nearer to 12 points
                               along this line, world mm; NULL: not set */
    size_t n_line;          /* number of points of `line` */
} gls_orientation;
/* Creates a filter that orients streamlines, with their columns per vertex. *n_turned (may be NULL): number of
 * streamlines reversed. */
GLS_API gls_status gls_filter_orient_create(const gls_orientation *orientation, uint64_t *n_turned,
                                            const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
