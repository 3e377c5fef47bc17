/* Anatomy of the phantom's head: the tissue at any point, from signed distances (below 0 inside) to simple solids,
 * symmetric about the midline. All points are in the reference frame of parts.h, folded to x >= 0 inside this file. */
#include <stddef.h>
#include <math.h>

#include "phantom/head.h"

#define CORTEX 7.0  /* thickness of the grey matter, mm */
#define FISSURE 1.8 /* half width of the fissures, and thickness of the film of CSF above the cerebellum, mm */
#define RIM 4.0     /* thickness of the outer CSF, mm */

/* An ellipsoid: centre and half axes, mm of the reference frame. */
typedef struct solid {
    double centre[3], axis[3];
} solid;

/* Deep grey matter: thalamus, lateral geniculate nucleus, putamen, caudate nucleus, hippocampus. */
static const solid nuclei[] = {
    {{9.5, -14, 3}, {6.5, 12, 7}}, {{19, -23, -2}, {4.5, 5.5, 4.5}}, {{28, 3, 0}, {6, 14, 9}},
    {{13, 21, 6}, {4.5, 8, 6}},    {{26, -17, -22}, {5.5, 10, 5.5}},
};

/* Points on the axis of the lateral ventricle, mm. */
static const double ventricle[][3] = {{8, 23, 5}, {8, 6, 10}, {9, -20, 10}, {17, -37, 6}};
#define VENTRICLE_RADIUS 4.5 /* mm */

/* Approximate signed distance to an ellipsoid, below 0 inside; exact on its surface. */
static double ellipsoid(double x, double y, double z, const double axis[3])
{
    double a = x / axis[0], b = y / axis[1], c = z / axis[2];
    double k0 = sqrt(a * a + b * b + c * c);
    a /= axis[0];
    b /= axis[1];
    c /= axis[2];
    double k1 = sqrt(a * a + b * b + c * c);
    if (k1 < 1e-9) return -fmin(axis[0], fmin(axis[1], axis[2]));
    return k0 * (k0 - 1) / k1;
}

/* Signed distance to a capsule: all points within `radius` of the segment from a to b. */
static double capsule(const double p[3], const double a[3], const double b[3], double radius)
{
    double along = 0, length2 = 0, d2 = 0;
    for (int k = 0; k < 3; k++) {
        along += (p[k] - a[k]) * (b[k] - a[k]);
        length2 += (b[k] - a[k]) * (b[k] - a[k]);
    }
    double f = fmax(0, fmin(1, along / length2));
    for (int k = 0; k < 3; k++) {
        double d = p[k] - a[k] - f * (b[k] - a[k]);
        d2 += d * d;
    }
    return sqrt(d2) - radius;
}

/* Displacement, in mm, of the surface of the hemispheres that makes the folds of the cortex. */
static double folds(const double p[3])
{
    return 1.7 * cos(0.21 * p[0]) * sin(0.19 * p[1] + 0.6) * sin(0.23 * p[2] + 0.4);
}

/* Signed distance to the brain stem with the peduncles of the cerebellum. */
static double stem(const double p[3])
{
    static const double top[3] = {0, -14, -18}, bottom[3] = {0, -24, -55}, medial[3] = {6, -21, -42},
                        lateral[3] = {27, -43, -44};
    return fmin(capsule(p, top, bottom, 11), capsule(p, medial, lateral, 6.5));
}

/* Smaller of a margin and the absolute value of one more signed distance. */
static double nearer(double margin, double distance)
{
    return fmin(margin, fabs(distance));
}

/* Approximate distance to the middle plane of the slit between the hemispheres. The slit ends above the corpus
 * callosum; p[0] is at least 0. */
static double longitudinal_fissure(const double p[3])
{
    double a = (p[1] + 4) / 57, b = (p[2] + 2) / 34, k = hypot(a, b),
           s = k < 1e-3 ? -34 : k * (k - 1) / hypot(a / 57, b / 34);
    return s >= 0 ? p[0] : hypot(p[0], s);
}

/* Approximate distance to the middle plane of the slit between the temporal lobe and the lobes above. */
static double lateral_fissure(const double p[3])
{
    double medial = fmax(52 - p[0], 0), height = p[2] + 4 + 0.2 * p[1], end = fmax(-15 - p[1], 0) + fmax(p[1] - 34, 0);
    return sqrt(medial * medial + height * height + end * end);
}

/* Tissue at a point p inside the hemispheres, `depth` mm below their surface. fold: value of folds() at p, which also
 * moves the inner surface of the cortex. Lowers *margin to the distance from the nearest surface if this is smaller. */
static phantom_tissue hemisphere(const double p[3], double depth, double fold, double *margin)
{
    double m = *margin, medial = longitudinal_fissure(p), lateral = lateral_fissure(p);
    double slit = fmin(medial, lateral) - FISSURE, cortex = fmin(depth, slit) - CORTEX - 0.4 * fold;
    m = nearer(m, slit);
    m = nearer(m, cortex);
    /* vessel: signed distance to the ventricles; grey: to deep grey matter, at most 4. Lateral ventricles and nuclei
     * lie in the box below. */
    double vessel = fmax(hypot(p[1] + 6, p[2]) - 9, p[0] - 1.6); /* third ventricle */
    double grey = 4;
    if (p[0] < 38 && p[1] > -52 && p[1] < 40 && p[2] > -34 && p[2] < 22) {
        for (size_t i = 0; i + 1 < sizeof ventricle / sizeof *ventricle; i++)
            vessel = fmin(vessel, capsule(p, ventricle[i], ventricle[i + 1], VENTRICLE_RADIUS));
        for (size_t i = 0; i < sizeof nuclei / sizeof *nuclei; i++) {
            const solid *s = &nuclei[i];
            grey = fmin(grey, ellipsoid(p[0] - s->centre[0], p[1] - s->centre[1], p[2] - s->centre[2], s->axis));
        }
    }
    m = nearer(m, vessel);
    *margin = nearer(m, grey);
    if (slit < 0 || vessel < 0) return PHANTOM_CSF;
    return cortex < 0 || grey < 0 ? PHANTOM_GREY : PHANTOM_WHITE;
}

phantom_tissue gls_phantom_tissue(const double point[3], double *margin)
{
    static const double upper[3] = {67, 86, 58}, lower[3] = {67, 86, 44}, cerebellar[3] = {46, 30, 20};
    /* Both sides of the head are mirror images. The distances to the parts are signed, in mm, negative inside; the
     * smallest of them is the distance to the head. m: the smallest distance to any border so far. */
    const double p[3] = {fabs(point[0]), point[1], point[2]};
    /* compute the distances to the three parts of the head, then the tissue in the first part that holds the point */
    double fold = folds(p), d_stem = stem(p);
    double cerebrum = ellipsoid(p[0], p[1], p[2] - 4, p[2] > 4 ? upper : lower) + fold;
    double cerebellum = ellipsoid(p[0], p[1] + 46, p[2] + 42, cerebellar);
    double head = fmin(d_stem, fmin(cerebrum, cerebellum));
    double m = fabs(head);
    phantom_tissue tissue;
    if (head > 0) {
        tissue = head < RIM ? PHANTOM_CSF : PHANTOM_OUTSIDE;
        m = nearer(m, head - RIM);
    } else if (d_stem < 0) {
        /* The long tracts end in grey matter at the lower end of the brain stem. */
        tissue = p[2] < -57 ? PHANTOM_GREY : PHANTOM_WHITE;
        m = nearer(nearer(m, d_stem), p[2] + 57);
    } else if (cerebrum > 0) {
        /* A film of CSF lies between hemispheres and cerebellum. */
        double gap = cerebrum - FISSURE, depth = fmin(-cerebellum, gap) - CORTEX;
        tissue = gap < 0 ? PHANTOM_CSF : depth < 0 ? PHANTOM_GREY : PHANTOM_WHITE;
        m = nearer(nearer(nearer(nearer(m, d_stem), cerebrum), gap), depth);
    } else {
        m = nearer(nearer(m, d_stem), cerebrum);
        tissue = hemisphere(p, -cerebrum, fold, &m);
    }
    if (margin) *margin = m;
    return tissue;
}
