/* Section of a report: the anatomy that was made of a T1 image. Its pictures show by eye what no measure does: whether
 * brain, white matter and labels lie where the series has them. */
#include "render/report_anatomy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/labels.h>

#include "anat/anat_files.h"
#include "bids/dataset_names.h"
#include "render/backdrop.h"
#include "render/canvas.h"
#include "render/page.h"
#include "render/planes.h"
#include "render/report_registration.h"
#include "render/report_slices.h"
#include "render/report_tables.h"
#include "render/scene.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

#define SIDE GLS_SLICE_SIDE

/* --- The files. */

bool gls_report_is_anatomy(const cJSON *sidecar)
{
    return cJSON_IsObject(gls_json_at(sidecar, "t1_to_series"));
}

gls_status gls_report_find_anatomy(gls_report *r)
{
    const size_t end = strlen(GLS_ANAT_FIVE_END);
    char *path = NULL;
    r->of_images = gls_report_is_anatomy(r->sidecar);
    if (r->of_images) {
        r->anatomy = cJSON_Duplicate(r->sidecar, true);
        r->anatomy_stem =
            strndup(r->sidecar_path, strlen(r->sidecar_path) - (end - strlen(".nii.gz") + strlen(".json")));
        return r->anatomy && r->anatomy_stem ? GLS_OK : gls_no_memory();
    }
    const char *tissue = gls_report_text(r, "inputs/act/path");
    char *five = tissue ? gls_file_beside(r->sidecar_path, tissue) : NULL;
    if (five && gls_case_ends(five, GLS_ANAT_FIVE_END) &&
        gls_asprintf(&path, "%.*s.json", (int)(strlen(five) - strlen(".nii.gz")), five) >= 0)
        r->anatomy = gls_json_read(path, (size_t)64 << 20);
    if (!gls_report_is_anatomy(r->anatomy)) {
        cJSON_Delete(r->anatomy);
        r->anatomy = NULL;
    }
    gls_status status = GLS_OK;
    if (r->anatomy && !(r->anatomy_stem = strndup(five, strlen(five) - end))) status = gls_no_memory();
    const char *const inputs[] = {five, path};
    if (r->anatomy && !status) status = gls_run_reads_all(&r->run, inputs, 2);
    free(five);
    free(path);
    return status;
}

/* Reads an image of the anatomy, STEM and this end. */
static gls_status read_image(const gls_report *r, const char *end, gls_image **image)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s%s", r->anatomy_stem, end) < 0) return gls_no_memory();
    const gls_status status = gls_image_read(path, GLS_IMAGE_3D, image);
    free(path);
    return status;
}

/* Reads the labels of the anatomy; NULL: it has none. */
static gls_status read_labels(const gls_report *r, gls_labels **labels)
{
    char **names = NULL, *stem = NULL, *path = NULL;
    const char *slash = strrchr(r->anatomy_stem, '/');
    char *folder = slash ? strndup(r->anatomy_stem, (size_t)(slash - r->anatomy_stem) + 1) : strdup("./");
    if (!folder || gls_asprintf(&stem, "%s_seg-", slash ? slash + 1 : r->anatomy_stem) < 0) {
        free(folder);
        return gls_no_memory();
    }
    gls_status status = gls_bids_names(folder, &names);
    for (size_t i = 0; !status && names[i] && !path; i++)
        if (strncmp(names[i], stem, strlen(stem)) == 0 && gls_bids_has_suffix(names[i], "dseg", ".nii.gz") &&
            gls_asprintf(&path, "%s%s", folder, names[i]) < 0)
            status = gls_no_memory();
    if (path && !status) status = gls_labels_read(path, labels);
    gls_bids_names_free(names);
    free(folder);
    free(stem);
    free(path);
    return status;
}

/* --- Slices. */

/* The images of the anatomy, on one grid. */
typedef struct images {
    gls_image *b0, *t1, *brain, *white;
    gls_labels *labels; /* NULL: none */
    gls_window of_b0, of_t1;
    double to_voxel[3][4];
} images;

static void finish_images(images *m)
{
    gls_image_destroy(m->b0);
    gls_image_destroy(m->t1);
    gls_image_destroy(m->brain);
    gls_image_destroy(m->white);
    gls_labels_destroy(m->labels);
}

static gls_status read_images(const gls_report *r, images *m)
{
    bool flat;
    gls_status status = read_image(r, "_dwiref.nii.gz", &m->b0);
    if (!status) status = read_image(r, "_desc-preproc_T1w.nii.gz", &m->t1);
    if (!status) status = read_image(r, "_desc-brain_mask.nii.gz", &m->brain);
    if (!status) status = read_image(r, "_label-WM_probseg.nii.gz", &m->white);
    if (!status) status = read_labels(r, &m->labels);
    if (!status && m->labels && memcmp(m->labels->grid.dim, m->brain->grid.dim, sizeof m->brain->grid.dim) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: its images have different grids", r->anatomy_stem);
    if (!status) status = gls_window_choose(m->b0, &m->of_b0, &flat);
    if (!status) status = gls_window_choose(m->t1, &m->of_t1, &flat);
    if (!status) gls_affine_invert((const double(*)[4])m->brain->grid.affine, m->to_voxel);
    return status;
}

/* Subjects of the pictures of an anatomy. */
typedef enum scene_kind { ON_SERIES, CHECKERBOARD, LABELS } scene_kind;

/* Values of one slice, a pixel each. */
typedef struct slice {
    gls_tile tile;
    float grey[SIDE * SIDE];                        /* 0 to 1 */
    int32_t brain[SIDE * SIDE], white[SIDE * SIDE]; /* sets, or labels */
} slice;

/* The label of the nearest voxel; 0 outside. */
static int32_t label_at(const images *m, const double p[3])
{
    const size_t v = gls_slice_voxel(&m->labels->grid, m->to_voxel, p);
    return v < SIZE_MAX ? m->labels->data[v] : 0;
}

/* Samples the images at the pixels of the slice. */
static void sample(const images *m, scene_kind kind, slice *s)
{
    gls_sampler b0, t1, brain, white;
    gls_sampler_init(&b0, m->b0);
    gls_sampler_init(&t1, m->t1);
    gls_sampler_init(&brain, m->brain);
    gls_sampler_init(&white, m->white);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double plane[2], p[3];
        gls_slice_point(&s->tile, i, plane, p);
        const float at[3] = {(float)p[0], (float)p[1], (float)p[2]};
        const bool shows_t1 = kind == LABELS || (kind == CHECKERBOARD && gls_slice_is_odd(plane));
        s->grey[i] = shows_t1 ? gls_slice_grey(gls_sampler_at(&t1, at), &m->of_t1)
                              : gls_slice_grey(gls_sampler_at(&b0, at), &m->of_b0);
        s->brain[i] = kind == LABELS && m->labels ? label_at(m, p) : gls_sampler_at(&brain, at) > 0.5f;
        s->white[i] = gls_sampler_at(&white, at) > 0.5f;
    }
}

/* Paints the slice at this place of the canvas. */
static void paint(const slice *s, scene_kind kind, gls_canvas *canvas, int left, int top)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int level = (int)lround(255 * (double)s->grey[i]);
        uint32_t colour = gls_colour_rgb(level, level, level);
        if (kind != CHECKERBOARD && gls_slice_is_border(s->brain, i)) colour = gls_colour_rgb(230, 159, 0);
        if (kind == ON_SERIES && gls_slice_is_border(s->white, i)) colour = gls_colour_rgb(86, 180, 233);
        gls_canvas_fill(canvas, left + i % SIDE, top + i / SIDE, 1, 1, 0xff000000u | colour);
    }
}

/* Content of a picture, and memory for one slice. */
typedef struct drawing {
    const images *m;
    scene_kind kind;
    slice *s;
} drawing;

static void paint_slice(void *user, gls_tile *tile, gls_canvas *canvas, int left, int top)
{
    const drawing *d = user;
    d->s->tile = *tile;
    sample(d->m, d->kind, d->s);
    paint(d->s, d->kind, canvas, left, top);
}

static gls_status draw(const images *m, scene_kind kind, gls_report_picture *picture)
{
    gls_box box;
    drawing d = {m, kind, malloc(sizeof *d.s)};
    gls_slice_box(m->brain, &box);
    const gls_status status = d.s ? gls_slices_draw(&box, 1, paint_slice, &d, picture) : gls_no_memory();
    free(d.s);
    return status;
}

/* --- The section. */

/* Appends the pictures, or why there are none. */
static void append_pictures(const gls_report *r, gls_text *out)
{
    static const struct {
        scene_kind kind;
        const char *caption, *alt;
    } pictures[] = {
        {ON_SERIES,
         "The series without diffusion weighting, with the border of the brain (orange) and of white matter (blue), "
         "both "
         "from the T1 image. Blue has to follow the folds, orange the surface of the brain.",
         "Slices of the series with the borders of brain and white matter"},
        {CHECKERBOARD,
         "Squares of 16 mm in turn of the T1 image and of the series. Surface and ventricles have to go on across the "
         "edges of the squares.",
         "Slices in squares that show the T1 image and the series in turn"},
        {LABELS, "The T1 image with the borders of the labels, or of the brain where there are none.",
         "Slices of the T1 image with the borders of labels"}};
    images m = {.b0 = NULL};
    gls_status status = read_images(r, &m);
    for (size_t k = 0; k < sizeof pictures / sizeof *pictures && !status; k++) {
        gls_report_picture picture = {.png = NULL};
        status = draw(&m, pictures[k].kind, &picture);
        picture.alt = (char *)(uintptr_t)pictures[k].alt;
        if (!status) gls_report_append_picture(&picture, pictures[k].caption, out);
        free(picture.png);
    }
    if (status) {
        gls_text_puts(out, "<p>Its images cannot be shown: ");
        gls_html_puts(out, gls_last_error());
        gls_text_puts(out, ".</p>\n");
    }
    finish_images(&m);
}

static void append_measures(const gls_report *r, gls_text *out)
{
    static const gls_report_measure rows[] = {
        {"volume of the brain", "brain/volume_ml", " ml"},
        {"Dice of its mask with that of the template or series, before tissue moved it", "brain/dice_with_first_mask",
         ""},
        {"Dice of its mask with that of the series", "brain/dice_with_series_mask", ""},
        {"fluid, as the volume that it takes", "tissue/CSF/volume_ml", " ml"},
        {"grey matter", "tissue/GM/volume_ml", " ml"},
        {"white matter", "tissue/WM/volume_ml", " ml"},
        {NULL, NULL, NULL}};
    static const gls_report_measure of_border[] = {{"cost of the map by mutual information", "cost_before", ""},
                                                   {"cost of the map that the border gives", "cost_after", ""},
                                                   {"shift by it", "shift_mm", " mm"},
                                                   {"turn by it", "turn_degrees", " degrees"},
                                                   {NULL, NULL, NULL}};
    const cJSON *series = gls_json_at(r->anatomy, "t1_to_series"), *border = gls_json_at(series, "boundary");
    const bool taken = cJSON_IsTrue(gls_json_at(border, "taken"));
    gls_report_append_measures(r->anatomy, "Anatomy", rows, out);
    gls_report_alignment(
        series, taken ? "T1 image to series, before the border of white matter changed it" : "T1 image to series", out);
    if (border)
        gls_report_append_measures(border,
                                   taken ? "Border of white matter, which the map follows"
                                         : "Border of white matter, which the map does not follow",
                                   of_border, out);
    gls_report_alignment(gls_json_at(r->anatomy, "t1_to_template"), "T1 image to template", out);
}

void gls_report_anatomy(const gls_report *r, gls_text *out)
{
    const char *verdict = gls_json_text_at(r->anatomy, "verdict");
    const bool aligned = verdict && strcmp(verdict, GLS_ALIGNED) == 0;
    const cJSON *warning;
    if (!r->anatomy) return;
    gls_text_printf(out,
                    "<section aria-labelledby=\"anatomy\"><h2 id=\"anatomy\">Anatomy</h2>\n<p class=\"verdict %s\">",
                    aligned ? "ok" : "warn");
    gls_html_puts(out, aligned ? "T1 image, series and template are aligned by all measures; look at the pictures, too."
                               : "There are warnings: look at the pictures before you use the results.");
    gls_text_puts(out, "</p>\n");
    if (cJSON_GetArraySize(gls_json_at(r->anatomy, "warnings")) > 0) {
        gls_text_puts(out, "<ul>\n");
        cJSON_ArrayForEach(warning, gls_json_at(r->anatomy, "warnings"))
        {
            gls_text_puts(out, "<li>");
            gls_html_puts(out, cJSON_IsString(warning) ? warning->valuestring : "a warning that is no text");
            gls_text_puts(out, "</li>\n");
        }
        gls_text_puts(out, "</ul>\n");
    }
    append_pictures(r, out);
    append_measures(r, out);
    gls_text_puts(out, "</section>\n");
}

void gls_report_anatomy_link(const gls_report *r, gls_text *out)
{
    if (r->anatomy) gls_text_puts(out, "<li><a href=\"#anatomy\">Anatomy</a></li>\n");
}
