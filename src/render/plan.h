/* What a picture is to show: the options of gls_render_files(), read and checked. */
#ifndef GLS_RENDER_PLAN_H
#define GLS_RENDER_PLAN_H

#include <glslines/render.h>

#include "render/scene.h"
#include "render/view.h"

#define GLS_MAX_TILES 128
#define GLS_MAX_NAMED 256

/* One view. */
typedef struct gls_tile {
    char name[24]; /* as on the picture */
    gls_camera camera;
    int slab_axis; /* -1: no slab */
    int slab;      /* its number, from 0 */
} gls_tile;

typedef struct gls_named_colour {
    char name[64];
    uint32_t colour;
} gls_named_colour;

typedef struct gls_render_plan {
    const gls_render_options *options;
    gls_tile tile[GLS_MAX_TILES];
    size_t n_tiles;
    uint32_t width, height; /* of a tile */
    uint32_t columns;
    int n_slabs;
    double slab_mm; /* thickness; 0: two voxels of the image, or 4 mm */
    gls_colouring colouring;
    const char *name; /* of the group or column, path of the map */
    uint32_t colour;
    enum { GLS_FIT_AUTO, GLS_FIT_IMAGE, GLS_FIT_STREAMLINES, GLS_FIT_MM } fit;
    double fit_mm;
    enum { GLS_PLANES_CENTRE, GLS_PLANES_NONE, GLS_PLANES_AT } planes;
    double planes_at[3];
    uint32_t background; /* with alpha */
    uint32_t ink;        /* of labels, with alpha */
    double azimuth, elevation;
    gls_named_colour *named;
    size_t n_named;
} gls_render_plan;

/* n: files. GLS_ERR_ARGUMENT names the option that is wrong. */
gls_status gls_render_plan_make(const gls_render_options *options, size_t n, gls_render_plan *plan);
void gls_render_plan_finish(gls_render_plan *plan);

#endif
