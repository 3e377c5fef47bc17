/* Affine maps of other programs: FSL's FLIRT, MRtrix3, DIPY, NiftyReg, AFNI, FreeSurfer, and which of them a file is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/reorient.h"
#include "transform/affine.h"
#include "transform/itk_files.h"
#include "transform/transform.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define MAX_BYTES ((size_t)1 << 20) /* largest file of an affine map */

/* A file in memory, with a NUL behind it. */
typedef struct text {
    const char *path;
    char *data;
    size_t n;
} text;

/* --- Tables of numbers: RAS, FLIRT, AFNI. */

/* Reads the grid of an image that a format needs. */
static gls_status read_grid(const gls_transform_source *s, const char *image, gls_grid *grid)
{
    if (!image)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: a FLIRT matrix needs both images: give '%s,moving=IMAGE,fixed=IMAGE', flirt's -in and -ref", s->path,
            s->path);
    return gls_grid_read(image, grid);
}

/* Turns a FLIRT matrix, which maps moving to fixed in FSL's coordinates, to a pull-back in RAS. */
static gls_status from_flirt(const gls_transform_source *s, double map[3][4])
{
    gls_grid moving, fixed;
    double frame[3][4], inverse[3][4], back[3][4];
    gls_status status = read_grid(s, s->moving, &moving);
    if (!status) status = read_grid(s, s->fixed, &fixed);
    if (status) return status;
    if (gls_affine_det((const double(*)[4])map) == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: its matrix has no inverse", s->path);
    /* fixed world -> fixed voxel -> fixed mm -> moving mm -> moving voxel -> moving world */
    gls_grid_inverse(&fixed, inverse);
    gls_transform_fsl_frame(&fixed, frame);
    gls_transform_compose((const double(*)[4])frame, (const double(*)[4])inverse, back);
    gls_affine_invert((const double(*)[4])map, inverse);
    gls_transform_compose((const double(*)[4])inverse, (const double(*)[4])back, back);
    gls_transform_fsl_frame(&moving, frame);
    gls_affine_invert((const double(*)[4])frame, inverse);
    gls_transform_compose((const double(*)[4])inverse, (const double(*)[4])back, back);
    gls_transform_compose((const double(*)[4])moving.affine, (const double(*)[4])back, map);
    return GLS_OK;
}

/* Refuses a grid whose axes are oblique: AFNI's matrices are for grids without obliquity. */
static gls_status refuse_oblique(const char *matrix, const gls_grid *grid, const char *image)
{
    for (int a = 0; a < 3; a++) {
        double largest = 0;
        for (int r = 0; r < 3; r++) largest = fmax(largest, fabs(grid->affine[r][a]));
        if (largest < 0.9999 * grid->voxel_size[a])
            return gls_fail(
                GLS_ERR_UNSUPPORTED,
                "%s: is oblique, but %s is of AFNI, whose matrices are for grids without obliquity: convert "
                "it by AFNI's cat_matvec first",
                image, matrix);
    }
    return GLS_OK;
}

gls_status gls_transform_check_image(const gls_transform *t, bool moving, const gls_grid *grid, const char *image)
{
    const gls_transform_step *s = t->n > 0 ? &t->step[moving ? t->n - 1 : 0] : NULL;
    return s && s->format && strcmp(s->format, "afni") == 0 ? refuse_oblique("the transform", grid, image) : GLS_OK;
}

static gls_status read_table(const gls_transform_source *s, const text *f, const char *format, double map[3][4])
{
    double *value = NULL;
    size_t rows, columns;
    gls_status status = gls_table_parse(f->path, f->data, f->n, &value, &rows, &columns);
    if (status) return status;
    const bool afni = strcmp(format, "afni") == 0, square = columns == 4 && (rows == 3 || rows == 4);
    bool fits = square || (afni && rows * columns == 12);
    if (fits && rows == 4) fits = gls_affine_has_last_row(value + 12);
    for (size_t i = 0; i < 12 && fits; i++) fits = isfinite(value[i]);
    if (fits) memcpy(map, value, 12 * sizeof *value);
    free(value);
    if (!fits)
        return gls_fail(GLS_ERR_INPUT, "%s: is no affine map: must have 3 or 4 rows of 4 numbers, the last 0 0 0 1%s",
                        f->path, afni ? ", or 12 numbers" : "");
    if (afni) {
        gls_transform_exchange(map);
        const char *const image[] = {s->moving, s->fixed};
        gls_grid grid;
        for (int i = 0; i < 2 && !status; i++) {
            if (!image[i]) continue;
            status = gls_grid_read(image[i], &grid);
            if (!status) status = refuse_oblique(s->path, &grid, image[i]);
        }
        return status;
    }
    return strcmp(format, "flirt") == 0 ? from_flirt(s, map) : GLS_OK;
}

/* --- FreeSurfer. */

/* An image of an .lta. seen: a bit for each of the six lines that were read; valid: 0 if the file says that they mean
 * nothing. */
typedef struct volume {
    double size[3], voxel[3], x[3], y[3], z[3], centre[3];
    unsigned seen;
    int valid;
} volume;
#define ALL_LINES 63u

/* Sets the voxel-to-world map of an image of an .lta, whose centre is at size / 2. */
static void volume_map(const volume *v, double map[3][4])
{
    for (int r = 0; r < 3; r++) {
        map[r][0] = v->x[r] * v->voxel[0];
        map[r][1] = v->y[r] * v->voxel[1];
        map[r][2] = v->z[r] * v->voxel[2];
        map[r][3] = v->centre[r];
        for (int c = 0; c < 3; c++) map[r][3] -= map[r][c] * v->size[c] / 2;
    }
}

/* Takes a line "key = values" of an image. */
static void take_volume_line(volume *v, const char *line)
{
    const char *equals = strchr(line, '=');
    double value[GLS_TRANSFORM_NUMBERS];
    const struct {
        const char *key;
        double *to;
    } keys[] = {{"volume", v->size}, {"voxelsize", v->voxel}, {"xras", v->x},
                {"yras", v->y},      {"zras", v->z},          {"cras", v->centre}};
    line += strspn(line, " \t");
    if (sscanf(line, "valid = %d", &v->valid) == 1) return;
    for (size_t i = 0; equals && i < sizeof keys / sizeof *keys; i++) {
        const size_t n = strlen(keys[i].key);
        if (strncmp(line, keys[i].key, n) == 0 && strspn(line + n, " \t") == (size_t)(equals - line) - n &&
            gls_transform_row(equals + 1, value) == 3) {
            memcpy(keys[i].to, value, 3 * sizeof *value);
            v->seen |= 1u << i;
        }
    }
}

/* Reads an .lta, which maps src (moving) to dst (fixed): type 0 voxels to voxels, 1 RAS to RAS. */
static gls_status read_lta(const text *f, double map[3][4])
{
    volume image[2] = {{.valid = 1}, {.valid = 1}};
    int type = -1, n_maps = 1, rows = 0, where = -1;
    double m[4][4], value[GLS_TRANSFORM_NUMBERS], frame[3][4], inverse[3][4];
    char *rest = f->data;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "#")] = '\0';
        if (strncmp(line, "src volume info", 15) == 0) where = 0;
        if (strncmp(line, "dst volume info", 15) == 0) where = 1;
        if (where < 0 && (sscanf(line, "type = %d", &type) == 1 || sscanf(line, "nxforms = %d", &n_maps) == 1))
            continue;
        if (where < 0 && rows < 4 && gls_transform_row(line, value) == 4) memcpy(m[rows++], value, sizeof m[0]);
        if (where >= 0) take_volume_line(&image[where], line);
    }
    if (rows != 4 || !gls_affine_has_last_row(m[3]) || (type != 0 && type != 1))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is no .lta of type 0 (voxels) or 1 (RAS) with a matrix of 4 rows, the last 0 0 0 1",
                        f->path);
    if (n_maps != 1)
        return gls_fail(GLS_ERR_INPUT, "%s: holds %d transforms: give each in a file of its own", f->path, n_maps);
    memcpy(map, m, 12 * sizeof m[0][0]);
    for (int i = 0; i < 2 && type == 0; i++) {
        volume_map(&image[i], frame);
        if (!image[i].valid)
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: maps voxels, but says that its %s volume info is not valid: write it again from RAS to "
                "RAS, by FreeSurfer's 'lta_convert --inlta FILE --src IMAGE --trg IMAGE --outlta OUT'",
                f->path, i == 0 ? "src" : "dst");
        if (image[i].seen != ALL_LINES || gls_affine_det((const double(*)[4])frame) == 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: damaged: its %s volume info lacks volume, voxelsize, xras, yras, zras or cras",
                            f->path, i == 0 ? "src" : "dst");
        if (i == 0) gls_affine_invert((const double(*)[4])frame, inverse);
    }
    if (type == 0) { /* src world -> src voxel -> dst voxel -> dst world */
        gls_transform_compose((const double(*)[4])map, (const double(*)[4])inverse, map);
        gls_transform_compose((const double(*)[4])frame, (const double(*)[4])map, map);
    }
    if (gls_affine_det((const double(*)[4])map) == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: its matrix has no inverse", f->path);
    gls_affine_invert((const double(*)[4])map, inverse);
    memcpy(map, inverse, sizeof inverse);
    return GLS_OK;
}

/* --- The choice of the format. */

/* The format of a file, unless the source names one. A table of numbers is RAS, unless its name is one of FLIRT's or
 * AFNI's. */
static const char *format_of(const gls_transform_source *s, const text *f)
{
    if (*s->format) return strcmp(s->format, "fsl") == 0 ? "flirt" : s->format;
    if (gls_itk_is_matlab(f->data, f->n) || strncmp(f->data, "#Insight Transform", 18) == 0) return "itk";
    if (gls_case_ends(f->path, ".lta")) return "lta";
    if (gls_case_ends(f->path, ".1D")) return "afni";
    return gls_case_ends(f->path, ".mat") ? "flirt" : "mrtrix";
}

gls_status gls_transform_read_affine(const gls_transform_source *s, gls_transform *t)
{
    static const char *const formats[] = {"itk", "mrtrix", "flirt", "afni", "lta", "niftyreg", "dipy"};
    text f = {.path = s->path};
    gls_transform_step step = {.format = NULL};
    gls_status status = gls_file_read(s->path, MAX_BYTES, &f.data, &f.n);
    if (status) return status;
    const char *format = format_of(s, &f);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(format, formats[i]) == 0) step.format = formats[i];
    if (!step.format)
        status = gls_fail(GLS_ERR_ARGUMENT,
                          "%s: from=%s: formats of affine maps are itk, mrtrix, flirt, afni, lta, "
                          "niftyreg and dipy",
                          s->path, format);
    else if ((s->moving || s->fixed) && strcmp(format, "flirt") != 0 && strcmp(format, "afni") != 0)
        status = gls_fail(GLS_ERR_ARGUMENT,
                          "%s: moving=IMAGE and fixed=IMAGE belong to matrices of FLIRT and AFNI; this file is read as "
                          "%s: leave them out, or name its format by from=FORMAT",
                          s->path, format);
    else if (strcmp(format, "lta") == 0)
        status = read_lta(&f, step.map);
    else if (strcmp(format, "itk") == 0)
        status = gls_itk_read_affine(s->path, f.data, f.n, step.map);
    else
        status = read_table(s, &f, format, step.map);
    free(f.data);
    return status ? status : gls_transform_append(t, &step);
}
