/* Draws the pictures of a report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/render.h>

#include "render/report_draw.h"
#include "render/annotate.h"
#include "render/canvas.h"
#include "render/drawing.h"
#include "render/png.h"
#include "render/report_parts.h"
#include "render/scene.h"
#include "render/studio.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Tolerance of the lines of the 3-D view, mm. It grows from VIEW_TOLERANCE until there are at most VIEW_POINTS points,
 * or until it is at least VIEW_COARSEST, however many points there are then. */
#define VIEW_TOLERANCE 0.25
#define VIEW_COARSEST 2.0
#define VIEW_POINTS 120000 /* wanted number of points of the 3-D view at most: about 0.75 MB of the report */
/* Maximum number of pixels of a side of a density map; with larger grids a pixel covers several voxels. */
#define DENSITY_MOST 1024

/* --- Bytes of a picture ----------------------------------------------------- */

/* Appends the bytes of a PNG to a text. */
static gls_status take(void *user, const void *data, size_t bytes)
{
    gls_text *text = user;
    gls_text_append(text, data, bytes);
    return text->failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for a picture") : GLS_OK;
}

gls_status gls_report_encode(const gls_canvas *canvas, gls_report_picture *picture)
{
    gls_text bytes = {0};
    gls_png png = {.width = canvas->width, .height = canvas->height, .take = take, .user = &bytes};
    const gls_png_text software = {"Software", "glslines"};
    gls_status status = gls_png_still(&png, &software, 1, canvas->rgba, true);
    picture->bytes = bytes.length;
    picture->width = canvas->width;
    picture->height = canvas->height;
    picture->png = (uint8_t *)gls_text_take(&bytes);
    return status;
}

/* --- Streamlines ------------------------------------------------------------ */

/* Draws the tractogram with these options. keep: gets the streamlines of the picture; NULL: they are freed. Groups that
 * have colours go to the report. */
static gls_status draw(gls_report *r, const gls_render_options *options, gls_report_picture *picture, gls_scene *keep)
{
    const char *files[] = {r->tractogram};
    gls_studio studio;
    gls_canvas canvas;
    gls_status status = gls_studio_open(files, 1, options, &studio);
    if (status) return status;
    status = gls_studio_draw(&studio, 0, &canvas);
    if (!status) {
        char shown[32], total[32];
        status = gls_report_encode(&canvas, picture);
        gls_asprintf(&picture->alt, "%s of %s streamlines, %s",
                     gls_format_count(studio.result.shown, shown, sizeof shown),
                     gls_format_count(studio.result.total, total, sizeof total),
                     studio.plan.n_slabs ? "near 12 axial slices" : "seen from above, from behind and from the left");
        gls_canvas_finish(&canvas);
    }
    if (!status && studio.source[0].group) {
        r->group = studio.source[0].group;
        r->n_groups = studio.source[0].n_groups;
        studio.source[0].group = NULL;
        studio.source[0].n_groups = 0;
    }
    if (!status && keep) {
        *keep = studio.scene;
        studio.scene = (gls_scene){.n_lines = 0};
    }
    gls_studio_close(&studio);
    return status;
}

/* Copies the lines of a scene, and leaves out points without which a line changes by at most the tolerance, mm. */
static gls_status compress(const gls_scene *scene, double tolerance, gls_scene *simple)
{
    gls_column values[GLS_MAX_POINT_COLUMNS];
    gls_streamlines lines = {
        .n = scene->n_lines, .offset = scene->offset, .point = (const float(*)[3])scene->point, .dpv = values};
    for (size_t i = 0; i < scene->n_columns; i++)
        if (scene->column[i].of == GLS_OF_POINTS)
            values[lines.n_dpv++] = (gls_column){scene->column[i].name, GLS_TYPE_FLOAT32, 1, scene->column[i].value};
    const gls_paint paint = {.colouring = GLS_COLOUR_PLAIN};
    gls_painting painting = {simple, &paint};
    gls_sink sink = gls_scene_sink(&painting), filter;
    gls_status status = gls_filter_compress_create(tolerance, INFINITY, &sink, &filter);
    if (status) return status;
    /* the filter has passed on every streamline; gls_sink_abort() frees the filter and leaves the scene as it is */
    status = lines.n > 0 ? gls_sink_append(&filter, &lines) : GLS_OK;
    gls_sink_abort(&filter);
    if (status) gls_scene_finish(simple);
    return status;
}

/* Moves the columns of `from` to `to`, a scene of the same streamlines with other points. Columns with a value for each
 * point must exist in both scenes; their values stay in the scene to whose points they belong. */
static void move_columns(gls_scene *from, gls_scene *to)
{
    const gls_scene own = *to;
    to->column = from->column;
    to->n_columns = from->n_columns;
    for (size_t i = 0, k = 0; i < to->n_columns && k < own.n_columns; i++) {
        if (to->column[i].of != GLS_OF_POINTS) continue;
        float *value = to->column[i].value;
        to->column[i].value = own.column[k].value;
        own.column[k++].value = value;
    }
    from->column = own.column;
    from->n_columns = own.n_columns;
}

/* Prepares lines for the 3-D view, with a larger tolerance where the report would become too large. */
static gls_status simplify(gls_scene *scene)
{
    gls_scene simple = {.n_lines = 0};
    double tolerance = VIEW_TOLERANCE;
    gls_status status = compress(scene, tolerance, &simple);
    while (!status && simple.n_points > VIEW_POINTS && tolerance < VIEW_COARSEST) {
        gls_scene_finish(&simple);
        simple = (gls_scene){.n_lines = 0};
        tolerance *= 1.5;
        status = compress(scene, tolerance, &simple);
    }
    if (status) return status;
    move_columns(scene, &simple);
    gls_scene_finish(scene);
    *scene = simple;
    return GLS_OK;
}

/* --- Density ---------------------------------------------------------------- */

/* Maximum intensity projection of a map along the view of a camera, on pixels of `voxel` mm. */
static void project(const gls_grid *grid, const double *values, const gls_camera *c, double voxel, double *out)
{
    for (size_t v = 0; v < gls_grid_voxels(grid); v++) {
        const double at[3] = {(double)(v % (size_t)grid->dim[0]),
                              (double)(v / (size_t)grid->dim[0] % (size_t)grid->dim[1]),
                              (double)(v / ((size_t)grid->dim[0] * (size_t)grid->dim[1]))};
        double p[3], x = 0, y = 0;
        if (values[v] == 0) continue;
        gls_affine_apply(grid->affine, at, p);
        for (int a = 0; a < 3; a++) {
            x += (p[a] - c->centre[a]) * c->right[a];
            y += (p[a] - c->centre[a]) * c->up[a];
        }
        int64_t column = (int64_t)floor(x / voxel + c->width / 2.0), row = (int64_t)floor(c->height / 2.0 - y / voxel);
        if (column < 0 || row < 0 || column >= c->width || row >= c->height) continue;
        double *to = &out[(size_t)row * c->width + (size_t)column];
        *to = fmax(*to, values[v]);
    }
}

/* Paints a projection with `zoom` pixels a voxel, by the logarithm of its values. most: largest value of all views. */
static void paint(gls_canvas *canvas, const double *from, uint32_t side, uint32_t left, uint32_t zoom, double most)
{
    for (uint32_t y = 0; y < side * zoom; y++)
        for (uint32_t x = 0; x < side * zoom; x++) {
            double v = from[(size_t)(y / zoom) * side + x / zoom];
            uint32_t colour = v > 0 ? gls_colormap_at(GLS_INFERNO, 0.1 + 0.9 * log1p(v) / log1p(most)) : 0;
            gls_canvas_fill(canvas, (int)(left + x), (int)y, 1, 1, 0xff000000u | colour);
        }
}

/* Draws the density from three sides, at one scale. */
static gls_status draw_density(gls_report *r)
{
    static const char *const stands[] = {"superior", "posterior", "left"};
    gls_report_picture *picture = &r->picture[GLS_PICTURE_DENSITY];
    gls_box box;
    gls_canvas canvas;
    gls_box_of_grid(&r->grid, &box);
    double voxel = fmax(fmax(r->grid.voxel_size[0], r->grid.voxel_size[1]), r->grid.voxel_size[2]), size = 0, most = 0;
    for (int a = 0; a < 3; a++) size = fmax(size, box.high[a] - box.low[a]);
    voxel = fmax(voxel, size / (DENSITY_MOST - 2));
    uint32_t side = (uint32_t)fmin(ceil(size / voxel) + 2, DENSITY_MOST), zoom = side < 380 ? 380 / side : 1;
    double *values = malloc(gls_grid_voxels(&r->grid) * sizeof *values),
           *flat = calloc((size_t)side * side, sizeof *flat);
    gls_status status = values && flat ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the density map");
    if (!status) status = gls_canvas_create(&canvas, 3 * side * zoom, side * zoom, 0xff000000u);
    if (!status) {
        gls_render_plan plan = {.width = side * zoom, .height = side * zoom, .ink = 0xfff0f0f0u};
        gls_density_get(r->density, values);
        for (size_t v = 0; v < gls_grid_voxels(&r->grid); v++) most = fmax(most, values[v]);
        for (uint32_t i = 0; i < 3 && !status; i++) {
            gls_tile tile = {.slab_axis = -1};
            snprintf(tile.name, sizeof tile.name, "%s", stands[i]);
            gls_camera_stand(&tile.camera, stands[i]);
            tile.camera.width = tile.camera.height = side;
            for (int a = 0; a < 3; a++) tile.camera.centre[a] = (box.low[a] + box.high[a]) / 2;
            memset(flat, 0, (size_t)side * side * sizeof *flat);
            project(&r->grid, values, &tile.camera, voxel, flat);
            paint(&canvas, flat, side, i * side * zoom, zoom, most);
            status = gls_tile_label(&canvas, &tile, i * side * zoom, 0, &plan);
        }
        if (!status) status = gls_report_encode(&canvas, picture);
        gls_canvas_finish(&canvas);
    }
    gls_asprintf(&picture->alt, "Largest density along lines of sight; the largest of all is %.0f streamlines a voxel",
                 most);
    free(values);
    free(flat);
    return status;
}

gls_status gls_report_draw(gls_report *r)
{
    const gls_report_options *o = r->options;
    gls_render_options views = gls_render_options_default();
    views.image = r->image; /* the path is given, too, because messages name it */
    views.transform = r->options->transform;
    views.image_data = r->has_image ? r->behind : NULL;
    views.max_streamlines = o->max_streamlines;
    views.read = o->read;
    views.device = o->device;
    views.api = o->api;
    views.go_on = o->go_on;
    views.tile = "480x520";
    views.color = "direction";
    views.views = "superior,posterior,left";
    gls_render_options slabs = views;
    slabs.views = "slab";
    slabs.tile = "300x300";
    slabs.image_data = r->behind;
    gls_status status = draw(r, &views, &r->picture[GLS_PICTURE_VIEWS], &r->scene);
    if (!status) status = simplify(&r->scene);
    if (!status) status = draw(r, &slabs, &r->picture[GLS_PICTURE_SLABS], NULL);
    views.color = "groups";
    if (!status && r->has_groups) status = draw(r, &views, &r->picture[GLS_PICTURE_BUNDLES], NULL);
    if (!status && r->density) status = draw_density(r);
    return status;
}
