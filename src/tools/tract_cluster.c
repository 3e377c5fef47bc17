/* `glslines cluster`: clusters of streamlines. The first pass finds them, the second assigns streamlines anew if that
 * is asked for, the last writes streamlines with their cluster and measures distances from the centroids. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/clusters.h>

#include "record/tract_run.h"
#include "streamlines/filter_groups.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Largest number of groups. */
enum { MAX_GROUPS = 10000 };

/* State of `glslines cluster`. */
typedef struct clustering {
    gls_tract_run *run;
    const gls_cluster_cli *o;
    const char *tracks;
    gls_clusters *clusters;
    /* the order of a file; NULL: none */
    uint64_t *order;
    size_t n_order;
    /* for each streamline its group; for each group its name; number of groups */
    uint32_t *group;
    char **name;
    size_t n_groups;
} clustering;

/* Whether a word of --order is meant, and not a file. */
static bool is_order(const char *text, gls_cluster_order *order)
{
    static const char *const word[] = {"file", "random", "length"};
    for (int k = 0; k < 3; k++)
        if (strcmp(text, word[k]) == 0) {
            *order = (gls_cluster_order)k;
            return true;
        }
    return false;
}

/* Reads the order of a file: whole numbers from 0 on. */
static gls_status read_order(clustering *c)
{
    double *values = NULL;
    size_t rows, columns;
    gls_status status = gls_table_read(c->o->order, &values, &rows, &columns);
    if (status) return status;
    c->n_order = rows * columns;
    c->order = malloc(c->n_order * sizeof *c->order);
    if (!c->order) status = gls_no_memory();
    for (size_t i = 0; i < c->n_order && !status; i++) {
        c->order[i] = (uint64_t)(values[i] >= 0 && values[i] < 0x1p53 ? values[i] : 0);
        if ((double)c->order[i] != values[i])
            status = gls_fail(GLS_ERR_INPUT, "%s: entry %zu is no whole number from 0 on", c->o->order, i + 1);
    }
    free(values);
    return status;
}

/* Makes the clusters, without streamlines, from the options. */
static gls_status create(clustering *c)
{
    const gls_cluster_cli *o = c->o;
    gls_cluster_options options = gls_cluster_options_default();
    const bool several = o->thresholds.n > 0;
    options.method = several ? GLS_CLUSTER_MERGED : GLS_CLUSTER_QUICKBUNDLES;
    options.threshold = several ? o->thresholds.value : &o->threshold;
    options.n_thresholds = several ? (size_t)o->thresholds.n : 1;
    options.points = o->points > 0 ? (uint32_t)o->points : several ? 20 : 12;
    options.reverse = several ? GLS_CLUSTER_REVERSE_COPIED : GLS_CLUSTER_REVERSE_RESAMPLED;
    if (o->max_clusters > 0) options.max_clusters = (uint32_t)o->max_clusters;
    options.order = several ? GLS_CLUSTER_ORDER_RANDOM : GLS_CLUSTER_ORDER_FILE;
    options.seed = o->seed;
    gls_status status = GLS_OK;
    if (o->order && !is_order(o->order, &options.order)) {
        status = read_order(c);
        options.order = GLS_CLUSTER_ORDER_LIST;
        options.list = c->order;
        options.n_list = c->n_order;
    }
    return status ? status : gls_clusters_create(&options, &c->clusters);
}

/* Passes all streamlines to a sink. again: the file was read before. */
static gls_status pass(clustering *c, gls_sink sink, bool again)
{
    gls_tractogram_reader *reader = NULL;
    gls_status status =
        again ? gls_tract_open_again(c->run, c->tracks, &reader) : gls_tract_open(c->run, c->tracks, false, &reader);
    status = gls_tract_pump(c->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Chooses the clusters that become groups, and gives each streamline its group. */
static gls_status choose_groups(clustering *c)
{
    const size_t n = gls_clusters_count(c->clusters);
    if (!c->o->groups && c->o->largest == 0) return GLS_OK;
    if (c->o->largest == 0 && n > MAX_GROUPS)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "--groups: there are %zu clusters, but at most %d groups can be written: give --largest", n,
                        MAX_GROUPS);
    const uint64_t lines = gls_clusters_streamlines(c->clusters);
    gls_sized *s = malloc((n + 1) * sizeof *s);
    uint32_t *place = malloc((n + 1) * sizeof *place);
    c->group = malloc((lines + 1) * sizeof *c->group);
    c->name = calloc(n + 1, sizeof *c->name);
    gls_status status = s && place && c->group && c->name ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        s[k] = (gls_sized){gls_clusters_size(c->clusters, k), (uint32_t)k};
        place[k] = UINT32_MAX;
    }
    if (!status && c->o->largest > 0) qsort(s, n, sizeof *s, gls_sized_compare);
    const size_t wanted = c->o->largest > 0 && c->o->largest < n ? (size_t)c->o->largest : n;
    for (; c->n_groups < wanted && !status; c->n_groups++) {
        place[s[c->n_groups].id] = (uint32_t)c->n_groups;
        if (gls_asprintf(&c->name[c->n_groups], "cluster_%06u", s[c->n_groups].id + 1) < 0) status = gls_no_memory();
    }
    const uint32_t *cluster = gls_clusters_members(c->clusters);
    for (uint64_t i = 0; i < lines && !status; i++)
        c->group[i] = cluster[i] == GLS_CLUSTER_NONE ? UINT32_MAX : place[cluster[i]];
    free(s);
    free(place);
    return status;
}

/* Finds the clusters. */
static gls_status find(clustering *c)
{
    const gls_cluster_cli *o = c->o;
    const double last = o->thresholds.n > 0 ? o->thresholds.value[o->thresholds.n - 1] : o->threshold;
    gls_status status = create(c);
    if (!status) status = pass(c, gls_clusters_sink(c->clusters), false);
    if (!status) status = gls_clusters_complete(c->clusters);
    if (!status && o->reassign) {
        status = pass(c, gls_clusters_reassign(c->clusters, last), true);
        if (!status) status = gls_clusters_complete(c->clusters);
    }
    if (!status && (o->min_size > 1 || o->by_size || o->reassign))
        status = gls_clusters_reduce(c->clusters, o->min_size,
                                     o->by_size ? GLS_CLUSTER_NUMBERS_SIZE : GLS_CLUSTER_NUMBERS_FOUNDED);
    const uint64_t n_void = status ? 0 : gls_clusters_void(c->clusters);
    if (n_void > 0)
        gls_log(GLS_LOG_WARNING, "%s: %s streamlines without length are in no cluster", c->tracks, GLS_COUNT(n_void));
    return status ? status : choose_groups(c);
}

/* Writes the streamlines, and measures distances. */
static gls_status write_tracks(clustering *c)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    gls_filter_counts valid;
    gls_grid grid;
    gls_tractogram_format format = GLS_FORMAT_TCK;
    gls_status status = gls_tract_open_again(c->run, c->tracks, &reader);
    if (!status && c->o->output) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        gls_tract_output output = {
            .path = c->o->output, .info = info, .added = {GLS_DPS_CLUSTER, GLS_DPS_CLUSTER_DISTANCE}};
        status = gls_tractogram_format_parse(c->o->output, &format);
        if (!status && gls_tract_needs_grid(format)) {
            status = gls_tract_grid_choose(c->run, c->tracks, info, c->o->output, &grid);
            output.grid = &grid;
        }
        if (!status) status = gls_tract_writer_create(c->run, &output, &sink);
        gls_sink next = sink;
        if (!status) status = gls_filter_valid_create(&valid, &next, &sink);
        next = sink;
        const gls_line_groups groups = {(const char *const *)c->name,          c->n_groups, c->group,
                                        gls_clusters_streamlines(c->clusters), c->tracks,   NULL};
        if (!status && c->n_groups > 0) status = gls_filter_groups_create(&groups, &next, &sink);
    } else if (!status) {
        status = gls_sink_tee(NULL, 0, &sink);
    }
    const gls_sink next = sink;
    if (!status) status = gls_clusters_filter(c->clusters, &next, &sink);
    status = gls_tract_pump(c->run, reader, &sink, status);
    if (!status && c->o->output) gls_tract_warn_left_out(c->tracks, &valid);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Writes --centroids. */
static gls_status write_centroids(clustering *c)
{
    static const gls_column columns[] = {{.name = "size"}, {.name = "mean_distance"}, {.name = "max_distance"}};
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    gls_grid grid;
    gls_tractogram_format format;
    if (!c->o->centroids) return GLS_OK;
    gls_status status = gls_tractogram_format_parse(c->o->centroids, &format);
    if (!status) status = gls_tract_open_again(c->run, c->tracks, &reader);
    if (!status) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader), own = {.n_dps = 3, .dps = columns};
        gls_tract_output output = {.path = c->o->centroids, .info = &own};
        if (gls_tract_needs_grid(format)) {
            status = gls_tract_grid_choose(c->run, c->tracks, info, c->o->centroids, &grid);
            output.grid = &grid;
        }
        if (!status) status = gls_tract_writer_create(c->run, &output, &sink);
    }
    if (!status) status = gls_clusters_append_centroids(c->clusters, &sink);
    status = gls_tract_pump(c->run, NULL, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Writes --table. */
static gls_status write_table(clustering *c)
{
    static const char *const names[] = {"cluster", "size", "mean_distance", "max_distance"};
    gls_tract_text t;
    if (!c->o->table) return GLS_OK;
    gls_status status = gls_tract_text_open(c->run, c->o->table, &t);
    if (status) return status;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) gls_tract_text_field(&t, names[k]);
    gls_tract_text_end_row(&t);
    for (size_t k = 0; k < gls_clusters_count(c->clusters); k++) {
        gls_tract_text_number(&t, (double)k);
        gls_tract_text_number(&t, (double)gls_clusters_size(c->clusters, k));
        gls_tract_text_number(&t, gls_clusters_mean_distance(c->clusters, k));
        gls_tract_text_number(&t, gls_clusters_max_distance(c->clusters, k));
        gls_tract_text_end_row(&t);
    }
    return gls_tract_text_close(&t, GLS_OK);
}

gls_status gls_tract_cluster(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_cluster_cli *o = options;
    clustering c = {.run = run, .o = o, .tracks = file[0]};
    gls_cluster_order order;
    (void)n;
    if (!o->output && !o->centroids && !o->table)
        return gls_fail(GLS_ERR_ARGUMENT, "cluster: needs an output: --output, --centroids or --table");
    if (!o->output && (o->groups || o->largest > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "cluster: groups need a tractogram: give --output");
    gls_status status = gls_tract_run_reads_all(
        run, GLS_PATHS(c.tracks, run->options.reference, o->order && !is_order(o->order, &order) ? o->order : NULL));
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->output, o->centroids, o->table));
    if (!status) status = find(&c);
    if (!status) status = write_tracks(&c);
    if (!status) status = write_centroids(&c);
    if (!status) status = write_table(&c);
    if (!status) {
        const uint64_t lines = gls_clusters_streamlines(c.clusters), clusters = gls_clusters_count(c.clusters);
        uint64_t members = 0;
        for (size_t k = 0; k < clusters; k++) members += gls_clusters_size(c.clusters, k);
        gls_tract_run_count(run, "streamlines", lines);
        gls_tract_run_count(run, "clusters", clusters);
        gls_tract_run_count(run, "in_clusters", members);
        gls_tract_run_count(run, "without_length", gls_clusters_void(c.clusters));
        gls_tract_run_message(run, "%s clusters of %s streamlines", GLS_COUNT(clusters), GLS_COUNT(lines));
    }
    for (size_t k = 0; k < c.n_groups; k++) free(c.name[k]);
    free(c.name);
    free(c.group);
    free(c.order);
    gls_clusters_destroy(c.clusters);
    return status;
}
