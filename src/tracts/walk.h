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
        double low_share = first < last ? first : last, high_share = first < last ? last : first;
        if (low_share > w->at) w->at = low_share;
        if (high_share < w->end) w->end = high_share;
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
        double face = (w->next[r] - w->a[r]) / (w->b[r] - w->a[r]);
        if (face < stop) stop = face;
    }
    double middle = 0.5 * (t + stop);
    for (int r = 0; r < 3; r++) voxel[r] = floor(w->a[r] + middle * (w->b[r] - w->a[r]));
    *from = t;
    *until = w->at = stop;
    return true;
}

/* A whole number below 2^31 in size: floor() without a call. */
static inline int gls_walk_floor(double x)
{
    int i = (int)x;
    return i - (x < i);
}

/* The coordinates for which gls_walk_floor() holds. */
static inline bool gls_walk_is_near(const double c[3])
{
    return fabs(c[0]) < 1e9 && fabs(c[1]) < 1e9 && fabs(c[2]) < 1e9;
}

/* What gls_walk_next() would give for a line from voxel u to a neighbour v that shares a face with it: the share of the
 * way to that face. 0: all of it lies in v; 1: all of it lies in u. Negative: v is no such neighbour. */
static inline double gls_walk_face(const double a[3], const double b[3], const int u[3], const int v[3])
{
    int axis = -1;
    for (int r = 0; r < 3; r++) {
        if (u[r] == v[r]) continue;
        if (axis >= 0 || v[r] - u[r] > 1 || u[r] - v[r] > 1) return -1;
        axis = r;
    }
    if (axis < 0) return -1;
    double share = ((u[axis] > v[axis] ? u[axis] : v[axis]) - a[axis]) / (b[axis] - a[axis]);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

#endif
