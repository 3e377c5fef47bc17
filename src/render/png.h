/* PNG pictures, and turning ones (APNG, whose first frame every reader of PNG shows). */
#ifndef GLS_RENDER_PNG_H
#define GLS_RENDER_PNG_H

#include <glslines/common.h>

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
