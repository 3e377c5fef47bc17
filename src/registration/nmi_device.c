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
    gls_buffer *samples, *image, *maps, *histograms;
    size_t n_maps; /* number of maps for which the last two buffers have room */
    int32_t dim[3], size[3];
    uint32_t n_parts, n_groups;
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
    gls_buffer **const all[] = {&d->samples, &d->image, &d->maps, &d->histograms};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        gls_buffer_destroy(*all[k]);
        *all[k] = NULL;
    }
    d->n_maps = 0;
}

void gls_nmi_device_destroy(gls_nmi_device *d)
{
    if (!d) return;
    empty(d);
    gls_kernel_destroy(d->kernel);
    free(d);
}

gls_status gls_nmi_device_fill(gls_nmi_device *d, const gls_nmi_images *images)
{
    const int32_t *dim = images->dim, *size = images->size;
    const size_t n = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
    const size_t n_moving = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
    float *mask = malloc(n_moving * sizeof *mask);
    if (!mask) return gls_no_memory();
    empty(d);
    memcpy(d->dim, dim, sizeof d->dim);
    memcpy(d->size, size, sizeof d->size);
    d->n_parts = (uint32_t)((n + PART - 1) / PART);
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n_moving; v++) mask[v] = images->mask[v];
    gls_status status = gls_storage_create(d->device, "samples of the fixed image", n * sizeof *images->sample,
                                           images->sample, &d->samples);
    if (!status)
        status = gls_storage_create(d->device, "moving image in bins", 2 * n_moving * sizeof *mask, NULL, &d->image);
    if (!status) status = gls_buffer_write(d->image, 0, n_moving * sizeof *mask, images->value);
    if (!status) status = gls_buffer_write(d->image, n_moving * sizeof *mask, n_moving * sizeof *mask, mask);
    free(mask);
    return status;
}

/* Makes room for the maps of one dispatch. */
static gls_status reserve(gls_nmi_device *d, size_t n)
{
    if (n <= d->n_maps) return GLS_OK;
    gls_buffer_destroy(d->maps);
    gls_buffer_destroy(d->histograms);
    d->maps = d->histograms = NULL;
    d->n_maps = 0;
    gls_status status = gls_storage_create(d->device, "maps", n * 12 * sizeof(float), NULL, &d->maps);
    if (!status)
        status = gls_storage_create(d->device, "histograms", n * d->n_parts * CELLS * sizeof(uint32_t), NULL,
                                    &d->histograms);
    if (!status) d->n_maps = n;
    return status;
}

/* Makes one dispatch. count: memory for the histograms of n maps. */
static gls_status add(gls_nmi_device *d, const double (*map)[3][4], size_t n, float *row, uint32_t *count,
                      uint64_t *histogram)
{
    const size_t voxels = (size_t)d->dim[0] * (size_t)d->dim[1] * (size_t)d->dim[2];
    const size_t of_part = voxels < PART ? voxels : PART, bytes = n * d->n_parts * CELLS * sizeof *count;
    const uint32_t groups = (uint32_t)((of_part + SAMPLES_OF_GROUP - 1) / SAMPLES_OF_GROUP);
    const uint32_t grid[3] = {groups * d->n_parts, (uint32_t)n, 1};
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 12; i++) row[12 * k + (size_t)i] = (float)map[k][i / 4][i % 4];
    gls_status status = reserve(d, n);
    if (!status) status = gls_buffer_write(d->maps, 0, n * 12 * sizeof *row, row);
    if (!status) status = gls_buffer_clear(d->histograms);
    const gls_arg args[] = {gls_arg_int(0, d->dim[0]),   gls_arg_int(1, d->dim[1]),   gls_arg_int(2, d->dim[2]),
                            gls_arg_int(3, d->size[0]),  gls_arg_int(4, d->size[1]),  gls_arg_int(5, d->size[2]),
                            gls_arg_uint(6, PART),       gls_arg_uint(7, d->n_parts), gls_arg_buffer(0, d->samples),
                            gls_arg_buffer(1, d->image), gls_arg_buffer(2, d->maps),  gls_arg_buffer(3, d->histograms)};
    if (!status) status = gls_kernel_run(d->kernel, grid, args, sizeof args / sizeof *args, NULL);
    if (!status) status = gls_buffer_read(d->histograms, 0, bytes, count);
    for (size_t k = 0; k < n * d->n_parts && !status; k++)
        for (size_t i = 0; i < CELLS; i++) histogram[k / d->n_parts * CELLS + i] += count[k * CELLS + i];
    return status;
}

gls_status gls_nmi_device_add(gls_nmi_device *d, const double (*map)[3][4], size_t n, uint64_t *histogram)
{
    const size_t one = d->n_parts * CELLS * sizeof(uint32_t);
    const size_t most = one < MAX_BYTES ? MAX_BYTES / one : 1, room = n < most ? n : most;
    float *row = malloc(room * 12 * sizeof *row);
    uint32_t *count = malloc(room * one);
    gls_status status = row && count ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k += room)
        status = add(d, map + k, n - k < room ? n - k : room, row, count, histogram + k * CELLS);
    free(row);
    free(count);
    return status;
}
