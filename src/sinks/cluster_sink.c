/* track --cluster MM or MM:FILE: clusters streamlines while they are tracked; their numbers become a column of the
 * tractogram, and with FILE the centroids a tractogram of their own. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/clusters.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tractogram/tractogram.h"
#include "tractogram/writers.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* State of --cluster. */
typedef struct cluster_state {
    gls_clusters *clusters;
    double threshold;
    /* format of the file of centroids */
    gls_tractogram_format format;
} cluster_state;

/* Parses MM or MM:FILE. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    cluster_state *c = sink->state;
    const char *text = sinks->options->cluster;
    if (!text) return GLS_OK;
    const char *colon = gls_names_first(text, ':');
    char *number = gls_names_copy(text, colon ? (size_t)(colon - text) : strlen(text));
    if (!number) return gls_no_memory();
    const bool ok = gls_parse_double(number, &c->threshold) && c->threshold > 0 && !(colon && !colon[1]);
    free(number);
    if (!ok)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--cluster: \"%s\": must be MM or MM:FILE, with a threshold above 0 mm; inside a name write "
                        "\\: for a colon",
                        text);
    if (sinks->options->shard)
        return gls_fail(GLS_ERR_ARGUMENT, "--cluster: not with --shard: merge the shards, then run 'glslines cluster'");
    if (!colon && !sinks->writes_trx)
        return gls_fail(GLS_ERR_ARGUMENT, "--cluster: without :FILE the clusters are a column of the tractogram, which "
                                          "must be a TRX file; MM:FILE writes the centroids");
    sink->wanted = true;
    gls_status status = colon ? gls_tractogram_format_parse(colon + 1, &c->format) : GLS_OK;
    return status || !colon ? status : gls_sink_writes(sink, sinks, colon + 1);
}

/* Begins without clusters. */
static gls_status open_clusters(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    cluster_state *c = sink->state;
    gls_cluster_options options = gls_cluster_options_default();
    (void)sinks;
    (void)tractogram;
    options.threshold = &c->threshold;
    options.n_thresholds = 1;
    gls_status status = gls_clusters_create(&options, &c->clusters);
    if (!status) *own = gls_clusters_sink(c->clusters);
    return status;
}

/* Adds the column to the tractogram. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    cluster_state *c = sink->state;
    gls_status status = gls_clusters_complete(c->clusters);
    if (status || !writer || !sinks->writes_trx) return status;
    const gls_column column = {GLS_DPS_CLUSTER, GLS_TYPE_UINT32, 1, gls_clusters_members(c->clusters)};
    return gls_clusters_streamlines(c->clusters) > 0 ? gls_tractogram_writer_add_dps(writer, &column) : GLS_OK;
}

/* Writes the centroids. */
static gls_status write_centroids(gls_run_sink *sink, gls_run_sinks *sinks)
{
    cluster_state *c = sink->state;
    gls_tractogram_writer *writer;
    gls_tractogram_options options = gls_tractogram_options_default();
    if (!sink->output) return GLS_OK;
    options.overwrite = sinks->run->force;
    gls_status status = gls_tractogram_writer_create(sink->output, c->format, sinks->grid, &options, &writer);
    if (status) return status;
    gls_writer_join(writer, &sinks->run->group);
    gls_sink to = gls_tractogram_writer_sink(writer);
    status = gls_clusters_append_centroids(c->clusters, &to);
    if (!status) return gls_sink_finish(&to);
    gls_sink_abort(&to);
    return status;
}

/* Adds the number of clusters to the sidecar. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const cluster_state *c = sink->state;
    cJSON *object = cJSON_AddObjectToObject(root, "clusters");
    cJSON_AddNumberToObject(object, "threshold_mm", c->threshold);
    cJSON_AddNumberToObject(object, "clusters", (double)gls_clusters_count(c->clusters));
    cJSON_AddNumberToObject(object, "without_length", (double)gls_clusters_void(c->clusters));
}

static void finish(gls_run_sink *sink)
{
    gls_clusters_destroy(((cluster_state *)sink->state)->clusters);
}

const gls_sink_kind gls_cluster_kinds[] = {{.role = "cluster",
                                            .size = sizeof(cluster_state),
                                            .take = take,
                                            .open = open_clusters,
                                            .complete = complete,
                                            .write = write_centroids,
                                            .describe = describe,
                                            .finish = finish}};
