/* Images of peaks: joins the peaks of several files, replaces amplitudes, rotates peaks to the scanner axes, and finds
 * peaks in tensors and in images of spherical harmonics. */
#include <glslines/peaks.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/odf.h>
#include <glslines/tensor.h>

#include "dwi/odf.h"
#include "dwi/peaks.h"
#include "image/grid.h"
#include "util/lapack.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

/* MAX_MAXIMA: largest number of maxima of a voxel; STARTS: number of directions from which they are looked for, spread
 * over half the sphere, 4.5 degrees apart; RING: number of points of the ring; CLIMBS: largest number of steps up, as
 * many as lead over the sphere */
enum {
    MAX_COEFFICIENTS = (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2,
    MAX_MAXIMA = 64,
    STARTS = 1000,
    RING = 8,
    CLIMBS = 160
};
/* A direction is a start only if the maximum that its derivatives foretell lies within this angle, in radians: twice
 * the largest distance of a maximum from the nearest direction. */
#define REACH 0.12
/* radii, in radians, of rings of points around a direction: at a maximum no point of either ring is higher */
static const double ring_radius[] = {0.02, 0.002};
#define SAME_COSINE 0.99 /* cosine of the angle below which two maxima count as one */

/* --- files ------------------------------------------------------------------ */

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Stores in v the vector of peak k of voxel i, in the frame of the image. */
static void get(const gls_image *peaks, size_t k, size_t i, double v[3])
{
    const size_t n = gls_grid_voxels(&peaks->grid);
    for (int a = 0; a < 3; a++) v[a] = (double)peaks->data[(3 * k + (size_t)a) * n + i];
}

/* Stores peak k of voxel i: a vector of this direction and length; zeros if the direction is 0 or not finite, or if the
 * length is not finite and above 0. */
static void store_peak(gls_image *peaks, size_t k, size_t i, const double direction[3], double length)
{
    const size_t n = gls_grid_voxels(&peaks->grid);
    const double norm = length_of(direction);
    const bool there = norm > 0 && isfinite(norm) && length > 0 && isfinite(length);
    for (int a = 0; a < 3; a++)
        peaks->data[(3 * k + (size_t)a) * n + i] = there ? (float)(direction[a] / norm * length) : 0;
}

/* Computes the matrix `map` from the axes of a frame to the voxel axes; the last column is 0. */
static void frame_to_voxels(gls_bvec_frame frame, const gls_grid *grid, double map[3][4])
{
    double from[3][3], whole[3][4] = {{0}};
    gls_odf_frame_map(frame, grid, from);
    for (int r = 0; r < 3; r++) memcpy(whole[r], from[r], sizeof from[r]);
    gls_affine_invert((const double(*)[4])whole, map);
}

/* Whether the volumes are unit vectors, each followed by an amplitude, as in the truth of the phantom. Skips missing
 * peaks (zeros, and values that are not finite); false if all peaks are missing. */
static bool is_quads(const gls_image *file)
{
    const size_t n = gls_grid_voxels(&file->grid);
    size_t found = 0;
    if (file->n_volumes % 4 != 0) return false;
    for (size_t k = 0; k < file->n_volumes / 4; k++)
        for (size_t i = 0; i < n; i++) {
            double v[4];
            for (size_t a = 0; a < 4; a++) v[a] = (double)file->data[(4 * k + a) * n + i];
            const double norm = length_of(v);
            if ((norm == 0 && v[3] == 0) || !isfinite(norm + v[3])) continue;
            if (!(fabs(norm - 1) < 1e-3 && v[3] > 0)) return false;
            found++;
        }
    return found > 0;
}

gls_status gls_peaks_append(gls_image **peaks, const gls_image *file, const char *name, gls_bvec_frame frame)
{
    GLS_REQUIRE(peaks && file && name);
    const size_t n = gls_grid_voxels(&file->grid), before = *peaks ? (*peaks)->n_volumes : 0;
    gls_image *joined = NULL;
    double map[3][4];
    const size_t each = is_quads(file) ? 4 : 3, n_peaks = file->n_volumes / each;
    if (file->n_volumes % each != 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %zu volume%s: an image of peaks has three for each peak (x, y and z of a vector), or "
                        "four (of a unit vector, and an amplitude)",
                        name, GLS_VOLUMES(file->n_volumes));
    gls_status status =
        *peaks ? gls_grid_require_equal(&(*peaks)->grid, "the peaks before it", &file->grid, name) : GLS_OK;
    if (!status) status = gls_image_create(&file->grid, before + 3 * n_peaks, &joined);
    if (status) return status;
    if (*peaks) memcpy(joined->data, (*peaks)->data, before * n * sizeof *joined->data);
    frame_to_voxels(frame, &file->grid, map);
    for (size_t k = 0; k < n_peaks; k++)
        for (size_t i = 0; i < n; i++) {
            double v[4], u[3];
            for (size_t a = 0; a < each; a++) v[a] = (double)file->data[(each * k + a) * n + i];
            for (int r = 0; r < 3; r++) u[r] = map[r][0] * v[0] + map[r][1] * v[1] + map[r][2] * v[2];
            store_peak(joined, before / 3 + k, i, u, each == 4 ? v[3] : length_of(v));
        }
    gls_image_destroy(*peaks);
    *peaks = joined;
    return GLS_OK;
}

gls_status gls_peaks_set_values(gls_image *peaks, size_t first, const gls_image *values, const char *name)
{
    GLS_REQUIRE(peaks && values && name);
    const size_t n = gls_grid_voxels(&peaks->grid), n_peaks = peaks->n_volumes / 3;
    if (first > n_peaks || values->n_volumes > n_peaks - first)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: with this file there are %zu volumes of amplitudes, but only %zu peaks in a voxel", name,
                        first + values->n_volumes, n_peaks);
    gls_status status = gls_grid_require_equal(&peaks->grid, "the peaks", &values->grid, name);
    for (size_t k = 0; k < values->n_volumes && !status; k++)
        for (size_t i = 0; i < n; i++) {
            double v[3];
            get(peaks, first + k, i, v);
            store_peak(peaks, first + k, i, v, (double)values->data[k * n + i]);
        }
    return status;
}

gls_status gls_peaks_to_world(gls_image *peaks)
{
    GLS_REQUIRE(peaks);
    const size_t n = gls_grid_voxels(&peaks->grid);
    double map[3][3];
    gls_odf_frame_map(GLS_BVEC_WORLD, &peaks->grid, map);
    for (size_t k = 0; k < peaks->n_volumes / 3; k++)
        for (size_t i = 0; i < n; i++) {
            double v[3], u[3];
            get(peaks, k, i, v);
            const double length = length_of(v);
            for (int r = 0; r < 3; r++) u[r] = map[r][0] * v[0] + map[r][1] * v[1] + map[r][2] * v[2];
            store_peak(peaks, k, i, u, length);
            for (int a = 0; a < 3 && !(length > 0); a++) peaks->data[(3 * k + (size_t)a) * n + i] = NAN;
        }
    return GLS_OK;
}

/* --- tensors ---------------------------------------------------------------- */

/* Stores the main axis of the tensor of voxel i, as long as FA; leaves zeros where FA is 0. */
static void store_axis(const gls_image *tensor, const gls_image *fa, size_t i, gls_image *peaks)
{
    const size_t n = gls_grid_voxels(&tensor->grid);
    const float *d = tensor->data + i;
    double matrix[9] = {d[0], 0, 0, d[n], d[2 * n], 0, d[3 * n], d[4 * n], d[5 * n]}, ascending[3], axis[3];
    if (!(fa->data[i] > 0) || gls_lapack()->dsyev(LAPACK_ROW_MAJOR, 'V', 'L', 3, matrix, 3, ascending) != 0) return;
    /* round to float, as the maps of tensors are stored */
    for (int a = 0; a < 3; a++) axis[a] = (double)(float)matrix[3 * a + 2];
    store_peak(peaks, 0, i, axis, (double)fa->data[i]);
}

gls_status gls_peaks_of_tensors(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                gls_image **fa, gls_image **peaks)
{
    GLS_REQUIRE(dwi && gradients && fa && peaks);
    gls_image *tensor = NULL;
    gls_status status = gls_tensor_fit(dwi, gradients, mask, NULL, fa, &tensor, NULL);
    if (!status) status = gls_image_create(&dwi->grid, 3, peaks);
    if (!status) {
        gls_blas_begin();
#pragma omp parallel for num_threads(gls_blas_team()) schedule(dynamic, 1024)
        for (long long i = 0; i < (long long)gls_grid_voxels(&dwi->grid); i++)
            store_axis(tensor, *fa, (size_t)i, *peaks);
        gls_blas_end();
    }
    gls_image_destroy(tensor);
    return status;
}

/* --- spherical harmonics ---------------------------------------------------- */

/* Inputs of the search for maxima, shared by all threads. n: number of peaks that are stored for a voxel; threshold:
 * their smallest amplitude. */
typedef struct finder {
    const gls_image *sh; /* in the basis GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes */
    int order;
    size_t k;                 /* number of coefficients */
    const double (*start)[3]; /* STARTS unit vectors */
    const double *rows;       /* gls_peak_rows() of each */
    size_t n;
    double threshold;
    gls_image *peaks;
} finder;

/* A local maximum: unit vector and amplitude. */
typedef struct maximum {
    double u[3], amplitude;
} maximum;

/* Moves u to the point with the highest amplitude on a ring around u, if that amplitude is higher than at u. c:
 * coefficients. Returns whether u moved, that is, whether u is not a maximum. */
static bool step_up(const finder *f, const double *c, double radius, maximum *top)
{
    double *u = top->u;
    const double *far = fabs(u[0]) < 0.6 ? (const double[3]){1, 0, 0} : (const double[3]){0, 1, 0};
    double p[3] = {u[1] * far[2] - u[2] * far[1], u[2] * far[0] - u[0] * far[2], u[0] * far[1] - u[1] * far[0]};
    const double norm = length_of(p);
    double ring[RING][3], basis[RING * MAX_COEFFICIENTS];
    int best = -1;
    for (int a = 0; a < 3; a++) p[a] /= norm;
    const double q[3] = {u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
    for (int i = 0; i < RING; i++) {
        const double x = radius * cos(2 * M_PI * i / RING), y = radius * sin(2 * M_PI * i / RING);
        for (int a = 0; a < 3; a++) ring[i][a] = u[a] + x * p[a] + y * q[a];
        const double length = length_of(ring[i]);
        for (int a = 0; a < 3; a++) ring[i][a] /= length;
    }
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, f->order, (const double(*)[3])ring, RING, basis);
    for (int i = 0; i < RING; i++) {
        double sum = 0;
        for (size_t j = 0; j < f->k; j++) sum += basis[(size_t)i * f->k + j] * c[j];
        if (!(sum > top->amplitude)) continue;
        top->amplitude = sum;
        best = i;
    }
    if (best >= 0) memcpy(u, ring[best], sizeof ring[best]);
    return best >= 0;
}

/* Goes uphill from top->u to a maximum, by Newton's method where it leads up, else over the ring. Returns false if it
 * finds none. */
static bool climb(const finder *f, const double *c, maximum *top)
{
    int steps = 0;
    top->amplitude = -INFINITY;
    for (size_t r = 0; r < sizeof ring_radius / sizeof *ring_radius; r++) do {
            double u[3];
            memcpy(u, top->u, sizeof u);
            const double amplitude = gls_peak_climb(f->order, c, u);
            if (amplitude > top->amplitude) {
                memcpy(top->u, u, sizeof u);
                top->amplitude = amplitude;
            }
            if (++steps > CLIMBS) return false;
        } while (step_up(f, c, ring_radius[r], top));
    return true;
}

/* Comparison for qsort(): maxima by falling amplitude. */
static int stronger_first(const void *a, const void *b)
{
    const double x = ((const maximum *)a)->amplitude, y = ((const maximum *)b)->amplitude;
    return x > y ? -1 : x < y;
}

/* Whether no maximum of the list lies along u or its opposite, within the angle of SAME_COSINE. */
static bool is_new(const maximum *list, size_t n, const double u[3])
{
    for (size_t i = 0; i < n; i++)
        if (fabs(list[i].u[0] * u[0] + list[i].u[1] * u[1] + list[i].u[2] * u[2]) > SAME_COSINE) return false;
    return true;
}

/* A direction near a maximum: where its derivatives foretell the maximum, and the value there now. */
typedef struct start {
    double u[3], value;
} start;

/* Comparison for qsort(): starts by falling value. */
static int higher_first(const void *a, const void *b)
{
    const double x = ((const start *)a)->value, y = ((const start *)b)->value;
    return x > y ? -1 : x < y;
}

/* Lists directions near which a maximum lies: the function is above 0 and concave there, and its derivatives foretell a
 * maximum within REACH. The highest come first. Returns their number. */
static size_t find_starts(const finder *f, const double *c, start list[STARTS])
{
    size_t n = 0;
    for (size_t s = 0; s < STARTS; s++) {
        const double *rows = f->rows + 6 * f->k * s, *u = f->start[s];
        double value = 0, to[3];
        for (size_t j = 0; j < f->k; j++) value += rows[j] * c[j];
        if (!(value > 0) || !gls_peak_step(f->order, c, rows, u, M_PI, to)) continue;
        if (to[0] * u[0] + to[1] * u[1] + to[2] * u[2] < cos(REACH)) continue;
        memcpy(list[n].u, to, sizeof to);
        list[n++].value = value;
    }
    qsort(list, n, sizeof *list, higher_first);
    return n;
}

/* Finds the maxima above 0, and not below the threshold, of a voxel with coefficients c. list: strongest first. Returns
 * their number. */
static size_t find_maxima(const finder *f, const double *c, maximum list[MAX_MAXIMA])
{
    start from[STARTS];
    size_t n = 0;
    const size_t n_starts = find_starts(f, c, from);
    for (size_t s = 0; s < n_starts && n < MAX_MAXIMA; s++) {
        maximum top;
        if (!is_new(list, n, from[s].u)) continue;
        memcpy(top.u, from[s].u, sizeof top.u);
        if (climb(f, c, &top) && top.amplitude > 0 && is_new(list, n, top.u)) list[n++] = top;
    }
    qsort(list, n, sizeof *list, stronger_first);
    while (n > 0 && list[n - 1].amplitude < f->threshold) n--;
    return n;
}

/* Loads the coefficients of a voxel. Returns false if a coefficient is not finite, or if the function is constant and
 * has no peak. */
static bool take_coefficients(const finder *f, size_t i, double *c)
{
    const size_t n = gls_grid_voxels(&f->sh->grid);
    bool shaped = false;
    for (size_t j = 0; j < f->k; j++) {
        c[j] = (double)f->sh->data[j * n + i];
        if (!isfinite(c[j])) return false;
        shaped = shaped || (j > 0 && c[j] != 0);
    }
    return shaped;
}

/* Finds and stores the n largest maxima of every voxel, on all cores. */
static void find_all(const finder *f)
{
    const long long n = (long long)gls_grid_voxels(&f->sh->grid);
#pragma omp parallel for schedule(dynamic, 64)
    for (long long i = 0; i < n; i++) {
        double c[MAX_COEFFICIENTS];
        maximum list[MAX_MAXIMA];
        const size_t found = take_coefficients(f, (size_t)i, c) ? find_maxima(f, c, list) : 0;
        for (size_t k = 0; k < found && k < f->n; k++) store_peak(f->peaks, k, (size_t)i, list[k].u, list[k].amplitude);
    }
}

/* Spreads STARTS directions evenly over half the sphere, on a spiral whose turns have the golden ratio. */
static void spread_starts(double (*start)[3])
{
    for (int s = 0; s < STARTS; s++) {
        const double z = (s + 0.5) / STARTS, r = sqrt(1 - z * z), turn = M_PI * (1 + sqrt(5)) * (s + 0.5);
        start[s][0] = r * cos(turn);
        start[s][1] = r * sin(turn);
        start[s][2] = z;
    }
}

gls_status gls_peaks_of_sh(const gls_image *sh, const char *name, gls_sh_basis basis, gls_bvec_frame frame, size_t n,
                           double threshold, gls_image **peaks)
{
    GLS_REQUIRE(sh && name && n > 0 && peaks && !isnan(threshold));
    GLS_REQUIRE_ENUMERATOR(basis, GLS_SH_TOURNIER07);
    GLS_REQUIRE_ENUMERATOR(frame, GLS_BVEC_WORLD);
    finder f = {.order = gls_sh_order(sh->n_volumes), .k = sh->n_volumes, .n = n, .threshold = threshold};
    gls_image *converted = NULL;
    if (f.order < 0) return gls_odf_fail_order(name, sh->n_volumes);
    double(*start)[3] = malloc(STARTS * sizeof *start), *rows = malloc(STARTS * 6 * f.k * sizeof *rows);
    gls_status status = start && rows ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    if (!status)
        status = gls_odf_convert_sh(sh, name, basis, frame, GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, &converted);
    if (!status) status = gls_image_create(&sh->grid, 3 * n, peaks);
    if (!status) {
        spread_starts(start);
        for (size_t s = 0; s < STARTS; s++) gls_peak_rows(f.order, start[s], rows + 6 * f.k * s);
        f.sh = converted;
        f.start = (const double(*)[3])start;
        f.rows = rows;
        f.peaks = *peaks;
        find_all(&f);
    }
    free(start);
    free(rows);
    gls_image_destroy(converted);
    return status;
}
