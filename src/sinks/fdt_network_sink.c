/* Half-streamlines for the sinks of probtrackx2's results, and track --fdt-network LABELS:FILE: its matrix of how many
 * streamlines from each region meet each other region. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/fdt.h"
#include "sinks/sinks.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* largest number of regions; the matrix has the square of this number of doubles */
#define MAX_ROIS 20000
#define MAX_LABEL 16777216 /* whole numbers up to here are exact in float32 */

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

void gls_fdt_numbering_of_grid(const gls_grid *grid, gls_fdt_numbering *numbering)
{
    *numbering = (gls_fdt_numbering){.image = *grid, .n = (uint32_t)gls_grid_voxels(grid)};
    grid_init(&numbering->grid, grid);
}

/* Numbers the voxels of a mask. name: for messages. */
static gls_status number_voxels(const gls_image *mask, const char *name, gls_fdt_numbering *numbering)
{
    const size_t n = gls_grid_voxels(&mask->grid);
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
    if (!status) status = number_voxels(mask, path, numbering);
    gls_image_destroy(mask);
    return status;
}

/* Comparison for qsort() and bsearch(): labels in ascending order. */
static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Numbers the labels of an image in rising order. */
static gls_status number_labels(const gls_image *image, const char *name, gls_fdt_numbering *numbering)
{
    const size_t n = gls_grid_voxels(&image->grid);
    uint32_t *label = numbering->label = malloc((n + 1) * sizeof *label);
    numbering->image = image->grid;
    grid_init(&numbering->grid, &image->grid);
    numbering->number = calloc(n, sizeof *numbering->number);
    if (!label || !numbering->number) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for labels", name);
    for (size_t v = 0; v < n; v++) {
        const float value = image->data[v];
        if (!(value >= 0 && value <= MAX_LABEL && value == floorf(value)))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: has the value %g, but labels are whole numbers from 0 to %d: give an image of labels",
                            name, (double)value, MAX_LABEL);
        label[v] = numbering->number[v] = (uint32_t)value;
    }
    qsort(label, n, sizeof *label, by_value);
    for (size_t v = 0; v < n; v++)
        if (label[v] > 0 && (numbering->n == 0 || label[numbering->n - 1] != label[v]))
            label[numbering->n++] = label[v];
    for (size_t v = 0; v < n; v++) {
        const uint32_t *at = bsearch(&numbering->number[v], label, numbering->n, sizeof *label, by_value);
        numbering->number[v] = at ? (uint32_t)(at - label) + 1 : 0;
    }
    return GLS_OK;
}

gls_status gls_fdt_numbering_of_labels(const char *path, uint32_t least, gls_fdt_numbering *numbering)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &image);
    if (!status) status = number_labels(image, path, numbering);
    gls_image_destroy(image);
    if (!status && (numbering->n < least || numbering->n > MAX_ROIS))
        return gls_fail(GLS_ERR_INPUT, "%s: has %" PRIu32 " labels: %s needs %" PRIu32 " to %d", path, numbering->n,
                        least > 1 ? "a network" : "an image of regions", least, MAX_ROIS);
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

/* Index of the point of streamline i that is nearest to its seed. */
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
                        "--%s: not with --shard: the parts of a run cannot be joined to one such result", name);
    if (o->shard && o->track.select > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --select and --shard: the parts count more than is selected",
                        name);
    if (o->track.downsample > 1 || o->track.compress > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --%s: all points are counted", name,
                        o->track.compress > 0 ? "compress" : "downsample");
    return GLS_OK;
}

/* --- The network. */

/* State of --fdt-network. */
typedef struct network_state {
    gls_fdt_numbering rois;
    double *sum; /* n x n, row by row; the row is the region of the seed, the column a region that is met */
    uint64_t
        *length; /* for each region: steps from the seed until the current half-streamline meets the region; 0: never */
    double *of_line; /* for each region: lengths from the seed to the region, mm, added over both half-streamlines */
    uint8_t *times;  /* for each region: number of half-streamlines of the current streamline that meet it */
    /* --distance-correction: sum lengths in mm, not counts */
    bool by_length;
    /* step size, mm */
    double step;
} network_state;

static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const char *text = sinks->options->fdt_network;
    gls_status status = text ? gls_sink_takes_pair(sink, sinks, text, "LABELS:FILE") : GLS_OK;
    return status || !text ? status : gls_fdt_check(sink, sinks, false);
}

/* Notes after how many steps a half-streamline first meets each region other than `own`. */
static void follow(network_state *t, uint32_t own, const gls_fdt_half *half)
{
    memset(t->length, 0, t->rois.n * sizeof *t->length);
    for (size_t k = 1; k < half->n; k++) {
        const uint32_t roi = gls_fdt_number_at(&t->rois, gls_fdt_point(half, k));
        if (roi > 0 && roi != own && t->length[roi - 1] == 0) t->length[roi - 1] = k;
    }
    for (size_t r = 0; r < t->rois.n; r++) {
        t->of_line[r] += (double)t->length[r] * t->step;
        t->times[r] = (uint8_t)(t->times[r] + (t->length[r] > 0));
    }
}

/* Counts a block. Each streamline adds to the row of its seed's region and the column of each other region that it
 * meets: 1, or with --distance-correction the length from the seed to the other region, mm. */
static gls_status append(void *user, const gls_streamlines *s)
{
    network_state *t = user;
    for (size_t i = 0; i < s->n; i++) {
        gls_fdt_half half[2];
        if (!gls_fdt_halves(s, i, &t->rois, half)) continue;
        const uint32_t own = gls_fdt_number_at(&t->rois, *half[0].seed);
        memset(t->of_line, 0, t->rois.n * sizeof *t->of_line);
        memset(t->times, 0, t->rois.n);
        for (int h = 0; h < 2; h++) follow(t, own, &half[h]);
        for (size_t r = 0; r < t->rois.n; r++) /* add the mean over the half-streamlines that meet the region */
            if (t->times[r] > 0) t->sum[(own - 1) * t->rois.n + r] += t->by_length ? t->of_line[r] / t->times[r] : 1;
    }
    return GLS_OK;
}

/* Reads the labels. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    (void)sinks;
    return gls_fdt_numbering_of_labels(sink->input[0], 2, &((network_state *)sink->state)->rois);
}

/* Makes the matrix. */
static gls_status open_network(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    network_state *t = sink->state;
    (void)tractogram;
    const size_t n = t->rois.n;
    t->by_length = sinks->options->distance_correction;
    t->step = sinks->step_size;
    t->sum = calloc(n * n, sizeof *t->sum);
    t->length = calloc(n, sizeof *t->length);
    t->of_line = calloc(n, sizeof *t->of_line);
    t->times = calloc(n, sizeof *t->times);
    if (!t->sum || !t->length || !t->of_line || !t->times)
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu regions", sink->input[0], n);
    *own = (gls_sink){.append = append, .user = t};
    return GLS_OK;
}

/* Writes the matrix as text, a row for each region of seeds. */
static gls_status write_network(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const network_state *t = sink->state;
    const size_t n = t->rois.n;
    gls_text text = {0};
    for (size_t k = 0; k < n * n; k++) gls_text_printf(&text, "%.10g%s", t->sum[k], (k + 1) % n ? "  " : "\n");
    return gls_text_write(&text, sink->output, sinks->run->force, &sinks->run->group, GLS_OK);
}

/* Function `finish` of the sink, which is also called after a failure. */
static void finish(gls_run_sink *sink)
{
    network_state *t = sink->state;
    gls_fdt_numbering_finish(&t->rois);
    free(t->sum);
    free(t->length);
    free(t->of_line);
    free(t->times);
}

const gls_sink_kind gls_fdt_network_kind = {.role = "fdt_network",
                                            .size = sizeof(network_state),
                                            .take = take,
                                            .prepare = prepare,
                                            .open = open_network,
                                            .write = write_network,
                                            .finish = finish};

const gls_fdt_numbering *gls_fdt_find_rois(gls_run_sinks *sinks)
{
    gls_run_sink *sink = gls_sink_find(sinks, &gls_fdt_network_kind);
    return sink ? &((network_state *)sink->state)->rois : NULL;
}
