#include "render/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/crc.h"
#include "util/status.h"

/* Bytes of the data of a chunk, by the format. */
#define MOST_OF_CHUNK INT32_MAX

static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* data: its first 8 bytes are free, for length and type. */
static gls_status put_chunk(const gls_png *png, const char *type, uint8_t *data, size_t bytes)
{
    uint8_t end[4];
    put32(data, (uint32_t)bytes);
    memcpy(data + 4, type, 4);
    put32(end, gls_crc32(0, data + 4, bytes + 4));
    gls_status status = png->take(png->user, data, bytes + 8);
    return status ? status : png->take(png->user, end, 4);
}

static gls_status put_text(const gls_png *png, const gls_png_text *text)
{
    size_t key = strlen(text->key), value = strlen(text->value);
    uint8_t *chunk = malloc(key + value + 9);
    if (!chunk) return gls_fail(GLS_ERR_MEMORY, "out of memory for the text of a picture");
    memcpy(chunk + 8, text->key, key + 1);
    for (size_t i = 0; i < value; i++) {
        char c = text->value[i];
        chunk[9 + key + i] = (uint8_t)((c >= ' ' && c <= '~') || c == '\n' ? c : '?');
    }
    gls_status status = put_chunk(png, "tEXt", chunk, key + 1 + value);
    free(chunk);
    return status;
}

gls_status gls_png_begin(gls_png *png, const gls_png_text *texts, size_t n_texts)
{
    uint8_t head[8 + 13], animation[8 + 8], size[8 + 9], colours[8 + 768];
    gls_status status = png->take(png->user, "\x89PNG\r\n\x1a\n", 8);
    put32(head + 8, png->width);
    put32(head + 12, png->height);
    memcpy(head + 16, (const uint8_t[]){8, png->palette ? 3 : png->has_alpha ? 6 : 2, 0, 0, 0}, 5);
    if (!status) status = put_chunk(png, "IHDR", head, 13);
    if (png->palette && !status) {
        memcpy(colours + 8, png->palette, 768);
        status = put_chunk(png, "PLTE", colours, 768);
    }
    if (png->frames > 1 && !status) {
        put32(animation + 8, png->frames);
        put32(animation + 12, 0); /* for ever */
        status = put_chunk(png, "acTL", animation, 8);
    }
    if (png->mm_per_pixel > 0 && !status) {
        uint32_t per_metre = (uint32_t)fmin(fmax(round(1000 / png->mm_per_pixel), 1), 1e9);
        put32(size + 8, per_metre);
        put32(size + 12, per_metre);
        size[16] = 1; /* the unit is the metre */
        status = put_chunk(png, "pHYs", size, 9);
    }
    for (size_t i = 0; i < n_texts && !status; i++)
        if (texts[i].value) status = put_text(png, &texts[i]);
    return status;
}

static int paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* A row less what its neighbours foretell; returns the sum of the absolute differences. */
static uint64_t filter_row(int kind, const uint8_t *row, const uint8_t *above, size_t n, size_t step, uint8_t *out)
{
    uint64_t sum = 0;
    out[0] = (uint8_t)kind;
    for (size_t i = 0; i < n; i++) {
        int left = i >= step ? row[i - step] : 0, up = above ? above[i] : 0,
            corner = above && i >= step ? above[i - step] : 0, guess = 0;
        if (kind == 1) guess = left;
        if (kind == 2) guess = up;
        if (kind == 3) guess = (left + up) / 2;
        if (kind == 4) guess = paeth(left, up, corner);
        int8_t d = (int8_t)(row[i] - guess);
        out[i + 1] = (uint8_t)d;
        sum += (uint64_t)abs(d);
    }
    return sum;
}

/* The bytes of a frame as they are deflated: each row with the filter of the smallest sum, those of a palette without.
 */
static uint8_t *filtered(const gls_png *png, const uint8_t *pixels, size_t *bytes)
{
    size_t step = png->palette ? 1 : png->has_alpha ? 4 : 3, n = png->width * step;
    uint8_t *out = malloc((n + 1) * png->height + 1), *rows = malloc(2 * n + 1), *tried = malloc(n + 1);
    for (uint32_t y = 0; y < png->height && out && rows && tried; y++) {
        uint8_t *row = rows + (y % 2 ? n : 0), *above = y > 0 ? rows + (y % 2 ? 0 : n) : NULL;
        const uint8_t *from = pixels + (size_t)y * png->width * (png->palette ? 1 : 4);
        for (size_t x = 0; x < png->width; x++) memcpy(row + x * step, from + x * (png->palette ? 1 : 4), step);
        uint8_t *to = out + y * (n + 1);
        uint64_t best = filter_row(0, row, above, n, step, to);
        for (int kind = 1; kind < 5 && !png->palette; kind++) {
            uint64_t sum = filter_row(kind, row, above, n, step, tried);
            if (sum >= best) continue;
            best = sum;
            memcpy(to, tried, n + 1);
        }
    }
    bool failed = !out || !rows || !tried;
    free(rows);
    free(tried);
    if (failed) {
        free(out);
        return NULL;
    }
    *bytes = (n + 1) * png->height;
    return out;
}

static gls_status put_frame_head(gls_png *png)
{
    uint8_t head[8 + 26] = {0};
    put32(head + 8, png->sequence++);
    put32(head + 12, png->width);
    put32(head + 16, png->height);
    head[29] = 1; /* shown for 1 / frames_per_second */
    head[31] = (uint8_t)png->frames_per_second;
    return put_chunk(png, "fcTL", head, 26);
}

gls_status gls_png_frame(gls_png *png, const uint8_t *pixels)
{
    size_t bytes = 0;
    bool later = png->frame > 0;
    uint8_t *raw = filtered(png, pixels, &bytes);
    uLongf packed = compressBound((uLong)bytes);
    uint8_t *chunk = raw ? malloc(packed + 12) : NULL;
    gls_status status = chunk ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a picture");
    if (!status && compress2(chunk + 12, &packed, raw, (uLong)bytes, 7) != Z_OK)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for a picture");
    if (!status && packed > MOST_OF_CHUNK - 4)
        status =
            gls_fail(GLS_ERR_UNSUPPORTED, "a picture of %u x %u pixels takes more than 2 GiB, which PNG does not hold",
                     png->width, png->height);
    if (!status && png->frames > 1) status = put_frame_head(png);
    if (!status) {
        if (later) put32(chunk + 8, png->sequence++);
        status = put_chunk(png, later ? "fdAT" : "IDAT", later ? chunk : chunk + 4, packed + (later ? 4 : 0));
    }
    png->frame++;
    free(raw);
    free(chunk);
    return status;
}

gls_status gls_png_end(gls_png *png)
{
    uint8_t end[8];
    return put_chunk(png, "IEND", end, 0);
}

gls_status gls_png_still(gls_png *png, const gls_png_text *texts, size_t n_texts, const uint8_t *rgba, bool palette)
{
    uint8_t colours[256][3], *numbers = NULL;
    gls_status status = GLS_OK;
    png->frames = 1;
    if (palette) {
        status = gls_palette_make(rgba, (size_t)png->width * png->height, colours, &numbers);
        png->palette = (const uint8_t(*)[3])colours;
    }
    if (!status) status = gls_png_begin(png, texts, n_texts);
    if (!status) status = gls_png_frame(png, palette ? numbers : rgba);
    if (!status) status = gls_png_end(png);
    png->palette = NULL;
    free(numbers);
    return status;
}
