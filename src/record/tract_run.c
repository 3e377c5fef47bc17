/* One run of a command on tractograms: inputs, outputs, sidecar, readers. */
#include "record/tract_run.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "image/reorient.h"
#include "record/sidecar.h"
#include "tracts/bundle_parts.h"
#include "tracts/other_space.h"
#include "util/clock.h"
#include "util/json_text.h"

#define OPTION_OWNER gls_tract_common
const gls_option gls_tract_input_rows[] = {
    GLS_TEXT(
        "Files", reference, "reference", "IMAGE", "none",
        "Image on whose grid the streamlines lie, for TRK files without an affine, and for tractograms without a grid "
        "where a grid is needed."),
    GLS_CHOICE(
        "Files", vtk_space, "vtk-space", "stated|ras|lps",
        "Axes of VTK files. stated: as SPACE=RAS or SPACE=LPS in their second line says; files without this line are "
        "refused."),
    GLS_FLAG("Files", recover, "recover",
             "If a TCK file is truncated, leave out its last streamline instead of refusing the file."),
    {.name = NULL},
};
const gls_option gls_tract_force_row[] = {
    GLS_FLAG("Files", force, "force", "Overwrite existing output files."),
    {.name = NULL},
};

void gls_tract_run_init(gls_tract_run *run, const gls_tract_common *options, cJSON *root)
{
    *run = (gls_tract_run){.options = *options, .root = root};
    gls_run_begin(&run->files, options->force);
    /* make the member "counts" of the sidecar now; commands add their counts to it one by one */
    run->counts = cJSON_CreateObject();
    cJSON_AddItemToObject(root, "counts", run->counts);
}

void gls_tract_run_lists_input(gls_tract_run *run, const char *path)
{
    struct stat info;
    cJSON *list = gls_json_at(run->root, "inputs");
    if (!list) list = cJSON_AddArrayToObject(run->root, "inputs");
    cJSON *file = cJSON_CreateObject();
    /* record path and size only: hashes of large tractograms take long, and no command skips a run by them */
    cJSON_AddStringToObject(file, "path", path);
    if (stat(path, &info) == 0) gls_json_uint(file, "bytes", (uint64_t)info.st_size);
    cJSON_AddItemToArray(list, file);
}

gls_status gls_tract_run_reads(gls_tract_run *run, const char *path)
{
    gls_status status = gls_run_reads(&run->files, path);
    if (!status && path) gls_tract_run_lists_input(run, path);
    return status;
}

gls_status gls_tract_run_reads_all(gls_tract_run *run, const char *const *path, size_t n)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) status = gls_tract_run_reads(run, path[i]);
    return status;
}

void gls_tract_run_lists_output(gls_tract_run *run, const char *path)
{
    cJSON *list = gls_json_at(run->root, "outputs");
    if (!list) list = cJSON_AddArrayToObject(run->root, "outputs");
    cJSON_AddItemToArray(list, cJSON_CreateString(path));
}

gls_status gls_tract_run_writes_json(gls_tract_run *run, const char *path)
{
    if (!path || !*path) return GLS_OK;
    return gls_run_writes(&run->files, path);
}

gls_status gls_tract_run_store_json(gls_tract_run *run, const char *path)
{
    if (!path) return GLS_OK;
    if (*path) return gls_json_write(run->root, path, run->files.force, &run->files.group, "\n");
    /* "" is standard output: JSON takes the place of the text */
    char *text = gls_json_print(run->root);
    free(run->printed);
    gls_status status = text && gls_asprintf(&run->printed, "%s\n", text) >= 0 ? GLS_OK : gls_no_memory();
    if (status) run->printed = NULL;
    free(text);
    return status;
}

gls_status gls_tract_run_writes(gls_tract_run *run, const char *path)
{
    if (!path) return GLS_OK;
    gls_status status = gls_run_writes(&run->files, path);
    if (status) return status;
    gls_tract_run_lists_output(run, path);
    /* the first output gives its name to the sidecar */
    if (run->files.sidecar) return GLS_OK;
    char *sidecar = gls_sidecar_name(path);
    /* the sidecar must not be an input or another output either */
    status = sidecar ? gls_run_writes_sidecar(&run->files, sidecar, "") : gls_no_memory();
    free(sidecar);
    return status;
}

gls_status gls_tract_run_writes_all(gls_tract_run *run, const char *const *path, size_t n)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) status = gls_tract_run_writes(run, path[i]);
    return status;
}

gls_status gls_tract_text_open(gls_tract_run *run, const char *path, gls_tract_text *text)
{
    return gls_tract_text_create(path, run->files.force, &run->files.group, text);
}

void gls_tract_run_count(gls_tract_run *run, const char *key, uint64_t n)
{
    gls_json_uint(run->counts, key, n);
}

void gls_tract_run_message(gls_tract_run *run, const char *format, ...)
{
    va_list args;
    free(run->message);
    va_start(args, format);
    gls_vasprintf(&run->message, format, args);
    va_end(args);
}

gls_status gls_tract_run_commit(gls_tract_run *run)
{
    /* a signal may have come after the last streamline */
    if (run->go_on && !run->go_on(NULL, 1))
        return run->files.n_outputs == 0
                   ? gls_fail(GLS_ERR_CANCELLED, "interrupted")
                   : gls_fail(GLS_ERR_CANCELLED, "interrupted: %s was not written", run->files.output[0]);
    /* round to milliseconds */
    gls_json_double(gls_json_object_at(run->root, "seconds"), "total",
                    round(1e3 * (gls_clock_seconds() - run->files.begun)) / 1e3);
    gls_status status = gls_run_commit(&run->files, run->root);
    if (!status && run->message) gls_log(GLS_LOG_INFO, "%s", run->message);
    return status;
}

void gls_tract_run_finish(gls_tract_run *run)
{
    gls_run_end(&run->files);
    cJSON_Delete(run->root);
    free(run->message);
    free(run->printed);
    *run = (gls_tract_run){.root = NULL};
}

gls_status gls_tract_bundles_read(gls_tract_run *run, const char *path, const gls_bundles_options *options,
                                  const gls_transform *space, gls_bundles **bundles)
{
    size_t n = 0;
    gls_status status = gls_bundles_read_in(path, options, space, bundles);
    /* files that rules name are inputs, which outputs must not replace */
    const char *const *file = status ? NULL : gls_bundles_files(*bundles, &n);
    return status ? status : gls_run_reads_all(&run->files, file, n);
}

gls_status gls_tract_grid_choose(const gls_tract_run *run, const char *path, const gls_tractogram_info *info,
                                 const char *output, gls_grid *grid)
{
    /* --reference wins over the grid of the file */
    if (run->options.reference) return gls_grid_read(run->options.reference, grid);
    if (!info->has_grid)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid, and %s needs one: name an image with --reference", path,
                        output);
    *grid = info->grid;
    return GLS_OK;
}

gls_status gls_tract_read_options(const gls_tract_common *common, gls_tractogram_read_options *options,
                                  gls_grid *reference)
{
    options->vtk_space = (gls_vtk_space)common->vtk_space;
    options->recover = common->recover;
    if (!common->reference) return GLS_OK;
    options->reference = reference;
    return gls_grid_read(common->reference, reference);
}

/* Opens a tractogram with the options that all commands share. */
static gls_status open_with(const gls_tract_run *run, const char *path, gls_tractogram_read_options options,
                            gls_tractogram_reader **reader)
{
    gls_grid reference;
    gls_status status = gls_tract_read_options(&run->options, &options, &reference);
    return status ? status : gls_tractogram_reader_open(path, &options, reader);
}

gls_status gls_tract_open(const gls_tract_run *run, const char *path, bool allow_invalid,
                          gls_tractogram_reader **reader)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    options.allow_invalid = allow_invalid;
    return open_with(run, path, options, reader);
}

gls_status gls_tract_open_again(const gls_tract_run *run, const char *path, gls_tractogram_reader **reader)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    options.quiet = true;
    return open_with(run, path, options, reader);
}

gls_status gls_tract_append(const gls_tract_run *run, gls_tractogram_reader *reader, const gls_sink *sink)
{
    gls_status status = gls_tractogram_pump(reader, sink, run->go_on, NULL);
    if (status != GLS_ERR_CANCELLED || run->files.n_outputs == 0) return status;
    return gls_fail(status, "interrupted: %s was not written", run->files.output[0]);
}

gls_status gls_tract_pump(const gls_tract_run *run, gls_tractogram_reader *reader, gls_sink *sink, gls_status status)
{
    if (!status && reader) status = gls_tract_append(run, reader, sink);
    if (!status) return gls_sink_finish(sink);
    gls_sink_abort(sink);
    return status;
}
