/* Finds the image behind the streamlines of a picture if the user names none (the stop map of the run that tracked
 * them, or their density), and draws the outline of a brain. The outline looks like glass: nearly clear where its
 * surface faces the viewer, and bright at its rim. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cJSON.h>
#include <glslines/density.h>

#include "render/backdrop.h"
#include "record/sidecar.h"
#include "render/canvas.h"
#include "render/collect.h"
#include "render/drawing.h"
#include "render/planes.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"
#include "transform/bring.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Edge of voxels, mm, if the tractogram has no grid, or a grid of more than MAX_VOXELS voxels; larger if there would
 * still be more than MAX_VOXELS. */
#define VOXEL_MM 2.0
#define MAX_VOXELS 8e6

/* Whether path is a file or a folder that can be read. A pipe, which might never end, is none. */
static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) && access(path, R_OK) == 0;
}

char *gls_file_beside(const char *sidecar, const char *path)
{
    char *beside = NULL;
    const char *slash = sidecar ? strrchr(sidecar, '/') : NULL, *name = strrchr(path, '/');
    gls_text text = {0};
    if (sidecar) {
        gls_text_printf(&text, "%.*s%s", slash ? (int)(slash + 1 - sidecar) : 0, sidecar, name ? name + 1 : path);
        beside = gls_text_take(&text);
    }
    if (beside && is_there(beside)) return beside;
    free(beside);
    return is_there(path) ? gls_text_copy(path) : NULL;
}

/* Path of the stop map that the run of a tractogram was given. From malloc; NULL: no stop map is known, or its file is
 * gone. */
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
 * streamlines, with voxels of VOXEL_MM, or larger ones if these would be more than about MAX_VOXELS. */
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

/* Makes an image of the logarithm of the density of n sources, on the grid that choose_grid() finds for the first
 * source. */
static gls_status make_density(const gls_source *source, size_t n, const gls_render_plan *plan, const gls_box *box,
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
    if (!s->image_read) status = make_density(s->source, s->n_sources, &s->plan, streamlines, &s->image_read);
    free(path);
    return status;
}

/* --- The outline. */

/* Box filters that smooth the mask along each axis, so that voxels do not show as steps: the sum of their radii, mm,
 * and their number. */
#define SMOOTH_MM 3.0
#define PASSES 2
/* Opacity of the surface where it faces the viewer, and the opacity that its rim has in addition. */
#define FACE 0.05
#define RIM 0.7

/* Replaces each of n values by the mean of the 2 r + 1 values around it; beyond both ends the values count as 0.
 * stride: distance between neighbours in elements; line: memory for n values. */
static void smooth_line(float *data, size_t stride, int32_t n, int32_t r, float *line)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) line[i] = data[(size_t)i * stride];
    for (int32_t i = 0; i < r && i < n; i++) sum += line[i];
    for (int32_t i = 0; i < n; i++) {
        if (i + r < n) sum += line[i + r];
        if (i - r - 1 >= 0) sum -= line[i - r - 1];
        data[(size_t)i * stride] = (float)(sum / (2 * r + 1));
    }
}

/* Smooths a mask by repeated box filters along each axis, which together approach a Gaussian. */
static gls_status smooth(gls_image *image)
{
    const int32_t *dim = image->grid.dim;
    const size_t stride[3] = {1, (size_t)dim[0], (size_t)dim[0] * (size_t)dim[1]};
    int32_t most = dim[0] > dim[1] ? dim[0] : dim[1];
    float *line = malloc((size_t)(dim[2] > most ? dim[2] : most) * sizeof *line);
    if (!line) return gls_fail(GLS_ERR_MEMORY, "out of memory for an outline");
    for (int pass = 0; pass < PASSES; pass++)
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            int32_t r = (int32_t)lround(SMOOTH_MM / PASSES / image->grid.voxel_size[a]);
            for (int32_t i = 0; i < dim[b]; i++)
                for (int32_t j = 0; j < dim[c]; j++)
                    smooth_line(image->data + (size_t)i * stride[b] + (size_t)j * stride[c], stride[a], dim[a],
                                r < 1 ? 1 : r, line);
        }
    free(line);
    return GLS_OK;
}

gls_status gls_outline_open(gls_studio *s, const gls_box *streamlines)
{
    const char *of = s->plan.options->outline;
    if (!of) return GLS_OK;
    gls_status status = strcmp(of, "density") == 0
                            ? make_density(s->source, s->n_sources, &s->plan, streamlines, &s->outline)
                            : gls_image_read(of, GLS_IMAGE_ANY, &s->outline);
    if (!status && strcmp(of, "density") != 0)
        status = gls_image_bring(&s->outline, &s->space, GLS_RESAMPLE_NEAREST, 0, of);
    if (status) return status;
    for (size_t v = 0; v < gls_grid_voxels(&s->outline->grid); v++)
        s->outline->data[v] = s->outline->data[v] > 0 ? 1 : 0;
    gls_sampler_init(&s->outline_sampler, s->outline);
    return smooth(s->outline);
}

/* A ray from the viewer. Positions on it are in mm from its start. */
typedef struct ray {
    /* interpolates the smoothed mask */
    const gls_sampler *sampler;
    /* from, along: start and unit vector, world mm; voxel_from, voxel_along: both in voxel coordinates */
    double from[3], along[3], voxel_from[3], voxel_along[3];
} ray;

/* Value of the smoothed mask at t mm from the start of the ray; 0 outside the image. */
static double value_at(const ray *r, double t)
{
    float p[3];
    for (int a = 0; a < 3; a++) p[a] = (float)(r->from[a] + t * r->along[a]);
    float v = gls_sampler_at(r->sampler, p);
    return isnan(v) ? 0 : v;
}

/* Limits the part t[0] .. t[1] of a ray to what lies inside the image. Returns false if nothing is left. */
static bool enter(const ray *r, double t[2])
{
    const int32_t *dim = r->sampler->image->grid.dim;
    for (int a = 0; a < 3; a++) {
        double low = -0.5, high = dim[a] - 0.5, d = r->voxel_along[a], at = r->voxel_from[a];
        if (fabs(d) < 1e-12) {
            if (at < low || at > high) return false;
            continue;
        }
        t[0] = fmax(t[0], ((d > 0 ? low : high) - at) / d);
        t[1] = fmin(t[1], ((d > 0 ? high : low) - at) / d);
    }
    return t[0] < t[1];
}

/* Finds the first point of the ray at which the smoothed mask rises to 0.5: by steps of `step` mm until nearest voxel
 * and interpolated value reach 0.5, then by bisection. *place: distance of the point from the start of the ray, mm.
 * Returns false if there is no such point. */
static bool meet(const ray *r, double step, double *place)
{
    const gls_image *image = r->sampler->image;
    const int32_t *dim = image->grid.dim;
    double t[2] = {-INFINITY, INFINITY};
    if (!enter(r, t)) return false;
    for (double at = t[0] + step / 2; at < t[1]; at += step) {
        int64_t v[3];
        for (int a = 0; a < 3; a++) {
            double c = fmin(fmax(r->voxel_from[a] + at * r->voxel_along[a], 0), dim[a] - 1);
            v[a] = (int64_t)(c + 0.5);
        }
        if (image->data[(size_t)((v[2] * dim[1] + v[1]) * dim[0] + v[0])] < 0.5f || value_at(r, at) < 0.5) continue;
        double before = fmax(at - 2 * step, t[0]), after = at;
        for (int i = 0; i < 8; i++) {
            double middle = (before + after) / 2;
            *(value_at(r, middle) < 0.5 ? &before : &after) = middle;
        }
        *place = after;
        return true;
    }
    return false;
}

/* Opacity of the surface where a ray meets it: higher where the surface is turned away from the viewer; 0 if the ray
 * does not meet the surface. */
static double opacity(const ray *r, double step)
{
    double place, gradient[3], size = 0, facing = 0;
    if (!meet(r, step, &place)) return 0;
    for (int a = 0; a < 3; a++) {
        ray up = *r, down = *r;
        up.from[a] += step;
        down.from[a] -= step;
        gradient[a] = value_at(&up, place) - value_at(&down, place);
        size += gradient[a] * gradient[a];
        facing += gradient[a] * r->along[a];
    }
    /* cosine of the angle between the surface's normal and the ray */
    facing = size > 0 ? fabs(facing) / sqrt(size) : 1;
    return FACE + RIM * pow(1 - facing, 3);
}

void gls_outline_draw(const gls_studio *s, const gls_camera *c, int left, int top, gls_canvas *canvas)
{
    const gls_sampler *sampler = &s->outline_sampler;
    const double *edge = s->outline->grid.voxel_size;
    double step = fmin(fmin(edge[0], edge[1]), edge[2]) / 2;
/* rows of pixels are independent of each other */
#pragma omp parallel for schedule(dynamic)
    for (uint32_t row = 0; row < c->height; row++)
        for (uint32_t column = 0; column < c->width; column++) {
            double x = (column + 0.5 - c->width / 2.0) / c->scale, y = (c->height / 2.0 - row - 0.5) / c->scale;
            ray r = {.sampler = sampler};
            for (int a = 0; a < 3; a++) {
                r.from[a] = c->centre[a] + x * c->right[a] + y * c->up[a];
                r.along[a] = -c->toward[a];
            }
            for (int a = 0; a < 3; a++)
                for (int k = 0; k < 3; k++) r.voxel_along[a] += sampler->to_voxel[a][k] * r.along[k];
            gls_affine_apply(sampler->to_voxel, r.from, r.voxel_from);
            uint32_t alpha = (uint32_t)(255 * opacity(&r, step) + 0.5);
            if (alpha > 0)
                gls_canvas_fill(canvas, left + (int)column, top + (int)row, 1, 1,
                                (s->plan.ink & 0xffffffu) | alpha << 24);
        }
}
