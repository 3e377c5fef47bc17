/* Fits an orientation model to a series: chooses the shell and the order, makes the response, fits. */
#include "dwi/fit_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/csd_shell.h"
#include "dwi/fit_cache.h"
#include "dwi/fit_tissues.h"
#include "dwi/units.h"
#include "util/json_text.h"
#include "util/status.h"

#define MAX_COEFFICIENT 1e6f /* a response gives coefficients of about 1, a q-ball model at most some thousand */

/* The table of the volumes that the model uses. */
static const gls_gradients *table_of(const gls_series_model *m)
{
    return m->selected ? m->selected : m->series->gradients;
}

/* Finds the one shell that csd uses, and the b-value of the one shell that the options choose for opdt and csa. Models
 * other than msmt take one shell. */
static gls_status choose_shell(gls_series_model *m)
{
    double asked = 0;
    const size_t n = gls_model_shells(m->options, &asked);
    const gls_gradients *gradients = m->series->gradients;
    if (m->kind == GLS_MODEL_MSMT) return GLS_OK;
    if (n > 1) return gls_model_too_many_shells(n);
    if (m->kind == GLS_MODEL_CSD) {
        const int order = m->options->sh_order > 0
                              ? m->order
                              : 2; /* 2: an order that is not asked for is lowered later to what the shell allows */
        gls_status status = gls_csd_choose_shell(gradients, asked, order, &m->bval);
        return status ? status : gls_gradients_select_shell(gradients, m->bval, &m->selected, &m->volume);
    }
    if (n == 0) return GLS_OK;
    /* the shell is the last one of the table, behind the b0 volumes if there are any */
    gls_shell shell[2];
    size_t n_shells;
    gls_status status = gls_gradients_shells(gradients, shell, 2, &n_shells);
    if (!status) m->bval = shell[n_shells > 1 ? 1 : 0].bval;
    return status;
}

gls_status gls_series_model_directions(gls_series_model *m, const char *name)
{
    if (!gls_sphere_is_built_in(name)) return gls_csd_directions_read(name, &m->direction, &m->n_directions);
    gls_status status = gls_sphere_create(name, &m->constraint);
    if (status || m->kind != GLS_MODEL_MSMT) return status;
    /* msmt needs directions; csd takes the sphere itself */
    size_t bytes = m->constraint->n * sizeof *m->direction;
    m->direction = malloc(bytes);
    if (!m->direction) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", m->constraint->n);
    memcpy(m->direction, m->constraint->vertex, bytes);
    m->n_directions = m->constraint->n;
    return GLS_OK;
}

/* Chooses the model for --model auto: multi-tissue deconvolution or, if --response is given or the data do not allow
 * it, deconvolution of one shell. */
static gls_status choose_kind(gls_series_model *m)
{
    const gls_gradients *g = m->series->gradients;
    /* several tissues need b = 0 and weighted volumes, unless responses are given */
    const bool given = m->options->response_wm, tissues = (g->n_b0 > 0 && g->n_b0 < g->n) || given;
    size_t grid = 0;
    m->kind = tissues && !m->options->response ? GLS_MODEL_MSMT : GLS_MODEL_CSD;
    gls_status status =
        m->kind == GLS_MODEL_MSMT && !given && m->options->shells.n == 0 ? gls_tissues_grid(g, &grid) : GLS_OK;
    if (grid > 0) {
        m->kind = GLS_MODEL_CSD;
        gls_log(GLS_LOG_INFO,
                "model: deconvolution of one shell, csd: the b-values lie on a grid of %zu shells, from which msmt "
                "could not estimate responses (--model, --shells)",
                grid);
    } else {
        gls_log(GLS_LOG_INFO, "model: %s (--model)",
                m->kind == GLS_MODEL_MSMT ? "multi-tissue deconvolution, msmt" : "deconvolution of one shell, csd");
    }
    return status;
}

/* If the user asks for no order, lowers the default order to the order of the response (from a file, or of white matter
 * for msmt), or to the largest order that the directions determine. */
static void choose_order(gls_series_model *m)
{
    const gls_response *response = m->has_response ? &m->response : NULL;
    if (m->options->sh_order == 0 && response && response->is_zonal) {
        if (response->order < m->order) m->order = response->order;
    } else if (m->options->sh_order == 0 && m->kind == GLS_MODEL_CSD) {
        size_t n = 0;
        int order = m->order;
        m->order = gls_csd_order_for(m->selected, order, &n);
        if (m->order < order)
            gls_log(
                GLS_LOG_INFO,
                "CSD of order %d (--sh-order): order %d has %zu coefficients, more than the %zu directions determine",
                m->order, order, gls_sh_count(order), n);
    }
    const gls_tissue_response *wm = m->tissues.response[0];
    if (m->options->sh_order == 0 && wm && wm->order < m->order) m->order = wm->order;
}

/* Reads the response. By MRtrix3's rule the order of the response may limit the order of the fit. By DIPY's rule both
 * orders must be equal. A file of several rows has one for each shell in use, or for each shell of the file. */
static gls_status read_response(gls_series_model *m, int order)
{
    const char *path = m->options->response;
    gls_status status = gls_response_read(path, order, m->series->gradients, m->bval, &m->response);
    if (status && m->series->table) status = gls_response_read(path, order, m->series->table, m->bval, &m->response);
    m->has_response = !status;
    return status;
}

gls_status gls_series_model_init(gls_series_model *m, const gls_model_options *options, const gls_series *series)
{
    *m = (gls_series_model){.options = options, .series = series, .kind = options->model};
    gls_status status = m->kind == GLS_MODEL_AUTO ? choose_kind(m) : GLS_OK;
    /* if the user asks for model auto, the default order is that of the model that was chosen */
    gls_model_options used = *options;
    used.model = m->kind;
    m->order = gls_model_order(&used);
    if (!status) status = gls_series_fail(series, choose_shell(m));
    if (!status && options->csd_directions) status = gls_series_model_directions(m, options->csd_directions);
    if (!status && m->kind == GLS_MODEL_MSMT) {
        status = gls_tissues_init(&m->tissues, options, table_of(m));
        /* the message names the series only if the responses are estimated from the series */
        if (!m->tissues.given) status = gls_series_fail(series, status);
    }
    /* MRtrix3's rule: the response decides the order; DIPY's rule: the order decides how the response is read */
    bool csd = m->kind == GLS_MODEL_CSD, mrtrix = csd && options->csd_rule == GLS_CSD_RULE_MRTRIX;
    if (!status && mrtrix && options->response) status = read_response(m, 0);
    if (!status) choose_order(m);
    if (!status && csd && !mrtrix && options->response) status = read_response(m, m->order);
    return status;
}

/* Options for the estimate of a response. The number of voxels that the user gives may be below the usual minimum. */
static gls_response_options response_options(const gls_model_options *o)
{
    gls_response_options options = gls_response_options_default();
    options.fa_threshold = o->response_fa;
    options.roi_radius = o->response_radius;
    options.n_voxels = o->response_voxels;
    if (o->response_voxels && o->response_voxels < options.min_voxels) options.min_voxels = o->response_voxels;
    return options;
}

/* Returns GLS_ERR_INPUT if the signals of a given response and of the series differ by more than a factor of 100, so
 * that they are in different units. */
static gls_status compare_gain(const gls_series_model *m, const gls_image *mask)
{
    const gls_response *r = &m->response;
    const gls_gradients *g = m->selected;
    /* signal of the response: the mean in the shell, from the first zonal coefficient, or S0 */
    const double signal = r->is_zonal ? r->zonal[0] / sqrt(4 * M_PI) : r->s0;
    double gain;
    bool *is_used = malloc(g->n * sizeof *is_used);
    if (!is_used) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volumes", g->n);
    /* compare a response given as a tensor with the b0 volumes, and zonal coefficients with the volumes of the shell */
    for (size_t i = 0; i < g->n; i++) is_used[i] = g->is_b0[i] != r->is_zonal;
    gls_status status = gls_units_gain(m->series->dwi, m->volume, is_used, g->n, mask, signal, &gain);
    free(is_used);
    return status ? status : gls_units_check_gain(m->options->response, signal, gain);
}

/* More coefficients than this many times the directions of the series: the constraint decides on most of the ODF. */
#define MAX_SUPER_RESOLUTION 1.5

/* Warns of msmt with many more coefficients than directions. */
static void doubt_order(const gls_series_model *m)
{
    const gls_gradients *g = m->series->gradients;
    size_t n = 0;
    gls_csd_order_for(g, 2, &n);
    if ((double)gls_sh_count(m->order) <= MAX_SUPER_RESOLUTION * (double)n) return;
    gls_log(GLS_LOG_WARNING,
            "msmt of order %d has %zu coefficients of white matter, but the series has %zu different directions (%zu "
            "volumes, %zu of b = 0): what noise and the constraint make of the rest are no fibres; lower --sh-order",
            m->order, gls_sh_count(m->order), n, g->n, g->n_b0);
}

gls_status gls_series_model_prepare(gls_series_model *m, const gls_image *mask, const gls_monitor *monitor)
{
    const gls_model_options *o = m->options;
    gls_status status = GLS_OK;
    /* the q-ball model is made once only */
    if (m->qball) return GLS_OK;
    /* multi-tissue CSD: responses from files, or estimated from the volumes in use, with a tensor fit for FA */
    if (m->kind == GLS_MODEL_MSMT) {
        m->fits_tensor |= !m->tissues.given;
        doubt_order(m);
        status =
            gls_series_fail(m->series, gls_tissues_respond(&m->tissues, m->series->dwi, table_of(m), mask,
                                                           (const double(*)[3])m->direction, m->n_directions, monitor));
    } else if (m->kind == GLS_MODEL_CSD) {
        /* CSD: a response from a file is compared in gain with the series, since scanners scale signals */
        gls_response_options options = response_options(o);
        options.mask = mask;
        m->fits_tensor |= !m->has_response;
        if (!m->has_response)
            status = gls_series_fail(
                m->series, gls_response_estimate(m->series->dwi, m->selected, m->volume, &options, &m->response));
        else if (o->response)
            status = compare_gain(m, mask);
        m->has_response = !status;
    } else {
        /* q-ball models have no response, only a plan for the chosen volumes */
        gls_qball_options options = {.size = sizeof options,
                                     .model = (gls_qball_model)m->kind,
                                     .sh_order = m->order,
                                     .smooth = o->sm_lambda,
                                     .min_signal = o->min_signal};
        status = gls_series_fail(m->series, gls_qball_create(table_of(m), &options, GLS_SHELLS_ANY, &m->qball));
    }
    return status;
}

/* Callback of gls_csd_fit(): reports voxels to the monitor. */
static bool step(void *user, size_t done, size_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_FIT, .done = done, .total = total});
}

/* Fits the SH image of opdt, csa or csd. */
static gls_status fit(gls_series_model *m, const gls_image *mask, const gls_monitor *monitor)
{
    if (m->kind != GLS_MODEL_CSD) return gls_qball_fit_image(m->qball, m->series->dwi, table_of(m), mask, &m->sh);
    gls_csd_options options = gls_csd_options_default();
    options.rule = m->options->csd_rule;
    options.sh_order = m->order;
    options.sphere = m->constraint;
    options.direction = (const double(*)[3])m->direction;
    options.n_directions = m->n_directions;
    return gls_csd_fit(m->series->dwi, m->selected, m->volume, mask, &m->response, &options, step, (void *)monitor,
                       &m->sh);
}

/* Adds the responses to the key of a cached fit. */
static void add_tissues_key(cJSON *key, const gls_tissues *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const gls_tissue_response *r = t->response[i];
        size_t count = r->n_shells * (size_t)(r->order / 2 + 1);
        gls_fit_cache_key_data(key, gls_tissue_name(t->kind[i]), r->zonal, count * sizeof *r->zonal);
    }
}

/* Key of the SH image in the cache: everything that the fit depends on. NULL: out of memory. */
static cJSON *sh_key(const gls_series_model *m, const gls_image *mask)
{
    const gls_model_options *o = m->options;
    cJSON *key = gls_fit_cache_key("sh", m->series->dwi, m->series->gradients, mask);
    if (!key) return NULL;
    cJSON_AddStringToObject(key, "model", gls_model_name(m->kind));
    gls_fit_cache_key_number(key, "sh_order", m->order);
    gls_fit_cache_key_number(key, "shell", m->bval);
    if (m->kind == GLS_MODEL_MSMT) {
        add_tissues_key(key, &m->tissues);
        if (gls_fit_on_device(o)) cJSON_AddStringToObject(key, "fit_device", o->fit_device);
        if (m->direction)
            gls_fit_cache_key_data(key, "directions", m->direction, m->n_directions * sizeof *m->direction);
    } else if (m->has_response) {
        /* csd with a response, estimated or given */
        cJSON_AddStringToObject(key, "rule", gls_csd_rule_name(o->csd_rule));
        /* field by field, because padding bytes are undefined */
        const gls_response *r = &m->response;
        double value[4 + GLS_CSD_MAX_ORDER / 2 + 1] = {r->is_zonal, r->evals[0], r->evals[1], r->s0};
        for (int l = 0; r->is_zonal && l <= r->order; l += 2) value[4 + l / 2] = r->zonal[l / 2];
        gls_fit_cache_key_data(key, "response", value, sizeof value);
        if (m->constraint)
            gls_fit_cache_key_data(key, "directions", m->constraint->vertex,
                                   m->constraint->n * sizeof *m->constraint->vertex);
        if (m->direction)
            gls_fit_cache_key_data(key, "directions", m->direction, m->n_directions * sizeof *m->direction);
    } else {
        /* q-ball models depend on these options; the gradients are in the key already */
        gls_fit_cache_key_number(key, "sm_lambda", o->sm_lambda);
        gls_fit_cache_key_number(key, "min_signal", o->min_signal);
    }
    return key;
}

/* Returns GLS_ERR_INPUT if the first coefficient is finite in no voxel of the mask, or if its magnitude is above
 * MAX_COEFFICIENT in one: then the response cannot belong to this signal. */
static gls_status check_fit(const gls_series_model *m, const gls_image *mask)
{
    size_t n = gls_grid_voxels(&m->sh->grid), inside = 0, finite = 0;
    float largest = 0;
    for (size_t v = 0; v < n; v++) {
        if (mask && !(mask->data[v] > 0)) continue;
        inside++;
        if (!isfinite(m->sh->data[v])) continue;
        finite++;
        largest = fmaxf(largest, fabsf(m->sh->data[v]));
    }
    if (inside > 0 && (finite == 0 || largest > MAX_COEFFICIENT))
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: the fit of --model %s gives coefficients %s: the series, or the response for it, is not usable",
            m->series->name, gls_model_name(m->kind), finite == 0 ? "that are not finite in any voxel" : "above 1e+06");
    if (finite < inside)
        gls_log(GLS_LOG_WARNING, "%s: %zu of %zu voxels have coefficients that are not finite", m->series->name,
                inside - finite, inside);
    return GLS_OK;
}

/* Fits and normalises the images of all tissues. The image of white matter becomes m->sh. */
static gls_status fit_tissues(gls_series_model *m, const gls_image *mask, const char *cache, const gls_monitor *monitor)
{
    cJSON *key = cache ? sh_key(m, mask) : NULL;
    gls_monitor_begin(monitor, GLS_PHASE_FIT);
    gls_status status = gls_tissues_fit(
        &m->tissues, m->series->dwi, table_of(m), mask, m->order, (const double(*)[3])m->direction, m->n_directions,
        gls_fit_on_device(m->options) ? m->options->fit_device : NULL, cache, key, monitor);
    m->sh = m->tissues.image[0];
    m->sh_kept = m->tissues.kept;
    if (!status && !m->sh_kept) status = check_fit(m, mask);
    if (!status) status = gls_tissues_normalise(&m->tissues, m->options, mask);
    /* a cancelled fit may return success with voxels that are not fitted */
    if (!status && gls_monitor_cancelled(monitor, GLS_PHASE_FIT)) status = GLS_ERR_CANCELLED;
    if (status == GLS_ERR_CANCELLED) gls_error_set("interrupted");
    gls_monitor_end(monitor, GLS_PHASE_FIT);
    cJSON_Delete(key);
    return status;
}

gls_status gls_series_model_fit(gls_series_model *m, const gls_image *mask, const char *cache,
                                const gls_monitor *monitor)
{
    /* words in the names of the files in the cache */
    static const char *const names[] = {
        [GLS_MODEL_OPDT] = "sh_opdt", [GLS_MODEL_CSA] = "sh_csa", [GLS_MODEL_CSD] = "sh_csd"};
    if (m->kind == GLS_MODEL_MSMT) return fit_tissues(m, mask, cache, monitor);
    const char *name = names[m->kind];
    cJSON *key = cache ? sh_key(m, mask) : NULL;
    gls_status status = GLS_OK;
    m->sh_kept = key && gls_fit_cache_read(cache, name, key, &m->series->dwi->grid, gls_sh_count(m->order), &m->sh);
    if (!m->sh_kept) {
        gls_monitor_begin(monitor, GLS_PHASE_FIT);
        status = fit(m, mask, monitor);
        if (!status) status = check_fit(m, mask);
        if (!status && key) gls_fit_cache_write(cache, name, key, m->sh);
        if (gls_monitor_cancelled(monitor, GLS_PHASE_FIT)) status = GLS_ERR_CANCELLED;
        if (status == GLS_ERR_CANCELLED) gls_error_set("interrupted");
        gls_monitor_end(monitor, GLS_PHASE_FIT);
    }
    cJSON_Delete(key);
    return status;
}

void gls_series_model_finish(gls_series_model *m)
{
    gls_gradients_destroy(m->selected);
    free(m->volume);
    gls_qball_destroy(m->qball);
    gls_image_destroy(m->sh);
    gls_sphere_destroy(m->constraint);
    free(m->direction);
    gls_tissues_finish(&m->tissues);
    *m = (gls_series_model){.options = NULL};
}

/* Adds the response to the sidecar: where it comes from, its coefficients or eigenvalues, and how it was estimated. */
static void describe_response(cJSON *model, const gls_series_model *m)
{
    const gls_response *r = &m->response;
    cJSON *object = cJSON_AddObjectToObject(model, "response");
    cJSON_AddStringToObject(object, "source", m->options->response ? m->options->response : "estimated");
    if (r->is_zonal) {
        cJSON *zonal = cJSON_AddArrayToObject(object, "zonal_coefficients");
        for (int l = 0; l <= r->order; l += 2) gls_json_append_double(zonal, r->zonal[l / 2]);
        return;
    }
    cJSON *evals = cJSON_AddArrayToObject(object, "eigenvalues_mm2_per_s");
    gls_json_append_double(evals, r->evals[0]);
    gls_json_append_double(evals, r->evals[1]);
    /* three eigenvalues: the second and the third are equal */
    gls_json_append_double(evals, r->evals[1]);
    gls_json_double(object, "s0", r->s0);
    if (m->options->response) return;
    gls_json_uint(object, "voxels", r->n_voxels);
    gls_json_uint(object, "roi_radius_voxels", (uint64_t)m->options->response_radius);
    /* null if a number of voxels replaces the threshold */
    gls_json_double(object, "fa_threshold", m->options->response_voxels ? NAN : m->options->response_fa);
}

void gls_series_model_describe(cJSON *root, const gls_series_model *m)
{
    if (!m->options) return;
    const gls_gradients *g = table_of(m);
    cJSON *model = cJSON_AddObjectToObject(root, "model");
    cJSON_AddStringToObject(model, "name", gls_model_name(m->kind));
    if (m->kind == GLS_MODEL_CSD) cJSON_AddStringToObject(model, "csd_rule", gls_csd_rule_name(m->options->csd_rule));
    gls_json_uint(model, "sh_order", (uint64_t)m->order);
    /* null: no single shell was chosen */
    gls_json_double(model, "shell_b_s_per_mm2", m->bval > 0 ? m->bval : NAN);
    gls_json_uint(model, "weighted_volumes", g->n - g->n_b0);
    if (m->has_response) describe_response(model, m);
    if (m->kind == GLS_MODEL_MSMT) gls_tissues_describe(model, &m->tissues, m->options);
    cJSON_AddBoolToObject(model, "fa_from_cache", m->fa_kept);
    cJSON_AddBoolToObject(model, "sh_from_cache", m->sh_kept);
}
