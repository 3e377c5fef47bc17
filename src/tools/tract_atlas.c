/* `glslines atlas`: makes an atlas of the bundles of several subjects. One pass over all reads, another one writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/log.h>

#include "geometry/atlas.h"
#include "geometry/group_atlas.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "util/allocation.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

/* State of `glslines atlas`. */
typedef struct making {
    gls_tract_run *run;
    const gls_atlas_cli *o;
    const char *const *file; /* n subjects */
    size_t n;
    gls_atlas *subject; /* bundles of each */
    gls_tractogram_read_options reading;
    gls_grid reference; /* of `reading` */
    gls_group *group;
} making;

/* Reads the bundles of all subjects. */
static gls_status collect(making *m)
{
    static const gls_slr_type types[] = {GLS_SLR_AFFINE, GLS_SLR_SIMILARITY, GLS_SLR_RIGID, 0};
    const gls_group_options options = {types[m->o->type], m->o->threshold, m->o->min_share, m->o->seed};
    gls_status status = gls_group_create(&options, m->n, &m->group);
    for (size_t s = 0; s < m->n && !status; s++) {
        status = gls_atlas_list(m->file[s], NULL, 1, &m->subject[s]);
        for (size_t k = 0; k < m->subject[s].n && !status; k++) {
            const gls_atlas_bundle *b = &m->subject[s].bundle[k];
            gls_sink sink = {0};
            for (size_t i = 0; i < k; i++)
                if (strcmp(m->subject[s].bundle[i].name, b->name) == 0)
                    return gls_fail(GLS_ERR_INPUT, "%s: two files have the bundle %s", m->file[s], b->name);
            status = gls_group_sink(m->group, s, b->name, &sink);
            if (!status) status = gls_atlas_read_bundle(b, &m->reading, NULL, &sink);
        }
    }
    return status;
}

/* --- Output. */

/* Passes on the streamlines of a subject that are in the atlas. */
typedef struct passing {
    const gls_group_line *line; /* of the subject */
    size_t at;                  /* number of the next streamline */
    size_t n_bundles;
    gls_column *group; /* one for each bundle */
    const gls_sink *to;
} passing;

/* Function `append` of a sink. */
static gls_status pass(void *user, const gls_streamlines *in)
{
    static const uint8_t is_member[] = {0, 1};
    passing *p = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < in->n && !status; i++) {
        const gls_group_line *line = &p->line[p->at++];
        const uint64_t offset[] = {0, in->offset[i + 1] - in->offset[i]};
        const gls_column columns[] = {{"subjects", GLS_TYPE_UINT32, 1, &line->subjects},
                                      {"size", GLS_TYPE_UINT32, 1, &line->size}};
        if (line->subjects == 0) continue;
        for (size_t k = 0; k < p->n_bundles; k++) p->group[k].data = &is_member[k == line->bundle];
        const gls_streamlines one = {.n = 1,
                                     .offset = offset,
                                     .point = in->point + in->offset[i],
                                     .n_dps = 2,
                                     .dps = columns,
                                     .n_groups = p->n_bundles,
                                     .group = p->group};
        status = gls_sink_append(p->to, &one);
    }
    return status;
}

/* Writes the streamlines of all subjects that are in the atlas, moved to it. */
static gls_status write_lines(making *m, const gls_column *group, size_t n_groups, const gls_sink *to)
{
    gls_status status = GLS_OK;
    passing p = {.n_bundles = n_groups, .to = to};
    p.group = malloc((n_groups + 1) * sizeof *p.group);
    if (!p.group) return gls_no_memory();
    memcpy(p.group, group, n_groups * sizeof *p.group);
    for (size_t s = 0; s < m->n && !status; s++) {
        double map[3][4];
        gls_group_map(m->group, s, map);
        p.line = gls_group_lines(m->group, s);
        p.at = 0;
        const gls_sink sink = {.append = pass, .user = &p};
        for (size_t k = 0; k < m->subject[s].n && !status; k++)
            status = gls_atlas_read_bundle(&m->subject[s].bundle[k], &m->reading, (const double(*)[4])map, &sink);
    }
    free(p.group);
    return status;
}

/* Writes the atlas on the grid of --reference, or of the first subject. */
static gls_status write(making *m)
{
    static const gls_column columns[] = {{.name = "subjects"}, {.name = "size"}};
    const size_t n = gls_group_bundles(m->group);
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    gls_grid grid;
    gls_column *group = calloc(n + 1, sizeof *group);
    uint64_t *size = calloc(n + 1, sizeof *size);
    gls_status status = group && size ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        const gls_group_bundle b = gls_group_bundle_get(m->group, k);
        group[k] = (gls_column){.name = b.name, .type = GLS_TYPE_BOOL, .components = 1};
        size[k] = b.kept;
    }
    const char *first = m->subject[0].bundle[0].path;
    if (!status) status = gls_tractogram_reader_open(first, &m->reading, &reader);
    if (!status) status = gls_tract_grid_choose(m->run, first, gls_tractogram_reader_info(reader), m->o->output, &grid);
    const gls_tractogram_info info = {.n_dps = 2, .dps = columns, .n_groups = n, .group = group, .group_size = size};
    const gls_tract_output output = {.path = m->o->output, .grid = &grid, .info = &info};
    if (!status) status = gls_tract_writer_create(m->run, &output, &sink);
    if (!status) {
        status = write_lines(m, group, n, &sink);
        if (!status)
            status = gls_sink_finish(&sink);
        else
            gls_sink_abort(&sink);
    }
    gls_tractogram_reader_close(reader);
    free(group);
    free(size);
    return status;
}

/* Writes --config. */
static gls_status write_config(making *m)
{
    if (!m->o->config) return GLS_OK;
    cJSON *root = cJSON_CreateObject();
    for (size_t k = 0; k < gls_group_bundles(m->group); k++) {
        const gls_group_bundle b = gls_group_bundle_get(m->group, k);
        char *name = NULL;
        if (b.kept == 0) continue;
        if (gls_asprintf(&name, "%s.trk", b.name) < 0) break;
        /* hundredths of a mm are enough */
        gls_json_double(root, name, rint(b.threshold * 100) / 100);
        free(name);
    }
    gls_status status = gls_json_write(root, m->o->config, m->run->files.force, &m->run->files.group, "\n");
    cJSON_Delete(root);
    return status;
}

/* Adds to the sidecar what was made, and says so. */
static void report(making *m, uint32_t rounds, double before, double after)
{
    uint64_t kept = 0;
    cJSON *list = cJSON_AddObjectToObject(m->run->root, "bundles");
    if (rounds > 0) {
        cJSON *registration = cJSON_AddObjectToObject(m->run->root, "registration");
        gls_json_uint(registration, "rounds", rounds);
        gls_json_double(registration, "distance_before_mm2", before);
        gls_json_double(registration, "distance_after_mm2", after);
    }
    for (size_t k = 0; k < gls_group_bundles(m->group); k++) {
        const gls_group_bundle b = gls_group_bundle_get(m->group, k);
        cJSON *one = cJSON_AddObjectToObject(list, b.name);
        gls_json_uint(one, "subjects", b.subjects);
        gls_json_uint(one, "streamlines", b.streamlines);
        gls_json_uint(one, "kept", b.kept);
        gls_json_double(one, "threshold_mm", b.threshold);
        kept += b.kept;
        if (b.kept == 0)
            gls_log(GLS_LOG_WARNING, "%s: no cluster has streamlines of enough subjects: raise --threshold", b.name);
    }
    gls_tract_run_count(m->run, "kept", kept);
    gls_tract_run_message(m->run, "%zu bundles of %zu subjects, %s streamlines", gls_group_bundles(m->group), m->n,
                          GLS_COUNT(kept));
}

gls_status gls_tract_atlas(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_atlas_cli *o = options;
    making m = {.run = run, .o = o, .file = file, .n = n, .reading = gls_tractogram_read_options_default()};
    gls_tractogram_format format;
    uint32_t rounds;
    double before, after;
    if (!o->output || !*o->output) return gls_fail(GLS_ERR_ARGUMENT, "atlas: needs --output FILE, the atlas to write");
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (!status && format != GLS_FORMAT_TRX)
        status = gls_fail(GLS_ERR_ARGUMENT, "--output %s: must be a TRX file, whose groups are the bundles", o->output);
    m.subject = calloc(n, sizeof *m.subject);
    if (!status && !m.subject) status = gls_no_memory();
    if (!status) status = gls_tract_run_reads_all(run, file, n);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(run->options.reference));
    if (!status) status = gls_tract_run_writes(run, o->output);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->config));
    if (!status) status = gls_tract_read_options(&run->options, &m.reading, &m.reference);
    if (!status) status = collect(&m);
    if (!status) status = gls_group_complete(m.group, &rounds, &before, &after);
    if (!status) status = write(&m);
    if (!status) status = write_config(&m);
    if (!status) report(&m, rounds, before, after);
    gls_group_destroy(m.group);
    for (size_t s = 0; m.subject && s < n; s++) gls_atlas_finish(&m.subject[s]);
    free(m.subject);
    return status;
}
