/* A tractogram for each bundle: the members of the group of its name. */
#include "tools/bundle_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "tools/writer.h"
#include "util/status.h"
#include "util/text.h"

gls_status gls_bundle_files_check(const char *each)
{
    if (each && !strstr(each, "{}"))
        return gls_fail(GLS_ERR_ARGUMENT, "--each %s: must have {} in it, which stands for the name of the bundle",
                        each);
    return GLS_OK;
}

/* Makes the name of a bundle's file from the pattern. If {} follows a "-", the bundle's name is a value of a BIDS
 * entity, which may contain neither "_" nor "-"; these characters are then left out, as pyAFQ does. From malloc. */
static char *name_file(const char *each, const char *bundle)
{
    gls_text path = {0};
    for (const char *at; (at = strstr(each, "{}")); each = at + 2) {
        const bool is_entity = at > each && at[-1] == '-';
        gls_text_append(&path, each, (size_t)(at - each));
        for (const char *c = bundle; *c; c++)
            if (!is_entity || (*c != '_' && *c != '-')) gls_text_append(&path, c, 1);
    }
    gls_text_puts(&path, each);
    return gls_text_take(&path);
}

/* Makes *sink, which writes the tractogram of one bundle: a filter lets only streamlines of the bundle pass to the
 * writer. */
static gls_status create_file(gls_tract_run *run, const gls_grid *grid, const gls_tractogram_info *info,
                              gls_bundle_file *file, gls_sink *sink)
{
    gls_tractogram_info own = *info;
    own.n_dpg = 0; /* the file has no groups */
    const gls_tract_output output = {.path = file->path, .grid = grid, .info = &own};
    gls_select_options options = gls_select_options_default();
    options.group = file->group;
    options.n_groups = 1;
    gls_status status = gls_tract_run_writes(run, file->path);
    if (!status) status = gls_selection_create(&options, &file->selection);
    if (!status) status = gls_tract_writer_create(run, &output, sink);
    if (status) return status;
    status = gls_tract_drop_groups(info, sink);
    const gls_sink next = *sink;
    if (!status) status = gls_selection_filter(file->selection, &next, sink);
    if (status) gls_sink_abort(sink);
    return status;
}

gls_status gls_bundle_files_create(gls_tract_run *run, const char *each, const char *const *name, size_t n,
                                   const gls_grid *grid, const gls_tractogram_info *info, gls_bundle_files *files)
{
    gls_status status = GLS_OK;
    files->file = calloc(n + 1, sizeof *files->file);
    files->sink = calloc(n + 1, sizeof *files->sink);
    if (!files->file || !files->sink) return gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        gls_bundle_file *file = &files->file[k];
        file->group[0] = name[k];
        file->path = name_file(each, name[k]);
        status = file->path ? create_file(run, grid, info, file, &files->sink[k]) : gls_no_memory();
        files->n++;
    }
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

gls_status gls_bundle_counts_write(gls_tract_run *run, const char *path, const gls_bundle_count *bundle, size_t n,
                                   uint64_t recognized)
{
    gls_tract_text t;
    gls_status status = gls_tract_text_open(run, path, &t);
    if (status) return status;
    /* leave the first cell of the header empty, as pandas does */
    gls_tract_text_printf(&t, "%cn_streamlines", t.separator);
    gls_tract_text_end_row(&t);
    for (size_t k = 0; k < n; k++) {
        gls_tract_text_field(&t, bundle[k].name);
        gls_tract_text_printf(&t, "%c%" PRIu64, t.separator, bundle[k].count);
        gls_tract_text_end_row(&t);
    }
    gls_tract_text_printf(&t, "Total Recognized%c%" PRIu64, t.separator, recognized);
    gls_tract_text_end_row(&t);
    return gls_tract_text_close(&t, GLS_OK);
}
