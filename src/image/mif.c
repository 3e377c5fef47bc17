/* Reads the values of MRtrix images, which may be stored in any order of axes. */
#include "image/mif.h"
#include "image/formats.h"
#include "image/grid.h"
#include "image/mif_header.h"
#include "image/nifti_header.h"
#include "image/stream.h"

#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

/* Half precision holds all whole numbers below this one exactly. */
#define BELOW_HALF 2048.0

#define BLOCK_VALUES ((size_t)1 << 16) /* values read at a time; a multiple of 8, so that bits fill bytes */

/* State of reading one image. */
typedef struct reader {
    const char *path; /* path of the file of the values */
    const gls_mif_header *header;
    gls_stream *stream;
    uint32_t *out; /* address in the image to which the first value of the file goes; a value is 4 bytes, a float or a
                      label */
    size_t n[GLS_MIF_AXES];       /* sizes, the fastest axis of the file first */
    ptrdiff_t step[GLS_MIF_AXES]; /* distance in the image, in values, of neighbours along each axis of n */
    size_t at[GLS_MIF_AXES];      /* indices of the next value of the file along the axes of n */
} reader;

static gls_status truncated(const reader *r)
{
    return gls_fail(GLS_ERR_INPUT,
                    "%s: truncated: it must have %llu bytes of values behind byte %llu, but not all are there", r->path,
                    (unsigned long long)r->header->bytes, (unsigned long long)r->header->offset);
}

/* Moves the stream to the first value by reading and dropping the bytes before it, because a compressed stream cannot
 * seek. */
static gls_status skip(reader *r)
{
    char buffer[4096];
    for (uint64_t left = r->header->offset; left > 0;) {
        size_t got, n = left < sizeof buffer ? (size_t)left : sizeof buffer;
        gls_status status = gls_stream_read(r->stream, buffer, n, &got);
        if (status) return status;
        if (got < n) return truncated(r);
        left -= got;
    }
    return GLS_OK;
}

/* Converts n values of the file to float or labels: bits, half precision, or any other type, times slope plus
 * intercept. Returns whether float has rounded a whole number. */
static bool decode(const gls_mif_header *h, unsigned char *raw, size_t n, uint32_t *value)
{
    if (h->coding == GLS_MIF_VALUES) return gls_values_read(&h->values, raw, n, value);
    const bool scaled = h->values.slope != 1 || h->values.inter != 0;
    for (size_t i = 0; i < n; i++) {
        float one;
        if (h->coding == GLS_MIF_BITS) {
            one = (float)(raw[i / 8] >> (7 - i % 8) & 1);
        } else {
            uint16_t half;
            memcpy(&half, raw + 2 * i, sizeof half);
            one = gls_half_value(h->values.swapped ? __builtin_bswap16(half) : half);
        }
        one = (float)(one * h->values.slope + h->values.inter);
        const int32_t label = h->values.labels ? gls_label_of((double)one, scaled, BELOW_HALF) : 0;
        memcpy(value + i, h->values.labels ? (const void *)&label : (const void *)&one, sizeof *value);
    }
    return false;
}

/* Stores the next n values of the file at their voxels in the image. */
static void place(reader *r, const uint32_t *value, size_t n)
{
    while (n > 0) {
        size_t run = r->n[0] - r->at[0];
        if (run > n) run = n;
        uint32_t *out = r->out;
        for (int k = 0; k < GLS_MIF_AXES; k++) out += (ptrdiff_t)r->at[k] * r->step[k];
        for (size_t i = 0; i < run; i++) out[(ptrdiff_t)i * r->step[0]] = value[i];
        value += run;
        n -= run;
        r->at[0] += run;
        for (int k = 0; k + 1 < GLS_MIF_AXES && r->at[k] == r->n[k]; k++) {
            r->at[k] = 0;
            r->at[k + 1]++;
        }
    }
}

/* Reads all values block by block, and stores each at its position in the image. *rounded: set to true where a whole
 * number was rounded. */
static gls_status read_values(reader *r, bool *rounded)
{
    const gls_mif_header *h = r->header;
    size_t total = gls_grid_voxels(&h->grid) * h->n_volumes;
    size_t room = h->coding == GLS_MIF_BITS ? BLOCK_VALUES / 8 : BLOCK_VALUES * h->values.bytes;
    unsigned char *raw = malloc(room);
    uint32_t *value = malloc(BLOCK_VALUES * sizeof *value);
    gls_status status = raw && value ? skip(r) : gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    for (size_t done = 0; done < total && !status;) {
        size_t n = total - done < BLOCK_VALUES ? total - done : BLOCK_VALUES, got;
        size_t bytes = h->coding == GLS_MIF_BITS ? (n + 7) / 8 : n * h->values.bytes;
        status = gls_stream_read(r->stream, raw, bytes, &got);
        if (!status && got < bytes) status = truncated(r);
        if (status) break;
        if (decode(h, raw, n, value)) *rounded = true;
        place(r, value, n);
        done += n;
    }
    if (!status) status = gls_stream_verify(r->stream);
    free(raw);
    free(value);
    return status;
}

/* Sets r->out, r->n and r->step, by which place() finds the voxel for each value of the file. */
static void set_steps(reader *r, gls_image *image)
{
    const gls_mif_header *h = r->header;
    const ptrdiff_t voxels = (ptrdiff_t)gls_grid_voxels(&h->grid);
    ptrdiff_t step = 1;
    r->out = (uint32_t *)(void *)image->data + (h->volumes_turned ? voxels * (ptrdiff_t)(h->n_volumes - 1) : 0);
    for (int k = 0, axis = 0; k < GLS_MIF_AXES; k++) {
        const bool is_axis = k != h->volumes_rank;
        r->n[k] = is_axis ? (size_t)h->grid.dim[axis] : h->n_volumes;
        r->step[k] = is_axis ? step : h->volumes_turned ? -voxels : voxels;
        if (is_axis) step *= h->grid.dim[axis++];
    }
}

/* Opens the file of the values, checks its size, and reads the image, which the caller frees. */
static gls_status read_image(const char *path, const gls_mif_header *h, gls_image **image, bool *rounded)
{
    reader r = {.path = h->file ? h->file : path, .header = h};
    gls_image *made = NULL;
    gls_status status = gls_stream_open(r.path, &r.stream);
    if (!status && gls_stream_bound(r.stream) < h->offset + h->bytes) status = truncated(&r);
    if (!status) status = gls_image_allocate(&h->grid, h->n_volumes, false, &made);
    if (!status) {
        set_steps(&r, made);
        status = read_values(&r, rounded);
    }
    gls_stream_close(r.stream);
    if (status)
        gls_image_destroy(made);
    else
        *image = made;
    return status;
}

gls_status gls_mif_read(const char *path, gls_image_kind kind, bool labels, size_t *n_fields, gls_image **image,
                        bool *rounded)
{
    gls_mif_header header;
    gls_status status = gls_mif_read_header(path, &header);
    if (status) return status;
    header.values.labels = labels;
    if (n_fields) *n_fields = (size_t)header.fifth;
    if (header.fifth > 1 && !n_fields)
        status = gls_fail(GLS_ERR_UNSUPPORTED, "%s: has 5 axes, but at most 4 are supported", path);
    if (!status) status = gls_image_kind_check(path, kind, &header.grid, header.n_volumes);
    if (!status) status = read_image(path, &header, image, rounded);
    gls_mif_header_finish(&header);
    return status;
}
