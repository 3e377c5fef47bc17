/* Writes PNG and APNG, and chooses 256 colours for a picture. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "render/png.h"
#include "util/file.h"
#include "util/status.h"

/* --- Choice of 256 colours by median cut: of all boxes of colours the one with the largest product of pixels and
 * longest side is halved at its median, repeatedly. Colours are distinguished by 5 bits for each channel. */

/* Number of colours with 5 bits a channel. */
#define BINS 32768

/* A box of colours, a leaf of the median cut. */
typedef struct box {
    uint32_t first, n; /* first: index of its first bin in the list of bins; n: number of its bins */
    uint64_t pixels;
    int axis, side; /* axis: axis of the longest side; side: its length */
} box;

/* The histogram of colours, 5 bits a channel. */
typedef struct cutter {
    /* number of pixels in each bin */
    uint32_t count[BINS];
    /* sums of the full values of the pixels in each bin, from which the mean colour follows */
    uint64_t sum[BINS][3];
    uint16_t bin[BINS]; /* the bins that occur, box by box */
} cutter;

/* Value, 0 to 31, of a bin in a channel: axis 0 is red, 1 green, 2 blue. */
static int channel(uint16_t bin, int axis)
{
    return bin >> (10 - 5 * axis) & 31;
}

/* Counts the pixels of a box of colours, and finds its longest side. */
static void measure(const cutter *c, box *b)
{
    int low[3] = {31, 31, 31}, high[3] = {0, 0, 0};
    b->pixels = 0;
    b->axis = 0;
    for (uint32_t i = b->first; i < b->first + b->n; i++) {
        b->pixels += c->count[c->bin[i]];
        for (int a = 0; a < 3; a++) {
            int v = channel(c->bin[i], a);
            low[a] = v < low[a] ? v : low[a];
            high[a] = v > high[a] ? v : high[a];
        }
    }
    for (int a = 1; a < 3; a++)
        if (high[a] - low[a] > high[b->axis] - low[b->axis]) b->axis = a;
    b->side = high[b->axis] - low[b->axis];
}

/* Cuts a box across its longest side at the median of its pixels. *b becomes the lower part. Returns the upper part; n
 * = 0: memory ran out. */
static box halve(cutter *c, box *b)
{
    uint32_t start[33] = {0};
    uint16_t *copy = malloc(b->n * sizeof *copy);
    box upper = {.n = 0};
    if (!copy) return upper;
    memcpy(copy, c->bin + b->first, b->n * sizeof *copy);
    for (uint32_t i = 0; i < b->n; i++) start[channel(copy[i], b->axis) + 1]++;
    for (int v = 0; v < 32; v++) start[v + 1] += start[v];
    for (uint32_t i = 0; i < b->n; i++) c->bin[b->first + start[channel(copy[i], b->axis)]++] = copy[i];
    free(copy);
    uint64_t sum = 0;
    /* the lower part gets bins until they have half of the pixels; each part gets at least one bin */
    uint32_t n = 0;
    while (n < b->n - 1 && (n == 0 || sum < b->pixels / 2)) sum += c->count[c->bin[b->first + n++]];
    upper.first = b->first + n;
    upper.n = b->n - n;
    b->n = n;
    measure(c, b);
    measure(c, &upper);
    return upper;
}

/* Index of the box with the largest product of pixels and longest side; -1: every box is one colour. */
static int worst(const box *boxes, int n)
{
    int found = -1;
    for (int i = 0; i < n; i++)
        if (boxes[i].side > 0 && (found < 0 || boxes[i].pixels * (uint64_t)boxes[i].side >
                                                   boxes[found].pixels * (uint64_t)boxes[found].side))
            found = i;
    return found;
}

/* Median cut (Heckbert 1982): halves the box with the largest product of pixels and longest side, until there are 256
 * boxes or each box is one colour. Returns the number of boxes, -1 if memory ran out. */
static int cut_boxes(cutter *c, box *boxes)
{
    int n = 1;
    for (uint32_t bin = 0; bin < BINS; bin++)
        if (c->count[bin]) c->bin[boxes[0].n++] = (uint16_t)bin;
    measure(c, &boxes[0]);
    for (int i; n < 256 && (i = worst(boxes, n)) >= 0; n++) {
        boxes[n] = halve(c, &boxes[i]);
        if (boxes[n].n == 0) return -1;
    }
    return n;
}

/* Bin of a pixel. */
static uint16_t bin_of(const uint8_t *p)
{
    return (uint16_t)(p[0] >> 3 << 10 | p[1] >> 3 << 5 | p[2] >> 3);
}

/* Chooses a palette and stores for each pixel the index of its colour; *pixels comes from malloc. */
static gls_status palette_make(const uint8_t *rgba, size_t n, uint8_t palette[256][3], uint8_t **pixels)
{
    box boxes[256] = {{.n = 0}};
    uint8_t *of_bin = malloc(BINS);
    cutter *c = calloc(1, sizeof *c);
    *pixels = malloc(n + 1);
    int n_boxes = -1;
    if (of_bin && c && *pixels) {
        /* histogram of colours in bins of 5 bits a channel, with sums for the mean colour of each box */
        for (size_t i = 0; i < n; i++) {
            uint16_t bin = bin_of(rgba + 4 * i);
            c->count[bin]++;
            for (int a = 0; a < 3; a++) c->sum[bin][a] += rgba[4 * i + (size_t)a];
        }
        n_boxes = cut_boxes(c, boxes);
    }
    /* on failure *pixels becomes NULL */
    if (n_boxes < 0) {
        free(*pixels);
        *pixels = NULL;
    }
    memset(palette, 0, 768);
    /* each box becomes an entry of the palette, with the mean colour of its pixels */
    for (int b = 0; b < n_boxes; b++) {
        uint64_t sum[3] = {0};
        for (uint32_t i = boxes[b].first; i < boxes[b].first + boxes[b].n; i++) {
            of_bin[c->bin[i]] = (uint8_t)b;
            for (int a = 0; a < 3; a++) sum[a] += c->sum[c->bin[i]][a];
        }
        for (int a = 0; a < 3 && boxes[b].pixels; a++) palette[b][a] = (uint8_t)(sum[a] / boxes[b].pixels);
    }
    for (size_t i = 0; i < n && n_boxes > 0; i++) (*pixels)[i] = of_bin[bin_of(rgba + 4 * i)];
    free(of_bin);
    free(c);
    return n_boxes < 0 ? gls_fail(GLS_ERR_MEMORY, "out of memory for the colours of a picture") : GLS_OK;
}

/* Maximum size of a chunk in the format. */
#define MAX_OF_CHUNK INT32_MAX

/* Stores a big-endian number, as all numbers of PNG are. */
static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Writes a chunk. data: 8 bytes, in which this function stores length and type, then `bytes` bytes of content. */
static gls_status write_chunk(const gls_png *png, const char *type, uint8_t *data, size_t bytes)
{
    uint8_t end[4];
    put32(data, (uint32_t)bytes);
    memcpy(data + 4, type, 4);
    /* the checksum covers type and data, not the length */
    put32(end, gls_crc32(0, data + 4, bytes + 4));
    gls_status status = png->take(png->user, data, bytes + 8);
    return status ? status : png->take(png->user, end, 4);
}

/* Writes a chunk tEXt: key, NUL, value in Latin-1, of which only ASCII is used. */
static gls_status write_text(const gls_png *png, const gls_png_text *text)
{
    size_t key = strlen(text->key), value = strlen(text->value);
    uint8_t *chunk = malloc(key + value + 9);
    if (!chunk) return gls_fail(GLS_ERR_MEMORY, "out of memory for the text of a picture");
    memcpy(chunk + 8, text->key, key + 1);
    for (size_t i = 0; i < value; i++) {
        char c = text->value[i];
        chunk[9 + key + i] = (uint8_t)((c >= ' ' && c <= '~') || c == '\n' ? c : '?');
    }
    gls_status status = write_chunk(png, "tEXt", chunk, key + 1 + value);
    free(chunk);
    return status;
}

gls_status gls_png_begin(gls_png *png, const gls_png_text *texts, size_t n_texts)
{
    uint8_t head[8 + 13], animation[8 + 8], size[8 + 9], colours[8 + 768];
    gls_status status = png->take(png->user, "\x89PNG\r\n\x1a\n", 8);
    put32(head + 8, png->width);
    put32(head + 12, png->height);
    /* bits of a channel; colour type: 3 is a palette, 6 has alpha, 2 has none */
    memcpy(head + 16, (const uint8_t[]){8, png->palette ? 3 : png->has_alpha ? 6 : 2, 0, 0, 0}, 5);
    if (!status) status = write_chunk(png, "IHDR", head, 13);
    if (png->palette && !status) {
        memcpy(colours + 8, png->palette, 768);
        status = write_chunk(png, "PLTE", colours, 768);
    }
    if (png->frames > 1 && !status) {
        put32(animation + 8, png->frames);
        put32(animation + 12, 0); /* the animation repeats for ever */
        status = write_chunk(png, "acTL", animation, 8);
    }
    if (png->mm_per_pixel > 0 && !status) {
        uint32_t per_metre = (uint32_t)fmin(fmax(round(1000 / png->mm_per_pixel), 1), 1e9);
        put32(size + 8, per_metre);
        put32(size + 12, per_metre);
        size[16] = 1; /* unit of the scale: metre */
        status = write_chunk(png, "pHYs", size, 9);
    }
    for (size_t i = 0; i < n_texts && !status; i++)
        if (texts[i].value) status = write_text(png, &texts[i]);
    return status;
}

/* The predictor of Paeth: the neighbour that is nearest to left + above - corner. */
static int paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Filters a row: subtracts from each byte its prediction from the neighbours. above: NULL for the first row; step:
 * bytes of a pixel. Returns the sum of absolute differences. */
static uint64_t filter_row(int kind, const uint8_t *row, const uint8_t *above, size_t n, size_t step, uint8_t *out)
{
    uint64_t sum = 0;
    /* filters of PNG: 0 none, 1 left, 2 above, 3 mean of both, 4 Paeth */
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

/* Bytes of a frame before compression: each row with the filter that gives the smallest sum; rows of palette indices
 * unfiltered. */
static uint8_t *filtered(const gls_png *png, const uint8_t *pixels, size_t *bytes)
{
    size_t step = png->palette ? 1 : png->has_alpha ? 4 : 3, n = png->width * step;
    uint8_t *out = malloc((n + 1) * png->height + 1), *rows = malloc(2 * n + 1), *tried = malloc(n + 1);
    /* two buffers hold the current row and the row above in turn; there is no row above the first row */
    for (uint32_t y = 0; y < png->height && out && rows && tried; y++) {
        uint8_t *row = rows + (y % 2 ? n : 0), *above = y > 0 ? rows + (y % 2 ? 0 : n) : NULL;
        const uint8_t *from = pixels + (size_t)y * png->width * (png->palette ? 1 : 4);
        for (size_t x = 0; x < png->width; x++) memcpy(row + x * step, from + x * (png->palette ? 1 : 4), step);
        uint8_t *to = out + y * (n + 1);
        uint64_t best = filter_row(0, row, above, n, step, to);
        /* kinds 1 to 4: Sub, Up, Average and Paeth; the PNG standard advises the filter with the smallest sum of
         * absolute values, because its row compresses better */
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

/* Writes the chunk fcTL of APNG, which comes before each frame. */
static gls_status write_frame_head(gls_png *png)
{
    uint8_t head[8 + 26] = {0};
    put32(head + 8, png->sequence++);
    put32(head + 12, png->width);
    put32(head + 16, png->height);
    head[29] = 1; /* a frame is shown for head[29] / head[31] seconds */
    head[31] = (uint8_t)png->frames_per_second;
    return write_chunk(png, "fcTL", head, 26);
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
    if (!status && packed > MAX_OF_CHUNK - 4)
        status = gls_fail(GLS_ERR_UNSUPPORTED,
                          "a picture of %u x %u pixels takes more than the 2 GiB that a PNG can hold: "
                          "give a smaller --tile",
                          png->width, png->height);
    if (!status && png->frames > 1) status = write_frame_head(png);
    /* frames after the first are chunks fdAT, which begin with a sequence number in front of the same data */
    if (!status) {
        if (later) put32(chunk + 8, png->sequence++);
        status = write_chunk(png, later ? "fdAT" : "IDAT", later ? chunk : chunk + 4, packed + (later ? 4 : 0));
    }
    png->frame++;
    free(raw);
    free(chunk);
    return status;
}

gls_status gls_png_end(gls_png *png)
{
    uint8_t end[8];
    return write_chunk(png, "IEND", end, 0);
}

gls_status gls_png_still(gls_png *png, const gls_png_text *texts, size_t n_texts, const uint8_t *rgba, bool palette)
{
    uint8_t colours[256][3], *numbers = NULL;
    gls_status status = GLS_OK;
    png->frames = 1;
    if (palette) {
        status = palette_make(rgba, (size_t)png->width * png->height, colours, &numbers);
        png->palette = (const uint8_t(*)[3])colours;
    }
    if (!status) status = gls_png_begin(png, texts, n_texts);
    if (!status) status = gls_png_frame(png, palette ? numbers : rgba);
    if (!status) status = gls_png_end(png);
    png->palette = NULL;
    free(numbers);
    return status;
}
