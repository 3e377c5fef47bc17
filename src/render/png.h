/* Writes PNG and APNG, and chooses 256 colours for a picture. */
#ifndef GLS_RENDER_PNG_H
#define GLS_RENDER_PNG_H

#include <glslines/common.h>

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
