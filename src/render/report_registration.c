/* Section of a report: a registration of two images. Measures do not show whether the same structures lie at one place;
 * pictures before and after do. */
#include "render/report_registration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/labels.h>

#include "registration/align.h"
#include "render/backdrop.h"
#include "render/canvas.h"
#include "render/page.h"
#include "render/planes.h"
#include "render/report_slices.h"
#include "render/report_tables.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

#define SIDE GLS_SLICE_SIDE
#define CONTOUR_VOXEL 3.0 /* mm, to which images are smoothed for contours, so that noise has none */
#define BINS 128          /* of the histogram from which the levels of contours follow */

/* --- The files. */

bool gls_report_is_registration(const cJSON *sidecar)
{
    return cJSON_IsObject(gls_json_at(sidecar, "linear")) && cJSON_IsString(gls_json_at(sidecar, "fixed"));
}

/* Path of a file that the sidecar names, from malloc; NULL: it names none, or it is not there. */
static char *beside(const gls_report *r, const char *name)
{
    return name ? gls_file_beside(r->sidecar_path, name) : NULL;
}

/* Path of the first output with this end, from malloc; NULL: there is none. A field stands before its inverse, whose
 * name ends in the same way. */
static char *find_output(const gls_report *r, const char *end)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, gls_report_get(r, "outputs"))
    {
        const char *name = cJSON_GetStringValue(item);
        const size_t n = name ? strlen(name) : 0, n_end = strlen(end);
        if (n > n_end && strcmp(name + n - n_end, end) == 0) return beside(r, name);
    }
    return NULL;
}

/* The files of a registration, from malloc each; NULL: not there. */
typedef struct files {
    char *fixed, *moving, *labels, *affine, *warp;
} files;

static void find_files(const gls_report *r, files *f)
{
    *f = (files){beside(r, gls_report_text(r, "fixed")), beside(r, gls_report_text(r, "moving")),
                 beside(r, gls_report_text(r, "labels/moving")), find_output(r, "_affine.txt"),
                 find_output(r, "_warp.nii.gz")};
}

static void finish_files(files *f)
{
    char *const all[] = {f->fixed, f->moving, f->labels, f->affine, f->warp};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

gls_status gls_report_find_registration(gls_report *r)
{
    files f;
    if (!gls_report_is_registration(r->sidecar)) return GLS_OK;
    r->of_images = true;
    find_files(r, &f);
    const char *const inputs[] = {f.fixed, f.moving, f.labels, f.affine, f.warp};
    const gls_status status = gls_run_reads_all(&r->run, inputs, sizeof inputs / sizeof *inputs);
    finish_files(&f);
    return status;
}

/* --- Images. */

/* One image, its window, and what its contours are made of. */
typedef struct side {
    gls_image *read, *image; /* the file; the volume that was compared, which shares the memory of `read` */
    gls_level smooth;
    gls_image *smoothed; /* shares the memory of `smooth` */
    gls_window window;
    double level[2]; /* values that divide background, grey and bright tissue */
} side;

/* All that the pictures show. */
typedef struct scene {
    side fixed, moving;
    gls_labels *labels; /* of the moving image; NULL: none */
    double to_label[3][4];
    gls_transform t, headers;
    gls_image *jacobian; /* NULL: there is no field */
    gls_box box;
} scene;

static void finish_side(side *s)
{
    gls_image_destroy(s->image);
    gls_image_destroy(s->read);
    gls_image_destroy(s->smoothed);
    gls_level_finish(&s->smooth);
}

static void finish_scene(scene *m)
{
    finish_side(&m->fixed);
    finish_side(&m->moving);
    gls_labels_destroy(m->labels);
    gls_transform_finish(&m->t);
    gls_image_destroy(m->jacobian);
}

/* Finds the two values that divide a histogram into three classes that differ most (Otsu's method). */
static void divide(const uint64_t *bin, double low, double width, double level[2])
{
    double sum[BINS + 1] = {0}, moment[BINS + 1] = {0}, best = -1;
    for (int k = 0; k < BINS; k++) {
        sum[k + 1] = sum[k] + (double)bin[k];
        moment[k + 1] = moment[k] + k * (double)bin[k];
    }
    for (int i = 1; i < BINS; i++)
        for (int j = i + 1; j < BINS; j++) {
            const int cut[4] = {0, i, j, BINS};
            double between = 0;
            for (int c = 0; c < 3; c++) {
                const double n = sum[cut[c + 1]] - sum[cut[c]], m = moment[cut[c + 1]] - moment[cut[c]];
                if (n > 0) between += m * m / n;
            }
            if (between <= best) continue;
            best = between;
            level[0] = low + i * width;
            level[1] = low + j * width;
        }
}

static void find_levels(side *s)
{
    const double low = s->window.low, width = (s->window.high - low) / BINS;
    uint64_t bin[BINS] = {0};
    for (size_t v = 0; v < gls_grid_voxels(&s->smooth.grid); v++) {
        const double place = floor(((double)s->smooth.value[v] - low) / width);
        if (s->smooth.mask[v]) bin[place > 0 ? (int)fmin(place, BINS - 1) : 0]++;
    }
    divide(bin, low, width, s->level);
}

static gls_status read_side(const char *path, const char *name, double volume, side *s)
{
    gls_level full = {.value = NULL};
    uint64_t bad;
    bool flat;
    if (!path) return gls_fail(GLS_ERR_INPUT, "%s is not where it was", name ? name : "an image");
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &s->read);
    if (status) return status;
    const size_t t = volume >= 0 && s->read->n_volumes > 1 ? (size_t)volume : 0;
    if (t >= s->read->n_volumes) return gls_fail(GLS_ERR_INPUT, "%s: has no volume %zu", path, t);
    status = gls_image_wrap(&s->read->grid, 1, s->read->data + t * gls_grid_voxels(&s->read->grid), &s->image);
    if (!status) status = gls_window_choose(s->image, &s->window, &flat);
    if (!status) status = gls_level_init(&full, s->image, 0, NULL, NULL, path, &bad);
    if (!status) status = gls_level_shrink(&full, CONTOUR_VOXEL, &s->smooth);
    if (!status) status = gls_image_wrap(&s->smooth.grid, 1, s->smooth.value, &s->smoothed);
    if (!status) find_levels(s);
    gls_level_finish(&full);
    return status;
}

/* The box of the pictures: that of the voxels of FIXED which are no background. */
static gls_status find_box(scene *m)
{
    gls_image *inside = NULL;
    gls_status status = gls_image_create(&m->fixed.smooth.grid, 1, &inside);
    for (size_t v = 0; !status && v < gls_grid_voxels(&inside->grid); v++)
        inside->data[v] = (double)m->fixed.smooth.value[v] > m->fixed.level[0];
    if (!status) gls_slice_box(inside, &m->box);
    gls_image_destroy(inside);
    return status;
}

static gls_status read_scene(const gls_report *r, scene *m)
{
    const double volume = gls_report_number(r, "parameters/volume");
    files f;
    find_files(r, &f);
    const char *chain[2] = {f.warp, f.affine};
    const size_t n = f.warp ? 2 : 1;
    gls_status status = read_side(f.fixed, gls_report_text(r, "fixed"), volume, &m->fixed);
    if (!status) status = read_side(f.moving, gls_report_text(r, "moving"), volume, &m->moving);
    if (!status && !f.affine) status = gls_fail(GLS_ERR_INPUT, "its transform is not where it was");
    if (!status) status = gls_transform_read(chain + 2 - n, n, &m->t);
    m->t.identity_outside = true;
    if (!status && f.labels) status = gls_labels_read(f.labels, &m->labels);
    if (!status && m->labels) gls_grid_inverse(&m->labels->grid, m->to_label);
    if (!status && f.warp && m->t.step[0].field) status = gls_field_jacobian(m->t.step[0].field, &m->jacobian);
    if (!status) status = find_box(m);
    finish_files(&f);
    return status;
}

/* --- Pictures. */

typedef enum picture_kind { CONTOURS, SQUARES, JACOBIAN } picture_kind;

/* One slice: grey values, and sets between which contours are drawn. */
typedef struct slice {
    gls_tile tile;
    float grey[SIDE * SIDE], jacobian[SIDE * SIDE];
    int32_t set[SIDE * SIDE];
} slice;

/* Class or label of the moving image at a point of its space. */
static int32_t set_at(const scene *m, const gls_sampler *smoothed, const double p[3])
{
    if (m->labels) {
        const size_t v = gls_slice_voxel(&m->labels->grid, (const double(*)[4])m->to_label, p);
        return v < SIZE_MAX ? m->labels->data[v] : 0;
    }
    const double value = (double)gls_sampler_at(smoothed, (const float[]){(float)p[0], (float)p[1], (float)p[2]});
    return (value > m->moving.level[0]) + (value > m->moving.level[1]);
}

static void sample(const scene *m, picture_kind kind, const gls_transform *t, slice *s)
{
    gls_sampler fixed, moving, smoothed, jacobian;
    gls_sampler_init(&fixed, m->fixed.image);
    gls_sampler_init(&moving, m->moving.image);
    gls_sampler_init(&smoothed, m->moving.smoothed);
    if (m->jacobian) gls_sampler_init(&jacobian, m->jacobian);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double plane[2], p[3], q[3] = {NAN, NAN, NAN};
        gls_slice_point(&s->tile, i, plane, p);
        gls_transform_apply(t, p, q);
        const float at[3] = {(float)p[0], (float)p[1], (float)p[2]}, to[3] = {(float)q[0], (float)q[1], (float)q[2]};
        s->grey[i] = kind == SQUARES && gls_slice_is_odd(plane)
                         ? gls_slice_grey(gls_sampler_at(&moving, to), &m->moving.window)
                         : gls_slice_grey(gls_sampler_at(&fixed, at), &m->fixed.window);
        if (kind == CONTOURS) s->set[i] = set_at(m, &smoothed, q);
        if (kind == JACOBIAN) s->jacobian[i] = gls_sampler_at(&jacobian, at);
    }
}

static void paint(const slice *s, picture_kind kind, gls_canvas *canvas, int left, int top)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int level = (int)lround(255 * (double)s->grey[i]);
        uint32_t colour = gls_colour_rgb(level, level, level);
        if (kind == CONTOURS && gls_slice_is_border(s->set, i)) colour = gls_colour_rgb(230, 159, 0);
        if (kind == JACOBIAN && level > 12)
            colour = gls_colormap_at(GLS_REDBLUE, 0.5 + 0.5 * log2(fmax((double)s->jacobian[i], 1e-6)));
        gls_canvas_fill(canvas, left + i % SIDE, top + i / SIDE, 1, 1, 0xff000000u | colour);
    }
}

/* Content of a picture, and memory for one slice. */
typedef struct drawing {
    const scene *m;
    picture_kind kind;
    const gls_transform *t;
    slice *s;
} drawing;

static void paint_slice(void *user, gls_tile *tile, gls_canvas *canvas, int left, int top)
{
    const drawing *d = user;
    d->s->tile = *tile;
    sample(d->m, d->kind, d->t, d->s);
    paint(d->s, d->kind, canvas, left, top);
}

static gls_status draw(const scene *m, picture_kind kind, bool after, gls_report_picture *picture)
{
    drawing d = {m, kind, after ? &m->t : &m->headers, malloc(sizeof *d.s)};
    const gls_status status = d.s ? gls_slices_draw(&m->box, 1, paint_slice, &d, picture) : gls_no_memory();
    free(d.s);
    return status;
}

/* Appends the pictures, or why there are none. */
static void append_pictures(const gls_report *r, gls_text *out)
{
    static const struct {
        picture_kind kind;
        bool after;
        const char *caption, *alt;
    } pictures[] = {
        {CONTOURS, false,
         "Before: the fixed image, with contours of the moving image (orange) as both headers place it.",
         "Slices of the fixed image with contours of the moving image before the registration"},
        {CONTOURS, true,
         "After: the same with the transform. The contours, borders of labels or of dark, grey and bright tissue, have "
         "to "
         "follow the borders in the image.",
         "Slices of the fixed image with contours of the moving image after the registration"},
        {SQUARES, false, "Before: squares of 16 mm in turn of the fixed and of the moving image.",
         "Slices in squares that show the fixed and the moving image in turn, before the registration"},
        {SQUARES, true,
         "After: the same with the transform. Surface and ventricles have to go on across the edges of the squares.",
         "Slices in squares that show the fixed and the moving image in turn, after the registration"},
        {JACOBIAN, true,
         "Change of volume by the field (Jacobian), where the fixed image is not dark: white is none, the darkest blue "
         "half, the darkest red twice the volume in the moving image.",
         "Slices of the map of the Jacobian of the field; the table below has its numbers"}};
    scene m = {.labels = NULL};
    gls_status status = read_scene(r, &m);
    for (size_t k = 0; k < sizeof pictures / sizeof *pictures && !status; k++) {
        gls_report_picture picture = {.png = NULL};
        if (pictures[k].kind == JACOBIAN && !m.jacobian) continue;
        status = draw(&m, pictures[k].kind, pictures[k].after, &picture);
        picture.alt = (char *)(uintptr_t)pictures[k].alt;
        if (!status) gls_report_append_picture(&picture, pictures[k].caption, out);
        free(picture.png);
    }
    if (status) {
        gls_text_puts(out, "<p>Its images cannot be shown: ");
        gls_html_puts(out, gls_last_error());
        gls_text_puts(out, ".</p>\n");
    }
    finish_scene(&m);
}

/* --- Tables. */

/* Appends a row of a table of levels: an object of the sidecar. */
static void append_level(const cJSON *level, bool of_field, gls_text *out)
{
    const char *type = of_field ? "field" : gls_json_text_at(level, "type");
    gls_text_puts(out, "<tr><th scope=\"row\">");
    gls_html_puts(out, type ? type : "");
    gls_text_puts(out, "</th>");
    const char *const keys[] = {"voxel_mm", of_field ? "iterations" : "evaluations", of_field ? "first_cost" : NULL,
                                of_field ? "last_cost" : "nmi"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        gls_text_puts(out, "<td class=\"number\">");
        if (keys[k]) gls_text_printf(out, "%.5g", cJSON_GetNumberValue(gls_json_at(level, keys[k])));
        gls_text_puts(out, "</td>");
    }
    gls_text_puts(out, "</tr>\n");
}

static void append_levels(const cJSON *alignment, const char *name, gls_text *out)
{
    const cJSON *level;
    gls_text_printf(out,
                    "<table><caption>%s: levels. Maps: normalised mutual information at the end; field: mean squared "
                    "local correlation, or difference, before and after</caption><thead><tr><th scope=\"col\">part</th>"
                    "<th scope=\"col\">voxel, mm</th><th scope=\"col\">iterations or trials</th><th scope=\"col\">"
                    "before</th><th scope=\"col\">after</th></tr></thead><tbody>\n",
                    name);
    cJSON_ArrayForEach(level, gls_json_at_path(alignment, "linear/levels")) append_level(level, false, out);
    cJSON_ArrayForEach(level, gls_json_at_path(alignment, "nonlinear/levels")) append_level(level, true, out);
    gls_text_puts(out, "</tbody></table>\n");
}

void gls_report_alignment(const cJSON *alignment, const char *name, gls_text *out)
{
    static const gls_report_measure rows[] = {
        {"normalised mutual information", "linear/nmi", ""},
        {"share of the fixed image that the moving image covers", "linear/overlap", ""},
        {"displacement by the field: median, 99 %, largest", "nonlinear/displacement_mm_median_p99_max", " mm"},
        {"Jacobian: least, 1 %, median, 99 %, largest", "nonlinear/jacobian_min_p1_median_p99_max", ""},
        {"standard deviation of its logarithm", "nonlinear/jacobian_log_sd", ""},
        {"folded voxels", "nonlinear/folded_voxels", ""},
        {"error of the inverse: median, 99 %, largest", "nonlinear/inverse_error_mm_median_p99_max", " mm"},
        {"labels in both images", "labels/common", ""},
        {"their mean Dice by the headers", "labels/mean_dice_headers", ""},
        {"by the affine map", "labels/mean_dice_linear", ""},
        {"after the registration", "labels/mean_dice", ""},
        {NULL, NULL, NULL}};
    if (!alignment) return;
    gls_report_append_measures(alignment, name, rows, out);
    append_levels(alignment, name, out);
}

/* --- The section. */

void gls_report_registration(const gls_report *r, gls_text *out)
{
    const char *verdict = gls_report_text(r, "verdict");
    const bool aligned = verdict && strcmp(verdict, GLS_ALIGNED) == 0;
    if (!gls_report_is_registration(r->sidecar)) return;
    gls_text_printf(out,
                    "<section aria-labelledby=\"registration\"><h2 id=\"registration\">Registration</h2>\n<p "
                    "class=\"verdict %s\">",
                    aligned ? "ok" : "warn");
    gls_html_puts(out, aligned   ? "aligned by all measures; look at the pictures, too."
                       : verdict ? verdict
                                 : "the sidecar has no verdict");
    gls_text_puts(out, "</p>\n");
    append_pictures(r, out);
    gls_report_alignment(r->sidecar, "Registration", out);
    gls_text_puts(out, "</section>\n");
}

void gls_report_registration_link(const gls_report *r, gls_text *out)
{
    if (gls_report_is_registration(r->sidecar))
        gls_text_puts(out, "<li><a href=\"#registration\">Registration</a></li>\n");
}
