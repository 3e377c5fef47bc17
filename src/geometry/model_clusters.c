/* Clusters of models and of tractograms, distances between their centroids, and how a model is moved. */
#include "geometry/model_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

gls_status gls_model_clusters_begin(const double *above, size_t n, double last, uint32_t points, uint64_t most,
                                    uint64_t seed, const gls_draws *draws, gls_clusters **clusters)
{
    double levels[5];
    gls_cluster_options o = gls_cluster_options_default();
    GLS_REQUIRE(n < sizeof levels / sizeof *levels);
    memcpy(levels, above, n * sizeof *levels);
    levels[n] = last;
    o.method = GLS_CLUSTER_MERGED;
    o.threshold = levels;
    o.n_thresholds = n + 1;
    o.points = points;
    o.reverse = GLS_CLUSTER_REVERSE_COPIED;
    o.order = GLS_CLUSTER_ORDER_RANDOM;
    o.most = most;
    o.seed = seed;
    o.draws = draws;
    return gls_clusters_create(&o, clusters);
}

gls_status gls_model_clusters_take(gls_clusters *clusters, float (**centroid)[3], size_t *n)
{
    *n = 0;
    if (!clusters) return GLS_OK;
    gls_status status = gls_clusters_complete(clusters);
    if (status) return status;
    const size_t count = gls_clusters_count(clusters), points = gls_clusters_points(clusters);
    *centroid = malloc((count * points + 1) * sizeof **centroid);
    if (!*centroid) return gls_no_memory();
    for (size_t k = 0; k < count; k++) gls_clusters_centroid(clusters, k, *centroid + k * points);
    *n = count;
    return GLS_OK;
}

double gls_centroids_distance(const float (*a)[3], const float (*b)[3], size_t points)
{
    double direct = 0, turned = 0;
    for (size_t p = 0; p < points; p++) {
        const float *x = a[p], *y = b[p], *z = b[points - 1 - p];
        const double u[3] = {(double)(x[0] - y[0]), (double)(x[1] - y[1]), (double)(x[2] - y[2])},
                     v[3] = {(double)(x[0] - z[0]), (double)(x[1] - z[1]), (double)(x[2] - z[2])};
        direct += sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        turned += sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return fmin(direct, turned) / (double)points;
}

bool gls_centroids_within(const float (*a)[3], const float (*b)[3], size_t points, double distance)
{
    /* the barycentres of all nearer sets are as near */
    double gap[3] = {0};
    for (size_t p = 0; p < points; p++)
        for (int k = 0; k < 3; k++) gap[k] += (double)a[p][k] - (double)b[p][k];
    if (sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]) > (double)points * (distance + 1e-3)) return false;
    return gls_centroids_distance(a, b, points) <= distance;
}

void gls_centroids_move(const double m[3][4], float (*point)[3], size_t n)
{
    for (size_t p = 0; p < n; p++) {
        const double from[3] = {(double)point[p][0], (double)point[p][1], (double)point[p][2]};
        double to[3];
        gls_affine_apply(m, from, to);
        for (int k = 0; k < 3; k++) point[p][k] = (float)to[k];
    }
}

uint64_t gls_model_seed(uint64_t seed, const char *name)
{
    uint64_t hash = 14695981039346656037u ^ seed;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

void gls_model_add_points(const gls_features *f, double sum[3], double *n)
{
    for (size_t i = 0; i < f->n; i++) {
        if (!gls_features_has(f, i)) continue;
        for (size_t p = 0; p < f->points; p++)
            for (int k = 0; k < 3; k++) sum[k] += (double)f->point[i * f->points + p][k];
        *n += (double)f->points;
    }
}

void gls_model_invert(const gls_features *model, const gls_slr_result *slr, gls_model_info *info, double map[3][4])
{
    double mean[3] = {0}, to[3], turn[3][3], n = 0, square = 0, trace = 0;
    info->slr = *slr;
    info->registered = true;
    gls_affine_invert((const double(*)[4])slr->matrix, map);
    gls_model_add_points(model, mean, &n);
    for (int k = 0; k < 3; k++) mean[k] /= n;
    gls_affine_apply((const double(*)[4])map, mean, to);
    for (int k = 0; k < 3; k++) square += (to[k] - mean[k]) * (to[k] - mean[k]);
    info->shift = sqrt(square);
    info->scale = cbrt(gls_affine_det((const double(*)[4])map));
    gls_affine_rotation((const double(*)[4])map, turn);
    for (int k = 0; k < 3; k++) trace += turn[k][k];
    info->angle = acos(fmin(fmax((trace - 1) / 2, -1), 1)) * 180 / acos(-1.0);
}
