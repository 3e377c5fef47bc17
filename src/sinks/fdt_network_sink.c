/* track --fdt-network LABELS:FILE: probtrackx2's matrix of how many streamlines from each region meet each other
 * region. */
#include <stdlib.h>
#include <string.h>

#include "sinks/fdt_network_sink.h"
#include "sinks/sink_files.h"
#include "sinks/fdt.h"
#include "util/status.h"
#include "util/text.h"

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
    sinks->numbers_seeds |= sink->wanted;
    return status || !text ? status : gls_fdt_check(sink, sinks, false);
}

/* Notes after how many steps a half-streamline first meets each region other than `own`, and adds to of_line and times.
 * */
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

/* Counts a block of streamlines. A streamline adds to the row of its seed's region and the column of each other region
 * that it meets: 1, or with --distance-correction the length from the seed to that region, mm, as the mean over the
 * half-streamlines that meet it. */
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

/* Reads the image of labels and numbers its regions. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    return gls_fdt_numbering_of_labels(sinks, sink->input[0], 2, &((network_state *)sink->state)->rois);
}

/* Allocates the matrix and the work space for one streamline. */
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

/* Writes the matrix as text. Row: region of the seed; column: region that is met. */
static gls_status write_network(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const network_state *t = sink->state;
    const size_t n = t->rois.n;
    gls_text text = {0};
    for (size_t k = 0; k < n * n; k++) gls_text_printf(&text, "%.10g%s", t->sum[k], (k + 1) % n ? "  " : "\n");
    return gls_text_write(&text, sink->output, sinks->run->force, &sinks->run->group, GLS_OK);
}

static void finish(gls_run_sink *sink)
{
    network_state *t = sink->state;
    gls_fdt_numbering_finish(&t->rois);
    free(t->sum);
    free(t->length);
    free(t->of_line);
    free(t->times);
}

const gls_sink_kind gls_fdt_network_kinds[] = {{.role = "fdt_network",
                                                .size = sizeof(network_state),
                                                .by_length = true,
                                                .take = take,
                                                .prepare = prepare,
                                                .open = open_network,
                                                .write = write_network,
                                                .finish = finish}};

const gls_fdt_numbering *gls_fdt_find_rois(gls_run_sinks *sinks)
{
    gls_run_sink *sink = gls_sink_find(sinks, gls_fdt_network_kinds);
    return sink ? &((network_state *)sink->state)->rois : NULL;
}
