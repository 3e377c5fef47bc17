/* What filters share: new streamlines are built from those that come in, with their columns, and handed on in parcels
 * of bounded size. */
#ifndef GLS_STREAMLINES_BUILDER_H
#define GLS_STREAMLINES_BUILDER_H

#include <glslines/streamlines.h>

#define GLS_BUILDER_LINES 16384
#define GLS_BUILDER_POINTS ((uint64_t)1 << 17)

typedef struct gls_builder {
    gls_sink next;
    const gls_streamlines *in; /* between begin and flush */
    size_t n, line_capacity;
    uint64_t n_points, point_capacity;
    uint64_t *offset;
    float (*point)[3];
    size_t n_columns, n_dps, n_groups; /* of the first parcel, and so of all */
    gls_column *column;                /* dps, groups, dpv, as in `in`, with the memory below as data */
    void **memory;
} gls_builder;

/* Takes over next. */
void gls_builder_init(gls_builder *builder, const gls_sink *next);
/* Frees what was allocated; next has been finished or aborted. */
void gls_builder_finish(gls_builder *builder);

/* Starts a parcel from these streamlines, which must stay as they are until it is flushed. */
gls_status gls_builder_begin(gls_builder *builder, const gls_streamlines *in);
/* Whether a streamline of n points can be added without handing on those before. */
bool gls_builder_fits(const gls_builder *builder, uint64_t n);
/* Adds a streamline of n points with the dps and groups of streamline i of the input; *first gets the place of its
 * first point. Its points and dpv are set by the functions below. */
gls_status gls_builder_add(gls_builder *builder, size_t i, uint64_t n, uint64_t *first);
/* Copies n points with their dpv. */
void gls_builder_copy(gls_builder *builder, uint64_t to, uint64_t from, uint64_t n);
/* The point that lies between points `from` and from + 1 of the input, 0 <= share <= 1 of the way, with its dpv. */
void gls_builder_mix(gls_builder *builder, uint64_t to, uint64_t from, double share);
/* The same on a cardinal spline of tension 0.1 through the points of streamline i; dpv lie on the line all the same. */
void gls_builder_spline(gls_builder *builder, size_t i, uint64_t to, uint64_t from, double share);
/* Hands on what was added, if anything. */
gls_status gls_builder_flush(gls_builder *builder);

/* Both of one streamline of the input, mm. */
double gls_builder_distance(const gls_streamlines *s, uint64_t point, uint64_t other);
double gls_builder_length(const gls_streamlines *s, size_t i);

#endif
