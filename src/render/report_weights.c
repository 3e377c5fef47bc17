/* Section of a report: weights of streamlines from the signal (COMMIT). The curve of the solver shows whether it ended
 * near its minimum, which the weights depend on; the maps show where the model explains the signal badly. */
#include "render/report_weights.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "image/grid.h"
#include "record/sidecar.h"
#include "render/backdrop.h"
#include "render/canvas.h"
#include "render/page.h"
#include "render/report_slices.h"
#include "render/report_tables.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"
#include "weights/signal_model.h"

#define MAX_POINTS 10000 /* of a curve; a sidecar has about a hundred */
#define LARGEST 1e300    /* number in a curve that is drawn */
#define SIDE GLS_SLICE_SIDE

/* --- The files. */

bool gls_report_is_fit(const cJSON *object)
{
    return cJSON_IsString(gls_json_at_path(object, "model/stopped_by"));
}

/* Whether the tractogram of the report may have as many streamlines as the weights: true, too, if either number is not
 * known. */
static bool has_as_many(const gls_report *r, const cJSON *weights)
{
    gls_tractogram_reader *reader = NULL;
    uint64_t n;
    if (!gls_json_get_uint(gls_json_at_path(weights, "counts/streamlines"), &n)) return true;
    if (gls_tractogram_reader_open(r->tractogram, &r->options->read, &reader)) return true; /* reported when read */
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    const bool same = !info->counts_streamlines || info->n_streamlines == n;
    gls_tractogram_reader_close(reader);
    return same;
}

/* Whether the weights are of the tractogram of the report: its size and, if the sidecar has one, its checksum are those
 * of the first input of the run or, if the run wrote the tractogram, it has as many streamlines as the weights. */
static bool are_its_own(const gls_report *r, const cJSON *weights)
{
    const char *output = cJSON_GetStringValue(cJSON_GetArrayItem(gls_json_at(weights, "outputs"), 0));
    const cJSON *input = cJSON_GetArrayItem(gls_json_at(weights, "inputs"), 0);
    const bool written = cJSON_IsTrue(gls_json_at_path(weights, "parameters/in_place")) ||
                         (output && strcmp(gls_file_name(output), gls_file_name(r->tractogram)) == 0);
    struct stat info;
    uint64_t bytes;
    if (!written && stat(r->tractogram, &info) == 0 && S_ISREG(info.st_mode) &&
        gls_json_get_uint(gls_json_at(input, "bytes"), &bytes))
        return cJSON_GetArraySize(input) > 2 ? gls_written_is(input, r->tractogram) : bytes == (uint64_t)info.st_size;
    return has_as_many(r, weights);
}

/* Reads NAME_weights.json beside the tractogram, if it is there. Sets *path to its name, from malloc. */
static gls_status read_own_sidecar(gls_report *r, char **path)
{
    const char *dot = strrchr(r->tractogram, '.');
    if (!dot) return GLS_OK;
    if (gls_asprintf(path, "%.*s_weights.json", (int)(dot - r->tractogram), r->tractogram) < 0) return gls_no_memory();
    r->weights_read = gls_json_read(*path, (size_t)64 << 20);
    return GLS_OK;
}

/* Finds the object with the weights: in the sidecar of the report, else in NAME_weights.json. */
static gls_status find_fit(gls_report *r)
{
    const cJSON *tracked = gls_report_get(r, "weights");
    char *path = NULL;
    gls_status status = GLS_OK;
    r->weights = gls_report_is_fit(r->sidecar) ? r->sidecar : gls_report_is_fit(tracked) ? tracked : NULL;
    if (!r->weights && r->tractogram) status = read_own_sidecar(r, &path);
    if (!r->weights && gls_report_is_fit(r->weights_read)) r->weights = r->weights_read;
    if (r->weights && r->tractogram && !are_its_own(r, r->weights)) {
        gls_log(GLS_LOG_WARNING,
                "%s: has weights of another tractogram than %s, and the report leaves them out: compute them anew with "
                "'glslines weights'",
                path ? path : r->sidecar_path, r->tractogram);
        r->weights = NULL;
    }
    if (!status && path && r->weights) status = gls_run_reads(&r->run, path);
    free(path);
    return status;
}

/* The beginning of the names of the maps, as the run was given it; NULL: it wrote none. */
static const char *maps_prefix(const gls_report *r)
{
    if (r->weights == gls_report_get(r, "weights")) return gls_report_text(r, "parameters/weights_maps");
    return gls_json_text_at(gls_json_at(r->weights, "parameters"), "maps");
}

/* Finds the file of a map. A file that is not the one that the sidecar of tracking records is left out. */
static gls_status find_map(gls_report *r, const char *name, char **path)
{
    const cJSON *entry =
        r->weights == gls_report_get(r, "weights") ? gls_json_members(gls_report_get(r, GLS_SIDECAR_OUTPUTS)) : NULL;
    *path = gls_file_beside(r->sidecar_path ? r->sidecar_path : r->tractogram, name);
    if (!*path) return GLS_OK;
    for (; entry; entry = entry->next) {
        const char *file = gls_json_text_at(entry, GLS_WRITTEN_FILE);
        if (!file || strcmp(file, gls_file_name(name)) != 0 || gls_written_is(entry, *path)) continue;
        gls_log(GLS_LOG_WARNING, "%s: is not the map that the run wrote, and the report leaves it out", *path);
        free(*path);
        *path = NULL;
        return GLS_OK;
    }
    return gls_run_reads(&r->run, *path);
}

gls_status gls_report_find_weights(gls_report *r)
{
    gls_status status = find_fit(r);
    const char *prefix = r->weights && !status ? maps_prefix(r) : NULL;
    for (int k = 0; k < GLS_SIGNAL_N_MAPS && prefix && !status; k++) {
        char *name = NULL;
        status = gls_run_join(prefix, gls_signal_map_end((gls_signal_map)k), &name);
        if (!status) status = find_map(r, name, &r->weights_map[k]);
        free(name);
    }
    return status;
}

/* --- The fit in numbers. */

/* Appends a row with the value at a path of the fit; nothing if it is not there, or 0. */
static void append_row(const gls_report *r, const char *name, const char *path, gls_text *out)
{
    const cJSON *value = gls_json_at_path(r->weights, path);
    const bool none = cJSON_IsNumber(value) && value->valuedouble == 0; /* such as groups without --groups */
    if ((!cJSON_IsNumber(value) && !cJSON_IsString(value)) || none) return;
    gls_text_printf(out, "<tr><th scope=\"row\">%s</th><td>", name);
    if (cJSON_IsString(value))
        gls_html_puts(out, value->valuestring);
    else
        gls_text_printf(out, "%.6g", value->valuedouble);
    gls_text_puts(out, "</td></tr>\n");
}

static void append_numbers(const gls_report *r, gls_text *out)
{
    static const struct {
        const char *name, *path;
    } rows[] = {
        {"ended by", "model/stopped_by"},
        {"iterations", "model/iterations"},
        {"restarts of its momentum", "model/restarts"},
        {"objective at the start", "model/objective_first"},
        {"objective at the end", "model/objective"},
        {"of it the penalty on groups", "model/penalty"},
        {"--tol-fun: least relative change of the objective", "model/tol_fun"},
        {"--max-iters: most iterations", "model/max_iters"},
        {"streamlines", "counts/streamlines"},
        {"streamlines in the model", "counts/streamlines_kept"},
        {"weights above 0", "counts/weights_above_0"},
        {"groups", "model/groups"},
        {"groups with a weight above 0", "model/groups_above_0"},
        {"voxels of the model", "counts/voxels"},
        {"volumes", "counts/volumes"},
        {"mean RMSE of voxels", "model/rmse_mean"},
    };
    gls_text_puts(out, "<table class=\"values\"><caption>The fit</caption><thead><tr><th scope=\"col\">what</th><th "
                       "scope=\"col\">value</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) append_row(r, rows[i].name, rows[i].path, out);
    gls_text_puts(out, "</tbody></table>\n<p>The rule to stop makes the weights: a smaller <code>--tol-fun</code> goes "
                       "on towards the minimum, and other weights result. Compare only runs of one rule.</p>\n");
}

/* --- The curve. */

/* The objective by iteration, which rises: n points, and the range of the objective above 0. */
typedef struct curve {
    size_t n;
    double x[MAX_POINTS], y[MAX_POINTS], low, high;
} curve;

/* Takes the curve of the sidecar without objectives that a scale of doubles cannot show. Returns false if it has none
 * that can be drawn. */
static bool take_curve(const gls_report *r, curve *c)
{
    const cJSON *x = gls_json_at_path(r->weights, "model/curve/iteration"),
                *y = gls_json_at_path(r->weights, "model/curve/objective");
    const int n = cJSON_GetArraySize(x);
    if (!cJSON_IsArray(x) || !cJSON_IsArray(y) || n < 2 || n > MAX_POINTS || cJSON_GetArraySize(y) != n) return false;
    *c = (curve){.low = INFINITY};
    for (x = x->child, y = y->child; x && y; x = x->next, y = y->next) {
        const double i = cJSON_GetNumberValue(x), v = cJSON_GetNumberValue(y);
        if (!isfinite(i) || !isfinite(v) || i < 0 || i > LARGEST || (c->n > 0 && !(i > c->x[c->n - 1]))) return false;
        if (v > LARGEST || (v > 0 && v < DBL_MIN)) continue; /* the scale could not show it */
        c->x[c->n] = i;
        c->y[c->n++] = v;
        if (v > 0) c->low = fmin(c->low, v);
        c->high = fmax(c->high, v);
    }
    return c->n > 1 && c->high > 0;
}

/* The nearest of 1, 2 and 5 times powers of ten that is not above v, or, with `up`, not below. v: above 0. */
static double round_to(double v, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(v)));
    double below = power;
    for (size_t i = 0; i < 4; i++) {
        if (steps[i] * power >= v) return up || steps[i] * power <= v ? steps[i] * power : below;
        below = steps[i] * power;
    }
    return below;
}

/* The plot's area is 660 x 190 units of the SVG, from (80, 20) to (740, 210). */
static double at_x(const curve *c, double x)
{
    return 80 + 660 * x / c->x[c->n - 1];
}

static double at_y(const double range[2], double y)
{
    return 210 - 190 * (y > range[0] ? (log(y) - log(range[0])) / (log(range[1]) - log(range[0])) : 0);
}

/* Appends axes with their numbers: iterations from 0, objectives on a logarithmic scale. */
static void append_axes(const curve *c, const double range[2], gls_text *out)
{
    const double last = c->x[c->n - 1], step = fmax(1, round_to(last / 8, true)),
                 decades = log10(range[1]) - log10(range[0]);
    const int every = 1 + (int)(decades / 8);
    gls_text_puts(out, "<path class=\"axis\" d=\"M80 10V210H745\"/>\n");
    for (double x = 0; x <= last; x += step)
        gls_text_printf(out,
                        "<path class=\"axis\" d=\"M%.2f 210v5\"/><text x=\"%.2f\" y=\"228\" "
                        "text-anchor=\"middle\">%g</text>\n",
                        at_x(c, x), at_x(c, x), x);
    for (int k = (int)floor(log10(range[0])); k <= (int)ceil(log10(range[1])); k += every)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
            const double y = digit * pow(10, k);
            if (y < 0.999 * range[0] || y > 1.001 * range[1] || (digit > 1 && decades > 3)) continue;
            gls_text_printf(out,
                            "<path class=\"axis\" d=\"M75 %.2fh5\"/><text x=\"70\" y=\"%.2f\" "
                            "text-anchor=\"end\">%g</text>\n",
                            at_y(range, y), at_y(range, y) + 4, y);
        }
    gls_text_puts(out, "<text x=\"410\" y=\"246\" text-anchor=\"middle\">iteration</text>\n<text x=\"15\" y=\"115\" "
                       "text-anchor=\"middle\" transform=\"rotate(-90 15 115)\">objective</text>\n");
}

static void append_curve(const gls_report *r, gls_text *out)
{
    curve *c = malloc(sizeof *c);
    const cJSON *end = gls_json_at_path(r->weights, "model/objective");
    if (!c || !take_curve(r, c)) {
        gls_text_puts(out, "<p>The sidecar has no objective by iteration.</p>\n");
        free(c);
        return;
    }
    double range[2] = {round_to(c->low, false), round_to(c->high, true)};
    if (!(range[1] > range[0])) range[1] = 10 * range[0];
    gls_text_printf(out,
                    "<figure><svg viewBox=\"0 0 760 250\" width=\"760\" role=\"img\" aria-label=\"Objective by "
                    "iteration, on a logarithmic scale: from %.6g at the start to %.6g after %g iterations; the table "
                    "below has its numbers\">\n",
                    c->y[0], cJSON_IsNumber(end) ? end->valuedouble : c->y[c->n - 1], c->x[c->n - 1]);
    append_axes(c, range, out);
    gls_text_puts(out, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < c->n; i++)
        gls_text_printf(out, "%s%.2f %.2f", i ? "L" : "M", at_x(c, c->x[i]), at_y(range, c->y[i]));
    gls_text_puts(out, "\"/>\n</svg><figcaption>The objective by iteration, half the sum of the squared differences "
                       "between model and signal and the penalty, on a logarithmic scale.</figcaption></figure>\n"
                       "<details><summary>The numbers</summary>\n<table><caption>Objective by iteration</caption>\n"
                       "<thead><tr><th scope=\"col\">iteration</th><th scope=\"col\">objective</th></tr></thead>"
                       "<tbody>\n");
    for (size_t i = 0; i < c->n; i++)
        gls_text_printf(out, "<tr><td class=\"number\">%g</td><td class=\"number\">%.9g</td></tr>\n", c->x[i], c->y[i]);
    gls_text_puts(out, "</tbody></table></details>\n");
    free(c);
}

/* --- The maps. */

/* Names of the maps in pictures, and what they are in the table, in the order of gls_signal_map. */
static const struct {
    const char *name, *what;
} words[GLS_SIGNAL_N_MAPS] = {{"intra", "intra: signal fraction of streamlines"},
                              {"extra", "extra: signal fraction of zeppelins"},
                              {"isotropic", "isotropic: signal fraction of balls"},
                              {"RMSE", "RMSE: root of the mean squared error"},
                              {"NRMSE", "NRMSE: root of the squared error over the squared signal"}};

/* The maps. */
typedef struct maps {
    gls_image *of[GLS_SIGNAL_N_MAPS];
    gls_image *inside;        /* 1 in voxels of the model, where a map is not 0 and all are finite */
    size_t n_inside, n_wrong; /* voxels of the model, and of those with a map that is not finite, which are left out */
    double to_voxel[3][4];
    gls_box box;
    double mean[GLS_SIGNAL_N_MAPS], quantile[GLS_SIGNAL_N_MAPS][4]; /* 50, 95, 98 and 100 % */
} maps;

static void finish_maps(maps *m)
{
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) gls_image_destroy(m->of[k]);
    gls_image_destroy(m->inside);
}

/* Mean and quantiles of a map over the voxels of the model. value: room for them. */
static void measure(maps *m, int k, float *value)
{
    static const double q[] = {0.5, 0.95, 0.98, 1};
    const size_t voxels = gls_grid_voxels(&m->inside->grid);
    size_t n = 0;
    double sum = 0;
    for (size_t v = 0; v < voxels; v++) {
        if (!(m->inside->data[v] > 0)) continue;
        value[n++] = m->of[k]->data[v];
        sum += (double)m->of[k]->data[v];
    }
    m->mean[k] = n > 0 ? sum / (double)n : 0;
    gls_quantiles_of_floats(value, n, q, 4, m->quantile[k]);
}

/* Marks and counts the voxels of the model. */
static void mark_inside(maps *m)
{
    const size_t n = gls_grid_voxels(&m->inside->grid);
    for (size_t v = 0; v < n; v++) {
        bool some = false, finite = true;
        for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) {
            const float value = m->of[k]->data[v];
            some |= value != 0;
            finite &= isfinite(value) != 0;
        }
        m->inside->data[v] = some && finite;
        m->n_inside += some && finite;
        m->n_wrong += !finite;
    }
}

/* Fails if the maps cannot be those of the fit: they have more voxels than its model, or another mean RMSE. */
static gls_status check_fit(const gls_report *r, const maps *m)
{
    const double mean = cJSON_GetNumberValue(gls_json_at_path(r->weights, "model/rmse_mean"));
    uint64_t voxels;
    if (!gls_json_get_uint(gls_json_at_path(r->weights, "counts/voxels"), &voxels)) return GLS_OK;
    const double sum = m->mean[GLS_SIGNAL_MAP_RMSE] * (double)m->n_inside, wanted = mean * (double)voxels;
    const bool other = m->n_wrong == 0 && isfinite(mean) && fabs(sum - wanted) > 1e-5 * wanted;
    if (m->n_inside + m->n_wrong <= voxels && !other) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: the maps are of another fit, with another %s than the sidecar states",
                    r->weights_map[GLS_SIGNAL_MAP_RMSE], other ? "mean RMSE" : "number of voxels");
}

static gls_status read_maps(const gls_report *r, maps *m)
{
    gls_status status = GLS_OK;
    for (int k = 0; k < GLS_SIGNAL_N_MAPS && !status; k++) {
        status = gls_image_read(r->weights_map[k], GLS_IMAGE_3D, &m->of[k]);
        if (!status && !gls_grid_same(&m->of[k]->grid, &m->of[0]->grid))
            status = gls_fail(GLS_ERR_INPUT, "%s: has another grid than %s", r->weights_map[k], r->weights_map[0]);
    }
    if (!status) status = gls_image_create(&m->of[0]->grid, 1, &m->inside);
    if (status) return status;
    float *value = malloc((gls_grid_voxels(&m->inside->grid) + 1) * sizeof *value);
    if (!value) return gls_no_memory();
    mark_inside(m);
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) measure(m, k, value);
    free(value);
    gls_grid_inverse(&m->inside->grid, m->to_voxel);
    gls_slice_box(m->inside, &m->box);
    return check_fit(r, m);
}

/* The maps of one picture, a row each. high: the value of the brightest colour of each. */
typedef struct rows {
    const maps *m;
    int first;
    const double *high;
} rows;

/* Paints a slice of one map, each voxel in one colour. */
static void paint(void *user, gls_tile *tile, gls_canvas *canvas, int left, int top)
{
    const rows *r = user;
    const maps *m = r->m;
    const int row = top / SIDE, k = r->first + row;
    snprintf(tile->name, sizeof tile->name, "%s", words[k].name);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double plane[2], p[3];
        gls_slice_point(tile, i, plane, p);
        const size_t v = gls_slice_voxel(&m->inside->grid, m->to_voxel, p);
        if (v == SIZE_MAX || !(m->inside->data[v] > 0)) continue;
        const uint32_t colour = gls_colormap_at(GLS_INFERNO, 0.1 + 0.9 * (double)m->of[k]->data[v] / r->high[row]);
        gls_canvas_fill(canvas, left + i % SIDE, top + i / SIDE, 1, 1, 0xff000000u | colour);
    }
}

/* Appends the maps first .. first + n - 1 as one picture, a row each. high: the value of the brightest colour of each.
 */
static gls_status append_picture(const maps *m, int first, int n, const double *high, const char *alt,
                                 const char *caption, gls_text *out)
{
    gls_report_picture picture = {.alt = (char *)(uintptr_t)alt};
    const gls_status status = gls_slices_draw(&m->box, n, paint, &(rows){m, first, high}, &picture);
    if (!status) gls_report_append_picture(&picture, caption, out);
    free(picture.png);
    return status;
}

/* Appends the pictures of error and compartments. */
static gls_status append_pictures(const maps *m, gls_text *out)
{
    const double error[2] = {m->quantile[GLS_SIGNAL_MAP_RMSE][2], m->quantile[GLS_SIGNAL_MAP_NRMSE][2]};
    double share = 0, shares[3];
    char caption[400];
    for (int k = 0; k < 3; k++) share = fmax(share, m->quantile[k][2]);
    for (int k = 0; k < 3; k++) shares[k] = share > 0 ? share : 1;
    gls_snprintf(caption, sizeof caption,
                 "The error of the fit: dark is 0, the brightest colour is an RMSE of %.4g and an NRMSE of %.4g, and "
                 "more. The RMSE has the unit of the signal, which is 1 without diffusion weighting.",
                 error[0], error[1]);
    gls_status status = append_picture(
        m, GLS_SIGNAL_MAP_RMSE, 2, (const double[2]){error[0] > 0 ? error[0] : 1, error[1] > 0 ? error[1] : 1},
        "Slices of the maps of error, RMSE and NRMSE; the table below has their numbers", caption, out);
    gls_snprintf(caption, sizeof caption,
                 "The compartments, signal fractions of streamlines (intra), of zeppelins between them (extra) and of "
                 "balls (isotropic), at one scale: dark is 0, the brightest colour is %.4g and more.",
                 shares[0]);
    return status ? status
                  : append_picture(m, GLS_SIGNAL_MAP_IC, 3, shares,
                                   "Slices of the maps of compartments, intra, extra and isotropic; the table below "
                                   "has their numbers",
                                   caption, out);
}

/* Appends mean and quantiles of the maps. */
static void append_measures(const maps *m, gls_text *out)
{
    gls_text_printf(out,
                    "<table><caption>The maps in %zu voxels of the model</caption><thead><tr><th scope=\"col\">map"
                    "</th><th scope=\"col\">mean</th><th scope=\"col\">median</th><th scope=\"col\">95 %%</th><th "
                    "scope=\"col\">largest</th></tr></thead><tbody>\n",
                    m->n_inside);
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++)
        gls_text_printf(out,
                        "<tr><th scope=\"row\">%s</th><td class=\"number\">%.5g</td><td class=\"number\">%.5g</td><td "
                        "class=\"number\">%.5g</td><td class=\"number\">%.5g</td></tr>\n",
                        words[k].what, m->mean[k], m->quantile[k][0], m->quantile[k][1], m->quantile[k][3]);
    gls_text_puts(out, "</tbody></table>\n");
}

/* Says that there are no maps, and why. */
static void append_no_maps(const gls_report *r, gls_text *out)
{
    const char *prefix = maps_prefix(r);
    if (!prefix) {
        gls_text_puts(out, "<p>There are no maps of error and compartments: <code>--maps</code> of <code>glslines "
                           "weights</code> and <code>--weights-maps</code> of <code>glslines track</code> write "
                           "them.</p>\n");
        return;
    }
    gls_text_puts(out, "<p>The maps of error and compartments that the run wrote, whose names begin with <code>");
    gls_html_puts(out, prefix);
    gls_text_puts(out, "</code>, were not found, not all of them, or are other files now.</p>\n");
}

static void append_maps(const gls_report *r, gls_text *out)
{
    maps m = {.n_inside = 0};
    size_t n = 0;
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) n += r->weights_map[k] != NULL;
    if (n < GLS_SIGNAL_N_MAPS) {
        append_no_maps(r, out);
        return;
    }
    gls_status status = read_maps(r, &m);
    if (!status) status = append_pictures(&m, out);
    if (!status) {
        append_measures(&m, out);
    } else {
        gls_log(GLS_LOG_WARNING, "the report has no maps of error and compartments: %s", gls_last_error());
        gls_text_puts(out, "<p>The maps of error and compartments cannot be shown: ");
        gls_html_puts(out, gls_last_error());
        gls_text_puts(out, ".</p>\n");
    }
    finish_maps(&m);
}

/* --- The section. */

void gls_report_weights(const gls_report *r, gls_text *out)
{
    if (!r->weights) return;
    gls_text_puts(out, "<section aria-labelledby=\"weights\"><h2 id=\"weights\">Weights by the signal</h2>\n");
    append_numbers(r, out);
    append_curve(r, out);
    append_maps(r, out);
    gls_text_puts(out, "</section>\n");
}

void gls_report_weights_link(const gls_report *r, gls_text *out)
{
    if (r->weights) gls_text_puts(out, "<li><a href=\"#weights\">Weights</a></li>\n");
}
