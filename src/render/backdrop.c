/* The image behind streamlines where the user names none: the stop map of the run that tracked them, or their density.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>
#include <glslines/density.h>

#include "record/sidecar.h"
#include "render/studio.h"
#include "util/status.h"
#include "util/text.h"

/* Edge of voxels, mm, where the tractogram has no grid; larger where there would be more than MAX_VOXELS. */
#define VOXEL_MM 2.0
#define MAX_VOXELS 8e6

char *gls_file_beside(const char *sidecar, const char *path)
{
    char *beside = NULL;
    const char *slash = sidecar ? strrchr(sidecar, '/') : NULL, *name = strrchr(path, '/');
    gls_text text = {0};
    if (sidecar) {
        gls_text_printf(&text, "%.*s%s", slash ? (int)(slash + 1 - sidecar) : 0, sidecar, name ? name + 1 : path);
        beside = gls_text_take(&text);
    }
    if (beside && access(beside, R_OK) == 0) return beside;
    free(beside);
    return access(path, R_OK) == 0 ? gls_text_copy(path) : NULL;
}

/* Path of the stop map that the run of a tractogram was given. From malloc; NULL: none is known, or it is gone. */
static char *named_image(const char *tractogram)
{
    char *path = gls_sidecar_find(tractogram), *text = NULL, *found = NULL;
    cJSON *sidecar = NULL;
    if (path && access(path, R_OK) == 0 && gls_sidecar_read(path, &text, &sidecar) == GLS_OK) {
        const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(sidecar, "inputs"),
                    *fa = cJSON_GetObjectItemCaseSensitive(inputs, "fa"),
                    *name = cJSON_GetObjectItemCaseSensitive(fa, "path");
        if (cJSON_IsString(name)) found = gls_file_beside(path, name->valuestring);
    }
    cJSON_Delete(sidecar);
    free(text);
    free(path);
    return found;
}

/* Chooses the grid of the tractogram if it has at most MAX_VOXELS voxels, else a grid along the world axes around the
 * streamlines. Its voxels have VOXEL_MM a side, or more if there would be more than MAX_VOXELS. */
static gls_status choose_grid(const gls_source *source, const gls_box *box, gls_grid *grid)
{
    int32_t dim[3];
    double voxel = VOXEL_MM, volume = 1;
    if (source->has_grid && (double)gls_grid_voxels(&source->grid) <= MAX_VOXELS) {
        *grid = source->grid;
        return GLS_OK;
    }
    for (int a = 0; a < 3; a++) volume *= box->high[a] - box->low[a] + 2 * voxel;
    voxel = fmax(voxel, cbrt(volume / MAX_VOXELS));
    for (int a = 0; a < 3; a++) dim[a] = (int32_t)fmin(ceil((box->high[a] - box->low[a]) / voxel) + 2, 4096);
    const double affine[3][4] = {{voxel, 0, 0, box->low[0] - voxel / 2},
                                 {0, voxel, 0, box->low[1] - voxel / 2},
                                 {0, 0, voxel, box->low[2] - voxel / 2}};
    return gls_grid_init(grid, dim, affine);
}

gls_status gls_backdrop_density(const gls_source *source, size_t n, const gls_render_plan *plan, const gls_box *box,
                                gls_image **image)
{
    gls_density *density = NULL;
    gls_grid grid;
    gls_status status = choose_grid(&source[0], box, &grid);
    *image = NULL;
    if (!status) status = gls_density_create(&grid, NULL, &density);
    for (size_t i = 0; i < n && !status; i++) {
        gls_sink sink = gls_density_sink(density);
        status = gls_source_pour(&source[i], plan, &sink);
    }
    size_t voxels = gls_grid_voxels(&grid);
    double *values = status ? NULL : malloc(voxels * sizeof *values);
    if (!status && !values) status = gls_fail(GLS_ERR_MEMORY, "out of memory for the density of streamlines");
    if (!status) status = gls_image_create(&grid, 1, image);
    /* voxels without streamlines get log1p(0) = 0, which slices do not show */
    if (!status) {
        gls_density_get(density, values);
        /* the picture shows the logarithm of the density, so that thin bundles are seen beside thick ones */
        for (size_t v = 0; v < voxels; v++) (*image)->data[v] = (float)log1p(values[v]);
    }
    free(values);
    gls_density_destroy(density);
    return status;
}

gls_status gls_backdrop_find(gls_studio *s, const gls_box *streamlines)
{
    char *path = named_image(s->source[0].path);
    gls_status status = path ? gls_image_read(path, GLS_IMAGE_ANY, &s->image_read) : GLS_OK;
    const char *slash = path ? strrchr(path, '/') : NULL;
    /* an image that cannot be read is no failure: the picture shows the density instead */
    if (status) {
        gls_log(GLS_LOG_WARNING, "%s; the picture shows the density of streamlines instead", gls_last_error());
        s->image_read = NULL;
    }
    if (s->image_read)
        snprintf(s->behind, sizeof s->behind, "%s", slash ? slash + 1 : path);
    else
        snprintf(s->behind, sizeof s->behind, "density of streamlines");
    if (!s->image_read) status = gls_backdrop_density(s->source, s->n_sources, &s->plan, streamlines, &s->image_read);
    free(path);
    return status;
}
