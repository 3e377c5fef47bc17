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

/* Creates a canvas filled with one colour. Colours: red, green << 8, blue << 16, alpha << 24. */
gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour);
/* Frees the pixels. */
void gls_canvas_finish(gls_canvas *canvas);
/* Blends a colour, by its alpha, over a rectangle. Parts beyond the borders of the canvas are left out. */
void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour);

/* --- Colours of directions and of colour maps: red, green << 8, blue << 16. */

/* Colour maps, in the order of the words of --colormap. */
typedef enum gls_colormap { GLS_VIRIDIS, GLS_CIVIDIS, GLS_INFERNO, GLS_GREY, GLS_REDBLUE } gls_colormap;

/* Colour from red, green and blue, 0 .. 255 each. */
uint32_t gls_colour_rgb(int r, int g, int b);
/* Colour of a direction: red for left-right, green for back-front, blue for down-up. A vector of length 0 is grey. */
uint32_t gls_colour_of_direction(const double v[3]);
/* Colour at position x of a map, from 0 to 1; other values are clamped, NaN is grey. */
uint32_t gls_colormap_at(gls_colormap map, double x);

/* --- PNG pictures, still or turning (APNG; every reader of PNG shows its first frame). */

/* Receives the next bytes of the file. */
typedef gls_status (*gls_png_taker)(void *user, const void *data, size_t bytes);

/* A text entry of the file, chunk tEXt. */
typedef struct gls_png_text {
    const char *key, *value; /* in value, bytes other than printable ASCII and line ends become '?' */
} gls_png_text;

/* A PNG that is being written. Set all members up to `user` before gls_png_begin(). */
typedef struct gls_png {
    /* size of a frame, pixels */
    uint32_t width, height;
    /* the file has an alpha channel */
    bool has_alpha;
    uint32_t frames;             /* number of frames; 1: a still picture */
    uint32_t frames_per_second;  /* used if there are several frames */
    double mm_per_pixel;         /* scale of the picture, stored in the file; 0: unknown */
    const uint8_t (*palette)[3]; /* 256 colours, of which pixels are indices; NULL: pixels are RGBA */
    gls_png_taker take;
    /* argument of take() */
    void *user;
    uint32_t sequence; /* sequence number of the next chunk of a frame; 0 at first */
    uint32_t frame;    /* index of the next frame; 0 at first */
} gls_png;

/* Writes everything before the first frame. */
gls_status gls_png_begin(gls_png *png, const gls_png_text *texts, size_t n_texts);
/* Writes a frame of width x height pixels: 4 bytes each, or 1 byte with a palette. */
gls_status gls_png_frame(gls_png *png, const uint8_t *pixels);
/* Writes everything behind the last frame. */
gls_status gls_png_end(gls_png *png);

/* Writes a whole picture of one frame. palette: true: with at most 256 colours, which are chosen here. */
gls_status gls_png_still(gls_png *png, const gls_png_text *texts, size_t n_texts, const uint8_t *rgba, bool palette);

#endif
