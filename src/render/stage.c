/* The 3-D view of streamlines and slices of an image: its controls in HTML, and its data for the script page/stage.js.
 * Reports hold both; `glslines view` sends them. */
#include "render/stage.h"

#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/region_area.h"
#include "render/page.h"
#include "render/planes.h"
#include "render/scene.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

/* Smallest step of coordinates, in mm: finer steps would only make the data larger. */
#define FINEST 0.03f
/* Step between the grey values of the image, which run from 1 (black) to 253 (white); 0: nothing is shown. With fewer
 * values the image compresses better. */
#define STEP 4
/* Values of 16 bits reach this many times the width of the window beyond its ends. */
#define BEYOND 8

/* --- Streamlines. */

/* Stores a little-endian number, as the page's script reads it. */
static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> 8 * i);
}

static void put16(uint8_t *at, uint32_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

static void store_float(uint8_t *at, float v)
{
    uint32_t word;
    memcpy(&word, &v, 4);
    put32(at, word);
}

/* Lines that are packed, each where its values belong. */
typedef struct packing {
    const gls_scene *scene;
    float low[3], scale;
    uint8_t *counts, *values;
} packing;

/* Packs lines from .. until - 1. */
static void pack_lines(void *user, int thread, size_t from, size_t until)
{
    const packing *p = user;
    const gls_scene *scene = p->scene;
    (void)thread;
    for (size_t line = from; line < until; line++) {
        uint64_t begin = scene->offset[line], end = scene->offset[line + 1];
        put16(p->counts + 2 * line, (uint32_t)(end - begin));
        /* store differences of rounded positions, because they compress well; their sums have no more error than one
         * rounding */
        for (int a = 0; a < 3; a++)
            for (uint64_t i = begin, before = 0; i < end; i++) {
                uint32_t v = (uint32_t)lround(fmin(((double)scene->point[i][a] - p->low[a]) / p->scale, 65535));
                put16(p->values + 2 * ((size_t)a * scene->n_points + i), v - (uint32_t)before);
                before = v;
            }
    }
}

/* Packs streamlines. Layout: u32 lines, u32 points, f32 scale mm, f32 origin[3] mm, u16 count[lines]; then for x, y and
 * z the differences along each line as 16 bits, the first from 0. Little-endian; coordinate = origin + scale * sum. */
static void pack(const gls_scene *scene, uint8_t *bytes)
{
    packing p = {.scene = scene, .counts = bytes + 24, .values = bytes + 24 + 2 * scene->n_lines};
    double extent = 0;
    for (int a = 0; a < 3; a++) {
        float low = scene->n_points > 0 ? scene->point[0][a] : 0, high = low;
        for (size_t i = 0; i < scene->n_points; i++) {
            const float v = scene->point[i][a];
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        p.low[a] = low;
        extent = fmax(extent, (double)high - low);
        store_float(bytes + 12 + 4 * a, low);
    }
    /* 16 bits over the longest side of the box */
    p.scale = fmaxf((float)(extent / 65535), FINEST);
    put32(bytes, (uint32_t)scene->n_lines);
    put32(bytes + 4, (uint32_t)scene->n_points);
    store_float(bytes + 8, p.scale);
    gls_parallel(scene->n_lines, 256, omp_get_max_threads(), pack_lines, &p);
}

gls_status gls_stage_lines(const gls_scene *scene, gls_text *out)
{
    const size_t bytes = 24 + 2 * scene->n_lines + 6 * scene->n_points;
    for (size_t line = 0; line < scene->n_lines; line++)
        if (scene->offset[line + 1] - scene->offset[line] > 65535)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "a streamline has more than 65535 points, which no page can show: track with a larger "
                            "--step-size");
    char *raw = gls_text_extend(out, bytes);
    if (!raw) return gls_fail(GLS_ERR_MEMORY, "out of memory for the 3-D view");
    pack(scene, (uint8_t *)raw);
    return GLS_OK;
}

/* Appends a column of points: its 2nd and 98th percentile, and, compressed, a byte for each point, from 1 to 255
 * between the percentiles; 0: not a number. Sets json->failed if memory runs out. */
static void append_points(gls_text *json, const float *value, size_t n)
{
    float *sorted = malloc((n + 1) * sizeof *sorted);
    uint8_t *byte = malloc(n + 1);
    double range[2] = {0, 0};
    size_t known = 0;
    json->failed |= !sorted || !byte;
    for (size_t i = 0; i < n && !json->failed; i++)
        if (isfinite(value[i])) sorted[known++] = value[i];
    if (known > 0) gls_quantiles_of_floats(sorted, known, (const double[]){0.02, 0.98}, 2, range);
    for (size_t i = 0; i < n && !json->failed; i++) {
        const double share = range[1] > range[0] ? (value[i] - range[0]) / (range[1] - range[0]) : 0.5;
        byte[i] = isfinite(value[i]) ? (uint8_t)(1 + lround(254 * fmin(fmax(share, 0), 1))) : 0;
    }
    gls_text_printf(json, "\"of\":\"points\",\"low\":%.5g,\"high\":%.5g,\"values\":\"", range[0], range[1]);
    if (!json->failed) json->failed |= gls_html_packed(json, byte, n) != GLS_OK;
    gls_text_puts(json, "\"}");
    free(sorted);
    free(byte);
}

/* Appends a column of lines or a group: a number for each line, null where there is none. */
static void append_lines(gls_text *json, const gls_line_column *column, size_t n)
{
    gls_text_printf(json, "\"of\":\"%s\",\"values\":[", column->of == GLS_OF_GROUP ? "group" : "lines");
    for (size_t line = 0; line < n; line++) {
        gls_text_puts(json, line ? "," : "");
        if (isfinite(column->value[line]))
            gls_text_printf(json, "%.5g", (double)column->value[line]);
        else
            gls_text_puts(json, "null");
    }
    gls_text_puts(json, "]}");
}

void gls_stage_columns(const gls_scene *scene, gls_text *out)
{
    gls_text json = {0};
    gls_text_puts(&json, "[");
    for (size_t i = 0; i < scene->n_columns; i++) {
        const gls_line_column *column = &scene->column[i];
        cJSON *name = cJSON_CreateString(column->name);
        char *quoted = name ? gls_json_print_line(name) : NULL;
        json.failed |= !quoted;
        gls_text_printf(&json, "%s{\"name\":%s,", i ? "," : "", quoted ? quoted : "");
        if (column->of == GLS_OF_POINTS)
            append_points(&json, column->value, scene->n_points);
        else
            append_lines(&json, column, scene->n_lines);
        cJSON_free(quoted);
        cJSON_Delete(name);
    }
    gls_text_puts(&json, "]");
    char *text = gls_text_take(&json);
    gls_html_json(out, text ? text : "[]");
    free(text);
}

/* --- Slices. */

/* Bytes of the head of slices. */
#define SLICES_HEAD 28

/* A grid of voxels along the axes of the world, on which slices are sampled. */
typedef struct lattice {
    uint32_t dim[3];
    float voxel, first[3]; /* size of a voxel, and centre of the first one, mm */
} lattice;

/* The grid that holds an image with at most max_voxels voxels, no smaller than those of the image. */
static lattice choose_lattice(const gls_grid *grid, double max_voxels)
{
    gls_box box;
    lattice l;
    double voxel = INFINITY, volume = 1;
    gls_box_of_grid(grid, &box);
    for (int a = 0; a < 3; a++) {
        voxel = fmin(voxel, grid->voxel_size[a]);
        volume *= box.high[a] - box.low[a];
    }
    voxel = fmax(voxel, cbrt(volume / max_voxels));
    l.voxel = (float)voxel;
    for (int a = 0; a < 3; a++) {
        l.dim[a] = (uint32_t)fmax(1, floor((box.high[a] - box.low[a]) / voxel));
        l.first[a] = (float)(box.low[a] + voxel / 2);
    }
    return l;
}

static size_t voxels_of(const lattice *l)
{
    return (size_t)l->dim[0] * l->dim[1] * l->dim[2];
}

/* Centre of the voxel with this index, world mm. */
static void centre_of(const lattice *l, size_t i, float at[3])
{
    const size_t index[3] = {i % l->dim[0], i / l->dim[0] % l->dim[1], i / l->dim[0] / l->dim[1]};
    for (int a = 0; a < 3; a++) at[a] = l->first[a] + (float)index[a] * l->voxel;
}

/* Allocates slices of n bytes behind a head of this size, and writes the first part of the head. NULL: no memory. */
static uint8_t *make_slices(const lattice *l, size_t head, size_t n)
{
    uint8_t *raw = malloc(head + n);
    if (!raw) return NULL;
    for (int a = 0; a < 3; a++) put32(raw + 4 * a, l->dim[a]);
    store_float(raw + 12, l->voxel);
    for (int a = 0; a < 3; a++) store_float(raw + 16 + 4 * a, l->first[a]);
    return raw;
}

/* Appends slices, and frees them. NULL: there was no memory for them. */
static gls_status append_bytes(uint8_t *raw, size_t n, gls_text *out)
{
    if (!raw) return gls_fail(GLS_ERR_MEMORY, "out of memory for the slices of the 3-D view");
    gls_text_append(out, (const char *)raw, n);
    free(raw);
    return out->failed ? gls_no_memory() : GLS_OK;
}

gls_status gls_stage_slices(const gls_image *image, double max_voxels, gls_text *out)
{
    gls_sampler sampler;
    gls_window window;
    bool flat;
    gls_status status = gls_window_choose(image, &window, &flat);
    if (status) return status;
    const lattice l = choose_lattice(&image->grid, max_voxels);
    const size_t n = voxels_of(&l);
    uint8_t *raw = make_slices(&l, SLICES_HEAD, n);
    gls_sampler_init(&sampler, image);
    for (size_t i = 0; i < n && raw; i++) {
        float at[3];
        centre_of(&l, i, at);
        const double v = gls_sampler_at(&sampler, at), range = window.high - window.low;
        const double share = fmin(fmax(range > 0 ? (v - window.low) / range : 0, 0), 1);
        raw[SLICES_HEAD + i] = isfinite(v) && v != 0 ? (uint8_t)(1 + STEP * floor(share * 253 / STEP)) : 0;
    }
    return append_bytes(raw, SLICES_HEAD + n, out);
}

/* Slices of 16 bits that are filled. */
typedef struct filling {
    lattice l;
    gls_sampler sampler;
    double low, high; /* values of 1 and of 65535 */
    uint8_t *to;
} filling;

/* Fills voxels from .. until - 1 with values. */
static void fill_values(void *user, int thread, size_t from, size_t until)
{
    const filling *f = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        float at[3];
        centre_of(&f->l, i, at);
        const double v = gls_sampler_at(&f->sampler, at);
        const double share = f->high > f->low ? fmin(fmax((v - f->low) / (f->high - f->low), 0), 1) : 0;
        put16(f->to + 2 * i, isfinite(v) && v != 0 ? (uint32_t)(1 + lround(share * 65534)) : 0);
    }
}

/* The values of 1 and of 65535: the smallest and the largest one of the image, but not far beyond its window, so that a
 * few voxels with huge values leave enough steps to all others. */
static gls_status choose_range(const gls_image *image, double *low, double *high)
{
    gls_window window;
    bool flat;
    gls_status status = gls_window_choose(image, &window, &flat);
    if (status) return status;
    const double beyond = BEYOND * (window.high - window.low);
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < gls_grid_voxels(&image->grid); i++) {
        if (!isfinite(image->data[i])) continue;
        *low = fmin(*low, (double)image->data[i]);
        *high = fmax(*high, (double)image->data[i]);
    }
    *low = fmax(*low, window.low - beyond);
    *high = fmin(*high, window.high + beyond);
    if (*high > *low) return GLS_OK;
    *low = window.low;
    *high = window.high;
    return GLS_OK;
}

gls_status gls_stage_values(const gls_image *image, double max_voxels, gls_text *out)
{
    enum { HEAD = SLICES_HEAD + 8 };
    filling f = {.l = choose_lattice(&image->grid, max_voxels)};
    const size_t n = voxels_of(&f.l);
    gls_status status = choose_range(image, &f.low, &f.high);
    if (status) return status;
    uint8_t *raw = make_slices(&f.l, HEAD, 2 * n);
    gls_sampler_init(&f.sampler, image);
    if (raw) {
        f.to = raw + HEAD;
        store_float(raw + SLICES_HEAD, (float)f.low);
        store_float(raw + SLICES_HEAD + 4, (float)f.high);
        gls_parallel(n, 4096, omp_get_max_threads(), fill_values, &f);
    }
    return append_bytes(raw, HEAD + 2 * n, out);
}

/* Compares two labels, for bsearch(). */
static int compare_labels(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

gls_status gls_stage_labels(const gls_labels *labels, const int32_t *label, size_t n_labels, double max_voxels,
                            gls_text *out)
{
    enum { HEAD = SLICES_HEAD + 8 };
    const lattice l = choose_lattice(&labels->grid, max_voxels);
    const size_t n = voxels_of(&l);
    double to_voxel[3][4], place[3];
    uint8_t *raw = make_slices(&l, HEAD, 2 * n);
    gls_grid_inverse(&labels->grid, to_voxel);
    if (raw) store_float(raw + SLICES_HEAD, 1);
    if (raw) store_float(raw + SLICES_HEAD + 4, 65535);
    for (size_t i = 0; i < n && raw; i++) {
        float at[3];
        size_t voxel;
        centre_of(&l, i, at);
        gls_affine_apply((const double(*)[4])to_voxel, (const double[]){at[0], at[1], at[2]}, place);
        const int32_t *found = gls_region_voxel_at(&labels->grid, place, &voxel)
                                   ? bsearch(&labels->data[voxel], label, n_labels, sizeof *label, compare_labels)
                                   : NULL;
        put16(raw + HEAD + 2 * i, found && found - label < 65535 ? (uint32_t)(found - label) + 1 : 0);
    }
    return append_bytes(raw, HEAD + 2 * n, out);
}

/* --- Controls. */

/* Appends the controls of the slices. */
static void append_slices(gls_text *out, const char *image)
{
    static const char *const planes[] = {"sagittal", "coronal", "axial"};
    gls_text_puts(out, "<fieldset id=\"slices\" class=\"controls\" hidden><legend>slices of ");
    gls_html_puts(out, image);
    gls_text_puts(out, "</legend>");
    for (int a = 0; a < 3; a++)
        gls_text_printf(out,
                        "<span class=\"plane\"><label><input type=\"checkbox\" id=\"plane-%c\" checked>%s</label>"
                        "<input type=\"range\" id=\"at-%c\" aria-label=\"place of the %s slice\"><output "
                        "id=\"mm-%c\" for=\"at-%c\"></output></span>",
                        "xyz"[a], planes[a], "xyz"[a], planes[a], "xyz"[a], "xyz"[a]);
    gls_text_puts(out, "<label><input type=\"checkbox\" id=\"near\">only streamlines within 3 mm of the slices</label>"
                       "<label><input type=\"checkbox\" id=\"four\">each slice beside the view</label></fieldset>\n");
}

void gls_stage_controls(gls_text *out, uint64_t shown, uint64_t total, const char *image, const char *instead)
{
    static const char *const stands[] = {"superior", "inferior", "posterior", "anterior", "left", "right"};
    gls_text_printf(out,
                    "<p id=\"status\" role=\"status\">This part needs a browser with scripts and WebGL 2. "
                    "%s</p>\n"
                    "<div id=\"stage\" hidden data-total=\"%" PRIu64
                    "\"><canvas id=\"canvas\" tabindex=\"0\" role=\"img\" aria-label=\"%" PRIu64 " streamlines in "
                    "three dimensions, coloured by direction. Arrow keys turn, plus and minus zoom, Home resets.\">"
                    "</canvas>",
                    instead, total, shown);
    for (const char *name = "LRPAIS"; *name; name++)
        gls_text_printf(out, "<span id=\"axis-%c\" aria-hidden=\"true\">%c</span>", *name, *name);
    gls_text_puts(out, "<span id=\"scale\" aria-hidden=\"true\"></span></div>\n<div id=\"controls\" hidden>\n<div "
                       "class=\"controls\" role=\"group\" aria-label=\"Views\">");
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++)
        gls_text_printf(out, "<button type=\"button\" id=\"stand-%s\">%s</button>", stands[i], stands[i]);
    gls_text_puts(out, "</div>\n<div class=\"controls\">");
    for (int i = 0; i < 2; i++) {
        const char *which = i ? "to" : "from";
        gls_text_printf(out,
                        "<label>length %s <input type=\"range\" id=\"length-%s\" min=\"0\" max=\"1\" value=\"%d\"> "
                        "<output id=\"mm-%s\" for=\"length-%s\"></output></label>",
                        which, which, i, which, which);
    }
    gls_text_puts(out, "<span id=\"shown\" role=\"status\"></span></div>\n");
    append_slices(out, image);
    gls_text_puts(out,
                  "<div class=\"controls\"><label>colour <select "
                  "id=\"colour\"></select></label><span id=\"colours\" hidden><span id=\"colour-low\"></span><span "
                  "id=\"colour-bar\"></span><span id=\"colour-high\"></span></span><button type=\"button\" "
                  "id=\"save\">save picture</button></div>\n<fieldset id=\"groups\" class=\"controls\" hidden><legend>"
                  "bundles</legend></fieldset>\n<p class=\"note\">Drag or use the arrow keys to "
                  "turn, the wheel or + and - to zoom, Home to reset. Letters mark the sides of the body.</p>\n"
                  "</div>\n");
}
