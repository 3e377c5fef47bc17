/* Prepares everything a picture needs and draws it: inputs, scale, cuts, foot, tiles. */
#include "render/studio.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/image_kind.h"
#include "dwi/model_options.h"
#include "gpu/devices.h"
#include "image/reorient.h"
#include "record/run_params.h"
#include "render/annotate.h"
#include "render/backdrop.h"
#include "render/canvas.h"
#include "render/collect.h"
#include "render/picture_plan.h"
#include "render/planes.h"
#include "render/raster.h"
#include "render/scene.h"
#include "transform/bring.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

#define DEGREE (3.14159265358979323846 / 180)
/* Half the width of lines, in pixels. */
#define LINE_RADIUS 0.5
/* Number of streamlines from which on a picture from outside shows only the outermost of them. */
#define CROWD 10000

/* --- Image ---------------------------------------------------------------- */

/* Makes this image the background, and chooses its values that are black and white. */
static gls_status use_image(gls_studio *s, const gls_image *image)
{
    const gls_render_options *o = s->plan.options;
    bool flat = false;
    s->image = image;
    gls_status status = gls_window_choose(s->image, &s->window, &flat);
    if (status) return status;
    gls_sampler_init(&s->sampler, s->image);
    if (o->image_range.n == 2)
        s->window = (gls_window){o->image_range.value[0], o->image_range.value[1]};
    else if (flat)
        gls_log(GLS_LOG_WARNING,
                "%s: all values are the same, so that the image shows nothing: give another --image, or --image-range",
                o->image     ? o->image
                : *s->behind ? s->behind
                             : "stop map");
    return GLS_OK;
}

/* Reads the image that the options name, or takes their image_data. */
static gls_status read_image(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    gls_status status = o->image ? gls_image_read(o->image, GLS_IMAGE_ANY, &s->image_read) : GLS_OK;
    if (!o->image && !o->image_data) return GLS_OK;
    if (!status && o->image) status = gls_image_bring(&s->image_read, &s->space, GLS_RESAMPLE_LINEAR, NAN, o->image);
    return status ? status : use_image(s, o->image ? s->image_read : o->image_data);
}

/* Reads --transform, which needs an image to bring. */
static gls_status read_transform(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    const bool outlined = o->outline && strcmp(o->outline, "density") != 0;
    if (o->transform.n == 0) return GLS_OK;
    if (!o->image && !outlined && s->plan.colouring != GLS_COLOUR_MAP)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--transform: there is no image to bring: needs --image, --outline MASK or --color map:IMAGE");
    return gls_transform_read(o->transform.value, (size_t)o->transform.n, &s->space);
}

/* Reads the image from which colours come. */
static gls_status read_map(gls_studio *s)
{
    if (s->plan.colouring != GLS_COLOUR_MAP) return GLS_OK;
    gls_status status = gls_image_read(s->plan.name, GLS_IMAGE_ANY, &s->map);
    if (!status) status = gls_image_bring(&s->map, &s->space, GLS_RESAMPLE_LINEAR, NAN, s->plan.name);
    if (!status) gls_sampler_init(&s->map_sampler, s->map);
    return status;
}

/* Reads the ODFs and prepares their glyphs. */
static gls_status read_odf(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    const gls_model_options model = {.sh_basis = o->sh_basis, .sh_frame = o->sh_frame};
    if (!o->odf) return GLS_OK;
    gls_status status = gls_image_read(o->odf, GLS_IMAGE_ANY, &s->odf);
    if (!status) status = gls_fod_check(s->odf, o->odf);
    if (!status) status = gls_image_require_values(s->odf, o->odf, "ODF");
    return status ? status : gls_glyphs_create(s->odf, o->odf, o->sh_basis, gls_model_frame(&model), &s->glyphs);
}

/* --- What is shown -------------------------------------------------------- */

/* Rotates the camera about the axis from feet to head by an angle in degrees. */
static void turn_camera(gls_camera *c, double degrees)
{
    double *axes[3] = {c->right, c->up, c->toward}, cosine = cos(degrees * DEGREE), sine = sin(degrees * DEGREE);
    for (int i = 0; i < 3; i++) {
        double x = axes[i][0], y = axes[i][1];
        axes[i][0] = cosine * x - sine * y;
        axes[i][1] = sine * x + cosine * y;
    }
}

/* Chooses the box that all views show: the crop box; without it the box of the first of these that exists: with --fit
 * streamlines the streamlines, the image, the ODFs; otherwise the image, the ODFs, the outline, the streamlines. If
 * none exists, the box reaches 50 mm from the origin in each direction. empty: there are no streamlines. */
static void choose_box(gls_studio *s, const gls_box *streamlines, bool empty)
{
    const gls_render_options *o = s->plan.options;
    bool by_image = s->image && s->plan.fit != GLS_FIT_STREAMLINES;
    s->box = (gls_box){{-50, -50, -50}, {50, 50, 50}};
    if (by_image || (empty && s->image))
        gls_box_of_grid(&s->image->grid, &s->box);
    else if (s->odf && (empty || s->plan.fit != GLS_FIT_STREAMLINES))
        gls_box_of_grid(&s->odf->grid, &s->box);
    else if (s->outline && s->plan.fit != GLS_FIT_STREAMLINES)
        gls_box_of_grid(&s->outline->grid, &s->box);
    else if (!empty)
        s->box = *streamlines;
    for (int a = 0; a < 3 && o->crop.n == 6; a++) {
        s->box.low[a] = o->crop.value[2 * a];
        s->box.high[a] = o->crop.value[2 * a + 1];
    }
}

/* Margin of a view in pixels: space for letters, or without labels 2 % of the shorter side. */
static double margin_of(const gls_studio *s)
{
    return s->plan.options->no_labels ? 0.02 * fmin(s->plan.width, s->plan.height)
                                      : 2.4 * gls_label_size(s->plan.width, s->plan.height);
}

/* Scale, in pixels for each mm, at which the box fits into the picture minus a margin on each side. */
static double fit_camera(const gls_camera *camera, const gls_box *box, double margin)
{
    double wide = 0, tall = 0;
    /* size of the box as the camera sees it */
    for (int a = 0; a < 3; a++) {
        double size = box->high[a] - box->low[a];
        wide += fabs(camera->right[a]) * size;
        tall += fabs(camera->up[a]) * size;
    }
    /* at least 8 pixels, however large the margin */
    double x = fmax(camera->width - 2 * margin, 8), y = fmax(camera->height - 2 * margin, 8);
    return fmin(x / fmax(wide, 1e-3), y / fmax(tall, 1e-3));
}

/* Sets the scale of --fit in mm or, without it, the largest at which every view, and every frame of a turn, shows the
 * whole box. */
static void choose_scale(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    s->scale = INFINITY;
    for (size_t i = 0; i < s->plan.n_tiles; i++) {
        gls_camera *c = &s->plan.tile[i].camera;
        c->width = s->plan.width;
        c->height = s->plan.height;
        for (int a = 0; a < 3; a++) c->centre[a] = (s->box.low[a] + s->box.high[a]) / 2;
        for (uint32_t frame = 0; frame < (o->turn ? o->turn : 1); frame++) {
            gls_camera turned = *c;
            turn_camera(&turned, o->turn ? 360.0 * frame / o->turn : 0);
            s->scale = fmin(s->scale, fit_camera(&turned, &s->box, margin_of(s)));
        }
    }
    if (s->plan.fit == GLS_FIT_MM) s->scale = fmin(s->plan.width, s->plan.height) / s->plan.fit_mm;
}

/* Sets the scale of each camera, and the limits beyond which it cuts everything off: those of the crop box, but along
 * the axis of a slab those of the slab. Sets the position of the slices. */
static void choose_cuts(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    for (size_t i = 0; i < s->plan.n_tiles; i++) {
        gls_tile *tile = &s->plan.tile[i];
        gls_camera *c = &tile->camera;
        int axis = tile->slab_axis;
        c->scale = s->scale;
        for (int a = 0; a < 3; a++) {
            c->low[a] = o->crop.n == 6 ? s->box.low[a] : -INFINITY;
            c->high[a] = o->crop.n == 6 ? s->box.high[a] : INFINITY;
        }
        if (axis < 0) continue;
        double size = s->box.high[axis] - s->box.low[axis], mm = tile->slab_mm;
        /* the slabs are spread over the middle 80 % of the box */
        double at = s->box.low[axis] + size * (0.1 + 0.8 * (tile->slab + 0.5) / tile->n_slabs);
        if (mm == 0) mm = s->image ? 2 * s->image->grid.voxel_size[0] : 4;
        c->low[axis] = at - mm / 2;
        c->high[axis] = at + mm / 2;
    }
    for (int a = 0; a < 3; a++)
        s->planes_at[a] = s->plan.planes == GLS_PLANES_AT ? s->plan.planes_at[a] : (s->box.low[a] + s->box.high[a]) / 2;
}

/* --- Foot ----------------------------------------------------------------- */

/* Prints a bound with three digits; from 1000 to 10^7 as a whole number, so that counts are complete. */
static void format_bound(double v, char *text, size_t size)
{
    gls_snprintf(text, size, fabs(v) >= 1000 && fabs(v) < 1e7 ? "%.0f" : "%.3g", v);
}

/* Adds a bundle with its number of streamlines. */
static void add_bundle(gls_studio *s, const char *name, uint64_t total, uint32_t colour)
{
    char count[32], text[100];
    snprintf(text, sizeof text, "%s %s", name, gls_format_count(total, count, sizeof count));
    gls_item *item = gls_foot_add(&s->foot, GLS_ITEM_SWATCH, text);
    if (item) item->colour = colour;
}

/* Adds the legend: colours of axes, bundles, groups, or of the colour map. */
static void add_colours(gls_studio *s)
{
    static const char *const axes[3] = {"left-right", "back-front", "up-down"};
    const gls_render_plan *p = &s->plan;
    if (!s->odf && s->n_sources == 0) return;
    /* colours of the three axes of the world */
    if (p->colouring == GLS_COLOUR_DIRECTION || p->colouring == GLS_COLOUR_END)
        for (int a = 0; a < 3; a++) {
            gls_item *item = gls_foot_add(&s->foot, GLS_ITEM_SWATCH, axes[a]);
            const double v[3] = {a == 0, a == 1, a == 2};
            if (item) item->colour = gls_colour_of_direction(v);
        }
    /* add each bundle, or each group, with its number of streamlines */
    for (size_t i = 0; i < s->n_sources; i++) {
        const gls_source *from = &s->source[i];
        if (p->colouring == GLS_COLOUR_BUNDLE) add_bundle(s, from->name, from->total, from->colour);
        for (size_t k = 0; k < from->n_groups; k++)
            add_bundle(s, from->group[k].name, from->group[k].total, from->group[k].colour);
    }
    if (p->colouring == GLS_COLOUR_GROUP) {
        gls_item *item = gls_foot_add(&s->foot, GLS_ITEM_SWATCH, p->name);
        if (item) item->colour = s->source[0].colour;
    }
    /* without numbers a picture has no colour bar */
    if (!s->scene.value) return;
    char text[128], low[32], high[32];
    const char *unit = p->options->unit;
    /* name of the numbers; an image is named without its folder */
    const char *name = p->colouring == GLS_COLOUR_LENGTH ? "length, mm" : p->name, *slash = strrchr(name, '/');
    format_bound(s->range[0], low, sizeof low);
    format_bound(s->range[1], high, sizeof high);
    snprintf(text, sizeof text, "%.60s%s%.20s  %s", slash ? slash + 1 : name, unit ? ", " : "", unit ? unit : "", low);
    gls_item *item = gls_foot_add(&s->foot, GLS_ITEM_COLOURS, text);
    if (!item) return;
    snprintf(item->other, sizeof item->other, "%s", high);
    item->map = (gls_colormap)p->options->colormap;
}

/* Makes the foot: title, file, counts, legend, a bar of a round length, the image behind, the convention of slices. */
static void make_foot(gls_studio *s)
{
    static const double lengths[] = {100, 50, 20, 10, 5, 2, 1};
    const gls_render_options *o = s->plan.options;
    char text[96], shown[32], total[32];
    s->foot.size = gls_label_size(s->plan.width, s->plan.height);
    s->foot.mm_pixel = 1 / s->scale;
    if (o->no_labels) return;
    if (o->title) gls_foot_add(&s->foot, GLS_ITEM_TEXT, o->title);
    if (s->n_sources == 1) {
        const char *slash = strrchr(s->source[0].path, '/');
        gls_foot_add(&s->foot, GLS_ITEM_TEXT, slash && slash[1] ? slash + 1 : s->source[0].path);
    }
    const char *alone = o->odf ? o->odf : s->n_sources == 0 ? o->image : NULL;
    if (alone) {
        const char *slash = strrchr(alone, '/');
        snprintf(text, sizeof text, "%s%.80s", o->odf ? "ODFs of " : "", slash && slash[1] ? slash + 1 : alone);
        gls_foot_add(&s->foot, GLS_ITEM_TEXT, text);
    }
    snprintf(text, sizeof text, "%s of %s streamlines", gls_format_count(s->result.shown, shown, sizeof shown),
             gls_format_count(s->result.total, total, sizeof total));
    if (s->n_sources > 0) gls_foot_add(&s->foot, GLS_ITEM_TEXT, s->result.total ? text : "0 streamlines");
    add_colours(s);
    size_t i = 2; /* index of the length of the scale bar: 20 mm, less if 20 mm are wider than a third of a tile, or
                     more if 20 mm are below 12 pixels */
    for (; i + 1 < sizeof lengths / sizeof *lengths && lengths[i] * s->scale > s->plan.width / 3.0; i++) {
    }
    while (i > 0 && lengths[i] * s->scale < 12) i--;
    gls_snprintf(text, sizeof text, "%g mm", lengths[i]);
    gls_item *scale = gls_foot_add(&s->foot, GLS_ITEM_SCALE, text);
    if (scale) scale->mm = lengths[i];
    if (*s->behind) {
        snprintf(text, sizeof text, "behind: %s", s->behind);
        gls_foot_add(&s->foot, GLS_ITEM_TEXT, text);
    }
    bool slices = false;
    for (size_t t = 0; t < s->plan.n_tiles; t++)
        slices |= s->plan.tile[t].slab_axis >= 0 || strstr("axial coronal sagittal", s->plan.tile[t].name);
    if (slices)
        gls_foot_add(&s->foot, GLS_ITEM_TEXT,
                     o->convention == GLS_RENDER_RADIOLOGICAL ? "radiological: left is right"
                                                              : "neurological: left is left");
}

/* --- Opening, drawing, closing -------------------------------------------- */

/* If there is one file, with so many streamlines that they would hide each other, and no option rules it out: replaces
 * the views by slabs. Such slabs have an image behind the streamlines, unless --planes none is given. */
static gls_status choose_views(gls_studio *s, const gls_box *streamlines, bool empty)
{
    bool sliced;
    /* --max-streamlines does not count, so that it changes how much is drawn, and never the views */
    if (s->odf || s->n_sources != 1 || empty || s->source[0].candidates < CROWD) return GLS_OK;
    gls_status status = gls_render_plan_slice(&s->plan, &sliced);
    if (status || !sliced || s->image || s->plan.planes == GLS_PLANES_NONE) return status;
    status = gls_backdrop_find(s, streamlines);
    return status ? status : use_image(s, s->image_read);
}

/* Measures all files, chooses views and scale, and keeps the streamlines to draw. */
static gls_status read_sources(gls_studio *s, const char *const *paths)
{
    gls_box streamlines = {{0}, {0}};
    bool empty = true;
    gls_status status = GLS_OK;
    /* name of a bundle: the file's name without folder and suffix */
    for (size_t i = 0; i < s->n_sources && !status; i++) {
        const char *slash = strrchr(paths[i], '/');
        s->source[i].path = paths[i];
        snprintf(s->source[i].name, sizeof s->source[i].name, "%s", slash && slash[1] ? slash + 1 : paths[i]);
        char *dot = strrchr(s->source[i].name, '.');
        if (dot && dot > s->source[i].name) *dot = 0;
        status = gls_source_measure(&s->source[i], &s->plan, &streamlines, &empty);
        s->result.total += s->source[i].total;
        s->result.invalid += s->source[i].total - s->source[i].valid.kept;
    }
    if (status) return status;
    /* measure all files before streamlines are collected: colours, views and scale depend on all files */
    gls_sources_colour(s->source, s->n_sources, &s->plan);
    status = choose_views(s, &streamlines, empty);
    if (status) return status;
    if (!empty || s->n_sources == 0) status = gls_outline_open(s, &streamlines);
    if (status) return status;
    choose_box(s, &streamlines, empty);
    choose_scale(s);
    choose_cuts(s);
    for (size_t i = 0; i < s->n_sources && !status; i++)
        /* tolerance for leaving out points: half a pixel, at most 0.2 mm, too little to be seen */
        status = gls_source_collect(&s->source[i], &s->plan, &s->map_sampler, fmin(0.5 / s->scale, 0.2), &s->scene);
    s->result.shown = s->scene.n_lines;
    return status;
}

/* Sets range[] to two quantiles of the values of the scene, or to 0 and 1 if there are none. low, high: shares from 0
 * to 1. */
static gls_status find_percentiles(const gls_scene *scene, double low, double high, double range[2])
{
    float *sorted = malloc((scene->n_points + 1) * sizeof *sorted);
    size_t n = 0;
    if (!sorted) return gls_fail(GLS_ERR_MEMORY, "out of memory to sort %zu values", scene->n_points);
    for (size_t i = 0; i < scene->n_points && scene->value; i++)
        if (isfinite(scene->value[i])) sorted[n++] = scene->value[i];
    range[0] = 0;
    range[1] = 1;
    if (n > 0) gls_quantiles_of_floats(sorted, n, (const double[]){low, high}, 2, range);
    free(sorted);
    return GLS_OK;
}

/* Colours streamlines by their values: the colormap spans the range of the options or, without one, the 2nd to 98th
 * percentile. */
static gls_status colour_scene(gls_studio *s)
{
    const gls_render_options *o = s->plan.options;
    if (!s->scene.value) return GLS_OK;
    gls_status status = find_percentiles(&s->scene, 0.02, 0.98, s->range);
    for (int i = 0; i < 2 && o->range.n == 2; i++) s->range[i] = o->range.value[i];
    const double low = s->range[0], high = s->range[1];
    for (size_t i = 0; i < s->scene.n_points && !status; i++)
        s->scene.colour[i] =
            gls_colormap_at((gls_colormap)o->colormap, high > low ? (s->scene.value[i] - low) / (high - low) : 0.5);
    return status;
}

/* Finds the size of the whole picture: rows of views, and the foot. */
static void measure_picture(gls_studio *s)
{
    uint32_t rows = (uint32_t)((s->plan.n_tiles + s->plan.columns - 1) / s->plan.columns);
    s->result.mm_per_pixel = 1 / s->scale;
    s->result.width = s->plan.columns * s->plan.width;
    gls_foot_lay(&s->foot, s->result.width);
    s->result.height = rows * s->plan.height + s->foot.height;
}

gls_status gls_studio_open(const char *const *tractograms, size_t n, const gls_render_options *options, gls_studio *s)
{
    *s = (gls_studio){.n_sources = n};
    /* read the image, the map and the ODFs before the tractograms: views, scale and colours depend on them */
    gls_status status = gls_render_plan_make(options, n, &s->plan);
    if (status) return status;
    if (!(s->source = calloc(n + 1, sizeof *s->source)))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu files", n);
    if (!status) status = read_transform(s);
    if (!status) status = read_image(s);
    if (!status) status = read_map(s);
    if (!status) status = read_odf(s);
    if (!status) status = read_sources(s, tractograms);
    if (!status) status = colour_scene(s);
    /* the device is opened last: mistakes in options and files show up sooner */
    if (!status) status = gls_device_set_open(&s->devices, options->device ? options->device : "auto", 1, options->api);
    if (!status) {
        const gls_raster_style style = {options->style == GLS_RENDER_LINES ? LINE_RADIUS
                                                                           : fmax(options->radius * s->scale, 0.3),
                                        options->style == GLS_RENDER_LINES, options->opacity,
                                        options->opacity < 1 ? 0 : options->occlusion, s->plan.background};
        status = gls_raster_create(s->devices.device[0], &style, &s->raster);
    }
    if (!status) {
        make_foot(s);
        measure_picture(s);
    } else {
        gls_studio_close(s);
    }
    return status;
}

/* Finds the planes of a tile. Returns false if the tile has none. */
static bool planes_of(const gls_studio *s, const gls_tile *tile, const gls_camera *camera, gls_planes *planes)
{
    *planes = (gls_planes){.sampler = s->image ? &s->sampler : NULL, .glyphs = s->glyphs, .window = s->window};
    if ((!s->image && !s->glyphs) || s->plan.planes == GLS_PLANES_NONE) return false;
    int along = -1;
    /* a view along an axis shows one slice behind everything, unless the picture turns; other views show three slices
     * among the streamlines */
    for (int a = 0; a < 3; a++) {
        planes->at[a] = s->planes_at[a];
        planes->low[a] = camera->low[a];
        planes->high[a] = camera->high[a];
        if (fabs(camera->toward[a]) > 0.9999) along = a;
    }
    if (tile->slab_axis >= 0)
        planes->at[tile->slab_axis] = (camera->low[tile->slab_axis] + camera->high[tile->slab_axis]) / 2;
    planes->is_behind = along >= 0 && s->plan.options->turn == 0;
    for (int a = 0; a < 3; a++) planes->shown[a] = !planes->is_behind || a == along;
    return true;
}

/* Copies a picture of width x height pixels to x, y of the canvas, in which it lies whole. */
static void copy(gls_canvas *canvas, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const uint8_t *rgba)
{
    for (uint32_t row = 0; row < height; row++)
        memcpy(canvas->rgba + (((size_t)y + row) * canvas->width + x) * 4, rgba + (size_t)row * width * 4,
               (size_t)width * 4);
}

/* Draws a view with its upper left corner at x, y of the canvas. */
static gls_status draw_tile(gls_studio *s, const gls_tile *tile, uint32_t x, uint32_t y, gls_canvas *canvas)
{
    gls_planes planes;
    uint8_t *rgba = malloc((size_t)s->plan.width * s->plan.height * 4);
    if (!rgba) return gls_fail(GLS_ERR_MEMORY, "out of memory for a picture");
    bool has_planes = planes_of(s, tile, &tile->camera, &planes);
    gls_status status = gls_raster_draw(s->raster, &s->scene, &tile->camera, has_planes ? &planes : NULL, rgba);
    if (!status) copy(canvas, x, y, s->plan.width, s->plan.height, rgba);
    if (!status && s->outline && tile->slab_axis < 0) gls_outline_draw(s, &tile->camera, (int)x, (int)y, canvas);
    free(rgba);
    return status || s->plan.options->no_labels ? status : gls_tile_label(canvas, tile, x, y, &s->plan);
}

gls_status gls_studio_draw(gls_studio *s, uint32_t frame, gls_canvas *canvas)
{
    const gls_render_options *o = s->plan.options;
    gls_status status = gls_canvas_create(canvas, s->result.width, s->result.height, s->plan.background);
    for (size_t i = 0; i < s->plan.n_tiles && !status; i++) {
        gls_tile tile = s->plan.tile[i];
        if (o->turn) {
            turn_camera(&tile.camera, 360.0 * frame / o->turn);
            if (frame > 0) tile.name[0] = 0; /* the name of the view fits the first frame only */
        }
        status = draw_tile(s, &tile, (uint32_t)(i % s->plan.columns) * s->plan.width,
                           (uint32_t)(i / s->plan.columns) * s->plan.height, canvas);
        if (!status && o->go_on && !o->go_on())
            status = gls_fail(GLS_ERR_CANCELLED, "interrupted: no picture was written");
    }
    if (!status) status = gls_foot_draw(&s->foot, canvas, s->result.height - s->foot.height, &s->plan);
    if (status) gls_canvas_finish(canvas);
    return status;
}

void gls_studio_close(gls_studio *s)
{
    gls_raster_destroy(s->raster);
    gls_device_set_close(&s->devices);
    gls_scene_finish(&s->scene);
    gls_image_destroy(s->image_read);
    gls_image_destroy(s->map);
    gls_glyphs_destroy(s->glyphs);
    gls_image_destroy(s->odf);
    gls_image_destroy(s->outline);
    gls_transform_finish(&s->space);
    for (size_t i = 0; i < s->n_sources && s->source; i++) free(s->source[i].group);
    free(s->source);
    gls_render_plan_finish(&s->plan);
    memset(s, 0, sizeof *s);
}
