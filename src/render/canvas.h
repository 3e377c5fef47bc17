/* A picture in memory, and what is put on it: other pictures, bars, text. */
#ifndef GLS_RENDER_CANVAS_H
#define GLS_RENDER_CANVAS_H

#include <glslines/common.h>

typedef struct gls_canvas {
    uint32_t width, height;
    uint8_t *rgba; /* rows from the top */
} gls_canvas;

/* Colours: red, green << 8, blue << 16, alpha << 24. */
gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour);
void gls_canvas_finish(gls_canvas *canvas);
/* What lies beyond the borders is left out, here and below. */
void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour);
void gls_canvas_put(gls_canvas *canvas, int x, int y, uint32_t width, uint32_t height, const uint8_t *rgba);

/* Text whose capitals are `size` pixels high; characters beyond ASCII are shown as '?'. */
double gls_text_width(const char *text, double size);
/* x, y: left end of the line on which capitals stand; halo: colour of the seam around the letters. */
gls_status gls_canvas_text(gls_canvas *canvas, double x, double y, double size, uint32_t colour, uint32_t halo,
                           const char *text);

#endif
