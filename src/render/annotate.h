/* What is written on a picture: letters of orientation, names of views, and a foot with counts, scale and legends. */
#ifndef GLS_RENDER_ANNOTATE_H
#define GLS_RENDER_ANNOTATE_H

#include "render/canvas.h"
#include "render/colour.h"
#include "render/plan.h"

#define GLS_MAX_ITEMS 64

typedef enum gls_item_kind { GLS_ITEM_TEXT, GLS_ITEM_SWATCH, GLS_ITEM_SCALE, GLS_ITEM_COLOURS } gls_item_kind;

/* A part of the foot. */
typedef struct gls_item {
    gls_item_kind kind;
    char text[96], other[32]; /* GLS_ITEM_COLOURS: the values at both ends */
    uint32_t colour;          /* of a swatch */
    gls_colormap map;
    double mm;       /* GLS_ITEM_SCALE: length */
    double x, width; /* pixels; set by gls_foot_lay() */
    uint32_t line;
} gls_item;

typedef struct gls_foot {
    gls_item item[GLS_MAX_ITEMS];
    size_t n;
    double size;     /* of letters: height of capitals, pixels */
    double mm_pixel; /* mm a pixel */
    uint32_t lines, height;
} gls_foot;

/* Height of capitals on tiles of this size. */
double gls_label_size(uint32_t width, uint32_t height);
gls_item *gls_foot_add(gls_foot *foot, gls_item_kind kind, const char *text);
/* Places the items in lines of `width` pixels. */
void gls_foot_lay(gls_foot *foot, uint32_t width);
gls_status gls_foot_draw(const gls_foot *foot, gls_canvas *canvas, uint32_t top, const gls_render_plan *plan);
/* Letters and name of a tile whose upper left corner is at x, y. */
gls_status gls_tile_label(gls_canvas *canvas, const gls_tile *tile, uint32_t x, uint32_t y,
                          const gls_render_plan *plan);

#endif
