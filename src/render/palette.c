/* 256 colours for a picture: the box with the most pixels times its longest side is halved at its median, again and
 * again. Colours are told apart by 5 bits a channel. */
#include <stdlib.h>
#include <string.h>

#include "render/png.h"
#include "util/status.h"

#define BINS 32768

typedef struct box {
    uint32_t first, n; /* of the list of bins */
    uint64_t pixels;
    int axis, side; /* its longest */
} box;

typedef struct cutter {
    uint32_t count[BINS];
    uint64_t sum[BINS][3];
    uint16_t bin[BINS]; /* those that occur, box by box */
} cutter;

static int channel(uint16_t bin, int axis)
{
    return bin >> (10 - 5 * axis) & 31;
}

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

/* Sorts the bins of a box along an axis by counting, and halves it. */
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
    uint32_t n = 0;
    while (n < b->n - 1 && (n == 0 || sum < b->pixels / 2)) sum += c->count[c->bin[b->first + n++]];
    upper.first = b->first + n;
    upper.n = b->n - n;
    b->n = n;
    measure(c, b);
    measure(c, &upper);
    return upper;
}

static int worst(const box *boxes, int n)
{
    int found = -1;
    for (int i = 0; i < n; i++)
        if (boxes[i].side > 0 && (found < 0 || boxes[i].pixels * (uint64_t)boxes[i].side >
                                                   boxes[found].pixels * (uint64_t)boxes[found].side))
            found = i;
    return found;
}

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

static uint16_t bin_of(const uint8_t *p)
{
    return (uint16_t)(p[0] >> 3 << 10 | p[1] >> 3 << 5 | p[2] >> 3);
}

gls_status gls_palette_make(const uint8_t *rgba, size_t n, uint8_t palette[256][3], uint8_t **pixels)
{
    box boxes[256] = {{.n = 0}};
    uint8_t *of_bin = malloc(BINS);
    cutter *c = calloc(1, sizeof *c);
    *pixels = malloc(n + 1);
    int n_boxes = -1;
    if (of_bin && c && *pixels) {
        for (size_t i = 0; i < n; i++) {
            uint16_t bin = bin_of(rgba + 4 * i);
            c->count[bin]++;
            for (int a = 0; a < 3; a++) c->sum[bin][a] += rgba[4 * i + (size_t)a];
        }
        n_boxes = cut_boxes(c, boxes);
    }
    if (n_boxes < 0) {
        free(*pixels);
        *pixels = NULL;
    }
    memset(palette, 0, 768);
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
