/* Parts that all sidecars have, and exact numbers in JSON. */
#include "workflow/sidecar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <glslines/odf.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/text.h"
#include "util/threads.h"
#include "workflow/series.h"

/* A number as the shortest decimal that reads back as the same double; null where JSON has no number. */
static cJSON *number(double v)
{
    char text[40];
    return isfinite(v) ? cJSON_CreateRaw(gls_format_double(v, text, sizeof text)) : cJSON_CreateNull();
}

void gls_json_append_double(cJSON *array, double v)
{
    cJSON_AddItemToArray(array, number(v));
}

void gls_json_double(cJSON *object, const char *key, double v)
{
    cJSON_AddItemToObject(object, key, number(v));
}

void gls_json_uint(cJSON *object, const char *key, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, v);
    if (v <= UINT64_C(1) << 53)
        cJSON_AddRawToObject(object, key, text);
    else
        cJSON_AddStringToObject(object, key, text);
}

cJSON *gls_json_exact(const cJSON *entry)
{
    const cJSON *child;
    char text[40];
    if (cJSON_IsNumber(entry)) {
        double v = entry->valuedouble;
        /* whole numbers get no exponent and no point */
        if (v != floor(v) || fabs(v) > 0x1p53) return number(v);
        gls_snprintf(text, sizeof text, "%.0f", v);
        return cJSON_CreateRaw(text);
    }
    if (!cJSON_IsObject(entry) && !cJSON_IsArray(entry)) return cJSON_Duplicate(entry, true);
    cJSON *copy = cJSON_IsObject(entry) ? cJSON_CreateObject() : cJSON_CreateArray();
    cJSON_ArrayForEach(child, entry)
    {
        if (cJSON_IsObject(entry))
            cJSON_AddItemToObject(copy, child->string, gls_json_exact(child));
        else
            cJSON_AddItemToArray(copy, gls_json_exact(child));
    }
    return copy;
}

bool gls_json_same(const cJSON *a, const cJSON *b)
{
    /* the upper bits of type are flags of cJSON */
    if (!a || !b || (a->type & 0xff) != (b->type & 0xff)) return false;
    if (cJSON_IsNumber(a)) return a->valuedouble == b->valuedouble;
    if (cJSON_IsString(a) || cJSON_IsRaw(a)) return strcmp(a->valuestring, b->valuestring) == 0;
    if (!cJSON_IsArray(a) && !cJSON_IsObject(a)) return true;
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b)) return false;
    const cJSON *child, *other = b->child;
    cJSON_ArrayForEach(child, a)
    {
        /* members of objects may stand in another order, elements of arrays may not */
        if (cJSON_IsObject(a)) other = gls_json_at(b, child->string);
        if (!gls_json_same(child, other)) return false;
        other = other->next;
    }
    return true;
}

bool gls_json_get_uint(const cJSON *value, uint64_t *n)
{
    /* text: a number above 2^53, as gls_json_uint() writes it */
    if (cJSON_IsString(value)) return gls_parse_uint64(value->valuestring, n);
    /* a number above 2^53 may have been rounded */
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0) || value->valuedouble > 0x1p53 ||
        value->valuedouble != floor(value->valuedouble))
        return false;
    *n = (uint64_t)value->valuedouble;
    return true;
}

/* Key of the first member of a that b lacks or has with another value; NULL: none. */
static const char *missing_or_other(const cJSON *a, const cJSON *b)
{
    for (const cJSON *item = a ? a->child : NULL; item; item = item->next)
        if (!gls_json_same(item, gls_json_at(b, item->string))) return item->string;
    return NULL;
}

const char *gls_json_difference(const cJSON *a, const cJSON *b)
{
    const char *key = missing_or_other(a, b);
    return key ? key : missing_or_other(b, a);
}

cJSON *gls_json_written(cJSON *object)
{
    char *text = gls_json_print_line(object);
    cJSON_Delete(object);
    cJSON *read = text ? gls_json_parse(text) : NULL;
    cJSON_free(text);
    return read;
}

cJSON *gls_json_read(const char *path, size_t max_bytes)
{
    struct stat info;
    char *text = NULL;
    size_t n;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
    /* the size is limited, and a folder or a pipe is refused before it is opened */
    cJSON *root = gls_file_read(path, max_bytes, &text, &n) == GLS_OK ? gls_json_parse_bytes(text, n) : NULL;
    free(text);
    return root;
}

const cJSON *gls_json_members(const cJSON *object)
{
    return cJSON_IsObject(object) ? object->child : NULL;
}

void gls_sidecar_add_software(cJSON *root, int argc, char *const *argv)
{
    cJSON *software = cJSON_AddObjectToObject(root, "software");
    cJSON_AddStringToObject(software, "name", "glslines");
    cJSON_AddStringToObject(software, "version", gls_version());
    cJSON *libraries = cJSON_AddObjectToObject(software, "libraries");
    cJSON_AddStringToObject(libraries, "zlib", zlibVersion());
    if (gls_blas_config()) cJSON_AddStringToObject(libraries, "openblas", gls_blas_config());
    cJSON_AddStringToObject(libraries, "cjson", cJSON_Version());
    cJSON *line = cJSON_AddArrayToObject(root, "command_line");
    for (int i = 0; i < argc; i++) cJSON_AddItemToArray(line, cJSON_CreateString(argv[i]));
}

void gls_sidecar_add_warnings(cJSON *root, const gls_warnings *warnings)
{
    cJSON *array = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < warnings->n; i++) cJSON_AddItemToArray(array, cJSON_CreateString(warnings->line[i]));
}

/* Adds an input file: path as given and absolute, bytes, and the XXH3 hash of its contents. */
static cJSON *add_file(cJSON *inputs, const char *role, const char *path, uint64_t bytes, uint64_t hash)
{
    /* absolute: NULL if the file was removed meanwhile */
    char text[17], *absolute = realpath(path, NULL);
    cJSON *object = cJSON_AddObjectToObject(inputs, role);
    cJSON_AddStringToObject(object, "path", path);
    if (absolute) cJSON_AddStringToObject(object, "absolute_path", absolute);
    free(absolute);
    gls_json_uint(object, "bytes", bytes);
    cJSON_AddStringToObject(object, "xxh3_64", gls_hash_text(hash, text));
    return object;
}

void gls_sidecar_add_file(cJSON *inputs, const gls_input_file *file)
{
    struct stat info;
    char *companion = NULL;
    if (!file->path) return;
    cJSON *object = add_file(inputs, file->role, file->path, file->bytes, file->hash);
    /* the second file of a pair, such as .hdr and .img */
    if (!file->companion_hash || gls_input_companion(file->path, &companion) || !companion) return;
    if (stat(companion, &info) == 0)
        add_file(object, "companion", companion, (uint64_t)info.st_size, file->companion_hash);
    free(companion);
}

void gls_sidecar_add_grid(cJSON *root, const gls_grid *grid)
{
    char axes[4];
    cJSON *object = cJSON_AddObjectToObject(root, "grid");
    cJSON *dim = cJSON_AddArrayToObject(object, "dimensions");
    cJSON *size = cJSON_AddArrayToObject(object, "voxel_size_mm");
    cJSON *affine = cJSON_AddArrayToObject(object, "voxel_to_rasmm");
    for (int a = 0; a < 3; a++) {
        cJSON *row = cJSON_CreateArray();
        /* affine in rows of four numbers, voxel indices to RAS mm */
        cJSON_AddItemToArray(dim, cJSON_CreateNumber(grid->dim[a]));
        cJSON_AddItemToArray(size, number(grid->voxel_size[a]));
        for (int c = 0; c < 4; c++) cJSON_AddItemToArray(row, number(grid->affine[a][c]));
        cJSON_AddItemToArray(affine, row);
    }
    gls_grid_axis_codes(grid, axes);
    cJSON_AddStringToObject(object, "axes", axes);
    gls_json_double(object, "determinant", gls_grid_determinant(grid));
}

void gls_sidecar_add_gradients(cJSON *root, const gls_series *series)
{
    cJSON *gradients = cJSON_AddObjectToObject(root, "gradients");
    cJSON_AddStringToObject(gradients, "rule", gls_odf_frame_name(series->frame));
    gls_json_double(gradients, "affine_determinant", gls_grid_determinant(&series->dwi->grid));
    /* whether x of the b-vectors was negated, by FSL's rule, and b-values scaled by squared lengths of vectors */
    cJSON_AddBoolToObject(gradients, "x_negated", series->gradients->x_flipped);
    cJSON_AddBoolToObject(gradients, "b_values_scaled", series->gradients->scaled);
    gls_json_double(gradients, "b0_threshold_s_per_mm2", series->gradients->b0_threshold);
    gls_json_uint(gradients, "volumes", series->gradients->n);
    gls_json_uint(gradients, "b0_volumes", series->gradients->n_b0);
    cJSON *shells = cJSON_AddArrayToObject(gradients, "shells");
    for (size_t i = 0; i < series->n_shells; i++) {
        cJSON *shell = cJSON_CreateObject();
        gls_json_double(shell, "b_s_per_mm2", series->shell[i].bval);
        gls_json_double(shell, "min_b_s_per_mm2", series->shell[i].min_bval);
        gls_json_double(shell, "max_b_s_per_mm2", series->shell[i].max_bval);
        gls_json_uint(shell, "volumes", series->shell[i].n);
        cJSON_AddItemToArray(shells, shell);
    }
}
