/* The gradient table of a series: finds the table beside the series or in its header, reads it, and compares it with
 * another. */
#include "workflow/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/formats.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_ANGLE 0.5  /* degrees; rounding to three digits stays below this */
#define MAX_BVAL 20.0  /* s/mm2, and */
#define MAX_SHARE 0.05 /* share of the b-value: limits of the difference between two tables */

#define HIGH_BVAL 1e6         /* s/mm2; no scanner reaches this */
#define HIGH_BVAL_MS_UM2 50.0 /* about the same in ms/um2 */

const char *gls_table_path(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Length of a path without .nii, .nii.gz, .mif or a similar suffix. */
static size_t stem_length(const char *path)
{
    static const char *const suffixes[] = {".nii", ".hdr", ".img", ".mif", ".mih"};
    size_t n = strlen(path);
    if (gls_case_ends(path, ".gz")) n -= 3;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (n > 4 && gls_case_compare_n(path + n - 4, suffixes[i], 4) == 0) return n - 4;
    return n;
}

/* Whether the header of a .mif or .mih has a gradient table (dw_scheme). */
static bool has_own_table(const char *dwi)
{
    gls_mif_header header;
    if (!gls_mif_is_name(dwi) || gls_mif_read_header(dwi, &header) != GLS_OK) return false;
    bool has = header.n_scheme > 0;
    gls_mif_header_finish(&header);
    return has;
}

/* Finds two files whose names are the first n bytes of path and an ending each. Both NULL: they do not exist. */
static gls_status find_pair(const char *path, size_t n, const char *const ending[2], char **bval, char **bvec)
{
    if (asprintf(bval, "%.*s%s", (int)n, path, ending[0]) < 0) *bval = NULL;
    if (asprintf(bvec, "%.*s%s", (int)n, path, ending[1]) < 0) *bvec = NULL;
    if (*bval && *bvec && access(*bval, F_OK) == 0 && access(*bvec, F_OK) == 0) return GLS_OK;
    bool memory = *bval && *bvec;
    free(*bval);
    free(*bvec);
    *bval = *bvec = NULL;
    return memory ? GLS_OK : gls_no_memory();
}

/* Finds files with the name of the series. Both NULL: none. */
static gls_status find_beside(const char *dwi, char **bval, char **bvec)
{
    static const char *const names[][2] = {{".bval", ".bvec"}, {".bvals", ".bvecs"}};
    gls_status status = find_pair(dwi, stem_length(dwi), names[0], bval, bvec);
    return status || *bval ? status : find_pair(dwi, stem_length(dwi), names[1], bval, bvec);
}

gls_status gls_series_find_table(const char *dwi, char **bval, char **bvec)
{
    /* names in the folder of FSL: bvals and bvecs */
    static const char *const names[][2] = {{"bvals", "bvecs"}, {"bval", "bvec"}};
    const char *slash = strrchr(dwi, '/');
    size_t folder = slash ? (size_t)(slash + 1 - dwi) : 0, stem = stem_length(dwi);
    gls_status status = gls_input_file_check(&(gls_input_file){.path = dwi});
    *bval = *bvec = NULL;
    if (status) return status;
    if (has_own_table(dwi)) {
        gls_log(GLS_LOG_INFO, "gradients: the table in the header of %s", dwi);
        *bval = strdup("-");
        *bvec = strdup("-");
        return *bval && *bvec ? GLS_OK : gls_no_memory();
    }
    /* order: named like the series, then the folder's */
    status = find_beside(dwi, bval, bvec);
    for (size_t i = 0; i < 2 && !status && !*bval; i++) status = find_pair(dwi, folder, names[i], bval, bvec);
    if (status) return status;
    if (*bval) {
        gls_log(GLS_LOG_INFO, "gradients: %s and %s", *bval, *bvec);
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT,
                    "%s: no gradient table lies %sbeside it (%.*s.bval and .bvec, or bvals and bvecs in its folder): "
                    "name its files, BVAL and BVEC, behind the series",
                    dwi, gls_mif_is_name(dwi) ? "in its header (dw_scheme) or " : "", (int)stem, dwi);
}

/* Warns if a corrected series is used with directions that were not rotated with it, while rotated ones exist. */
static void warn_of_rotated(const char *dwi, const char *bvec)
{
    char *rotated = NULL;
    size_t n = stem_length(dwi), used = strlen(bvec);
    if (used > strlen("rotated_bvecs") && strcmp(bvec + used - strlen("rotated_bvecs"), "rotated_bvecs") == 0) return;
    if (asprintf(&rotated, "%.*s.eddy_rotated_bvecs", (int)n, dwi) < 0) return;
    if (access(rotated, F_OK) == 0)
        gls_log(GLS_LOG_WARNING, "%s lies beside the series, but the directions are read from %s", rotated, bvec);
    free(rotated);
}

/* Angle between two directions without sign, 0 to 90 degrees. The sine by the cross product is exact for small angles,
 * too. */
static double degrees_between(const double a[3], const double b[3])
{
    double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double sine = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
    return atan2(sine, fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])) * (180 / 3.14159265358979323846);
}

/* Warns of directions and b-values that differ between two tables of equal length. */
static void compare(const gls_gradients *a, const char *name_a, const gls_gradients *b, const char *name_b)
{
    double angle = 0, bval = 0;
    for (size_t i = 0; i < a->n; i++) {
        double apart = fabs(a->bval[i] - b->bval[i]);
        if (apart > MAX_BVAL && apart > MAX_SHARE * b->bval[i]) bval = fmax(bval, apart);
        if (!a->is_b0[i] && !b->is_b0[i]) angle = fmax(angle, degrees_between(a->bvec[i], b->bvec[i]));
    }
    if (angle > MAX_ANGLE)
        gls_log(GLS_LOG_WARNING, "%s and %s differ by up to %.1f degrees; the latter is taken", name_a, name_b, angle);
    if (bval > 0)
        gls_log(GLS_LOG_WARNING, "%s and %s: b-values differ by up to %.4g s/mm2; those of the latter are taken",
                name_a, name_b, bval);
}

/* Options of reading a table. Given responses make a table without b = 0 usable. */
static gls_gradients_options table_options(const gls_model_options *options)
{
    return (gls_gradients_options){.size = sizeof(gls_gradients_options),
                                   .b0_threshold = options->b0_threshold,
                                   .frame = (gls_bvec_frame)options->bvec_frame,
                                   .scaling = options->bvalue_scaling,
                                   .without_b0 = options->response_wm != NULL};
}

void gls_series_compare_table(const gls_series *s, const char *bval, const char *bvec, const char *used)
{
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *other = NULL;
    char in_header[1024];
    const gls_grid *grid = &s->dwi->grid;
    options.b0_threshold = s->gradients->b0_threshold;
    /* the other table is compared only, so it may lack b = 0 */
    options.without_b0 = true;
    snprintf(in_header, sizeof in_header, "the table in the header of %s", bval);
    const char *name = bvec ? bvec : strcmp(bval, s->name) == 0 ? in_header : bval;
    /* messages about the other table would confuse */
    gls_log_mute_info(true);
    gls_status status = bvec ? gls_gradients_read(bval, bvec, &options, grid, s->dwi->n_volumes, &other)
                             : gls_gradients_read_table(bval, &options, grid, s->dwi->n_volumes, &other);
    gls_log_mute_info(false);
    if (status)
        gls_log(GLS_LOG_WARNING, "%s is not used: %s", name, gls_last_error());
    else
        compare(other, name, s->gradients, used);
    gls_gradients_destroy(other);
}

/* Compares the table in use with the one in the header, or the one in the header with the one beside the series. */
static void compare_with_other(const gls_series *s, const char *bval, const char *bvec)
{
    char *beside[2] = {NULL, NULL}, in_header[1024];
    if (!has_own_table(s->name)) return;
    snprintf(in_header, sizeof in_header, "the table in the header of %s", s->name);
    if (bval)
        gls_series_compare_table(s, s->name, NULL, bvec ? bvec : bval);
    else if (find_beside(s->name, &beside[0], &beside[1]) == GLS_OK && beside[0])
        gls_series_compare_table(s, beside[0], beside[1], in_header);
    free(beside[0]);
    free(beside[1]);
}

/* Returns GLS_ERR_INPUT for tables in other units: all volumes are b = 0, or b-values are beyond any scanner. */
static gls_status check_bvals(const gls_gradients *g, const char *path)
{
    double highest = 0;
    for (size_t i = 0; i < g->n; i++) highest = fmax(highest, g->bval[i]);
    if (highest > HIGH_BVAL)
        gls_log(GLS_LOG_WARNING, "%s: b-values up to %g s/mm2: if they are in s/m2, divide them by 1e6", path, highest);
    if (g->n_b0 < g->n) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: no diffusion-weighted volume: the largest of %zu b-values is %g s/mm2, which counts as b = 0 "
                    "(--b0-threshold %g)%s",
                    path, g->n, highest, g->b0_threshold,
                    highest > 0 && highest <= HIGH_BVAL_MS_UM2 ? "; if they are in ms/um2, multiply them by 1000" : "");
}

gls_status gls_series_read_table(gls_series *s, const gls_input_file *files, const gls_model_options *options)
{
    const gls_gradients_options table = table_options(options);
    const gls_grid *grid = &s->dwi->grid;
    const char *bval = files[1].path, *bvec = files[2].path;
    if (!bval && (bvec || !gls_mif_is_name(s->name)))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: no b-values: - for BVAL and BVEC stands for the table in the header of a .mif", s->name);
    s->frame = bvec ? table.frame : GLS_BVEC_WORLD; /* tables of one file use the scanner axes */
    if (bvec) warn_of_rotated(s->name, bvec);
    gls_status status =
        bvec ? gls_gradients_read(bval, bvec, &table, grid, s->dwi->n_volumes, &s->gradients)
             : gls_gradients_read_table(bval ? bval : s->name, &table, grid, s->dwi->n_volumes, &s->gradients);
    if (!status) status = check_bvals(s->gradients, bval ? bval : s->name);
    if (!status) compare_with_other(s, bval, bvec);
    return status;
}
