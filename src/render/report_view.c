/* The 3-D view of a report, and the image behind its streamlines. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_parts.h"
#include "util/status.h"
#include "util/text.h"

/* The image of the 3-D view has at most so many voxels, which take about 0.25 MB of the report. */
#define MAX_VOXELS 4e5
/* Values are whole numbers from 1 (black) to 255 (white) in steps of this, which pack better. 0: nothing. */
#define STEP 4

/* Makes the image behind the streamlines from their density: its logarithm, so that thin bundles are seen beside thick
 * ones. */
static gls_status take_density(gls_report *r)
{
    const size_t voxels = gls_grid_voxels(&r->grid);
    double *values = malloc(voxels * sizeof *values);
    gls_status status = values ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the density of streamlines");
    if (!status) status = gls_image_create(&r->grid, 1, &r->image_read);
    if (!status) {
        gls_density_get(r->density, values);
        for (size_t v = 0; v < voxels; v++) r->image_read->data[v] = (float)log1p(values[v]);
    }
    free(values);
    return status;
}

gls_status gls_report_find_image(gls_report *r)
{
    gls_status status = GLS_OK;
    r->behind = r->image ? NULL : r->options->image_data;
    r->has_image = r->behind || r->image;
    if (r->image) status = gls_image_read(r->image, GLS_IMAGE_ANY, &r->image_read);
    if (!r->has_image && r->density) status = take_density(r);
    if (!status && r->image_read) r->behind = r->image_read;
    return status;
}

/* Layout: u32 dim[3], f32 voxel mm, f32 centre of the first voxel[3] mm, then the values, x fastest. Little-endian. */
static gls_status pack(const gls_image *image, gls_text *out)
{
    gls_box box;
    gls_sampler sampler;
    gls_window window;
    bool flat;
    uint32_t dim[3];
    double voxel = INFINITY, volume = 1;
    gls_status status = gls_window_choose(image, &window, &flat);
    if (status) return status;
    gls_box_of_grid(&image->grid, &box);
    gls_sampler_init(&sampler, image);
    /* cubes as small as the smallest side of a voxel, unless there would be too many */
    for (int a = 0; a < 3; a++) {
        voxel = fmin(voxel, image->grid.voxel_size[a]);
        volume *= box.high[a] - box.low[a];
    }
    voxel = fmax(voxel, cbrt(volume / MAX_VOXELS));
    for (int a = 0; a < 3; a++) dim[a] = (uint32_t)fmax(1, floor((box.high[a] - box.low[a]) / voxel));
    const size_t head = 28, bytes = head + (size_t)dim[0] * dim[1] * dim[2];
    uint8_t *raw = malloc(bytes), *to = raw + head;
    if (!raw) return gls_fail(GLS_ERR_MEMORY, "out of memory for the slices of the 3-D view");
    const float numbers[] = {(float)voxel, (float)(box.low[0] + voxel / 2), (float)(box.low[1] + voxel / 2),
                             (float)(box.low[2] + voxel / 2)};
    memcpy(raw, dim, sizeof dim);
    memcpy(raw + sizeof dim, numbers, sizeof numbers);
    /* resampled along the axes of the world, which the page's script needs */
    for (uint32_t z = 0; z < dim[2]; z++)
        for (uint32_t y = 0; y < dim[1]; y++)
            for (uint32_t x = 0; x < dim[0]; x++) {
                const float at[3] = {numbers[1] + (float)x * numbers[0], numbers[2] + (float)y * numbers[0],
                                     numbers[3] + (float)z * numbers[0]};
                const double v = gls_sampler_at(&sampler, at), range = window.high - window.low;
                const double share = fmin(fmax(range > 0 ? (v - window.low) / range : 0, 0), 1);
                *to++ = isfinite(v) && v != 0 ? (uint8_t)(1 + STEP * floor(share * 253 / STEP)) : 0;
            }
    status = gls_html_packed(out, raw, bytes);
    free(raw);
    return status;
}

gls_status gls_report_slices(const gls_report *report, gls_text *out)
{
    const bool shown = report->behind && !report->options->no_view && report->scene.n_lines > 0;
    return shown ? pack(report->behind, out) : GLS_OK;
}

/* Appends the controls of the slices. */
static void append_slices(const gls_report *r, gls_text *out)
{
    static const char *const planes[] = {"sagittal", "coronal", "axial"};
    gls_text_printf(out, "<fieldset id=\"slices\" class=\"controls\" hidden><legend>slices of %s</legend>",
                    r->has_image ? "the image" : "the density of streamlines");
    for (int a = 0; a < 3; a++)
        gls_text_printf(out,
                        "<span class=\"plane\"><label><input type=\"checkbox\" id=\"plane-%c\" checked>%s</label>"
                        "<input type=\"range\" id=\"at-%c\" aria-label=\"place of the %s slice\"><output "
                        "id=\"mm-%c\" for=\"at-%c\"></output></span>",
                        "xyz"[a], planes[a], "xyz"[a], planes[a], "xyz"[a], "xyz"[a]);
    gls_text_puts(out, "<label><input type=\"checkbox\" id=\"near\">only streamlines within 3 mm of the "
                       "slices</label></fieldset>\n");
}

void gls_report_view(const gls_report *r, gls_text *out)
{
    static const char *const stands[] = {"superior", "inferior", "posterior", "anterior", "left", "right"};
    /* the status line says why there is no view */
    if (r->options->no_view || r->scene.n_lines == 0) {
        gls_text_printf(out, "<p id=\"status\">%s</p>\n",
                        r->options->no_view ? "The report was asked for without it."
                                            : "There are no streamlines that could be shown.");
        return;
    }
    /* hidden parts are shown by the script of the page */
    gls_text_printf(out,
                    "<p id=\"status\" role=\"status\">This part needs a browser with scripts and WebGL 2. "
                    "The pictures above show the same streamlines.</p>\n"
                    "<div id=\"stage\" hidden data-total=\"%" PRIu64
                    "\"><canvas id=\"canvas\" tabindex=\"0\" role=\"img\" aria-label=\"%zu streamlines in "
                    "three dimensions, coloured by direction. Arrow keys turn, plus and minus zoom, Home resets.\">"
                    "</canvas>",
                    r->counted->streamlines, r->scene.n_lines);
    /* letters of the body's sides; the script moves them as the camera turns */
    for (const char *name = "LRPAIS"; *name; name++)
        gls_text_printf(out, "<span id=\"axis-%c\" aria-hidden=\"true\">%c</span>", *name, *name);
    gls_text_puts(out,
                  "</div>\n<div id=\"controls\" hidden>\n<div class=\"controls\" role=\"group\" aria-label=\"Views\">");
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++)
        gls_text_printf(out, "<button type=\"button\" id=\"stand-%s\">%s</button>", stands[i], stands[i]);
    gls_text_puts(out, "</div>\n<div class=\"controls\">");
    /* two sliders for the shortest and the longest streamline, as shares of the range; the script writes mm */
    for (int i = 0; i < 2; i++) {
        const char *which = i ? "to" : "from";
        gls_text_printf(out,
                        "<label>length %s <input type=\"range\" id=\"length-%s\" min=\"0\" max=\"1\" value=\"%d\"> "
                        "<output id=\"mm-%s\" for=\"length-%s\"></output></label>",
                        which, which, i, which, which);
    }
    gls_text_puts(out, "<span id=\"shown\" role=\"status\"></span></div>\n");
    /* sliders of the slices, then colours, the button that saves, and the list of bundles */
    append_slices(r, out);
    gls_text_puts(out,
                  "<div class=\"controls\"><label>colour <select "
                  "id=\"colour\"></select></label><span id=\"colours\" hidden><span id=\"colour-low\"></span><span "
                  "id=\"colour-bar\"></span><span id=\"colour-high\"></span></span><button type=\"button\" "
                  "id=\"save\">save picture</button></div>\n<fieldset id=\"groups\" class=\"controls\" hidden><legend>"
                  "bundles</legend></fieldset>\n<p class=\"note\">Drag or use the arrow keys to "
                  "turn, the wheel or + and - to zoom, Home to reset. Letters mark the sides of the body.</p>\n"
                  "</div>\n");
}
