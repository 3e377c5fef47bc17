#include "track/engine/refine.h"

#include <math.h>
#include <string.h>

#include "image/regions.h"
#include "image/tissue.h"
#include "util/affine.h"

#define END_ROLES 3
static const gls_region_role end_role[END_ROLES] = {GLS_REGION_INCLUDE_END, GLS_REGION_INCLUDE_BOTH_ENDS,
                                                    GLS_REGION_EXCLUDE_END};

static uint32_t end_bits(const gls_guide *guide)
{
    uint32_t bits = 0;
    for (int i = 0; i < END_ROLES; i++) bits |= gls_regions_bits(guide->regions, end_role[i]);
    return bits;
}

static bool crops(const gls_guide *guide)
{
    return guide->tissue && guide->params.crop_at_gmwmi;
}

bool gls_refine_is_needed(const gls_guide *guide)
{
    return crops(guide) || end_bits(guide) != 0;
}

/* A streamline on its way through the checks. */
typedef struct refined {
    const gls_guide *guide;
    const double (*space)[4]; /* voxel coordinates to the space of the points, and back */
    double inverse[3][4];
    float (*point)[3];
    size_t n;
    uint32_t parts; /* of a step */
} refined;

static void voxel_at(const refined *r, size_t i, double out[3])
{
    const double p[3] = {r->point[i][0], r->point[i][1], r->point[i][2]};
    gls_affine_apply((const double(*)[4])r->inverse, p, out);
}

/* mm between two places in voxel coordinates. */
static double distance(const refined *r, const double a[3], const double b[3])
{
    const double *side = r->guide->tissue->grid.voxel_size;
    double square = 0;
    for (int i = 0; i < 3; i++) square += (a[i] - b[i]) * (a[i] - b[i]) * side[i] * side[i];
    return sqrt(square);
}

/* Moves an end to the interface; returns by how much the streamline becomes shorter, mm. */
static double crop(refined *r, bool last)
{
    size_t at = last ? r->n - 1 : 0, from = last ? r->n - 2 : 1, before = last ? r->n - 3 : 2;
    double p[3][3], old[3];
    voxel_at(r, before, p[0]);
    voxel_at(r, from, p[1]);
    voxel_at(r, at, p[2]);
    memcpy(old, p[2], sizeof old);
    if (!gls_tissue_crop(r->guide->tissue, p[0], p[1], p[2])) return 0;
    double mapped[3];
    gls_affine_apply(r->space, p[2], mapped);
    for (int a = 0; a < 3; a++) r->point[at][a] = (float)mapped[a];
    return distance(r, p[1], old) - distance(r, p[1], p[2]);
}

static uint32_t regions_at_end(const refined *r, size_t i)
{
    double p[3];
    voxel_at(r, i, p);
    return gls_regions_at(r->guide->regions, (const float[3]){(float)p[0], (float)p[1], (float)p[2]});
}

static bool ends_fit(const refined *r)
{
    const gls_regions *regions = r->guide->regions;
    uint32_t a = regions_at_end(r, 0), b = regions_at_end(r, r->n - 1), wanted, one;
    if ((a | b) & gls_regions_bits(regions, GLS_REGION_EXCLUDE_END)) return false;
    wanted = gls_regions_bits(regions, GLS_REGION_INCLUDE_BOTH_ENDS);
    if (wanted && !((a & wanted) && (b & wanted))) return false;
    wanted = gls_regions_bits(regions, GLS_REGION_INCLUDE_END);
    one = wanted & -wanted;
    if (wanted == one) return !wanted || ((a | b) & one);
    /* one end in each */
    return ((a & one) && (b & (wanted ^ one))) || ((b & one) && (a & (wanted ^ one)));
}

static gls_verdict decide(refined *r, const gls_outcome *o)
{
    const gls_track_params *p = &r->guide->params;
    double cropped = 0;
    if (crops(r->guide) && r->n >= 3) {
        if (o->end[0] == GLS_END_CGM) cropped += crop(r, false);
        if (o->end[1] == GLS_END_CGM) cropped += crop(r, true);
    }
    double length = o->parts * p->step_size / r->parts - cropped;
    if (cropped > 0 && length < p->min_length * (1 - 1e-9)) return GLS_VERDICT_TOO_SHORT;
    return end_bits(r->guide) && !ends_fit(r) ? GLS_VERDICT_WRONG_ENDS : GLS_VERDICT_KEPT;
}

gls_status gls_refine(const gls_guide *guide, uint32_t parts, const double space[3][4], gls_tally *tally,
                      gls_parcel *parcel)
{
    refined r = {.guide = guide, .parts = parts, .space = space};
    size_t line = 0, kept = 0;
    uint64_t points = 0;
    gls_affine_invert(space, r.inverse);
    for (size_t i = 0; i < tally->n_outcomes; i++) {
        gls_outcome *o = &tally->outcome[i];
        if (o->verdict != GLS_VERDICT_KEPT) continue;
        uint64_t first = parcel->offset[line];
        r.point = parcel->point + first;
        r.n = (size_t)(parcel->offset[line + 1] - first);
        gls_verdict verdict = decide(&r, o);
        o->verdict = (uint8_t)verdict;
        o->met_counts = verdict != GLS_VERDICT_TOO_SHORT;
        if (verdict == GLS_VERDICT_KEPT) {
            memmove(parcel->point + points, r.point, r.n * sizeof *parcel->point);
            memmove(parcel->seed[kept], parcel->seed[line], sizeof parcel->seed[kept]);
            parcel->seed_index[kept] = parcel->seed_index[line];
            parcel->offset[kept++] = points;
            points += r.n;
        }
        line++;
    }
    parcel->n = kept;
    parcel->offset[kept] = points;
    return GLS_OK;
}
