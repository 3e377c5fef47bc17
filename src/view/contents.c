/* Files that the server sends: the page of the window, its script, and the data of what was opened. They are made
 * before the server starts, so that no request reads a file. */
#include "view/contents.h"

#include <assert.h>
#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/render.h>

#include "render/collect.h"
#include "render/page.h"
#include "render/picture_plan.h"
#include "render/scene.h"
#include "render/stage.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"

/* Tolerance of the streamlines, mm: points are left out where a streamline is so straight. */
#define TOLERANCE 0.1
/* Largest number of voxels of the slices of all images, of 2 bytes each. */
#define MAX_VOXELS 67108864.0

/* The files that were opened, sorted, and the streamlines that are shown. */
typedef struct opened {
    gls_source *source; /* the tractograms */
    size_t n_sources;
    const gls_view_image *image; /* the first one; NULL: none */
    gls_scene scene;
    uint64_t total; /* streamlines in the files */
    gls_box box;    /* of all of them */
} opened;

/* Adds a file; takes the text. */
static gls_status add(gls_view_contents *contents, const char *path, const char *type, gls_text *text)
{
    gls_view_file *file = &contents->file[contents->n];
    *file = (gls_view_file){.path = path, .type = type, .size = text->length};
    file->bytes = gls_text_take(text);
    if (!file->bytes) return gls_no_memory();
    contents->n++;
    return GLS_OK;
}

/* Adds an embedded file. */
static gls_status add_part(gls_view_contents *contents, const char *path, const char *type, const char *name)
{
    gls_text text = {0};
    gls_text_puts(&text, gls_page_part(name));
    return add(contents, path, type, &text);
}

/* Sorts the files by their names into tractograms, which are listed, and images, which are read. */
static gls_status sort_files(opened *g, const char *const *files, size_t n, const gls_transform *space,
                             gls_view_gallery *gallery)
{
    gls_tractogram_format format;
    gls_status status = (g->source = calloc(n + 1, sizeof *g->source)) ? GLS_OK : gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) {
        if (gls_tractogram_format_parse(files[i], &format) == GLS_OK)
            g->source[g->n_sources++].path = files[i];
        else
            status = gls_view_gallery_read(gallery, files[i], space);
    }
    return status;
}

/* Reads a sample of the streamlines of all tractograms. */
static gls_status read_streamlines(opened *g, const gls_view_options *options)
{
    gls_render_options render = gls_render_options_default();
    gls_render_plan plan = {.options = NULL};
    bool empty = true;
    if (g->n_sources == 0) return GLS_OK;
    render.read = options->read;
    render.go_on = options->go_on;
    render.max_streamlines = (options->max_streamlines + g->n_sources - 1) / g->n_sources;
    gls_status status = gls_render_plan_make(&render, g->n_sources, &plan);
    for (size_t i = 0; i < g->n_sources && !status; i++) {
        status = gls_source_measure(&g->source[i], &plan, &g->box, &empty);
        g->total += g->source[i].candidates;
        if (!status) status = gls_source_collect(&g->source[i], &plan, NULL, TOLERANCE, &g->scene);
    }
    gls_render_plan_finish(&plan);
    return status;
}

/* Limits of messages, for the fields of the pages. */
static const struct {
    const char *name;
    int64_t value;
} limits[] = {
    {"most seeds", GLS_VIEW_SEEDS},   {"most seed", GLS_VIEW_SEED},       {"most place", GLS_VIEW_PLACE},
    {"most radius", GLS_VIEW_RADIUS}, {"most brush", GLS_VIEW_BRUSH},     {"most value", GLS_VIEW_VALUE},
    {"most name", GLS_VIEW_NAME - 1}, {"most letters", GLS_VIEW_LETTERS}, {"most control", GLS_VIEW_CONTROL - 1}};

/* Appends a limit of messages, if this name in {{ }} stands for one. */
static void append_limit(gls_text *out, const char *name)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(name, limits[i].name) == 0) gls_text_printf(out, "%lld", (long long)limits[i].value);
}

/* Appends what a name in {{ }} of the page stands for. */
static void append_value(void *user, gls_text *out, const char *name)
{
    const opened *g = user;
    append_limit(out, name);
    if (strcmp(name, "stage") == 0)
        gls_stage_controls(out, g->scene.n_lines, g->total, g->image ? g->image->name : "", "");
    if (strcmp(name, "files") != 0) return;
    for (size_t i = 0; i < g->n_sources; i++) {
        gls_text_puts(out, i ? ", " : "");
        gls_html_puts(out, gls_file_name(g->source[i].path));
    }
    if (g->n_sources == 0) gls_text_puts(out, "no tractogram");
}

/* Adds the grid of the image on which pages paint, if they can. */
static void add_paint(cJSON *root, const gls_view_paint *paint)
{
    if (!paint->possible) return;
    cJSON *grid = cJSON_AddObjectToObject(root, "paint");
    double inverse[3][4];
    gls_grid_inverse(&paint->grid, inverse);
    cJSON_AddItemToObject(grid, "dim", cJSON_CreateIntArray(paint->grid.dim, 3));
    cJSON_AddItemToObject(grid, "voxel", cJSON_CreateDoubleArray(paint->grid.voxel_size, 3));
    cJSON_AddItemToObject(grid, "inverse", cJSON_CreateDoubleArray(&inverse[0][0], 12));
}

/* Adds the page and the numbers with which its script begins. */
static gls_status add_page(gls_view_contents *contents, const opened *g, const gls_view_live *live,
                           const gls_view_dissection *dissection)
{
    gls_text page = {0}, text = {0};
    gls_page_fill(&page, gls_page_part("view.html"), append_value, (void *)(uintptr_t)g);
    gls_status status = add(contents, "/", "text/html; charset=utf-8", &page);
    if (status) return status;
    cJSON *root = cJSON_CreateObject(), *begin = live->job ? cJSON_AddObjectToObject(root, "live") : NULL;
    cJSON_AddBoolToObject(root, "select", g->n_sources > 0);
    cJSON_AddBoolToObject(root, "labels", dissection->labels != NULL);
    add_paint(root, dissection->paint);
    cJSON *most = cJSON_AddObjectToObject(root, "most");
    gls_json_uint(most, "shown", GLS_VIEW_SHOWN);
    gls_json_uint(most, "place", GLS_VIEW_PLACE);
    gls_json_uint(most, "radius", GLS_VIEW_RADIUS);
    gls_json_uint(most, "regions", GLS_VIEW_REGIONS);
    gls_json_uint(most, "bundles", GLS_VIEW_BUNDLES);
    gls_json_uint(most, "places", GLS_VIEW_PLACES);
    gls_json_uint(most, "brush", GLS_VIEW_BRUSH);
    gls_json_uint(most, "page", GLS_VIEW_PAGE);
    gls_json_uint(most, "all_regions", GLS_VIEW_ALL_REGIONS);
    /* regions begin in the middle */
    double middle[3];
    for (int a = 0; a < 3; a++) middle[a] = round((g->box.low[a] + g->box.high[a]) / 2);
    cJSON_AddItemToObject(root, "middle", cJSON_CreateDoubleArray(middle, 3));
    if (begin) gls_view_live_describe(live, begin);
    status = gls_view_gallery_describe(&contents->gallery, dissection->labels, root);
    const gls_status printed = gls_view_answer_end(root, &text);
    if (!status) status = printed;
    if (!status) return add(contents, "/scene.json", "application/json", &text);
    free(gls_text_take(&text));
    return status;
}

/* Adds the slices of all images, and of the labels. */
static gls_status add_slices(gls_view_contents *contents, const gls_view_dissection *dissection)
{
    static const char *const path[] = {"/slices/0", "/slices/1", "/slices/2", "/slices/3",     "/slices/4",
                                       "/slices/5", "/slices/6", "/slices/7", "/slices/labels"};
    static_assert(sizeof path / sizeof *path == GLS_VIEW_IMAGES + 1, "each image needs a path");
    const gls_view_gallery *gallery = &contents->gallery;
    const double most = MAX_VOXELS / (double)(gallery->n + 1);
    gls_status status = GLS_OK;
    for (size_t i = 0; i <= gallery->n && !status; i++) {
        gls_text slices = {0};
        const bool last = i == gallery->n;
        if (last && !dissection->labels) break;
        status = last ? gls_view_dissection_slices(dissection, most, &slices)
                      : gls_stage_values(gallery->image[i].image, most, &slices);
        if (!status) status = add(contents, path[last ? GLS_VIEW_IMAGES : i], "application/octet-stream", &slices);
        free(gls_text_take(&slices));
    }
    return status;
}

/* Makes all files of the server. */
static gls_status add_all(gls_view_contents *contents, const opened *g, const gls_view_live *live,
                          const gls_view_dissection *dissection)
{
    gls_text lines = {0}, columns = {0}, labels = {0};
    gls_status status = add_page(contents, g, live, dissection);
    if (!status) status = gls_view_dissection_labels(dissection, &labels);
    if (!status) status = add(contents, "/labels", "application/json", &labels);
    if (!status) status = add_part(contents, "/report.css", "text/css; charset=utf-8", "report.css");
    if (!status) status = add_part(contents, "/slices.js", "text/javascript; charset=utf-8", "slices.js");
    if (!status) status = add_part(contents, "/images.js", "text/javascript; charset=utf-8", "images.js");
    if (!status) status = add_part(contents, "/criteria.js", "text/javascript; charset=utf-8", "criteria.js");
    if (!status) status = add_part(contents, "/glyphs.js", "text/javascript; charset=utf-8", "glyphs.js");
    if (!status) status = add_part(contents, "/stage.js", "text/javascript; charset=utf-8", "stage.js");
    if (!status) status = add_part(contents, "/shared.js", "text/javascript; charset=utf-8", "shared.js");
    if (!status) status = add_part(contents, "/values.js", "text/javascript; charset=utf-8", "values.js");
    if (!status) status = add_part(contents, "/view.js", "text/javascript; charset=utf-8", "view.js");
    if (!status) status = gls_stage_lines(&g->scene, &lines);
    if (!status) status = add(contents, "/lines", "application/octet-stream", &lines);
    gls_stage_columns(&g->scene, &columns);
    if (!status) status = add(contents, "/columns", "application/json", &columns);
    if (!status) status = add_slices(contents, dissection);
    free(gls_text_take(&lines));
    free(gls_text_take(&columns));
    free(gls_text_take(&labels));
    return status;
}

gls_status gls_view_contents_make(gls_view_contents *contents, const char *const *files, size_t n,
                                  const gls_view_options *options, const gls_view_live *live,
                                  const gls_view_dissection *dissection)
{
    opened g = {.source = NULL};
    gls_status status = sort_files(&g, files, n, &dissection->space, &contents->gallery);
    if (!status && contents->gallery.n == 0 && contents->gallery.odf)
        status = gls_view_gallery_read(&contents->gallery, contents->gallery.odf, NULL);
    const char *name = NULL;
    const gls_image *own = contents->gallery.n > 0 ? NULL : gls_view_live_image(live, &name);
    if (own) gls_view_gallery_add(&contents->gallery, own, name);
    g.image = contents->gallery.n > 0 ? contents->gallery.image : NULL;
    if (!status) status = read_streamlines(&g, options);
    if (!status && g.scene.n_lines == 0 && !g.image)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no streamline to show", n > 0 ? files[0] : "view");
    /* a region that is painted lies in the space of the streamlines, and --transform of the recipe, or of 'track',
     * would move it */
    if (!status && g.image && dissection->space.n == 0 && !gls_view_live_moves(live))
        gls_view_paint_begin(dissection->paint, &g.image->image->grid, g.image->path, g.image->image);
    if (!status) status = add_all(contents, &g, live, dissection);
    contents->box = g.box;
    contents->image = g.image ? g.image->path : NULL;
    contents->n_tractograms = g.n_sources;
    contents->tractogram = calloc(g.n_sources + 1, sizeof *contents->tractogram);
    if (!status && !contents->tractogram) status = gls_no_memory();
    for (size_t i = 0; i < g.n_sources && !status; i++) {
        contents->tractogram[i] = g.source[i].path;
        contents->n_lines += g.source[i].total;
        contents->n_points += g.source[i].points;
    }
    gls_scene_finish(&g.scene);
    free(g.source);
    return status;
}

/* Appends the name of the data set, or a limit. */
static void append_folder(void *user, gls_text *out, const char *name)
{
    append_limit(out, name);
    if (strcmp(name, "folder") == 0) gls_html_puts(out, user);
}

gls_status gls_view_contents_review(gls_view_contents *contents, const char *folder)
{
    gls_text page = {0};
    gls_page_fill(&page, gls_page_part("review.html"), append_folder, (void *)(uintptr_t)folder);
    gls_status status = add(contents, "/", "text/html; charset=utf-8", &page);
    if (!status) status = add_part(contents, "/report.css", "text/css; charset=utf-8", "report.css");
    if (!status) status = add_part(contents, "/review.js", "text/javascript; charset=utf-8", "review.js");
    return status;
}

const gls_view_file *gls_view_contents_find(const gls_view_contents *contents, const char *path)
{
    for (size_t i = 0; i < contents->n; i++)
        if (strcmp(contents->file[i].path, path) == 0) return &contents->file[i];
    return NULL;
}

void gls_view_contents_finish(gls_view_contents *contents)
{
    for (size_t i = 0; i < contents->n; i++) free(contents->file[i].bytes);
    free(contents->tractogram);
    gls_view_gallery_close(&contents->gallery);
    contents->tractogram = NULL;
    contents->n = 0;
}
