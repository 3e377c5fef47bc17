/* Registration of streamlines. Distances are computed in float32 first; those that may be the least are computed in
 * double, so that the result depends neither on the processor nor on the number of threads. From one evaluation to the
 * next, no distance of a pair shrinks by more than the moving streamline has moved, so that few are computed again. The
 * gradient is that of the pairs that are nearest. */
#include <glslines/slr.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/features.h"
#include "util/allocation.h"
#include "util/minimise.h"
#include "util/status.h"
#include "util/threads.h"

#define DEGREE (3.14159265358979323846 / 180)

/* Largest number of parameters; streamlines that are tested at once. */
enum { MAX = GLS_SLR_MAX, GROUP = 16 };

/* Bounds, mm, degrees, factors; how far parameters change by about equal effect. */
#define BY_KIND(mm, degrees, scale, shear)                                              \
    {                                                                                   \
        mm, mm, mm, degrees, degrees, degrees, scale, scale, scale, shear, shear, shear \
    }
static const double units[MAX] = BY_KIND(1, 1, 0.02, 0.02);

/* The nearest streamline of the other set. */
typedef struct nearest {
    size_t other;
    bool reversed;
    double distance;
} nearest;

/* State of a registration. */
typedef struct registration {
    size_t points, pad, n_fixed, n_moving;
    size_t n;            /* number of parameters */
    bool symmetric;      /* also the distances of moving streamlines from the nearest fixed ones count */
    double (*fixed)[3];  /* points of the fixed streamlines, centred */
    double (*moving)[3]; /* the same of the moving ones */
    double (*moved)[3];  /* the moving ones after the transform */
    double centre[2][3]; /* means of fixed and moving streamlines */
    float *there, *back; /* fixed streamlines in expanded form, and reversed */
    float *now;          /* moved streamlines in expanded form */
    float *least; /* n_fixed x n_moving distances; of a pair farther than the nearest ones of both a lower bound */
    float slack;  /* how far these are from the true ones */
    bool known;   /* of_fixed, of_moving and least hold those of the evaluation before */
    float (*middle[2])[3]; /* means of the points of fixed and of moved streamlines */
    float *step;           /* how far each moving streamline has moved since then at most, mm */
    float *far_moving;     /* the nearest fixed streamline of each moved one is no farther, mm */
    nearest *of_fixed, *of_moving;
    double m[3][3], shift[3], change[MAX][3][3];
    int n_threads;
} registration;

gls_slr_options gls_slr_options_default(void)
{
    return (gls_slr_options){.size = sizeof(gls_slr_options),
                             .type = GLS_SLR_SIMILARITY,
                             .progressive = true,
                             .centred = true,
                             .low = BY_KIND(-35, -45, 0.6, -10),
                             .high = BY_KIND(35, 45, 1.4, 10),
                             .max_iterations = 100,
                             .value_tolerance = 1e-7,
                             .gradient_tolerance = 1e-5};
}

/* --- Parameters. */

/* c = a b */
static void multiply(double a[3][3], double b[3][3], double c[3][3])
{
    double out[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    memcpy(c, out, sizeof out);
}

/* Product of rotations around z, y, x, of shears, and of scales. */
static void compose(double part[5][3][3], double m[3][3])
{
    multiply(part[0], part[1], m);
    for (int k = 2; k < 5; k++) multiply(m, part[k], m);
}

/* Rotation by an angle around an axis, and its derivative for a degree. */
static void rotate(double degrees, int axis, double r[3][3], double d[3][3])
{
    const double c = cos(degrees * DEGREE), w = sin(degrees * DEGREE), by = DEGREE;
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    memset(r, 0, 9 * sizeof(double));
    memset(d, 0, 9 * sizeof(double));
    r[axis][axis] = 1;
    r[i][i] = r[j][j] = c;
    r[j][i] = w;
    r[i][j] = -w;
    d[i][i] = d[j][j] = -w * by;
    d[j][i] = c * by;
    d[i][j] = -c * by;
}

/* Computes the linear part of the transform and, unless change is NULL, its derivatives by the parameters after the
 * translations. */
static void find_matrix(const double *t, size_t n, double m[3][3], double change[MAX][3][3])
{
    /* where the parameters of shears lie */
    static const int row[3] = {0, 0, 1}, column[3] = {1, 2, 2};
    double part[5][3][3] = {{{0}}}, turn[3][3][3], kept[3][3];
    for (int k = 0; k < 3; k++) {
        rotate(n > 3 ? t[3 + k] : 0, k, part[2 - k], turn[k]);
        part[3][k][k] = 1;
        part[4][k][k] = n == 7 ? t[6] : n > 7 ? t[6 + k] : 1;
    }
    for (int k = 0; k < 3 && n == 12; k++) part[3][row[k]][column[k]] = t[9 + k];
    compose(part, m);
    for (size_t p = 3; p < n && change; p++) {
        const size_t k = (p - 3) % 3, which = p < 6 ? 2 - k : p < 9 ? 4 : 3;
        memcpy(kept, part[which], sizeof kept);
        memset(part[which], 0, sizeof kept);
        if (p < 6)
            memcpy(part[which], turn[k], sizeof kept);
        else if (p < 9)
            for (size_t i = 0; i < 3; i++) part[4][i][i] = n == 7 || i == k;
        else
            part[3][row[k]][column[k]] = 1;
        compose(part, change[p]);
        memcpy(part[which], kept, sizeof kept);
    }
}

void gls_slr_matrix(const double *parameter, size_t n, double matrix[4][4])
{
    double m[3][3];
    find_matrix(parameter, n, m, NULL);
    memset(matrix, 0, 16 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        memcpy(matrix[i], m[i], sizeof m[i]);
        matrix[i][3] = parameter[i];
    }
    matrix[3][3] = 1;
}

/* --- Distances. */

/* Distance of a moved streamline from a fixed one, and from its reverse. */
static double measure(const registration *r, size_t fixed, size_t moving, bool *reversed)
{
    const double(*a)[3] = (const double(*)[3])r->fixed + fixed * r->points,
          (*b)[3] = (const double(*)[3])r->moved + moving * r->points;
    double direct = 0, turned = 0;
    for (size_t p = 0; p < r->points; p++) {
        const double *x = a[p], *y = a[r->points - 1 - p], *z = b[p];
        direct += sqrt((x[0] - z[0]) * (x[0] - z[0]) + (x[1] - z[1]) * (x[1] - z[1]) + (x[2] - z[2]) * (x[2] - z[2]));
        turned += sqrt((y[0] - z[0]) * (y[0] - z[0]) + (y[1] - z[1]) * (y[1] - z[1]) + (y[2] - z[2]) * (y[2] - z[2]));
    }
    *reversed = turned < direct;
    return (*reversed ? turned : direct) / (double)r->points;
}

/* Mean of points. */
static void find_middle(const double (*point)[3], size_t points, float middle[3])
{
    double sum[3] = {0};
    for (size_t p = 0; p < points; p++)
        for (int k = 0; k < 3; k++) sum[k] += point[p][k];
    for (int k = 0; k < 3; k++) middle[k] = (float)(sum[k] / (double)points);
}

/* Moves some streamlines. The partners of the evaluation before bound the distances of the present ones. */
static void move_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    bool reversed;
    (void)thread;
    for (size_t j = from; j < until; j++) {
        float *now = r->now + j * 3 * r->pad;
        double moved = 0;
        for (size_t p = 0; p < r->points; p++) {
            const double *x = r->moving[j * r->points + p];
            double square = 0, *to = r->moved[j * r->points + p];
            for (size_t k = 0; k < 3; k++) {
                const double at = r->m[k][0] * x[0] + r->m[k][1] * x[1] + r->m[k][2] * x[2] + r->shift[k];
                square += (at - to[k]) * (at - to[k]);
                to[k] = at;
                now[k * r->pad + p] = (float)at;
            }
            moved += sqrt(square);
        }
        find_middle((const double(*)[3])r->moved + j * r->points, r->points, r->middle[1][j]);
        /* more than it is, because differences of distances are rounded */
        r->step[j] = (float)(moved / (double)r->points) * 1.00001f + 0.01f * r->slack;
        if (r->known && r->symmetric)
            r->far_moving[j] = (float)measure(r, r->of_moving[j].other, j, &reversed) + 4 * r->slack;
    }
}

/* Computes the distances of fixed streamline i from the moved ones from .. until - 1, at most GROUP of them, that may
 * be the nearest of it or have it as the nearest. far: its nearest one is no farther. Returns the least distance. */
static float compare_group(registration *r, size_t i, float far, size_t from, size_t until)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float *middle = r->middle[0][i], *far_moving = r->far_moving, *step = r->step;
    float *row = r->least + i * r->n_moving, least = INFINITY;
    int any = 0;
#pragma omp simd reduction(| : any)
    for (size_t j = from; j < until; j++) {
        row[j] -= step[j];
        any |= row[j] <= (far > far_moving[j] ? far : far_moving[j]);
    }
    for (size_t j = from; j < until && any; j++) {
        const float most = far > far_moving[j] ? far : far_moving[j];
        float d, e;
        if (row[j] > most) continue;
        /* the distance of the means of points is at most that of the streamlines */
        const float *other = r->middle[1][j], x = other[0] - middle[0], y = other[1] - middle[1],
                    z = other[2] - middle[2], gap = sqrtf(x * x + y * y + z * z) - r->slack;
        if (gap > most) {
            row[j] = gap;
            continue;
        }
        kernel->both(r->now + j * 3 * r->pad, r->there + i * 3 * r->pad, r->back + i * 3 * r->pad, r->points, r->pad,
                     &d, &e);
        row[j] = d < e ? d : e;
        least = row[j] < least ? row[j] : least;
    }
    return least;
}

/* Whether any of n numbers is at most a limit. */
static bool any_within(const float *row, size_t n, float limit)
{
    int any = 0;
#pragma omp simd reduction(| : any)
    for (size_t j = 0; j < n; j++) any |= row[j] <= limit;
    return any;
}

/* Finds the nearest moved streamline of some fixed ones. */
static void compare_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        const float *row = r->least + i * r->n_moving;
        float least = INFINITY, far = INFINITY;
        bool reversed;
        if (r->known) far = (float)measure(r, i, r->of_fixed[i].other, &reversed) + 4 * r->slack;
        for (size_t j = 0; j < r->n_moving; j += GROUP)
            least = fminf(least, compare_group(r, i, far, j, j + GROUP < r->n_moving ? j + GROUP : r->n_moving));
        const float limit = least + 2 * r->slack;
        r->of_fixed[i].distance = INFINITY;
        for (size_t first = 0; first < r->n_moving; first += GROUP) {
            const size_t end = first + GROUP < r->n_moving ? first + GROUP : r->n_moving;
            if (!any_within(row + first, end - first, limit)) continue;
            for (size_t j = first; j < end; j++) {
                if (row[j] > limit) continue;
                const double d = measure(r, i, j, &reversed);
                if (d < r->of_fixed[i].distance) r->of_fixed[i] = (nearest){j, reversed, d};
            }
        }
    }
}

/* Finds the nearest fixed streamline of n moved ones, at most GROUP. */
static void choose_group(registration *r, size_t first, size_t n)
{
    float limit[GROUP];
    bool reversed;
    for (size_t j = 0; j < n; j++) {
        limit[j] = INFINITY;
        r->of_moving[first + j].distance = INFINITY;
    }
    for (size_t i = 0; i < r->n_fixed; i++) {
        const float *row = r->least + i * r->n_moving + first;
        for (size_t j = 0; j < n; j++) limit[j] = row[j] < limit[j] ? row[j] : limit[j];
    }
    for (size_t j = 0; j < n; j++) limit[j] += 2 * r->slack;
    for (size_t i = 0; i < r->n_fixed; i++) {
        const float *row = r->least + i * r->n_moving + first;
        int any = 0;
#pragma omp simd reduction(| : any)
        for (size_t j = 0; j < n; j++) any |= row[j] <= limit[j];
        for (size_t j = 0; j < n && any; j++) {
            if (row[j] > limit[j]) continue;
            const double d = measure(r, i, first + j, &reversed);
            if (d < r->of_moving[first + j].distance) r->of_moving[first + j] = (nearest){i, reversed, d};
        }
    }
}

/* Finds the nearest fixed streamline of some moved ones. */
static void choose_some(void *user, int thread, size_t from, size_t until)
{
    (void)thread;
    for (size_t j = from; j < until; j += GROUP) choose_group(user, j, j + GROUP < until ? GROUP : until - j);
}

/* Adds the derivatives of the distance of a pair by translation and by the elements of the matrix. */
static void differentiate(const registration *r, size_t fixed, size_t moving, bool reversed, double weight,
                          double by_shift[3], double by_m[3][3])
{
    for (size_t p = 0; p < r->points; p++) {
        const double *a = r->fixed[fixed * r->points + (reversed ? r->points - 1 - p : p)],
                     *b = r->moved[moving * r->points + p], *x = r->moving[moving * r->points + p];
        const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                     length = fmax(sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]), 1e-12);
        for (int i = 0; i < 3; i++) {
            const double part = weight * e[i] / length / (double)r->points;
            by_shift[i] += part;
            for (int j = 0; j < 3; j++) by_m[i][j] += part * x[j];
        }
    }
}

/* The metric and its gradient. */
static double value(void *user, const double *t, double *gradient)
{
    registration *r = user;
    double by_shift[3] = {0}, by_m[3][3] = {{0}}, fixed = 0, moving = 0;
    const double to_fixed = 1 / (double)r->n_fixed, to_moving = 1 / (double)r->n_moving;
    find_matrix(t, r->n, r->m, r->change);
    memcpy(r->shift, t, sizeof r->shift);
    gls_parallel(r->n_moving, 64, r->n_threads, move_some, r);
    gls_parallel(r->n_fixed, 16, r->n_threads, compare_some, r);
    if (r->symmetric) gls_parallel(r->n_moving, GROUP, r->n_threads, choose_some, r);
    r->known = true;
    for (size_t i = 0; i < r->n_fixed; i++) {
        const nearest *o = &r->of_fixed[i];
        fixed += o->distance;
        differentiate(r, i, o->other, o->reversed, to_fixed, by_shift, by_m);
    }
    for (size_t j = 0; j < r->n_moving && r->symmetric; j++) {
        const nearest *o = &r->of_moving[j];
        moving += o->distance;
        differentiate(r, o->other, j, o->reversed, to_moving, by_shift, by_m);
    }
    const double sum = fixed * to_fixed + moving * to_moving;
    for (size_t k = 0; k < r->n; k++) {
        double g = k < 3 ? by_shift[k] : 0;
        for (int i = 0; i < 3 && k >= 3; i++)
            for (int j = 0; j < 3; j++) g += by_m[i][j] * r->change[k][i][j];
        gradient[k] = r->symmetric ? 0.5 * sum * g : g;
    }
    return r->symmetric ? 0.25 * sum * sum : sum;
}

/* --- Preparation. */

/* Copies points, centres them, and widens *extent to the largest coordinate. */
static void centre(const float (*point)[3], size_t n, bool centred, double mean[3], double (*out)[3], double *extent)
{
    memset(mean, 0, 3 * sizeof *mean);
    for (size_t p = 0; p < n && centred; p++)
        for (int k = 0; k < 3; k++) mean[k] += (double)point[p][k];
    for (int k = 0; k < 3; k++) mean[k] /= (double)n;
    for (size_t p = 0; p < n; p++)
        for (int k = 0; k < 3; k++) {
            out[p][k] = (double)point[p][k] - mean[k];
            *extent = fmax(*extent, fabs(out[p][k]));
        }
}

/* Allocates memory, and copies the streamlines. */
static gls_status prepare(registration *r, const gls_slr_options *o, const float (*fixed)[3], const float (*moving)[3])
{
    const size_t n_fixed = r->n_fixed * r->points, n_moving = r->n_moving * r->points;
    double extent = 0;
    r->pad = gls_point_pad(r->points);
    const size_t one = 3 * r->pad;
    r->fixed = malloc(n_fixed * sizeof *r->fixed);
    r->moving = malloc(n_moving * sizeof *r->moving);
    r->moved = calloc(n_moving, sizeof *r->moved);
    r->there = calloc(r->n_fixed * one, sizeof *r->there);
    r->back = calloc(r->n_fixed * one, sizeof *r->back);
    r->now = calloc(r->n_moving * one, sizeof *r->now);
    r->least = calloc(r->n_fixed, r->n_moving * sizeof *r->least);
    r->of_fixed = calloc(r->n_fixed, sizeof *r->of_fixed);
    r->of_moving = calloc(r->n_moving, sizeof *r->of_moving);
    r->middle[0] = malloc(r->n_fixed * sizeof *r->middle[0]);
    r->middle[1] = malloc(r->n_moving * sizeof *r->middle[1]);
    r->step = malloc(r->n_moving * sizeof *r->step);
    r->far_moving = malloc(r->n_moving * sizeof *r->far_moving);
    if (!r->fixed || !r->moving || !r->moved || !r->there || !r->back || !r->now || !r->least || !r->of_fixed ||
        !r->of_moving || !r->middle[0] || !r->middle[1] || !r->step || !r->far_moving)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the distances of %zu and %zu streamlines", r->n_fixed,
                        r->n_moving);
    centre(fixed, n_fixed, o->centred, r->centre[0], r->fixed, &extent);
    centre(moving, n_moving, o->centred, r->centre[1], r->moving, &extent);
    for (size_t i = 0; i < r->n_fixed; i++)
        for (size_t p = 0; p < r->points; p++)
            for (size_t k = 0; k < 3; k++) {
                const float at = (float)r->fixed[i * r->points + p][k];
                r->there[i * one + k * r->pad + p] = at;
                r->back[i * one + k * r->pad + r->points - 1 - p] = at;
            }
    for (size_t i = 0; i < r->n_fixed; i++)
        find_middle((const double(*)[3])r->fixed + i * r->points, r->points, r->middle[0][i]);
    for (size_t j = 0; j < r->n_moving; j++) r->far_moving[j] = r->symmetric ? INFINITY : 0;
    /* moved streamlines may be larger, and lie farther away */
    r->slack = gls_distance_slack((float)(2 * extent + fabs(o->high[0]) + fabs(o->low[0])));
    r->n_threads = omp_get_max_threads();
    return GLS_OK;
}

static void release(registration *r)
{
    free(r->fixed);
    free(r->moving);
    free(r->moved);
    free(r->there);
    free(r->back);
    free(r->now);
    free(r->least);
    free(r->of_fixed);
    free(r->of_moving);
    free(r->middle[0]);
    free(r->middle[1]);
    free(r->step);
    free(r->far_moving);
}

/* Checks what options may be. */
static gls_status check(const gls_slr_options *o)
{
    const size_t n = (size_t)o->type;
    if (n != 3 && n != 6 && n != 7 && n != 9 && n != 12)
        return gls_fail(GLS_ERR_ARGUMENT, "registration: there is no type of %d parameters: 3, 6, 7, 9 or 12",
                        (int)o->type);
    for (size_t k = 0; k < n; k++)
        if (!(o->low[k] <= o->high[k]))
            return gls_fail(GLS_ERR_ARGUMENT, "registration: the bounds of parameter %zu, %g and %g, leave nothing", k,
                            o->low[k], o->high[k]);
    if (o->metric != GLS_SLR_SYMMETRIC && o->metric != GLS_SLR_ASYMMETRIC)
        return gls_fail(GLS_ERR_ARGUMENT, "registration: there is no metric %d", (int)o->metric);
    if (o->progressive && o->start)
        return gls_fail(GLS_ERR_ARGUMENT, "registration: a progressive one has no first parameters");
    return GLS_OK;
}

/* Sets the parameters with which a type begins, from those of a type that has fewer; n 0: of none. */
static void begin(double *t, size_t n, size_t next)
{
    if (n < 7)
        for (size_t k = n; k < next; k++) t[k] = k >= 6 && k < 9;
    if (n == 7)
        for (size_t k = 7; k < next; k++) t[k] = k < 9 ? t[6] : 0;
    if (n == 9)
        for (size_t k = 9; k < next; k++) t[k] = 0;
}

/* The metric of the streamlines as they lie. */
static double measure_before(registration *r)
{
    double t[MAX], g[MAX];
    begin(t, 0, r->n);
    for (int k = 0; k < 3; k++) t[k] = r->centre[1][k] - r->centre[0][k];
    return value(r, t, g);
}

gls_status gls_slr_find(const gls_slr_options *o, const float (*fixed)[3], size_t n_fixed, const float (*moving)[3],
                        size_t n_moving, size_t points, gls_slr_result *result)
{
    static const size_t types[] = {3, 6, 7, 9, 12};
    GLS_REQUIRE(o && fixed && moving && result && points >= 2 && points <= GLS_MAX_POINTS);
    GLS_REQUIRE_SIZE(o);
    if (n_fixed == 0 || n_moving == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "registration: there are no %s streamlines",
                        n_fixed == 0 ? "fixed" : "moving");
    registration r = {
        .points = points, .n_fixed = n_fixed, .n_moving = n_moving, .symmetric = o->metric == GLS_SLR_SYMMETRIC};
    gls_status status = check(o);
    if (!status) status = prepare(&r, o, fixed, moving);
    memset(result, 0, sizeof *result);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) result->stage[k] = NAN;
    double *t = result->parameter;
    size_t before = 0;
    for (size_t k = 0; k < sizeof types / sizeof *types && !status; k++) {
        const size_t n = types[k];
        if (n > (size_t)o->type || (!o->progressive && n < (size_t)o->type)) continue;
        begin(t, before, n);
        if (o->start) memcpy(t, o->start, n * sizeof *t);
        r.n = n;
        const gls_minimise_problem problem = {
            n, o->low, o->high, units, value, &r, o->value_tolerance, o->gradient_tolerance, o->max_iterations, 3};
        if (before == 0) result->before = measure_before(&r);
        const gls_minimise_result found = gls_minimise(&problem, t);
        result->after = result->stage[k] = found.value;
        result->iterations += found.iterations;
        result->evaluations += found.evaluations;
        before = n;
    }
    for (size_t k = 0; k < before; k++)
        if (t[k] <= o->low[k] || t[k] >= o->high[k]) result->at_bound |= 1u << k;
    if (!status) {
        gls_slr_matrix(t, before, result->matrix);
        for (int i = 0; i < 3; i++) {
            result->matrix[i][3] += r.centre[0][i];
            for (int j = 0; j < 3; j++) result->matrix[i][3] -= result->matrix[i][j] * r.centre[1][j];
        }
    }
    release(&r);
    return status;
}
