/* Operations on whole bundles: flipping streamlines to one direction, removing outliers, core lines, profiles. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/bundle_core.h"
#include "tracts/bundle_parts.h"
#include "tracts/line_geometry.h"
#include "util/maths.h"
#include "util/status.h"

/* Largest number of rounds of gls_bundle_orient(): flipping members changes the mean line, which may flip other
 * members. */
#define MAX_ROUNDS 10
/* Largest number of members among which the medoid is searched. */
#define MEDOID_MEMBERS 256
/* Smallest number of streamlines that are weighted by their distance from the core. With fewer streamlines the
 * covariance is unreliable, so all get the same weight, as in pyAFQ. */
#define MIN_WEIGHTED 15

/* The nodes of member i, `nodes` points. Owned by the bundle. */
static const float (*nodes_of(const gls_bundle *b, size_t i, uint32_t nodes))[3]
{
    return (const float(*)[3])(b->node + i * nodes * 3);
}

/* Reverses the nodes of member i, and notes whether the nodes now run against the input streamline. */
static void turn(gls_bundle *b, size_t i, uint32_t nodes)
{
    gls_line_reverse((float(*)[3])(b->node + i * nodes * 3), nodes);
    b->member[i].turned = !b->member[i].turned;
}

/* Mean of all members at each node, world mm. Sums in double precision, in the order of members. */
static void find_mean(const gls_bundle *b, uint32_t nodes, float (*mean)[3])
{
    for (size_t k = 0; k < (size_t)nodes * 3; k++) {
        double sum = 0;
        for (size_t i = 0; i < b->n; i++) sum += b->node[i * nodes * 3 + k];
        mean[k / 3][k % 3] = (float)(sum / (double)b->n);
    }
}

/* Mean distance of the nodes of two members, mm, in the nearer of both senses. */
static double apart(const gls_bundle *b, size_t i, size_t j, uint32_t nodes)
{
    const float(*p)[3] = nodes_of(b, i, nodes), (*q)[3] = nodes_of(b, j, nodes);
    double there = 0, back = 0;
    for (uint32_t k = 0; k < nodes; k++) {
        there += gls_point_distance(p[k], q[k]);
        back += gls_point_distance(p[k], q[nodes - 1 - k]);
    }
    return fmin(there, back) / nodes;
}

/* Returns the index of the medoid: the member with the least sum of distances from the others, of MEDOID_MEMBERS that
 * are spread evenly. It lies amid the bundle whatever strays there are, and does not depend on the senses of members.
 */
static size_t find_medoid(const gls_bundle *b, uint32_t nodes)
{
    const size_t n = b->n < MEDOID_MEMBERS ? b->n : MEDOID_MEMBERS;
    double sum[MEDOID_MEMBERS] = {0};
    size_t best = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const double d = apart(b, i * b->n / n, j * b->n / n, nodes);
            sum[i] += d;
            sum[j] += d;
        }
    for (size_t i = 1; i < n; i++)
        if (sum[i] < sum[best]) best = i;
    return best * b->n / n;
}

void gls_bundle_orient(gls_bundle *b, uint32_t nodes)
{
    float(*standard)[3] = malloc(nodes * sizeof *standard);
    if (!standard || b->n == 0) {
        free(standard);
        return;
    }
    /* Each member is compared with a standard, which is first the medoid, then the mean of all members as flipped so
     * far. */
    memcpy(standard, nodes_of(b, find_medoid(b, nodes), nodes), nodes * sizeof *standard);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        size_t turned = 0;
        for (size_t i = 0; i < b->n; i++) {
            if (!gls_nodes_are_backwards(nodes_of(b, i, nodes), (const float(*)[3])standard, nodes)) continue;
            turn(b, i, nodes);
            turned++;
        }
        if (turned == 0 && round > 0) break;
        find_mean(b, nodes, standard);
    }
    /* flip the whole bundle to run towards right, anterior or superior, on the axis along which its ends lie farthest
     * apart */
    int axis = 0;
    double way[3];
    for (int r = 0; r < 3; r++) way[r] = (double)standard[nodes - 1][r] - standard[0][r];
    for (int r = 1; r < 3; r++)
        if (fabs(way[r]) > fabs(way[axis])) axis = r;
    for (size_t i = 0; i < b->n && way[axis] < 0; i++) turn(b, i, nodes);
    free(standard);
}

/* Pseudo-inverse of a symmetric matrix: tiny eigenvalues count as 0, so that points in a plane also have distances. */
static void pseudo_inverse(const double c[3][3], double out[3][3])
{
    double a[3][3], value[3], vector[3][3];
    memcpy(a, c, sizeof a);
    gls_symmetric_decompose(a, value, vector);
    double largest = fmax(value[0], fmax(value[1], value[2])), tolerance = DBL_EPSILON * fmax(largest, 1e-6) * 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 3; k++)
                if (value[k] > tolerance) out[i][j] += vector[i][k] * vector[j][k] / value[k];
        }
}

/* Inverts the upper triangle of c as a triangular matrix. Skips axes along which the points do not vary, where DIPY
 * fails. */
static void triangle_inverse(const double c[3][3], double out[3][3])
{
    const double least = DBL_EPSILON * fmax(c[0][0], fmax(c[1][1], c[2][2]));
    double one[3];
    memset(out, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++) out[i][i] = one[i] = c[i][i] > least ? 1 / c[i][i] : 0;
    out[0][1] = -c[0][1] * one[0] * one[1];
    out[1][2] = -c[1][2] * one[1] * one[2];
    out[0][2] = c[0][1] * c[1][2] * one[0] * one[1] * one[2] - c[0][2] * one[0] * one[2];
}

/* Mahalanobis distance of each of n points from their mean: sqrt(d^T C^+ d), C their covariance with divisor n. stride:
 * floats between points. triangle: use the inverse of the upper triangle of C, as DIPY does. Returns false if C is 0
 * within 1e-8. */
static bool mahalanobis(const float *point, size_t n, size_t stride, bool triangle, double *distance)
{
    double mean[3] = {0}, c[3][3] = {{0}}, inverse[3][3];
    bool flat = true;
    /* mean, then covariance with divisor n */
    for (size_t i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) mean[r] += point[i * stride + (size_t)r];
    for (int r = 0; r < 3; r++) mean[r] /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double d[3];
        for (int r = 0; r < 3; r++) d[r] = point[i * stride + (size_t)r] - mean[r];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) c[r][k] += d[r] * d[k];
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            c[r][k] /= (double)n;
            /* tolerance of numpy.allclose() around 0, as DIPY compares */
            flat = flat && fabs(c[r][k]) <= 1e-8;
        }
    if (flat) return false;
    if (triangle)
        triangle_inverse((const double(*)[3])c, inverse);
    else
        pseudo_inverse((const double(*)[3])c, inverse);
    /* A negative sum can only come from rounding, or from the triangular matrix, which is not an inverse. */
    for (size_t i = 0; i < n; i++) {
        double d[3], sum = 0;
        for (int r = 0; r < 3; r++) d[r] = point[i * stride + (size_t)r] - mean[r];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) sum += d[r] * inverse[r][k] * d[k];
        distance[i] = sqrt(fmax(sum, 0));
    }
    return true;
}

/* For each streamline, the largest Mahalanobis distance from the bundle's mean among nodes first .. last - 1, and
 * the sum of these distances. Where all members coincide at a node, every distance counts as n, the number of
 * members. scratch: memory for n values. */
static void find_distances(const gls_bundle *b, uint32_t nodes, uint32_t first, uint32_t last, double *scratch,
                           double *largest, double *sum)
{
    for (size_t i = 0; i < b->n; i++) largest[i] = sum[i] = 0;
    for (uint32_t k = first; k < last; k++) {
        bool spread = mahalanobis(b->node + k * 3, b->n, (size_t)nodes * 3, false, scratch);
        for (size_t i = 0; i < b->n; i++) {
            double d = spread ? scratch[i] : (double)b->n;
            largest[i] = fmax(largest[i], d);
            sum[i] += d;
        }
    }
}

/* Drops the members of a bundle for which stays[] is false, and counts them as outliers. */
static void keep(gls_bundle *b, uint32_t nodes, const bool *stays)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (!stays[i]) {
            b->failed[GLS_BUNDLE_CLEAN]++;
            continue;
        }
        b->member[kept] = b->member[i];
        if (kept != i)
            memmove(b->node + kept * nodes * 3, b->node + i * nodes * 3, (size_t)nodes * 3 * sizeof *b->node);
        kept++;
    }
    b->n = kept;
}

/* Marks the `min` streamlines with the smallest sums of distances in stays[]; min <= n. */
static void keep_smallest(const double *sum, size_t n, size_t min, bool *stays)
{
    memset(stays, 0, n * sizeof *stays);
    for (size_t k = 0; k < min; k++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
            if (!stays[i] && (best == SIZE_MAX || sum[i] < sum[best])) best = i;
        stays[best] = true;
    }
}

/* Size of a member for the limit of length_z: number of points of the input, or length in mm. */
static double value_of(const gls_member *m, bool by_points)
{
    return by_points ? (double)m->points : m->length;
}

/* One round of cleaning, as pyAFQ's clean_bundle(). Drops members whose Mahalanobis distance from the mean is
 * o->distance or more at a node of the inner part, or whose length is o->length_z or more standard deviations above the
 * mean. If fewer than o->min would stay, the o->min members nearest the core stay instead. scratch: memory for 3 n
 * values; stays: for n. Returns false if this was the last round: all members stayed, or fewer than o->min would have.
 */
static bool clean_once(gls_bundle *b, uint32_t nodes, const gls_clean_options *o, double *scratch, bool *stays)
{
    /* first .. last - 1: the nodes of the inner part, the middle share `core` of the line; core 0: all nodes */
    double edge = (1 - o->core) / 2, mean = 0, square = 0;
    uint32_t first = o->core > 0 ? (uint32_t)((double)nodes * edge) : 0,
             last = o->core > 0 ? (uint32_t)((double)nodes * (1 - edge)) : nodes;
    double *largest = scratch + b->n, *sum = scratch + 2 * b->n;
    size_t kept = 0;
    find_distances(b, nodes, first, last, scratch, largest, sum);
    /* mean and standard deviation of the lengths, with divisor n */
    for (size_t i = 0; i < b->n; i++) mean += value_of(&b->member[i], o->by_points) / (double)b->n;
    for (size_t i = 0; i < b->n; i++) square += pow(value_of(&b->member[i], o->by_points) - mean, 2) / (double)b->n;
    for (size_t i = 0; i < b->n; i++) {
        double z = square > 0 ? (value_of(&b->member[i], o->by_points) - mean) / sqrt(square) : -INFINITY;
        stays[i] = largest[i] < o->distance && z < o->length_z;
        kept += stays[i];
    }
    if (kept == b->n) return false;
    /* if too few members would stay, keep the members nearest the core, and end */
    bool few = kept < (size_t)o->min;
    if (few) keep_smallest(sum, b->n, (size_t)o->min, stays);
    keep(b, nodes, stays);
    return !few;
}

gls_status gls_bundle_clean(gls_bundle *b, uint32_t nodes, const gls_clean_options *o)
{
    if (b->n < (size_t)o->min || b->n == 0) return GLS_OK;
    double *scratch = malloc(3 * b->n * sizeof *scratch);
    bool *stays = malloc(b->n * sizeof *stays);
    if (scratch && stays)
        for (int round = 0; round < o->rounds && clean_once(b, nodes, o, scratch, stays);) round++;
    bool done = scratch && stays;
    free(scratch);
    free(stays);
    return done ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a bundle");
}

void gls_bundles_core(const gls_bundles *bundles, size_t i, double (*out)[3])
{
    const gls_bundle *b = &bundles->bundle[i];
    const uint32_t nodes = bundles->options.nodes;
    for (uint32_t k = 0; k < nodes; k++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (size_t m = 0; m < b->n && b->node; m++) sum += nodes_of(b, m, nodes)[k][r];
            out[k][r] = b->node ? sum / (double)b->n : NAN;
        }
}

/* Weighted mean and spread of the finite values, or their median with the same spread. all: NaN if any value is not
 * finite. May overwrite value[]. */
static gls_profile_node summarise(double *value, const double *weight, size_t n, bool median, bool all)
{
    gls_profile_node out = {NAN, NAN, 0};
    double total = 0, sum = 0, square = 0;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i]) && all) return (gls_profile_node){NAN, NAN, 0};
        if (!isfinite(value[i])) continue;
        total += weight[i];
        sum += weight[i] * value[i];
        out.n++;
    }
    if (out.n == 0) return out;
    out.value = sum / total;
    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i])) square += weight[i] * pow(value[i] - out.value, 2);
    out.sd = sqrt(square / total);
    /* compute the spread about the weighted mean, even if the value is the median */
    if (!median) return out;
    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i])) value[m++] = value[i];
    out.value = gls_median(value, m);
    return out;
}

/* Weights of the members at node k, with a sum of 1. GLS_PROFILE_COLUMN: those of the column. GLS_PROFILE_MEAN and
 * GLS_PROFILE_MEDIAN: equal. Others: inverse to the Mahalanobis distance from the mean as in AFQ; if nodes coincide
 * with the mean, only their streamlines get weight; equal if there is one member, if all nodes coincide, or, with
 * GLS_PROFILE_MAHALANOBIS, for fewer than MIN_WEIGHTED members. */
static void find_weights(const gls_bundle *b, uint32_t nodes, uint32_t k, gls_profile_weights how, double *weight)
{
    double all = 0;
    for (size_t i = 0; i < b->n && how == GLS_PROFILE_COLUMN; i++) all += weight[i] = b->member[i].weight;
    for (size_t i = 0; i < b->n && how == GLS_PROFILE_COLUMN; i++) weight[i] /= all;
    if (how == GLS_PROFILE_COLUMN) return;
    bool alike = how == GLS_PROFILE_MEAN || how == GLS_PROFILE_MEDIAN || b->n == 1 ||
                 (how == GLS_PROFILE_MAHALANOBIS && b->n < MIN_WEIGHTED);
    alike = alike || !mahalanobis(b->node + (size_t)k * 3, b->n, (size_t)nodes * 3, how == GLS_PROFILE_DIPY, weight);
    double total = 0;
    size_t n_core = 0;
    for (size_t i = 0; i < b->n && !alike; i++) n_core += weight[i] == 0;
    for (size_t i = 0; i < b->n; i++) {
        weight[i] = alike ? 1 : n_core > 0 ? weight[i] == 0 : 1 / weight[i];
        total += weight[i];
    }
    for (size_t i = 0; i < b->n; i++) weight[i] /= total;
}

gls_status gls_bundles_profile(const gls_bundles *bundles, size_t i, const gls_image *image, size_t volume,
                               const gls_sample_options *sampling, gls_profile_weights weights, gls_profile_node *out)
{
    GLS_REQUIRE_SIZE(sampling);
    GLS_REQUIRE(bundles && i < bundles->rules.n && image && volume < image->n_volumes && out);
    const gls_bundle *b = &bundles->bundle[i];
    GLS_REQUIRE(b->keeps_nodes);
    const uint32_t nodes = bundles->options.nodes;
    const size_t voxels = gls_grid_voxels(&image->grid);
    const gls_sample_options o = sampling ? *sampling : gls_sample_options_default();
    gls_image one = {.grid = image->grid, .n_volumes = 1, .data = image->data + volume * voxels};
    double *value = malloc((2 * b->n + 1) * sizeof *value), *weight = value + b->n;
    if (!value) return gls_fail(GLS_ERR_MEMORY, "out of memory for a profile");
    for (uint32_t k = 0; k < nodes; k++) {
        for (size_t m = 0; m < b->n; m++) gls_sample_at(&one, &o, nodes_of(b, m, nodes)[k], &value[m]);
        if (b->n > 0) find_weights(b, nodes, k, weights, weight);
        out[k] = summarise(value, weight, b->n, weights == GLS_PROFILE_MEDIAN, o.keep_not_finite);
    }
    free(value);
    return GLS_OK;
}
