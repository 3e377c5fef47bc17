/* Chains of transforms: moving points along them in both directions. */
#include "transform/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "util/maths.h"
#include "util/status.h"

/* The inverse of a field is iterated until the point goes to its aim within TOLERANCE, mm, at most MAX_ROUNDS times. */
#define TOLERANCE 1e-5
#define MAX_ROUNDS 200

gls_status gls_transform_append(gls_transform *t, const gls_transform_step *step)
{
    gls_transform_step *grown = realloc(t->step, (t->n + 1) * sizeof *grown);
    if (!grown) {
        gls_image_destroy(step->field);
        return gls_no_memory();
    }
    t->step = grown;
    t->step[t->n++] = *step;
    return GLS_OK;
}

void gls_transform_finish(gls_transform *transform)
{
    for (size_t i = 0; i < transform->n; i++) gls_image_destroy(transform->step[i].field);
    free(transform->step);
    *transform = (gls_transform){.n = 0};
}

bool gls_transform_displace(const gls_transform_step *s, const double p[3], double d[3], bool *inside)
{
    const int32_t *dim = s->field->grid.dim;
    const size_t n = gls_grid_voxels(&s->field->grid);
    double v[3], share[3];
    size_t at[3];
    *inside = true;
    gls_affine_apply((const double(*)[4])s->to_voxel, p, v);
    for (int a = 0; a < 3; a++) {
        if (!isfinite(v[a])) return false;
        *inside &= v[a] >= -0.5 && v[a] <= dim[a] - 0.5;
        const double in = fmin(fmax(v[a], 0), dim[a] - 1), low = fmin(floor(in), fmax(dim[a] - 2, 0));
        at[a] = (size_t)low;
        share[a] = in - low;
    }
    d[0] = d[1] = d[2] = 0;
    for (int c = 0; c < 8; c++) {
        double weight = 1;
        size_t voxel = 0;
        for (int a = 2; a >= 0; a--) {
            const int up = c >> a & 1;
            weight *= up ? share[a] : 1 - share[a];
            voxel = voxel * (size_t)dim[a] + at[a] + (size_t)(up && share[a] > 0);
        }
        for (int r = 0; r < 3 && weight > 0; r++) d[r] += weight * (double)s->field->data[(size_t)r * n + voxel];
    }
    return isfinite(d[0] + d[1] + d[2]);
}

/* Moves a point by a field. Returns `outside` where the field has no value. */
static bool move(const gls_transform_step *s, double p[3], bool outside)
{
    double d[3];
    bool inside;
    if (!gls_transform_displace(s, p, d, &inside) || !inside) return outside;
    for (int r = 0; r < 3; r++) p[r] += d[r];
    return true;
}

/* Finds the point that a field moves to p: x = p - d(x), which converges where the field does not fold. */
static bool move_back(const gls_transform_step *s, double p[3], bool outside)
{
    double x[3] = {p[0], p[1], p[2]}, d[3];
    bool inside;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double square = 0;
        if (!gls_transform_displace(s, x, d, &inside)) return outside;
        for (int r = 0; r < 3; r++) {
            const double next = p[r] - d[r];
            square += (next - x[r]) * (next - x[r]);
            x[r] = next;
        }
        if (square > TOLERANCE * TOLERANCE) continue;
        if (!gls_transform_displace(s, x, d, &inside) || !inside) return outside;
        memcpy(p, x, sizeof x);
        return true;
    }
    return false;
}

bool gls_transform_apply(const gls_transform *t, const double from[3], double to[3])
{
    double p[3] = {from[0], from[1], from[2]};
    for (size_t i = 0; i < t->n; i++) {
        const gls_transform_step *s = &t->step[i];
        if (!s->field)
            gls_affine_apply((const double(*)[4])s->map, p, p);
        else if (!(s->inverted ? move_back(s, p, t->identity_outside) : move(s, p, t->identity_outside)))
            return false;
    }
    memcpy(to, p, sizeof p);
    return true;
}

bool gls_transform_invert(const gls_transform *t, const double from[3], double to[3])
{
    double p[3] = {from[0], from[1], from[2]};
    for (size_t i = t->n; i-- > 0;) {
        const gls_transform_step *s = &t->step[i];
        if (!s->field)
            gls_affine_apply((const double(*)[4])s->back, p, p);
        else if (!(s->inverted ? move(s, p, t->identity_outside) : move_back(s, p, t->identity_outside)))
            return false;
    }
    memcpy(to, p, sizeof p);
    return true;
}

bool gls_transform_derivative(const gls_transform *t, const double at[3], double step, double derivative[3][4])
{
    for (int c = 0; c < 3; c++) {
        double before[3] = {at[0], at[1], at[2]}, behind[3] = {at[0], at[1], at[2]};
        before[c] -= step;
        behind[c] += step;
        if (!gls_transform_apply(t, before, before) || !gls_transform_apply(t, behind, behind)) return false;
        for (int r = 0; r < 3; r++) derivative[r][c] = (behind[r] - before[r]) / (2 * step);
    }
    for (int r = 0; r < 3; r++) derivative[r][3] = 0;
    return gls_affine_det((const double(*)[4])derivative) != 0;
}

uint64_t gls_transform_sample(const gls_transform *t, bool positions, gls_image *field)
{
    const gls_grid *grid = &field->grid;
    const size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    uint64_t outside = 0;
#pragma omp parallel for schedule(static) reduction(+ : outside)
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
        double p[3], to[3];
        gls_affine_apply(grid->affine, at, p);
        const bool known = gls_transform_apply(t, p, to);
        outside += !known;
        for (size_t r = 0; r < 3; r++)
            field->data[r * n + v] = known ? (float)(to[r] - (positions ? 0 : p[r])) : positions ? NAN : 0;
    }
    return outside;
}
