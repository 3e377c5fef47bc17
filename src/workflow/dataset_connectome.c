/* Connectomes of a data set: for each tractogram one of each atlas, under the names that BIDS proposes for matrices. */
#include "workflow/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/log.h"
#include "util/status.h"
#include "workflow/dataset_names.h"
#include "workflow/json.h"
#include "workflow/tracts/tracts.h"

char *gls_dataset_find_atlas(const gls_dataset_options *o, const gls_dataset_unit *u, const char *atlas,
                             const char **root)
{
    static const char *const keys[] = {"seg", "atlas", "desc"};
    char *found = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !found; i++)
        found = gls_dataset_find_image(o, u, keys[i], atlas, "dseg", root);
    return found;
}

/* The table of names of labels: beside the image, or in a folder above; NULL: none. */
static char *find_names(const char *labels, const char *root)
{
    const char *slash = strrchr(labels, '/');
    char folder[1024], *stem = gls_bids_stem(slash + 1), *found = NULL;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - labels - (ptrdiff_t)strlen(root) - 1),
             labels + strlen(root) + 1);
    if (stem) found = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    free(stem);
    return found;
}

static bool is_newer(const char *path, const char *than)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(than, &b) != 0) return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                                : a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec;
}

static void add_sources(const gls_dataset_options *o, const char *const *path, size_t n, cJSON *root)
{
    char uri[2048];
    cJSON *sources = cJSON_AddArrayToObject(root, "Sources");
    for (size_t i = 0; i < n; i++) {
        if (!path[i]) continue;
        gls_dataset_uri(o, path[i], uri, sizeof uri);
        cJSON_AddItemToArray(sources, cJSON_CreateString(uri));
    }
}

static gls_status connect(const gls_dataset_options *o, const char *tractogram, const char *labels, const char *names,
                          const char *matrix, const char *weights)
{
#define ROW GLS_ROW_DEFAULT
    gls_connectome_cli options = {
#include "workflow/tracts/connectome.def"
    };
#undef ROW
    const char *const file[] = {tractogram, labels, matrix};
    const gls_tract_common common = {.force = true};
    cJSON *root = cJSON_CreateObject(), *parameters;
    gls_tract_job job;
    options.bids = true;
    options.lut = names;
    options.weights = weights;
    cJSON_AddStringToObject(root, "Description", "Connectome: streamlines between the regions of an atlas");
    add_sources(o, (const char *const[]){tractogram, labels, names}, 3, root);
    parameters = cJSON_AddObjectToObject(root, "parameters");
    cJSON_AddStringToObject(parameters, "assign", "radial");
    cJSON_AddNumberToObject(parameters, "radius_mm", 4);
    if (weights) cJSON_AddStringToObject(parameters, "weights", weights);
    gls_tract_job_init(&job, &common, root);
    gls_status status = gls_tract_connectome(&job, &options, file, 3);
    if (!status) status = gls_tract_job_commit(&job);
    gls_tract_job_finish(&job);
    return status;
}

gls_status gls_dataset_connect(const gls_dataset_options *o, const gls_dataset_unit *u, const char *tractogram,
                               const char *stem, const char *weights)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < o->atlases.n && !status; i++) {
        const char *root = NULL;
        char matrix[1700], *labels = gls_dataset_find_atlas(o, u, o->atlases.value[i], &root), *names = NULL;
        snprintf(matrix, sizeof matrix, "%s_seg-%s_relmat.tsv", stem, o->atlases.value[i]);
        if (!labels) return gls_fail(GLS_ERR_INPUT, "%s: no seg-%s_dseg in its space", u->dwi, o->atlases.value[i]);
        names = find_names(labels, root);
        const bool done = is_newer(matrix, tractogram) && is_newer(matrix, labels) && !o->force;
        if (!done) status = connect(o, tractogram, labels, names, matrix, weights);
        free(labels);
        free(names);
    }
    return status;
}
