/* Tissue classes of a T1 image by expectation-maximisation, with a smooth bias field and a Markov field of neighbours
 * (Van Leemput 1999, Zhang 2001), and fractions of classes in voxels of two (Tohka 2004). */
#include "anat/tissue_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anat/bias.h"
#include "image/grid.h"
#include "util/maths.h"
#include "util/status.h"

#define BETA 0.3       /* effect of a neighbour */
#define ROUNDS 40      /* at most */
#define TOLERANCE 1e-5 /* change of the mean log likelihood that ends the rounds */
#define MIN_PRIOR 1e-4
#define MIN_SD 0.01 /* of log intensity */
#define MIN_START_SD 0.02
#define CLUSTER_ROUNDS 50
#define MIN_VOXELS 1000
#define CERTAIN 0.95f /* probability of a class that owns a voxel if no other class is near */

/* Sums over the voxels of a slice, about the means of the round before. */
typedef struct sums {
    uint64_t n;
    double score, weight[GLS_CLASSES], first[GLS_CLASSES], second[GLS_CLASSES], bias;
} sums;

/* Work on one image. */
typedef struct work {
    gls_tissue_classes *c;
    const gls_image *prior;
    const int32_t *dim;
    size_t n, slice;       /* voxels of the image, and of a slice */
    double near[3];        /* effect of a neighbour along each axis */
    uint8_t *good;         /* voxels of the mask whose intensity is above 0 */
    float *y;              /* log intensity */
    float *last;           /* probabilities of the round before */
    float *value, *weight; /* for the bias */
    double mix[GLS_CLASSES];
    sums *sum;
    gls_bias bias;
} work;

static void finish(work *w)
{
    free(w->good);
    free(w->y);
    free(w->last);
    free(w->value);
    free(w->weight);
    free(w->sum);
    gls_bias_finish(&w->bias);
}

void gls_tissue_classes_finish(gls_tissue_classes *c)
{
    free(c->probability);
    free(c->bias);
    *c = (gls_tissue_classes){.rounds = 0};
}

static gls_status allocate(work *w, const gls_grid *grid)
{
    const double *size = grid->voxel_size, least = fmin(size[0], fmin(size[1], size[2]));
    w->dim = grid->dim;
    w->n = gls_grid_voxels(grid);
    w->slice = (size_t)grid->dim[0] * (size_t)grid->dim[1];
    for (int a = 0; a < 3; a++) w->near[a] = BETA * least / size[a];
    w->good = malloc(w->n);
    w->y = malloc(w->n * sizeof *w->y);
    w->last = calloc(w->n, GLS_CLASSES * sizeof *w->last);
    w->value = malloc(w->n * sizeof *w->value);
    w->weight = malloc(w->n * sizeof *w->weight);
    w->sum = malloc((size_t)grid->dim[2] * sizeof *w->sum);
    w->c->probability = calloc(w->n, GLS_CLASSES * sizeof *w->c->probability);
    w->c->bias = calloc(w->n, sizeof *w->c->bias);
    if (!w->good || !w->y || !w->last || !w->value || !w->weight || !w->sum || !w->c->probability || !w->c->bias)
        return gls_no_memory();
    return gls_bias_init(&w->bias, grid);
}

/* --- The start. */

/* Takes logarithms, cut at their quantiles 0.001 and 0.999. *sorted: the values that count, ascending, from malloc. */
static gls_status take_logarithms(work *w, const gls_image *t1, const uint8_t *mask, const char *name, float **sorted,
                                  size_t *n_sorted)
{
    static const double ends[2] = {0.001, 0.999};
    double cut[2];
    size_t n = 0;
    *sorted = malloc(w->n * sizeof **sorted);
    if (!*sorted) return gls_no_memory();
    for (size_t v = 0; v < w->n; v++) {
        w->good[v] = mask[v] && isfinite(t1->data[v]) && t1->data[v] > 0;
        w->y[v] = w->good[v] ? logf(t1->data[v]) : 0;
        if (w->good[v]) (*sorted)[n++] = w->y[v];
    }
    if (n < MIN_VOXELS)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: only %zu voxels of the brain have a value above 0: do mask and image agree?", name, n);
    gls_quantiles_of_floats(*sorted, n, ends, 2, cut);
    const float low = (float)cut[0], high = (float)cut[1];
    for (size_t v = 0; v < w->n; v++)
        if (w->good[v]) w->y[v] = fminf(fmaxf(w->y[v], low), high);
    for (size_t i = 0; i < n; i++) (*sorted)[i] = fminf(fmaxf((*sorted)[i], low), high);
    *n_sorted = n;
    return GLS_OK;
}

/* Clusters sorted values into three, from their quantiles 0.08, 0.4 and 0.8 on. */
static void find_clusters(const float *sorted, size_t n, double mean[GLS_CLASSES], double sd[GLS_CLASSES])
{
    static const double from[GLS_CLASSES] = {0.08, 0.4, 0.8};
    double count[GLS_CLASSES], sum[GLS_CLASSES], square[GLS_CLASSES];
    for (int k = 0; k < GLS_CLASSES; k++) {
        const gls_quantile q = gls_quantile_find(n, from[k]);
        mean[k] = gls_quantile_between(&q, (double)sorted[q.lower], (double)sorted[q.upper]);
    }
    for (int round = 0; round <= CLUSTER_ROUNDS; round++) { /* the last round is for the deviations */
        for (int k = 0; k < GLS_CLASSES; k++) count[k] = sum[k] = square[k] = 0;
        for (size_t i = 0; i < n; i++) {
            int nearest = 0;
            for (int k = 1; k < GLS_CLASSES; k++)
                if (fabs((double)sorted[i] - mean[k]) < fabs((double)sorted[i] - mean[nearest])) nearest = k;
            const double d = (double)sorted[i] - mean[nearest];
            count[nearest]++;
            sum[nearest] += d;
            square[nearest] += d * d;
        }
        for (int k = 0; k < GLS_CLASSES; k++) {
            const double d = count[k] > 0 ? sum[k] / count[k] : 0;
            sd[k] = fmax(count[k] > 0 ? sqrt(fmax(square[k] / count[k] - d * d, 0)) : 0, MIN_START_SD);
            if (round < CLUSTER_ROUNDS) mean[k] += d;
        }
    }
}

/* --- Rounds. */

/* Sum of the neighbours' probabilities of a class, weighted by their effect. */
static double neighbours(const work *w, const float *p, const int32_t at[3], size_t v)
{
    size_t stride = 1;
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        if (at[a] > 0) sum += w->near[a] * (double)p[v - stride];
        if (at[a] < w->dim[a] - 1) sum += w->near[a] * (double)p[v + stride];
        stride *= (size_t)w->dim[a];
    }
    return sum;
}

/* New probabilities of one voxel, added to the sums of its slice. */
static void expect(work *w, const int32_t at[3], size_t v, bool first, const double *log_mix, sums *s)
{
    const gls_tissue_classes *c = w->c;
    const double y = (double)w->y[v] - (double)c->bias[v];
    double e[GLS_CLASSES], top = -INFINITY, total = 0;
    for (size_t k = 0; k < GLS_CLASSES; k++) {
        const double z = (y - c->mean[k]) / c->sd[k];
        e[k] = -0.5 * z * z - log(c->sd[k]);
        e[k] += w->prior ? log(fmax((double)w->prior->data[k * w->n + v], MIN_PRIOR)) : log_mix[k];
        if (!first) e[k] += neighbours(w, w->last + k * w->n, at, v);
        top = fmax(top, e[k]);
    }
    for (size_t k = 0; k < GLS_CLASSES; k++) total += e[k] = exp(e[k] - top);
    s->n++;
    s->score += log(total) + top;
    for (size_t k = 0; k < GLS_CLASSES; k++) {
        const double p = e[k] / total, d = y - c->mean[k];
        c->probability[k * w->n + v] = (float)p;
        s->weight[k] += p;
        s->first[k] += p * d;
        s->second[k] += p * d * d;
    }
}

/* Adds up the sums of all slices, in their order. */
static sums add_up(const work *w)
{
    sums all = {.n = 0};
    for (int32_t z = 0; z < w->dim[2]; z++) {
        const sums *s = &w->sum[z];
        all.n += s->n;
        all.score += s->score;
        all.bias += s->bias;
        for (int k = 0; k < GLS_CLASSES; k++) {
            all.weight[k] += s->weight[k];
            all.first[k] += s->first[k];
            all.second[k] += s->second[k];
        }
    }
    return all;
}

/* New probabilities of all voxels, then means and deviations. */
static void update_classes(work *w, bool first)
{
    gls_tissue_classes *c = w->c;
    double log_mix[GLS_CLASSES];
    float *swap = w->last;
    w->last = c->probability;
    c->probability = swap;
    for (int k = 0; k < GLS_CLASSES; k++) log_mix[k] = log(fmax(w->mix[k], 1e-300));
#pragma omp parallel for schedule(dynamic)
    for (int32_t z = 0; z < w->dim[2]; z++) {
        sums s = {.n = 0};
        size_t v = (size_t)z * w->slice;
        for (int32_t y = 0; y < w->dim[1]; y++)
            for (int32_t x = 0; x < w->dim[0]; x++, v++)
                if (w->good[v]) expect(w, (const int32_t[3]){x, y, z}, v, first, log_mix, &s);
        w->sum[z] = s;
    }
    const sums all = add_up(w);
    c->score = all.score / (double)all.n;
    for (int k = 0; k < GLS_CLASSES; k++) {
        const double n = fmax(all.weight[k], 1e-9), d = all.first[k] / n;
        c->mean[k] += d;
        c->sd[k] = fmax(sqrt(fmax(all.second[k] / n - d * d, 0)), MIN_SD);
        w->mix[k] = all.weight[k] / (double)all.n;
    }
}

/* Fits the bias to what the classes leave, and makes its mean in the mask 0. */
static gls_status update_bias(work *w)
{
    gls_tissue_classes *c = w->c;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < w->n; v++) {
        double weight = 0, mean = 0;
        for (size_t k = 0; k < GLS_CLASSES && w->good[v]; k++) {
            const double share = (double)c->probability[k * w->n + v] / (c->sd[k] * c->sd[k]);
            weight += share;
            mean += share * c->mean[k];
        }
        w->weight[v] = (float)weight;
        w->value[v] = w->good[v] ? (float)((double)w->y[v] - mean / fmax(weight, 1e-12)) : 0;
    }
    const gls_status status = gls_bias_fit(&w->bias, w->value, w->weight, c->bias);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < w->dim[2]; z++) {
        w->sum[z] = (sums){.n = 0};
        for (size_t v = (size_t)z * w->slice; v < (size_t)(z + 1) * w->slice; v++)
            if (w->good[v]) w->sum[z].n++, w->sum[z].bias += (double)c->bias[v];
    }
    const sums all = add_up(w);
    const float mean = (float)(all.bias / (double)all.n);
    for (size_t v = 0; v < w->n; v++) c->bias[v] -= mean;
    return GLS_OK;
}

gls_status gls_tissue_classes_find(gls_tissue_classes *c, const gls_image *t1, const uint8_t *mask,
                                   const gls_image *prior, const gls_tissue_classes *start, const gls_go_on *go_on,
                                   const char *name)
{
    work w = {.c = c, .prior = prior, .mix = {1.0 / 3, 1.0 / 3, 1.0 / 3}};
    float *sorted = NULL;
    size_t n_sorted = 0;
    double last = -INFINITY;
    *c = (gls_tissue_classes){.rounds = 0};
    gls_status status = allocate(&w, &t1->grid);
    if (!status) status = take_logarithms(&w, t1, mask, name, &sorted, &n_sorted);
    if (!status && start) {
        memcpy(c->mean, start->mean, sizeof c->mean);
        memcpy(c->sd, start->sd, sizeof c->sd);
    } else if (!status) {
        find_clusters(sorted, n_sorted, c->mean, c->sd);
    }
    free(sorted);
    for (unsigned round = 0; round < ROUNDS && !status; round++) {
        update_classes(&w, round == 0);
        status = update_bias(&w);
        if (!status) status = gls_goes_on(go_on);
        c->rounds = round + 1;
        if (round > 3 && fabs(c->score - last) < TOLERANCE) break;
        last = c->score;
    }
    finish(&w);
    if (!status && !(c->mean[GLS_CLASS_CSF] < c->mean[GLS_CLASS_GM] && c->mean[GLS_CLASS_GM] < c->mean[GLS_CLASS_WM]))
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: its intensities are not those of dark fluid, grey and bright white matter: is it a T1, "
                          "and is the mask that of the brain?",
                          name);
    if (status) gls_tissue_classes_finish(c);
    return status;
}

/* --- Fractions. */

/* Whether one class alone has a voxel above one half among the 27 around a voxel. */
static bool is_alone(const float *p, size_t n, const int32_t dim[3], const int32_t at[3])
{
    int found = 0;
    for (size_t k = 0; k < GLS_CLASSES; k++) {
        bool near = false;
        for (int32_t z = at[2] - 1; z <= at[2] + 1 && !near; z++)
            for (int32_t y = at[1] - 1; y <= at[1] + 1 && !near; y++)
                for (int32_t x = at[0] - 1; x <= at[0] + 1 && !near; x++)
                    if (x >= 0 && y >= 0 && z >= 0 && x < dim[0] && y < dim[1] && z < dim[2])
                        near = p[k * n + ((size_t)z * (size_t)dim[1] + (size_t)y) * (size_t)dim[0] + (size_t)x] > 0.5f;
        found += near;
    }
    return found == 1;
}

gls_status gls_tissue_classes_fractions(const gls_tissue_classes *c, const gls_image *t1, const uint8_t *mask,
                                        gls_image **fractions)
{
    const int32_t *dim = t1->grid.dim;
    const size_t n = gls_grid_voxels(&t1->grid);
    const double csf = exp(c->mean[GLS_CLASS_CSF]), gm = exp(c->mean[GLS_CLASS_GM]), wm = exp(c->mean[GLS_CLASS_WM]);
    const float *p = c->probability;
    gls_status status = gls_image_create(&t1->grid, GLS_CLASSES, fractions);
    if (status) return status;
    float *f = (*fractions)->data;
#pragma omp parallel for schedule(dynamic, 1024)
    for (size_t v = 0; v < n; v++) {
        int32_t at[3];
        if (!mask[v]) continue;
        gls_grid_centre(&t1->grid, v, at);
        const float most = fmaxf(p[v], fmaxf(p[n + v], p[2 * n + v]));
        if (most > CERTAIN && is_alone(p, n, dim, at)) {
            for (size_t k = 0; k < GLS_CLASSES; k++) f[k * n + v] = p[k * n + v];
            continue;
        }
        const double i = isfinite(t1->data[v]) ? (double)t1->data[v] / exp((double)c->bias[v]) : 0,
                     lower = fmin(fmax((i - csf) / (gm - csf), 0), 1), upper = fmin(fmax((i - gm) / (wm - gm), 0), 1);
        f[GLS_CLASS_CSF * n + v] = (float)(i < gm ? 1 - lower : 0);
        f[GLS_CLASS_GM * n + v] = (float)(i < gm ? lower : 1 - upper);
        f[GLS_CLASS_WM * n + v] = (float)(i < gm ? 0 : upper);
    }
    return GLS_OK;
}
