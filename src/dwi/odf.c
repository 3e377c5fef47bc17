/* Sources of ODFs: images of SH coefficients or amplitudes, sampled on a sphere. Converts SH images between bases and
 * between coordinate frames: both are linear maps of the coefficients of a voxel, one matrix for the whole image. */
#include <glslines/odf.h>

#include "dwi/odf.h"
#include "dwi/odf_parts.h"
#include "dwi/odf_slice.h"
#include "dwi/qball.h"
#include "image/grid.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text_tables.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* largest difference between the amplitudes of opposite directions that half precision and rounding cause in a
 * symmetric ODF, relative to the largest amplitude */
#define MAX_ASYMMETRY 1e-3

/* --- Between bases and frames. */

/* Evaluates one basis (even, or full) at n directions. matrix: a row of basis functions for each direction. */
static gls_status evaluate(gls_sh_basis basis, int order, bool full, const double (*direction)[3], size_t n,
                           double *matrix)
{
    return full ? gls_sh_full_matrix(basis, order, direction, n, matrix)
                : gls_sh_matrix(basis, order, direction, n, matrix);
}

/* Spreads n directions evenly over the whole sphere (a spiral of golden angles), where even and odd functions can be
 * distinguished. */
static void spread(size_t n, double (*direction)[3])
{
    for (size_t i = 0; i < n; i++) {
        double z = 1 - (2 * (double)i + 1) / (double)n, r = sqrt(1 - z * z), phi = (double)i * M_PI * (3 - sqrt(5));
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
}

void gls_odf_frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            map[r][c] = frame == GLS_BVEC_WORLD ? grid->affine[r][c] / grid->voxel_size[c] : r == c;
    if (frame == GLS_BVEC_FSL && gls_grid_determinant(grid) > 0) map[0][0] = -1;
}

gls_status gls_odf_fail_order(const char *name, size_t n)
{
    return gls_fail(GLS_ERR_INPUT,
                    "%s: %zu volumes fit no SH order (even orders have 1, 6, 15, 28, 45, 66, 91, 120 or 153, full "
                    "bases 4, 9, 16, 25, 36, ... 289)",
                    name, n);
}

/* Computes the transform (k x k) from old to new coefficients: samples the old basis at more directions than there are
 * coefficients, rotated into the old frame, and fits the new basis to the samples. turn: maps directions of the new
 * frame to the old one. Degrees do not mix: entries that join two different degrees, which rounding alone makes, are
 * set to 0. */
static gls_status set_transform(gls_sh_basis from, gls_sh_basis to, int order, bool full, const double turn[3][3],
                                double *transform)
{
    size_t k = full ? gls_sh_full_count(order) : gls_sh_count(order), n = 4 * k + 8;
    gls_status status = GLS_ERR_MEMORY;
    double(*direction)[3] = malloc(n * sizeof *direction);
    double *here = malloc(n * k * sizeof *here), *there = malloc(n * k * sizeof *there),
           *inverse = malloc(n * k * sizeof *inverse);
    double *no_penalty = calloc(k, sizeof *no_penalty);
    if (!direction || !here || !there || !inverse || !no_penalty) {
        gls_error_set("out of memory for %zu SH coefficients", k);
        goto fail;
    }
    spread(n, direction);
    status = evaluate(to, order, full, (const double(*)[3])direction, n, here);
    for (size_t i = 0; i < n; i++) {
        double d[3] = {direction[i][0], direction[i][1], direction[i][2]};
        for (int r = 0; r < 3; r++) direction[i][r] = turn[r][0] * d[0] + turn[r][1] * d[1] + turn[r][2] * d[2];
    }
    if (!status) status = evaluate(from, order, full, (const double(*)[3])direction, n, there);
    if (!status) status = gls_ridge_inverse(here, n, k, no_penalty, inverse, NULL);
    if (status) goto fail;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            bool same = full ? (int)sqrt((double)i) == (int)sqrt((double)j) : gls_sh_degree(i) == gls_sh_degree(j);
            double sum = 0;
            for (size_t d = 0; same && d < n; d++) sum += inverse[i * n + d] * there[d * k + j];
            transform[i * k + j] = fabs(sum) < 1e-12 ? 0 : sum;
        }
fail:
    free(direction);
    free(here);
    free(there);
    free(inverse);
    free(no_penalty);
    return status;
}

/* Applies the transform to all voxels of `sh`; `to` has the same size. matrix: k x k, then rows of zeros up to a
 * multiple of GLS_ODF_ROWS. */
static void transform_image(const float *matrix, size_t k, const gls_image *sh, gls_image *to)
{
    const gls_odf_kernel kernel = gls_odf_kernels[gls_cpu_level()];
    size_t voxels = gls_grid_voxels(&sh->grid), padded = (k + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    long long blocks = (long long)((voxels + GLS_ODF_BLOCK - 1) / GLS_ODF_BLOCK);
#pragma omp parallel
    {
        float in[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 1) * GLS_ODF_BLOCK] __attribute__((aligned(64)));
#pragma omp for schedule(static)
        for (long long block = 0; block < blocks; block++) {
            size_t first = (size_t)block * GLS_ODF_BLOCK,
                   count = voxels - first < GLS_ODF_BLOCK ? voxels - first : GLS_ODF_BLOCK;
            memset(in, 0, k * GLS_ODF_BLOCK * sizeof *in);
            for (size_t j = 0; j < k; j++)
                memcpy(in + j * GLS_ODF_BLOCK, sh->data + j * voxels + first, count * sizeof *in);
            kernel(matrix, padded, k, k, in, count, to->data + first, voxels);
        }
    }
}

/* Makes *out, a matrix that takes coefficients in the basis `from` along from_frame to coefficients in `to` along
 * to_frame. Rows of zeros follow up to a multiple of GLS_ODF_ROWS. The caller frees *out, which is 64-byte aligned.
 * full: the coefficients have odd degrees, too. name: image for messages. */
static gls_status odf_transform(const gls_grid *grid, const char *name, gls_sh_basis from, gls_bvec_frame from_frame,
                                gls_sh_basis to, gls_bvec_frame to_frame, int order, bool full, float **out)
{
    size_t k = full ? gls_sh_full_count(order) : gls_sh_count(order),
           padded = (k + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    size_t bytes = (padded * k * sizeof(float) + 63) / 64 * 64;
    double voxel_to_old[3][3], voxel_to_new[3][3], turn[3][3], new_to_voxel[3][4], map[3][4] = {{0}};
    /* turn: from directions along the new axes to directions along the old ones, by way of the voxel axes; the new
     * coefficients describe the old function at turned directions */
    gls_odf_frame_map(from_frame, grid, voxel_to_old);
    gls_odf_frame_map(to_frame, grid, voxel_to_new);
    for (int r = 0; r < 3; r++) memcpy(map[r], voxel_to_new[r], sizeof voxel_to_new[r]);
    gls_affine_invert((const double(*)[4])map, new_to_voxel);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            turn[r][c] = 0;
            for (int i = 0; i < 3; i++) turn[r][c] += voxel_to_old[r][i] * new_to_voxel[i][c];
        }
    double *transform = malloc(k * k * sizeof *transform);
    float *matrix = aligned_alloc(64, bytes);
    gls_status status = transform && matrix
                            ? set_transform(from, to, order, full, (const double(*)[3])turn, transform)
                            : gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu coefficients", name, k);
    if (!status) {
        memset(matrix, 0, bytes);
        for (size_t i = 0; i < k * k; i++) matrix[i] = (float)transform[i];
        *out = matrix;
    } else {
        free(matrix);
    }
    free(transform);
    return status;
}

gls_status gls_odf_convert_sh(const gls_image *sh, const char *name, gls_sh_basis from, gls_bvec_frame from_frame,
                              gls_sh_basis to, gls_bvec_frame to_frame, gls_image **converted)
{
    GLS_REQUIRE(sh && name && converted);
    GLS_REQUIRE_ENUMERATOR(from, GLS_SH_TOURNIER07);
    GLS_REQUIRE_ENUMERATOR(from_frame, GLS_BVEC_WORLD);
    GLS_REQUIRE_ENUMERATOR(to, GLS_SH_TOURNIER07);
    GLS_REQUIRE_ENUMERATOR(to_frame, GLS_BVEC_WORLD);
    size_t k = sh->n_volumes;
    int order = gls_sh_order(k);
    bool full = order < 0;
    if (full) order = gls_sh_full_order(k);
    if (order < 0) return gls_odf_fail_order(name, k);
    gls_image *made = NULL;
    float *matrix = NULL;
    gls_status status = odf_transform(&sh->grid, name, from, from_frame, to, to_frame, order, full, &matrix);
    if (!status) status = gls_image_allocate(&sh->grid, k, false, &made);
    if (!status) {
        transform_image(matrix, k, sh, made);
        *converted = made;
    }
    free(matrix);
    return status;
}

/* --- Sources. */

gls_odf_options gls_odf_options_default(void)
{
    return (gls_odf_options){.size = sizeof(gls_odf_options), .clip = true};
}

const char *gls_odf_frame_name(gls_bvec_frame frame)
{
    return frame == GLS_BVEC_WORLD ? "world" : frame == GLS_BVEC_FSL ? "fsl" : "image";
}

void gls_odf_source_destroy(gls_odf_source *source)
{
    if (!source) return;
    if (source->parts) {
        free(source->parts->input);
        free(source->parts->matrix);
        free(source->parts->to_legacy);
        free(source->parts->ends);
        gls_sphere_destroy(source->parts->sphere);
        free(source->parts);
    }
    free(source);
}

/* Computes out = map x in. */
static void apply(const double map[3][3], const double in[3], double out[3])
{
    for (int r = 0; r < 3; r++) out[r] = map[r][0] * in[0] + map[r][1] * in[1] + map[r][2] * in[2];
}

/* Checks that a stop map, if any, has one volume on the grid of the image. */
static gls_status check_options(const gls_image *image, const char *name, const gls_odf_options *options)
{
    GLS_REQUIRE(!isnan(options->stop_threshold));
    if (!options->stop_map) return GLS_OK;
    if (options->stop_map->n_volumes != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "the stop map of %s has %zu volumes instead of one", name,
                        options->stop_map->n_volumes);
    return gls_grid_require_equal(&image->grid, name, &options->stop_map->grid, "stop map");
}

/* Allocates a source that borrows the image and copies the options; frame: axes along which coefficients or directions
 * are given. NULL if memory runs out. */
static gls_odf_source *source_alloc(const gls_image *image, const gls_odf_options *options, gls_bvec_frame frame)
{
    gls_odf_source *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->image = image;
    s->options = *options;
    s->parts = calloc(1, sizeof *s->parts);
    if (s->parts) s->parts->input = malloc(image->n_volumes * sizeof *s->parts->input);
    if (!s->parts || !s->parts->input) {
        gls_odf_source_destroy(s);
        return NULL;
    }
    gls_odf_frame_map(frame, &image->grid, s->parts->to_frame);
    return s;
}

/* Whether a full basis has a finite coefficient of an odd degree that differs from 0. */
static bool has_odd_part(const gls_image *sh, int order)
{
    size_t voxels = gls_grid_voxels(&sh->grid);
    for (int l = 1; l <= order; l += 2) {
        const float *value = sh->data + (size_t)(l * l) * voxels;
        for (size_t i = 0; i < (size_t)(2 * l + 1) * voxels; i++)
            if (value[i] != 0 && isfinite(value[i])) return true;
    }
    return false;
}

/* Finds the kind of basis (even, or full) and the order from the number of volumes, and lists the volumes that are
 * used: all, but of a full basis only the volumes of even degrees if those of odd degrees are 0 everywhere.
 * GLS_ERR_INPUT if no basis has this number of coefficients. */
static gls_status find_order(gls_odf_source *s, const char *name)
{
    size_t n = s->image->n_volumes, *used = &s->parts->n_inputs;
    s->order = gls_sh_order(n);
    if (s->order >= 0) {
        for (*used = 0; *used < n; ++*used) s->parts->input[*used] = (uint32_t)*used;
        return GLS_OK;
    }
    int order = gls_sh_full_order(n);
    if (order < 0) return gls_odf_fail_order(name, n);
    s->full = has_odd_part(s->image, order);
    s->order = s->full ? order : order / 2 * 2;
    for (int l = 0; l <= s->order; l += s->full ? 1 : 2)
        for (int m = -l; m <= l; m++) s->parts->input[(*used)++] = (uint32_t)(l * (l + 1) + m);
    return GLS_OK;
}

/* Fills the matrix that samples coefficients on the sphere: the basis at each vertex, rotated to the axes in which the
 * coefficients are given. Rows of zeros follow up to a multiple of GLS_ODF_ROWS. */
static gls_status set_matrix(gls_odf_source *s, const char *name)
{
    struct gls_odf_parts *parts = s->parts;
    size_t n = s->sphere->n, k = parts->n_inputs, padded = (n + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    size_t bytes = (padded * k * sizeof(float) + 63) / 64 * 64;
    double *row = malloc(k * sizeof *row);
    gls_status status = GLS_OK;
    parts->matrix = aligned_alloc(64, bytes);
    if (!row || !parts->matrix) {
        free(row);
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu directions", name, n);
    }
    memset(parts->matrix, 0, bytes);
    for (size_t v = 0; v < n && !status; v++) {
        double d[1][3];
        apply((const double(*)[3])parts->to_frame, s->sphere->vertex[v], d[0]);
        status = s->full ? gls_sh_full_matrix(s->basis, s->order, (const double(*)[3])d, 1, row)
                         : gls_sh_matrix(s->basis, s->order, (const double(*)[3])d, 1, row);
        for (size_t j = 0; j < k && !status; j++) parts->matrix[v * k + j] = (float)row[j];
    }
    free(row);
    return status;
}

/* Whether the frame of the coefficients is the voxel axes. */
static bool is_voxel_frame(const gls_odf_source *s)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (fabs(s->parts->to_frame[r][c] - (r == c)) > 1e-9) return false;
    return true;
}

gls_status gls_odf_source_create_sh(const gls_image *sh, const char *name, gls_sh_basis basis, gls_bvec_frame frame,
                                    const gls_sphere *sphere, const gls_odf_options *options, gls_odf_source **source)
{
    GLS_REQUIRE_SIZE(options);
    const gls_odf_options defaults = gls_odf_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(sh && name && sphere && source);
    GLS_REQUIRE_ENUMERATOR(basis, GLS_SH_TOURNIER07);
    GLS_REQUIRE_ENUMERATOR(frame, GLS_BVEC_WORLD);
    gls_status status = check_options(sh, name, options);
    if (status) return status;
    gls_odf_source *s = source_alloc(sh, options, frame);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    s->is_sh = true;
    s->basis = basis;
    s->sphere = sphere;
    status = find_order(s, name);
    if (!status && s->full && sphere->antipodal) {
        status = gls_sphere_create_full(sphere, &s->parts->sphere);
        s->sphere = s->parts->sphere;
    }
    if (!status) status = set_matrix(s, name);
    if (!status && !s->full && !(basis == GLS_SH_DESCOTEAUX07_LEGACY && is_voxel_frame(s)))
        status = odf_transform(&sh->grid, name, basis, frame, GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, s->order,
                               false, &s->parts->to_legacy);
    if (status) {
        gls_odf_source_destroy(s);
        return status;
    }
    gls_log(GLS_LOG_INFO, "%s: SH of %s order %d, %s axes", name, s->full ? "full (asymmetric)" : "even", s->order,
            gls_odf_frame_name(frame));
    *source = s;
    return GLS_OK;
}

gls_status gls_odf_directions_read(const char *path, double (**direction)[3], size_t *n)
{
    GLS_REQUIRE(path && direction && n);
    double *value = NULL;
    size_t rows, columns;
    gls_status status = gls_table_read(path, &value, &rows, &columns);
    if (status) return status;
    if (columns != 3) {
        free(value);
        return gls_fail(GLS_ERR_INPUT, "%s: %zu columns, but directions need 3 (x y z)", path, columns);
    }
    for (size_t i = 0; i < 3 * rows; i++) {
        if (isfinite(value[i])) continue;
        free(value);
        return gls_fail(GLS_ERR_INPUT, "%s: direction %zu (counted from 0) has a number that is not finite", path,
                        i / 3);
    }
    *direction = (double(*)[3])value;
    *n = rows;
    return GLS_OK;
}

/* Finds the two volumes whose mean is the amplitude of each vertex v. ends[v][0]: order[v], the volume of the direction
 * of the vertex. ends[v][1]: if the sphere has half as many vertices as there are directions, the volume of the
 * opposite direction; otherwise order[v] again. */
static void find_ends(const gls_sphere *sphere, const double (*direction)[3], size_t n, const uint32_t *order,
                      uint32_t (*ends)[2])
{
    for (size_t v = 0; v < sphere->n; v++) {
        const double *a = sphere->vertex[v];
        double nearest = 0;
        ends[v][0] = ends[v][1] = order[v];
        for (uint32_t i = 0; n == 2 * sphere->n && i < n; i++) {
            const double *b = direction[i];
            double cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
            if (!(cosine < nearest)) continue;
            nearest = cosine;
            ends[v][1] = i;
        }
    }
}

/* Whether opposite directions have the same amplitudes in all voxels, within MAX_ASYMMETRY of the largest amplitude.
 * Values that are not finite are ignored. */
static bool is_symmetric(const gls_image *odf, const gls_sphere *sphere, const uint32_t (*ends)[2])
{
    size_t voxels = gls_grid_voxels(&odf->grid);
    float largest = 0, difference = 0;
    for (size_t v = 0; v < sphere->n; v++) {
        const float *a = odf->data + ends[v][0] * voxels, *b = odf->data + ends[v][1] * voxels;
        for (size_t i = 0; i < voxels; i++) {
            float d = fabsf(a[i] - b[i]), m = fabsf(a[i]);
            if (!(d <= FLT_MAX)) continue;
            difference = d > difference ? d : difference;
            largest = m > largest ? m : largest;
        }
    }
    return difference <= MAX_ASYMMETRY * largest;
}

/* Makes the sphere of n directions, rotated from their frame to the voxel axes, and finds the volumes of each vertex.
 * Directions in opposite pairs make an antipodal sphere if the amplitudes are symmetric, a full one otherwise. */
static gls_status set_amplitudes(gls_odf_source *s, const double (*direction)[3], size_t n)
{
    struct gls_odf_parts *parts = s->parts;
    double map[3][4] = {{0}}, inverse[3][4], to_voxels[3][3];
    gls_status status = GLS_ERR_MEMORY;
    double(*along)[3] = malloc(n * sizeof *along);
    uint32_t *order = malloc(n * sizeof *order);
    parts->ends = malloc(2 * n * sizeof *parts->ends);
    if (!along || !order || !parts->ends) {
        gls_error_set("out of memory for %zu directions", n);
        goto fail;
    }
    for (int r = 0; r < 3; r++) memcpy(map[r], parts->to_frame[r], sizeof parts->to_frame[r]);
    gls_affine_invert((const double(*)[4])map, inverse);
    for (int r = 0; r < 3; r++) memcpy(to_voxels[r], inverse[r], sizeof to_voxels[r]);
    for (size_t i = 0; i < n; i++) apply((const double(*)[3])to_voxels, direction[i], along[i]);
    status = gls_sphere_create_guess((const double(*)[3])along, n, &parts->sphere, order);
    if (status) goto fail;
    find_ends(parts->sphere, (const double(*)[3])along, n, order, parts->ends);
    if (parts->sphere->antipodal && n == 2 * parts->sphere->n &&
        !is_symmetric(s->image, parts->sphere, (const uint32_t(*)[2])parts->ends)) {
        gls_sphere *pairs = parts->sphere;
        size_t m = pairs->n;
        parts->sphere = NULL;
        status = gls_sphere_create_full(pairs, &parts->sphere);
        gls_sphere_destroy(pairs);
        for (size_t v = 0; v < m; v++) {
            parts->ends[m + v][0] = parts->ends[m + v][1] = parts->ends[v][1];
            parts->ends[v][1] = parts->ends[v][0];
        }
    }
    s->sphere = parts->sphere;
fail:
    free(along);
    free(order);
    return status;
}

gls_status gls_odf_source_create_amplitudes(const gls_image *odf, const char *name, const double (*direction)[3],
                                            size_t n, const char *sphere_name, gls_bvec_frame frame,
                                            const gls_odf_options *options, gls_odf_source **source)
{
    GLS_REQUIRE_SIZE(options);
    const gls_odf_options defaults = gls_odf_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(odf && name && direction && sphere_name && source);
    if (odf->n_volumes != n)
        return gls_fail(GLS_ERR_INPUT,
                        "%s has %zu volumes, but %s has %zu directions: one amplitude is needed for each", name,
                        odf->n_volumes, sphere_name, n);
    gls_status status = check_options(odf, name, options);
    if (status) return status;
    gls_odf_source *s = source_alloc(odf, options, frame);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    status = set_amplitudes(s, direction, n);
    if (status) {
        char text[512];
        snprintf(text, sizeof text, "%s", gls_last_error());
        gls_odf_source_destroy(s);
        return gls_fail(status, "%s: %s", sphere_name, text);
    }
    gls_log(GLS_LOG_INFO, "%s: %s amplitudes on %zu directions, sampled on %zu vertices, %s axes", name,
            s->sphere->antipodal ? "symmetric" : "asymmetric", n, s->sphere->n, gls_odf_frame_name(frame));
    *source = s;
    return GLS_OK;
}
