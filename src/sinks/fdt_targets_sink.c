/* track --fdt-targets LABELS:FILE: probtrackx2's seeds_to_TARGET images, how many streamlines from each seed voxel meet
 * each region, as one image with a volume for each label. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_write.h"
#include "sinks/fdt.h"
#include "sinks/fdt_network_sink.h"
#include "sinks/sink_files.h"
#include "util/numbers.h"
#include "util/status.h"

/* State of --fdt-targets. sum: regions x seed voxels, seed voxels fastest: numbers of streamlines, or with
 * --distance-correction sums of lengths, mm; last: for each region the number of the last streamline that met it; line:
 * number of the current streamline; step: mm. */
typedef struct targets_state {
    gls_fdt_numbering seeds, regions;
    const gls_fdt_numbering *rois;
    double *sum;
    uint64_t *last, line;
    bool by_length;
    double step;
} targets_state;

static gls_status take_targets(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const char *text = sinks->options->fdt_targets;
    if (!text) return GLS_OK;
    gls_status status = gls_sink_takes_pair(sink, sinks, text, "LABELS:FILE");
    if (!status) status = gls_fdt_check(sink, sinks, !sinks->options->distance_correction);
    return status ? status : gls_image_name_check(gls_names_last(text, ':') + 1);
}

/* Counts, at seed voxel `own`, the regions that a half-streamline meets and that the streamline has not met yet. As in
 * probtrackx2 the length begins anew at each point that equals the seed. */
static void follow(targets_state *t, uint32_t own, const gls_fdt_half *half)
{
    size_t steps = 0;
    for (size_t k = 0; k < half->n; k++, steps++) {
        const float *point = gls_fdt_point(half, k);
        const uint32_t region = gls_fdt_number_at(&t->regions, point);
        if (memcmp(point, *half->seed, sizeof *half->seed) == 0) steps = 0;
        if (region == 0 || t->last[region - 1] == t->line) continue;
        t->last[region - 1] = t->line;
        t->sum[(size_t)(region - 1) * t->seeds.n + own - 1] += t->by_length ? (double)steps * t->step : 1;
    }
}

/* Counts a block of streamlines. The half-streamline to the last point comes first. */
static gls_status append(void *user, const gls_streamlines *s)
{
    targets_state *t = user;
    for (size_t i = 0; i < s->n; i++) {
        gls_fdt_half half[2];
        t->line++;
        if (!gls_fdt_halves(s, i, t->rois, half)) continue;
        const uint32_t own = gls_fdt_number_at(&t->seeds, *half[0].seed);
        for (int h = 0; h < 2 && own > 0; h++) follow(t, own, &half[h]);
    }
    return GLS_OK;
}

/* Reads the image of targets and numbers its labels. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    return gls_fdt_numbering_of_labels(sinks, sink->input[0], 1, &((targets_state *)sink->state)->regions);
}

static gls_status open_targets(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    targets_state *t = sink->state;
    (void)tractogram;
    gls_status status = gls_fdt_numbering_of_mask(sink, sinks, NULL, &t->seeds);
    if (status) return status;
    t->rois = gls_fdt_find_rois(sinks);
    t->by_length = sinks->options->distance_correction;
    t->step = sinks->step_size;
    t->last = calloc(t->regions.n, sizeof *t->last);
    t->sum = calloc((size_t)t->regions.n * t->seeds.n, sizeof *t->sum);
    if (!t->last || !t->sum)
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %" PRIu32 " regions", sink->input[0], t->regions.n);
    *own = (gls_sink){.append = append, .user = t};
    return GLS_OK;
}

/* Writes a volume for each region: counts as int32, at most INT32_MAX, lengths as float32. */
static gls_status write_targets(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const targets_state *t = sink->state;
    const size_t n = gls_grid_voxels(&t->seeds.image);
    gls_grid plain = t->seeds.image;
    plain.space = 0;
    int32_t *count = calloc(n * t->regions.n, sizeof *count);
    float *length = (float *)count; /* the same memory: either counts or lengths are written, both of four bytes */
    if (!count) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a map", sink->output);
    for (uint32_t r = 0; r < t->regions.n; r++)
        for (size_t v = 0; v < n; v++) {
            const uint32_t seed = t->seeds.number[v];
            const double sum = seed > 0 ? t->sum[(size_t)r * t->seeds.n + seed - 1] : 0;
            if (t->by_length)
                length[r * n + v] = (float)sum;
            else
                count[r * n + v] = sum < INT32_MAX ? (int32_t)sum : INT32_MAX;
        }
    const gls_type type = t->by_length ? GLS_TYPE_FLOAT32 : GLS_TYPE_INT32;
    gls_status status = gls_image_write_values(sink->output, sinks->run->force, &sinks->run->group, &plain, "density",
                                               t->regions.n, type, count);
    free(count);
    return status;
}

/* Adds the label of each volume to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const targets_state *t = sink->state;
    cJSON *labels = cJSON_AddArrayToObject(root, "fdt_targets_labels");
    for (uint32_t r = 0; r < t->regions.n; r++)
        cJSON_AddItemToArray(labels, cJSON_CreateNumber((double)t->regions.label[r]));
}

static void finish(gls_run_sink *sink)
{
    targets_state *t = sink->state;
    gls_fdt_numbering_finish(&t->seeds);
    gls_fdt_numbering_finish(&t->regions);
    free(t->sum);
    free(t->last);
}

const gls_sink_kind gls_fdt_targets_kinds[] = {{.role = "fdt_targets",
                                                .size = sizeof(targets_state),
                                                .by_length = true,
                                                .take = take_targets,
                                                .prepare = prepare,
                                                .open = open_targets,
                                                .write = write_targets,
                                                .describe = describe,
                                                .finish = finish}};
