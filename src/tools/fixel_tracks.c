/* `glslines fixels --tracks`: streamlines of fixels, and the density of FODs along streamlines (AFD connectivity). */
#include "tools/fixel_tracks.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <glslines/weights.h>

#include "image/image_write.h"
#include "streamlines/builder.h"
#include "tools/fixel_folder.h"
#include "tractogram/tck_header.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"
#include "weights/fixel_parts.h"
#include "weights/voxel_walk.h"

/* --- Streamlines of fixels. */

/* Share of a voxel to which tck2fixel upsamples, a float in MRtrix3. */
#define COUNT_SHARE ((double)0.333f)

/* Writes the counts as an image of n x 1 x 1 values. */
static gls_status write_counts(gls_tract_run *run, const char *out, const uint32_t *count, size_t n)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    gls_status status = gls_grid_init(&grid, (const int32_t[3]){(int32_t)n, 1, 1}, affine);
    return status ? status
                  : gls_image_write_values(out, run->files.force, &run->files.group, &grid, NULL, 1, GLS_TYPE_UINT32,
                                           count);
}

gls_status gls_fixels_count_tracks(gls_tract_run *run, const gls_fixels_cli *o, const char *directory, const char *out)
{
    gls_fixel_folder folder = {.n = 0};
    gls_tractogram_reader *reader = NULL;
    gls_density_options walk;
    gls_sink sink = {0};
    size_t met = 0;
    gls_status status = gls_image_name_check(out);
    if (!status) status = gls_tract_run_reads(run, o->tracks);
    if (!status) status = gls_fixel_folder_read(&folder, run, directory);
    if (!status) status = gls_tract_run_writes(run, out);
    if (!status) status = gls_tract_open(run, o->tracks, false, &reader);
    uint32_t *count = status ? NULL : calloc(folder.n, sizeof *count);
    if (!status && !count) status = gls_no_memory();
    if (!status)
        status = gls_fixel_walk(gls_tractogram_reader_info(reader), o->tracks, &folder.grid, o->step_size, COUNT_SHARE,
                                &walk);
    if (!status) status = gls_fixel_counter(&folder, &walk, o->angle, count, &sink);
    status = gls_tract_pump(run, reader, &sink, status);
    assert(status || count);
    if (!status) status = write_counts(run, out, count, folder.n);
    for (size_t i = 0; i < folder.n && !status; i++) met += count[i] > 0;
    if (!status) {
        gls_tract_run_count(run, "fixels", folder.n);
        gls_tract_run_count(run, "fixels_with_streamlines", met);
        gls_tract_run_message(run, "%s: %zu of %zu fixels have streamlines", out, met, folder.n);
    }
    gls_tractogram_reader_close(reader);
    gls_fixel_folder_finish(&folder);
    free(count);
    return status;
}

/* --- Density along streamlines. */

#define LENGTH_UNIT 0x1p-20 /* mm, of sums of lengths, which are integers so that threads may share them */

/* Lengths of streamlines in fixels. */
typedef struct lengths {
    const gls_fixels *fixels;
    gls_walk_grid grid;
    gls_walk *walk; /* one for each thread */
    int n_threads;
    _Atomic uint64_t *length; /* of each fixel, units */
    _Atomic uint64_t all;     /* length of all streamlines in voxels of the grid, units */
    uint64_t n;               /* streamlines */
    const double *share;      /* density of each fixel for each mm of streamlines in it; NULL: lengths are summed */
    double *line;             /* mean of shares along each streamline of a block */
    size_t capacity;
    double sum; /* of these means */
} lengths;

/* Sums the lengths of one streamline, or the shares of the fixels along it. */
static void measure_line(void *user, int thread, const gls_streamlines *s, size_t i)
{
    lengths *l = user;
    gls_walk *walk = &l->walk[thread];
    double mm = 0, density = 0;
    gls_walk_visits(walk, &l->grid, s->point + s->offset[i], (size_t)(s->offset[i + 1] - s->offset[i]));
    for (size_t k = 0; k < walk->n; k++) {
        const gls_visit *v = &walk->visit[k];
        const uint32_t fixel = gls_fixel_at(l->fixels, v->voxel, v->direction);
        const uint64_t units = (uint64_t)(v->length / LENGTH_UNIT + 0.5);
        mm += v->length;
        if (fixel != GLS_NO_FIXEL && l->share) density += l->share[fixel] * v->length;
        if (l->share) continue;
        atomic_fetch_add_explicit(&l->all, units, memory_order_relaxed);
        if (fixel != GLS_NO_FIXEL) atomic_fetch_add_explicit(&l->length[fixel], units, memory_order_relaxed);
    }
    if (l->share) l->line[i] = mm > 0 ? density / mm : 0;
}

static gls_status measure_lines(void *user, const gls_streamlines *in)
{
    lengths *l = user;
    if (l->share && in->n > l->capacity) {
        free(l->line);
        l->capacity = in->n;
        l->line = malloc(in->n * sizeof *l->line);
        if (!l->line) return gls_no_memory();
    }
    gls_lines_parallel(in, 32, l->n_threads, measure_line, l);
    for (int i = 0; i < l->n_threads; i++)
        if (l->walk[i].failed) return gls_no_memory();
    for (size_t i = 0; i < in->n && l->share; i++) l->sum += l->line[i];
    l->n += in->n;
    return GLS_OK;
}

/* Reads a tractogram once, for sums of lengths, or with `share` for the mean density along it. */
static gls_status measure(lengths *l, gls_tract_run *run, const gls_fixels_cli *o, const char *tracks)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {.append = measure_lines, .user = l};
    const gls_grid *grid = gls_fixels_grid(l->fixels);
    gls_status status = gls_tract_open(run, tracks, false, &reader);
    if (!status) {
        const double step = o->step_size > 0 ? o->step_size : gls_tck_step(gls_tractogram_reader_info(reader), 0);
        if (step <= 0)
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "%s: does not state the step size of its streamlines, on which lengths depend: give "
                              "--step-size",
                              tracks);
        else
            gls_walk_grid_init(&l->grid, grid, gls_weights_upsampling(step, grid), false, LENGTH_UNIT);
    }
    l->n = 0;
    status = gls_tract_pump(run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Sum of the densities of fixels: of each voxel that with most length, or all that have some. */
static double sum_densities(const lengths *l, bool all)
{
    double sum = 0;
    for (size_t v = 0; v < gls_grid_voxels(&l->fixels->grid); v++) {
        const gls_fixel_voxel *voxel = &l->fixels->voxel[v];
        uint64_t most = 0;
        double density = 0;
        for (uint32_t f = voxel->first; f < voxel->first + voxel->count; f++) {
            const uint64_t length = l->length[f];
            if (all && length > 0) sum += (double)l->fixels->fixel[f].fd;
            if (length <= most) continue;
            most = length;
            density = (double)l->fixels->fixel[f].fd;
        }
        if (!all) sum += density;
    }
    return sum;
}

/* Density of each fixel over its length of streamlines, 0 where there is none. From malloc. */
static double *shares_of(const lengths *l)
{
    double *share = malloc(l->fixels->n * sizeof *share);
    for (size_t f = 0; f < l->fixels->n && share; f++)
        share[f] = l->length[f] > 0 ? (double)l->fixels->fixel[f].fd / ((double)l->length[f] * LENGTH_UNIT) : 0;
    return share;
}

/* Computes the density along the bundle. */
static gls_status find_density(lengths *l, gls_tract_run *run, const gls_fixels_cli *o, double *afd)
{
    double *share = NULL;
    gls_status status = measure(l, run, o, o->tracks_all ? o->tracks_all : o->tracks);
    if (!status && o->tracks_all) {
        l->share = share = shares_of(l);
        status = share ? measure(l, run, o, o->tracks) : gls_no_memory();
        *afd = l->sum;
    } else if (!status) {
        *afd = l->all > 0 ? sum_densities(l, o->all_fixels) / ((double)l->all * LENGTH_UNIT / (double)l->n) : 0;
    }
    free(share);
    if (!status && *afd == 0)
        status = gls_fail(GLS_ERR_EMPTY, "%s: no streamline passes through a fixel of the FODs", o->tracks);
    return status;
}

gls_status gls_fixels_measure_tracks(gls_tract_run *run, const gls_fixels_cli *o, const gls_fod_options *options,
                                     const char *out)
{
    gls_fod fod = {0};
    lengths l = {.n_threads = omp_get_max_threads()};
    gls_text text = {0};
    double afd = 0;
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(o->tracks, o->tracks_all));
    if (!status) status = gls_tract_run_writes(run, out);
    /* alone, a bundle passes by fixels in whose lobe its direction does not lie, as in afdconnectivity; with the whole
     * brain, each direction belongs to a lobe */
    gls_fod_options own = *options;
    own.no_dilate = !o->tracks_all;
    if (!status) status = gls_fod_read(&own, &fod);
    if (!status) {
        l.fixels = fod.fixels;
        l.walk = calloc((size_t)l.n_threads, sizeof *l.walk);
        l.length = calloc(fod.fixels->n, sizeof *l.length);
        if (!l.walk || !l.length) status = gls_no_memory();
    }
    if (!status) status = find_density(&l, run, o, &afd);
    if (!status) {
        gls_text_printf(&text, "%.9g\n", afd);
        status = gls_text_write(&text, out, run->files.force, &run->files.group, GLS_OK);
    }
    if (!status) {
        gls_json_double(run->root, "afd", afd);
        gls_tract_run_count(run, "streamlines", l.n);
        gls_tract_run_message(run, "%s: %.6g along %llu streamlines", out, afd, (unsigned long long)l.n);
    }
    for (int i = 0; i < l.n_threads && l.walk; i++) gls_walk_finish(&l.walk[i]);
    free(l.walk);
    free(l.length);
    free(l.line);
    gls_fod_finish(&fod);
    return status;
}
