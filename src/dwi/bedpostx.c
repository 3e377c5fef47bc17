/* Reads the folder that FSL's bedpostX wrote: samples of the angles and fractions of fibres, as peaks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/peaks.h>

#include "dwi/odf.h"
#include "image/reorient.h"
#include "util/status.h"
#include "util/text.h"

/* largest number of fibres of a folder */
#define MAX_FIBRES 8
#define SMALLEST 1e-6f /* stored in place of a smaller fraction, such as 0, so that the fibre keeps its direction */

/* A folder while it is read. */
typedef struct samples {
    /* path of the folder as the user gave it */
    const char *folder;
    bool numbered; /* false: the names of a single fibre have no number */
    int n_fibres;
    size_t n;    /* number of samples of each fibre */
    char *first; /* path of the first file, with which the other files are compared */
} samples;

/* Path of the file of one quantity (`what`: th, ph or f) of a fibre, counted from 1, with the suffix of the file that
 * exists, else .nii.gz. From malloc. */
static char *name_of(const samples *s, const char *what, int fibre)
{
    static const char *const suffix[] = {".nii.gz", ".nii", ".img.gz", ".img"};
    char number[16] = "", *name = NULL;
    if (s->numbered) snprintf(number, sizeof number, "%d", fibre);
    /* try the four suffixes; if no file exists, the fifth pass makes the name with the first suffix, for the message */
    for (int i = 0; i < 5; i++) {
        if (gls_asprintf(&name, "%s/merged_%s%ssamples%s", s->folder, what, number, suffix[i % 4]) < 0) return NULL;
        if (i == 4 || access(name, F_OK) == 0) return name;
        free(name);
    }
    return NULL;
}

/* Whether the file of one quantity of a fibre exists under one of its suffixes. */
static bool exists(const samples *s, const char *what, int fibre)
{
    char *name = name_of(s, what, fibre);
    const bool there = name && access(name, F_OK) == 0;
    free(name);
    return there;
}

/* Counts the fibres. GLS_ERR_INPUT: there is no fibre, or the numbers of fibres have a gap. GLS_ERR_UNSUPPORTED: there
 * are more than MAX_FIBRES. */
static gls_status count_fibres(samples *s)
{
    s->numbered = false;
    /* with one fibre FSL writes merged_thsamples without a number */
    if (exists(s, "th", 1)) s->n_fibres = 1;
    if (s->n_fibres == 1) return GLS_OK;
    s->numbered = true;
    while (s->n_fibres < MAX_FIBRES && exists(s, "th", s->n_fibres + 1)) s->n_fibres++;
    /* a gap in the numbers is a missing file */
    for (int k = s->n_fibres + 1; k <= MAX_FIBRES + 1; k++)
        if (exists(s, "th", k)) {
            if (k > MAX_FIBRES)
                return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has more than %d fibres", s->folder, MAX_FIBRES);
            return gls_fail(GLS_ERR_INPUT, "%s: has merged_th%dsamples, but no merged_th%dsamples", s->folder, k,
                            s->n_fibres + 1);
        }
    if (s->n_fibres > 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has no merged_th1samples.nii.gz: --bedpostx takes the folder that bedpostX wrote, whose name "
                    "ends in .bedpostX",
                    s->folder);
}

/* Reads a file of samples. GLS_ERR_INPUT: the file is missing, its grid is not the grid of the mask (NULL: any grid),
 * or its number of samples is not that of the first file. */
static gls_status read_file(samples *s, const gls_image *mask, const char *path, gls_image **image)
{
    if (access(path, F_OK) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is missing: each fibre needs its samples of th, ph and f", path);
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, image);
    if (!status && mask) status = gls_grid_require_equal(&mask->grid, "the mask", &(*image)->grid, path);
    if (status) return status;
    if (!s->first) {
        s->n = (*image)->n_volumes;
        s->first = strdup(path);
        return s->first ? GLS_OK : gls_no_memory();
    }
    if ((*image)->n_volumes == s->n) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: has %zu samples, but %s has %zu: all files need the same number", path,
                    (*image)->n_volumes, s->first, s->n);
}

/* Returns GLS_ERR_INPUT unless all values inside the mask are finite and, if they are fractions, from -0.001 to 1.001:
 * compression may move fractions that far outside 0 .. 1. */
static gls_status check_values(const gls_image *image, const gls_image *mask, const char *path, bool fraction)
{
    const size_t n = gls_grid_voxels(&image->grid), nx = (size_t)image->grid.dim[0], ny = (size_t)image->grid.dim[1];
    for (size_t i = 0; i < n * image->n_volumes; i++) {
        const size_t v = i % n;
        const double x = (double)image->data[i];
        if (!(mask->data[v] > 0) || (isfinite(x) && (!fraction || (x >= -1e-3 && x <= 1.001)))) continue;
        return gls_fail(GLS_ERR_INPUT,
                        "%s: sample %zu (from 1) of voxel %zu %zu %zu (from 0), inside the mask, is %g: must be %s",
                        path, i / n + 1, v % nx, v / nx % ny, v / nx / ny, x,
                        fraction ? "a fraction, 0 to 1" : "a finite angle in radians");
    }
    return GLS_OK;
}

/* Warns if most angles inside the mask are larger than 2 pi, so that they are probably in degrees. */
static void doubt_angles(const gls_image *image, const gls_image *mask, const char *path)
{
    const size_t n = gls_grid_voxels(&image->grid);
    size_t inside = 0, beyond = 0;
    for (size_t i = 0; i < n * image->n_volumes; i++) {
        inside += mask->data[i % n] > 0;
        beyond += mask->data[i % n] > 0 && fabs((double)image->data[i]) > 2 * M_PI;
    }
    if (2 * beyond > inside)
        gls_log(GLS_LOG_WARNING, "%s: may hold degrees: most angles are beyond 2 pi, and bedpostX writes radians",
                path);
}

/* Stores one fibre of all samples as peaks: a vector along the voxel axes whose length is the fraction (at least
 * SMALLEST); 0 0 0 outside the mask, and where either angle is exactly 0, because FSL ends streamlines there. */
static void store_fibre(const samples *s, gls_image *const angle[3], const gls_image *mask, int fibre, gls_image *peaks)
{
    const size_t n = gls_grid_voxels(&peaks->grid);
    double frame[3][3];
    /* bedpostX uses FSL's axes: x is flipped where the affine has a positive determinant */
    gls_odf_frame_map(GLS_BVEC_FSL, &peaks->grid, frame);
    const double flip = frame[0][0] < 0 ? -1 : 1;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n * s->n; i++) {
        const size_t v = i % n, sample = i / n;
        const float th = angle[0]->data[i], ph = angle[1]->data[i], f = angle[2]->data[i];
        const bool there = mask->data[v] > 0 && th != 0 && ph != 0;
        /* order of the volumes: sample by sample, within a sample fibre by fibre, for each fibre x, y, z */
        float *to = peaks->data + 3 * (sample * (size_t)s->n_fibres + (size_t)fibre) * n + v;
        const double length = there ? (double)fmaxf(f, SMALLEST) : 0;
        to[0] = (float)(length * flip * sin((double)th) * cos((double)ph));
        to[n] = (float)(length * sin((double)th) * sin((double)ph));
        to[2 * n] = (float)(length * cos((double)th));
    }
}

/* Reads the angles th and ph (radians) and the fraction f of one fibre, all samples, and stores them as vectors. Fibres
 * are counted from 0, the names of files from 1. */
static gls_status read_fibre(samples *s, const gls_image *mask, int fibre, gls_image **peaks)
{
    static const char *const what[] = {"th", "ph", "f"};
    gls_image *image[3] = {NULL};
    gls_status status = GLS_OK;
    for (int a = 0; a < 3 && !status; a++) {
        char *path = name_of(s, what[a], fibre + 1);
        status = path ? read_file(s, mask, path, &image[a]) : gls_no_memory();
        if (!status) status = check_values(image[a], mask, path, a == 2);
        if (!status && a < 2) doubt_angles(image[a], mask, path);
        if (!status && a == 2 && fibre == 0) status = gls_image_require_values(image[a], path, "fraction of a fibre");
        free(path);
    }
    /* the first fibre decides the number of volumes */
    if (!status && !*peaks) status = gls_image_create(&mask->grid, 3 * s->n * (size_t)s->n_fibres, peaks);
    if (!status) store_fibre(s, image, mask, fibre, *peaks);
    for (int a = 0; a < 3; a++) gls_image_destroy(image[a]);
    return status;
}

/* Reads the mask that bedpostX wrote beside the samples. */
static gls_status read_mask(const char *folder, gls_image **mask)
{
    static const char *const suffix[] = {".nii.gz", ".nii"};
    for (int i = 0; i < 2; i++) {
        char *path = NULL;
        if (gls_asprintf(&path, "%s/nodif_brain_mask%s", folder, suffix[i]) < 0) return gls_no_memory();
        const bool there = access(path, F_OK) == 0;
        uint64_t voxels;
        gls_status status = there ? gls_image_read(path, GLS_IMAGE_3D, mask) : GLS_OK;
        if (there && !status) status = gls_image_count_voxels(*mask, path, "mask", &voxels);
        free(path);
        if (there) return status;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: has no nodif_brain_mask.nii.gz: give the file of a mask (--mask FILE)", folder);
}

gls_status gls_bedpostx_read(const char *folder, const char *mask_path, const gls_grid *grid, const char *grid_name,
                             gls_image **mask, gls_image **peaks, uint32_t *n_samples)
{
    GLS_REQUIRE(folder && mask && peaks && n_samples && (!grid || grid_name));
    samples s = {.folder = folder};
    *mask = *peaks = NULL;
    gls_status status = count_fibres(&s);
    if (!status) status = mask_path ? gls_image_read(mask_path, GLS_IMAGE_3D, mask) : read_mask(folder, mask);
    if (!status && grid)
        status = gls_grid_require_equal(grid, grid_name, &(*mask)->grid, mask_path ? mask_path : "nodif_brain_mask");
    for (int k = 0; k < s.n_fibres && !status; k++) status = read_fibre(&s, *mask, k, peaks);
    free(s.first);
    if (status) {
        gls_image_destroy(*mask);
        gls_image_destroy(*peaks);
        *mask = *peaks = NULL;
        return status;
    }
    *n_samples = (uint32_t)s.n;
    gls_log(GLS_LOG_INFO, "%s: %zu samples of %d fibre%s", folder, s.n, s.n_fibres, s.n_fibres > 1 ? "s" : "");
    return GLS_OK;
}
