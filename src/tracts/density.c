/* Track density: whole streamlines are shared among threads, which add whole numbers to one map, so that the order in
 * which they do it leaves no trace. */
#include <glslines/density.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "image/nifti.h"
#include "tracts/grouped.h"
#include "tracts/visits.h"
#include "util/status.h"

/* Fixed point of mm without weights: sums up to 1e9 mm. */
#define LENGTH_BITS 32
/* With weights, mm of one streamline in one voxel that the fixed point has room for. */
#define LENGTH_ROOM 8192.0
#define LARGEST 4.0e18

struct gls_density {
    gls_grid grid;
    gls_visit_grid visit_grid;
    gls_density_options options;
    int bits; /* of fixed point behind the point */
    size_t n_voxels;
    int64_t *sum;
    double total; /* an upper bound of all that was added, in units of the last bit */
    gls_density_counts counts;
    int n_threads;
    gls_visits *visits; /* one for each thread */
};

gls_density_options gls_density_options_default(void)
{
    return (gls_density_options){.size = sizeof(gls_density_options), .mapping = GLS_DENSITY_SEGMENT, .upsample = 1};
}

uint32_t gls_density_upsampling(double step, const gls_grid *grid)
{
    double side = fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    double ratio = ceil((double)(float)step / (side * (double)0.333f));
    return ratio >= 1 && ratio < 1e6 ? (uint32_t)ratio : 1;
}

static int choose_bits(const gls_density_options *o)
{
    double most = o->sum_weights;
    if (!o->weights) return o->mapping == GLS_DENSITY_LENGTH ? LENGTH_BITS : 0;
    if (o->mapping == GLS_DENSITY_LENGTH) most *= LENGTH_ROOM;
    int exponent = 0;
    frexp(most, &exponent);
    return exponent > 61 ? 0 : exponent < -900 ? 961 : 61 - exponent;
}

gls_status gls_density_create(const gls_grid *grid, const gls_density_options *options, gls_density **density)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(grid && density);
    gls_density_options o = options ? *options : gls_density_options_default();
    GLS_REQUIRE((unsigned)o.mapping <= GLS_DENSITY_ENDS && o.upsample >= 1);
    GLS_REQUIRE(o.sum_weights >= 0 && isfinite(o.sum_weights));
    gls_density *d = calloc(1, sizeof *d);
    if (d) {
        d->grid = *grid;
        d->options = o;
        d->bits = choose_bits(&o);
        d->n_voxels = gls_grid_voxels(grid);
        d->n_threads = omp_get_max_threads();
        gls_visit_grid_init(&d->visit_grid, grid);
        d->visits = calloc((size_t)d->n_threads, sizeof *d->visits);
        d->sum = calloc(d->n_voxels, sizeof *d->sum);
    }
    if (!d || !d->visits || !d->sum) {
        gls_density_destroy(d);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a map of %zu voxels", gls_grid_voxels(grid));
    }
    *density = d;
    return GLS_OK;
}

/* Adds one streamline; returns what it adds at most to one voxel, in units of the last bit. */
static double add_one(gls_density *d, gls_visits *visits, const float (*point)[3], size_t n, double weight)
{
    double most = 0;
    gls_visits_find(visits, &d->visit_grid, &d->options, point, n);
    if (!d->options.weights && d->options.mapping != GLS_DENSITY_LENGTH) {
        for (size_t i = 0; i < visits->n; i++) {
#pragma omp atomic
            d->sum[visits->voxel[i]]++;
        }
        return 2;
    }
    for (size_t i = 0; i < visits->n; i++) {
        double value = d->options.mapping == GLS_DENSITY_LENGTH ? weight * visits->mm[i] : weight;
        double fixed = rint(ldexp(value, d->bits));
        if (fabs(fixed) > LARGEST) return INFINITY;
        int64_t whole = (int64_t)fixed;
        most = fmax(most, fabs(fixed));
#pragma omp atomic
        d->sum[visits->voxel[i]] += whole;
    }
    return d->options.mapping == GLS_DENSITY_ENDS ? 2 * most : most;
}

static gls_status find_weights(const gls_density *d, const gls_streamlines *s, const gls_column **weights)
{
    *weights = NULL;
    if (!d->options.weights) return GLS_OK;
    *weights = gls_column_find(s->dps, s->n_dps, d->options.weights);
    if (!*weights || (*weights)->components != 1)
        return gls_fail(GLS_ERR_INPUT, "no column \"%s\" of one value a streamline", d->options.weights);
    for (size_t i = 0; i < s->n; i++)
        if (!isfinite(gls_column_value(*weights, i)))
            return gls_fail(GLS_ERR_INPUT, "the weight of streamline %llu is not finite",
                            (unsigned long long)(d->counts.streamlines + i));
    return GLS_OK;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_density *d = user;
    const gls_column *weights;
    uint64_t used = 0, empty = 0, partial = 0;
    double total = 0;
    bool failed = false;
    gls_status status = find_weights(d, s, &weights);
    if (status) return status;
#pragma omp parallel for schedule(dynamic, 64) num_threads(d->n_threads) \
    reduction(+ : used, empty, partial, total) reduction(|| : failed)
    for (size_t i = 0; i < s->n; i++) {
        gls_visits *visits = &d->visits[omp_get_thread_num()];
        size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        empty += n == 0;
        if (n == 0) continue;
        total += add_one(d, visits, s->point + s->offset[i], n, weights ? gls_column_value(weights, i) : 1);
        used += visits->n > 0;
        partial += visits->outside;
        failed = failed || visits->failed;
    }
    d->counts.streamlines += s->n;
    d->counts.used += used;
    d->counts.empty += empty;
    d->counts.partial += partial;
    d->total += total;
    if (failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the voxels of a streamline");
    if (d->total > LARGEST)
        return gls_fail(GLS_ERR_UNSUPPORTED, "the sum of the map exceeds the range of its fixed point");
    return GLS_OK;
}

gls_sink gls_density_sink(gls_density *density)
{
    return (gls_sink){.append = append, .user = density};
}

gls_density_counts gls_density_get_counts(const gls_density *density)
{
    return density->counts;
}

void gls_density_get(const gls_density *d, double *out)
{
    for (size_t v = 0; v < d->n_voxels; v++) out[v] = ldexp((double)d->sum[v], -d->bits);
}

gls_status gls_density_write(const gls_density *density, const char *path)
{
    return gls_density_write_grouped(density, path, true, NULL);
}

gls_status gls_density_write_grouped(const gls_density *d, const char *path, bool overwrite, gls_output_group *group)
{
    GLS_REQUIRE(d && path);
    gls_type type = GLS_TYPE_FLOAT32;
    if (!d->options.weights && d->options.mapping != GLS_DENSITY_LENGTH) {
        type = GLS_TYPE_INT32;
        for (size_t v = 0; v < d->n_voxels; v++)
            if (d->sum[v] > INT32_MAX) type = GLS_TYPE_FLOAT64;
    }
    void *data = malloc(d->n_voxels * gls_type_size(type));
    if (!data) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    for (size_t v = 0; v < d->n_voxels; v++) {
        double value = ldexp((double)d->sum[v], -d->bits);
        if (type == GLS_TYPE_INT32)
            ((int32_t *)data)[v] = (int32_t)d->sum[v];
        else if (type == GLS_TYPE_FLOAT32)
            ((float *)data)[v] = (float)value;
        else
            ((double *)data)[v] = value;
    }
    gls_status status = gls_nifti_write(path, overwrite, group, &d->grid, 1, type, data);
    free(data);
    return status;
}

void gls_density_destroy(gls_density *d)
{
    if (!d) return;
    for (int i = 0; d->visits && i < d->n_threads; i++) gls_visits_finish(&d->visits[i]);
    free(d->visits);
    free(d->sum);
    free(d);
}
