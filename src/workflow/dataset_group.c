/* A table of the tractograms of a data set. */
#include "util/json.h"
#include "util/plain.h"
#include "workflow/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/dataset_names.h"

#define MARK "tractogram\tseeds\tstreamlines"
#define MAX_SIDECAR ((size_t)256 << 20)

static double number(const cJSON *root, const char *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, object), key);
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

static gls_status add_row(FILE *table, const char *folder, const char *name)
{
    char path[1536], *text = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gls_status status = gls_file_read(path, MAX_SIDECAR, &text, &n);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    free(text);
    if (!root) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    char *stem = gls_bids_stem(name);
    gls_fprintf(table, "%s\t%.0f\t%.0f\t%.6g\t%.6g\t%.3f\n", stem ? stem : name, number(root, "counts", "seeds"),
                number(root, "counts", "streamlines"), number(root, "lengths", "mean_mm"),
                number(root, "lengths", "median_mm"), number(root, "seconds", "total"));
    free(stem);
    cJSON_Delete(root);
    return GLS_OK;
}

static gls_status add_folder(FILE *table, const char *folder, size_t *n)
{
    char **names;
    gls_status status = gls_bids_names(folder, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (!gls_bids_has_suffix(names[i], "tractogram", ".json") &&
            !gls_bids_has_suffix(names[i], "tractography", ".json"))
            continue;
        if (!gls_bids_is_valid(names[i])) {
            gls_log(GLS_LOG_WARNING, "%s/%s: is no name of BIDS, and is left out", folder, names[i]);
            continue;
        }
        status = add_row(table, folder, names[i]);
        ++*n;
    }
    gls_bids_names_free(names);
    return status;
}

static gls_status add_subject(FILE *table, const gls_dataset_options *o, const char *subject, size_t *n)
{
    char path[1536], **names;
    snprintf(path, sizeof path, "%s/%s/dwi", o->output, subject);
    gls_status status = add_folder(table, path, n);
    snprintf(path, sizeof path, "%s/%s", o->output, subject);
    if (!status) status = gls_bids_names(path, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (strncmp(names[i], "ses-", 4) != 0) continue;
        snprintf(path, sizeof path, "%s/%s/%s/dwi", o->output, subject, names[i]);
        status = add_folder(table, path, n);
    }
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_group(const gls_dataset_options *o, size_t *n)
{
    char *text = NULL, **names = NULL, path[1536];
    size_t bytes = 0;
    *n = 0;
    FILE *table = open_memstream(&text, &bytes);
    if (!table) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    fputs(MARK "\tmean_length_mm\tmedian_length_mm\tseconds\n", table);
    gls_status status = gls_bids_names(o->output, &names);
    for (size_t i = 0; !status && names[i]; i++)
        if (strncmp(names[i], "sub-", 4) == 0) status = add_subject(table, o, names[i], n);
    if (names) gls_bids_names_free(names);
    bool whole = fclose(table) == 0;
    if (!status && !whole) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/group.tsv", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, MARK, text, bytes);
    if (!status && *n > 0) status = gls_dataset_page(o, text);
    free(text);
    return status;
}
