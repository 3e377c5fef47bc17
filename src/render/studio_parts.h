/* From files and options to a picture in memory. */
#ifndef GLS_RENDER_STUDIO_PARTS_H
#define GLS_RENDER_STUDIO_PARTS_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/filters.h>
#include <glslines/image.h>
#include <glslines/render.h>

#include "gpu/devices.h"
#include "render/drawing.h"
#include "render/scene.h"
#include "render/scene_parts.h"
#include "transform/transform.h"

/* --- Labels: letters of orientation, names of views, and a foot with counts, scale and legends. */

/* Largest number of items of a foot; further items are left out. */
#define GLS_MAX_ITEMS 64

/* Kinds of items: text; a square of a colour with text; a bar of a length in mm; the colours of a map with its
 * bounds. */
typedef enum gls_item_kind { GLS_ITEM_TEXT, GLS_ITEM_SWATCH, GLS_ITEM_SCALE, GLS_ITEM_COLOURS } gls_item_kind;

/* A part of the foot. */
typedef struct gls_item {
    /* what the item shows */
    gls_item_kind kind;
    char text[96], other[32]; /* other: with GLS_ITEM_COLOURS, the value at the upper end */
    uint32_t colour;          /* colour of a swatch */
    /* GLS_ITEM_COLOURS: map of the colours */
    gls_colormap map;
    double mm;       /* GLS_ITEM_SCALE: length */
    double x, width; /* in pixels; set by gls_foot_lay() */
    /* line of the foot, from 0; set by gls_foot_lay() */
    uint32_t line;
} gls_item;

/* The lines of text below a picture. */
typedef struct gls_foot {
    /* parts in their order */
    gls_item item[GLS_MAX_ITEMS];
    /* number of parts */
    size_t n;
    double size;     /* height of capitals, pixels */
    double mm_pixel; /* mm for each pixel */
    /* set by gls_foot_lay(); height in pixels */
    uint32_t lines, height;
} gls_foot;

/* --- Sources: from files to the streamlines of a picture. A first pass counts and measures, a second pass keeps. */

/* One input file. */
typedef struct gls_source {
    /* path as the user gave it */
    const char *path;
    char name[64];           /* name without folder and suffix */
    uint64_t total;          /* number of streamlines in the file */
    gls_filter_counts valid; /* taken: all streamlines of the file; kept: those with points, all of them finite */
    uint64_t candidates;     /* number of streamlines with finite points and the wanted lengths */
    uint64_t points;         /* of these streamlines */
    /* colour of the file's streamlines, for GLS_COLOUR_BUNDLE and GLS_COLOUR_GROUP */
    uint32_t colour;
    /* the file states its grid */
    bool has_grid;
    gls_grid grid;           /* grid stated by the file, if has_grid */
    gls_named_colour *group; /* for GLS_COLOUR_GROUPS: groups of the file, by name */
    size_t n_groups;
} gls_source;

/* --- Records that host and kernels of glsl/render exchange; the shaders read the same lists. */

typedef uint32_t uint_field;

#define uint uint_field
#define FIELD(type, name) type name;

typedef struct gls_segment_record {
#include "layout/segment.def"
} gls_segment_record;

typedef struct gls_tubes_uniforms {
#include "layout/tubes.def"
} gls_tubes_uniforms;

typedef struct gls_resolve_uniforms {
#include "layout/resolve.def"
    /* offsets of the samples that are looked at for occlusion: x + 128, and y + 128 in the second byte */
    uint32_t around[256];
    uint32_t alpha[256]; /* alpha of 0 .. 1023 tubes in front of each other, a byte each */
} gls_resolve_uniforms;

#undef FIELD
#undef uint

/* --- Raster: draws streamlines with compute shaders. Any device gives the same bytes, because only integers are used,
 * and sums and maxima that do not depend on order. */

typedef struct gls_raster gls_raster;

/* --- Studio: everything from which a picture is drawn, and the picture in memory. */

/* Everything that a picture needs; free with gls_studio_close(). */
typedef struct gls_studio {
    /* options, checked and translated */
    gls_render_plan plan;
    /* the tractograms, n_sources of them; owned */
    gls_source *source;
    /* number of tractograms */
    size_t n_sources;
    const gls_image *image; /* background image; NULL: none */
    /* owned: the background, the image of colours, the ODFs */
    gls_image *image_read, *map, *odf;
    gls_transform space; /* from the space of the streamlines to that of the images; empty: both are the same */
    gls_glyphs *glyphs;  /* made from `odf` */
    char behind[64];     /* name of the image for the foot, if the studio chose the image; else "" */
    /* samplers of `image` and of `map` */
    gls_sampler sampler, map_sampler;
    gls_image *outline; /* mask of the outline, smoothed; NULL: none */
    gls_sampler outline_sampler;
    /* values of the image that are black and white */
    gls_window window;
    /* position of the slices, world mm */
    double planes_at[3];
    /* streamlines of all files */
    gls_scene scene;
    double range[2];        /* values at the two ends of the colour map */
    gls_box box;            /* box of all that the views show, world mm */
    double scale;           /* pixels for each mm, the same for all views */
    gls_device_set devices; /* device that draws, opened for this picture */
    /* draws the streamlines */
    gls_raster *raster;
    /* text below the views */
    gls_foot foot;
    /* counts and size for the caller */
    gls_render_result result;
} gls_studio;

/* --- Backdrop: what stands behind streamlines where no image is given. */

/* --- Outline: a surface like glass around streamlines. */

#endif
