/* Walking along a line through a grid of voxels: it is cut where it crosses faces, and each piece belongs to the voxel
 * of its middle. Coordinates are voxel coordinates whose whole numbers are corners: voxel i reaches from i to i + 1. */
#ifndef GLS_TRACTS_WALK_H
#define GLS_TRACTS_WALK_H

#include <math.h>
#include <stdbool.h>

typedef struct gls_walk {
    double a[3], b[3]; /* from where to where */
    double at, end;    /* shares of the way */
    double next[3];    /* the next face along each axis */
    int step[3];       /* towards where */
    bool is_cut;       /* a part lies outside low .. high */
} gls_walk;

/* From a to b, as far as it lies in low .. high; false: nowhere. */
static inline bool gls_walk_begin(gls_walk *w, const double a[3], const double b[3], const double low[3],
                                  const double high[3])
{
    w->at = 0;
    w->end = 1;
    for (int r = 0; r < 3; r++) {
        w->a[r] = a[r];
        w->b[r] = b[r];
        if (a[r] == b[r]) {
            if (a[r] < low[r] || a[r] >= high[r]) w->end = -1;
            continue;
        }
        double first = (low[r] - a[r]) / (b[r] - a[r]), last = (high[r] - a[r]) / (b[r] - a[r]);
        w->at = fmax(w->at, fmin(first, last));
        w->end = fmin(w->end, fmax(first, last));
    }
    w->is_cut = w->at > 0 || w->end < 1;
    if (!(w->at < w->end)) return false;
    for (int r = 0; r < 3; r++) {
        double at = a[r] + w->at * (b[r] - a[r]);
        w->step[r] = b[r] > a[r] ? 1 : -1;
        w->next[r] = w->step[r] > 0 ? floor(at) - 1 : ceil(at) + 1;
    }
    return true;
}

/* The next piece: its voxel, whole numbers, and its shares of the way; false: there is none. */
static inline bool gls_walk_next(gls_walk *w, double voxel[3], double *from, double *until)
{
    if (!(w->at < w->end)) return false;
    double t = w->at, stop = w->end;
    for (int r = 0; r < 3; r++) {
        if (w->a[r] == w->b[r]) continue;
        while ((w->next[r] - w->a[r]) / (w->b[r] - w->a[r]) <= t) w->next[r] += w->step[r];
        stop = fmin(stop, (w->next[r] - w->a[r]) / (w->b[r] - w->a[r]));
    }
    double middle = 0.5 * (t + stop);
    for (int r = 0; r < 3; r++) voxel[r] = floor(w->a[r] + middle * (w->b[r] - w->a[r]));
    *from = t;
    *until = w->at = stop;
    return true;
}

#endif
