/* Pictures in memory, which are filled with rectangles, and the colours of directions and colour maps. */
#ifndef GLS_RENDER_CANVAS_H
#define GLS_RENDER_CANVAS_H

#include <glslines/common.h>

#include "render/drawing.h"

/* Creates a canvas filled with one colour. Colours: red, green << 8, blue << 16, alpha << 24. */
gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour);
/* Frees the pixels. */
void gls_canvas_finish(gls_canvas *canvas);
/* Blends a colour, by its alpha, over a rectangle. Parts beyond the borders of the canvas are left out. */
void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour);
/* Colour from red, green and blue, 0 .. 255 each. */
uint32_t gls_colour_rgb(int r, int g, int b);
/* Colour of a direction: red for left-right, green for back-front, blue for down-up. A vector of length 0 is grey. */
uint32_t gls_colour_of_direction(const double v[3]);
/* The word of --colormap. */
const char *gls_colormap_name(gls_colormap map);
/* Colour at position x of a map, from 0 to 1; other values are clamped, NaN is grey. */
uint32_t gls_colormap_at(gls_colormap map, double x);

#endif
