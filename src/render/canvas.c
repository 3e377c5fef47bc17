/* Pictures in memory, which are filled with rectangles, and the colours of directions and colour maps. */
#include "render/canvas.h"
#include "render/drawing.h"

#include <math.h>
#include <stdlib.h>

#include "util/status.h"

/* Colour of a direction of length 0, and of NaN. */
#define GREY 0x909090u
#define STOPS GLS_COLORMAP_STOPS

/* colours 0xrrggbb at equal distances along each map; see third_party_notes/colour_maps.md */
static const uint32_t maps[][STOPS] = {
    [GLS_VIRIDIS] = {0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453781, 0x424086, 0x3e4989, 0x3b528b,
                     0x375b8d, 0x33638d, 0x2f6b8e, 0x2c728e, 0x297a8e, 0x26828e, 0x23898e, 0x21918c, 0x1f988b,
                     0x1fa088, 0x22a785, 0x28ae80, 0x32b67a, 0x3fbc73, 0x4ec36b, 0x5ec962, 0x70cf57, 0x84d44b,
                     0x98d83e, 0xaddc30, 0xc2df23, 0xd8e219, 0xece51b, 0xfde725},
    [GLS_CIVIDIS] = {0x00224e, 0x00285b, 0x002e6a, 0x053371, 0x1a386f, 0x273e6e, 0x32436d, 0x3b496c, 0x434e6c,
                     0x4b546c, 0x535a6d, 0x5a5f6e, 0x61656f, 0x686a71, 0x6f7073, 0x767676, 0x7d7c78, 0x848279,
                     0x8c8878, 0x938e78, 0x9b9476, 0xa39a74, 0xaba072, 0xb4a76f, 0xbcae6c, 0xc4b468, 0xcdbb63,
                     0xd5c25e, 0xdec958, 0xe7d150, 0xf0d846, 0xf9e03a, 0xfee838},
    [GLS_INFERNO] = {0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2f0a5b, 0x3d0965, 0x4a0c6b, 0x57106e,
                     0x64156e, 0x71196e, 0x7d1e6d, 0x8a226a, 0x972766, 0xa32c61, 0xb0315b, 0xbc3754, 0xc73e4c,
                     0xd24644, 0xdb503b, 0xe45a31, 0xeb6628, 0xf1731d, 0xf68013, 0xf98e09, 0xfb9d07, 0xfcac11,
                     0xfbbc21, 0xf9cb35, 0xf5db4c, 0xf2ea69, 0xf3f68a, 0xfcffa4},
    [GLS_REDBLUE] = {0x053061, 0x0e4179, 0x175290, 0x1f63a8, 0x2a71b2, 0x3480b9, 0x3f8ec0, 0x529dc8, 0x6bacd1,
                     0x84bcd9, 0x9bc9e0, 0xaed3e6, 0xc2ddec, 0xd4e6f1, 0xe0ecf3, 0xecf2f5, 0xf7f6f6, 0xf9eee7,
                     0xfbe5d8, 0xfddcc9, 0xfbccb4, 0xf8bb9e, 0xf5aa89, 0xee9677, 0xe48066, 0xdb6b55, 0xd05548,
                     0xc53e3d, 0xba2832, 0xab162a, 0x930e26, 0x7c0722, 0x67001f},
    /* black, red, yellow and white at 0, 3/8, 6/8 and 1 */
    [GLS_HOT] = {0x000000, 0x150000, 0x2b0000, 0x400000, 0x550000, 0x6a0000, 0x800000, 0x950000, 0xaa0000,
                 0xbf0000, 0xd50000, 0xea0000, 0xff0000, 0xff1500, 0xff2b00, 0xff4000, 0xff5500, 0xff6a00,
                 0xff8000, 0xff9500, 0xffaa00, 0xffbf00, 0xffd500, 0xffea00, 0xffff00, 0xffff20, 0xffff40,
                 0xffff60, 0xffff80, 0xffff9f, 0xffffbf, 0xffffdf, 0xffffff},
};

gls_status gls_canvas_create(gls_canvas *canvas, uint32_t width, uint32_t height, uint32_t colour)
{
    uint8_t *rgba = malloc((size_t)width * height * 4 + 1);
    if (!rgba) return gls_fail(GLS_ERR_MEMORY, "out of memory for a picture of %u x %u pixels", width, height);
    *canvas = (gls_canvas){width, height, rgba};
    for (size_t i = 0; i < (size_t)width * height; i++)
        for (int k = 0; k < 4; k++) rgba[4 * i + (size_t)k] = (uint8_t)(colour >> 8 * k);
    return GLS_OK;
}

void gls_canvas_finish(gls_canvas *canvas)
{
    free(canvas->rgba);
    canvas->rgba = NULL;
}

/* Blends a colour with its alpha into a pixel. */
static void blend(uint8_t *pixel, uint32_t colour)
{
    /* source over destination (Porter and Duff 1984), with alpha of 8 bits that is not premultiplied */
    uint32_t alpha = colour >> 24, rest = pixel[3] * (255 - alpha) / 255, sum = alpha + rest;
    if (sum == 0) return;
    for (int k = 0; k < 3; k++)
        pixel[k] = (uint8_t)(((colour >> 8 * k & 255) * alpha + pixel[k] * rest + sum / 2) / sum);
    pixel[3] = (uint8_t)sum;
}

void gls_canvas_fill(gls_canvas *canvas, int x, int y, int width, int height, uint32_t colour)
{
    for (int row = y < 0 ? 0 : y; row < y + height && row < (int)canvas->height; row++)
        for (int column = x < 0 ? 0 : x; column < x + width && column < (int)canvas->width; column++)
            blend(canvas->rgba + ((size_t)row * canvas->width + (size_t)column) * 4, colour);
}

uint32_t gls_colour_rgb(int r, int g, int b)
{
    return (uint32_t)r | (uint32_t)g << 8 | (uint32_t)b << 16;
}

uint32_t gls_colour_of_direction(const double v[3])
{
    double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(n > 0)) return GREY;
    int c[3];
    /* shifted towards white, so that every direction stands out from the background */
    for (int a = 0; a < 3; a++) c[a] = (int)(40 + 215 * fabs(v[a]) / n + 0.5);
    return gls_colour_rgb(c[0], c[1], c[2]);
}

const char *gls_colormap_name(gls_colormap map)
{
    static const char *const names[] = {"viridis", "cividis", "inferno", "grey", "redblue", "hot"};
    return names[map];
}

uint32_t gls_colormap_at(gls_colormap map, double x)
{
    if (isnan(x)) return GREY;
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    if (map == GLS_GREY) return 0x010101u * (uint32_t)(x * 255 + 0.5);
    double place = x * (STOPS - 1);
    int i = place < STOPS - 2 ? (int)place : STOPS - 2, c[3];
    for (int a = 0; a < 3; a++) {
        int low = maps[map][i] >> (16 - 8 * a) & 255, high = maps[map][i + 1] >> (16 - 8 * a) & 255;
        c[a] = (int)(low + (high - low) * (place - i) + 0.5);
    }
    return gls_colour_rgb(c[0], c[1], c[2]);
}
