/* Neighbours of streamlines among reference streamlines: all within a radius, or the nearest ones. Exact: bounds only
 * skip pairs that are farther. Since 0.2.0. */
#ifndef GLSLINES_NEIGHBOURS_H
#define GLSLINES_NEIGHBOURS_H

#include <glslines/device.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Distances of two streamlines that are resampled to equally many points, mm. */
typedef enum gls_distance {
    GLS_DISTANCE_MDF,       /* mean distance of the points at equal places, in the nearer of both senses */
    GLS_DISTANCE_MAM,       /* mean distance of the points of each from the nearest point of the other, mean of both */
    GLS_DISTANCE_HAUSDORFF, /* largest distance of a point of either from the nearest point of the other */
    GLS_DISTANCE_ENDPOINTS  /* mean distance of the ends, in the nearer of both senses */
} gls_distance;

typedef struct gls_neighbours_options {
    size_t size;           /* size of this struct, set by the default function */
    gls_distance distance; /* default GLS_DISTANCE_MDF */
    uint32_t points;  /* points to which streamlines are resampled, 2 to 256; 0: they keep their points, of which all
                         have  as many. Default 24 */
    double radius;    /* neighbours are nearer than this, mm; INFINITY: no limit, with `nearest` only. Default 8 */
    uint32_t nearest; /* at most so many neighbours, the nearest ones; 0, the default: all within the radius */
} gls_neighbours_options;
GLS_API gls_neighbours_options gls_neighbours_options_default(void);

typedef struct gls_neighbours gls_neighbours;

/* A neighbour of a streamline. */
typedef struct gls_neighbour {
    uint32_t reference; /* its number among the references, from 0 on */
    float distance;     /* mm */
    bool reversed;      /* nearer in the reversed sense; false for distances without sense */
} gls_neighbour;

/* Begins without references. GLS_ERR_ARGUMENT names the option that is out of range. */
GLS_API gls_status gls_neighbours_create(const gls_neighbours_options *options, gls_neighbours **neighbours);
/* Frees `neighbours`, which may be NULL. */
GLS_API void gls_neighbours_destroy(gls_neighbours *neighbours);
/* A sink that receives the references; it stays with the caller. Memory: 24 bytes for each of their points. */
GLS_API gls_sink gls_neighbours_references(gls_neighbours *neighbours);
/* Number of references, and of those without length, which are nobody's neighbours. */
GLS_API uint64_t gls_neighbours_count(const gls_neighbours *neighbours);
GLS_API uint64_t gls_neighbours_void(const gls_neighbours *neighbours);

/* Lets a device compare the points for GLS_DISTANCE_MAM and GLS_DISTANCE_HAUSDORFF; other distances stay on the CPU.
 * The result is the same. A software renderer is slower than the CPU. Where the device's memory does not suffice, a
 * warning says so, and the CPU computes. Call it before the first gls_neighbours_find(). `device` must outlive
 * `neighbours`; NULL, as it begins: `device` is none, and the CPU computes. */
GLS_API gls_status gls_neighbours_set_device(gls_neighbours *neighbours, gls_device *device);

/* Finds the neighbours of the streamlines of a block, after the last reference. Those of streamline i are
 * (*found)[(*first)[i]] to (*found)[(*first)[i + 1] - 1], ascending by number, or with `nearest` by distance, then by
 * number. A streamline without length has none. Both are valid until the next call. */
GLS_API gls_status gls_neighbours_find(gls_neighbours *neighbours, const gls_streamlines *streamlines,
                                       const uint64_t **first, const gls_neighbour **found);

#ifdef __cplusplus
}
#endif
#endif
