/* Functions that the sinks of probtrackx2's results share: they number voxels and regions, choose the half-streamlines
 * that probtrackx2 counts, and check options. */
#include "sinks/fdt.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/sink_files.h"
#include "image/labels.h"
#include "transform/bring.h"
#include "util/maths.h"
#include "util/status.h"

/* largest number of regions; --fdt-network keeps a double for each pair of them */
#define MAX_ROIS 20000

/* Sets *to for the lookup of points in `grid`. */
static void grid_init(gls_fdt_grid *to, const gls_grid *grid)
{
    memcpy(to->dim, grid->dim, sizeof to->dim);
    gls_grid_inverse(grid, to->to_voxel);
}

/* Index of the voxel of a point in world mm; -1: outside. */
static int64_t voxel_at(const gls_fdt_grid *grid, const float point[3])
{
    double v[3];
    gls_affine_apply(grid->to_voxel, (const double[3]){point[0], point[1], point[2]}, v);
    /* a point on a border belongs to the upper voxel, even if rounding to float has moved it down a little */
    for (int a = 0; a < 3; a++) {
        v[a] = floor(v[a] + 0.5 + 1e-5);
        if (!(v[a] >= 0 && v[a] < grid->dim[a])) return -1;
    }
    return ((int64_t)v[2] * grid->dim[1] + (int64_t)v[1]) * grid->dim[0] + (int64_t)v[0];
}

/* --- Numbering of voxels and regions. */

/* Voxels are numbered in 32 bits. name: of the grid in messages. */
static gls_status check_size(const gls_grid *grid, const char *name)
{
    const size_t n = gls_grid_voxels(grid);
    return n < UINT32_MAX ? GLS_OK
                          : gls_fail(GLS_ERR_UNSUPPORTED,
                                     "%s: has %zu voxels, but the fdt options number at most %" PRIu32
                                     ": resample it to larger voxels",
                                     name, n, UINT32_MAX - 1);
}

gls_status gls_fdt_numbering_of_grid(const gls_grid *grid, gls_fdt_numbering *numbering)
{
    gls_status status = check_size(grid, "the grid of the run");
    if (status) return status;
    *numbering = (gls_fdt_numbering){.image = *grid, .n = (uint32_t)gls_grid_voxels(grid)};
    grid_init(&numbering->grid, grid);
    return GLS_OK;
}

/* Numbers the voxels of a mask that are above 0, from 1 on. name: name of the mask in messages. */
static gls_status number_voxels(const gls_image *mask, const char *name, gls_fdt_numbering *numbering)
{
    const size_t n = gls_grid_voxels(&mask->grid);
    gls_status status = check_size(&mask->grid, name);
    if (status) return status;
    numbering->image = mask->grid;
    grid_init(&numbering->grid, &mask->grid);
    numbering->number = calloc(n, sizeof *numbering->number);
    if (!numbering->number) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for its voxels", name);
    for (size_t v = 0; v < n; v++)
        if (mask->data[v] > 0) numbering->number[v] = ++numbering->n;
    return numbering->n > 0 ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: has no voxel above 0", name);
}

gls_status gls_fdt_numbering_of_mask(const gls_run_sink *sink, const gls_run_sinks *sinks, const char *path,
                                     gls_fdt_numbering *numbering)
{
    char name[64];
    gls_image *mask = NULL;
    if (!path && !sinks->seed_mask)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs a seed mask: give --roi FILE", gls_sink_option(sink, name));
    if (!path) return number_voxels(sinks->seed_mask, "the seed mask", numbering);
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &mask);
    if (!status) status = gls_image_bring(&mask, sinks->transform, GLS_RESAMPLE_NEAREST, 0, path);
    if (!status) status = number_voxels(mask, path, numbering);
    gls_image_destroy(mask);
    return status;
}

/* Numbers the labels of an image, from 1 on in rising order. */
static gls_status number_labels(const gls_labels *labels, const char *name, gls_fdt_numbering *numbering)
{
    const size_t n = gls_grid_voxels(&labels->grid);
    size_t found = 0;
    numbering->image = labels->grid;
    grid_init(&numbering->grid, &labels->grid);
    gls_status status = gls_labels_distinct(labels, name, &numbering->label, &found);
    if (status) return status;
    numbering->n = (uint32_t)found;
    numbering->number = calloc(n, sizeof *numbering->number);
    if (!numbering->number) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for labels", name);
    for (size_t v = 0; v < n; v++)
        if (labels->data[v] > 0)
            numbering->number[v] = (uint32_t)gls_labels_index(numbering->label, found, labels->data[v]) + 1;
    return GLS_OK;
}

gls_status gls_fdt_numbering_of_labels(const gls_run_sinks *sinks, const char *path, uint32_t least,
                                       gls_fdt_numbering *numbering)
{
    gls_labels *labels = NULL;
    gls_status status = gls_labels_read(path, &labels);
    if (!status) status = gls_labels_bring(&labels, sinks->transform, path);
    if (!status) status = number_labels(labels, path, numbering);
    gls_labels_destroy(labels);
    if (!status && (numbering->n < least || numbering->n > MAX_ROIS))
        return gls_fail(GLS_ERR_INPUT, "%s: has %" PRIu32 " label%s, but %s needs %" PRIu32 " to %d", path,
                        numbering->n, numbering->n == 1 ? "" : "s", least > 1 ? "a network" : "an image of regions",
                        least, MAX_ROIS);
    return status;
}

void gls_fdt_numbering_finish(gls_fdt_numbering *numbering)
{
    free(numbering->number);
    free(numbering->label);
}

uint32_t gls_fdt_number_at(const gls_fdt_numbering *numbering, const float point[3])
{
    const int64_t voxel = voxel_at(&numbering->grid, point);
    return voxel < 0 ? 0 : numbering->number ? numbering->number[voxel] : (uint32_t)voxel + 1;
}

/* --- Half-streamlines. */

/* Whether a half-streamline meets a region other than region `own`. */
static bool meets_another(const gls_fdt_numbering *rois, uint32_t own, const gls_fdt_half *half)
{
    for (size_t k = 1; k < half->n; k++) {
        const uint32_t roi = gls_fdt_number_at(rois, gls_fdt_point(half, k));
        if (roi > 0 && roi != own) return true;
    }
    return false;
}

/* Index in s->point of the point of streamline i that is nearest to its seed; without a column of seeds, the first
 * point of the streamline is taken for its seed. */
static uint64_t point_of_seed(const gls_streamlines *s, size_t i)
{
    const gls_column *column = gls_column_find(s->dps, s->n_dps, GLS_DPS_SEEDS);
    const float *seed = column ? ((const float(*)[3])column->data)[i] : s->point[s->offset[i]];
    return gls_seed_point(s, i, seed);
}

bool gls_fdt_halves(const gls_streamlines *s, size_t i, const gls_fdt_numbering *rois, gls_fdt_half half[2])
{
    const uint64_t seed = point_of_seed(s, i);
    /* the first half-streamline goes from the seed to the last point, the second from the seed to the first point */
    half[0] = (gls_fdt_half){s->point + seed, 1, (size_t)(s->offset[i + 1] - seed)};
    half[1] = (gls_fdt_half){s->point + seed, -1, (size_t)(seed - s->offset[i]) + 1};
    if (!rois) return true;
    const uint32_t own = gls_fdt_number_at(rois, s->point[seed]);
    for (int h = 0; h < 2; h++)
        if (own == 0 || !meets_another(rois, own, &half[h])) half[h].n = 0;
    return half[0].n > 0 || half[1].n > 0;
}

gls_status gls_fdt_check(const gls_run_sink *sink, const gls_run_sinks *sinks, bool adds_up)
{
    const gls_job_options *o = sinks->options;
    char name[64];
    gls_sink_option(sink, name);
    if (o->shard && !adds_up)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--%s: not with --shard, because only shards of --fdt-paths and --fdt-targets can be joined, "
                        "and these only without --distance-correction",
                        name);
    gls_status status = gls_sink_check_select(sink, sinks);
    if (status) return status;
    if (o->track.downsample > 1 || o->track.compress > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --%s, which leaves out points that have to be counted", name,
                        o->track.compress > 0 ? "compress" : "downsample");
    return GLS_OK;
}
