/* How alike two bundles are: overlap of the voxels that their streamlines pass and in which they end, correlation of
 * densities, and distances between voxels and between centroids of clusters. */
#include "geometry/similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>

#include "geometry/model_clusters.h"
#include "streamlines/filter_parts.h"
#include "tracts/roi_distance.h"
#include "util/allocation.h"
#include "util/status.h"

enum { POINTS = 20 };
/* Centroids nearer than this are alike, mm. */
#define ALIKE 6.0

/* Kinds of clusters: of scilpy's distance of bundles, of DIPY's similarity of shapes. */
enum { WIDE, FINE, KINDS };

struct gls_similar {
    gls_grid grid;
    gls_density *density[2]; /* of the streamlines, of their ends */
    double *map[2];
    gls_clusters *clusters[KINDS];
    float (*centroid[KINDS])[3];
    size_t n[KINDS];
};

const char *const gls_similarity_name[GLS_SIMILARITY_VALUES] = {"dice_voxels",
                                                                "w_dice_voxels",
                                                                "volume_overlap",
                                                                "volume_overreach",
                                                                "density_correlation",
                                                                "dice_voxels_endpoints",
                                                                "w_dice_voxels_endpoints",
                                                                "volume_overlap_endpoints",
                                                                "volume_overreach_endpoints",
                                                                "density_correlation_endpoints",
                                                                "bundle_adjacency_voxels",
                                                                "bundle_adjacency_streamlines",
                                                                "bmd",
                                                                "ba",
                                                                "hausdorff"};

gls_status gls_similar_create(const gls_grid *grid, uint64_t seed, gls_similar **bundle)
{
    static const double wide[] = {32, 24, 12}, fine[] = {5, 3};
    gls_similar *s = calloc(1, sizeof *s);
    if (!s) return gls_no_memory();
    s->grid = *grid;
    gls_density_options o = gls_density_options_default();
    gls_status status = gls_density_create(grid, &o, &s->density[0]);
    o.mapping = GLS_DENSITY_ENDS;
    if (!status) status = gls_density_create(grid, &o, &s->density[1]);
    if (!status) status = gls_model_clusters_begin(wide, 3, 6, POINTS, 0, seed, NULL, &s->clusters[WIDE]);
    if (!status) status = gls_model_clusters_begin(fine, 2, 1.5, POINTS, 0, seed, NULL, &s->clusters[FINE]);
    if (status)
        gls_similar_destroy(s);
    else
        *bundle = s;
    return status;
}

void gls_similar_destroy(gls_similar *s)
{
    if (!s) return;
    for (int k = 0; k < 2; k++) {
        gls_density_destroy(s->density[k]);
        free(s->map[k]);
    }
    for (int k = 0; k < KINDS; k++) {
        gls_clusters_destroy(s->clusters[k]);
        free(s->centroid[k]);
    }
    free(s);
}

gls_status gls_similar_sink(gls_similar *s, gls_sink *sink)
{
    const gls_sink all[] = {gls_density_sink(s->density[0]), gls_density_sink(s->density[1]),
                            gls_clusters_sink(s->clusters[WIDE]), gls_clusters_sink(s->clusters[FINE])};
    return gls_sink_tee(all, sizeof all / sizeof *all, sink);
}

gls_status gls_similar_complete(gls_similar *s)
{
    gls_status status = GLS_OK;
    for (int k = 0; k < KINDS && !status; k++)
        status = gls_model_clusters_take(s->clusters[k], &s->centroid[k], &s->n[k]);
    for (int k = 0; k < 2 && !status; k++) {
        s->map[k] = malloc(gls_grid_voxels(&s->grid) * sizeof *s->map[k]);
        if (s->map[k])
            gls_density_get(s->density[k], s->map[k]);
        else
            status = gls_no_memory();
        gls_density_destroy(s->density[k]);
        s->density[k] = NULL;
    }
    return status;
}

uint64_t gls_similar_count(const gls_similar *s)
{
    return gls_clusters_streamlines(s->clusters[WIDE]);
}

bool gls_similar_is_outside(const gls_similar *s)
{
    for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++)
        if (s->map[0][v] > 0) return false;
    return gls_similar_count(s) > 0;
}

/* Measures the overlap of two maps: the first five measures. volume: of a voxel, mm3. */
static void compare_maps(const double *x, const double *y, size_t voxels, double volume, double value[5])
{
    double n_x = 0, n_y = 0, both = 0, shared = 0, sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    bool equal = true;
    for (size_t v = 0; v < voxels; v++) {
        if (x[v] == 0 && y[v] == 0) continue;
        n_x += x[v] > 0;
        n_y += y[v] > 0;
        if (x[v] > 0 && y[v] > 0) {
            both++;
            shared += x[v] + y[v];
        }
        equal = equal && x[v] == y[v];
        sx += x[v];
        sy += y[v];
        xx += x[v] * x[v];
        yy += y[v] * y[v];
        xy += x[v] * y[v];
    }
    const double any = n_x + n_y - both, spread = sqrt((any * xx - sx * sx) * (any * yy - sy * sy));
    value[0] = 2 * both / (n_x + n_y);
    value[1] = shared / (sx + sy);
    value[2] = both * volume;
    value[3] = (any - both) * volume;
    /* over the voxels of either; negative values count as none */
    value[4] = any == 0 ? NAN : equal ? 1 : both == 0 ? 0 : spread > 0 ? fmax(0, (any * xy - sx * sy) / spread) : NAN;
}

/* Measures the distances of the voxels of b from the nearest ones of a, mm: adds half of their mean to *mean, and
 * raises *most to the largest. */
static gls_status add_distance(const gls_similar *a, const gls_similar *b, double *mean, double *most)
{
    const size_t voxels = gls_grid_voxels(&a->grid);
    double *square = NULL, sum = 0, n = 0;
    uint8_t *inside = malloc(voxels);
    gls_status status = inside ? GLS_OK : gls_no_memory();
    for (size_t v = 0; v < voxels && !status; v++) inside[v] = a->map[0][v] > 0;
    if (!status) status = gls_voxel_distances(&a->grid, inside, &square);
    for (size_t v = 0; v < voxels && !status; v++)
        if (b->map[0][v] > 0) {
            sum += sqrt(square[v]);
            *most = fmax(*most, sqrt(square[v]));
            n++;
        }
    *mean += sum / n / 2;
    free(inside);
    free(square);
    return status;
}

/* Compares the centroids of both bundles. *distance: mean distance of each from the nearest of the other, mm; *share:
 * of those that have one within ALIKE; both are the mean of both directions. */
static gls_status compare_centroids(const gls_similar *a, const gls_similar *b, int kind, double *distance,
                                    double *share)
{
    const size_t n = a->n[kind], m = b->n[kind];
    double *least = malloc((n + m + 1) * sizeof *least);
    if (!least) return gls_no_memory();
    for (size_t k = 0; k < n + m; k++) least[k] = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            const double d = gls_centroids_distance((const float(*)[3])a->centroid[kind] + i * POINTS,
                                                    (const float(*)[3])b->centroid[kind] + j * POINTS, POINTS);
            least[i] = fmin(least[i], d);
            least[n + j] = fmin(least[n + j], d);
        }
    double sum[2] = {0}, near[2] = {0};
    for (size_t k = 0; k < n + m; k++) {
        sum[k >= n] += least[k];
        near[k >= n] += least[k] < ALIKE;
    }
    *distance = (sum[0] / (double)n + sum[1] / (double)m) / 2;
    *share = (near[0] / (double)n + near[1] / (double)m) / 2;
    free(least);
    return GLS_OK;
}

gls_status gls_similarity_measure(const gls_similar *a, const gls_similar *b, double value[GLS_SIMILARITY_VALUES])
{
    const size_t voxels = gls_grid_voxels(&a->grid);
    const double *side = a->grid.voxel_size, volume = side[0] * side[1] * side[2];
    double unused;
    for (int k = 0; k < GLS_SIMILARITY_VALUES; k++) value[k] = NAN;
    if (gls_similar_count(a) == 0 || gls_similar_count(b) == 0) return GLS_OK;
    compare_maps(a->map[0], b->map[0], voxels, volume, value);
    compare_maps(a->map[1], b->map[1], voxels, volume, value + 5);
    gls_status status = GLS_OK;
    if (!gls_similar_is_outside(a) && !gls_similar_is_outside(b)) {
        value[10] = value[14] = 0;
        status = add_distance(a, b, &value[10], &value[14]);
        if (!status) status = add_distance(b, a, &value[10], &value[14]);
    }
    if (!status) status = compare_centroids(a, b, WIDE, &value[11], &unused);
    value[12] = value[11] * value[11];
    return status ? status : compare_centroids(a, b, FINE, &unused, &value[13]);
}
