/* Candidates for neighbours by distances of nearest points, found by a kernel: the references that may lie within a
 * limit of a streamline. */
#ifndef GLS_GEOMETRY_NEAREST_DEVICE_H
#define GLS_GEOMETRY_NEAREST_DEVICE_H

#include <glslines/device.h>

#include "geometry/sorted_cells.h"

/* Distances of the kernel are within this part of their values. */
#define GLS_NEAREST_ERROR 0x1p-15
/* Streamlines that one search takes at most. */
enum { GLS_NEAREST_LINES = 1024 };
/* Coordinates, mm, below which the kernel may be used; squares of larger ones would overflow. */
#define GLS_NEAREST_EXTENT 1e15f

/* A reference, by its place, and its distance. Of a final list it is the distance in double, rounded; negative: it is
 * not certain, and is perhaps not below the radius. */
typedef struct gls_nearest_entry {
    uint32_t place;
    float mm;
} gls_nearest_entry;

/* Entries of one streamline that lie one after the other. */
typedef struct gls_nearest_run {
    uint32_t first, n;
} gls_nearest_run;

/* The neighbours that were found for some streamlines, in no particular order. All zero: empty. */
typedef struct gls_nearest_list {
    uint32_t *start; /* runs of streamline i: start[i] .. start[i + 1] - 1 */
    gls_nearest_run *run;
    gls_nearest_entry *entry;
    bool is_final;
    uint32_t *word; /* runs as they come from the device */
    size_t start_capacity, run_capacity, entry_capacity, word_capacity;
} gls_nearest_list;

typedef struct gls_nearest_device gls_nearest_device;

/* Compiles the kernel and uploads the references. low, high: their boxes, by place. largest: the distance is the
 * largest one of a point of either from the nearest point of the other; false: the mean distance of each from the
 * other, mean of both. radius: lists shall be final where the device has double precision, for this largest distance;
 * 0: they need not. The device must outlive what is made. GLS_ERR_DEVICE_MEMORY: the references do not fit. */
gls_status gls_nearest_device_create(gls_device *device, const gls_cells *cells, float *const low[3],
                                     float *const high[3], bool largest, double radius, gls_nearest_device **made);
/* Frees `d`, which may be NULL. */
void gls_nearest_device_destroy(gls_nearest_device *d);
/* Starts the search for all references nearer than a limit; some may be farther by GLS_NEAREST_ERROR. point: n sets of
 * points, of which the search may take fewer; limit: mm, for each; negative: nothing is sought. The device works on
 * after the call. */
gls_status gls_nearest_device_begin(gls_nearest_device *d, const float (*point)[3], const double *limit, size_t n);
/* Waits for the search that was begun last. *n: gets the number of streamlines that were worked on, from the first one
 * on; at least one. GLS_ERR_DEVICE_MEMORY: what was found for one streamline does not fit. */
gls_status gls_nearest_device_end(gls_nearest_device *d, size_t *n, gls_nearest_list *list);
/* Frees what a list holds. */
void gls_nearest_list_finish(gls_nearest_list *list);

#endif
