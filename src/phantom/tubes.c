/* Bundles of the phantom: tubes around smooth centre lines, with elliptical cross-sections of varying size. */
#include "phantom/tubes.h"
#include "phantom/head.h"
#include "phantom/parts.h"
#include "util/status.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of points that define the centre line of a bundle. */
#define MAX_KNOTS 24
#define FINE 32  /* number of parts into which the spline between two knots is cut to measure lengths */
#define STEP 1.5 /* largest distance between neighbouring stations, mm */

/* A point of the centre line and the half axes of the cross-section: r1 in the direction design.axis, r2 normal to
 * it. All in mm of the reference frame. */
typedef struct knot {
    double x, y, z, r1, r2;
} knot;

/* Design of a bundle, from which tubes are made. The knots lie in the right hemisphere. A commissure continues as its
 * mirror image behind the last knot (x = 0); any other bundle has a twin on the left. */
typedef struct design {
    const char *name;
    bool commissure;
    double density;
    double axis[3]; /* direction of the first half axis, before it is made normal to the centre line */
    size_t n;
    knot knots[11];
} design;

/* name, commissure, density, axis, number of knots, knots {x, y, z, r1, r2} from one end to the other */
/* clang-format off */
static const design designs[] = {
    {"forceps_minor", true, 1.0, {0, 0, 1}, 5,
     {{24, 82, 14, 26, 17}, {22, 68, 13, 20, 13}, {17, 53, 11, 15, 9}, {8, 41, 8, 11, 6}, {0, 37, 7, 10, 5}}},
    {"corpus_callosum_body", true, 1.0, {0, 1, 0}, 5,
     {{39, -4, 57, 44, 18}, {32, -4, 42, 39, 13}, {23, -4, 29, 33, 8}, {11, -4, 20.5, 29, 5}, {0, -4, 18.5, 28, 4}}},
    {"forceps_major", true, 1.0, {0, 0, 1}, 5,
     {{24, -84, 16, 20, 15}, {24, -70, 14, 16, 11}, {19, -57, 12, 12, 8}, {10, -46.5, 10, 9, 5.5},
      {0, -43, 9, 8, 4.5}}},
    {"anterior_commissure", true, 0.8, {0, 0.73, -0.68}, 5,
     {{52, -8, -29, 13, 10}, {43, -3, -22, 9, 7}, {29, 5, -15, 5.5, 4.5}, {13, 10, -9.5, 4.5, 4},
      {0, 11, -8.5, 4.5, 4}}},
    {"middle_cerebellar_peduncle", true, 0.8, {0, 0, 1}, 5,
     {{46, -58, -45, 10, 16}, {35, -51, -45, 8, 10}, {23, -39, -44, 6, 6}, {9, -22, -42, 6, 5}, {0, -17, -41, 6, 5}}},
    {"corticospinal", false, 0.9, {0, 1, 0}, 9,
     {{31, -14, 64, 25, 13}, {30, -13, 50, 20, 11}, {26, -12, 34, 13, 7}, {22.5, -10, 19, 8, 4.5},
      {19.5, -10, 4, 6, 3.8}, {14, -13, -12, 5, 4.5}, {8, -17, -27, 4.5, 4.5}, {6, -21, -44, 4.5, 4.5},
      {6, -24.5, -64, 5, 5}}},
    {"cingulum", false, 0.7, {1, 0, 0}, 10,
     {{4, 64, -4, 7, 9}, {10, 55, 4, 6, 6.5}, {13.5, 43, 18, 5, 5}, {13.5, 22, 28, 5, 5}, {13.5, -8, 32, 5, 5},
      {14, -36, 27, 5, 5}, {15, -52, 13, 5, 5}, {20, -52, -4, 5, 5}, {25, -39, -16, 5, 5}, {26, -20, -22, 5, 5}}},
    {"superior_longitudinal", false, 0.6, {0, 0, 1}, 7,
     {{31, 76, 22, 16, 14}, {34, 60, 23, 13, 11}, {37, 38, 26, 9, 8}, {36, 8, 29, 8, 7.5}, {36, -24, 30, 8, 7.5},
      {34, -54, 26, 11, 9}, {30, -80, 24, 15, 12}}},
    {"arcuate", false, 0.7, {1, 0, 0}, 9,
     {{52, 54, 9, 9, 13}, {47, 38, 14, 7.5, 10}, {44, 16, 20, 6.5, 7}, {43, -12, 21, 6.5, 7}, {43, -34, 16, 6.5, 6},
      {43.5, -43, 3, 6.5, 5.5}, {44, -36, -7, 6.5, 5.5}, {47, -20, -12, 7, 7}, {57, 0, -21, 10, 9}}},
    {"uncinate", false, 0.7, {0.73, -0.08, 0.68}, 7,
     {{45, 38, -26, 8, 8.5}, {38, 26, -21, 6.5, 5.5}, {32, 20, -14, 5, 4.5}, {28, 26, -8, 5, 4.5}, {25, 40, -5, 6, 5.5},
      {23, 57, -6, 10, 8}, {23, 80, -8, 14, 12}}},
    {"optic_radiation", false, 0.8, {0, 0, 1}, 6,
     {{18, -21, -2, 4, 4}, {27, -27, -3, 5, 4}, {33, -40, -3, 6, 4.5}, {33, -54, -3, 7, 6}, {27, -69, -2, 10, 8},
      {19, -85, 0, 13, 12}}},
    {"inferior_longitudinal", false, 0.7, {1, 0, 0}, 7,
     {{30, -82, -9, 12, 10}, {33, -66, -10, 10, 8}, {35, -46, -13, 8, 6.5}, {36, -20, -17, 7, 5.5},
      {38, 4, -19, 6.5, 6}, {41, 24, -20, 8, 8}, {45, 44, -24, 10, 10}}},
    {"inferior_fronto_occipital", false, 0.6, {0, 0, 1}, 8,
     {{25, -86, 14, 13, 11}, {31, -68, 11, 9, 8}, {36, -46, 8, 6.5, 5.5}, {38.5, -20, 2, 5.5, 4},
      {38.5, 10, -2, 5.5, 4}, {35, 34, -2, 7, 6}, {32, 54, 0, 11, 9}, {29, 78, 2, 15, 13}}},
    {"anterior_thalamic", false, 0.7, {0, 0, 1}, 6,
     {{9, -11, 3, 4.5, 4}, {14, 1, 5, 5, 3.5}, {19.5, 14, 6, 6, 4}, {24, 32, 12, 11, 8}, {28, 50, 22, 18, 13},
      {32, 70, 36, 25, 18}}},
    {"superior_thalamic", false, 0.8, {0, 1, 0}, 6,
     {{9, -18, 4, 4.5, 4.5}, {17, -22, 7, 5, 4}, {23, -28, 18, 8, 6}, {27, -39, 34, 16, 11}, {28, -48, 47, 22, 14},
      {29, -56, 60, 27, 17}}},
    {"frontal_aslant", false, 0.6, {0, 1, 0}, 5,
     {{17, 38, 60, 17, 12}, {22, 36, 44, 14, 9}, {31, 36, 28, 10, 6.5}, {42, 36, 12, 10, 7}, {58, 35, 0, 12, 9}}},
    {"vertical_occipital", false, 0.6, {0, 1, 0}, 5,
     {{33, -60, 45, 14, 11}, {34, -60, 29, 12, 9}, {34, -59, 10, 10, 7}, {33, -58, -10, 11, 8},
      {33, -57, -26, 13, 10}}},
};
/* clang-format on */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalise(double v[3])
{
    double s = 1 / sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) v[k] *= s;
}

/* Stores the knots of a bundle on one side (side: 1 right, -1 left), or, for a commissure, from right to left. Returns
 * their number, at most MAX_KNOTS. */
static size_t knots_of(const design *d, double side, knot *knots)
{
    size_t n = d->n;
    for (size_t i = 0; i < n; i++) {
        knots[i] = d->knots[i];
        knots[i].x *= side;
    }
    if (d->commissure) {
        for (size_t i = d->n - 1; i-- > 0;) {
            knots[n] = d->knots[i];
            knots[n++].x *= -1;
        }
    }
    return n;
}

/* Catmull-Rom spline through n knots at parameter s, 0 .. n - 1; out: x, y, z, r1, r2. The end knots get neighbours
 * that continue the line straight. */
static void spline(const knot *knots, size_t n, double s, double out[5])
{
    size_t i = (size_t)fmin(s, (double)n - 2);
    double f = s - (double)i;
    const double *b = &knots[i].x, *c = &knots[i + 1].x;
    const double *a = i ? &knots[i - 1].x : NULL, *d = i + 2 < n ? &knots[i + 2].x : NULL;
    for (int k = 0; k < 5; k++) {
        double before = a ? a[k] : 2 * b[k] - c[k], after = d ? d[k] : 2 * c[k] - b[k];
        double m0 = 0.5 * (c[k] - before), m1 = 0.5 * (after - b[k]), rise = c[k] - b[k];
        out[k] = b[k] + f * (m0 + f * (3 * rise - 2 * m0 - m1 + f * (m0 + m1 - 2 * rise)));
    }
}

/* Places stations at equal distances along the centre line. Until stations_orient() has run, m1[0] and m2[0] hold the
 * lengths of the half axes. */
static gls_status stations_place(phantom_tube *tube, const knot *knots, size_t n_knots)
{
    /* length[i]: length of the centre line up to fine point i */
    double length[(MAX_KNOTS - 1) * FINE + 1], last[5], at[5];
    size_t n_fine = (n_knots - 1) * FINE;
    length[0] = 0;
    spline(knots, n_knots, 0, last);
    for (size_t i = 1; i <= n_fine; i++) {
        spline(knots, n_knots, (double)i / FINE, at);
        double d[3] = {at[0] - last[0], at[1] - last[1], at[2] - last[2]};
        length[i] = length[i - 1] + sqrt(dot(d, d));
        memcpy(last, at, sizeof last);
    }
    tube->n = (size_t)ceil(length[n_fine] / STEP) + 1;
    tube->station = calloc(tube->n, sizeof *tube->station);
    if (!tube->station) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's bundles");
    /* for each station find, by linear interpolation, the spline parameter at which the centre line is as long as
     * wanted */
    for (size_t i = 0, k = 0; i < tube->n; i++) {
        double want = length[n_fine] * (double)i / (double)(tube->n - 1);
        while (k + 1 < n_fine && length[k + 1] < want) k++;
        spline(knots, n_knots, ((double)k + (want - length[k]) / (length[k + 1] - length[k])) / FINE, at);
        phantom_station *s = &tube->station[i];
        memcpy(s->c, at, sizeof s->c);
        s->m1[0] = at[3];
        s->m2[0] = at[4];
    }
    return GLS_OK;
}

/* Computes tangents and half axes, and the derivatives of centres and half axes by differences between neighbouring
 * stations. axis: direction of the first half axis, made normal to the tangent; the second half axis is normal to both.
 */
static void stations_orient(phantom_tube *tube, const double axis[3])
{
    phantom_station *station = tube->station;
    size_t n = tube->n;
    for (size_t i = 0; i < n; i++) {
        phantom_station *s = &station[i];
        const double *a = station[i ? i - 1 : 0].c, *b = station[i + 1 < n ? i + 1 : i].c;
        double r1 = s->m1[0], r2 = s->m2[0], along;
        for (int k = 0; k < 3; k++) s->t[k] = b[k] - a[k];
        normalise(s->t);
        along = dot(axis, s->t);
        for (int k = 0; k < 3; k++) s->m1[k] = axis[k] - along * s->t[k];
        normalise(s->m1);
        for (int k = 0; k < 3; k++)
            s->m2[k] = r2 * (s->t[(k + 1) % 3] * s->m1[(k + 2) % 3] - s->t[(k + 2) % 3] * s->m1[(k + 1) % 3]);
        for (int k = 0; k < 3; k++) s->m1[k] *= r1;
        s->reach = fmax(r1, r2);
    }
    for (size_t i = 0; i < n; i++) {
        const phantom_station *a = &station[i ? i - 1 : 0], *b = &station[i + 1 < n ? i + 1 : i];
        double scale = a == &station[i] || b == &station[i] ? 1 : 0.5;
        for (int k = 0; k < 3; k++) {
            station[i].dc[k] = scale * (b->c[k] - a->c[k]);
            station[i].d1[k] = scale * (b->m1[k] - a->m1[k]);
            station[i].d2[k] = scale * (b->m2[k] - a->m2[k]);
        }
    }
}

/* Computes bounding spheres of groups of stations. The last station of a group is the first of the next, so that every
 * slab is inside one sphere. */
static gls_status spheres_make(phantom_tube *tube)
{
    tube->n_chunks = (tube->n - 1 + PHANTOM_CHUNK - 1) / PHANTOM_CHUNK;
    tube->sphere = calloc(tube->n_chunks, sizeof *tube->sphere);
    if (!tube->sphere) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's bundles");
    for (size_t j = 0; j < tube->n_chunks; j++) {
        size_t first = j * PHANTOM_CHUNK,
               last = first + PHANTOM_CHUNK < tube->n - 1 ? first + PHANTOM_CHUNK : tube->n - 1;
        double *sphere = tube->sphere[j];
        memcpy(sphere, tube->station[(first + last) / 2].c, 3 * sizeof *sphere);
        for (size_t i = first; i <= last; i++) {
            const phantom_station *s = &tube->station[i];
            double d[3] = {s->c[0] - sphere[0], s->c[1] - sphere[1], s->c[2] - sphere[2]};
            sphere[3] = fmax(sphere[3], sqrt(dot(d, d)) + s->reach);
        }
    }
    return GLS_OK;
}

/* Finds the stretch of white matter around the middle of the centre line, and the limits, as station indices, beyond
 * which grey matter counts as an end. The limits lie inside the stretch, 4 mm plus 0.7 of the longer half axis from its
 * ends, because the rim of a fan meets the cortex earlier than its centre; but at most 0.4 of the centre line from the
 * tube's ends. */
static void ends_find(phantom_tube *tube)
{
    size_t middle = tube->n / 2, last = tube->n - 1;
    size_t a = middle, b = middle;
    while (a > 0 && gls_phantom_tissue(tube->station[a].c, NULL) == PHANTOM_WHITE) a--;
    while (b < last && gls_phantom_tissue(tube->station[b].c, NULL) == PHANTOM_WHITE) b++;
    tube->grey[0] = a;
    tube->grey[1] = b;
    tube->end_range[0] = fmin((double)a + (4 + 0.7 * tube->station[a].reach) / STEP, 0.4 * (double)last);
    tube->end_range[1] = fmax((double)b - (4 + 0.7 * tube->station[b].reach) / STEP, 0.6 * (double)last);
}

/* Makes a tube from its design. side: -1 left, 1 right; a commissure has only one tube, made with side 1. */
static gls_status tube_init(phantom_tube *tube, const design *d, double side)
{
    knot knots[MAX_KNOTS];
    size_t n = knots_of(d, side, knots);
    const double axis[3] = {side * d->axis[0], d->axis[1], d->axis[2]};
    snprintf(tube->name, sizeof tube->name, "%s%s", d->name, d->commissure ? "" : side < 0 ? "_left" : "_right");
    tube->density = d->density;
    gls_status status = stations_place(tube, knots, n);
    if (status) return status;
    stations_orient(tube, axis);
    status = spheres_make(tube);
    if (status) return status;
    ends_find(tube);
    return GLS_OK;
}

gls_status gls_phantom_tubes_create(phantom_tube **tubes, size_t *n_tubes)
{
    size_t n_designs = sizeof designs / sizeof *designs, n = 0;
    gls_status status = GLS_OK;
    phantom_tube *made = calloc(2 * n_designs, sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's bundles");
    for (size_t i = 0; i < n_designs && !status; i++) {
        if (!designs[i].commissure) status = tube_init(&made[n++], &designs[i], -1);
        if (!status) status = tube_init(&made[n++], &designs[i], 1);
    }
    if (status) {
        gls_phantom_tubes_destroy(made, n);
        return status;
    }
    *tubes = made;
    *n_tubes = n;
    return GLS_OK;
}

void gls_phantom_tubes_destroy(phantom_tube *tubes, size_t n_tubes)
{
    if (!tubes) return;
    for (size_t i = 0; i < n_tubes; i++) {
        free(tubes[i].station);
        free(tubes[i].sphere);
    }
    free(tubes);
}

/* Signed distance of a point from the plane of a cross-section, positive on the side of the later stations. */
static double ahead(const phantom_station *s, const double p[3])
{
    return (p[0] - s->c[0]) * s->t[0] + (p[1] - s->c[1]) * s->t[1] + (p[2] - s->c[2]) * s->t[2];
}

size_t gls_phantom_tube_near(const phantom_tube *tube, const double p[3], double radius, uint16_t *slab)
{
    size_t n = 0;
    for (size_t j = 0; j < tube->n_chunks; j++) {
        const double *sphere = tube->sphere[j];
        double d[3] = {p[0] - sphere[0], p[1] - sphere[1], p[2] - sphere[2]}, reach = sphere[3] + radius;
        if (dot(d, d) > reach * reach) continue;
        size_t first = j * PHANTOM_CHUNK,
               last = first + PHANTOM_CHUNK < tube->n - 1 ? first + PHANTOM_CHUNK : tube->n - 1;
        /* a slab is near if p lies between the planes of its two stations, or at most `radius` outside */
        double before = ahead(&tube->station[first], p);
        for (size_t i = first; i < last; i++) {
            double after = ahead(&tube->station[i + 1], p);
            if (before >= -radius && after < radius) slab[n++] = (uint16_t)i;
            before = after;
        }
    }
    return n;
}

bool gls_phantom_tube_at(const phantom_tube *tube, const uint16_t *slab, size_t n_slabs, const double p[3],
                         double *station, double direction[3])
{
    double best = 1;
    bool found = false;
    /* best: squared distance from the centre line in units of the section's half axes; at most 1 inside the tube. Of
     * several cross-sections through p, as in a bend, the one in which p lies nearest to the centre counts. */
    for (size_t j = 0; j < n_slabs; j++) {
        const phantom_station *a = &tube->station[slab[j]], *b = a + 1;
        double before = ahead(a, p), after = ahead(b, p);
        if (before < 0 || after >= 0) continue;
        /* the cross-section through p, by linear interpolation between the two stations, and the coordinates of p in
         * the section */
        double f = before / (before - after), m1[3], m2[3], q[3];
        for (int k = 0; k < 3; k++) {
            m1[k] = a->m1[k] + f * (b->m1[k] - a->m1[k]);
            m2[k] = a->m2[k] + f * (b->m2[k] - a->m2[k]);
            q[k] = p[k] - a->c[k] - f * (b->c[k] - a->c[k]);
        }
        double u = dot(q, m1) / dot(m1, m1), v = dot(q, m2) / dot(m2, m2), out = u * u + v * v;
        if (out > best) continue;
        /* the tangent of the fibre through p, whose u and v are the same in all cross-sections */
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = a->dc[k] + f * (b->dc[k] - a->dc[k]) + u * (a->d1[k] + f * (b->d1[k] - a->d1[k])) +
                   v * (a->d2[k] + f * (b->d2[k] - a->d2[k]));
        }
        /* In a sharp bend cross-sections overlap, and a fibre would run backwards there. */
        if (dot(d, a->t) <= 0) continue;
        best = out;
        *station = slab[j] + f;
        memcpy(direction, d, sizeof d);
        found = true;
    }
    return found;
}
