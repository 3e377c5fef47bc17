/* Parts that all sidecars have. */
#include "record/sidecar.h"

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
        cJSON_AddItemToArray(dim, cJSON_CreateNumber(grid->dim[a]));
        gls_json_append_double(size, grid->voxel_size[a]);
        for (int c = 0; c < 4; c++) gls_json_append_double(row, grid->affine[a][c]);
        cJSON_AddItemToArray(affine, row);
    }
    gls_grid_axis_codes(grid, axes);
    cJSON_AddStringToObject(object, "axes", axes);
    gls_json_double(object, "determinant", gls_grid_determinant(grid));
}
