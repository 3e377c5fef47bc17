/* Pictures in memory: colours, text, PNG. */
#ifndef GLS_RENDER_DRAWING_H
#define GLS_RENDER_DRAWING_H

#include <glslines/common.h>

/* --- A picture in memory, and what is put on it: other pictures, bars, text. */

typedef struct gls_canvas {
    uint32_t width, height;
    uint8_t *rgba; /* rows from the top */
} gls_canvas;

/* Colours: red, green << 8, blue << 16, alpha << 24. */
gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour);
void gls_canvas_finish(gls_canvas *canvas);
/* What lies beyond the borders is left out, here and below. */
void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour);
void gls_canvas_copy(gls_canvas *canvas, int x, int y, uint32_t width, uint32_t height, const uint8_t *rgba);

/* Text whose capitals are `size` pixels high; characters beyond ASCII are shown as '?'. */
double gls_text_width(const char *text, double size);
/* x, y: left end of the line on which capitals stand; halo: colour of the seam around the letters. */
gls_status gls_canvas_text(gls_canvas *canvas, double x, double y, double size, uint32_t colour, uint32_t halo,
                           const char *text);

/* --- Colours: of directions, of colour maps, of bundles, and by name. Red, green << 8, blue << 16. */

typedef enum gls_colormap { GLS_VIRIDIS, GLS_CIVIDIS, GLS_INFERNO, GLS_GREY, GLS_REDBLUE } gls_colormap;

uint32_t gls_colour_rgb(int r, int g, int b);
/* Red: left to right, green: back to front, blue: up and down. A vector of length 0 is grey. */
uint32_t gls_colour_of_direction(const double v[3]);
/* x from 0 to 1, what lies outside is clamped; NaN is grey. */
uint32_t gls_colormap_at(gls_colormap map, double x);
/* One of twelve colours that stay apart for viewers with any of the three colour deficiencies; repeated beyond. */
uint32_t gls_colour_of_bundle(size_t i);
/* "#rrggbb", black, white or grey. */
bool gls_colour_parse(const char *text, uint32_t *colour);

/* --- Letters as strokes, for labels of any size. */

#define GLS_FONT_GLYPHS 95
/* Height of capitals, and the line on which they stand, in the units of the strokes. */
#define GLS_FONT_CAPITAL 21
#define GLS_FONT_BASE 9

extern const char *const gls_font_glyphs[GLS_FONT_GLYPHS];

/* --- PNG pictures, and turning ones (APNG, whose first frame every reader of PNG shows). */

/* Takes the next bytes of the file. */
typedef gls_status (*gls_png_taker)(void *user, const void *data, size_t bytes);

typedef struct gls_png_text {
    const char *key, *value; /* characters beyond ASCII become '?' */
} gls_png_text;

typedef struct gls_png {
    uint32_t width, height;
    bool has_alpha;
    uint32_t frames;             /* 1: a still */
    uint32_t frames_per_second;  /* of more than one */
    double mm_per_pixel;         /* of what is drawn; 0: unknown */
    const uint8_t (*palette)[3]; /* NULL: colours as they are; else 256 of them, and pixels are their numbers */
    gls_png_taker take;
    void *user;
    uint32_t sequence; /* of the chunks of frames; 0 at first */
    uint32_t frame;    /* that comes next; 0 at first */
} gls_png;

/* Before the first frame. */
gls_status gls_png_begin(gls_png *png, const gls_png_text *texts, size_t n_texts);
/* rgba: width x height pixels of 4 bytes; with a palette of 1 byte. */
gls_status gls_png_frame(gls_png *png, const uint8_t *pixels);
gls_status gls_png_end(gls_png *png);

/* A still of one picture at once: with a palette of its own where that is asked for. */
gls_status gls_png_still(gls_png *png, const gls_png_text *texts, size_t n_texts, const uint8_t *rgba, bool palette);

#endif
