/* Regions that are painted on the slices of the window: voxels of the image that the slices show. */
#ifndef GLS_VIEW_PAINT_H
#define GLS_VIEW_PAINT_H

#include <glslines/image.h>

#include "image/region_store_parts.h"
#include "view/messages.h"

/* Successive voxels, in the order of the image. */
typedef struct gls_view_run {
    uint32_t first, n;
} gls_view_run;

/* A painted region. It never changes: each stroke makes another one, so that a page can go back to those before. */
typedef struct gls_view_mask {
    uint32_t number; /* its name in messages, from 1 */
    uint64_t used;   /* number of the last request that named it */
    gls_view_run *run;
    size_t n; /* runs */
    uint64_t voxels;
} gls_view_mask;

/* The image, and what was painted on it. All zero: nothing can be painted. */
typedef struct gls_view_paint {
    bool possible;
    bool (*go_on)(void);    /* false: a stroke ends with GLS_ERR_CANCELLED; NULL: none ends */
    const char *path;       /* of the image, borrowed; NULL: `image` is there */
    const gls_image *image; /* borrowed, or `read`; NULL: not read yet */
    gls_image *read;        /* owned: read from `path` at the first stroke */
    gls_grid grid;          /* of the image, as NIfTI stores it */
    gls_view_mask *mask;
    size_t n;
    uint64_t n_runs; /* of all regions */
    uint32_t last;   /* number of the last region */
    uint64_t n_requests;
} gls_view_paint;

/* Lets pages paint on an image of this grid, which is at `path`, or, if path is NULL, `image`; both borrowed. An image
 * with more voxels than the page can show: they cannot. Keeps go_on. */
void gls_view_paint_begin(gls_view_paint *paint, const gls_grid *grid, const char *path, const gls_image *image);
/* Paints a stroke or a part on a region, which makes a new one; a failure leaves all regions as they are. Appends JSON
 * with its number and its number of voxels, and to runs the answer of gls_view_answer_head(), of kind 3, with its runs:
 * u32 first voxel, u32 number of voxels. */
gls_status gls_view_paint_stroke(gls_view_paint *paint, const gls_view_request *request, gls_text *json,
                                 gls_text *runs);
/* Appends the same of a region that is there. */
gls_status gls_view_paint_show(gls_view_paint *paint, const gls_view_request *request, gls_text *json, gls_text *runs);
/* The region with a number. GLS_ERR_ARGUMENT: it is not known any more, or it has no voxels. */
gls_status gls_view_paint_find(gls_view_paint *paint, uint32_t number, const gls_view_mask **mask);
/* Sets `inside` to 1 in the voxels of a region. */
void gls_view_mask_fill(const gls_view_mask *mask, uint8_t *inside);
/* Makes the area of a region with at least one voxel. Call gls_region_area_finish(), also after a failure. */
gls_status gls_view_mask_area(const gls_view_mask *mask, const gls_grid *grid, gls_region_area *area);
/* Copies a region; free its runs. */
gls_status gls_view_mask_copy(const gls_view_mask *mask, gls_view_mask *copy);
/* Frees everything. */
void gls_view_paint_end(gls_view_paint *paint);

#endif
