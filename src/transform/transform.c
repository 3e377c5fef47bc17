/* Chains of transforms: reading them from texts, and moving points along them in both directions. */
#include "transform/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* The inverse of a field is iterated until the point goes to its aim within TOLERANCE, mm, at most MAX_ROUNDS times. */
#define TOLERANCE 1e-5
#define MAX_ROUNDS 200

/* --- Texts. */

static void finish_source(gls_transform_source *s)
{
    free(s->path);
    free(s->moving);
    free(s->fixed);
    *s = (gls_transform_source){.path = NULL};
}

/* Takes one part of a text behind the name of the file. */
static gls_status take_part(gls_transform_source *s, const char *text, const char *part)
{
    if (strcmp(part, "inverse") == 0) {
        s->inverse = !s->inverse;
    } else if (strncmp(part, "from=", 5) == 0 && strlen(part) < sizeof s->format + 5) {
        strcpy(s->format, part + 5);
    } else if (strncmp(part, "moving=", 7) == 0 && !s->moving) {
        s->moving = strdup(part + 7);
        if (!s->moving) return gls_no_memory();
    } else if (strncmp(part, "fixed=", 6) == 0 && !s->fixed) {
        s->fixed = strdup(part + 6);
        if (!s->fixed) return gls_no_memory();
    } else {
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "%s: '%s' is not known: behind the name of a transform may stand ,inverse and ,from=FORMAT (%s) "
            "and ,moving=IMAGE and ,fixed=IMAGE",
            text, part, GLS_TRANSFORM_FORMATS);
    }
    return GLS_OK;
}

/* Parses FILE[,inverse][,from=FORMAT][,moving=IMAGE][,fixed=IMAGE]. */
static gls_status parse(const char *text, gls_transform_source *s)
{
    *s = (gls_transform_source){.path = NULL};
    char *copy = strdup(text), *rest = copy;
    const char *name = copy ? gls_names_next(&rest, ',') : NULL;
    gls_status status = name ? GLS_OK : gls_no_memory();
    if (!status && !*name) status = gls_fail(GLS_ERR_ARGUMENT, "transform '%s': names no file", text);
    if (!status && !(s->path = strdup(name))) status = gls_no_memory();
    for (const char *part; !status && (part = gls_names_next(&rest, ','));) status = take_part(s, text, part);
    free(copy);
    return status;
}

size_t gls_transform_files(const char *text, char *paths[3])
{
    gls_transform_source s;
    size_t n = 0;
    if (parse(text, &s) != GLS_OK) {
        finish_source(&s);
        return 0;
    }
    char *const all[] = {s.path, s.moving, s.fixed};
    for (int i = 0; i < 3; i++)
        if (all[i]) paths[n++] = all[i];
    return n;
}

/* Reads one step. */
static gls_status read_step(const char *text, gls_transform_step *step)
{
    gls_transform_source s;
    *step = (gls_transform_step){.field = NULL};
    gls_status status = parse(text, &s);
    const char *suffix = status ? "" : s.path + gls_image_stem(s.path);
    const bool is_image = *suffix && gls_case_compare(suffix, ".gz") != 0;
    if (!status) status = is_image ? gls_transform_read_field(&s, step) : gls_transform_read_affine(&s, step);
    if (!status && step->field) {
        gls_grid_inverse(&step->field->grid, step->to_voxel);
        step->inverted = s.inverse;
    } else if (!status) {
        double map[3][4];
        const double det = gls_affine_det((const double(*)[4])step->map);
        if (!gls_affine_is_usable((const double(*)[4])step->map))
            status = gls_fail(GLS_ERR_INPUT, "%s: its matrix has no inverse, or has numbers beyond 1e+15", s.path);
        else if (det < 0)
            gls_log(GLS_LOG_WARNING, "%s: its matrix mirrors: its determinant is %g", s.path, det);
        memcpy(map, step->map, sizeof map);
        if (!status) gls_affine_invert((const double(*)[4])map, step->back);
        if (!status && s.inverse) {
            memcpy(step->map, step->back, sizeof map);
            memcpy(step->back, map, sizeof map);
        }
    }
    finish_source(&s);
    return status;
}

gls_status gls_transform_read(const char *const *text, size_t n, gls_transform *transform)
{
    *transform = (gls_transform){.step = calloc(n + 1, sizeof *transform->step)};
    gls_status status = transform->step ? GLS_OK : gls_no_memory();
    for (; transform->n < n && !status; transform->n++)
        status = read_step(text[transform->n], &transform->step[transform->n]);
    if (status) gls_transform_finish(transform);
    return status;
}

void gls_transform_finish(gls_transform *transform)
{
    for (size_t i = 0; i < transform->n; i++) gls_image_destroy(transform->step[i].field);
    free(transform->step);
    *transform = (gls_transform){.n = 0};
}

/* --- Points. */

/* Interpolates the displacement at a point. Beyond the outermost centres it is that at the border; *inside: whether the
 * point is at most half a voxel beyond. Returns false where the displacement is not finite. */
static bool displace(const gls_transform_step *s, const double p[3], double d[3], bool *inside)
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
    if (!displace(s, p, d, &inside) || !inside) return outside;
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
        if (!displace(s, x, d, &inside)) return outside;
        for (int r = 0; r < 3; r++) {
            const double next = p[r] - d[r];
            square += (next - x[r]) * (next - x[r]);
            x[r] = next;
        }
        if (square > TOLERANCE * TOLERANCE) continue;
        if (!displace(s, x, d, &inside) || !inside) return outside;
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
