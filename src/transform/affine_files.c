/* Affine maps of other programs: ITK and ANTs (text, MATLAB 4), FSL's FLIRT, MRtrix3, DIPY, NiftyReg, AFNI, FreeSurfer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/reorient.h"
#include "transform/affine.h"
#include "transform/transform.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define MAX_BYTES ((size_t)1 << 20) /* largest file of an affine map */
#define MAX_NUMBERS 16              /* largest number of parameters of a map */

/* A file in memory, with a NUL behind it. */
typedef struct text {
    const char *path;
    char *data;
    size_t n;
} text;

/* Exchanges RAS and LPS on both sides of a map. */
static void turn_to_ras(double map[3][4])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if ((r < 2) != (c < 2)) map[r][c] = -map[r][c];
}

/* --- ITK and ANTs. */

/* Parameters of a transform of ITK. */
typedef struct itk {
    char kind[64];
    double parameter[MAX_NUMBERS], fixed[MAX_NUMBERS];
    int n, n_fixed;
} itk;

/* Rotation of ITK's Euler3D by angles about x, y and z: Rz Rx Ry, or Rz Ry Rx with a fourth fixed parameter of 1. */
static void euler(const double angle[3], bool z_y_x, double m[3][3])
{
    const double cx = cos(angle[0]), sx = sin(angle[0]), cy = cos(angle[1]), sy = sin(angle[1]), cz = cos(angle[2]),
                 sz = sin(angle[2]);
    const double x[3][3] = {{1, 0, 0}, {0, cx, -sx}, {0, sx, cx}}, y[3][3] = {{cy, 0, sy}, {0, 1, 0}, {-sy, 0, cy}},
                 z[3][3] = {{cz, -sz, 0}, {sz, cz, 0}, {0, 0, 1}};
    const double(*first)[3] = z_y_x ? x : y, (*second)[3] = z_y_x ? y : x;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            m[r][c] = 0;
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) m[r][c] += z[r][i] * second[i][k] * first[k][c];
        }
}

/* Makes the map y = A(x - c) + t + c of a transform of ITK, in RAS. */
static gls_status make_itk(const char *path, const itk *t, double map[3][4])
{
    double m[3][3];
    const double *shift = t->parameter + (t->n == 12 ? 9 : 3);
    const bool is_euler = strncmp(t->kind, "Euler3DTransform", 16) == 0;
    if (!((is_euler && t->n == 6) || (!is_euler && t->n == 12)) || t->n_fixed < 3)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: holds a transform '%.40s' with %d parameters; known are affine ones with 12, and Euler3D",
                        path, t->kind, t->n);
    if (is_euler)
        euler(t->parameter, t->n_fixed > 3 && t->fixed[3] != 0, m);
    else
        memcpy(m, t->parameter, sizeof m);
    for (int r = 0; r < 3; r++) {
        map[r][3] = shift[r] + t->fixed[r];
        for (int c = 0; c < 3; c++) {
            map[r][c] = m[r][c];
            map[r][3] -= m[r][c] * t->fixed[c];
        }
    }
    turn_to_ras(map);
    return GLS_OK;
}

/* Parses numbers separated by blanks, at most MAX_NUMBERS. Returns their number; -1: there are more, or other words. */
static int parse_row(const char *line, double *value)
{
    int n = 0;
    for (const char *c = line + strspn(line, " \t\r,"); *c && *c != '\n'; c += strspn(c, " \t\r,")) {
        char *end;
        const double v = gls_strtod(c, &end);
        if (end == c || n == MAX_NUMBERS) return -1;
        value[n++] = v;
        c = end;
    }
    return n;
}

/* The text behind "KEY:" at the start of a line; NULL: none. */
static const char *itk_field(const char *data, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = data; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, n) == 0 && line[n] == ':') return line + n + 1;
    return NULL;
}

static gls_status read_itk_text(const text *f, double map[3][4])
{
    itk t = {.n = 0};
    const char *kind = itk_field(f->data, "Transform"), *values = itk_field(f->data, "Parameters"),
               *fixed = itk_field(f->data, "FixedParameters");
    if (!kind || !values || !fixed)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: it lacks Transform, Parameters or FixedParameters", f->path);
    if (itk_field(kind, "Transform"))
        return gls_fail(GLS_ERR_INPUT, "%s: holds several transforms: give each in a file of its own", f->path);
    if (sscanf(kind, " %63s", t.kind) != 1) *t.kind = '\0';
    t.n = parse_row(values, t.parameter);
    t.n_fixed = parse_row(fixed, t.fixed);
    return make_itk(f->path, &t, map);
}

/* Reads a little-endian int32. */
static int32_t get_int(const char *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Whether a file is a MATLAB 4 matrix of ITK: five int32 (type, rows, columns, imaginary, length of the name), the
 * name, a column of doubles. */
static bool is_matlab(const text *f)
{
    return f->n > 100 && (get_int(f->data) == 0 || get_int(f->data) == 10) && get_int(f->data + 16) > 1 &&
           get_int(f->data + 16) < 64 && gls_is_alnum((unsigned char)f->data[20]);
}

static gls_status read_itk_matlab(const text *f, double map[3][4])
{
    itk t = {.n = 0};
    for (size_t at = 0; at + 20 < f->n;) {
        const int32_t type = get_int(f->data + at), rows = get_int(f->data + at + 4),
                      columns = get_int(f->data + at + 8), length = get_int(f->data + at + 16);
        const size_t size = type == 10 ? 4 : 8;
        const bool fits = (type == 0 || type == 10) && rows >= 1 && columns >= 1 && rows <= MAX_NUMBERS &&
                          columns <= MAX_NUMBERS && rows * columns <= MAX_NUMBERS && length > 0 && length < 64 &&
                          at + 20 + (size_t)length + (size_t)(rows * columns) * size <= f->n;
        if (!fits) return gls_fail(GLS_ERR_INPUT, "%s: damaged: is no matrix of MATLAB 4 as ANTs writes it", f->path);
        const char *name = f->data + at + 20, *values = name + length;
        const bool is_fixed = strncmp(name, "fixed", (size_t)length) == 0;
        if (!is_fixed) snprintf(t.kind, sizeof t.kind, "%.*s", length, name);
        for (int i = 0; i < rows * columns; i++) {
            double wide;
            float narrow;
            memcpy(&wide, values + 8 * (size_t)i * (size == 8), size == 8 ? 8 : 0);
            memcpy(&narrow, values + 4 * (size_t)i * (size == 4), size == 4 ? 4 : 0);
            (is_fixed ? t.fixed : t.parameter)[i] = size == 8 ? wide : (double)narrow;
        }
        *(is_fixed ? &t.n_fixed : &t.n) = rows * columns;
        at += 20 + (size_t)length + (size_t)(rows * columns) * size;
    }
    return make_itk(f->path, &t, map);
}

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

/* Refuses an image whose axes are oblique: AFNI's matrices are for grids without obliquity. */
static gls_status refuse_oblique(const gls_transform_source *s, const char *image)
{
    gls_grid grid;
    gls_status status = image ? gls_grid_read(image, &grid) : GLS_OK;
    for (int a = 0; a < 3 && image && !status; a++) {
        double largest = 0;
        for (int r = 0; r < 3; r++) largest = fmax(largest, fabs(grid.affine[r][a]));
        if (largest < 0.9999 * grid.voxel_size[a])
            status = gls_fail(GLS_ERR_UNSUPPORTED,
                              "%s: is of AFNI, whose matrices are for grids without obliquity, but %s is oblique: "
                              "convert it by AFNI's cat_matvec first",
                              s->path, image);
    }
    return status;
}

static gls_status read_table(const gls_transform_source *s, const text *f, const char *format, double map[3][4])
{
    double *value = NULL;
    size_t rows, columns;
    gls_status status = gls_table_parse(f->path, f->data, f->n, &value, &rows, &columns);
    if (status) return status;
    const bool afni = strcmp(format, "afni") == 0, square = columns == 4 && (rows == 3 || rows == 4);
    bool fits = square || (afni && rows * columns == 12);
    if (fits && rows == 4) fits = value[12] == 0 && value[13] == 0 && value[14] == 0 && value[15] == 1;
    for (size_t i = 0; i < 12 && fits; i++) fits = isfinite(value[i]);
    if (fits) memcpy(map, value, 12 * sizeof *value);
    free(value);
    if (!fits)
        return gls_fail(GLS_ERR_INPUT, "%s: is no affine map: must have 3 or 4 rows of 4 numbers, the last 0 0 0 1%s",
                        f->path, afni ? ", or 12 numbers" : "");
    if (afni) {
        turn_to_ras(map);
        status = refuse_oblique(s, s->moving);
        return status ? status : refuse_oblique(s, s->fixed);
    }
    return strcmp(format, "flirt") == 0 ? from_flirt(s, map) : GLS_OK;
}

/* --- FreeSurfer. */

/* An image of an .lta. */
typedef struct volume {
    double size[3], voxel[3], x[3], y[3], z[3], centre[3];
} volume;

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
    double value[MAX_NUMBERS];
    const struct {
        const char *key;
        double *to;
    } keys[] = {{"volume", v->size}, {"voxelsize", v->voxel}, {"xras", v->x},
                {"yras", v->y},      {"zras", v->z},          {"cras", v->centre}};
    line += strspn(line, " \t");
    for (size_t i = 0; equals && i < sizeof keys / sizeof *keys; i++) {
        const size_t n = strlen(keys[i].key);
        if (strncmp(line, keys[i].key, n) == 0 && strspn(line + n, " \t") == (size_t)(equals - line) - n &&
            parse_row(equals + 1, value) == 3)
            memcpy(keys[i].to, value, 3 * sizeof *value);
    }
}

/* Reads an .lta, which maps src (moving) to dst (fixed): type 0 voxels to voxels, 1 RAS to RAS. */
static gls_status read_lta(const text *f, double map[3][4])
{
    volume image[2] = {{.size = {0}}, {.size = {0}}};
    int type = -1, rows = 0, where = -1;
    double m[4][4], value[MAX_NUMBERS], frame[3][4], inverse[3][4];
    char *rest = f->data;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "#")] = '\0';
        if (strncmp(line, "src volume info", 15) == 0) where = 0;
        if (strncmp(line, "dst volume info", 15) == 0) where = 1;
        if (where < 0 && sscanf(line, "type = %d", &type) == 1) continue;
        if (where < 0 && rows < 4 && parse_row(line, value) == 4) memcpy(m[rows++], value, sizeof m[0]);
        if (where >= 0) take_volume_line(&image[where], line);
    }
    if (rows < 4 || (type != 0 && type != 1))
        return gls_fail(GLS_ERR_INPUT, "%s: is no .lta of type 0 (voxels) or 1 (RAS) with a matrix of 4 rows", f->path);
    memcpy(map, m, 12 * sizeof m[0][0]);
    for (int i = 0; i < 2 && type == 0; i++) {
        volume_map(&image[i], frame);
        if (gls_affine_det((const double(*)[4])frame) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s: damaged: it lacks the geometry of an image", f->path);
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
    if (*s->format) return s->format;
    if (is_matlab(f) || strncmp(f->data, "#Insight Transform", 18) == 0) return "itk";
    if (gls_case_ends(f->path, ".lta")) return "lta";
    if (gls_case_ends(f->path, ".1D")) return "afni";
    return gls_case_ends(f->path, ".mat") ? "flirt" : "mrtrix";
}

gls_status gls_transform_read_affine(const gls_transform_source *s, gls_transform_step *step)
{
    static const char *const formats[] = {"itk", "mrtrix", "flirt", "afni", "lta", "niftyreg", "dipy"};
    text f = {.path = s->path};
    if (gls_case_ends(s->path, ".h5") || gls_case_ends(s->path, ".hdf5"))
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: composite transforms in HDF5 are not read: take it apart by ANTs' 'CompositeTransformUtil "
                        "--disassemble FILE PREFIX', and give its parts, the last first",
                        s->path);
    gls_status status = gls_file_read(s->path, MAX_BYTES, &f.data, &f.n);
    if (status) return status;
    const char *format = format_of(s, &f);
    step->format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(format, formats[i]) == 0) step->format = formats[i];
    if (!step->format)
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
        status = read_lta(&f, step->map);
    else if (strcmp(format, "itk") == 0)
        status = is_matlab(&f) ? read_itk_matlab(&f, step->map) : read_itk_text(&f, step->map);
    else
        status = read_table(s, &f, format, step->map);
    free(f.data);
    return status;
}
