/* `glslines edges`: the streamlines of each edge or region of a connectome, as groups or as files, or one exemplar of
 * each edge in their place. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "streamlines/filter_groups.h"
#include "streamlines/split.h"
#include "tools/edge_exemplars.h"
#include "tools/edge_sets.h"
#include "tools/edges.h"
#include "tools/image_info.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tractogram/tractogram.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

/* values of --files, in the order of its choices */
enum { FILES_AUTO, FILES_GROUPS, FILES_PER_EDGE, FILES_PER_NODE, FILES_SINGLE };

/* Sets that are written in one reading at most, and files that stay free for other uses. */
enum { MAX_SINKS = 256, SPARE_FILES = 16 };

/* State of `glslines edges`. */
typedef struct edging {
    gls_tract_run *run;
    const gls_edges_cli *o;
    const char *tracks, *assignments;
    int files;          /* value of --files, chosen */
    int stem;           /* characters of OUT before its suffix */
    const char *out;    /* the argument OUT */
    const char *suffix; /* of files, such as .tck */
    gls_tractogram_format format;
    gls_edge_choice choice;
    gls_tract_lists lists; /* labels of each streamline of TRACKS */
    gls_edge_sets sets;    /* the streamlines of each edge, each node, or all */
    gls_tract_weights weights;
    gls_edge_exemplars exemplars;
    gls_tract_lists line_lists; /* labels of each exemplar */
    gls_streamlines lines;      /* the exemplars */
    gls_grid grid;
    const gls_grid *has_grid;          /* &grid; NULL: the output needs none */
    gls_tractogram_info own;           /* header of the output */
    bool opened;                       /* TRACKS was read before */
    uint64_t left[GLS_EDGE_N_REASONS]; /* streamlines of TRACKS that are not wanted, by the reason */
} edging;

/* Opens TRACKS, without the warnings of the first time. */
static gls_status open_tracks(edging *e, gls_tractogram_reader **reader)
{
    gls_status status =
        e->opened ? gls_tract_open_again(e->run, e->tracks, reader) : gls_tract_open(e->run, e->tracks, false, reader);
    e->opened = true;
    return status;
}

/* Hands the streamlines of TRACKS with their weights, or the exemplars, to a sink. */
static gls_status feed(edging *e, gls_sink *sink)
{
    gls_tractogram_reader *reader = NULL;
    if (e->lines.n > 0) return gls_tract_pump(e->run, NULL, sink, gls_sink_append(sink, &e->lines));
    gls_status status = open_tracks(e, &reader);
    if (!status) status = gls_tract_weights_sink(&e->weights, gls_tractogram_reader_info(reader), e->tracks, sink);
    status = gls_tract_pump(e->run, reader, sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* --- The labels of each streamline. */

/* Assigns the ends of streamlines to the nearest labels of an image, as `glslines connectome` does. */
static gls_status assign(edging *e)
{
    gls_connectome_options options = gls_connectome_options_default();
    gls_connectome *connectome = NULL;
    gls_labels *labels = NULL;
    options.assigned = gls_tract_lists_add;
    options.user = &e->lists;
    gls_status status = gls_labels_read(e->assignments, &labels);
    if (!status) status = gls_connectome_create(labels, e->assignments, &options, &connectome);
    gls_sink sink = status ? (gls_sink){0} : gls_connectome_sink(connectome);
    if (!status) status = feed(e, &sink);
    if (!status && gls_connectome_get_counts(connectome).empty > 0)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: has streamlines without points: remove them by 'glslines edit'", e->tracks);
    if (!status && e->lists.failed) status = gls_no_memory();
    gls_connectome_destroy(connectome);
    gls_labels_destroy(labels);
    return status;
}

/* --- Exemplars. */

/* Reads TRACKS and makes the exemplars; their labels take the place of those of the streamlines. */
static gls_status make_exemplars(edging *e)
{
    gls_edge_choice edges = e->choice;
    gls_tractogram_reader *reader = NULL;
    edges.kind = GLS_SETS_EDGES;
    gls_status status = gls_edge_sets_make(&e->lists, &edges, &e->sets);
    if (!status) status = open_tracks(e, &reader);
    if (!status)
        status = gls_edge_exemplars_init(&e->exemplars, &e->lists, &e->sets, e->o->exemplars, e->o->step,
                                         e->weights.column, gls_tractogram_reader_info(reader));
    gls_sink sink = gls_edge_exemplars_sink(&e->exemplars);
    if (!status) status = gls_tract_weights_sink(&e->weights, gls_tractogram_reader_info(reader), e->tracks, &sink);
    status = gls_tract_pump(e->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (!status) status = gls_line_labels_require(e->assignments, e->lists.n, e->exemplars.at, true);
    const bool all = e->files != FILES_PER_EDGE && e->files != FILES_PER_NODE;
    memcpy(e->left, e->sets.left, sizeof e->left);
    if (!status) status = gls_edge_exemplars_lines(&e->exemplars, &edges, all, &e->lines, &e->line_lists);
    gls_edge_sets_finish(&e->sets);
    return status;
}

/* --- Files. */

/* Makes *sink, which writes one tractogram without the groups of TRACKS. */
static gls_status create_writer(edging *e, const char *path, gls_sink *sink)
{
    const gls_tract_output output = {
        .path = path, .grid = e->has_grid, .info = &e->own, .added = {"edge", "count", "weights"}};
    gls_status status = gls_tract_run_writes(e->run, path);
    if (!status) status = gls_tract_writer_create(e->run, &output, sink);
    if (status) return status;
    const gls_sink next = *sink;
    status = gls_filter_valid_create(NULL, &next, sink);
    if (status) gls_sink_abort(sink);
    return status;
}

/* Writes one tractogram of all wanted streamlines, with a group for each set. */
static gls_status write_groups(edging *e)
{
    gls_sink sink = {0};
    float *keep = malloc((size_t)(e->sets.rows + 1) * sizeof *keep);
    gls_status status = keep ? GLS_OK : gls_no_memory();
    if (!status && e->sets.n > GLS_MAX_EDGES)
        status = gls_fail(GLS_ERR_UNSUPPORTED,
                          "%s: would have %zu groups, but at most %d are possible: choose regions by --nodes, or "
                          "--files per_edge",
                          e->out, e->sets.n, GLS_MAX_EDGES);
    for (uint64_t i = 0; i < e->sets.rows && !status; i++) keep[i] = e->sets.first[i + 1] > e->sets.first[i];
    if (!status) status = create_writer(e, e->out, &sink);
    if (!status) {
        const gls_sink next = sink;
        status = gls_filter_listed_create(keep, e->sets.rows, NULL, &next, &sink);
    }
    if (!status) status = gls_edge_sets_groups(&e->sets, e->assignments, &sink);
    if (!status && !e->o->exemplars) status = gls_tract_drop_groups(&e->own, &sink);
    if (status)
        gls_sink_abort(&sink);
    else
        status = feed(e, &sink);
    free(keep);
    return status;
}

/* Number of sets that one reading writes: their files take up to half of those that the process may open. */
static size_t sets_at_once(const edging *e)
{
    const size_t each = gls_tract_writer_files(e->format, &e->own, 3), half = gls_file_limit() / 2,
                 n = half > SPARE_FILES ? (half - SPARE_FILES) / each : 0;
    return n < 1 ? 1 : n > MAX_SINKS ? MAX_SINKS : n;
}

/* Writes the files of at most MAX_SINKS sets from `begin` on, in one reading. */
static gls_status write_some(edging *e, size_t begin, size_t n)
{
    const gls_line_sets sets = {e->sets.first, e->sets.of, e->sets.rows, e->assignments};
    gls_sink sink[MAX_SINKS], split = {0};
    char *path[MAX_SINKS] = {NULL};
    size_t made = 0;
    gls_status status = GLS_OK;
    for (; made < n && !status; made++) {
        sink[made] = (gls_sink){0};
        const char *name = e->files == FILES_SINGLE ? "" : e->sets.name[begin + made];
        status = gls_asprintf(&path[made], "%.*s%s%s", e->stem, e->out, name, e->suffix) < 0
                     ? gls_no_memory()
                     : create_writer(e, path[made], &sink[made]);
    }
    if (!status) status = gls_split_create(&sets, (uint32_t)begin, sink, n, &split);
    for (size_t k = 0; k < made && status; k++) gls_sink_abort(&sink[k]);
    if (!status && !e->o->exemplars) status = gls_tract_drop_groups(&e->own, &split);
    if (status)
        gls_sink_abort(&split);
    else
        status = feed(e, &split);
    for (size_t k = 0; k < made; k++) free(path[k]);
    return status;
}

/* Returns the error that no streamline is wanted, with the reasons. */
static gls_status fail_empty(const edging *e)
{
    static const char *const reason[] = {
        [GLS_EDGE_UNASSIGNED] = "an end without a region (--keep-unassigned)",
        [GLS_EDGE_SELF] = "both ends in the same region (--keep-self)",
        [GLS_EDGE_OUTSIDE] = "no end in a region of --nodes",
        [GLS_EDGE_NOT_ALL] = "an end outside of the regions of --nodes (--exclusive)",
    };
    gls_text text = {.data = NULL};
    for (int k = 0; k < GLS_EDGE_N_REASONS; k++)
        if (e->left[k] > 0)
            gls_text_printf(&text, "%s%" PRIu64 " ha%s %s", text.length > 0 ? ", " : "", e->left[k],
                            e->left[k] == 1 ? "s" : "ve", reason[k]);
    const char *why = text.data ? text.data : "it has none";
    gls_status status = gls_fail(GLS_ERR_EMPTY, "%s: no streamline is wanted: %s", e->tracks, why);
    gls_text_finish(&text);
    return status;
}

/* Sorts the streamlines, or the exemplars, and writes the files. */
static gls_status write_files(edging *e)
{
    const gls_tract_lists *lists = e->o->exemplars ? &e->line_lists : &e->lists;
    gls_tractogram_reader *reader = NULL;
    gls_status status = gls_edge_sets_make(lists, &e->choice, &e->sets);
    if (!e->o->exemplars) memcpy(e->left, e->sets.left, sizeof e->left);
    if (!status && e->sets.n == 0) status = fail_empty(e);
    if (!status) status = open_tracks(e, &reader);
    if (!status) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        e->own = *info;
        e->own.n_dpg = 0; /* the groups are others */
        if (e->o->exemplars) e->own.n_dps = e->own.n_dpv = e->own.n_header = 0;
        if (gls_tract_needs_grid(e->format) || info->has_grid || e->run->options.reference) {
            status = gls_tract_grid_choose(e->run, e->tracks, info, e->out, &e->grid);
            e->has_grid = &e->grid;
        }
    }
    if (!status && e->files == FILES_GROUPS) status = write_groups(e);
    const size_t at_once = sets_at_once(e);
    for (size_t k = 0; k < e->sets.n && !status && e->files != FILES_GROUPS; k += at_once)
        status = write_some(e, k, e->sets.n - k < at_once ? e->sets.n - k : at_once);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Chooses --files and how files are named. */
static gls_status check(edging *e)
{
    const gls_edges_cli *o = e->o;
    const char *dot = strrchr(gls_file_name(e->out), '.');
    const bool named = gls_tractogram_is_name(e->out) && dot;
    e->suffix = named ? dot : ".tck";
    e->format = GLS_FORMAT_TCK;
    gls_status status = named ? gls_tractogram_format_parse(e->out, &e->format) : GLS_OK;
    if (status) return status;
    e->stem = (int)(named ? (size_t)(dot - e->out) : strlen(e->out));
    const bool is_trx = strcmp(e->suffix, ".trx") == 0;
    e->files = o->files != FILES_AUTO ? o->files : is_trx ? FILES_GROUPS : FILES_PER_EDGE;
    if (e->files == FILES_GROUPS && !is_trx)
        return gls_fail(GLS_ERR_ARGUMENT, "--files groups: only TRX has groups: name OUT with .trx, not %s", e->out);
    if (o->exclusive && !o->nodes) return gls_fail(GLS_ERR_ARGUMENT, "--exclusive: needs --nodes");
    if (o->step > 0 && !o->exemplars) return gls_fail(GLS_ERR_ARGUMENT, "--step: needs --exemplars");
    e->choice = (gls_edge_choice){.kind = e->files == FILES_SINGLE     ? GLS_SETS_ONE
                                          : e->files == FILES_PER_NODE ? GLS_SETS_NODES
                                                                       : GLS_SETS_EDGES,
                                  .exclusive = o->exclusive,
                                  .keep_self = o->keep_self,
                                  .keep_unassigned = o->keep_unassigned,
                                  .min_count = 1};
    if (o->nodes) status = gls_label_ranges_parse(o->nodes, 0, &e->choice.nodes);
    if (status == GLS_ERR_ARGUMENT)
        return gls_fail(status, "--nodes %s: must be labels and ranges of labels, as in 1,5-9", o->nodes);
    return status;
}

gls_status gls_tract_edges(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_edges_cli *o = options;
    edging e = {.run = run, .o = o, .tracks = file[0], .assignments = file[1], .out = file[n - 1]};
    gls_status status = check(&e);
    if (!status)
        status = gls_tract_run_reads_all(run, GLS_PATHS(e.tracks, e.assignments, gls_tract_weights_file(o->weights),
                                                        o->exemplars, run->options.reference));
    if (!status) status = gls_tract_weights_open(&e.weights, o->weights, run, e.tracks, false);
    if (!status) status = gls_image_is_name(e.assignments) ? assign(&e) : gls_tract_lists_read(&e.lists, e.assignments);
    if (!status && o->exemplars) status = make_exemplars(&e);
    if (!status) status = write_files(&e);
    if (!status) {
        uint64_t wanted = 0;
        const bool files = e.files == FILES_PER_EDGE || e.files == FILES_PER_NODE;
        const char *what = e.files == FILES_PER_NODE ? "regions" : "edges";
        for (uint64_t i = 0; i < e.sets.rows; i++) wanted += e.sets.first[i + 1] > e.sets.first[i];
        gls_tract_run_count(run, "read", e.lists.n);
        gls_tract_run_count(run, o->exemplars ? "exemplars" : "streamlines", wanted);
        if (e.files != FILES_SINGLE) gls_tract_run_count(run, what, e.sets.n);
        gls_tract_run_message(run, "%s: %" PRIu64 " %s of %" PRIu64 " streamlines%s%s", e.out, wanted,
                              o->exemplars ? "exemplars" : "streamlines", e.lists.n,
                              files ? ", a file for each of the " : "", files ? what : "");
    }
    gls_tract_lists_finish(&e.lists);
    gls_tract_lists_finish(&e.line_lists);
    gls_edge_sets_finish(&e.sets);
    gls_edge_exemplars_finish(&e.exemplars);
    gls_label_ranges_finish(&e.choice.nodes);
    gls_tract_weights_close(&e.weights);
    return status;
}
