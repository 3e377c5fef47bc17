/* Writes the fits of a series beside its tractogram, with the names that BIDS proposes for maps of diffusion models. */
#include "bids/dataset_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/run_params.h"
#include "run/series.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

/* Files of gls_fit_files() and their names in the data set. Files without a parameter are left out. */
static const struct {
    /* parameter: value of param- in the name */
    const char *suffix, *parameter, *description;
    /* made by the tensor fit, not by the orientation model */
    bool is_tensor;
} files[] = {
    {"_fa.nii.gz", "fa", "Fractional anisotropy of a tensor fit", true},
    {"_sh.nii.gz", "sh", "Spherical harmonics of orientation distribution functions", false},
    {"_wm.nii.gz", "wm", "Spherical harmonics of the fibre orientation distributions of white matter", false},
    {"_gm.nii.gz", "gm", "Density of grey matter", false},
    {"_csf.nii.gz", "csf", "Density of cerebrospinal fluid", false},
    {"_tensor.nii.gz", NULL, NULL, true},
    {"_vf.nii.gz", NULL, NULL, false},
    {"_mask.nii.gz", NULL, NULL, false},
    {"_response.txt", NULL, NULL, false},
    {"_wm.txt", NULL, NULL, false},
    {"_gm.txt", NULL, NULL, false},
    {"_csf.txt", NULL, NULL, false},
};
enum { N_FILES = sizeof files / sizeof *files };

/* Writes the sidecar of a fit. Model and harmonics come from the sidecar of gls_fit_files(). */
static gls_status write_sidecar(const char *path, const cJSON *fit, const char *description, bool is_tensor,
                                const gls_dataset_sources *sources)
{
    cJSON *root = cJSON_CreateObject();
    /* pybids needs the word model for the entity. */
    static const char *const parts[][2] = {{"model", "OrientationModel"}, {"sh", "SphericalHarmonics"}};
    cJSON_AddStringToObject(root, "Description", description);
    sources->add(sources, root);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !is_tensor; i++) {
        const cJSON *part = gls_json_at(fit, parts[i][0]);
        if (part) cJSON_AddItemToObject(root, parts[i][1], cJSON_Duplicate(part, true));
    }
    gls_status status = gls_json_write(root, path, true, NULL, "");
    cJSON_Delete(root);
    return status;
}

/* Renames one file to its name in the data set, or removes it. */
static gls_status place(const char *prefix, const char *stem, size_t i, const cJSON *fit,
                        const gls_dataset_sources *sources)
{
    char from[GLS_DATASET_MAX_PATH + 64], to[GLS_DATASET_MAX_PATH + 64];
    /* csd where the sidecar names no model */
    const cJSON *name = gls_json_at(gls_json_at(fit, "model"), "name");
    const char *model = files[i].is_tensor ? "tensor" : cJSON_IsString(name) ? name->valuestring : "csd";
    snprintf(from, sizeof from, "%s%s", prefix, files[i].suffix);
    if (access(from, F_OK) != 0) return GLS_OK;
    if (!files[i].parameter) {
        unlink(from);
        return GLS_OK;
    }
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.nii.gz", stem, model, files[i].parameter);
    if (rename(from, to) != 0)
        return gls_fail(GLS_ERR_OUTPUT, "%s: the finished file cannot get this name: %s", to, strerror(errno));
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.json", stem, model, files[i].parameter);
    return write_sidecar(to, fit, files[i].description, files[i].is_tensor, sources);
}

gls_status gls_dataset_fit(const gls_dataset_unit *u, const gls_model_options *model, const char *mask,
                           const char *stem, const gls_dataset_sources *sources, const gls_monitor *monitor)
{
    gls_fit_options options = gls_fit_options_default();
    const char *slash = strrchr(stem, '/');
    char prefix[GLS_DATASET_MAX_PATH], path[GLS_DATASET_MAX_PATH + 64], *text = NULL;
    cJSON *fit = NULL;
    size_t n = 0;
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
    status = gls_file_read(path, (size_t)64 << 20, &text, &n);
    if (!status) fit = gls_json_parse_bytes(text, n);
    if (!status && !fit) status = gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    for (size_t i = 0; i < N_FILES && !status; i++) status = place(prefix, stem, i, fit, sources);
    unlink(path);
    free(text);
    cJSON_Delete(fit);
    return status;
}
