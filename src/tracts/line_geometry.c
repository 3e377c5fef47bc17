/* Geometry of single streamlines in double precision, and the axes of a cloud of points: eigenvectors of its matrix by
 * Jacobi rotations (Golub and Van Loan, Matrix Computations). Interpolates an image at the points of a streamline. */
#include "tracts/line_geometry.h"

#include <math.h>
#include <string.h>

#include "util/threads.h"

#define DEGREE (3.14159265358979323846 / 180)

double gls_point_distance(const float *p, const float *q)
{
    double x = (double)q[0] - p[0], y = (double)q[1] - p[1], z = (double)q[2] - p[2];
    return sqrt(x * x + y * y + z * z);
}

double gls_line_length(const float (*point)[3], size_t n)
{
    double length = 0;
    for (size_t i = 1; i < n; i++) length += gls_point_distance(point[i - 1], point[i]);
    return length;
}

size_t gls_line_part(const float (*point)[3], size_t n, double from, double until, float (*out)[3])
{
    double at = 0;
    size_t m = 0;
    for (size_t i = 0; i + 1 < n && at < until; i++) {
        const double mm = gls_point_distance(point[i], point[i + 1]), end = at + mm;
        /* for each step that overlaps the part, append the last point inside the part; for the first such step, also
         * the first point */
        if (mm > 0 && end > from) {
            const double share[] = {fmax(from - at, 0) / mm, fmin(until - at, mm) / mm};
            for (int k = m == 0 ? 0 : 1; k < 2; k++, m++)
                for (int r = 0; r < 3; r++)
                    out[m][r] = (float)(point[i][r] + share[k] * ((double)point[i + 1][r] - point[i][r]));
        }
        at = end;
    }
    /* no step overlaps the part: return the first point of the line */
    if (m == 0) memcpy(out[m++], point[0], sizeof *out);
    return m;
}

double gls_line_winding(const float (*point)[3], size_t n)
{
    double before[3] = {0}, sum = 0, length = 0;
    for (size_t p = 1; p < n; p++) {
        double d[3], square = 0, dot = 0;
        for (int r = 0; r < 3; r++) {
            d[r] = (double)point[p][r] - point[p - 1][r];
            square += d[r] * d[r];
            dot += d[r] * before[r];
        }
        if (square == 0) continue;
        if (length > 0) sum += acos(fmax(-1, fmin(1, dot / (sqrt(square) * length)))) / DEGREE;
        memcpy(before, d, sizeof d);
        length = sqrt(square);
    }
    return sum;
}

double gls_line_sweep(const float (*point)[3], size_t n)
{
    double mean[3] = {0}, c[3][3] = {{0}}, value[3], axis[3][3], before[3], sum = 0;
    bool has_before = false;
    /* mean point and scatter matrix of the points */
    for (size_t p = 0; p < n; p++)
        for (int r = 0; r < 3; r++) mean[r] += point[p][r] / (double)n;
    for (size_t p = 0; p < n; p++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) c[r][k] += (point[p][r] - mean[r]) * (point[p][k] - mean[k]);
    gls_symmetric_decompose(c, value, axis);
    /* the plane that fits best is normal to the axis of the smallest eigenvalue */
    int normal = 0;
    for (int k = 1; k < 3; k++)
        if (value[k] < value[normal]) normal = k;
    /* sum of the angles between neighbouring directions, which lead from the mean point to each point within the
     * plane */
    for (size_t p = 0; p < n; p++) {
        double v[3], off = 0, length = 0, dot = 0;
        for (int r = 0; r < 3; r++) v[r] = point[p][r] - mean[r];
        for (int r = 0; r < 3; r++) off += v[r] * axis[r][normal];
        for (int r = 0; r < 3; r++) {
            v[r] -= off * axis[r][normal];
            length += v[r] * v[r];
        }
        if (length == 0) continue;
        for (int r = 0; r < 3; r++) {
            v[r] /= sqrt(length);
            dot += has_before ? v[r] * before[r] : 0;
        }
        if (has_before) sum += acos(fmax(-1, fmin(1, dot))) / DEGREE;
        has_before = true;
        memcpy(before, v, sizeof before);
    }
    return sum;
}

double gls_line_curvature(const float (*point)[3], size_t n, double spacing, float (*memory)[3])
{
    const double length = gls_line_length(point, n);
    const size_t m = gls_line_spaced(length, spacing);
    double most = 0;
    gls_line_resample(point, n, m, memory);
    for (size_t i = 1; i + 1 < m; i++)
        most =
            fmax(most, gls_line_winding((const float(*)[3])(memory + i - 1), 3) * DEGREE / (length / (double)(m - 1)));
    return most;
}

bool gls_nodes_are_backwards(const float (*node)[3], const float (*standard)[3], size_t m)
{
    double there = 0, back = 0;
    for (size_t k = 0; k < m; k++) {
        there += gls_point_distance(node[k], standard[k]);
        back += gls_point_distance(node[m - 1 - k], standard[k]);
    }
    return there > back;
}

bool gls_line_is_backwards(const gls_orientation *o, const double centre[3], const float (*standard)[3],
                           const float (*point)[3], size_t n)
{
    float node[GLS_ORIENT_POINTS][3];
    double there = 0, back = 0;
    if (o->axis > 0) return point[n - 1][o->axis - 1] < point[0][o->axis - 1];
    if (o->line) {
        gls_line_resample(point, n, GLS_ORIENT_POINTS, node);
        return gls_nodes_are_backwards((const float(*)[3])node, standard, GLS_ORIENT_POINTS);
    }
    for (int a = 0; a < 3; a++) {
        there += (point[0][a] - centre[a]) * (point[0][a] - centre[a]);
        back += (point[n - 1][a] - centre[a]) * (point[n - 1][a] - centre[a]);
    }
    return back < there;
}

void gls_line_reverse(float (*point)[3], size_t n)
{
    float keep[3];
    for (size_t i = 0; i < n / 2; i++) {
        memcpy(keep, point[i], sizeof keep);
        memcpy(point[i], point[n - 1 - i], sizeof keep);
        memcpy(point[n - 1 - i], keep, sizeof keep);
    }
}

void gls_symmetric_decompose(double a[3][3], double value[3], double vector[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) vector[i][j] = i == j;
    /* sweeps converge quadratically: about 6 are enough for a 3 x 3 matrix; 60 bounds the loop for values that are
     * not finite */
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
        if (off == 0) break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0) continue;
                /* the rotation by the smaller of the two angles that make a[p][q] zero */
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                if (isinf(theta)) t = 0;
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    x = vector[k][p];
                    y = vector[k][q];
                    vector[k][p] = c * x - s * y;
                    vector[k][q] = s * x + c * y;
                }
                a[p][q] = a[q][p] = 0;
            }
    }
    for (int i = 0; i < 3; i++) value[i] = a[i][i];
}

/* --- Interpolation: computes the voxels of a block of points without branches, then loads eight voxels for each point,
 * two neighbours at a time. Sums are in the order of tracts/sample_images.c, so both give the same bits. */

/* Number of points of a block, whose arrays, 4.5 kB, stay in the first-level cache. */
enum { BLOCK = 128 };

/* Inlined into a function for each level of CPU instructions. */
#define INNER static inline __attribute__((always_inline))

/* Two doubles in one register, which every x86-64 and AArch64 CPU has. */
typedef double pair __attribute__((vector_size(16)));

/* Where the points of a block lie between voxel centres. */
typedef struct cells {
    double part[3][BLOCK]; /* share of the way from the lower voxel to the upper one */
    int v[3][BLOCK];       /* the lowest voxel; v[0] < 0: not all eight are inside */
} cells;

/* Finds lower voxels and shares of n <= BLOCK points. No branch depends on a point, so that compilers use vector
 * instructions. */
INNER void find_cells(const gls_image *image, const double (*m)[4], const float (*restrict point)[3], size_t n,
                      cells *restrict to)
{
    const double most[3] = {image->grid.dim[0] - 1, image->grid.dim[1] - 1, image->grid.dim[2] - 1};
    for (size_t i = 0; i < n; i++) {
        const double x = point[i][0], y = point[i][1], z = point[i][2];
        const double a = m[0][0] * x + m[0][1] * y + m[0][2] * z + m[0][3];
        const double b = m[1][0] * x + m[1][1] * y + m[1][2] * z + m[1][3];
        const double c = m[2][0] * x + m[2][1] * y + m[2][2] * z + m[2][3];
        const bool inside = (a >= 0) & (a < most[0]) & (b >= 0) & (b < most[1]) & (c >= 0) & (c < most[2]);
        to->part[0][i] = a;
        to->part[1][i] = b;
        to->part[2][i] = c;
        to->v[0][i] = (int)(inside ? a : -1);
        to->v[1][i] = (int)(inside ? b : 0);
        to->v[2][i] = (int)(inside ? c : 0);
    }
    /* until here part[] holds voxel coordinates */
    for (int r = 0; r < 3; r++)
        for (size_t i = 0; i < n; i++) to->part[r][i] -= to->v[r][i];
}

/* Loads the values of two voxels that are neighbours along x. data: the first of them. */
INNER pair two(const float *data)
{
    return (pair){data[0], data[1]};
}

/* Interpolates between eight voxels. data: the lowest of them; row, slice: distances of neighbours along y and z in
 * elements; x, y, z: shares of the upper voxels. NaN if the sum is not finite. */
INNER double value_at(const float *data, size_t row, size_t slice, double x, double y, double z)
{
    const pair wx = {1 - x, x}, low = wx * (1 - y), high = wx * y;
    const pair a = low * (1 - z) * two(data), b = high * (1 - z) * two(data + row), c = low * z * two(data + slice),
               d = high * z * two(data + slice + row);
    /* the order of terms is that of sample_linear(): x fastest, from a sum of 0 */
    const double sum = 0 + a[0] + a[1] + b[0] + b[1] + c[0] + c[1] + d[0] + d[1];
    return isfinite(sum) ? sum : NAN;
}

/* gls_sample_line() for the CPU level of the function into which the compiler inlines it. */
INNER void sample_line(const gls_image *image, const double world_to_voxel[3][4], const float (*point)[3], size_t n,
                       double *value)
{
    const size_t row = (size_t)image->grid.dim[0], slice = row * (size_t)image->grid.dim[1];
    cells p;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t m = n - first < BLOCK ? n - first : BLOCK;
        find_cells(image, world_to_voxel, point + first, m, &p);
        for (size_t i = 0; i < m; i++) {
            const size_t at = (size_t)p.v[2][i] * slice + (size_t)p.v[1][i] * row + (size_t)p.v[0][i];
            value[first + i] =
                p.v[0][i] < 0 ? NAN : value_at(image->data + at, row, slice, p.part[0][i], p.part[1][i], p.part[2][i]);
        }
    }
}

/* Does the work of gls_sample_steps(), in a form that is compiled into its callers. */
INNER double measure_steps(const float (*point)[3], size_t n, double *weight)
{
    double length = 0, before = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double x = (double)point[i + 1][0] - point[i][0], y = (double)point[i + 1][1] - point[i][1],
                     z = (double)point[i + 1][2] - point[i][2], after = sqrt(x * x + y * y + z * z);
        weight[i] = 0.5 * (before + after);
        length += after;
        before = after;
    }
    weight[n - 1] = 0.5 * before;
    return length;
}

typedef const float (*points)[3];
typedef const double (*map)[4];

#if GLS_CPU_HAS_LEVELS
GLS_TARGET_AVX2 static void sample_line_avx2(const gls_image *image, map m, points point, size_t n, double *value)
{
    sample_line(image, m, point, n, value);
}

GLS_TARGET_AVX2 static double measure_steps_avx2(points point, size_t n, double *weight)
{
    return measure_steps(point, n, weight);
}
#else
#define sample_line_avx2 sample_line
#define measure_steps_avx2 measure_steps
#endif

void gls_sample_line(const gls_image *image, const double world_to_voxel[3][4], points point, size_t n, double *value)
{
    if (gls_cpu_level() >= GLS_CPU_AVX2)
        sample_line_avx2(image, world_to_voxel, point, n, value);
    else
        sample_line(image, world_to_voxel, point, n, value);
}

double gls_sample_steps(points point, size_t n, double *weight)
{
    return gls_cpu_level() >= GLS_CPU_AVX2 ? measure_steps_avx2(point, n, weight) : measure_steps(point, n, weight);
}

/* --- Resampling. */

/* Lengths of steps that are computed at a time. */
enum { STEPS = 256 };

/* Lengths in mm of n steps from coordinate differences in float32. */
INNER void find_steps(points point, size_t n, double *restrict length)
{
    for (size_t i = 0; i < n; i++) {
        const float x = point[i + 1][0] - point[i][0], y = point[i + 1][1] - point[i][1],
                    z = point[i + 1][2] - point[i][2];
        length[i] = sqrt((double)x * (double)x + (double)y * (double)y + (double)z * (double)z);
    }
}

#if GLS_CPU_HAS_LEVELS
GLS_TARGET_AVX2 static void find_steps_avx2(points point, size_t n, double *length)
{
    find_steps(point, n, length);
}
#else
#define find_steps_avx2 find_steps
#endif

/* A line that is followed from one of its ends, with the lengths of some of its steps. */
typedef struct follower {
    points point;
    size_t n, first, end; /* steps first .. end - 1, counted along the line, are known */
    bool backwards;
    double length[STEPS];
} follower;

/* Point i of the line as it is followed. */
INNER const float *point_at(const follower *f, size_t i)
{
    return f->point[f->backwards ? f->n - 1 - i : i];
}

/* Length of the step from point i - 1 to point i. */
INNER double step_at(follower *f, size_t i)
{
    const size_t at = f->backwards ? f->n - 1 - i : i - 1;
    if (at < f->first || at >= f->end) {
        const size_t steps = f->n - 1, before = at >= STEPS ? at - STEPS + 1 : 0;
        f->first = f->backwards ? before : at;
        f->end = f->backwards ? at + 1 : at + STEPS < steps ? at + STEPS : steps;
        if (gls_cpu_level() >= GLS_CPU_AVX2)
            find_steps_avx2(f->point + f->first, f->end - f->first, f->length);
        else
            find_steps(f->point + f->first, f->end - f->first, f->length);
    }
    return f->length[at - f->first];
}

/* Resamples a line from its first or its last point on. */
INNER void resample(points point, size_t n, bool backwards, size_t m, float (*out)[3])
{
    /* as set_number_of_points() of DIPY to the bit: differences in float32, all sums in double, the position on the
     * line added up step by step; the last point is copied, so that it is exact */
    follower f;
    f.point = point;
    f.n = n;
    f.first = f.end = 0;
    f.backwards = backwards;
    double length = 0;
    for (size_t i = 1; i < n; i++) length += step_at(&f, i);
    const double step = length / (double)(m - 1);
    double at = 0, before = 0, wanted = 0;
    size_t done = 0;
    for (size_t i = 0; wanted < length && done < m;) {
        if (wanted == at) {
            memcpy(out[done++], point_at(&f, i), sizeof *out);
            wanted += step;
        } else if (wanted < at) {
            const double share = 1 - (at - wanted) / (at - before);
            const float *from = point_at(&f, i - 1), *to = point_at(&f, i);
            for (int r = 0; r < 3; r++) {
                const float side = to[r] - from[r];
                out[done][r] = (float)((double)from[r] + share * (double)side);
            }
            done++;
            wanted += step;
            continue;
        }
        if (++i == n) break;
        before = at;
        at += step_at(&f, i);
    }
    /* a line without length */
    for (; done < m; done++) memcpy(out[done], point_at(&f, 0), sizeof *out);
    memcpy(out[m - 1], point_at(&f, n - 1), sizeof *out);
}

void gls_line_resample(const float (*point)[3], size_t n, size_t m, float (*out)[3])
{
    resample(point, n, false, m, out);
}

void gls_line_resample_backwards(const float (*point)[3], size_t n, size_t m, float (*out)[3])
{
    resample(point, n, true, m, out);
}
