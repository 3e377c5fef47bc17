/* Outputs of `glslines segment` other than the tractogram: a file for each bundle, and a table. */
#include "workflow/tracts/tract_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "util/status.h"
#include "util/text.h"
#include "workflow/tracts/tract_files.h"

gls_status gls_bundle_files_check(const char *each)
{
    if (each && !strstr(each, "{}"))
        return gls_fail(GLS_ERR_ARGUMENT, "--each %s: has no {}, for which the name of the bundle would stand", each);
    return GLS_OK;
}

/* Makes the name of a bundle's file from the pattern. If {} follows a "-", the bundle's name is a value of a BIDS
 * entity, which may contain neither "_" nor "-"; these characters are then left out, as pyAFQ does. From malloc. */
static char *name_file(const char *each, const char *bundle)
{
    gls_text path = {0};
    /* each occurrence of {} in the pattern */
    for (const char *at; (at = strstr(each, "{}")); each = at + 2) {
        const bool is_entity = at > each && at[-1] == '-';
        gls_text_append(&path, each, (size_t)(at - each));
        for (const char *c = bundle; *c; c++)
            if (!is_entity || (*c != '_' && *c != '-')) gls_text_append(&path, c, 1);
    }
    gls_text_puts(&path, each);
    return gls_text_take(&path);
}

/* Keeps columns of values in the file and removes groups. */
static gls_status drop_groups(const gls_tractogram_info *info, gls_sink *sink)
{
    /* names of all columns of values; the filter drops what is not named, groups among them */
    const size_t max_columns = info->n_dps + info->n_dpv;
    const char **names = malloc((max_columns + 1) * sizeof *names);
    const gls_sink next = *sink;
    if (!names) return gls_no_memory();
    for (size_t k = 0; k < info->n_dps; k++) names[k] = info->dps[k].name;
    for (size_t k = 0; k < info->n_dpv; k++) names[info->n_dps + k] = info->dpv[k].name;
    gls_status status = gls_filter_columns_create(names, max_columns, &next, sink);
    free(names);
    return status;
}

/* Opens the tractogram of one bundle, behind a filter that lets only its members pass. */
static gls_status create_file(gls_tract_run *run, const gls_grid *grid, const gls_tractogram_info *info,
                              gls_bundle_file *file, gls_sink *sink)
{
    const gls_tract_output output = {.path = file->path, .grid = grid, .info = info, .drops_group_data = true};
    /* the selection by the group that the rules made */
    gls_select_options options = gls_select_options_default();
    options.group = file->group;
    options.n_groups = 1;
    gls_status status = gls_tract_run_writes(run, file->path);
    if (!status) status = gls_selection_create(&options, &file->selection);
    if (!status) status = gls_tract_writer_create(run, &output, sink);
    if (status) return status;
    status = drop_groups(info, sink);
    const gls_sink next = *sink;
    if (!status) status = gls_selection_filter(file->selection, &next, sink);
    if (status) gls_sink_abort(sink);
    return status;
}

gls_status gls_bundle_files_create(gls_tract_run *run, const char *each, const gls_bundles *bundles,
                                   const gls_grid *grid, const gls_tractogram_info *info, gls_bundle_files *files)
{
    const size_t n = gls_bundles_count(bundles);
    gls_status status = GLS_OK;
    files->file = calloc(n, sizeof *files->file);
    files->sink = calloc(n, sizeof *files->sink);
    if (!files->file || !files->sink) return gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        const gls_bundle_info bundle = gls_bundles_get(bundles, k);
        gls_bundle_file *file = &files->file[files->n];
        /* bundles without streamlines have no file */
        if (bundle.count == 0) continue;
        file->group[0] = bundle.name;
        file->path = name_file(each, bundle.name);
        status = file->path ? create_file(run, grid, info, file, &files->sink[files->n]) : gls_no_memory();
        files->n++;
    }
    /* the last file was aborted where it failed */
    for (size_t k = 0; k + 1 < files->n && status; k++) gls_sink_abort(&files->sink[k]);
    return status;
}

void gls_bundle_files_finish(gls_bundle_files *files)
{
    for (size_t k = 0; k < files->n; k++) {
        gls_selection_destroy(files->file[k].selection);
        free(files->file[k].path);
    }
    free(files->file);
    free(files->sink);
    *files = (gls_bundle_files){.n = 0};
}

gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group)
{
    static const char *const names[] = {"bundle",  "count",     "weight", "turned",
                                        "mean_mm", "median_mm", "sd_mm",  "volume_mm3"};
    gls_tract_text t;
    gls_status status = gls_tract_text_create(path, overwrite, group, &t);
    if (status) return status;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) gls_tract_text_field(&t, names[k]);
    for (int test = 0; test < GLS_BUNDLE_TESTS; test++)
        gls_tract_text_printf(&t, "%cfailed_%s", t.separator, gls_bundle_test_name((gls_bundle_test)test));
    gls_tract_text_end_row(&t);
    for (size_t k = 0, n = gls_bundles_count(bundles); k < n; k++) {
        const gls_bundle_info b = gls_bundles_get(bundles, k);
        const double value[] = {(double)b.count, b.weight,    (double)b.turned, b.mean_length,
                                b.median_length, b.sd_length, volume[k]};
        gls_tract_text_field(&t, b.name);
        for (size_t i = 0; i < sizeof value / sizeof *value; i++) gls_tract_text_number(&t, value[i]);
        for (int test = 0; test < GLS_BUNDLE_TESTS; test++) gls_tract_text_number(&t, (double)b.failed[test]);
        gls_tract_text_end_row(&t);
    }
    return gls_tract_text_close(&t, GLS_OK);
}
