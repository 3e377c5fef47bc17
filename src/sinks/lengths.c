/* Lengths of the streamlines of a run: mean, extremes, and the median from a histogram. */
#include "sinks/lengths.h"
#include "sinks/sinks.h"
#include "streamlines/builder.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "track/getter/getter.h"
#include "tracts/line_geometry.h"
#include "util/status.h"

/* Largest number of bins, each 1 / GLS_LENGTH_PARTS mm wide: 65 m. For the median a longer streamline counts as this
 * long. */
#define MAX_BINS ((size_t)1 << 26)
/* streamlines that a thread takes at a time */
#define GRAIN 256

bool gls_lengths_need_points(const gls_job_options *o, const gls_method *method)
{
    const gls_track_params *p = &o->track;
    return gls_getter_is_curved(method->getter) || p->downsample > 1 || p->compress > 0 || p->crop_at_gmwmi;
}

/* Callback of gls_lines_parallel(): stores the length of streamline i in units of 1 / GLS_LENGTH_PARTS mm. Each i is
 * written by one thread only. */
static void measure(void *user, int thread, const gls_streamlines *in, size_t i)
{
    gls_run_lengths *l = user;
    const size_t n = (size_t)(in->offset[i + 1] - in->offset[i]);
    (void)thread;
    l->part[i] = (uint32_t)fmin(round(gls_line_length(in->point + in->offset[i], n) * GLS_LENGTH_PARTS), UINT32_MAX);
}

/* Allocates memory for the lengths of n streamlines. */
static gls_status make_room(gls_run_lengths *l, size_t n)
{
    if (n <= l->room) return GLS_OK;
    uint32_t *part = realloc(l->part, n * sizeof *part);
    if (!part) return gls_fail(GLS_ERR_MEMORY, "out of memory for lengths");
    l->part = part;
    l->room = n;
    return GLS_OK;
}

/* Makes at least n bins; new ones are 0. */
static gls_status make_bins(gls_run_lengths *l, size_t n)
{
    if (n <= l->n_bins) return GLS_OK;
    uint64_t *bin = realloc(l->bin, n * sizeof *bin);
    if (!bin) return gls_fail(GLS_ERR_MEMORY, "out of memory for lengths");
    memset(bin + l->n_bins, 0, (n - l->n_bins) * sizeof *bin);
    l->bin = bin;
    l->n_bins = n;
    return GLS_OK;
}

/* Bin of a length of `part` / GLS_LENGTH_PARTS mm; the last bin is for all longer lengths. */
static size_t bin_of(uint64_t part)
{
    return part < MAX_BINS ? (size_t)part : MAX_BINS - 1;
}

gls_status gls_run_lengths_add(gls_run_lengths *l, const gls_streamlines *in)
{
    gls_status status = make_room(l, in->n);
    if (status) return status;
    gls_lines_parallel(in, GRAIN, omp_get_max_threads(), measure, l);
    /* largest and smallest length so far, in units of 1 / GLS_LENGTH_PARTS mm */
    uint64_t largest = l->n > 0 ? l->max : 0, smallest = l->n > 0 ? l->min : UINT64_MAX;
    for (size_t i = 0; i < in->n; i++) {
        largest = l->part[i] > largest ? l->part[i] : largest;
        smallest = l->part[i] < smallest ? l->part[i] : smallest;
    }
    /* allocate twice as many bins as are needed now, unless that exceeds MAX_BINS, so that growing is rare */
    status = make_bins(l, 2 * (bin_of(largest) + 1) < MAX_BINS ? 2 * (bin_of(largest) + 1) : bin_of(largest) + 1);
    /* lengths are whole numbers of parts, so that sums do not depend on the order in which batches arrive */
    for (size_t i = 0; i < in->n && !status; i++) {
        l->sum += l->part[i];
        l->bin[bin_of(l->part[i])]++;
    }
    l->n += in->n;
    l->max = largest;
    l->min = smallest;
    return status;
}

/* Returns the bin of the streamline with this rank, from 0, in the order of lengths. */
static size_t ranked(const gls_run_lengths *l, uint64_t rank)
{
    size_t bin = 0;
    for (uint64_t below = l->bin[0]; below <= rank && bin + 1 < l->n_bins; below += l->bin[bin]) bin++;
    return bin;
}

void gls_run_lengths_get(const gls_run_lengths *l, gls_track_result *r)
{
    if (l->n == 0) return;
    /* the median of an even number is the mean of the two lengths in the middle */
    const double middle = 0.5 * (double)(ranked(l, (l->n - 1) / 2) + ranked(l, l->n / 2));
    r->mean_length = (double)l->sum / (double)l->n / GLS_LENGTH_PARTS;
    r->median_length = middle / GLS_LENGTH_PARTS;
    r->min_length = (double)l->min / GLS_LENGTH_PARTS;
    r->max_length = (double)l->max / GLS_LENGTH_PARTS;
}

void gls_run_lengths_finish(gls_run_lengths *l)
{
    free(l->part);
    free(l->bin);
    *l = (gls_run_lengths){.n = 0};
}
