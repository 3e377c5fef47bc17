/* Tissues of multi-tissue deconvolution: responses, images, normalisation. */

#include <glslines/device.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/msmt.h>
#include <glslines/normalise.h>
#include <glslines/responses.h>
#include <glslines/sh.h>
#include <glslines/workflow.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwi/fit_tissues.h"
#include "dwi/fit_cache.h"
#include "dwi/fit_model_parts.h"
#include "dwi/units.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* A warning says that the series may have been rescaled if its median b = 0 signal is below MIN_GAIN times the lowest,
 * or above MAX_GAIN times the highest, b = 0 signal of the responses. */
#define MIN_GAIN 0.2
#define MAX_GAIN 5
#define MIN_VOXELS 1000 /* smallest number of voxels of a mask that determine the field of the normalisation */

const char *gls_tissue_name(int kind)
{
    static const char *const names[GLS_N_TISSUES] = {[GLS_WM] = "wm", [GLS_GM] = "gm", [GLS_CSF] = "csf"};
    return names[kind];
}

/* The signal of the highest shell relative to that of the lowest. */
static double remaining(const gls_tissue_response *r)
{
    return r->zonal[(r->n_shells - 1) * (size_t)(r->order / 2 + 1)] / r->zonal[0];
}

/* Looks for responses that were given for each other. GLS_ERR_INPUT: that of white matter is without direction. A
 * warning: CSF, free water, loses less signal than grey matter. path: files of the tissues. */
static gls_status check_kinds(const gls_tissues *t, const char *const *path)
{
    /* t->response[0] is of white matter, the last is of CSF where there are three */
    const gls_tissue_response *const *r = (const gls_tissue_response *const *)t->response;
    if (r[0]->order == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has one coefficient a shell, as responses of grey matter and CSF have, and gives no "
                        "directions: name that of white matter by --response-wm (--force-response uses the response "
                        "all the same)",
                        path[GLS_WM]);
    if (t->n == GLS_N_TISSUES && remaining(r[GLS_CSF]) > remaining(r[GLS_GM]))
        gls_log(GLS_LOG_WARNING,
                "%s keeps %.2g of its signal at the highest b-value, %s %.2g, but CSF has less than grey matter: were "
                "--response-csf and --response-gm exchanged?",
                path[GLS_CSF], remaining(r[GLS_CSF]), path[GLS_GM], remaining(r[GLS_GM]));
    return GLS_OK;
}

/* Reads the responses that are given. GLS_ERR_INPUT: a response does not fit the shells of the series, or is of another
 * tissue. */
static gls_status read_responses(gls_tissues *t, const gls_model_options *o, const gls_gradients *gradients)
{
    const char *const path[GLS_N_TISSUES] = {o->response_wm, o->response_gm, o->response_csf};
    t->given = true;
    t->forced = o->force_response;
    t->name = o->response_wm;
    for (int kind = 0; kind < GLS_N_TISSUES; kind++) {
        if (!path[kind]) continue;
        t->kind[t->n] = kind;
        gls_status status = gls_tissue_response_read(path[kind], &t->response[t->n]);
        if (status) return status;
        status = gls_tissue_response_check(t->response[t->n++], path[kind], gradients,
                                           /* --force-response: only the number of shells must fit */
                                           o->force_response ? GLS_RESPONSE_FITS_NUMBER : GLS_RESPONSE_FITS_VALUES);
        if (status) return status;
    }
    return t->forced ? GLS_OK : check_kinds(t, path);
}

/* Whether b-values are scattered, as in diffusion spectrum imaging. n: number of shells, b = 0 included. */
static bool is_scattered(const gls_gradients *gradients, size_t n)
{
    const size_t weighted = gradients->n - gradients->n_b0, shells = n - (gradients->n_b0 > 0);
    /* no weighted shell, or more shells (b = 0 counts as one) than the square root of the number of volumes */
    return weighted > 0 && (shells == 0 || n * n > gradients->n);
}

gls_status gls_tissues_grid(const gls_gradients *gradients, size_t *shells)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    free(shell);
    *shells = !status && is_scattered(gradients, n) ? n - (gradients->n_b0 > 0) : 0;
    return status;
}

/* Returns GLS_ERR_INPUT if the b-values form no shells or are scattered: multi-tissue deconvolution needs a response
 * for each shell. */
static gls_status check_shells(const gls_gradients *gradients, size_t n)
{
    size_t weighted = gradients->n - gradients->n_b0, shells = n - (gradients->n_b0 > 0);
    if (!is_scattered(gradients, n)) return GLS_OK;
    if (shells == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "--model msmt: the b-values of the %zu weighted volumes form no shell (three volumes or more "
                        "of nearly one b-value): take --model opdt or csa",
                        weighted);
    return gls_fail(GLS_ERR_INPUT,
                    "--model msmt: the b-values of the %zu weighted volumes are scattered (%zu shells of three "
                    "volumes or more were found): take --model csd, which uses one shell, or select shells (--shells)",
                    weighted, shells);
}

gls_status gls_tissues_init(gls_tissues *t, const gls_model_options *o, const gls_gradients *gradients)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    *t = (gls_tissues){.n = 0};
    if (o->response_wm) return read_responses(t, o, gradients);
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    free(shell);
    if (!status) status = check_shells(gradients, n);
    if (status) return status;
    if (gradients->n_b0 == 0 || n < 2)
        return gls_fail(GLS_ERR_INPUT, "--model msmt: needs volumes of b = 0 and a shell to estimate responses from; "
                                       "give --response-wm, --response-gm and --response-csf");
    /* two shells, b = 0 included, determine two tissues, more shells three */
    t->kind[t->n++] = GLS_WM;
    if (n > 2) t->kind[t->n++] = GLS_GM;
    t->kind[t->n++] = GLS_CSF;
    if (n == 2)
        gls_log(GLS_LOG_INFO, "one shell and b = 0 determine two tissues: white matter and CSF, no grey matter");
    return GLS_OK;
}

/* Compares the b = 0 signal, if there are b0 volumes, with the responses. GLS_ERR_INPUT if it differs from the highest
 * response by more than a factor of 100, unless t->forced; a warning if its median is far outside the range of the
 * responses. */
static gls_status compare_gain(const gls_tissues *t, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask)
{
    size_t n = gls_grid_voxels(&dwi->grid), inside = 0;
    double gain;
    if (gradients->n_b0 == 0) return GLS_OK;
    float *mean = malloc(n * sizeof *mean);
    if (!mean) return gls_fail(GLS_ERR_MEMORY, "out of memory for the b0 signal");
    /* mean b = 0 signal of each voxel of the mask */
    for (size_t v = 0; v < n; v++) {
        float sum = 0;
        if (mask && !(mask->data[v] > 0)) continue;
        for (size_t i = 0; i < gradients->n; i++)
            if (gradients->is_b0[i]) sum += dwi->data[i * n + v];
        mean[inside++] = sum / (float)gradients->n_b0;
    }
    double median = 0, lowest = INFINITY, highest = 0;
    if (inside > 0) gls_quantiles_of_floats(mean, inside, (const double[]){0.5}, 1, &median);
    free(mean);
    for (size_t i = 0; i < t->n; i++) {
        /* the mean signal is the zonal coefficient of order 0 divided by sqrt(4 pi) */
        double signal = t->response[i]->zonal[0] / sqrt(4 * M_PI);
        lowest = fmin(lowest, signal);
        highest = fmax(highest, signal);
    }
    gls_status status = gls_units_gain(dwi, NULL, gradients->is_b0, gradients->n, mask, highest, &gain);
    if (!status && !t->forced) status = gls_units_check_gain(t->name, highest, gain);
    if (status) return status;
    if (median < MIN_GAIN * lowest || median > MAX_GAIN * highest)
        gls_log(GLS_LOG_WARNING,
                "the median b0 signal inside the mask is %.4g, that of the responses %.4g to %.4g: if the series was "
                "rescaled, scale it back, or estimate responses from this series",
                median, lowest, highest);
    return GLS_OK;
}

gls_status gls_tissues_respond(gls_tissues *t, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask, const double (*direction)[3], size_t n,
                               const gls_monitor *monitor)
{
    /* given responses are not estimated, only compared with the series */
    if (t->response[0]) return compare_gain(t, dwi, gradients, mask);
    gls_responses_options options = gls_responses_options_default();
    gls_tissue_response *response[GLS_N_TISSUES] = {NULL};
    options.direction = direction;
    options.n_directions = n;
    options.monitor = monitor;
    gls_monitor_begin(monitor, GLS_PHASE_FIT);
    gls_status status = gls_responses_dhollander(dwi, gradients, mask, &options, response, NULL);
    gls_monitor_end(monitor, GLS_PHASE_FIT);
    if (status) return status;
    for (size_t i = 0; i < t->n; i++) {
        /* keep the responses of the tissues in use; the algorithm estimates all three */
        t->response[i] = response[t->kind[i]];
        response[t->kind[i]] = NULL;
    }
    for (int kind = 0; kind < GLS_N_TISSUES; kind++) gls_tissue_response_destroy(response[kind]);
    return GLS_OK;
}

/* Callback of gls_msmt_fit(): reports voxels to the monitor. */
static bool step(void *user, size_t done, size_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_FIT, .done = done, .total = total});
}

/* Reads the images of all tissues from the cache. If one of them is missing, t keeps none. */
static void read_kept(gls_tissues *t, const char *cache, const cJSON *key, const gls_grid *grid, int order)
{
    char name[16];
    t->kept = true;
    for (size_t i = 0; i < t->n && t->kept; i++) {
        snprintf(name, sizeof name, "msmt_%s", gls_tissue_name(t->kind[i]));
        /* white matter has coefficients, the other tissues one volume */
        t->kept = gls_fit_cache_read(cache, name, key, grid, i ? 1 : gls_sh_count(order), &t->image[i]);
    }
    for (size_t i = 0; i < t->n && !t->kept; i++) {
        gls_image_destroy(t->image[i]);
        t->image[i] = NULL;
    }
}

gls_status gls_tissues_fit(gls_tissues *t, const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                           int order, const double (*direction)[3], size_t n, const char *on, const char *cache,
                           const cJSON *key, const gls_monitor *monitor)
{
    gls_msmt_options options = gls_msmt_options_default();
    char name[16];
    options.order[0] = order;
    /* grey matter and CSF have the same signal in all directions */
    for (size_t i = 1; i < t->n; i++) options.order[i] = 0;
    options.direction = direction;
    options.n_directions = n;
    if (key) read_kept(t, cache, key, &dwi->grid, order);
    if (t->kept) return GLS_OK;
    gls_status status = GLS_OK;
    if (on) status = gls_device_open(on, GLS_GRAPHICS_AUTO, &options.device);
    if (status) return status;
    status = gls_msmt_fit(dwi, gradients, mask, (const gls_tissue_response *const *)t->response, t->n, &options, step,
                          (void *)monitor, t->image);
    gls_device_close(options.device);
    for (size_t i = 0; key && !status && i < t->n; i++) {
        snprintf(name, sizeof name, "msmt_%s", gls_tissue_name(t->kind[i]));
        gls_fit_cache_write(cache, name, key, t->image[i]);
    }
    return status;
}

bool gls_tissues_are_normalised(const gls_model_options *o, uint64_t voxels)
{
    /* with --normalise the field is estimated even from few voxels */
    return !o->no_normalise && (o->normalise || voxels >= MIN_VOXELS);
}

gls_status gls_tissues_normalise(gls_tissues *t, const gls_model_options *o, const gls_image *mask)
{
    size_t n = gls_grid_voxels(&mask->grid), inside = 0;
    for (size_t v = 0; v < n; v++) inside += mask->data[v] > 0;
    if (!gls_tissues_are_normalised(o, inside)) {
        if (!o->no_normalise)
            gls_log(
                GLS_LOG_INFO,
                "intensity: not normalised, because the mask has only %zu voxels (--normalise normalises with fewer "
                "than %d, too)",
                inside, MIN_VOXELS);
        return GLS_OK;
    }
    gls_status status = gls_normalise(t->image, t->n, mask, NULL, &t->normalised);
    t->is_normalised = !status;
    if (!status && !t->given)
        gls_log(GLS_LOG_INFO,
                "group studies: give all subjects the same responses (--response-wm, --response-gm, --response-csf)");
    return status;
}

/* Adds to the sidecar the number of voxels, unless it is 0, and a row of zonal coefficients for each shell. */
static void describe_response(cJSON *object, const gls_tissue_response *r)
{
    size_t columns = (size_t)r->order / 2 + 1;
    if (r->n_voxels > 0) gls_json_uint(object, "voxels", r->n_voxels);
    cJSON *rows = cJSON_AddArrayToObject(object, "zonal_coefficients");
    for (size_t s = 0; s < r->n_shells; s++) {
        cJSON *row = cJSON_CreateArray();
        for (size_t l = 0; l < columns; l++) gls_json_append_double(row, r->zonal[s * columns + l]);
        cJSON_AddItemToArray(rows, row);
    }
}

gls_status gls_tissues_fractions(const gls_tissues *t, gls_image **fractions)
{
    /* volumes of PREFIX_vf: CSF, grey matter, white matter */
    static const int volume[GLS_N_TISSUES] = {[GLS_WM] = 2, [GLS_GM] = 1, [GLS_CSF] = 0};
    size_t n = gls_grid_voxels(&t->image[0]->grid);
    gls_status status = gls_image_create(&t->image[0]->grid, GLS_N_TISSUES, fractions);
    for (size_t v = 0; v < n && !status; v++) {
        float sum = 0;
        /* noise gives slightly negative densities, which count as 0 */
        for (size_t i = 0; i < t->n; i++) sum += fmaxf(t->image[i]->data[v], 0);
        for (size_t i = 0; i < t->n && sum > 0; i++)
            (*fractions)->data[(size_t)volume[t->kind[i]] * n + v] = fmaxf(t->image[i]->data[v], 0) / sum;
    }
    return status;
}

void gls_tissues_describe(cJSON *model, const gls_tissues *t, const gls_model_options *o)
{
    const char *const path[GLS_N_TISSUES] = {o->response_wm, o->response_gm, o->response_csf};
    cJSON *tissues = cJSON_AddObjectToObject(model, "tissues");
    for (size_t i = 0; i < t->n; i++) {
        cJSON *object = cJSON_AddObjectToObject(tissues, gls_tissue_name(t->kind[i]));
        cJSON_AddStringToObject(object, "response", t->given ? path[t->kind[i]] : "dhollander");
        if (t->response[i]) describe_response(object, t->response[i]);
    }
    if (!t->is_normalised) {
        cJSON_AddNullToObject(model, "normalisation");
        return;
    }
    const gls_normalise_result *r = &t->normalised;
    cJSON *normalisation = cJSON_AddObjectToObject(model, "normalisation");
    GLS_JSON_MEMBERS(normalisation, r, scale, lowest, highest);
    gls_json_uint(normalisation, "voxels", r->n_voxels);
    gls_json_uint(normalisation, "outliers", r->n_outliers);
    cJSON *balance = cJSON_AddArrayToObject(normalisation, "balance");
    for (size_t i = 0; i < t->n; i++) gls_json_append_double(balance, r->balance[i]);
}

void gls_tissues_finish(gls_tissues *t)
{
    for (size_t i = 0; i < t->n; i++) {
        gls_tissue_response_destroy(t->response[i]);
        /* the first image, of white matter, belongs to the model and stays */
        if (i > 0) gls_image_destroy(t->image[i]);
    }
    *t = (gls_tissues){.n = 0};
}
