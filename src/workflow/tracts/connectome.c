/* glslines connectome: how many streamlines join each pair of regions. */
#include <glslines/connectome.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/grouped.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/json.h"
#include "workflow/tracts/tracts.h"

typedef struct connecting {
    gls_tract_job *job;
    const gls_connectome_cli *o;
    const char *const *file;
    gls_connectome *connectome;
    gls_tract_weights weights, scales;
    gls_tract_text assignments;
} connecting;

static void assigned(void *user, int32_t first, int32_t last)
{
    gls_tract_text_printf(&((connecting *)user)->assignments, "%d %d\n", first, last);
}

static gls_status create(connecting *c)
{
    const gls_connectome_cli *o = c->o;
    gls_image *labels = NULL;
    gls_connectome_options options = {.size = sizeof options,
                                      .assignment = (gls_assignment)o->assign,
                                      .radius = o->radius,
                                      .scale = (gls_connectome_scale)o->scale,
                                      .stat = (gls_connectome_stat)o->stat,
                                      .symmetric = o->symmetric,
                                      .zero_diagonal = o->zero_diagonal,
                                      .keep_unassigned = o->keep_unassigned,
                                      .weights = c->weights.column,
                                      .scale_column = c->scales.column};
    if (o->assignments) {
        options.assigned = assigned;
        options.user = c;
    }
    gls_status status = gls_image_read(c->file[1], GLS_IMAGE_3D, &labels);
    if (!status) status = gls_connectome_create(labels, c->file[1], &options, &c->connectome);
    gls_image_destroy(labels);
    return status;
}

static gls_status connect(connecting *c)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    const gls_connectome_cli *o = c->o;
    gls_status status = gls_tract_weights_open(&c->weights, o->weights, c->job, c->file[0], false);
    if (!status) status = gls_tract_weights_open(&c->scales, o->scale_file, c->job, c->file[0], false);
    if (!status && c->scales.values) c->scales.column = "scale of streamlines";
    if (!status) status = create(c);
    if (!status && o->assignments) {
        status = gls_tract_text_open(c->job, o->assignments, &c->assignments);
        if (!status)
            gls_tract_text_printf(&c->assignments, "# labels of the two ends of each streamline, 0 for none\n");
    }
    if (!status) status = gls_tract_open(c->job, c->file[0], false, &reader);
    if (!status) {
        sink = gls_connectome_sink(c->connectome);
        status = gls_tract_weights_sink(&c->weights, &sink);
        if (!status) status = gls_tract_weights_sink(&c->scales, &sink);
    }
    status = gls_tract_pump(c->job, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    status = gls_tract_text_close(&c->assignments, status);
    gls_tract_weights_close(&c->weights);
    gls_tract_weights_close(&c->scales);
    return status;
}

static gls_status write_nodes(connecting *c)
{
    gls_tract_text t;
    if (!c->o->nodes) return GLS_OK;
    gls_status status = gls_tract_text_open(c->job, c->o->nodes, &t);
    if (status) return status;
    const char *const names[] = {"index", "label", "voxels", "volume_mm3", "x", "y", "z", "ends"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (k > 0) gls_tract_text_printf(&t, "%c", t.separator);
        gls_tract_text_printf(&t, "%s", names[k]);
    }
    gls_tract_text_printf(&t, "\n");
    for (size_t i = 0; i < gls_connectome_nodes(c->connectome, NULL); i++) {
        gls_connectome_node n = gls_connectome_get_node(c->connectome, i);
        const double value[] = {(double)i + 1, n.label,       (double)n.voxels, n.volume,
                                n.centroid[0], n.centroid[1], n.centroid[2],    (double)n.ends};
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) gls_tract_text_number(&t, value[k]);
        gls_tract_text_printf(&t, "\n");
    }
    return gls_tract_text_close(&t, GLS_OK);
}

static void report(connecting *c)
{
    const int32_t *label;
    gls_tract_job *job = c->job;
    gls_connectome_counts k = gls_connectome_get_counts(c->connectome);
    size_t n = gls_connectome_nodes(c->connectome, &label);
    gls_tract_job_count(job, "read", k.streamlines);
    gls_tract_job_count(job, "joined", k.joined);
    gls_tract_job_count(job, "unassigned_ends", k.unassigned);
    gls_tract_job_count(job, "without_points", k.empty);
    cJSON *labels = cJSON_AddArrayToObject(job->root, "labels");
    for (size_t i = 0; i < n; i++) cJSON_AddItemToArray(labels, cJSON_CreateNumber(label[i]));
    if (k.unassigned > 0.6 * (double)(k.streamlines - k.empty))
        gls_log(GLS_LOG_WARNING,
                "%s: %" PRIu64 " of %" PRIu64 " ends have no region: are %s and the tractogram in one space?",
                c->file[0], k.unassigned, 2 * (k.streamlines - k.empty), c->file[1]);
    if (c->o->weights && c->o->stat == GLS_STAT_MEAN && !c->o->scale && !c->o->scale_file)
        gls_log(GLS_LOG_WARNING,
                "--weights with --stat-edge mean and no scale: every cell is 1; a number such as mean FA "
                "belongs into --scale-file");
    gls_tract_job_say(job, "%s: %zu regions, %" PRIu64 " of %" PRIu64 " streamlines join two", c->file[2], n, k.joined,
                      k.streamlines);
}

gls_status gls_tract_connectome(gls_tract_job *job, const void *options, const char *const *file, size_t n)
{
    const gls_connectome_cli *o = options;
    connecting c = {.job = job, .o = o, .file = file};
    const char *const inputs[] = {file[0], file[1], gls_tract_weights_file(o->weights),
                                  gls_tract_weights_file(o->scale_file), job->options.reference};
    const char *const outputs[] = {file[n - 1], o->nodes, o->assignments};
    gls_status status = GLS_OK;
    for (int k = 0; k < 5 && !status; k++) status = gls_tract_job_reads(job, inputs[k]);
    for (int k = 0; k < 3 && !status; k++) status = gls_tract_job_writes(job, outputs[k]);
    if (!status) status = connect(&c);
    if (!status) status = gls_connectome_write_grouped(c.connectome, file[2], job->options.force, &job->group);
    if (!status) status = write_nodes(&c);
    if (!status) report(&c);
    gls_connectome_destroy(c.connectome);
    return status;
}
