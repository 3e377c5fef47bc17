/* Filters that crop streamlines at regions, flip them to one direction, or keep the parts inside a grid. */
#include <glslines/select.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "tracts/other_space.h"
#include "tracts/line_geometry.h"
#include "tracts/rois.h"
#include "util/maths.h"
#include "util/status.h"

typedef struct reshaper reshaper;
/* A filter of single streamlines. reshape: appends to the builder what becomes of streamline i of a block. */
struct reshaper {
    /* collects the new streamlines for the next sink; owned */
    gls_builder builder;
    gls_status (*reshape)(reshaper *reshaper, const gls_streamlines *s, size_t i);
    /* regions at which crop() cuts; used by crop() only */
    gls_rois *rois;
    /* regions of the current streamline */
    gls_roi_hits hits;
    /* options of crop(), which cuts streamlines at regions */
    gls_crop_options cropping;
    /* used by turn() only. centre: centre, mm, of the region near which streamlines shall start; standard: the line
     * along which streamlines shall run */
    gls_orientation orientation;
    double centre[3];
    float standard[GLS_ORIENT_POINTS][3];
    /* number of streamlines that were flipped: the caller's counter, or `own` */
    uint64_t *n_turned, own;
    /* used by keep_inside() only. whole: drop a streamline that has a point outside; inverse: from world mm to voxel
     * coordinates of the grid */
    bool has_grid, whole;
    /* valid if has_grid */
    gls_grid grid;
    double inverse[3][4];
    /* the caller's counters, or own_counts */
    gls_filter_counts *counts, own_counts;
};

/* A position on a streamline: share of the way from point `point` to the next. */
typedef struct position {
    uint64_t point;
    double share;
} position;

/* Moves on from a position to the distance `mm` from the start of the streamline. *at: distance of the position's point
 * from the start, on entry of the old position, on return of the new one. */
static position move_on(const gls_streamlines *s, size_t i, position from, double *at, double mm)
{
    const uint64_t last = s->offset[i + 1] - 1;
    while (from.point < last) {
        double step = gls_builder_distance(s, from.point, from.point + 1);
        if (*at + step > mm) return (position){from.point, step > 0 ? fmax(mm - *at, 0) / step : 0};
        *at += step;
        from.point++;
    }
    return (position){last, 0};
}

/* Appends the part of streamline i between two positions; a part of one point is left out. from, until: see below. */
static gls_status add_piece(reshaper *f, const gls_streamlines *s, size_t i, double from, double until)
{
    double at = 0;
    /* a, b: first and last position. Where points are tested, `from` is the index of a point and `until` one past the
     * last; where segments are tested, both are mm. */
    uint64_t to;
    position a = {s->offset[i], 0}, b;
    if (f->cropping.test == GLS_ROI_TEST_VERTEX) {
        a.point += (uint64_t)from;
        b = (position){s->offset[i] + (uint64_t)until - 1, 0};
    } else {
        a = move_on(s, i, a, &at, from);
        b = move_on(s, i, (position){a.point, 0}, &at, until);
    }
    /* points of the piece: an interpolated start, whole points, and an interpolated end unless b is a point itself */
    uint64_t first = a.point + 1, n = (b.point >= first ? b.point - first + 1 : 0) + 1 + (b.share > 0);
    if (n < 2) return GLS_OK;
    gls_status status = gls_builder_add(&f->builder, i, n, &to);
    if (status) return status;
    gls_builder_mix(&f->builder, to, a.point, a.share);
    if (b.point >= first) gls_builder_copy(&f->builder, to + 1, first, b.point - first + 1);
    if (b.share > 0) gls_builder_mix(&f->builder, to + n - 1, b.point, b.share);
    return GLS_OK;
}

/* Appends what is wanted of streamline i inside or outside the region: all pieces, the longest, or one from the start
 * of the first piece to the end of the last. */
static gls_status crop(reshaper *f, const gls_streamlines *s, size_t i)
{
    gls_roi_hits *h = &f->hits;
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    const gls_crop_pieces pieces = f->cropping.pieces;
    double from = INFINITY, until = 0, begin = 0;
    bool inside = false;
    gls_status status = GLS_OK;
    if (n < 2) return GLS_OK;
    gls_rois_find(f->rois, h, s->point + s->offset[i], n);
    if (h->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    /* a piece ends where the streamline enters or leaves the region, and at the end of the streamline */
    for (size_t k = 0; k <= h->n && !status; k++) {
        const double end = k < h->n ? h->event[k].at : h->length;
        const bool kept = inside == (f->cropping.side == GLS_CROP_INSIDE) && end > begin;
        if (kept && pieces == GLS_CROP_ALL) status = add_piece(f, s, i, begin, end);
        if (kept && (pieces == GLS_CROP_ENDS || end - begin > until - from || isinf(from))) {
            from = pieces == GLS_CROP_ENDS ? fmin(from, begin) : begin;
            until = end;
        }
        begin = end;
        inside = k < h->n && h->event[k].set;
    }
    return status || pieces == GLS_CROP_ALL || isinf(from) ? status : add_piece(f, s, i, from, until);
}

/* Copies streamline i, from its last point to its first if it runs backwards. */
static gls_status turn(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t n = s->offset[i + 1] - s->offset[i];
    uint64_t to;
    bool turned = n > 1 && gls_line_is_backwards(&f->orientation, f->centre, (const float(*)[3])f->standard,
                                                 s->point + s->offset[i], (size_t)n);
    gls_status status = gls_builder_add(&f->builder, i, n, &to);
    if (status) return status;
    *f->n_turned += turned;
    if (!turned) gls_builder_copy(&f->builder, to, s->offset[i], n);
    for (uint64_t p = 0; turned && p < n; p++) gls_builder_copy(&f->builder, to + p, s->offset[i] + n - 1 - p, 1);
    return GLS_OK;
}

/* Whether a point is finite and, if there is a grid, in one of its voxels. */
static bool is_inside(const reshaper *f, const float *point)
{
    const double p[3] = {point[0], point[1], point[2]};
    double v[3];
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) return false;
    if (!f->has_grid) return true;
    gls_affine_apply((const double(*)[4])f->inverse, p, v);
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= -0.5 && v[a] <= f->grid.dim[a] - 0.5)) return false;
    return true;
}

/* Appends the longest run of points of streamline i inside the grid; with `whole`, only a streamline without a point
 * outside. */
static gls_status keep_inside(reshaper *f, const gls_streamlines *s, size_t i)
{
    uint64_t begin = s->offset[i], first = 0, n = 0, to;
    f->counts->taken++;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        if (!is_inside(f, s->point[p])) {
            begin = p + 1;
        } else if (p + 1 - begin > n) {
            first = begin;
            n = p + 1 - begin;
        }
    }
    if (n == 0 || (f->whole && n < s->offset[i + 1] - s->offset[i])) return GLS_OK;
    f->counts->kept++;
    gls_status status = gls_builder_add(&f->builder, i, n, &to);
    if (!status) gls_builder_copy(&f->builder, to, first, n);
    return status;
}

/* Function `append` of the filter: hands on what becomes of each streamline of a block. */
static gls_status append(void *user, const gls_streamlines *s)
{
    reshaper *f = user;
    gls_status status = gls_builder_begin(&f->builder, s);
    for (size_t i = 0; i < s->n && !status; i++) status = f->reshape(f, s, i);
    return status ? status : gls_builder_flush(&f->builder);
}

static void discard(void *user)
{
    reshaper *f = user;
    gls_builder_finish(&f->builder);
    gls_roi_hits_finish(&f->hits);
    gls_rois_destroy(f->rois);
    free(f);
}

/* Creates a filter that has the values of `like` and hands its streamlines to `next`. Takes over like->rois on
 * success. */
static gls_status create(const reshaper *like, const gls_sink *next, gls_sink *filter)
{
    reshaper *f = malloc(sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    *f = *like;
    if (!f->n_turned) f->n_turned = &f->own;
    *f->n_turned = 0;
    if (!f->counts) f->counts = &f->own_counts;
    *f->counts = (gls_filter_counts){0};
    *filter = gls_builder_sink(&f->builder, next, append, discard);
    return GLS_OK;
}

gls_crop_options gls_crop_options_default(void)
{
    return (gls_crop_options){.size = sizeof(gls_crop_options)};
}

gls_status gls_filter_crop_create(const char *region, const gls_crop_options *options, const gls_sink *next,
                                  gls_sink *filter)
{
    return gls_filter_crop_create_in(region, options, NULL, next, filter);
}

gls_status gls_filter_crop_create_in(const char *region, const gls_crop_options *options, const gls_transform *space,
                                     const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(region && next && next->append && filter);
    reshaper f = {.reshape = crop, .cropping = options ? *options : gls_crop_options_default()};
    GLS_REQUIRE((unsigned)f.cropping.pieces <= GLS_CROP_ENDS);
    size_t index;
    gls_status status = gls_rois_create(f.cropping.test, space, &f.rois);
    if (!status) status = gls_rois_add(f.rois, "crop", region, 0, &index);
    if (!status) status = create(&f, next, filter);
    if (status) gls_rois_destroy(f.rois);
    return status;
}

gls_status gls_filter_orient_create(const gls_orientation *orientation, uint64_t *n_turned, const gls_sink *next,
                                    gls_sink *filter)
{
    GLS_REQUIRE(orientation && next && next->append && filter);
    GLS_REQUIRE((orientation->axis != 0) + (orientation->centre != NULL) + (orientation->line != NULL) == 1);
    GLS_REQUIRE(orientation->axis >= 0 && orientation->axis <= 3);
    GLS_REQUIRE(!orientation->line || orientation->n_line >= 1);
    reshaper f = {.reshape = turn, .orientation = *orientation, .n_turned = n_turned};
    if (orientation->centre) memcpy(f.centre, orientation->centre, sizeof f.centre);
    if (orientation->line) gls_line_resample(orientation->line, orientation->n_line, GLS_ORIENT_POINTS, f.standard);
    return create(&f, next, filter);
}

gls_status gls_filter_inside_create(const gls_grid *grid, gls_inside_kept kept, gls_filter_counts *counts,
                                    const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    reshaper f = {
        .reshape = keep_inside, .has_grid = grid != NULL, .whole = kept == GLS_INSIDE_WHOLE, .counts = counts};
    if (grid) {
        f.grid = *grid;
        gls_grid_inverse(grid, f.inverse);
    }
    return create(&f, next, filter);
}
