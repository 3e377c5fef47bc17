/* Sharp turns of a bundle: the curvature of the centroids of its clusters. One streamline has noise in its curvature,
 * the mean of many has not. */
#include "geometry/bends.h"

#include <math.h>
#include <stdlib.h>

#include "geometry/model_clusters.h"
#include "util/status.h"

enum { POINTS = 20 };

gls_status gls_bends_begin(double last, uint64_t seed, gls_clusters **clusters)
{
    static const double above[] = {40, 30, 20};
    const size_t n = last < 20 ? 3 : 2;
    return gls_model_clusters_begin(above, n, last, POINTS, 0, seed, NULL, clusters);
}

/* Difference at place i of POINTS values, each the first of three: half of that of the neighbours, at the ends that of
 * the end and its neighbour. */
static double gradient(const double *value, size_t i)
{
    if (i == 0) return value[3] - value[0];
    if (i == POINTS - 1) return value[3 * i] - value[3 * i - 3];
    return (value[3 * i + 3] - value[3 * i - 3]) / 2;
}

/* Mean curvature of POINTS points, 1/mm, by differences of neighbouring points: mean_curvature() of DIPY. */
static double mean_curvature(const float (*point)[3])
{
    double place[3 * POINTS], first[3 * POINTS], sum = 0;
    for (size_t i = 0; i < 3 * POINTS; i++) place[i] = (double)point[i / 3][i % 3];
    for (size_t i = 0; i < 3 * POINTS; i++) first[i] = gradient(place + i % 3, i / 3);
    for (size_t i = 0; i < POINTS; i++) {
        const double *const d = first + 3 * i;
        double e[3];
        for (int k = 0; k < 3; k++) e[k] = gradient(first + k, i);
        const double cross[3] = {d[1] * e[2] - d[2] * e[1], d[2] * e[0] - d[0] * e[2], d[0] * e[1] - d[1] * e[0]};
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        /* points that lie on each other have no curvature, which NaN would make that of all */
        if (length > 0)
            sum += sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / (length * length * length);
    }
    return sum / POINTS;
}

gls_status gls_bends_find(gls_clusters *clusters, bool **sharp)
{
    gls_status status = gls_clusters_complete(clusters);
    if (status) return status;
    const size_t n = gls_clusters_count(clusters);
    const uint64_t lines = gls_clusters_streamlines(clusters);
    double *curvature = malloc((n + 1) * sizeof *curvature), mean = 0;
    *sharp = calloc(lines + 1, sizeof **sharp);
    if (!curvature || !*sharp) status = gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        float centroid[POINTS][3];
        gls_clusters_centroid(clusters, k, centroid);
        curvature[k] = mean_curvature((const float(*)[3])centroid);
        mean += curvature[k];
    }
    mean /= n > 0 ? (double)n : 1;
    const uint32_t *member = status ? NULL : gls_clusters_members(clusters);
    for (uint64_t i = 0; i < lines && !status; i++)
        (*sharp)[i] = member[i] != GLS_CLUSTER_NONE && curvature[member[i]] > mean;
    free(curvature);
    return status;
}
