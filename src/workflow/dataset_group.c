/* Writes group.tsv, a table of the tractograms of a data set. */
#include "workflow/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/dataset_parts.h"

#define MARK "tractogram\tseeds\tstreamlines"
#define MAX_SIDECAR ((size_t)256 << 20)

/* Prints a number of the sidecar with at most six decimals. */
static void print_number(FILE *table, const cJSON *root, const char *object, const char *key)
{
    char text[64];
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, object), key);
    const bool is_number = cJSON_IsNumber(value) && isfinite(value->valuedouble);
    const double v = is_number ? value->valuedouble : 0;
    if (is_number && v == floor(v) && fabs(v) < 1e15)
        gls_fprintf(table, "\t%.0f", v);
    else
        fprintf(table, "\t%s", is_number ? gls_format_double(round(v * 1e6) / 1e6, text, sizeof text) : "n/a");
}

/* Prints the row of one tractogram from its sidecar. */
static gls_status add_row(FILE *table, const char *folder, const char *name)
{
    char path[GLS_DATASET_MAX_PATH], *text = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gls_status status = gls_file_read(path, MAX_SIDECAR, &text, &n);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    free(text);
    if (!root) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    char *stem = gls_bids_stem(name);
    if (!stem) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    fprintf(table, "%s", stem ? stem : "");
    print_number(table, root, "counts", "seeds");
    print_number(table, root, "counts", "streamlines");
    print_number(table, root, "lengths", "mean_mm");
    print_number(table, root, "lengths", "median_mm");
    print_number(table, root, "seconds", "total");
    fputc('\n', table);
    free(stem);
    cJSON_Delete(root);
    return status;
}

/* Adds the tractograms in one folder and counts them in *n. */
static gls_status add_folder(FILE *table, const gls_dataset_options *o, const char *subject, const char *session,
                             const char *folder, size_t *n)
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
        if (!gls_dataset_belongs(names[i], subject, session)) {
            gls_log(GLS_LOG_WARNING, "%s/%s: is of another participant or session by its name, and is left out", folder,
                    names[i]);
            continue;
        }
        if (!gls_dataset_passes(o, names[i], "desc")) continue;
        status = add_row(table, folder, names[i]);
        ++*n;
    }
    gls_bids_names_free(names);
    return status;
}

/* Adds the tractograms of a participant: without a session, and in each session. */
static gls_status add_subject(FILE *table, const gls_dataset_options *o, const char *subject, size_t *n)
{
    char path[GLS_DATASET_MAX_PATH], **names;
    gls_status status = GLS_OK;
    snprintf(path, sizeof path, "%s/%s/dwi", o->output, subject);
    if (gls_dataset_takes_no_session(o)) status = add_folder(table, o, subject + 4, "", path, n);
    snprintf(path, sizeof path, "%s/%s", o->output, subject);
    if (!status) status = gls_bids_names(path, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (!gls_dataset_takes_session(o, names[i])) continue;
        snprintf(path, sizeof path, "%s/%s/%s/dwi", o->output, subject, names[i]);
        status = add_folder(table, o, subject + 4, names[i] + 4, path, n);
    }
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_group(const gls_dataset_options *o, size_t *n)
{
    char *text = NULL, **names = NULL, path[GLS_DATASET_MAX_PATH];
    size_t bytes = 0;
    gls_output_group group = {0};
    *n = 0;
    FILE *table = open_memstream(&text, &bytes);
    if (!table) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    fputs(MARK "\tmean_length_mm\tmedian_length_mm\tseconds\n", table);
    gls_status status = gls_bids_names(o->output, &names);
    for (size_t i = 0; !status && names[i]; i++)
        if (gls_dataset_takes_participant(o, names[i])) status = add_subject(table, o, names[i], n);
    if (names) gls_bids_names_free(names);
    bool whole = fclose(table) == 0;
    if (!status && !whole) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/group.tsv", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, MARK, text, bytes, &group);
    if (!status && *n > 0) status = gls_dataset_page(o, text, &group);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    free(text);
    return status;
}
