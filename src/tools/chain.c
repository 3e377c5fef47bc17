/* Chains of transforms: their files belong to the inputs of a run, and its sidecar says how each was read. */
#include "tools/chain.h"

#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_SIDECAR_BYTES ((size_t)1 << 24)

gls_status gls_chain_note(gls_tract_run *run, const gls_strings *files)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < files->n && !status; i++) {
        char *paths[3];
        const size_t n = gls_transform_files(files->value[i], paths);
        for (size_t k = 0; k < n; k++) {
            if (!status) status = gls_tract_run_reads(run, paths[k]);
            free(paths[k]);
        }
    }
    return status;
}

gls_status gls_chain_read(gls_tract_run *run, const gls_strings *files, gls_transform *transform)
{
    *transform = (gls_transform){.n = 0};
    if (files->n == 0) return GLS_OK;
    gls_status status = gls_transform_read(files->value, (size_t)files->n, transform);
    cJSON *steps = cJSON_GetObjectItemCaseSensitive(run->root, "transforms");
    if (!steps) steps = cJSON_AddArrayToObject(run->root, "transforms");
    for (size_t i = 0; i < transform->n && !status; i++) {
        cJSON *step = cJSON_CreateObject();
        cJSON_AddStringToObject(step, "file", files->value[transform->step[i].text]);
        cJSON_AddStringToObject(step, "format", transform->step[i].format);
        cJSON_AddStringToObject(step, "maps", "points of the fixed image to points of the moving image");
        cJSON_AddItemToArray(steps, step);
    }
    return status;
}

/* --- The images of a registration. */

static void describe_grid(const gls_grid *grid, const char *key, cJSON *object)
{
    cJSON *one = cJSON_AddObjectToObject(object, key);
    cJSON_AddItemToObject(one, "size",
                          cJSON_CreateIntArray((const int[]){grid->dim[0], grid->dim[1], grid->dim[2]}, 3));
    cJSON *affine = cJSON_AddArrayToObject(one, "affine");
    for (int k = 0; k < 12; k++) gls_json_append_double(affine, grid->affine[k / 4][k % 4]);
}

void gls_chain_describe_grids(const gls_grid *fixed, const gls_grid *moving, cJSON *root)
{
    cJSON *grids = cJSON_AddObjectToObject(root, "grids");
    describe_grid(fixed, "fixed", grids);
    describe_grid(moving, "moving", grids);
}

/* Reads a grid that describe_grid() wrote. Returns false if there is none. */
static bool read_grid(const cJSON *one, gls_grid *grid)
{
    const cJSON *size = gls_json_at(one, "size"), *affine = gls_json_at(one, "affine");
    double map[3][4];
    int32_t dim[3];
    if (cJSON_GetArraySize(size) != 3 || cJSON_GetArraySize(affine) != 12) return false;
    for (int k = 0; k < 12; k++) map[k / 4][k % 4] = cJSON_GetNumberValue(cJSON_GetArrayItem(affine, k));
    for (int k = 0; k < 3; k++) dim[k] = cJSON_GetArrayItem(size, k)->valueint;
    return gls_grid_init(grid, dim, (const double(*)[4])map) == GLS_OK;
}

/* Name of the sidecar of a file of `glslines register`, whose name ends as its do, from malloc; NULL: it is none.
 * *inverse: the file holds the inverse. */
static char *name_sidecar(const char *path, bool *inverse)
{
    static const char *const ends[] = {"_affine.txt", "_inverse_warp.nii.gz", "_warp.nii.gz"};
    char *name = NULL;
    for (size_t k = 0; k < sizeof ends / sizeof *ends && !name; k++) {
        if (!gls_case_ends(path, ends[k])) continue;
        *inverse = k == 1;
        if (gls_asprintf(&name, "%.*s.json", (int)(strlen(path) - strlen(ends[k])), path) < 0) return NULL;
    }
    return name;
}

gls_status gls_chain_check_sides(const gls_strings *files, const gls_grid *fixed, const gls_grid *moving,
                                 const char *in)
{
    char *path[3];
    bool inverse = false;
    gls_grid own[2]; /* of the fixed and of the moving image of the registration */
    const char *text = files->n > 0 ? files->value[0] : "";
    const size_t n = gls_transform_files(text, path);
    char *sidecar = n > 0 ? name_sidecar(path[0], &inverse) : NULL;
    cJSON *root = sidecar ? gls_json_read(sidecar, MAX_SIDECAR_BYTES) : NULL;
    const cJSON *grids = gls_json_at(root, "grids");
    gls_status status = GLS_OK;
    for (const char *at = text; (at = strstr(at, ",inverse")); at++) inverse = !inverse;
    if (read_grid(gls_json_at(grids, "fixed"), &own[0]) && read_grid(gls_json_at(grids, "moving"), &own[1]) &&
        !gls_grid_same(&own[0], &own[1]) && gls_grid_same(fixed, &own[!inverse]) &&
        (!moving || gls_grid_same(moving, &own[inverse])))
        status = gls_fail(
            GLS_ERR_INPUT,
            "%s: the transform leads the other way: by %s, --template has the grid of its moving image: give that of "
            "the fixed one, or the transforms of its '%s'",
            in, sidecar, inverse ? "chain" : "inverse_chain");
    cJSON_Delete(root);
    free(sidecar);
    for (size_t k = 0; k < n; k++) free(path[k]);
    return status;
}
