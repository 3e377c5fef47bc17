/* A diffusion series with its gradient table: finds and reads the table, compares it with another one, selects the
 * volumes that a run uses, checks their values, lists shells, and makes the brain mask. */
#include "dwi/series.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/normalise.h>

#include "image/nifti_read.h"
#include "dwi/gradients_shells.h"
#include "image/formats.h"
#include "image/grid.h"
#include "image/mif_header.h"
#include "image/nifti_header.h"
#include "image/stream.h"
#include "util/status.h"
#include "util/text.h"

#define MRTRIX_B0 10.0 /* MRtrix3's threshold of b = 0, s/mm2 */

gls_status gls_series_fail(const gls_series *s, gls_status status)
{
    char reason[GLS_MESSAGE_BYTES];
    if (status != GLS_ERR_INPUT) return status;
    snprintf(reason, sizeof reason, "%s", gls_last_error());
    return gls_fail(status, "%s: %s", s->name, reason);
}

gls_status gls_series_make_mask(const gls_series *s, gls_image **mask)
{
    gls_log(GLS_LOG_INFO, "no mask is given: it is made from %s", s->name);
    return gls_mask_estimate(s->dwi, s->gradients, mask);
}

gls_status gls_series_read(gls_series *s, const char *const path[3], const gls_model_options *o, bool values)
{
    const gls_gradients_options table = {.size = sizeof table,
                                         .b0_threshold = o->b0_threshold,
                                         .frame = (gls_bvec_frame)o->bvec_frame,
                                         .scaling = o->bvalue_scaling,
                                         .without_b0 = o->response_wm != NULL};
    s->name = path[0];
    gls_status status =
        values ? gls_image_read(s->name, GLS_IMAGE_4D, &s->dwi) : gls_image_read_header(s->name, GLS_IMAGE_4D, &s->dwi);
    if (status) return status;
    const gls_grid *grid = &s->dwi->grid;
    char axes[4];
    gls_grid_axis_codes(grid, axes);
    gls_log(GLS_LOG_INFO, "%s: %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes", s->name,
            grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2],
            axes, s->dwi->n_volumes);
    status = gls_series_read_table(s, path[1], path[2], &table);
    return status ? status : gls_series_select(s, o);
}

/* --- The volumes that a run uses. */

const gls_image *gls_series_tensor_dwi(const gls_series *s)
{
    return s->tensor_dwi ? s->tensor_dwi : s->dwi;
}

const gls_gradients *gls_series_tensor_gradients(const gls_series *s)
{
    return s->tensor_gradients ? s->tensor_gradients : s->gradients;
}

const gls_gradients *gls_series_table(const gls_series *s)
{
    return s->table ? s->table : s->gradients;
}

/* Selects b = 0 and the shells of an option. Without shells *table and *volume stay NULL, which stands for all. */
static gls_status select_volumes(const gls_series *s, const gls_numbers *shells, gls_gradients **table, size_t **volume)
{
    if (shells->n == 0) return GLS_OK;
    return gls_series_fail(s,
                           gls_gradients_select_shells(s->gradients, shells->value, (size_t)shells->n, table, volume));
}

/* Copies n volumes to a new image. */
static gls_status copy_volumes(const gls_image *dwi, const size_t *volume, size_t n, gls_image **copy)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    gls_status status = gls_image_create(&dwi->grid, n, copy);
    for (size_t t = 0; t < n && !status; t++)
        memcpy((*copy)->data + t * voxels, dwi->data + volume[t] * voxels, voxels * sizeof *(*copy)->data);
    return status;
}

/* Drops all volumes of an image but these n, whose indices ascend, and gives their memory back. dwi NULL: there is
 * none.
 */
static void keep_volumes(gls_image *dwi, const size_t *volume, size_t n)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    assert(volume);
    if (!dwi) return;
    dwi->n_volumes = n;
    if (!dwi->data) return;
    for (size_t t = 0; t < n; t++)
        if (volume[t] != t) memcpy(dwi->data + t * voxels, dwi->data + volume[t] * voxels, voxels * sizeof *dwi->data);
    float *smaller = realloc(dwi->data, n * voxels * sizeof *smaller);
    if (smaller) dwi->data = smaller;
}

gls_status gls_series_select(gls_series *s, const gls_model_options *o)
{
    gls_gradients *used = NULL, *tensor = NULL;
    size_t *volume = NULL, *of_tensor = NULL, n = s->gradients->n;
    gls_status status = select_volumes(s, &o->shells, &used, &volume);
    if (!status) status = select_volumes(s, &o->tensor_shells, &tensor, &of_tensor);
    const size_t n_used = used ? used->n : n;
    bool same = !tensor || tensor->n == n_used;
    for (size_t i = 0; tensor && same && i < n_used; i++) same = of_tensor[i] == (volume ? volume[i] : i);
    if (!status && !same && s->dwi && s->dwi->data) status = copy_volumes(s->dwi, of_tensor, tensor->n, &s->tensor_dwi);
    if (!status && !same) {
        s->tensor_gradients = tensor;
        tensor = NULL;
    }
    if (!status && n_used < n) {
        keep_volumes(s->dwi, volume, n_used);
        s->table = s->gradients;
        s->gradients = used;
        used = NULL;
    }
    gls_gradients_destroy(used);
    gls_gradients_destroy(tensor);
    free(volume);
    free(of_tensor);
    return status;
}

/* --- The values of the series. */

/* Features of one volume, or of a whole series; each number is 0 or 1. */
typedef struct volume_look {
    int32_t odd, positive; /* odd: a value is not finite; positive: a value in the mask is above 0 */
    int32_t positive_b0;   /* for a series, `positive` of its volumes of b = 0; for one volume, 0 */
} volume_look;

/* Finds `odd` and `positive` of one volume; positive_b0 stays 0. The loop has no branches so that the compiler
 * vectorises it: a series has some 100 million values. */
static volume_look look_at(const float *volume, const float *mask, size_t n)
{
    int32_t odd = 0, positive = 0;
    for (size_t i = 0; i < n; i++) {
        odd |= !(volume[i] - volume[i] == 0);
        positive |= (volume[i] > 0) & (mask[i] > 0);
    }
    return (volume_look){odd, positive, 0};
}

/* Sets broken[i] of the voxels whose value in this volume is not finite. */
static void mark_broken(const float *volume, size_t n, uint8_t *broken)
{
    for (size_t i = 0; i < n; i++) broken[i] |= !isfinite(volume[i]);
}

/* Warns of voxels that have a value which is not finite, and sets all values of these voxels to 0. */
static gls_status clear_broken(const char *name, gls_image *dwi)
{
    size_t n = gls_grid_voxels(&dwi->grid), n_broken = 0;
    uint8_t *broken = calloc(n, 1);
    if (!broken) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu voxels", name, n);
    for (size_t t = 0; t < dwi->n_volumes; t++) mark_broken(dwi->data + t * n, n, broken);
    for (size_t t = 0; t < dwi->n_volumes; t++)
        for (size_t i = 0; i < n; i++)
            if (broken[i]) dwi->data[t * n + i] = 0;
    for (size_t i = 0; i < n; i++) n_broken += broken[i];
    free(broken);
    gls_log(GLS_LOG_WARNING, "%s: values of %zu voxels are not finite: these voxels count as empty", name, n_broken);
    return GLS_OK;
}

/* Features of a whole series: each is 1 if any volume has it. */
static volume_look look_at_all(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask)
{
    size_t n = gls_grid_voxels(&dwi->grid);
    const bool *is_b0 = gradients->is_b0;
    int32_t odd = 0, positive = 0, positive_b0 = 0;
#pragma omp parallel for schedule(static) reduction(| : odd, positive, positive_b0)
    for (size_t t = 0; t < dwi->n_volumes; t++) {
        volume_look look = look_at(dwi->data + t * n, mask->data, n);
        odd |= look.odd;
        positive |= look.positive;
        positive_b0 |= is_b0[t] ? look.positive : 0;
    }
    return (volume_look){odd, positive, positive_b0};
}

/* Does the work of gls_series_check() for volumes of the series and their table. */
static gls_status check_volumes(const char *name, gls_image *dwi, const gls_gradients *gradients, const gls_image *mask)
{
    volume_look look = look_at_all(dwi, gradients, mask);
    if (look.odd) {
        gls_status status = clear_broken(name, dwi);
        if (status) return status;
        look = look_at_all(dwi, gradients, mask);
    }
    if (!look.positive)
        return gls_fail(GLS_ERR_INPUT, "%s: no value inside the mask is above 0: is the mask that of the brain?", name);
    if (look.positive_b0 || gradients->n_b0 == 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: no value of its b = 0 volumes is above 0 inside the mask: is the gradient table in the order "
                    "of the volumes?",
                    name);
}

gls_status gls_series_check(gls_series *s, const gls_image *mask)
{
    gls_status status = check_volumes(s->name, s->dwi, s->gradients, mask);
    if (!status && s->tensor_dwi) status = check_volumes(s->name, s->tensor_dwi, s->tensor_gradients, mask);
    return status;
}

/* Logs which volumes of a series are used, if not all of them are. */
static gls_status log_used(const gls_series *s, const gls_gradients *used, const char *option)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    char text[1024];
    if (!used || used->n == gls_series_table(s)->n) return GLS_OK;
    gls_status status = gls_gradients_cluster(used, &shell, &n, NULL);
    if (status) return status;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    gls_log(GLS_LOG_INFO, "  used (--%s): %zu volumes, b = 0 (%zu volumes) and %s", option, used->n, used->n_b0, text);
    free(shell);
    return GLS_OK;
}

gls_status gls_series_log_shells(gls_series *s)
{
    size_t n;
    gls_status status = gls_gradients_shells(gls_series_table(s), s->shell, SERIES_MAX_SHELLS, &n);
    if (status) return status;
    s->n_shells = n < SERIES_MAX_SHELLS ? n : SERIES_MAX_SHELLS;
    gls_log(GLS_LOG_INFO, "  %12s  %8s  %s", "b [s/mm2]", "volumes", "measured b");
    for (size_t i = 0; i < s->n_shells; i++) {
        const gls_shell *shell = &s->shell[i];
        gls_log(GLS_LOG_INFO, "  %12.6g  %8zu  %.6g to %.6g", shell->bval, shell->n, shell->min_bval, shell->max_bval);
    }
    if (n > 0 && s->shell[0].is_b0 && s->shell[0].max_bval > MRTRIX_B0)
        gls_log(GLS_LOG_INFO,
                "  volumes up to b = %.6g s/mm2 count as b = 0 (--b0-threshold); MRtrix3 counts those up to %g",
                s->shell[0].max_bval, MRTRIX_B0);
    if (n > SERIES_MAX_SHELLS) gls_log(GLS_LOG_INFO, "  (and %zu more)", n - SERIES_MAX_SHELLS);
    status = log_used(s, s->gradients, "shells");
    return status ? status : log_used(s, s->tensor_gradients, "tensor-shells");
}

void gls_series_finish(gls_series *s)
{
    gls_image_destroy(s->dwi);
    gls_gradients_destroy(s->gradients);
    gls_image_destroy(s->tensor_dwi);
    gls_gradients_destroy(s->tensor_gradients);
    gls_gradients_destroy(s->table);
    *s = (gls_series){.dwi = NULL};
}

/* --- The gradient table of a series: finds the table beside the series or in its header, reads it, and compares it
 * with another. */

/* Tables differ if an angle between their directions is above MAX_ANGLE, in degrees (rounding to three digits causes
 * less), or if a b-value differs by more than MAX_BVAL, in s/mm2, and by more than MAX_SHARE of the b-value. */
#define MAX_ANGLE 0.5
#define MAX_BVAL 20.0
#define MAX_SHARE 0.05

#define HIGH_BVAL 1e6         /* b-value that no scanner reaches, s/mm2 */
#define HIGH_BVAL_MS_UM2 50.0 /* b-values up to this may be in ms/um2 instead of s/mm2 */

const char *gls_table_path(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
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

/* Finds two files: the names are the first n bytes of path, with ending[0] and ending[1]. Both NULL unless both files
 * exist. */
static gls_status find_pair(const char *path, size_t n, const char *const ending[2], char **bval, char **bvec)
{
    gls_asprintf(bval, "%.*s%s", (int)n, path, ending[0]);
    gls_asprintf(bvec, "%.*s%s", (int)n, path, ending[1]);
    if (*bval && *bvec && access(*bval, F_OK) == 0 && access(*bvec, F_OK) == 0) return GLS_OK;
    bool memory = *bval && *bvec;
    free(*bval);
    free(*bvec);
    *bval = *bvec = NULL;
    return memory ? GLS_OK : gls_no_memory();
}

/* Finds x.bval and x.bvec, else x.bvals and x.bvecs, beside a series x.nii. Both NULL: neither pair exists. */
static gls_status find_beside(const char *dwi, char **bval, char **bvec)
{
    static const char *const names[][2] = {{".bval", ".bvec"}, {".bvals", ".bvecs"}};
    gls_status status = find_pair(dwi, gls_image_stem(dwi), names[0], bval, bvec);
    return status || *bval ? status : find_pair(dwi, gls_image_stem(dwi), names[1], bval, bvec);
}

/* GLS_ERR_INPUT: the header of a series cannot be read. For a series without a table, since one of a format that is not
 * read has no table that could be found. */
static gls_status check_format(const char *dwi)
{
    gls_mif_header mif;
    gls_nifti_header nifti;
    gls_stream *stream = NULL;
    uint64_t used;
    if (gls_mif_is_name(dwi)) {
        gls_status status = gls_mif_read_header(dwi, &mif);
        if (!status) gls_mif_header_finish(&mif);
        return status;
    }
    /* a pipe is read once only, by the reader of the image */
    gls_status status = gls_stream_open_regular(dwi, &stream);
    if (!status) status = gls_nifti_read_header(stream, dwi, &nifti, &used);
    gls_stream_close(stream);
    return status;
}

gls_status gls_series_find_table(const char *dwi, const char *remedy, char **bval, char **bvec)
{
    static const char *const names[][2] = {{"bvals", "bvecs"}, {"bval", "bvec"}};
    const char *slash = strrchr(dwi, '/');
    size_t folder = slash ? (size_t)(slash + 1 - dwi) : 0, stem = gls_image_stem(dwi);
    *bval = *bvec = NULL;
    if (has_own_table(dwi)) {
        gls_log(GLS_LOG_INFO, "gradients: the table in the header of %s", dwi);
        *bval = strdup("-");
        *bvec = strdup("-");
        return *bval && *bvec ? GLS_OK : gls_no_memory();
    }
    gls_status status = find_beside(dwi, bval, bvec);
    for (size_t i = 0; i < 2 && !status && !*bval; i++) status = find_pair(dwi, folder, names[i], bval, bvec);
    if (status) return status;
    if (*bval) {
        gls_log(GLS_LOG_INFO, "gradients: %s and %s", *bval, *bvec);
        return GLS_OK;
    }
    status = check_format(dwi);
    if (status) return status;
    return gls_fail(
        GLS_ERR_INPUT,
        "%s: no gradient table lies %sbeside it (%.*s.bval and .bvec, or bvals and bvecs in its folder): %s", dwi,
        gls_mif_is_name(dwi) ? "in its header (dw_scheme) or " : "", (int)stem, dwi,
        remedy ? remedy
               : "name its files, BVAL and BVEC, behind the series; FODs are no series: 'glslines track' reads them by "
                 "--sh FILE");
}

/* Warns if a file of the directions that FSL's eddy rotated lies beside the series, but the directions are read from
 * another file. */
static void warn_of_rotated(const char *dwi, const char *bvec)
{
    char *rotated = NULL;
    size_t n = gls_image_stem(dwi), used = strlen(bvec);
    if (used > strlen("rotated_bvecs") && strcmp(bvec + used - strlen("rotated_bvecs"), "rotated_bvecs") == 0) return;
    if (gls_asprintf(&rotated, "%.*s.eddy_rotated_bvecs", (int)n, dwi) < 0) return;
    if (access(rotated, F_OK) == 0)
        gls_log(GLS_LOG_WARNING,
                "%s lies beside the series, but the directions are read from %s: if eddy corrected the series, give "
                "the rotated ones",
                rotated, bvec);
    free(rotated);
}

void gls_series_warn_of_deviations(const char *dwi)
{
    static const char *const names[] = {"grad_dev.nii.gz", "grad_dev.nii"};
    const char *slash = strrchr(dwi, '/');
    const int folder = slash ? (int)(slash + 1 - dwi) : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = NULL;
        if (gls_asprintf(&path, "%.*s%s", folder, dwi, names[i]) < 0) return;
        if (access(path, F_OK) == 0)
            gls_log(GLS_LOG_WARNING,
                    "%s is not used: all voxels have the same gradient table here, as if the gradients did not deviate "
                    "from voxel to voxel",
                    path);
        free(path);
    }
}

/* Angle in degrees, 0 to 90, between the lines along two directions. The sine from the cross product is exact also for
 * small angles. */
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

void gls_series_compare_table(const gls_series *s, const char *bval, const char *bvec, const char *used)
{
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *other = NULL;
    char in_header[1024];
    const gls_grid *grid = &s->dwi->grid;
    options.b0_threshold = s->gradients->b0_threshold;
    options.without_b0 = true;
    snprintf(in_header, sizeof in_header, "the table in the header of %s", bval);
    const char *name = bvec ? bvec : strcmp(bval, s->name) == 0 ? in_header : bval;
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

/* If the header of the image has a gradient table, warns where another table differs from it: the table of the files in
 * use, or, if the table of the header is in use (bval NULL), a table beside the series. */
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

/* Returns GLS_ERR_INPUT if all volumes count as b = 0, as they may where b-values are in ms/um2; warns if a b-value is
 * higher than any scanner's, as b-values in s/m2 are. */
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
                    highest > 0 && highest <= HIGH_BVAL_MS_UM2 ? "; multiply b-values in ms/um2 by 1000" : "");
}

gls_status gls_series_read_table(gls_series *s, const char *bval, const char *bvec,
                                 const gls_gradients_options *options)
{
    const gls_grid *grid = &s->dwi->grid;
    if (!bval && (bvec || !gls_mif_is_name(s->name)))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "%s: no b-values: give both BVAL and BVEC, or - for both with a .mif, whose header has the gradient "
            "table",
            s->name);
    s->frame = bvec ? options->frame : GLS_BVEC_WORLD; /* tables in one file use the scanner axes */
    if (bvec) warn_of_rotated(s->name, bvec);
    gls_series_warn_of_deviations(s->name);
    gls_status status =
        bvec ? gls_gradients_read(bval, bvec, options, grid, s->dwi->n_volumes, &s->gradients)
             : gls_gradients_read_table(bval ? bval : s->name, options, grid, s->dwi->n_volumes, &s->gradients);
    if (!status) status = check_bvals(s->gradients, bval ? bval : s->name);
    if (!status) compare_with_other(s, bval, bvec);
    return status;
}
