/* Writes text on pictures, with letters that are drawn as strokes: labels on tiles, and the foot of a picture. */
#ifndef GLS_RENDER_ANNOTATE_H
#define GLS_RENDER_ANNOTATE_H

#include <glslines/common.h>

#include "render/drawing.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"

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

#endif
