/* Weights of streamlines from the diffusion signal (COMMIT, Daducci et al. 2015; COMMIT2, Schiavi et al. 2020; LiFE,
 * Pestilli et al. 2014): from streamlines and a series to weights, with checks, counts and the second fits that groups
 * and debiasing need. */
#include "weights/signal_fit.h"
#include "image/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* For the estimate of memory: entries of a streamline for each voxel side of its length, a usual length in mm, most
 * directions in a voxel, and bytes of the solver for each unknown. */
#define ENTRIES_PER_SIDE 3.3
#define USUAL_LENGTH 80
#define MAX_BINS 150
#define SOLVER_BYTES 96
#define CURVE_STEPS 100 /* a sidecar has at most 101 points of the curve of the objective */
#define LEAST 1e-15     /* streamlines with a smaller unknown take no part in debiasing */

gls_signal_options gls_signal_options_default(void)
{
    return (gls_signal_options){
        .kernels = {.d_par = 1.7e-3, .d_par_ec = 1.7e-3, .d_perp = {{0.51e-3}, 1}, .d_iso = {{1.7e-3, 3e-3}, 2}},
        .limits = {.min_piece = 1e-3, .max_length = 250},
        .solver = {.tol_fun = 1e-3, .tol_x = 1e-6, .max_iters = 100},
        .memory = {.block_entries = (size_t)1 << 24}, /* of 6 bytes: OpenGL ES promises buffers of 2^27 bytes */
        .replacement = NAN};
}

uint64_t gls_signal_bytes(const gls_grid *grid, uint64_t n_met, uint64_t n_volumes, uint64_t n_streamlines)
{
    const double *side = grid->voxel_size, least = fmin(side[0], fmin(side[1], side[2]));
    const uint64_t n = gls_grid_voxels(grid), each = (uint64_t)(ENTRIES_PER_SIDE * USUAL_LENGTH / least) + 1,
                   entries = n_streamlines * each, most = n_met * MAX_BINS, bins = entries < most ? entries : most;
    /* the series, its signals and residuals; entries by streamline and by bin; bins; unknowns of the solver */
    return n * n_volumes * sizeof(float) + n * 8 + n_met * n_volumes * 2 * sizeof(float) + entries * 12 + bins * 18 +
           (n_streamlines + 2 * n_met) * SOLVER_BYTES;
}

/* --- The series. */

/* Replaces values that are not finite, or fails. */
static gls_status check_values(const gls_signal *s, gls_image *dwi, const gls_image *mask)
{
    const size_t n = gls_grid_voxels(&dwi->grid);
    const double replacement = s->options.replacement;
    for (size_t t = 0; t < dwi->n_volumes; t++)
        for (size_t i = 0; i < n; i++) {
            if (isfinite(dwi->data[t * n + i]) || (mask && !(mask->data[i] > 0))) continue;
            if (!isfinite(replacement))
                return gls_fail(GLS_ERR_INPUT,
                                "%s: volume %zu (counted from 0) has a value that is not finite: give --replace-bad X, "
                                "or a --mask without that voxel",
                                s->source.name, t);
            dwi->data[t * n + i] = (float)replacement;
        }
    return GLS_OK;
}

/* Fills `inside`: voxels of the mask with a positive mean b = 0 signal, if there is b = 0. */
static gls_status choose_voxels(gls_signal *s, const gls_image *dwi, const gls_image *mask)
{
    const size_t n = gls_grid_voxels(&dwi->grid);
    const gls_gradients *table = s->source.table;
    size_t left = 0;
    s->inside = malloc(n);
    if (!s->inside) return gls_no_memory();
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        s->inside[i] = !mask || mask->data[i] > 0;
        if (!s->inside[i]) continue;
        for (size_t t = 0; table && t < dwi->n_volumes; t++)
            if (table->is_b0[t]) sum += (double)dwi->data[t * n + i];
        if (table && table->n_b0 > 0 && !(sum > 0)) {
            s->inside[i] = 0;
            s->n_without_b0 += mask != NULL;
        }
        left += s->inside[i];
    }
    return left > 0 ? GLS_OK
                    : gls_fail(GLS_ERR_INPUT, "%s: no voxel%s has a positive b = 0 signal", s->source.name,
                               mask ? " of the mask" : "");
}

gls_status gls_signal_begin(gls_signal *s, const gls_signal_options *options, const gls_signal_source *source,
                            gls_image *dwi, const gls_image *mask)
{
    *s = (gls_signal){.options = *options, .source = *source};
    s->source.dwi = dwi;
    const gls_gradients *table = source->table;
    if (table && table->n_b0 == table->n)
        return gls_fail(GLS_ERR_INPUT, "%s: has no weighted volume: all b-values are at most %g", source->name,
                        table->b0_threshold);
    if (table && table->n_b0 == 0)
        gls_log(GLS_LOG_WARNING, "%s: has no volume of b = 0, so that its signals are taken as they are", source->name);
    gls_status status = gls_signal_directions_init(&s->directions, options->directions);
    if (!status) status = check_values(s, dwi, mask);
    if (!status) status = choose_voxels(s, dwi, mask);
    if (!status) status = gls_signal_rows_init(&s->rows, &dwi->grid, &s->directions, s->inside, &options->limits);
    return status;
}

/* --- Streamlines. */

static gls_status append(void *user, const gls_streamlines *lines)
{
    gls_signal *s = user;
    const double start = gls_clock_seconds();
    const gls_status status = gls_signal_rows_append(&s->rows, lines);
    s->seconds_map += gls_clock_seconds() - start;
    return status;
}

gls_sink gls_signal_sink(gls_signal *signal)
{
    return (gls_sink){.append = append, .user = signal};
}

/* A streamline and the name of its group, for sorting. */
typedef struct named_line {
    uint64_t name;
    size_t line;
} named_line;

static int compare_names(const void *a, const void *b)
{
    const named_line *p = a, *q = b;
    if (p->name != q->name) return p->name < q->name ? -1 : 1;
    return p->line < q->line ? -1 : p->line > q->line;
}

gls_status gls_signal_set_groups(gls_signal *s, const uint64_t *of, size_t n)
{
    GLS_REQUIRE(n == s->rows.n && !s->groups.of);
    named_line *list = malloc((n + 1) * sizeof *list);
    size_t n_listed = 0;
    s->groups.of = malloc((n + 1) * sizeof *s->groups.of);
    if (!list || !s->groups.of) {
        free(list);
        return gls_no_memory();
    }
    for (size_t i = 0; i < n; i++) {
        s->groups.of[i] = UINT32_MAX;
        /* streamlines without entries are in no group */
        if (s->rows.start[i] < s->rows.start[i + 1]) list[n_listed++] = (named_line){of[i], i};
    }
    qsort(list, n_listed, sizeof *list, compare_names);
    for (size_t i = 0; i < n_listed; i++) {
        if (i == 0 || list[i].name != list[i - 1].name) s->groups.n++;
        s->groups.of[list[i].line] = (uint32_t)s->groups.n - 1;
    }
    free(list);
    s->groups.factor = calloc(s->groups.n + 1, sizeof *s->groups.factor);
    return s->groups.factor ? GLS_OK : gls_no_memory();
}

/* --- The fit. */

/* Fails because no streamline is in the model. */
static gls_status fail_empty(const gls_signal *s)
{
    const gls_signal_rows *rows = &s->rows;
    const gls_grid *grid = &rows->grid;
    double low[3], high[3];
    if (rows->n == 0) return gls_fail(GLS_ERR_EMPTY, "weights: there is no streamline to weight");
    if (rows->n_outside < rows->n)
        return gls_fail(GLS_ERR_EMPTY,
                        "no streamline is left: of %zu, %zu have less than two points, %zu lie outside the mask or the "
                        "grid, and %zu are shorter than --min-length or longer than --max-length",
                        rows->n, rows->n_short, rows->n_outside, rows->n_length);
    gls_grid_extent(grid, low, high);
    return gls_fail(GLS_ERR_EMPTY,
                    "no streamline passes through the mask of %s: the points span %g %g %g to %g %g %g mm, the series "
                    "%g %g %g to %g %g %g mm",
                    s->source.name, rows->low[0], rows->low[1], rows->low[2], rows->high[0], rows->high[1],
                    rows->high[2], low[0], low[1], low[2], high[0], high[1], high[2]);
}

/* Solves once, on devices or on the CPU. groups NULL: no penalty. */
static gls_status solve_on(gls_signal *s, size_t n_devices, const gls_signal_groups *groups)
{
    gls_signal_products *products = NULL;
    gls_signal_fit_finish(&s->fit);
    /* hold a single device once: in some drivers releasing it waits for its work */
    if (n_devices == 1) gls_device_hold(s->device[0]);
    gls_status status = n_devices > 0
                            ? gls_signal_device_create(&s->model, &s->options.memory, s->device, n_devices, &products)
                            : gls_signal_host_create(&s->model, &products);
    if (!status) status = gls_signal_solve(products, &s->options.solver, groups, s->x, s->r, &s->fit);
    if (products) products->kind->destroy(products);
    if (n_devices == 1) gls_device_release(s->device[0]);
    return status;
}

/* Solves once; if a device is lost or too small, on the CPU. */
static gls_status solve(gls_signal *s, const gls_signal_groups *groups)
{
    gls_status status = solve_on(s, s->n_devices, groups);
    if (s->n_devices == 0 ||
        (status != GLS_ERR_LOST && status != GLS_ERR_DEVICE_MEMORY && status != GLS_ERR_UNSUPPORTED))
        return status;
    gls_log(GLS_LOG_WARNING, "weights: %s; the CPU begins anew", gls_last_error());
    s->n_devices = 0;
    return solve_on(s, 0, groups);
}

/* Solves again with the penalty on groups, and then for the streamlines that are left without it. */
static gls_status solve_groups(gls_signal *s)
{
    s->groups.peer = s->options.peer;
    s->first = s->fit;
    s->fit = (gls_signal_fit){.iteration = NULL};
    gls_status status = gls_signal_groups_weigh(&s->groups, &s->model, s->x, s->options.share);
    if (!status) status = solve(s, &s->groups);
    if (status || !s->options.debias) return status;
    gls_signal_model_leave_out(&s->model, s->x, LEAST);
    return solve(s, NULL);
}

/* Computes the weights from the unknowns, and counts those above 0. */
static gls_status make_weights(gls_signal *s)
{
    const size_t n = s->n_lines;
    uint8_t *met = calloc(s->groups.n + 1, 1);
    s->weight = malloc((n + 1) * sizeof *s->weight);
    if (!met || !s->weight) {
        free(met);
        return gls_no_memory();
    }
    for (size_t i = 0; i < n; i++) {
        const double norm = s->rows.norm[i];
        double sum = 0;
        for (size_t k = 0; k < s->model.n_radii; k++) sum += s->x[k * n + i] / s->model.stick_norm[k];
        s->weight[i] = norm > 0 ? (float)(sum / norm) : 0;
        if (!(s->weight[i] > 0)) continue;
        s->n_positive++;
        if (s->groups.of && s->groups.of[i] < s->groups.n) met[s->groups.of[i]] = 1;
    }
    for (size_t k = 0; k < s->groups.n; k++) s->n_groups_positive += met[k];
    free(met);
    return GLS_OK;
}

/* With several radii: gives each streamline a row and its group for each. */
static gls_status repeat(gls_signal *s)
{
    const gls_signal_kernels *k = &s->options.kernels;
    const size_t copies = k->kernel == GLS_SIGNAL_CYLINDER ? (size_t)k->radii.n : 1, n = s->n_lines;
    if (copies == 1) return GLS_OK;
    if (s->groups.of && !gls_list_resize(&s->groups.of, copies * n, sizeof *s->groups.of)) return gls_no_memory();
    for (size_t i = n; s->groups.of && i < copies * n; i++) s->groups.of[i] = s->groups.of[i - n];
    return gls_signal_rows_repeat(&s->rows, &s->directions, copies);
}

gls_status gls_signal_end(gls_signal *s, gls_device *const *devices, size_t n)
{
    const double start = gls_clock_seconds();
    s->device = devices;
    s->n_devices = n;
    s->n_lines = s->rows.n;
    if (s->rows.n_kept == 0) return fail_empty(s);
    gls_status status = repeat(s);
    if (!status && n > 1) s->n_devices = gls_signal_device_count(&s->rows, &s->options.memory, devices, n);
    if (!status) status = gls_signal_model_init(&s->model, &s->rows, &s->options.kernels, &s->source);
    if (!status) {
        s->x = malloc((s->model.n + 1) * sizeof *s->x);
        s->r = malloc((s->model.n_voxels * s->model.m + 1) * sizeof *s->r);
        if (!s->x || !s->r) status = gls_no_memory();
    }
    s->seconds_map += gls_clock_seconds() - start;
    const double solving = gls_clock_seconds();
    if (!status) status = solve(s, NULL);
    if (!status && s->groups.of && s->options.share > 0) status = solve_groups(s);
    if (!status) status = make_weights(s);
    s->seconds_solve = gls_clock_seconds() - solving;
    return status;
}

gls_status gls_signal_map_make(const gls_signal *s, gls_signal_map map, gls_image **image)
{
    const gls_status status = gls_image_create(&s->rows.grid, 1, image);
    if (!status && s->model.rows) gls_signal_model_map(&s->model, map, s->x, s->r, (*image)->data);
    return status;
}

/* --- Logs and the sidecar. */

void gls_signal_log(const gls_signal *s)
{
    const gls_signal_rows *rows = &s->rows;
    const gls_signal_model *m = &s->model;
    char n[32], entries[32], bins[32], seconds[32];
    gls_log(GLS_LOG_INFO, "mapped: %s streamlines to %zu voxels (%s entries, %s directions of voxels), %s",
            gls_format_count(rows->n_kept, n, sizeof n), m->n_voxels,
            gls_format_count(rows->start[rows->n], entries, sizeof entries),
            gls_format_count(m->n_bins, bins, sizeof bins),
            gls_format_duration(s->seconds_map, seconds, sizeof seconds));
    gls_log(GLS_LOG_INFO, "solved: %zu iterations, objective %.6g, ended by: %s, %s", s->fit.iterations,
            s->fit.objective, gls_signal_stop_name(s->fit.why),
            gls_format_duration(s->seconds_solve, seconds, sizeof seconds));
    if (s->n_without_b0 > 0)
        gls_log(GLS_LOG_WARNING, "%zu voxels of the mask have no positive b = 0 signal and are left out",
                s->n_without_b0);
    const size_t lost = s->n_lines - rows->n_kept;
    if (lost * 100 >= s->n_lines && lost > 0)
        gls_log(GLS_LOG_WARNING,
                "%zu of %zu streamlines get a weight of 0 because they are not in the model: %zu have less than two "
                "points, %zu lie outside, %zu are too short or too long",
                lost, s->n_lines, rows->n_short, rows->n_outside, rows->n_length);
    if (s->fit.why == GLS_SIGNAL_STOP_LIMIT)
        gls_log(GLS_LOG_WARNING, "--max-iters: ended after %zu iterations, with the objective still falling",
                s->fit.iterations);
    if (s->n_positive == 0 && s->fit.why != GLS_SIGNAL_STOP_INFINITE)
        gls_log(GLS_LOG_WARNING, "all weights are 0%s",
                s->options.share > 0 ? ": lower --lambda" : ": the other compartments explain the signal");
}

/* Adds the objective by iteration: every iteration or, if there are many, every second, third and so on, and the last.
 * The numbers have the digits of the table of --csv. */
static void describe_curve(cJSON *to, const gls_signal_fit *fit)
{
    const size_t last = fit->iterations, step = 1 + last / CURVE_STEPS;
    cJSON *curve = cJSON_AddObjectToObject(to, "curve"), *iteration = cJSON_AddArrayToObject(curve, "iteration"),
          *objective = cJSON_AddArrayToObject(curve, "objective");
    for (size_t i = 0; fit->iteration; i = i + step < last ? i + step : last) {
        char text[40];
        double rounded = NAN;
        gls_snprintf(text, sizeof text, "%.9g", fit->iteration[i].objective);
        cJSON_AddItemToArray(iteration, gls_json_new_uint(i));
        gls_json_append_double(objective, gls_parse_double(text, &rounded) ? rounded : NAN);
        if (i == last) return;
    }
}

/* Adds to the sidecar how a fit ended. */
static void describe_fit(cJSON *to, const gls_signal_fit *fit)
{
    gls_json_double(to, "objective_first", fit->iteration ? fit->iteration[0].objective : 0);
    gls_json_double(to, "objective", fit->objective);
    gls_json_double(to, "penalty", fit->penalty);
    gls_json_uint(to, "iterations", fit->iterations);
    gls_json_uint(to, "back_tracks", fit->back_tracks);
    gls_json_uint(to, "restarts", fit->restarts);
    cJSON_AddStringToObject(to, "stopped_by", gls_signal_stop_name(fit->why));
    describe_curve(to, fit);
}

void gls_signal_describe(cJSON *root, const gls_signal *s)
{
    const gls_signal_rows *rows = &s->rows;
    const gls_signal_model *m = &s->model;
    cJSON *counts = gls_json_object_at(root, "counts"), *model = cJSON_AddObjectToObject(root, "model");
    gls_json_uint(counts, "streamlines", s->n_lines);
    gls_json_uint(counts, "streamlines_kept", rows->n_kept);
    gls_json_uint(counts, "without_points", rows->n_short);
    gls_json_uint(counts, "outside", rows->n_outside);
    gls_json_uint(counts, "too_short_or_long", rows->n_length);
    gls_json_uint(counts, "entries", rows->start[rows->n]);
    gls_json_uint(counts, "bins", m->n_bins);
    gls_json_uint(counts, "voxels", m->n_voxels);
    gls_json_uint(counts, "volumes", m->m);
    gls_json_uint(counts, "peaks", m->n_peaks);
    gls_json_uint(counts, "columns", m->n);
    gls_json_uint(counts, "weights_above_0", s->n_positive);
    describe_fit(model, &s->fit);
    gls_json_double(model, "tol_fun", s->options.solver.tol_fun);
    gls_json_double(model, "tol_x", s->options.solver.tol_x);
    gls_json_uint(model, "max_iters", (uint64_t)s->options.solver.max_iters);
    double sum = 0;
    for (size_t v = 0; v < m->n_voxels; v++) {
        double squares = 0;
        for (size_t t = 0; t < m->m; t++) squares += (double)s->r[v * m->m + t] * (double)s->r[v * m->m + t];
        sum += sqrt(squares / (double)m->m);
    }
    gls_json_double(model, "rmse_mean", m->n_voxels > 0 ? sum / (double)m->n_voxels : 0);
    if (s->groups.of && s->options.share > 0) {
        gls_json_uint(model, "groups", s->groups.n);
        gls_json_uint(model, "groups_above_0", s->n_groups_positive);
        gls_json_double(model, "lambda", s->groups.lambda);
        describe_fit(cJSON_AddObjectToObject(model, "without_penalty"), &s->first);
    }
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    gls_json_double(seconds, "mapping", s->seconds_map);
    gls_json_double(seconds, "solving", s->seconds_solve);
}

void gls_signal_finish(gls_signal *s)
{
    gls_signal_fit_finish(&s->fit);
    gls_signal_fit_finish(&s->first);
    gls_signal_model_finish(&s->model);
    gls_signal_rows_finish(&s->rows);
    gls_signal_directions_finish(&s->directions);
    free(s->groups.of);
    free(s->groups.factor);
    free(s->inside);
    free(s->x);
    free(s->r);
    free(s->weight);
    *s = (gls_signal){.inside = NULL};
}
