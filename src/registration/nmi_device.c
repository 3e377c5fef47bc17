/* Joint histograms on a device. Both levels stay there, and a call scores all its maps in one dispatch, so that a
 * search waits only for the copy of a few small histograms. Counts are the same for any size of a work group; positions
 * are computed in single precision, where the CPU takes double, so a sample near a border may count on one of them
 * alone. */
#include "registration/nmi_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/buffer.h"
#include "util/status.h"

#define GROUP 128u             /* size of a work group; OpenGL ES promises no more */
#define SAMPLES_OF_GROUP 8192u /* samples that a work group handles; more samples need fewer sums over groups */
#define PART (1u << 23)        /* largest number of voxels of a histogram: 256 times their number is below 2^32 */
#define CELLS GLS_NMI_CELLS
#define MAX_BYTES ((size_t)256 << 20) /* largest size of the histograms of one dispatch */

struct gls_nmi_device {
    gls_device *device;
    gls_kernel *kernel;
    gls_buffer *samples[2], *values[2], *maps, *histograms;
    size_t n_maps, n_histograms; /* numbers of those for which the last two buffers have room */
    int32_t dim[2][3], size[2][3];
};

gls_status gls_nmi_device_create(gls_device *device, gls_nmi_device **made)
{
    char group[12];
    const gls_define defines[] = {{"GROUP_SIZE", group, false, NULL}};
    gls_nmi_device *d = calloc(1, sizeof *d);
    if (!d) return gls_no_memory();
    snprintf(group, sizeof group, "%u", GROUP);
    d->device = device;
    const gls_status status = gls_kernel_load(device, "registration/nmi.comp", defines, 1, &d->kernel);
    if (status)
        gls_nmi_device_destroy(d);
    else
        *made = d;
    return status;
}

/* Frees the buffers of two levels. */
static void empty(gls_nmi_device *d)
{
    gls_buffer **const all[] = {&d->samples[0], &d->samples[1], &d->values[0], &d->values[1], &d->maps, &d->histograms};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gls_buffer_destroy(*all[k]);
        *all[k] = NULL;
    }
    d->n_maps = d->n_histograms = 0;
}

void gls_nmi_device_destroy(gls_nmi_device *d)
{
    if (!d) return;
    empty(d);
    gls_kernel_destroy(d->kernel);
    free(d);
}

static size_t voxels_of(const int32_t dim[3])
{
    return (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
}

/* Copies the values of an image and which of them count. */
static gls_status fill_values(gls_nmi_device *d, const gls_nmi_image *image, gls_buffer **values)
{
    const size_t n = voxels_of(image->size);
    float *mask = malloc(n * sizeof *mask);
    if (!mask) return gls_no_memory();
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) mask[v] = image->mask[v];
    gls_status status = gls_storage_create(d->device, "image in bins", 2 * n * sizeof *mask, NULL, values);
    if (!status) status = gls_buffer_write(*values, 0, n * sizeof *mask, image->value);
    if (!status) status = gls_buffer_write(*values, n * sizeof *mask, n * sizeof *mask, mask);
    free(mask);
    return status;
}

gls_status gls_nmi_device_fill(gls_nmi_device *d, const gls_nmi_image image[2])
{
    gls_status status = GLS_OK;
    empty(d);
    for (int k = 0; k < 2 && !status; k++) {
        memcpy(d->dim[k], image[k].dim, sizeof d->dim[k]);
        memcpy(d->size[k], image[k].size, sizeof d->size[k]);
        if (image[k].sample)
            status =
                gls_storage_create(d->device, "samples of an image", voxels_of(image[k].dim) * sizeof *image[k].sample,
                                   image[k].sample, &d->samples[k]);
        if (!status && image[k].value) status = fill_values(d, &image[k], &d->values[k]);
    }
    return status;
}

/* Returns the number of histograms of a map from the samples of an image: a histogram holds PART of them. */
static size_t parts_of(const gls_nmi_device *d, int from)
{
    return (voxels_of(d->dim[from]) + PART - 1) / PART;
}

/* Makes room for one dispatch. */
static gls_status reserve(gls_nmi_device *d, size_t n_maps, size_t n_histograms)
{
    if (n_maps <= d->n_maps && n_histograms <= d->n_histograms) return GLS_OK;
    gls_buffer_destroy(d->maps);
    gls_buffer_destroy(d->histograms);
    d->maps = d->histograms = NULL;
    d->n_maps = d->n_histograms = 0;
    gls_status status = gls_storage_create(d->device, "maps", n_maps * 12 * sizeof(float), NULL, &d->maps);
    if (!status)
        status =
            gls_storage_create(d->device, "histograms", n_histograms * CELLS * sizeof(uint32_t), NULL, &d->histograms);
    if (status) return status;
    d->n_maps = n_maps;
    d->n_histograms = n_histograms;
    return GLS_OK;
}

/* Makes one dispatch. count: memory for the histograms of n maps. */
static gls_status add(gls_nmi_device *d, int from, const double (*map)[3][4], size_t n, float *row, uint32_t *count,
                      uint64_t *histogram)
{
    const int32_t *dim = d->dim[from], *size = d->size[1 - from];
    const size_t voxels = voxels_of(dim), of_part = voxels < PART ? voxels : PART, n_parts = parts_of(d, from);
    const uint32_t groups = (uint32_t)((of_part + SAMPLES_OF_GROUP - 1) / SAMPLES_OF_GROUP);
    const uint32_t grid[3] = {groups * (uint32_t)n_parts, (uint32_t)n, 1};
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 12; i++) row[12 * k + (size_t)i] = (float)map[k][i / 4][i % 4];
    gls_status status = reserve(d, n, n * n_parts);
    if (!status) status = gls_buffer_write(d->maps, 0, n * 12 * sizeof *row, row);
    if (!status) status = gls_buffer_clear(d->histograms);
    const gls_arg args[] = {gls_arg_int(0, dim[0]),
                            gls_arg_int(1, dim[1]),
                            gls_arg_int(2, dim[2]),
                            gls_arg_int(3, size[0]),
                            gls_arg_int(4, size[1]),
                            gls_arg_int(5, size[2]),
                            gls_arg_uint(6, PART),
                            gls_arg_uint(7, (uint32_t)n_parts),
                            gls_arg_buffer(0, d->samples[from]),
                            gls_arg_buffer(1, d->values[1 - from]),
                            gls_arg_buffer(2, d->maps),
                            gls_arg_buffer(3, d->histograms)};
    if (!status) status = gls_kernel_run(d->kernel, grid, args, sizeof args / sizeof *args, NULL);
    if (!status) status = gls_buffer_read(d->histograms, 0, n * n_parts * CELLS * sizeof *count, count);
    for (size_t k = 0; k < n * n_parts && !status; k++)
        for (size_t i = 0; i < CELLS; i++) histogram[k / n_parts * CELLS + i] += count[k * CELLS + i];
    return status;
}

gls_status gls_nmi_device_add(gls_nmi_device *d, int from, const double (*map)[3][4], size_t n, uint64_t *histogram)
{
    const size_t one = parts_of(d, from) * CELLS * sizeof(uint32_t);
    const size_t most = one < MAX_BYTES ? MAX_BYTES / one : 1, room = n < most ? n : most;
    float *row = malloc(room * 12 * sizeof *row);
    uint32_t *count = malloc(room * one);
    gls_status status = row && count ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k += room)
        status = add(d, from, map + k, n - k < room ? n - k : room, row, count, histogram + k * CELLS);
    free(row);
    free(count);
    return status;
}
