/* Recognition by search: each model is moved to the clusters of the tractogram near it by a registration of centroids;
 * then one search finds for each streamline the models near it. */
#include "geometry/recognition_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/draws.h"
#include "geometry/model_clusters.h"
#include "geometry/recognition_mirror.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"

/* Number of points of a streamline; largest number of centroids in a registration. */
enum { POINTS = GLS_RECOGNITION_POINTS, SELECTED = 250 };

/* Copies at most SELECTED of the centroids list[0 .. n - 1], which are drawn. use: so that two draws differ. */
static gls_status choose(const float (*centroid)[3], const uint32_t *list, size_t n, uint64_t seed, uint32_t use,
                         float (*out)[3], size_t *n_out)
{
    uint64_t *drawn = NULL;
    *n_out = n < SELECTED ? n : SELECTED;
    gls_status status = gls_draws_take(NULL, seed, use, n, *n_out, &drawn);
    for (size_t k = 0; k < *n_out && !status; k++)
        memcpy(out + k * POINTS, centroid + list[drawn[k]] * POINTS, POINTS * sizeof *out);
    free(drawn);
    return status;
}

/* Moves the origin of n points to `mean`. */
static void centre(float (*point)[3], size_t n, const double mean[3])
{
    for (size_t p = 0; p < n; p++)
        for (int k = 0; k < 3; k++) point[p][k] = (float)((double)point[p][k] - mean[k]);
}

/* Registers centroids of a model and of its neighbourhood, near[0 .. n_near - 1], and moves the model. */
static gls_status move_model(gls_recognition *r, gls_model *m, const uint32_t *near, size_t n_near)
{
    gls_slr_options o = gls_slr_options_default();
    gls_slr_result slr;
    double map[3][4], mean[3] = {0};
    /* the neighbourhood holds other bundles, too: they must not draw the model to them, nor decide where it begins */
    o.metric = GLS_SLR_ASYMMETRIC;
    o.centred = false;
    const uint64_t seed = gls_model_seed(r->options.seed, m->info.bundle);
    const size_t n = m->info.centroids;
    size_t a = 0, b = 0;
    for (int k = 0; k < 9; k++) {
        o.high[k] = k < 3 ? 20 : k < 6 ? 10 : 1.2;
        o.low[k] = k < 6 ? -o.high[k] : 0.8;
    }
    float(*fixed)[3] = malloc(2 * SELECTED * POINTS * sizeof *fixed), (*moving)[3] = fixed + SELECTED * POINTS;
    uint32_t *own = malloc((n + 1) * sizeof *own);
    gls_status status = fixed && own ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) own[k] = (uint32_t)k;
    if (!status) status = choose((const float(*)[3])m->centroid, own, n, seed, 2, fixed, &a);
    if (!status) status = choose((const float(*)[3])r->centroid, near, n_near, seed, 3, moving, &b);
    for (size_t p = 0; p < a * POINTS && !status; p++)
        for (int k = 0; k < 3; k++) mean[k] += (double)fixed[p][k] / (double)(a * POINTS);
    if (!status) centre(fixed, a * POINTS, mean);
    if (!status) centre(moving, b * POINTS, mean);
    if (!status) status = gls_slr_find(&o, (const float(*)[3])fixed, a, (const float(*)[3])moving, b, POINTS, &slr);
    free(fixed);
    free(own);
    if (status) return status;
    for (int i = 0; i < 3; i++) {
        slr.matrix[i][3] += mean[i];
        for (int j = 0; j < 3; j++) slr.matrix[i][3] -= slr.matrix[i][j] * mean[j];
    }
    /* in mm^2, as the bundle minimum distance of RecoBundles */
    slr.before *= slr.before;
    slr.after *= slr.after;
    gls_model_invert(&m->features, &slr, &m->info, map);
    gls_centroids_move((const double(*)[4])map, m->features.point, m->features.n * POINTS);
    gls_centroids_move((const double(*)[4])map, m->centroid, n * POINTS);
    return GLS_OK;
}

/* Finds the neighbourhood of a model, and moves the model to it. */
static gls_status place_model(gls_recognition *r, gls_model *m)
{
    size_t n_near = 0, n = 0;
    gls_status status = gls_model_clusters_take(m->clusters, &m->centroid, &n);
    m->info.centroids = n;
    gls_clusters_destroy(m->clusters);
    m->clusters = NULL;
    uint32_t *near = malloc((r->n_centroids + 1) * sizeof *near);
    m->covered = calloc(n + 1, 1);
    if (!status && (!near || !m->covered)) status = gls_no_memory();
    for (size_t k = 0; k < r->n_centroids && !status; k++) {
        const float(*wide)[3] = (const float(*)[3])r->centroid + k * POINTS;
        for (size_t j = 0; j < n; j++) {
            if (!gls_centroids_within((const float(*)[3])m->centroid + j * POINTS, wide, POINTS, r->options.reduction))
                continue;
            near[n_near++] = (uint32_t)k;
            m->info.neighbours += gls_clusters_size(r->clusters, k);
            break;
        }
    }
    m->info.is_far = r->options.local && n > 0 && n_near == 0;
    if (!status && n_near > 0) status = move_model(r, m, near, n_near);
    free(near);
    return status;
}

/* For gls_cells_fill(): a streamline of a model. */
static void copy_line(const void *user, size_t id, float *out)
{
    const gls_recognition *r = user;
    const uint32_t k = r->owner[id];
    const gls_features *f = &r->model[k].features;
    const size_t i = id - r->first[k];
    if (gls_features_has(f, i))
        gls_points_expand((const float(*)[3])f->point + i * POINTS, POINTS, f->pad, false, out);
    else
        for (size_t p = 0; p < 3 * f->pad; p++) out[p] = 1e6f; /* near nothing */
}

/* Sorts the streamlines of all models into cells. */
static gls_status sort_models(gls_recognition *r)
{
    uint64_t n = 0;
    r->first = malloc((r->n_models + 1) * sizeof *r->first);
    if (!r->first) return gls_no_memory();
    for (size_t k = 0; k < r->n_models; k++) {
        r->first[k] = n;
        n += r->model[k].features.n;
        r->widest = fmax(r->widest, r->model[k].info.threshold);
    }
    if (n >= UINT32_MAX) return gls_fail(GLS_ERR_UNSUPPORTED, "the models have more than %u streamlines", UINT32_MAX);
    r->owner = malloc((size_t)(n + 1) * sizeof *r->owner);
    if (!r->owner) return gls_no_memory();
    for (size_t k = 0; k < r->n_models; k++)
        for (size_t i = 0; i < r->model[k].features.n; i++) r->owner[r->first[k] + i] = (uint32_t)k;
    return gls_cells_fill(&r->cells, (size_t)n, POINTS, (float)r->widest, copy_line, r, r->n_threads);
}

gls_status gls_recognition_place(gls_recognition *r)
{
    gls_status status = GLS_OK;
    if (r->options.local) status = gls_model_clusters_take(r->clusters, &r->centroid, &r->n_centroids);
    if (!status && r->options.local)
        status = gls_recognition_find_mirror(r, (const float(*)[3])r->centroid, r->n_centroids);
    for (size_t k = 0; k < r->n_models && !status; k++) status = place_model(r, &r->model[k]);
    return status ? status : sort_models(r);
}

void gls_recognition_look(const gls_recognition *r, gls_worker *w, size_t i)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const gls_cells *c = &r->cells;
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS], mean[3], part[GLS_PARTS];
    const float slack = gls_distance_slack(r->features.extent) + gls_distance_slack(r->widest > 0 ? 300 : 0);
    gls_features_expand(&r->features, i, x, y);
    gls_points_mean(x, POINTS, c->pad, mean);
    gls_points_parts(x, y, POINTS, c->pad, part);
    const size_t n = gls_cells_near(c, mean, (float)r->widest + slack, w->place, w->gap);
    w->n_near = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t m = r->owner[c->id[w->place[k]]];
        const double best = w->nearest[m], limit = fmin(best, r->model[m].info.threshold);
        const float gap = (float)limit + slack, *at = c->point + w->place[k] * 3 * c->pad;
        float d, e;
        if (w->gap[k] > gap * gap || kernel->parts(c->part + w->place[k] * GLS_PARTS, part) > gap) continue;
        kernel->both(at, x, y, POINTS, c->pad, &d, &e);
        if (fminf(d, e) > gap) continue;
        const double near = fmin(kernel->exact(at, x, POINTS, c->pad), kernel->exact(at, y, POINTS, c->pad));
        if (!(near < limit)) continue;
        if (isinf(best)) w->near[w->n_near++] = m;
        w->nearest[m] = near;
    }
}
