/* Pictures in memory: rectangles, colours, PNG. */
#ifndef GLS_RENDER_DRAWING_H
#define GLS_RENDER_DRAWING_H

#include <glslines/common.h>

/* --- Canvas: the pixels of a picture. */

/* A picture in memory. */
typedef struct gls_canvas {
    /* size in pixels */
    uint32_t width, height;
    uint8_t *rgba; /* pixels in rows from the top, 4 bytes each */
} gls_canvas;

/* --- Colours of directions and of colour maps: red, green << 8, blue << 16. */

/* Colour maps, in the order of the words of --colormap. */
typedef enum gls_colormap {
    GLS_VIRIDIS,
    GLS_CIVIDIS,
    GLS_INFERNO,
    GLS_GREY,
    GLS_REDBLUE,
    GLS_HOT,
    GLS_COLORMAPS
} gls_colormap;
/* Number of colours that a map lists; the colours between them are interpolated. */
#define GLS_COLORMAP_STOPS 33

#endif
