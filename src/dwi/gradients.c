/* Gradient tables: reading, checks, and the map to the voxel axes. */
#include <glslines/gradients.h>

#include "dwi/gradients.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NORM_DEVIATION 0.01 /* a vector of a b0 volume is no direction if its length differs from 1 by more */
#define MAX_SCALING 0.01        /* automatic scaling of b-values is on if a squared length differs from 1 by more */
#define MIN_NORM_DEVIATION 1e-5 /* lengths that differ from 1 by less are due to rounding to six digits: no log */
#define MAX_BVAL 1e12           /* largest b-value, s/mm2; scanners have no larger ones, and larger squares overflow */
#define HIGH_B0_THRESHOLD 200.0 /* b-value, s/mm2, from which diffusion is visible in a "b0" volume */
/* Limits of the largest b-value of a table, in s/mm2. */
#define MIN_BVAL 50.0
#define LARGEST_BVAL 1e6

gls_gradients_options gls_gradients_options_default(void)
{
    return (gls_gradients_options){.size = sizeof(gls_gradients_options), .b0_threshold = 50.0, .frame = GLS_BVEC_FSL};
}

void gls_gradients_destroy(gls_gradients *gradients)
{
    if (!gradients) return;
    free(gradients->bval);
    free(gradients->bvec);
    free(gradients->is_b0);
    free(gradients);
}

gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients)
{
    gls_gradients *table = calloc(1, sizeof *table);
    if (table) {
        table->n = n;
        table->bval = calloc(n, sizeof *table->bval);
        table->bvec = calloc(n, sizeof *table->bvec);
        table->is_b0 = calloc(n, sizeof *table->is_b0);
    }
    if (!table || !table->bval || !table->bvec || !table->is_b0) {
        gls_gradients_destroy(table);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a gradient table of %zu volumes", n);
    }
    *gradients = table;
    return GLS_OK;
}

/* Checks the options of a table and warns of a high b0 threshold. grid may be NULL only for vectors along the voxel
 * axes, the one frame that needs no affine. GLS_ERR_ARGUMENT on failure. */
static gls_status check_options(const gls_gradients_options *options, const gls_grid *grid)
{
    GLS_REQUIRE(isfinite(options->b0_threshold) && options->b0_threshold >= 0);
    GLS_REQUIRE((unsigned)options->scaling <= GLS_BVALUES_AS_GIVEN);
    GLS_REQUIRE(options->frame == GLS_BVEC_FSL || options->frame == GLS_BVEC_IMAGE || options->frame == GLS_BVEC_WORLD);
    GLS_REQUIRE(grid || options->frame == GLS_BVEC_IMAGE);
    if (options->b0_threshold >= HIGH_B0_THRESHOLD)
        gls_log(GLS_LOG_WARNING,
                "b0 threshold %g s/mm2 is high: volumes up to that b-value count as not diffusion-weighted",
                options->b0_threshold);
    return GLS_OK;
}

/* Checks b-values in s/mm2 (finite, 0 to MAX_BVAL), copies them to the table and marks as b0 the volumes up to
 * `threshold`. A table without a b0 volume is GLS_ERR_INPUT unless without_b0; name: file that messages name. */
static gls_status set_bvals(gls_gradients *table, const double *bval, double threshold, bool without_b0,
                            const char *name)
{
    double lowest = INFINITY;
    table->b0_threshold = threshold;
    for (size_t i = 0; i < table->n; i++) {
        if (!isfinite(bval[i]))
            return gls_fail(GLS_ERR_INPUT, "%s: volume %zu (counted from 0): the b-value is not a finite number", name,
                            i);
        if (bval[i] < 0)
            return gls_fail(GLS_ERR_INPUT, "%s: volume %zu (counted from 0): negative b-value %g", name, i, bval[i]);
        if (bval[i] > MAX_BVAL)
            return gls_fail(GLS_ERR_INPUT, "%s: volume %zu (counted from 0): the b-value %g s/mm2 is too large", name,
                            i, bval[i]);
        table->bval[i] = bval[i];
        table->is_b0[i] = bval[i] <= threshold;
        table->n_b0 += table->is_b0[i];
        lowest = fmin(lowest, bval[i]);
    }
    if (table->n_b0 == 0 && !without_b0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: no b0 volume: the lowest of %zu b-values is %g s/mm2; --b0-threshold, now %g, is the "
                        "highest b-value that counts as b = 0",
                        name, table->n, lowest, threshold);
    return GLS_OK;
}

/* Linear map from the frame of the file to the voxel axes. *x_flipped: x was negated, as FSL's convention demands for a
 * positive determinant. */
static void frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3], bool *x_flipped)
{
    /* the identity, which GLS_BVEC_IMAGE keeps */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) map[r][c] = r == c;
    *x_flipped = false;
    if (frame == GLS_BVEC_IMAGE) {
        gls_log(GLS_LOG_INFO, "gradients: image rule: vectors taken along the voxel axes as they are");
        return;
    }
    double determinant = gls_affine_det(grid->affine);
    if (frame == GLS_BVEC_FSL) {
        *x_flipped = determinant > 0;
        if (*x_flipped) map[0][0] = -1;
        gls_log(GLS_LOG_INFO, "gradients: FSL rule, affine determinant %+.6g: %s", determinant,
                *x_flipped ? "x of the vectors negated" : "vectors taken along the voxel axes as they are");
        return;
    }
    /* Vectors along the scanner axes: the columns of the affine, scaled to length 1, are the voxel axes in the scanner
     * frame; the inverse of this rotation takes a vector to the voxel axes. */
    double rotation[3][4] = {{0}}, inverse[3][4];
    for (int c = 0; c < 3; c++) {
        double norm = sqrt(grid->affine[0][c] * grid->affine[0][c] + grid->affine[1][c] * grid->affine[1][c] +
                           grid->affine[2][c] * grid->affine[2][c]);
        for (int r = 0; r < 3; r++) rotation[r][c] = grid->affine[r][c] / norm;
    }
    gls_affine_invert(rotation, inverse);
    for (int r = 0; r < 3; r++) memcpy(map[r], inverse[r], sizeof map[r]);
    gls_log(GLS_LOG_INFO,
            "gradients: world rule, affine determinant %+.6g: vectors rotated from scanner axes to voxel axes",
            determinant);
}

/* Squared length of a vector, without a guard against overflow: callers check that the result is finite. */
static double squared_length(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* Copies the b-values to scaled[], multiplied by the squared lengths of their vectors if options->scaling asks for it,
 * or if scaling is automatic and a squared length differs from 1 by more than MAX_SCALING (MRtrix3 and some scanners
 * encode b-values so). B-values up to the b0 threshold, and those of vectors whose length is 0 or not finite, are never
 * multiplied. Returns whether the other b-values were multiplied. */
static bool scale_bvals(const double *bval, const double (*bvec)[3], size_t n, const gls_gradients_options *options,
                        const char *name, double *scaled)
{
    double most = 1;
    for (size_t i = 0; i < n; i++) {
        double square = squared_length(bvec[i]);
        scaled[i] = bval[i];
        if (!(bval[i] > options->b0_threshold && square > 0 && isfinite(square))) continue;
        scaled[i] = bval[i] * square;
        /* most: the squared length that is farthest from 1, as a ratio: 0.5 and 2 are equally far */
        if (fabs(log(square)) > fabs(log(most))) most = square;
    }
    bool means_it = fabs(most - 1) > MAX_SCALING;
    if (means_it && options->scaling == GLS_BVALUES_AS_GIVEN)
        gls_log(GLS_LOG_WARNING, "%s: vectors are not of length 1 (one has %.4g): they are normalised", name,
                sqrt(most));
    if (means_it && options->scaling == GLS_BVALUES_SCALED_AUTO)
        gls_log(GLS_LOG_WARNING,
                "%s: vectors are not of length 1 (one has %.4g): b-values are multiplied by the squared lengths "
                "(--bvalue-scaling off leaves them)",
                name, sqrt(most));
    bool apply = options->scaling == GLS_BVALUES_SCALED || (means_it && options->scaling == GLS_BVALUES_SCALED_AUTO);
    if (!apply) memcpy(scaled, bval, n * sizeof *scaled);
    return apply;
}

/* Scales a vector to length 1 if its length is 1 within MAX_NORM_DEVIATION, or, in a weighted volume, finite and above
 * 0. *deviation: how far the length was from 1. Other vectors of b0 volumes become 0, with deviation 0; other vectors
 * of weighted volumes are GLS_ERR_INPUT. */
static gls_status unit_vector(const double in[3], bool is_b0, double b, size_t volume, const char *name, double out[3],
                              double *deviation)
{
    double norm = sqrt(squared_length(in));
    /* Vectors of b0 volumes that deviate by more than MAX_NORM_DEVIATION are placeholders, not directions. */
    *deviation = fabs(norm - 1);
    if (*deviation <= MAX_NORM_DEVIATION || (!is_b0 && norm > 0 && isfinite(norm))) {
        for (int c = 0; c < 3; c++) out[c] = in[c] / norm;
        return GLS_OK;
    }
    *deviation = 0;
    out[0] = out[1] = out[2] = 0;
    if (is_b0 && !isfinite(norm))
        gls_log(GLS_LOG_DETAIL,
                "%s: volume %zu (counted from 0, b = %g): the vector is not a finite number and counts as 0", name,
                volume, b);
    if (is_b0) return GLS_OK;
    if (!isfinite(norm))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: volume %zu (counted from 0, b = %g): its vector has a number that is not finite", name,
                        volume, b);
    return gls_fail(GLS_ERR_INPUT,
                    "%s: volume %zu (counted from 0, b = %g) is diffusion-weighted, but its vector is zero, as that of "
                    "a mean over directions: leave the volume out of the series and of both tables",
                    name, volume, b);
}

/* Normalises the vectors, which are given in `frame`, and maps them to the voxel axes. */
static gls_status set_bvecs(gls_gradients *table, const double (*bvec)[3], gls_bvec_frame frame, const gls_grid *grid,
                            const char *name)
{
    double map[3][3], largest = 0;
    size_t where = 0;
    frame_map(frame, grid, map, &table->x_flipped);
    for (size_t i = 0; i < table->n; i++) {
        double unit[3], deviation;
        gls_status status = unit_vector(bvec[i], table->is_b0[i], table->bval[i], i, name, unit, &deviation);
        if (status) return status;
        if (deviation > largest) {
            largest = deviation;
            where = i;
        }
        double *v = table->bvec[i];
        for (int r = 0; r < 3; r++) v[r] = map[r][0] * unit[0] + map[r][1] * unit[1] + map[r][2] * unit[2];
        if (frame != GLS_BVEC_WORLD) continue;
        double norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); /* differs from 1 if the affine shears */
        for (int r = 0; r < 3 && norm > 0; r++) v[r] /= norm;
    }
    if (largest > MIN_NORM_DEVIATION)
        gls_log(
            GLS_LOG_INFO,
            "gradients: vectors normalised; the largest deviation from norm 1 was %.2g, in volume %zu (counted from 0)",
            largest, where);
    return GLS_OK;
}

/* Checks that the largest b-value of a table with weighted volumes is possible in s/mm2; GLS_ERR_INPUT otherwise. name:
 * the file, for the message. */
static gls_status check_unit_of_bvals(const gls_gradients *g, const char *name)
{
    double highest = 0;
    for (size_t i = 0; i < g->n; i++) highest = fmax(highest, g->bval[i]);
    if (g->n_b0 == g->n || (highest >= MIN_BVAL && highest <= LARGEST_BVAL)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: the largest b-value is %g, where s/mm2 are expected: %s", name, highest,
                    highest < MIN_BVAL ? "multiply b-values in ms/um2 by 1000" : "divide b-values in s/m2 by 1e6");
}

/* Makes a table from n b-values in s/mm2 and n vectors in the frame of the options; the names are those of the files,
 * for messages. The caller destroys *gradients. Options were checked by check_options(). */
static gls_status create_named(const double *bval, const double (*bvec)[3], size_t n,
                               const gls_gradients_options *options, const gls_grid *grid, const char *bval_name,
                               const char *bvec_name, gls_gradients **gradients)
{
    gls_gradients *table = NULL;
    double *scaled = malloc(n * sizeof *scaled);
    gls_status status = scaled ? gls_gradients_allocate(n, &table)
                               : gls_fail(GLS_ERR_MEMORY, "out of memory for a gradient table of %zu volumes", n);
    if (!status) {
        table->scaled = scale_bvals(bval, bvec, n, options, bvec_name, scaled);
        status = set_bvals(table, scaled, options->b0_threshold, options->without_b0, bval_name);
    }
    free(scaled);
    if (!status) status = check_unit_of_bvals(table, bval_name);
    if (!status) status = set_bvecs(table, bvec, options->frame, grid, bvec_name);
    if (status) {
        gls_gradients_destroy(table);
        return status;
    }
    gls_log(GLS_LOG_INFO, "gradients: %zu of %zu volumes are b0 (b <= %g s/mm2)", table->n_b0, n, table->b0_threshold);
    *gradients = table;
    return GLS_OK;
}

gls_status gls_gradients_create(const double *bval, const double (*bvec)[3], size_t n,
                                const gls_gradients_options *options, const gls_grid *grid, gls_gradients **gradients)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(bval && bvec && gradients && n > 0);
    const gls_gradients_options defaults = gls_gradients_options_default();
    if (!options) options = &defaults;
    gls_status status = check_options(options, grid);
    if (status) return status;
    return create_named(bval, bvec, n, options, grid, "b-values", "b-vectors", gradients);
}

/* Reads one row or column of n_volumes b-values from a text file. The caller frees *bval. GLS_ERR_INPUT for another
 * number of values. */
static gls_status read_bvals(const char *path, size_t n_volumes, double **bval)
{
    double *values = NULL;
    size_t rows, cols;
    gls_status status = gls_table_read(path, &values, &rows, &cols);
    if (status) return status;
    if (rows != 1 && cols != 1)
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: %zu rows of %zu numbers, but b-values are one row or one column: give the file of "
                     "b-values before that of directions; a table with rows x y z b needs - in place of the latter",
                     path, rows, cols);
    else if (rows * cols != n_volumes)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: %zu b-values, but the series has %zu volumes", path, rows * cols, n_volumes);
    if (!status)
        *bval = values;
    else
        free(values);
    return status;
}

/* Reads n_volumes vectors from a text file of 3 rows or 3 columns. A 3 x 3 table is read in the layout of FSL, with x,
 * y and z in rows. The caller frees *bvec. */
static gls_status read_bvecs(const char *path, size_t n_volumes, double (**bvec)[3])
{
    double *values = NULL, (*vectors)[3] = NULL;
    size_t rows, cols;
    gls_status status = gls_table_read(path, &values, &rows, &cols);
    if (status) return status;
    bool by_rows = rows == 3;
    size_t n = by_rows ? cols : rows;
    if (rows != 3 && cols != 3) {
        status = gls_fail(GLS_ERR_INPUT, "%s: %zu rows of %zu numbers, but vectors are 3 rows or 3 columns", path, rows,
                          cols);
        goto done;
    }
    if (n != n_volumes) {
        status = gls_fail(GLS_ERR_INPUT, "%s: %zu vectors, but the series has %zu volumes", path, n, n_volumes);
        goto done;
    }
    vectors = malloc(n * sizeof *vectors);
    if (!vectors) {
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu vectors", path, n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) vectors[i][c] = by_rows ? values[c * cols + i] : values[i * cols + c];
    *bvec = vectors;
done:
    free(values);
    return status;
}

gls_status gls_gradients_read(const char *bval_path, const char *bvec_path, const gls_gradients_options *options,
                              const gls_grid *grid, size_t n_volumes, gls_gradients **gradients)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(bval_path && bvec_path && gradients && n_volumes > 0);
    const gls_gradients_options defaults = gls_gradients_options_default();
    if (!options) options = &defaults;
    double *bval = NULL, (*bvec)[3] = NULL;
    gls_status status = check_options(options, grid);
    if (!status) status = read_bvals(bval_path, n_volumes, &bval);
    if (!status) status = read_bvecs(bvec_path, n_volumes, &bvec);
    if (!status)
        status =
            create_named(bval, (const double(*)[3])bvec, n_volumes, options, grid, bval_path, bvec_path, gradients);
    free(bval);
    free(bvec);
    return status;
}
