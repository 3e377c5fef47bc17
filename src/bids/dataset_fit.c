/* Writes the fits of a series beside its tractogram, with the names that BIDS proposes for maps of diffusion models. */
#include "bids/dataset_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/run_params.h"
#include "run/series_run.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

/* Outputs of gls_fit_files() that the data set keeps. */
static const struct {
    /* parameter: value of param- in the name, and key of the output in the sidecar of the fit */
    const char *parameter, *description;
    /* made by the tensor fit, not by the orientation model */
    bool is_tensor;
} files[] = {
    {"fa", "Fractional anisotropy of a tensor fit", true},
    {"sh", "Spherical harmonics of orientation distribution functions", false},
    {"wm", "Spherical harmonics of the fibre orientation distributions of white matter", false},
    {"gm", "Density of grey matter", false},
    {"csf", "Density of cerebrospinal fluid", false},
};
enum { N_FILES = sizeof files / sizeof *files };

/* Writes the sidecar of a fit. Model and harmonics come from the sidecar of gls_fit_files(). */
static gls_status write_sidecar(const gls_dataset_options *o, const gls_dataset_unit *u, const char *path,
                                const cJSON *fit, const char *description, bool is_tensor)
{
    cJSON *root = cJSON_CreateObject();
    /* pybids needs the word model for the entity. */
    static const char *const parts[][2] = {{"model", "OrientationModel"}, {"sh", "SphericalHarmonics"}};
    cJSON_AddStringToObject(root, "Description", description);
    gls_dataset_add_sources(o, u, NULL, 0, root);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !is_tensor; i++) {
        const cJSON *part = gls_json_at(fit, parts[i][0]);
        if (part) cJSON_AddItemToObject(root, parts[i][1], cJSON_Duplicate(part, true));
    }
    gls_status status = gls_json_write(root, path, true, NULL, "");
    cJSON_Delete(root);
    return status;
}

/* Renames one output of the fit to its name in the data set, or removes it. */
static gls_status place(const gls_dataset_options *o, const gls_dataset_unit *u, const cJSON *output, const char *stem,
                        const cJSON *fit)
{
    char to[GLS_DATASET_MAX_PATH + 64];
    const char *from = output->valuestring;
    size_t i = 0;
    while (i < N_FILES && strcmp(files[i].parameter, output->string) != 0) i++;
    if (i == N_FILES) {
        unlink(from);
        return GLS_OK;
    }
    /* csd where the sidecar names no model */
    const cJSON *name = gls_json_at(gls_json_at(fit, "model"), "name");
    const char *model = files[i].is_tensor ? "tensor" : cJSON_IsString(name) ? name->valuestring : "csd";
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.nii.gz", stem, model, files[i].parameter);
    if (rename(from, to) != 0)
        return gls_fail(GLS_ERR_OUTPUT, "%s: the finished file cannot get this name: %s", to, strerror(errno));
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.json", stem, model, files[i].parameter);
    return write_sidecar(o, u, to, fit, files[i].description, files[i].is_tensor);
}

gls_status gls_dataset_fit(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_model_options *model,
                           const char *mask, const char *stem, const gls_monitor *monitor)
{
    gls_fit_options options = gls_fit_options_default();
    const char *slash = strrchr(stem, '/');
    char prefix[GLS_DATASET_MAX_PATH], path[GLS_DATASET_MAX_PATH + 64];
    cJSON *fit = NULL;
    const cJSON *output;
    /* a hidden prefix in the folder of the outputs, so that a rename within one file system places each file */
    snprintf(prefix, sizeof prefix, "%.*s/.%s_fit", (int)(slash - stem), stem, slash + 1);
    options.dwi = u->dwi;
    options.bval = u->bval;
    options.bvec = u->bvec;
    options.mask = mask;
    options.prefix = prefix;
    options.force = true;
    options.model = *model;
    gls_status status = gls_fit_files(&options, monitor);
    if (status) return status;
    snprintf(path, sizeof path, "%s.json", prefix);
    status = gls_json_load(path, (size_t)64 << 20, &fit);
    cJSON_ArrayForEach(output, gls_json_at(fit, "outputs")) if (!status) status = place(o, u, output, stem, fit);
    unlink(path);
    cJSON_Delete(fit);
    return status;
}
