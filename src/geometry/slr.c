/* Registration of streamlines. Distances are computed in float32 first; those that may be the least are computed in
 * double, so that the result depends neither on the processor nor on the number of threads. No distance of a pair
 * shrinks by more than the moving streamline has moved since it was computed, so that few are computed again. The
 * gradient is that of the pairs that are nearest. */
#include <glslines/slr.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/kernels.h"
#include "util/allocation.h"
#include "util/minimise.h"
#include "util/status.h"
#include "util/threads.h"

#define DEGREE (3.14159265358979323846 / 180)

/* Largest number of parameters. */
enum { MAX = GLS_SLR_MAX };
/* Way of a streamline in mm, all moves together, above which distances are computed anew: sums of float32 get coarse.
 */
#define FAR_AWAY 1000

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

/* A moving streamline that may be the nearest of a fixed one or have it as the nearest, and their distance. */
typedef struct pair {
    uint32_t moving;
    float distance;
} pair;

/* The distances of a fixed streamline from all moving ones, added up, and their derivatives. */
typedef struct row {
    double distance, by[4][4];
} row;

/* State of a registration. */
typedef struct registration {
    size_t points, pad, n_fixed, n_moving;
    size_t n;       /* number of parameters */
    bool symmetric; /* also the distances of moving streamlines from the nearest fixed ones count */
    /* points in expanded form: fixed streamlines, centred, and reversed; moving ones, centred, and after the transform
     */
    double *fixed, *turned, *moving, *moved;
    double centre[2][3];       /* means of fixed and moving streamlines */
    float *there, *back, *now; /* `fixed`, `turned` and `moved` in float32 */
    float *bound; /* n_fixed x n_moving: a lower bound of the distance, plus the way of the moving one until then */
    float slack;  /* how far distances in float32 are from the true ones */
    bool known;   /* of_fixed, of_moving and bound hold those of the evaluation before */
    float (*middle[2])[3]; /* means of the points of fixed and of moved streamlines */
    double *way;           /* for each moving streamline: how far it has moved in all evaluations, mm */
    float *total;          /* the same in float32 */
    float *far_moving;     /* the nearest fixed streamline of each moved one is no farther, mm */
    float *reach;          /* sum of the two */
    pair *pair;            /* n_fixed x n_moving: those of each fixed streamline, by rising number */
    size_t *n_pairs;       /* for each fixed streamline */
    nearest *of_fixed, *of_moving, *chosen, *allocated; /* `chosen` becomes of_moving */
    float *limit; /* for each moving streamline, and memory of each thread for as many */
    uint32_t *hit;
    row *row; /* for each fixed streamline; NULL: only the nearest ones count */
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

/* Distance of a moved streamline from a fixed one or its reverse. other: which of the two is noted. */
static nearest measure(const registration *r, size_t fixed, size_t moving, size_t other)
{
    const size_t one = 3 * r->pad;
    double sum[2];
    gls_geometry_kernels()->senses(r->moved + moving * one, r->fixed + fixed * one, r->turned + fixed * one, r->points,
                                   r->pad, sum);
    const bool reversed = sum[1] < sum[0];
    return (nearest){other, reversed, sum[reversed] / (double)r->points};
}

/* Mean of points. */
static void find_middle(const double *point, size_t points, size_t pad, float middle[3])
{
    for (size_t k = 0; k < 3; k++, point += pad) {
        double sum = 0;
        for (size_t p = 0; p < points; p++) sum += point[p];
        middle[k] = (float)(sum / (double)points);
    }
}

/* Moves some streamlines. The partners of the evaluation before bound the distances of the present ones. */
static void move_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    const size_t one = 3 * r->pad;
    (void)thread;
    for (size_t j = from; j < until; j++) {
        double *to = r->moved + j * one;
        const double moved = gls_geometry_kernels()->move(r->moving + j * one, (const double(*)[3])r->m, r->shift,
                                                          r->points, r->pad, to, r->now + j * one);
        find_middle(to, r->points, r->pad, r->middle[1][j]);
        /* more than it is, because differences of distances are rounded */
        r->way[j] += moved / (double)r->points * 1.00001 + 0.01 * (double)r->slack;
        r->total[j] = (float)r->way[j];
        if (r->known && r->symmetric) {
            nearest *own = &r->of_moving[j];
            *own = measure(r, own->other, j, own->other);
            r->far_moving[j] = (float)own->distance + 4 * r->slack;
        }
        r->reach[j] = r->far_moving[j] + r->total[j];
    }
}

/* Lists the moved streamlines that may be the nearest of fixed streamline i or have it as the nearest, with their
 * distances. far: its nearest one is no farther. Returns the least distance. */
static float list_pairs(registration *r, size_t i, float far, uint32_t *hit)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float *middle = r->middle[0][i];
    float *bound = r->bound + i * r->n_moving, least = INFINITY;
    pair *list = r->pair + i * r->n_moving;
    const size_t one = 3 * r->pad, n = kernel->within(bound, r->total, r->reach, r->n_moving, far, hit);
    size_t n_pairs = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t j = hit[k];
        const float most = far > r->far_moving[j] ? far : r->far_moving[j];
        /* the distance of the means of points is at most that of the streamlines */
        const float *other = r->middle[1][j], x = other[0] - middle[0], y = other[1] - middle[1],
                    z = other[2] - middle[2], gap = sqrtf(x * x + y * y + z * z) - r->slack;
        float d = gap, e;
        if (gap <= most) {
            kernel->both(r->now + j * one, r->there + i * one, r->back + i * one, r->points, r->pad, &d, &e);
            d = d < e ? d : e;
            if (d <= most) list[n_pairs++] = (pair){j, d};
            least = d < least ? d : least;
        }
        bound[j] = d + r->total[j];
    }
    r->n_pairs[i] = n_pairs;
    return least;
}

/* Finds the nearest moved streamline of some fixed ones. */
static void compare_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    uint32_t *hit = r->hit + (size_t)thread * (r->n_moving + 1);
    for (size_t i = from; i < until; i++) {
        const pair *list = r->pair + i * r->n_moving;
        nearest best = {.distance = INFINITY}, before = {.other = SIZE_MAX};
        if (r->known) before = measure(r, i, r->of_fixed[i].other, r->of_fixed[i].other);
        const float far = r->known ? (float)before.distance + 4 * r->slack : INFINITY,
                    limit = list_pairs(r, i, far, hit) + 2 * r->slack;
        for (size_t k = 0; k < r->n_pairs[i]; k++) {
            const size_t j = list[k].moving;
            if (list[k].distance > limit) continue;
            const nearest one = j == before.other ? before : measure(r, i, j, j);
            if (one.distance < best.distance) best = one;
        }
        r->of_fixed[i] = best;
    }
}

/* Finds the nearest fixed streamline of some moved ones. */
static void choose_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    float *limit = r->limit;
    (void)thread;
    for (size_t j = from; j < until; j++) {
        limit[j] = INFINITY;
        r->chosen[j].distance = INFINITY;
    }
    for (int measures = 0; measures < 2; measures++) {
        for (size_t i = 0; i < r->n_fixed; i++) {
            const pair *list = r->pair + i * r->n_moving;
            for (size_t k = 0; k < r->n_pairs[i]; k++) {
                const size_t j = list[k].moving;
                if (j < from || j >= until) continue;
                if (!measures) {
                    limit[j] = list[k].distance < limit[j] ? list[k].distance : limit[j];
                    continue;
                }
                if (list[k].distance > limit[j]) continue;
                const nearest one = r->known && r->of_moving[j].other == i ? r->of_moving[j] : measure(r, i, j, i);
                if (one.distance < r->chosen[j].distance) r->chosen[j] = one;
            }
        }
        for (size_t j = from; j < until && !measures; j++) limit[j] += 2 * r->slack;
    }
}

/* Adds the derivatives of the distance of a pair. */
static void differentiate(const registration *r, size_t fixed, size_t moving, bool reversed, double weight,
                          double sum[4][4])
{
    const size_t one = 3 * r->pad;
    gls_geometry_kernels()->pull((reversed ? r->turned : r->fixed) + fixed * one, r->moved + moving * one,
                                 r->moving + moving * one, r->points, r->pad, weight, sum);
}

/* Adds up the distances of some fixed streamlines from all moved ones. */
static void add_some(void *user, int thread, size_t from, size_t until)
{
    registration *r = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        r->row[i] = (row){.distance = 0};
        for (size_t j = 0; j < r->n_moving; j++) {
            const nearest one = measure(r, i, j, i);
            r->row[i].distance += one.distance;
            differentiate(r, i, j, one.reversed, 1, r->row[i].by);
        }
    }
}

/* The sum of the distances of all pairs, and its derivatives. */
static double add_all(registration *r, double by[4][4])
{
    double sum = 0;
    gls_parallel(r->n_moving, 64, r->n_threads, move_some, r);
    gls_parallel(r->n_fixed, 4, r->n_threads, add_some, r);
    for (size_t i = 0; i < r->n_fixed; i++) {
        sum += r->row[i].distance;
        for (int k = 0; k < 16; k++) by[k / 4][k % 4] += r->row[i].by[k / 4][k % 4];
    }
    return sum;
}

/* Finds the nearest streamlines of both sides. */
static void find_nearest(registration *r)
{
    double farthest = 0;
    for (size_t j = 0; j < r->n_moving; j++) farthest = fmax(farthest, r->way[j]);
    if (farthest > FAR_AWAY) {
        memset(r->way, 0, r->n_moving * sizeof *r->way);
        r->known = false;
    }
    if (!r->known) {
        memset(r->bound, 0, r->n_fixed * r->n_moving * sizeof *r->bound);
        for (size_t j = 0; j < r->n_moving; j++) r->far_moving[j] = r->symmetric ? INFINITY : 0;
    }
    gls_parallel(r->n_moving, 64, r->n_threads, move_some, r);
    gls_parallel(r->n_fixed, 16, r->n_threads, compare_some, r);
    if (r->symmetric) {
        gls_parallel(r->n_moving, 64, r->n_threads, choose_some, r);
        nearest *const before = r->of_moving;
        r->of_moving = r->chosen;
        r->chosen = before;
    }
    r->known = true;
}

/* The sum of the mean distances from the nearest streamlines, and its derivatives. */
static double add_nearest(registration *r, double by[4][4])
{
    double fixed = 0, moving = 0;
    const double to_fixed = 1 / (double)r->n_fixed, to_moving = 1 / (double)r->n_moving;
    find_nearest(r);
    for (size_t i = 0; i < r->n_fixed; i++) {
        const nearest *o = &r->of_fixed[i];
        fixed += o->distance;
        differentiate(r, i, o->other, o->reversed, to_fixed, by);
    }
    for (size_t j = 0; j < r->n_moving && r->symmetric; j++) {
        const nearest *o = &r->of_moving[j];
        moving += o->distance;
        differentiate(r, o->other, j, o->reversed, to_moving, by);
    }
    return fixed * to_fixed + moving * to_moving;
}

/* The metric and its gradient. */
static double value(void *user, const double *t, double *gradient)
{
    registration *r = user;
    double by[4][4] = {{0}};
    find_matrix(t, r->n, r->m, r->change);
    memcpy(r->shift, t, sizeof r->shift);
    const double sum = r->row ? add_all(r, by) : add_nearest(r, by);
    for (size_t k = 0; k < r->n; k++) {
        double g = k < 3 ? by[0][k] : 0;
        for (int i = 0; i < 3 && k >= 3; i++)
            for (int j = 0; j < 3; j++) g += by[1 + j][i] * r->change[k][i][j];
        gradient[k] = r->symmetric ? 0.5 * sum * g : g;
    }
    return r->symmetric ? 0.25 * sum * sum : sum;
}

/* --- Preparation. */

/* Expands streamlines, centres them, and widens *extent to the largest coordinate. */
static void centre(const registration *r, const float (*point)[3], size_t n, bool centred, double mean[3], double *out,
                   double *extent)
{
    memset(mean, 0, 3 * sizeof *mean);
    for (size_t p = 0; p < n * r->points && centred; p++)
        for (int k = 0; k < 3; k++) mean[k] += (double)point[p][k];
    for (int k = 0; k < 3; k++) mean[k] /= (double)(n * r->points);
    for (size_t i = 0; i < n; i++, out += 3 * r->pad, point += r->points)
        for (size_t p = 0; p < r->points; p++)
            for (size_t k = 0; k < 3; k++) {
                out[k * r->pad + p] = (double)point[p][k] - mean[k];
                *extent = fmax(*extent, fabs(out[k * r->pad + p]));
            }
}

/* Allocates memory. */
static gls_status reserve(registration *r, const gls_slr_options *o)
{
    const size_t n = r->n_fixed, m = r->n_moving, one = 3 * r->pad;
    r->fixed = calloc(n * one, sizeof *r->fixed);
    r->turned = calloc(n * one, sizeof *r->turned);
    r->moving = calloc(m * one, sizeof *r->moving);
    r->moved = calloc(m * one, sizeof *r->moved);
    r->there = calloc(n * one, sizeof *r->there);
    r->back = calloc(n * one, sizeof *r->back);
    r->now = calloc(m * one, sizeof *r->now);
    r->bound = malloc(n * m * sizeof *r->bound);
    r->pair = malloc(n * m * sizeof *r->pair);
    r->n_pairs = malloc(n * sizeof *r->n_pairs);
    r->of_fixed = calloc(n, sizeof *r->of_fixed);
    r->of_moving = r->allocated = calloc(2 * m, sizeof *r->of_moving);
    r->middle[0] = malloc(n * sizeof *r->middle[0]);
    r->middle[1] = malloc(m * sizeof *r->middle[1]);
    r->way = calloc(m, sizeof *r->way);
    r->total = malloc(4 * m * sizeof *r->total);
    r->hit = malloc((size_t)r->n_threads * (m + 1) * sizeof *r->hit);
    if (!r->fixed || !r->turned || !r->moving || !r->moved || !r->there || !r->back || !r->now || !r->bound ||
        !r->pair || !r->n_pairs || !r->of_fixed || !r->of_moving || !r->middle[0] || !r->middle[1] || !r->way ||
        !r->total || !r->hit)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the distances of %zu and %zu streamlines", n, m);
    r->row = o->metric == GLS_SLR_SUM ? malloc(n * sizeof *r->row) : NULL;
    if (o->metric == GLS_SLR_SUM && !r->row) return gls_no_memory();
    r->chosen = r->of_moving + m;
    r->far_moving = r->total + m;
    r->reach = r->total + 2 * m;
    r->limit = r->total + 3 * m;
    return GLS_OK;
}

/* Allocates memory, and copies the streamlines. */
static gls_status prepare(registration *r, const gls_slr_options *o, const float (*fixed)[3], const float (*moving)[3])
{
    double extent = 0;
    r->pad = gls_point_pad(r->points);
    r->n_threads = omp_get_max_threads();
    gls_status status = reserve(r, o);
    if (status) return status;
    centre(r, fixed, r->n_fixed, o->centred, r->centre[0], r->fixed, &extent);
    centre(r, moving, r->n_moving, o->centred, r->centre[1], r->moving, &extent);
    for (size_t row = 0; row < 3 * r->n_fixed; row++)
        for (size_t p = 0; p < r->points; p++) {
            const size_t to = row * r->pad + r->points - 1 - p;
            r->turned[to] = r->fixed[row * r->pad + p];
            r->there[row * r->pad + p] = r->back[to] = (float)r->turned[to];
        }
    for (size_t i = 0; i < r->n_fixed; i++) find_middle(r->fixed + i * 3 * r->pad, r->points, r->pad, r->middle[0][i]);
    /* moved streamlines may be larger, and lie farther away */
    r->slack = gls_distance_slack((float)(2 * extent + fabs(o->high[0]) + fabs(o->low[0])));
    return GLS_OK;
}

static void release(registration *r)
{
    free(r->fixed);
    free(r->turned);
    free(r->moving);
    free(r->moved);
    free(r->there);
    free(r->back);
    free(r->now);
    free(r->bound);
    free(r->pair);
    free(r->n_pairs);
    free(r->of_fixed);
    free(r->allocated);
    free(r->middle[0]);
    free(r->middle[1]);
    free(r->way);
    free(r->total);
    free(r->hit);
    free(r->row);
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
    if (o->metric != GLS_SLR_SYMMETRIC && o->metric != GLS_SLR_ASYMMETRIC && o->metric != GLS_SLR_SUM)
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
