/* Grids of voxels, and images in memory: checks, voxel orders, comparison, allocation. */
#include <glslines/image.h>

#include "image/grid.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Grids count as the same if their corners are at most this far apart, in voxels: SAME_GRID without a warning,
 * NEARLY_SAME_GRID with a warning. Files of one series that passed through different programs differ by rounding; a
 * sform with a slight shear differs from its qform by some thousandths. */
#define SAME_GRID 0.01
#define NEARLY_SAME_GRID 0.1

/* Largest number of voxels of a grid, so that the sizes of arrays with several values a voxel do not overflow. */
#define MAX_VOXELS (UINT64_C(1) << 48)

/* Largest number in an affine or its inverse: the product of two such numbers is finite in single precision. */
#define MAX_NUMBER 1e15

/* The largest number of an affine and its inverse; NAN if one of them is not finite. */
static double largest_number(const double affine[3][4])
{
    double inverse[3][4], largest = 0;
    gls_affine_invert(affine, inverse);
    for (int i = 0; i < 12; i++) {
        const double number = fmax(fabs(affine[i / 4][i % 4]), fabs(inverse[i / 4][i % 4]));
        if (!isfinite(affine[i / 4][i % 4]) || !isfinite(inverse[i / 4][i % 4])) return NAN;
        largest = fmax(largest, number);
    }
    return largest;
}

bool gls_affine_has_last_row(const double row[4])
{
    /* the comparison also refuses NaN */
    return fabs(row[0]) + fabs(row[1]) + fabs(row[2]) + fabs(row[3] - 1) <= 1e-5;
}

bool gls_affine_is_usable(const double affine[3][4])
{
    return gls_affine_det(affine) != 0 && largest_number(affine) <= MAX_NUMBER;
}

gls_status gls_grid_init(gls_grid *grid, const int32_t dim[3], const double affine[3][4])
{
    GLS_REQUIRE(grid && dim && affine);
    double size[3];
    for (int c = 0; c < 3; c++) {
        if (dim[c] < 1)
            return gls_fail(GLS_ERR_ARGUMENT, "grid of %d x %d x %d voxels: every dimension must be at least 1", dim[0],
                            dim[1], dim[2]);
        size[c] = sqrt(affine[0][c] * affine[0][c] + affine[1][c] * affine[1][c] + affine[2][c] * affine[2][c]);
    }
    if ((uint64_t)dim[0] * (uint64_t)dim[1] > MAX_VOXELS / (uint64_t)dim[2])
        return gls_fail(GLS_ERR_ARGUMENT, "grid of %d x %d x %d voxels: these are more than 2^48", dim[0], dim[1],
                        dim[2]);
    /* relative to the product of the edges, so that the unit does not matter; the comparison also rejects NaN */
    double volume = size[0] * size[1] * size[2];
    if (!(fabs(gls_affine_det(affine)) > 1e-9 * volume) || !isfinite(volume))
        return gls_fail(GLS_ERR_ARGUMENT, "the affine of the grid is singular or not finite");
    const double number = largest_number(affine);
    if (isnan(number)) return gls_fail(GLS_ERR_ARGUMENT, "the affine of the grid is not finite");
    if (!(number <= MAX_NUMBER))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "the affine of the grid, or its inverse, has the number %g, but at most %g is allowed", number,
                        MAX_NUMBER);
    memcpy(grid->dim, dim, sizeof grid->dim);
    memcpy(grid->affine, affine, sizeof grid->affine);
    grid->affine_source = GLS_AFFINE_GIVEN;
    grid->space = 0;
    memcpy(grid->voxel_size, size, sizeof grid->voxel_size);
    return GLS_OK;
}

size_t gls_grid_voxels(const gls_grid *grid)
{
    return (size_t)grid->dim[0] * (size_t)grid->dim[1] * (size_t)grid->dim[2];
}

double gls_grid_determinant(const gls_grid *grid)
{
    return gls_affine_det(grid->affine);
}

void gls_grid_inverse(const gls_grid *grid, double inverse[3][4])
{
    gls_affine_invert(grid->affine, inverse);
}

void gls_grid_extent(const gls_grid *grid, double low[3], double high[3])
{
    for (int corner = 0; corner < 8; corner++) {
        double p[3], w[3];
        /* corners of voxels lie half a voxel outside their centres */
        for (int a = 0; a < 3; a++) p[a] = corner >> a & 1 ? grid->dim[a] - 0.5 : -0.5;
        gls_affine_apply(grid->affine, p, w);
        for (int a = 0; a < 3; a++) {
            low[a] = corner == 0 ? w[a] : fmin(low[a], w[a]);
            high[a] = corner == 0 ? w[a] : fmax(high[a], w[a]);
        }
    }
}

void gls_grid_centre(const gls_grid *grid, size_t voxel, int32_t centre[3])
{
    size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    centre[0] = (int32_t)(voxel % nx);
    centre[1] = (int32_t)(voxel / nx % ny);
    centre[2] = (int32_t)(voxel / nx / ny);
}

bool gls_grid_direction(const gls_grid *grid, const double world[3], double along[3])
{
    const double *d = world;
    double inverse[3][4], square = 0;
    gls_grid_inverse(grid, inverse);
    for (int a = 0; a < 3; a++) {
        along[a] = grid->voxel_size[a] * (inverse[a][0] * d[0] + inverse[a][1] * d[1] + inverse[a][2] * d[2]);
        square += along[a] * along[a];
    }
    for (int a = 0; a < 3 && square > 0; a++) along[a] /= sqrt(square);
    return square > 0;
}

void gls_grid_axis_codes(const gls_grid *grid, char codes[4])
{
    /* The method is that of nibabel's io_orientation(), because readers of TRK files compare these letters with
     * nibabel's. */
    static const char names[3][2] = {{'L', 'R'}, {'P', 'A'}, {'I', 'S'}};
    bool taken[3] = {false, false, false};
    double directions[3][4], q[3][3];
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) directions[r][c] = c < 3 ? grid->affine[r][c] / grid->voxel_size[c] : 0.0;
    }
    gls_affine_rotation((const double(*)[4])directions, q);
    for (int c = 0; c < 3; c++) {
        int best = -1;
        for (int r = 0; r < 3; r++) {
            if (!taken[r] && (best < 0 || fabs(q[r][c]) > fabs(q[best][c]))) best = r;
        }
        taken[best] = true;
        codes[c] = names[best][q[best][c] > 0];
    }
    codes[3] = '\0';
}

/* Largest distance, in voxels of a, between the positions of a corner of the grid under both affines. */
static double corner_distance(const gls_grid *a, const gls_grid *b)
{
    double worst = 0.0, inverse[3][4];
    gls_affine_invert(a->affine, inverse);
    for (int corner = 0; corner < 8; corner++) {
        double p[3], world[3], q[3], square = 0.0;
        for (int i = 0; i < 3; i++) p[i] = corner >> i & 1 ? a->dim[i] - 0.5 : -0.5;
        gls_affine_apply(b->affine, p, world);
        gls_affine_apply(inverse, world, q);
        for (int i = 0; i < 3; i++) square += (q[i] - p[i]) * (q[i] - p[i]);
        worst = fmax(worst, sqrt(square));
    }
    return worst;
}

bool gls_grid_same(const gls_grid *a, const gls_grid *b)
{
    return memcmp(a->dim, b->dim, sizeof a->dim) == 0 && corner_distance(a, b) <= SAME_GRID;
}

/* Describes a grid in one line, for messages on grids that differ. */
static void describe(const gls_grid *g, char *text, size_t n)
{
    static const char *const sources[] = {"", " from the sform", " from the qform", " from the voxel sizes"};
    char codes[4];
    gls_grid_axis_codes(g, codes);
    const double(*m)[4] = g->affine;
    gls_snprintf(
        text, n,
        "%d x %d x %d voxels of %.4g x %.4g x %.4g mm, %s, affine%s [%.7g %.7g %.7g %.7g; %.7g %.7g %.7g %.7g; %.7g "
        "%.7g %.7g %.7g]",
        g->dim[0], g->dim[1], g->dim[2], g->voxel_size[0], g->voxel_size[1], g->voxel_size[2], codes,
        sources[g->affine_source], m[0][0], m[0][1], m[0][2], m[0][3], m[1][0], m[1][1], m[1][2], m[1][3], m[2][0],
        m[2][1], m[2][2], m[2][3]);
}

gls_status gls_grid_require_equal(const gls_grid *a, const char *name_a, const gls_grid *b, const char *name_b)
{
    GLS_REQUIRE(a && name_a && b && name_b);
    char text_a[360], text_b[360], reason[64];
    bool same_dim = memcmp(a->dim, b->dim, sizeof a->dim) == 0;
    double distance = same_dim ? corner_distance(a, b) : 0.0;
    if (same_dim && distance <= SAME_GRID) return GLS_OK;
    if (same_dim && distance <= NEARLY_SAME_GRID) {
        gls_log(GLS_LOG_WARNING, "%s and %s: corners of the grids lie up to %.2g voxels apart; they count as one grid",
                name_a, name_b, distance);
        return GLS_OK;
    }
    describe(a, text_a, sizeof text_a);
    describe(b, text_b, sizeof text_b);
    if (same_dim)
        gls_snprintf(reason, sizeof reason, "corners up to %.3g voxels apart", distance);
    else
        snprintf(reason, sizeof reason, "dimensions differ");
    return gls_fail(GLS_ERR_INPUT, "%s and %s are on different grids (%s): %s against %s", name_a, name_b, reason,
                    text_a, text_b);
}

/* Largest number of values of an image. The limit keeps later products of sizes far from overflow. */
#define MAX_VALUES ((uint64_t)1 << 45)

gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image)
{
    uint64_t n;
    const size_t huge_page = (size_t)2 << 20;
    if (__builtin_mul_overflow((uint64_t)grid->dim[0] * (uint64_t)grid->dim[1], (uint64_t)grid->dim[2], &n) ||
        __builtin_mul_overflow(n, n_volumes, &n) || n > MAX_VALUES)
        return gls_fail(GLS_ERR_MEMORY, "image of %d x %d x %d x %zu values is too large", grid->dim[0], grid->dim[1],
                        grid->dim[2], n_volumes);
    size_t bytes = (size_t)n * sizeof(float);
    gls_image *made = calloc(1, sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "no memory for an image");
    made->grid = *grid;
    made->n_volumes = n_volumes;
    if (bytes >= 2 * huge_page) {
        /* use large pages, because the first touch of a large image in small pages takes as long as converting its
         * values */
        made->data = aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
        if (made->data) madvise(made->data, bytes, MADV_HUGEPAGE);
        if (made->data && zeroed) memset(made->data, 0, bytes);
    } else {
        made->data = calloc(1, bytes);
    }
    if (!made->data) {
        free(made);
        return gls_fail(GLS_ERR_MEMORY, "no memory for an image of %d x %d x %d x %zu values", grid->dim[0],
                        grid->dim[1], grid->dim[2], n_volumes);
    }
    *image = made;
    return GLS_OK;
}

gls_status gls_image_create(const gls_grid *grid, size_t n_volumes, gls_image **image)
{
    GLS_REQUIRE(grid && image && n_volumes >= 1);
    gls_grid checked;
    gls_status status = gls_grid_init(&checked, grid->dim, grid->affine);
    if (status) return status;
    checked.space = grid->space;
    return gls_image_allocate(&checked, n_volumes, true, image);
}

gls_status gls_image_wrap(const gls_grid *grid, size_t n_volumes, float *data, gls_image **image)
{
    GLS_REQUIRE(grid && data && image && n_volumes >= 1);
    gls_grid checked;
    gls_status status = gls_grid_init(&checked, grid->dim, grid->affine);
    if (status) return status;
    checked.space = grid->space;
    gls_image *made = malloc(sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "no memory for an image");
    *made = (gls_image){.grid = checked, .n_volumes = n_volumes, .data = data, .is_wrapped = true};
    *image = made;
    return GLS_OK;
}

void gls_image_destroy(gls_image *image)
{
    if (!image) return;
    if (!image->is_wrapped) free(image->data);
    free(image);
}

gls_status gls_image_kind_check(const char *path, gls_image_kind kind, const gls_grid *grid, size_t n_volumes)
{
    const int32_t *d = grid->dim;
    if (kind == GLS_IMAGE_3D && n_volumes != 1)
        return gls_fail(GLS_ERR_INPUT, "%s: is a 4D series of %zu volumes (%d x %d x %d), but a 3D image is needed",
                        path, n_volumes, d[0], d[1], d[2]);
    if (kind == GLS_IMAGE_4D && n_volumes < 2)
        return gls_fail(GLS_ERR_INPUT, "%s: is an image of one volume (%d x %d x %d), but several are needed", path,
                        d[0], d[1], d[2]);
    return GLS_OK;
}

size_t gls_image_stem(const char *path)
{
    static const char *const suffixes[] = {".nii", ".hdr", ".img", ".mif", ".mih"};
    size_t n = strlen(path);
    if (gls_case_ends(path, ".gz")) n -= 3;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (n > 4 && gls_case_compare_n(path + n - 4, suffixes[i], 4) == 0) return n - 4;
    return n;
}
