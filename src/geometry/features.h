/* Streamlines of equally many points, the form in which their distances are computed. */
#ifndef GLS_GEOMETRY_FEATURES_H
#define GLS_GEOMETRY_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/streamlines.h>

#include "geometry/kernels.h"

/* Streamlines of `points` points. */
typedef struct gls_features {
    /* points of a streamline; 0: all streamlines have the number of points of the first one, and keep their points */
    size_t points;
    /* elements of one axis in expanded form */
    size_t pad;
    /* reversed streamlines are resampled anew, as ResampleFeature of DIPY does; false: their points in reverse order */
    bool resamples_reverse;
    bool as_is; /* streamlines keep their points */
    int n_threads;
    size_t n, capacity;
    float (*point)[3]; /* n x points; the first coordinate of a streamline without length is NaN */
    size_t n_void;     /* streamlines without length */
    /* streamlines whose reverse, resampled anew, has other points than the streamline in reverse order, because sums
     * from either end round differently: their numbers, ascending, and the points of the reverse */
    uint64_t *odd;
    float (*odd_point)[3];
    size_t n_odd, odd_capacity;
    float extent; /* largest coordinate in size, mm */
} gls_features;

/* Begins without streamlines. */
void gls_features_init(gls_features *features, size_t points, bool resamples_reverse);
/* Appends the streamlines of a block. GLS_ERR_INPUT: a point is not finite, or the numbers of points differ where
 * `points` was 0. */
gls_status gls_features_add(gls_features *features, const gls_streamlines *s);
/* Forgets all streamlines and keeps the memory. */
void gls_features_clear(gls_features *features);
/* Frees everything. */
void gls_features_finish(gls_features *features);
/* Whether streamline i has a length above 0. */
bool gls_features_has(const gls_features *features, size_t i);
/* Expands streamline i into x and, reversed, into y: 3 * pad floats each. */
void gls_features_expand(const gls_features *features, size_t i, float *x, float *y);
/* A sink that appends to features, which stay with the caller. */
gls_sink gls_features_sink(gls_features *features);

/* Expands `points` points; reversed: in reverse order. out: 3 * pad floats. */
void gls_points_expand(const float (*point)[3], size_t points, size_t pad, bool reversed, float *out);
/* The inverse of gls_points_expand() in the direct order. */
void gls_points_pack(const float *expanded, size_t points, size_t pad, float (*point)[3]);

#endif
