/* Walks along a straight line through a grid of voxels. The line is cut where it crosses faces; each piece belongs to
 * the voxel of its middle. Coordinates are voxel coordinates with corners at whole numbers: voxel i reaches from i to i
 * + 1. */
#ifndef GLS_TRACTS_WALK_H
#define GLS_TRACTS_WALK_H

#include <math.h>
#include <stdbool.h>

/* The state of a walk (Amanatides and Woo 1987). */
typedef struct gls_walk {
    double a[3], b[3];  /* ends of the line; if the line goes far outside, of the part inside */
    double first, part; /* begin and length of the part from a to b, as shares of the whole line */
    double at, end;     /* current position and end, as shares of the way from a to b */
    double next[3];     /* next face along each axis */
    double face[3];     /* share of the way from a to b at which the line crosses the face `next`; 2: never */
    int step[3];        /* direction along each axis, 1 or -1 */
    bool is_cut;        /* a part of the line lies outside low .. high */
} gls_walk;

/* floor() for magnitudes below 2^31, without a function call. */
static inline int gls_walk_floor(double x)
{
    int i = (int)x;
    return i - (x < i);
}

/* Whether gls_walk_floor() works for these coordinates and neighbouring faces are distinct numbers. */
static inline bool gls_walk_is_near(const double c[3])
{
    return fabs(c[0]) < 1e9 && fabs(c[1]) < 1e9 && fabs(c[2]) < 1e9;
}

/* Shortens the line to its part inside low .. high, for lines that go so far outside that faces are no distinct
 * numbers. The shares `first` and `part` let pieces refer to the whole line. */
static inline void gls_walk_shorten(gls_walk *w, const double low[3], const double high[3])
{
    for (int r = 0; r < 3; r++) {
        double from = w->a[r], way = w->b[r] - from, end[2] = {from + w->at * way, from + w->end * way};
        for (int k = 0; k < 2; k++) end[k] = !(end[k] > low[r]) ? low[r] : end[k] > high[r] ? high[r] : end[k];
        w->a[r] = end[0];
        w->b[r] = end[1];
    }
    w->first = w->at;
    w->part = w->end - w->at;
    w->at = 0;
    w->end = 1;
}

/* Begins a walk from a to b inside low .. high, voxel coordinates. Returns false if no part lies inside. */
static inline bool gls_walk_begin(gls_walk *w, const double a[3], const double b[3], const double low[3],
                                  const double high[3])
{
    w->at = w->first = 0;
    w->end = w->part = 1;
    /* share of the line at which each pair of planes is crossed; the part inside begins behind the last entry */
    for (int r = 0; r < 3; r++) {
        w->a[r] = a[r];
        w->b[r] = b[r];
        if (a[r] == b[r]) {
            if (a[r] < low[r] || a[r] >= high[r]) w->end = -1;
            continue;
        }
        double first = (low[r] - a[r]) / (b[r] - a[r]), last = (high[r] - a[r]) / (b[r] - a[r]);
        double low_share = first < last ? first : last, high_share = first < last ? last : first;
        if (low_share > w->at) w->at = low_share;
        if (high_share < w->end) w->end = high_share;
    }
    w->is_cut = w->at > 0 || w->end < 1;
    if (!(w->at < w->end)) return false;
    /* next, face: at first a face before the start; gls_walk_next() moves on to the first face ahead */
    if (!gls_walk_is_near(a) || !gls_walk_is_near(b)) gls_walk_shorten(w, low, high);
    for (int r = 0; r < 3; r++) {
        const double at = w->a[r] + w->at * (w->b[r] - w->a[r]);
        w->step[r] = w->b[r] > w->a[r] ? 1 : -1;
        w->next[r] = w->step[r] > 0 ? floor(at) - 1 : ceil(at) + 1;
        w->face[r] = w->a[r] == w->b[r] ? 2 : -1;
    }
    return true;
}

/* Finds the next piece: its voxel, as whole numbers, and its ends as shares of the whole line. Returns false at the
 * end. */
static inline bool gls_walk_next(gls_walk *w, double voxel[3], double *from, double *until)
{
    if (!(w->at < w->end)) return false;
    double t = w->at, stop = w->end;
    for (int r = 0; r < 3; r++) {
        while (w->face[r] <= t) {
            w->next[r] += w->step[r];
            w->face[r] = (w->next[r] - w->a[r]) / (w->b[r] - w->a[r]);
        }
        if (w->face[r] < stop) stop = w->face[r];
    }
    double middle = 0.5 * (t + stop);
    for (int r = 0; r < 3; r++) voxel[r] = floor(w->a[r] + middle * (w->b[r] - w->a[r]));
    w->at = stop;
    *from = w->first + t * w->part;
    *until = w->first + stop * w->part;
    return true;
}

#endif
