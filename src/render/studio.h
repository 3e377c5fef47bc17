/* From files and options to a picture in memory. */
#ifndef GLS_RENDER_STUDIO_H
#define GLS_RENDER_STUDIO_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/filters.h>

#include "gpu/devices.h"
#include "render/drawing.h"
#include "render/scene.h"

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

/* Height of capitals, in pixels, on tiles of this size. */
double gls_label_size(uint32_t width, uint32_t height);
/* Appends an item to the foot and returns it; NULL: the foot is full. */
gls_item *gls_foot_add(gls_foot *foot, gls_item_kind kind, const char *text);
/* Arranges the items in lines of `width` pixels, and cuts texts that are too long. */
void gls_foot_lay(gls_foot *foot, uint32_t width);
/* Draws the foot into the canvas, from row `top` on. */
gls_status gls_foot_draw(const gls_foot *foot, gls_canvas *canvas, uint32_t top, const gls_render_plan *plan);
/* Draws letters and name of a tile whose upper left corner is at x, y. */
gls_status gls_tile_label(gls_canvas *canvas, const gls_tile *tile, uint32_t x, uint32_t y,
                          const gls_render_plan *plan);

/* --- Sources: from files to the streamlines of a picture. A first pass counts and measures, a second pass keeps. */

/* One input file. */
typedef struct gls_source {
    /* path as the user gave it */
    const char *path;
    char name[64];           /* name without folder and suffix */
    uint64_t total;          /* number of streamlines in the file */
    gls_filter_counts valid; /* taken: all streamlines of the file; kept: those with points, all of them finite */
    uint64_t candidates;     /* number of streamlines with finite points and the wanted lengths */
    /* colour of the file's streamlines, for GLS_COLOUR_BUNDLE and GLS_COLOUR_GROUP */
    uint32_t colour;
    /* the file states its grid */
    bool has_grid;
    gls_grid grid;           /* grid stated by the file, if has_grid */
    gls_named_colour *group; /* for GLS_COLOUR_GROUPS: groups of the file, by name */
    size_t n_groups;
} gls_source;

/* Counts the streamlines of a file, and widens *box by those with finite points and the wanted lengths. *empty: the box
 * has no point yet. */
gls_status gls_source_measure(gls_source *source, const gls_render_plan *plan, gls_box *box, bool *empty);
/* Appends to the scene the streamlines that are drawn. Leaves out points where a streamline moves by no more than the
 * tolerance, mm. sampler: samples the image that gives colours; used for GLS_COLOUR_MAP only. */
gls_status gls_source_collect(const gls_source *source, const gls_render_plan *plan, const gls_sampler *sampler,
                              double tolerance, gls_scene *scene);
/* Sends all streamlines with finite points and the wanted lengths to a sink, and finishes the sink; after a failure
 * aborts it. */
gls_status gls_source_pour(const gls_source *source, const gls_render_plan *plan, gls_sink *sink);
/* Gives every file and every group a colour: that of its name in --colors, else one by its rank among the names. */
void gls_sources_colour(gls_source *sources, size_t n, const gls_render_plan *plan);

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

/* Look of the streamlines. */
typedef struct gls_raster_style {
    double radius;       /* radius of a tube, pixels */
    bool flat;           /* plain lines without light */
    double opacity;      /* 0 .. 1; below 1 there is no occlusion */
    double occlusion;    /* strength of occlusion, 0 .. 1 */
    uint32_t background; /* red, green << 8, blue << 16, alpha << 24 */
} gls_raster_style;

/* Compiles the kernels. device is borrowed. */
gls_status gls_raster_create(gls_device *device, const gls_raster_style *style, gls_raster **raster);
/* Draws a view. rgba: camera->width x camera->height pixels in rows from the top. planes: may be NULL. */
gls_status gls_raster_draw(gls_raster *raster, const gls_scene *scene, const gls_camera *camera,
                           const gls_planes *planes, uint8_t *rgba);
/* Frees `raster`, which may be NULL. */
void gls_raster_destroy(gls_raster *raster);

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
    gls_glyphs *glyphs; /* made from `odf` */
    char behind[64];    /* name of the image for the foot, if the studio chose the image; else "" */
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

/* Reads all inputs and opens the device. options is borrowed until the studio is closed. After a failure the studio is
 * closed already. */
gls_status gls_studio_open(const char *const *tractograms, size_t n, const gls_render_options *options,
                           gls_studio *studio);
/* Draws the picture, or one frame of a turn. Free canvas->rgba by gls_canvas_finish(). */
gls_status gls_studio_draw(gls_studio *studio, uint32_t frame, gls_canvas *canvas);
/* Frees everything. Accepts a studio that is all zero. */
void gls_studio_close(gls_studio *studio);

/* --- Backdrop: what stands behind streamlines where no image is given. */

/* Looks for the file of `path` in the folder of `sidecar` (may be NULL), then at `path` itself. Returns the first path
 * that can be read, from malloc; NULL: neither can, or out of memory. */
char *gls_file_beside(const char *sidecar, const char *path);
/* Sets studio->image_read and its name studio->behind: the stop map that the sidecar of the first source names or, if
 * there is none that can be read, the density of streamlines. */
gls_status gls_backdrop_find(gls_studio *studio, const gls_box *streamlines);

/* --- Outline: a surface like glass around streamlines. */

/* Reads or computes the surface that --outline names; does nothing without it. */
gls_status gls_outline_open(gls_studio *studio, const gls_box *streamlines);
/* Draws the outline over a view whose upper left corner is at left, top. */
void gls_outline_draw(const gls_studio *studio, const gls_camera *camera, int left, int top, gls_canvas *canvas);

#endif
