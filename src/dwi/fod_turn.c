/* Reorients FODs by a transform (Raffelt et al. 2012, NeuroImage 60: 1045): as weights of apodised deltas, whose
 * directions are turned. */
#include "dwi/fod_turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/sh.h>

#include "image/grid.h"
#include "util/lapack.h"
#include "util/maths.h"
#include "util/status.h"

#define N GLS_FOD_TURN_DIRECTIONS
#define MAX_ORDER 8
#define MAX_COEFFICIENTS 45

/* Coefficients of the apodised delta along z, by order and degree. */
static const double apodised[MAX_ORDER / 2][MAX_ORDER / 2 + 1] = {
    {1, 0.41939279},
    {1, 0.63608543, 0.18487087},
    {1, 0.75490341, 0.37126442, 0.09614699},
    {1, 0.82384816, 0.51261696, 0.22440563, 0.05593079},
};

/* The data that all voxels share. */
typedef struct plan {
    int order;
    size_t n; /* coefficients */
    double direction[N][3];
    double weights[N][MAX_COEFFICIENTS]; /* weights of the deltas from coefficients */
} plan;

/* Coefficients of deltas along N directions: a row each. */
static gls_status deltas(const plan *p, const double (*direction)[3], double *rows)
{
    gls_status status = gls_sh_matrix(GLS_SH_TOURNIER07, p->order, direction, N, rows);
    for (size_t i = 0; i < N * p->n && !status; i++) rows[i] *= apodised[p->order / 2 - 1][gls_sh_degree(i % p->n) / 2];
    return status;
}

/* Makes even directions on the half sphere, and the weights: with B the rows of deltas, B (B^T B)^-1. */
static gls_status make_plan(plan *p)
{
    double *rows = malloc(N * MAX_COEFFICIENTS * sizeof *rows),
           *columns = malloc(N * MAX_COEFFICIENTS * sizeof *columns), square[MAX_COEFFICIENTS * MAX_COEFFICIENTS] = {0};
    gls_status status = rows && columns ? GLS_OK : gls_no_memory();
    for (int i = 0; i < N; i++) {
        const double z = (i + 0.5) / N, r = sqrt(1 - z * z), angle = i * acos(-1) * (3 - sqrt(5));
        p->direction[i][0] = r * cos(angle);
        p->direction[i][1] = r * sin(angle);
        p->direction[i][2] = z;
    }
    if (!status) status = deltas(p, (const double(*)[3])p->direction, rows);
    for (size_t i = 0; i < N && !status; i++)
        for (size_t a = 0; a < p->n; a++) {
            columns[a * N + i] = rows[i * p->n + a];
            for (size_t b = 0; b < p->n; b++) square[a * p->n + b] += rows[i * p->n + a] * rows[i * p->n + b];
        }
    if (!status &&
        gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'U', (lapack_int)p->n, N, square, (lapack_int)p->n, columns, N))
        status = gls_fail(GLS_ERR_INPUT, "the directions do not fit the order %d", p->order);
    for (size_t i = 0; i < N && !status; i++)
        for (size_t a = 0; a < p->n; a++) p->weights[i][a] = columns[a * N + i];
    free(rows);
    free(columns);
    return status;
}

/* The data that one thread keeps from voxel to voxel: the turned deltas, which an affine transform has everywhere. */
typedef struct turned {
    double derivative[3][4];
    bool known;
    double scale[N];
    double rows[N * MAX_COEFFICIENTS];
} turned;

/* Turns the deltas by the inverse of a derivative. */
static void turn(const plan *p, const double derivative[3][4], gls_modulation modulation, turned *t)
{
    double back[3][4], direction[N][3];
    const double det = gls_affine_det(derivative);
    gls_affine_invert(derivative, back);
    for (int i = 0; i < N; i++) {
        double length = 0;
        for (int r = 0; r < 3; r++) {
            direction[i][r] = 0;
            for (int c = 0; c < 3; c++) direction[i][r] += back[r][c] * p->direction[i][c];
            length += direction[i][r] * direction[i][r];
        }
        length = sqrt(length);
        for (int r = 0; r < 3; r++) direction[i][r] /= length;
        t->scale[i] = modulation == GLS_MODULATE_NONE ? 1 : modulation == GLS_MODULATE_FOD ? length * det : det;
    }
    memcpy(t->derivative, derivative, sizeof t->derivative);
    t->known = deltas(p, (const double(*)[3])direction, t->rows) == GLS_OK;
}

/* Turns the FOD of one voxel, whose coefficients are `stride` values apart. */
static void turn_voxel(const plan *p, const turned *t, float *fod, size_t stride)
{
    double old[MAX_COEFFICIENTS], made[MAX_COEFFICIENTS] = {0};
    for (size_t a = 0; a < p->n; a++) old[a] = (double)fod[a * stride];
    for (size_t i = 0; i < N; i++) {
        double weight = 0;
        for (size_t a = 0; a < p->n; a++) weight += p->weights[i][a] * old[a];
        weight *= t->scale[i];
        for (size_t a = 0; a < p->n; a++) made[a] += weight * t->rows[i * p->n + a];
    }
    for (size_t a = 0; a < p->n; a++) fod[a * stride] = (float)made[a];
}

/* Turns all voxels. Returns false if memory runs out. */
static bool turn_all(const plan *p, gls_image *fod, const gls_transform *transform, gls_modulation modulation)
{
    const gls_grid *grid = &fod->grid;
    const size_t n = gls_grid_voxels(grid);
    const double step = 0.5 * fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    bool failed = false;
#pragma omp parallel
    {
        turned *t = calloc(1, sizeof *t);
        if (!t) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (size_t v = 0; v < n; v++) {
            double at[3] = {(double)(v % (size_t)grid->dim[0]),
                            (double)(v / (size_t)grid->dim[0] % (size_t)grid->dim[1]),
                            (double)(v / (size_t)grid->dim[0] / (size_t)grid->dim[1])};
            double derivative[3][4], change = 0;
            gls_affine_apply(grid->affine, at, at);
            if (!t || !(fod->data[v] > 0) || !gls_transform_derivative(transform, at, step, derivative)) continue;
            for (int i = 0; i < 12; i++)
                change = fmax(change, fabs(derivative[i / 4][i % 4] - t->derivative[i / 4][i % 4]));
            if (!t->known || change > 1e-9) turn(p, (const double(*)[4])derivative, modulation, t);
            if (t->known) turn_voxel(p, t, fod->data + v, n);
        }
        free(t);
    }
    return !failed;
}

gls_status gls_fod_turn(gls_image *fod, const char *name, const gls_transform *transform, gls_modulation modulation)
{
    const int order = gls_sh_order(fod->n_volumes);
    if (order < 2 || order > MAX_ORDER)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %zu volume%s; FODs that are turned have 6, 15, 28 or 45, of order 2 to 8", name,
                        GLS_VOLUMES(fod->n_volumes));
    plan *p = calloc(1, sizeof *p);
    if (!p) return gls_no_memory();
    p->order = order;
    p->n = fod->n_volumes;
    gls_status status = make_plan(p);
    if (!status && !turn_all(p, fod, transform, modulation)) status = gls_no_memory();
    free(p);
    return status;
}
