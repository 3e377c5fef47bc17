/* Checks of streamlines that need all their points: crops ends at the border of grey matter, tests the regions of ends,
 * thins points, and removes streamlines that fail. The functions run on the worker thread, and share streamlines among
 * OpenMP threads where points are thinned. */
#include "track/engine/refine.h"
#include "image/tissue_image.h"
#include "image/tissue_interface.h"
#include "streamlines/thin.h"
#include "track/engine/batch_result.h"
#include "track/guide/guide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_set.h"
#include "util/maths.h"
#include "util/status.h"

/* Longest segment that compression leaves, mm. */
#define MAX_SEGMENT 10.0
/* Use threads only for more than this many streamlines. */
#define ENOUGH_LINES 256

/* Pieces of a part of a step, in which the lengths of cropped streamlines are counted. */
#define PIECES 64

/* Bits, as in gls_regions_at(), of the regions that test the ends of streamlines; 0: none. */
static uint32_t end_bits(const gls_guide *guide)
{
    return gls_regions_bits_where(guide->regions, GLS_REGION_ENDS);
}

/* Whether ends in cortical grey matter are cropped at its border (--crop-at-gmwmi, with --act). */
static bool crops(const gls_guide *guide)
{
    return guide->tissue && guide->params.crop_at_gmwmi;
}

uint32_t gls_refine_pieces(const gls_guide *guide)
{
    return crops(guide) ? PIECES : 1;
}

/* Whether points are left out of the output (--downsample, --compress). */
static bool thins_points(const gls_guide *guide)
{
    return guide->params.downsample > 1 || guide->params.compress > 0;
}

bool gls_refine_is_needed(const gls_guide *guide)
{
    return crops(guide) || end_bits(guide) != 0 || thins_points(guide);
}

/* The streamline that is being checked. */
typedef struct refined {
    const gls_guide *guide;
    const double (*space)[4]; /* affine map from voxel coordinates to the space of the points; inverse: its inverse */
    double inverse[3][4];
    float (*point)[3]; /* points of the streamline, in the space of the output */
    size_t n;          /* number of points of the streamline */
    uint32_t parts;    /* number of parts of a step */
} refined;

/* Point i in voxel coordinates. */
static void voxel_at(const refined *r, size_t i, double out[3])
{
    const double p[3] = {r->point[i][0], r->point[i][1], r->point[i][2]};
    gls_affine_apply((const double(*)[4])r->inverse, p, out);
}

/* Distance in mm between two positions in voxel coordinates. */
static double distance(const refined *r, const double a[3], const double b[3])
{
    const double *side = r->guide->tissue->grid.voxel_size;
    double square = 0;
    for (int i = 0; i < 3; i++) square += (a[i] - b[i]) * (a[i] - b[i]) * side[i] * side[i];
    return sqrt(square);
}

/* Moves the last or the first point to the border of grey matter. Returns by how many mm the streamline becomes
 * shorter, 0 if nothing is cropped. Returns 0, too, if it becomes slightly longer, as it may along a curved step: its
 * counted length then stays within the maximum. */
static double crop(refined *r, bool last)
{
    /* `at`: index of the end; `from` and `before`: indices of the two points next to the end. */
    size_t at = last ? r->n - 1 : 0, from = last ? r->n - 2 : 1, before = last ? r->n - 3 : 2;
    double p[3][3], old[3];
    voxel_at(r, before, p[0]);
    voxel_at(r, from, p[1]);
    voxel_at(r, at, p[2]);
    memcpy(old, p[2], sizeof old);
    if (!gls_tissue_crop(r->guide->tissue, p[0], p[1], p[2])) return 0;
    /* Store the moved end in the space of the points. */
    double mapped[3];
    gls_affine_apply(r->space, p[2], mapped);
    for (int a = 0; a < 3; a++) r->point[at][a] = (float)mapped[a];
    return fmax(0, distance(r, p[1], old) - distance(r, p[1], p[2]));
}

/* Bits of the regions that point i lies in. */
static uint32_t regions_at_end(const refined *r, size_t i)
{
    double p[3];
    voxel_at(r, i, p);
    return gls_regions_at(r->guide->regions, (const float[3]){(float)p[0], (float)p[1], (float)p[2]});
}

/* Crops ends in cortical grey matter at its border (--crop-at-gmwmi), then tests the length, and the regions in which
 * the ends lie now. */
static gls_verdict decide(refined *r, gls_outcome *o)
{
    const gls_track_params *p = &r->guide->params;
    double cropped = 0;
    if (crops(r->guide) && r->n >= 3) {
        if (o->end[0] == GLS_END_CGM) cropped += crop(r, false);
        if (o->end[1] == GLS_END_CGM) cropped += crop(r, true);
    }
    /* length: mm, of all parts before any crop, less what the crops removed. */
    const double part = p->step_size / r->parts, length = o->parts * part - cropped;
    if (crops(r->guide)) o->parts = (uint32_t)lround(fmax(length, 0) / part * PIECES);
    /* Only a streamline that was cropped can have become too short; judge() of place.c has tested all other
     * streamlines. */
    if (cropped > 0 && length < p->min_length * (1 - 1e-9)) return GLS_VERDICT_TOO_SHORT;
    if (!end_bits(r->guide)) return GLS_VERDICT_KEPT;
    const bool fit =
        gls_region_ends_fit(r->guide->regions->role_bits, regions_at_end(r, 0), regions_at_end(r, r->n - 1));
    return fit ? GLS_VERDICT_KEPT : GLS_VERDICT_WRONG_ENDS;
}

/* Removes points; returns how many stay. kept: memory for r->n indices. */
static size_t thin(refined *r, const gls_outcome *o, size_t *kept)
{
    const gls_track_params *p = &r->guide->params;
    const float(*point)[3] = (const float(*)[3])r->point;
    size_t n = p->compress > 0 ? gls_points_compress(point, r->n, p->compress, MAX_SEGMENT, kept)
                               : gls_points_downsample(r->n, (size_t)p->downsample, o->backward, kept);
    for (size_t k = 0; k < n; k++) memcpy(r->point[k], r->point[kept[k]], sizeof *r->point);
    return n;
}

/* Decides about each streamline of the result independently. The remaining points of a streamline move to the front of
 * its memory. */
static gls_status refine_all(const refined *all, gls_outcome *const *outcome, gls_batch_result *result)
{
    bool thins = thins_points(all->guide), failed = false;
    /* The longest streamline sets the size of each thread's list of kept points. */
    size_t longest = 0;
    for (size_t i = 0; i < result->n; i++) {
        size_t n = (size_t)(result->offset[i + 1] - result->offset[i]);
        longest = n > longest ? n : longest;
    }
#pragma omp parallel if (thins && result->n > ENOUGH_LINES)
    {
        size_t *kept = thins && longest > 0 ? malloc(longest * sizeof *kept) : NULL;
        refined r = *all;
        if (thins && longest > 0 && !kept) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < result->n; i++) {
            gls_outcome *o = outcome[i];
            /* Verdicts and points of one streamline; threads write to different streamlines only. */
            r.point = result->point + result->offset[i];
            r.n = (size_t)(result->offset[i + 1] - result->offset[i]);
            gls_verdict verdict = decide(&r, o);
            o->verdict = (uint8_t)verdict;
            o->met_counts = verdict != GLS_VERDICT_TOO_SHORT;
            if (verdict == GLS_VERDICT_KEPT && kept) o->points = (uint32_t)thin(&r, o, kept);
        }
        free(kept);
    }
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for a streamline") : GLS_OK;
}

/* Closes the gaps left by streamlines and points that were removed. */
static void squeeze(gls_outcome *const *outcome, gls_batch_result *result)
{
    size_t kept = 0, n = result->n;
    uint64_t points = 0;
    for (size_t i = 0; i < n; i++) {
        if (outcome[i]->verdict != GLS_VERDICT_KEPT) continue;
        memmove(result->point + points, result->point + result->offset[i], outcome[i]->points * sizeof *result->point);
        memmove(result->seed[kept], result->seed[i], sizeof result->seed[kept]);
        result->seed_index[kept] = result->seed_index[i];
        result->offset[kept++] = points;
        points += outcome[i]->points;
    }
    result->n = kept;
    result->offset[kept] = points;
}

gls_status gls_refine(const gls_guide *guide, uint32_t parts, const double space[3][4], gls_outcomes *outcomes,
                      gls_batch_result *result)
{
    refined r = {.guide = guide, .parts = parts, .space = space};
    size_t n = 0;
    if (result->n == 0) return GLS_OK;
    gls_outcome **outcome = malloc(result->n * sizeof *outcome);
    if (!outcome) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", result->n);
    gls_affine_invert(space, r.inverse);
    /* outcome[i]: the outcome of streamline i of the result, which holds kept streamlines only. */
    for (size_t i = 0; i < outcomes->n_outcomes; i++)
        if (outcomes->outcome[i].verdict == GLS_VERDICT_KEPT) outcome[n++] = &outcomes->outcome[i];
    gls_status status = refine_all(&r, outcome, result);
    if (!status) squeeze(outcome, result);
    free(outcome);
    return status;
}
