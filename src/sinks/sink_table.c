/* The table of sinks, and the functions of a run that go over all wanted sinks. */
#include "sinks/sink_files.h"
#include "sinks/sink_pair.h"
#include "sinks/sink_table.h"
#include "sinks/sinks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tracts/bundle_parts.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* The kinds of one file. */
typedef struct kinds_row {
    const gls_sink_kind *kind;
    size_t n;
} kinds_row;
#define ENTRY(name, n) {gls_##name##_kinds, n},
static const kinds_row rows[] = {GLS_SINK_KINDS(ENTRY)};

/* Goes over the wanted sinks whose kind has this function. */
#define FOR_EACH(type, one, sinks, function)                                     \
    for (type *one = (sinks)->sink, *end_ = one + (sinks)->n; one < end_; one++) \
        if (one->wanted && one->kind->function)

/* --- Before the run. */

/* Adds a sink of a kind, which says whether the options want it. */
static gls_status take(gls_run_sinks *sinks, const gls_sink_kind *kind)
{
    gls_run_sink *sink = &sinks->sink[sinks->n];
    *sink = (gls_run_sink){.kind = kind, .state = calloc(1, kind->size)};
    if (!sink->state) return gls_no_memory();
    sinks->n++;
    return kind->take(sink, sinks);
}

/* --distance-correction needs a result that sums lengths. */
static gls_status check_lengths(const gls_run_sinks *sinks)
{
    gls_text names = {0};
    char name[64];
    bool any = false;
    for (size_t i = 0; i < sinks->n; i++) {
        const gls_run_sink *sink = &sinks->sink[i];
        any |= sink->wanted && sink->kind->by_length;
        if (sink->kind->by_length)
            gls_text_printf(&names, "%s--%s", names.length > 0 ? ", " : "", gls_sink_option(sink, name));
    }
    gls_status status =
        any || !sinks->options->distance_correction
            ? GLS_OK
            : gls_fail(GLS_ERR_ARGUMENT, "--distance-correction: needs one of %s", names.data ? names.data : "");
    gls_text_finish(&names);
    return status;
}

gls_status gls_sinks_take(gls_run_sinks *sinks)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < rows[i].n && !status; k++) status = take(sinks, &rows[i].kind[k]);
    return status ? status : check_lengths(sinks);
}

/* Requires an input to be readable: a file, or where the sink takes them, a folder. */
static gls_status check_input(const gls_run_sink *sink, const char *path)
{
    struct stat info;
    const bool folder = sink->kind->takes_folders && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return gls_input_file_check(&(gls_input_file){.path = path, .folder = folder});
}

/* Whether a path is that of the input that the run makes later. */
static bool is_awaited(const gls_run_sinks *sinks, const char *path)
{
    return sinks->awaited && strcmp(path, sinks->awaited) == 0;
}

gls_status gls_sinks_name_inputs(gls_run_sinks *sinks)
{
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, take)
    {
        for (size_t i = 0; i < sink->n_inputs && !status; i++)
            if (!is_awaited(sinks, sink->input[i])) status = check_input(sink, sink->input[i]);
        if (!status) status = gls_run_reads_all(sinks->run, (const char *const *)sink->input, sink->n_inputs);
    }
    return status;
}

gls_status gls_sinks_prepare(gls_run_sinks *sinks)
{
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, prepare)
    {
        size_t n = 0;
        bool waits = false;
        for (size_t i = 0; i < sink->n_inputs; i++) waits = waits || is_awaited(sinks, sink->input[i]);
        if (waits || sink->prepared) continue;
        sink->prepared = true;
        /* read the rules first, because they name further files that are inputs of the run */
        if (!status) status = sink->kind->prepare(sink, sinks);
        const char *const *file = !status && sink->bundles ? gls_bundles_files(sink->bundles, &n) : NULL;
        if (!status) status = gls_run_reads_all(sinks->run, file, n);
    }
    return status;
}

/* --- Identity. */

/* Hash of an input file, which must be readable. */
static gls_status hash_file(const char *path, uint64_t *hash)
{
    gls_status status = gls_input_file_check(&(gls_input_file){.path = path});
    return status ? status : gls_input_hash(path, hash);
}

/* Hashes what rules of bundles name. A file or a TRX folder counts by its contents, and by the labels behind it in
 * FILE:LABELS; the name of a file that does not exist counts by its text. Spheres are in the rules themselves.
 * GLS_ERR_INPUT: a pipe, which can be read only once. */
static gls_status hash_named(const gls_bundles *bundles, uint64_t *hash)
{
    size_t n = 0;
    const char *const *text = bundles ? gls_bundles_files(bundles, &n) : NULL;
    gls_status status = GLS_OK;
    *hash = n;
    for (size_t i = 0; i < n && !status; i++) {
        /* the text is FILE or FILE:LABELS */
        struct stat info;
        char *file = gls_file_named(text[i]);
        const bool exists = file && stat(file, &info) == 0;
        const char *rest = file ? text[i] + strlen(file) : text[i]; /* the labels; the whole text if no file is named */
        uint64_t part[3] = {*hash, gls_hash(rest, strlen(rest)), 0};
        if (exists) status = S_ISDIR(info.st_mode) ? gls_input_hash(file, &part[2]) : hash_file(file, &part[2]);
        free(file);
        *hash = gls_hash(part, sizeof part);
    }
    return status;
}

gls_status gls_sinks_hash(const gls_run_sinks *sinks, uint64_t *hash)
{
    *hash = 0;
    FOR_EACH(const gls_run_sink, sink, sinks, take)
    {
        /* hash the order, the role, the number of files, whether the result goes into a file, and the sink's own
         * options */
        uint64_t part[6] = {*hash, gls_hash(sink->kind->role, strlen(sink->kind->role)), sink->n_inputs,
                            sink->output != NULL, sink->kind->choice ? sink->kind->choice(sink) : 0};
        if (sink->n_inputs == 0) continue;
        gls_status status = hash_named(sink->bundles, &part[5]);
        *hash = gls_hash(part, sizeof part);
        for (size_t i = 0; i < sink->n_inputs && !status; i++) {
            uint64_t both[2] = {*hash, 0};
            status = check_input(sink, sink->input[i]);
            if (!status) status = gls_input_hash(sink->input[i], &both[1]);
            *hash = gls_hash(both, sizeof both);
        }
        if (status) return status;
    }
    return GLS_OK;
}

/* --- The run. */

gls_status gls_sinks_begin(gls_run_sinks *sinks)
{
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, begin)
    if (!status) status = sink->kind->begin(sink, sinks);
    return status;
}

gls_status gls_sinks_open(gls_run_sinks *sinks, gls_sink *tractogram)
{
    gls_sink own[GLS_MAX_SINKS + 1] = {{0}}, results = {0};
    size_t n = 0;
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, open)
    {
        if (!status) status = sink->kind->open(sink, sinks, tractogram, &own[n]);
        n += own[n].append != NULL;
    }
    /* results: one sink that feeds all results; without a tractogram the run needs it even if no result does */
    if (!status && (n > 0 || !tractogram->append)) status = gls_sink_tee(own, n, &results);
    for (size_t i = 0; i < n && status; i++) gls_sink_abort(&own[i]);
    if (status || !results.append) return status;
    /* without a tractogram the results run on this thread */
    if (!tractogram->append)
        *tractogram = results;
    else
        status = gls_sink_pair(tractogram, &results, tractogram);
    if (status) gls_sink_abort(&results);
    return status;
}

bool gls_sinks_need_points(const gls_run_sinks *sinks, const gls_grid *tracked)
{
    bool need = false;
    FOR_EACH(const gls_run_sink, sink, sinks, take)
    need |= !sink->kind->needs_points || sink->kind->needs_points(sink, tracked);
    return need;
}

gls_status gls_sinks_complete(gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, complete)
    if (!status) status = sink->kind->complete(sink, sinks, writer);
    return status;
}

gls_status gls_sinks_write(gls_run_sinks *sinks)
{
    gls_status status = GLS_OK;
    FOR_EACH(gls_run_sink, sink, sinks, write)
    if (!status) status = sink->kind->write(sink, sinks);
    return status;
}

void gls_sinks_describe(const gls_run_sinks *sinks, struct cJSON *root)
{
    FOR_EACH(const gls_run_sink, sink, sinks, describe)
    sink->kind->describe(sink, root);
}

void gls_sinks_finish(gls_run_sinks *sinks)
{
    for (size_t i = 0; i < sinks->n; i++) {
        gls_run_sink *sink = &sinks->sink[i];
        if (sink->wanted && sink->kind->finish) sink->kind->finish(sink);
        for (size_t k = 0; k < sink->n_inputs; k++) free(sink->input[k]);
        free(sink->output);
        free(sink->state);
    }
    sinks->n = 0;
}
