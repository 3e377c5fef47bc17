/* The final values of a density map, as numbers and as a file. */
#include <math.h>
#include <stdlib.h>

#include "tracts/density_values.h"
#include "image/image_write.h"
#include "tracts/density_parts.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/threads.h"

/* Fixed-point sum at index i over the copies of all threads. */
static int64_t narrow_at(const gls_density *d, size_t i)
{
    int64_t sum = 0;
    for (int k = 0; k < d->n_copies; k++) sum += d->sum[k][i];
    return sum;
}

/* Sum at index i over the copies of all threads. */
static double wide_at(const gls_density *d, size_t i)
{
    gls_wide sum = {0};
    for (int k = 0; k < d->n_copies; k++) gls_wide_join(&sum, &d->wide[k][i]);
    return gls_wide_value(&sum);
}

/* Value of voxel i; i runs over all voxels of the first map, then of the next, and so on. */
static double value_at(const gls_density *d, size_t i)
{
    if (d->kind == NARROW) return d->scale * ldexp((double)narrow_at(d, i), -d->bits);
    if (d->kind == EXTREME) return isfinite(d->extreme[i]) ? d->scale * d->extreme[i] : 0;
    double sum = wide_at(d, i * d->n_planes), weight = d->n_planes == 2 ? wide_at(d, i * d->n_planes + 1) : 1;
    return weight != 0 ? d->scale * (sum / weight) : 0;
}

/* A map, and the type and memory of the values to compute from it. */
typedef struct values {
    const gls_density *density;
    gls_type type; /* float64, float32 or int32 */
    void *out;
} values;

/* Stores a value as the type of the output. */
static void store(const values *to, size_t i, double value)
{
    if (to->type == GLS_TYPE_INT32)
        ((int32_t *)to->out)[i] = (int32_t)value;
    else if (to->type == GLS_TYPE_FLOAT32)
        ((float *)to->out)[i] = (float)value;
    else
        ((double *)to->out)[i] = value;
}

/* Computes the values of voxels from .. until - 1. */
static void find_values(void *user, int thread, size_t from, size_t until)
{
    const values *of = user;
    const gls_density *d = of->density;
    (void)thread;
    /* with directions: the sum of the vectors gives the direction, the sum of their lengths the length */
    for (size_t v = from; v < until; v++) {
        if (!d->options.directions) {
            store(of, v, value_at(d, v));
            continue;
        }
        double x = wide_at(d, 4 * v), y = wide_at(d, 4 * v + 1), z = wide_at(d, 4 * v + 2);
        double length = sqrt(x * x + y * y + z * z), size = wide_at(d, 4 * v + 3);
        const double part[3] = {x, y, z};
        for (size_t r = 0; r < 3; r++)
            store(of, r * d->n_voxels + v, length > 0 ? d->scale * part[r] * size / length : 0);
    }
}

/* Fills out[] on all threads: n_maps volumes of n_voxels, or 3 with directions. */
static void get_values(const gls_density *d, gls_type type, void *out)
{
    const size_t n = d->n_voxels * (d->options.directions ? 1 : d->n_maps);
    gls_parallel(n, 4096, d->n_threads, find_values, &(values){d, type, out});
}

void gls_density_get(const gls_density *density, double *out)
{
    get_values(density, GLS_TYPE_FLOAT64, out);
}

gls_status gls_density_write(const gls_density *density, const char *path)
{
    return gls_density_write_grouped(density, path, true, NULL);
}

gls_status gls_density_write_grouped(const gls_density *d, const char *path, bool overwrite, gls_output_group *group)
{
    GLS_REQUIRE(d && path);
    const size_t volumes = gls_density_volumes(d), n = d->n_voxels * volumes;
    gls_type type = GLS_TYPE_FLOAT32;
    /* counts are whole numbers: int32 if they fit, float64 if not; everything else is float32 */
    if (d->kind == NARROW && !d->options.weights && !gls_density_is_in_mm(&d->options) && d->scale == 1) {
        type = GLS_TYPE_INT32;
        for (size_t v = 0; v < n; v++)
            if (narrow_at(d, v) > INT32_MAX) type = GLS_TYPE_FLOAT64;
    }
    void *data = malloc(n * gls_type_size(type));
    if (!data) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    get_values(d, type, data);
    gls_status status = gls_image_write_values(path, overwrite, group, &d->grid, "density", volumes, type, data);
    free(data);
    return status;
}
