/* Transforms of ITK and ANTs: affine maps as text and as MATLAB 4, and composite transforms in HDF5, whose parts are
 * affine maps and fields of displacements. */
#include "transform/itk_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "transform/affine.h"
#include "transform/field_meaning.h"
#include "transform/hdf5.h"
#include "util/status.h"
#include "util/text.h"

/* Parameters of a transform of ITK. */
typedef struct itk {
    char kind[64];
    double parameter[GLS_TRANSFORM_NUMBERS], fixed[GLS_TRANSFORM_NUMBERS];
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
    gls_transform_exchange(map);
    return GLS_OK;
}

/* The text behind "KEY:" at the start of a line; NULL: none. */
static const char *itk_field(const char *data, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = data; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, n) == 0 && line[n] == ':') return line + n + 1;
    return NULL;
}

static gls_status read_itk_text(const char *path, const char *data, double map[3][4])
{
    itk t = {.n = 0};
    const char *kind = itk_field(data, "Transform"), *values = itk_field(data, "Parameters"),
               *fixed = itk_field(data, "FixedParameters");
    if (!kind || !values || !fixed)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: it lacks Transform, Parameters or FixedParameters", path);
    if (itk_field(kind, "Transform"))
        return gls_fail(GLS_ERR_INPUT, "%s: holds several transforms: give each in a file of its own", path);
    if (sscanf(kind, " %63s", t.kind) != 1) *t.kind = '\0';
    t.n = gls_transform_row(values, t.parameter);
    t.n_fixed = gls_transform_row(fixed, t.fixed);
    return make_itk(path, &t, map);
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
bool gls_itk_is_matlab(const char *data, size_t n)
{
    return n > 100 && (get_int(data) == 0 || get_int(data) == 10) && get_int(data + 16) > 1 &&
           get_int(data + 16) < 64 && gls_is_alnum((unsigned char)data[20]);
}

static gls_status read_itk_matlab(const char *path, const char *data, size_t n, double map[3][4])
{
    itk t = {.n = 0};
    for (size_t at = 0; at + 20 < n;) {
        const int32_t type = get_int(data + at), rows = get_int(data + at + 4), columns = get_int(data + at + 8),
                      length = get_int(data + at + 16);
        const size_t size = type == 10 ? 4 : 8;
        const bool fits = (type == 0 || type == 10) && rows >= 1 && columns >= 1 && rows <= GLS_TRANSFORM_NUMBERS &&
                          columns <= GLS_TRANSFORM_NUMBERS && rows * columns <= GLS_TRANSFORM_NUMBERS && length > 0 &&
                          length < 64 && at + 20 + (size_t)length + (size_t)(rows * columns) * size <= n;
        if (!fits) return gls_fail(GLS_ERR_INPUT, "%s: damaged: is no matrix of MATLAB 4 as ANTs writes it", path);
        const char *name = data + at + 20, *values = name + length;
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
    return make_itk(path, &t, map);
}

gls_status gls_itk_read_affine(const char *path, const char *data, size_t n, double map[3][4])
{
    return gls_itk_is_matlab(data, n) ? read_itk_matlab(path, data, n, map) : read_itk_text(path, data, map);
}

/* --- HDF5: groups TransformGroup/0, 1 ... with a type and two datasets of numbers each. */

/* Reads the numbers of a part. Early versions of ITK have written the names without their s. */
static gls_status read_numbers(gls_hdf5 *file, int part, const char *what, double **value, size_t *n)
{
    static const char *const spellings[] = {"Transform", "Tranform"};
    gls_status status = GLS_OK;
    *value = NULL;
    *n = 0;
    for (int i = 0; i < 2 && !status; i++) {
        char name[80];
        uint64_t header;
        snprintf(name, sizeof name, "TransformGroup/%d/%s%s", part, spellings[i], what);
        status = gls_hdf5_find(file, name, &header);
        if (!status && header) return gls_hdf5_numbers(file, header, value, n);
    }
    return status;
}

/* Makes a field of displacements. fixed: size, origin, spacing and direction, LPS; value: three numbers a voxel. */
static gls_status make_field(const char *path, const double *fixed, size_t n_fixed, const double *value, size_t n,
                             gls_image **field)
{
    int32_t dim[3];
    double affine[3][4], voxels = 1;
    gls_grid grid;
    bool good = n_fixed == 18;
    for (int a = 0; a < 3 && good; a++) {
        good = fixed[a] >= 1 && fixed[a] <= INT32_MAX && fixed[a] == floor(fixed[a]);
        dim[a] = good ? (int32_t)fixed[a] : 0;
        voxels *= fixed[a];
    }
    if (!good || voxels * 3 != (double)n)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: its field has %zu numbers, which do not fit its size", path, n);
    for (int r = 0; r < 3; r++) {
        const double sign = r < 2 ? -1 : 1;
        affine[r][3] = sign * fixed[3 + r];
        for (int c = 0; c < 3; c++) affine[r][c] = sign * fixed[9 + 3 * r + c] * fixed[6 + c];
    }
    if (gls_grid_init(&grid, dim, (const double(*)[4])affine) != GLS_OK)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: the spacing and direction of its field make no grid", path);
    gls_status status = gls_image_allocate(&grid, 3, false, field);
    const size_t count = n / 3;
    for (size_t v = 0; v < count && !status; v++)
        for (size_t r = 0; r < 3; r++)
            (*field)->data[r * count + v] = (float)(r < 2 ? -value[3 * v + r] : value[3 * v + r]);
    return status ? status : gls_field_check_lengths(*field, NULL, false, path);
}

/* Appends part `part` as a step. */
static gls_status add_part(const char *path, gls_hdf5 *file, int part, const char *kind, gls_transform *t)
{
    gls_transform_step step = {.format = "itk"};
    double *value = NULL, *fixed = NULL;
    size_t n = 0, n_fixed = 0;
    gls_status status = read_numbers(file, part, "Parameters", &value, &n);
    if (!status) status = read_numbers(file, part, "FixedParameters", &fixed, &n_fixed);
    if (!status && strncmp(kind, "DisplacementFieldTransform_", 27) == 0) {
        status = make_field(path, fixed, n_fixed, value, n, &step.field);
    } else if (!status) {
        itk one = {.n = (int)(n <= GLS_TRANSFORM_NUMBERS ? n : 0),
                   .n_fixed = (int)(n_fixed <= GLS_TRANSFORM_NUMBERS ? n_fixed : 0)};
        snprintf(one.kind, sizeof one.kind, "%s", kind);
        for (int i = 0; i < one.n; i++) one.parameter[i] = value[i];
        for (int i = 0; i < one.n_fixed; i++) one.fixed[i] = fixed[i];
        status = make_itk(path, &one, step.map);
    }
    free(value);
    free(fixed);
    if (!status) return gls_transform_append(t, &step);
    gls_image_destroy(step.field);
    return status;
}

/* Counts the parts, which are numbered from 0 on. *composite: part 0 says that the others are one transform. */
static gls_status count_parts(const char *path, gls_hdf5 *file, int *n, bool *composite)
{
    char name[64], kind[64];
    uint64_t header;
    size_t members = 0;
    gls_status status = gls_hdf5_find(file, "TransformGroup", &header);
    if (!status && header) status = gls_hdf5_count(file, header, &members);
    for (*n = 0; !status && header;) {
        snprintf(name, sizeof name, "TransformGroup/%d/TransformType", *n);
        status = gls_hdf5_find(file, name, &header);
        if (status || header == 0) break;
        if (*n == 0) status = gls_hdf5_text(file, header, kind, sizeof kind);
        if (*n == 0) *composite = !status && strncmp(kind, "CompositeTransform_", 19) == 0;
        ++*n;
    }
    if (status) return status;
    if (members != (size_t)*n)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: damaged: its TransformGroup has %zu members, but no transform %d, of transforms that are "
                        "numbered from 0 on",
                        path, members, *n);
    if (*n == 0 || (*composite && *n == 1))
        return gls_fail(GLS_ERR_INPUT, "%s: holds no transform of ITK: has no TransformGroup with parts", path);
    if (!*composite && *n > 1)
        return gls_fail(GLS_ERR_INPUT, "%s: holds %d transforms that are not one composite transform", path, *n);
    return GLS_OK;
}

gls_status gls_itk_read_composite(const gls_transform_source *s, gls_transform *t)
{
    char name[64], kind[64];
    gls_hdf5 *file = NULL;
    uint64_t header;
    int n = 0;
    bool composite = false;
    if (s->moving || s->fixed || (*s->format && strcmp(s->format, "itk") != 0))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: HDF5 is a format of ITK alone: leave out what stands behind the name",
                        s->path);
    gls_status status = gls_hdf5_open(s->path, &file);
    if (!status) status = count_parts(s->path, file, &n, &composite);
    /* the last part is the first that a fixed point passes */
    for (int part = n - 1; part >= composite && !status; part--) {
        snprintf(name, sizeof name, "TransformGroup/%d/TransformType", part);
        status = gls_hdf5_find(file, name, &header);
        if (!status) status = gls_hdf5_text(file, header, kind, sizeof kind);
        if (!status) status = add_part(s->path, file, part, kind, t);
    }
    gls_hdf5_close(file);
    return status;
}
