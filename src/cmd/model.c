#include "cmd/model.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cache.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/sidecar_json.h"

const gls_gradients *cmd_model_gradients(const cmd_model *m)
{
    return m->selected ? m->selected : m->series->gradients;
}

const gls_image *cmd_model_dwi(const cmd_model *m)
{
    return m->subset ? m->subset : m->series->dwi;
}

size_t cmd_model_volumes(const cmd_model *m)
{
    return cmd_model_gradients(m)->n;
}

/* Every shell that was asked for has to be there; only then is more than one of them too many. */
static int choose_shell(cmd_model *m)
{
    const cmd_numbers *shells = &m->options->shells;
    const gls_gradients *gradients = m->series->gradients;
    bool csd = m->options->model == MODEL_CSD;
    gls_status status = GLS_OK;
    for (int i = 0; i < shells->n; i++) {
        gls_gradients_destroy(m->selected);
        free(m->volume);
        m->selected = NULL;
        m->volume = NULL;
        status = gls_gradients_select_shell(gradients, shells->value[i], &m->selected, &m->volume);
        if (status) return cmd_error_status(status);
    }
    if (shells->n > 1)
        return cmd_error(CMD_EXIT_USAGE, "--shells: got %d b-values; the models are of one shell", shells->n);
    if (!csd && shells->n == 0) return CMD_EXIT_OK;
    if (csd) {
        status = gls_csd_choose_shell(gradients, shells->n ? shells->value[0] : 0, m->options->sh_order, &m->bval);
        if (!status && !m->selected) status = gls_gradients_select_shell(gradients, m->bval, &m->selected, &m->volume);
        return status ? cmd_error_status(status) : CMD_EXIT_OK;
    }
    gls_shell shell[2];
    size_t n;
    gls_gradients_shells(m->selected, shell, 2, &n);
    m->bval = shell[n > 1 ? 1 : 0].bval;
    cmd_info("the model uses the shell of b = %g s/mm2", m->bval);
    return CMD_EXIT_OK;
}

/* The bootstrap and the q-ball fit take a series and its table; without a choice of shell these are there already. */
static gls_status make_subset(cmd_model *m)
{
    if (!m->selected || m->selected->n == m->series->gradients->n) return GLS_OK;
    size_t voxels = gls_grid_voxels(&m->series->dwi->grid);
    gls_status status = gls_image_create(&m->series->dwi->grid, m->selected->n, &m->subset);
    for (size_t t = 0; !status && t < m->selected->n; t++)
        memcpy(m->subset->data + t * voxels, m->series->dwi->data + m->volume[t] * voxels,
               voxels * sizeof *m->subset->data);
    return status;
}

int cmd_model_init(cmd_model *m, const model_options *options, const cmd_series *series)
{
    *m = (cmd_model){.options = options, .series = series};
    int code = choose_shell(m);
    if (code || options->model != MODEL_CSD || !options->response) return code;
    gls_status status =
        gls_response_read(options->response, options->sh_order, series->gradients, m->bval, &m->response);
    m->has_response = !status;
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

int cmd_model_fa(cmd_model *m, const gls_image *mask, const char *cache, gls_image **fa)
{
    gls_tensor_options options = gls_tensor_options_default();
    cJSON *key = cache ? cmd_cache_key("fa", m->series, mask) : NULL;
    gls_status status = GLS_OK;
    int code = CMD_EXIT_OK;
    if (key) cmd_cache_key_number(key, "min_signal", options.min_signal);
    m->fa_kept = key && cmd_cache_read(cache, "fa", key, &m->series->dwi->grid, 1, fa);
    if (!m->fa_kept) {
        status = gls_tensor_fit(m->series->dwi, m->series->gradients, mask, &options, fa, NULL, NULL);
        if (status) code = cmd_error_status(status);
    }
    if (key && !m->fa_kept && !status) {
        cmd_interrupt_catch();
        cmd_cache_write(cache, "fa", key, *fa);
        cmd_interrupt_release();
        if (cmd_interrupted()) code = cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
    }
    cJSON_Delete(key);
    return code;
}

int cmd_model_prepare(cmd_model *m, const gls_image *mask)
{
    const model_options *o = m->options;
    gls_status status = GLS_OK;
    if (o->model == MODEL_CSD) {
        gls_response_options options = gls_response_options_default();
        options.mask = mask;
        if (!m->has_response)
            status = gls_response_estimate(m->series->dwi, m->selected, m->volume, &options, &m->response);
        m->has_response = !status;
    } else {
        gls_qball_options options = {.model = (gls_qball_model)o->model,
                                     .sh_order = o->sh_order,
                                     .smooth = o->sm_lambda,
                                     .min_signal = o->min_signal};
        status = make_subset(m);
        if (!status) status = gls_qball_create(cmd_model_gradients(m), &options, false, &m->qball);
    }
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static bool step(void *user, size_t done, size_t total)
{
    return cmd_progress_fit_step(user, done, total);
}

static gls_status fit(cmd_model *m, const gls_image *mask)
{
    if (m->options->model != MODEL_CSD)
        return gls_qball_fit_image(m->qball, cmd_model_dwi(m), cmd_model_gradients(m), mask, &m->sh);
    gls_csd_options options = gls_csd_options_default();
    cmd_progress progress;
    options.sh_order = m->options->sh_order;
    cmd_progress_init(&progress);
    gls_status status =
        gls_csd_fit(m->series->dwi, m->selected, m->volume, mask, &m->response, &options, step, &progress, &m->sh);
    cmd_progress_finish(&progress);
    return status;
}

static cJSON *sh_key(const cmd_model *m, const gls_image *mask)
{
    static const char *const names[] = {[MODEL_OPDT] = "opdt", [MODEL_CSA] = "csa", [MODEL_CSD] = "csd"};
    const model_options *o = m->options;
    cJSON *key = cmd_cache_key("sh", m->series, mask);
    if (!key) return NULL;
    cJSON_AddStringToObject(key, "model", names[o->model]);
    cmd_cache_key_number(key, "sh_order", o->sh_order);
    cmd_cache_key_number(key, "shell", m->bval);
    if (m->has_response) {
        /* field by field: padding has no fixed contents */
        const gls_response *r = &m->response;
        double value[4 + GLS_CSD_MAX_ORDER / 2 + 1] = {r->is_zonal, r->evals[0], r->evals[1], r->s0};
        for (int l = 0; r->is_zonal && l <= r->order; l += 2) value[4 + l / 2] = r->zonal[l / 2];
        cmd_cache_key_data(key, "response", value, sizeof value);
    } else {
        cmd_cache_key_number(key, "sm_lambda", o->sm_lambda);
        cmd_cache_key_number(key, "min_signal", o->min_signal);
    }
    return key;
}

int cmd_model_fit(cmd_model *m, const gls_image *mask, const char *cache)
{
    static const char *const names[] = {[MODEL_OPDT] = "sh_opdt", [MODEL_CSA] = "sh_csa", [MODEL_CSD] = "sh_csd"};
    const char *name = names[m->options->model];
    cJSON *key = cache ? sh_key(m, mask) : NULL;
    int code = CMD_EXIT_OK;
    m->sh_kept =
        key && cmd_cache_read(cache, name, key, &m->series->dwi->grid, gls_sh_count(m->options->sh_order), &m->sh);
    if (!m->sh_kept) {
        cmd_interrupt_catch();
        gls_status status = fit(m, mask);
        if (!status && key) cmd_cache_write(cache, name, key, m->sh);
        cmd_interrupt_release();
        if (cmd_interrupted())
            code = cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
        else if (status)
            code = cmd_error_status(status);
    }
    cJSON_Delete(key);
    return code;
}

void cmd_model_finish(cmd_model *m)
{
    gls_gradients_destroy(m->selected);
    free(m->volume);
    gls_image_destroy(m->subset);
    gls_qball_destroy(m->qball);
    gls_image_destroy(m->sh);
    *m = (cmd_model){.options = NULL};
}

static void describe_response(cJSON *model, const cmd_model *m)
{
    const gls_response *r = &m->response;
    cJSON *object = cJSON_AddObjectToObject(model, "response");
    if (m->options->response)
        cJSON_AddStringToObject(object, "source", m->options->response);
    else
        cJSON_AddStringToObject(object, "source", "estimated");
    if (r->is_zonal) {
        cJSON *zonal = cJSON_AddArrayToObject(object, "zonal_coefficients");
        for (int l = 0; l <= r->order; l += 2) json_append_double(zonal, r->zonal[l / 2]);
        return;
    }
    cJSON *evals = cJSON_AddArrayToObject(object, "eigenvalues_mm2_per_s");
    json_append_double(evals, r->evals[0]);
    json_append_double(evals, r->evals[1]);
    json_append_double(evals, r->evals[1]);
    json_double(object, "s0", r->s0);
    if (m->options->response) return;
    gls_response_options options = gls_response_options_default();
    json_uint(object, "voxels", r->n_voxels);
    json_uint(object, "roi_radius_voxels", (uint64_t)options.roi_radius);
    json_double(object, "fa_threshold", options.fa_threshold);
}

void cmd_model_describe(cJSON *root, const cmd_model *m)
{
    char word[16];
    if (!m->options) return;
    const gls_gradients *g = cmd_model_gradients(m);
    cJSON *model = cJSON_AddObjectToObject(root, "model");
    cJSON_AddStringToObject(model, "name", cmd_choice_word(MODEL_CHOICES, m->options->model, word, sizeof word));
    json_uint(model, "sh_order", (uint64_t)m->options->sh_order);
    if (m->bval > 0)
        json_double(model, "shell_b_s_per_mm2", m->bval);
    else
        cJSON_AddNullToObject(model, "shell_b_s_per_mm2");
    json_uint(model, "weighted_volumes", g->n - g->n_b0);
    if (m->has_response) describe_response(model, m);
    cJSON_AddBoolToObject(model, "fa_from_cache", m->fa_kept);
    cJSON_AddBoolToObject(model, "sh_from_cache", m->sh_kept);
}
