/* `glslines convert`: writes a tractogram of any program in another format, with its columns and groups. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/summary.h>

#include "sinks/tract_files.h"
#include "sinks/tract_results.h"
#include "streamlines/filter_parts.h"
#include "tractogram/readers.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text_tables.h"

/* State of `glslines convert`. */
typedef struct conversion {
    gls_tract_run *run;
    const gls_convert_cli *o;
    const char *in, *out;
    gls_tract_weights weights;
    gls_tract_table table;
    gls_tract_scalars scalars[GLS_MAX_STRINGS];
    gls_summary *summary;
    gls_filter_counts valid;
} conversion;

/* Warns if track scalars have the timestamp of another TCK file, which MRtrix3 refuses. */
static void compare_stamps(const conversion *c, const gls_tract_scalars *s, const gls_tractogram_info *info)
{
    for (size_t k = 0; k < info->n_header && info->format == GLS_FORMAT_TCK && s->stamp; k++)
        if (strcmp(info->header[k].key, "timestamp") == 0 && strcmp(info->header[k].value, s->stamp) != 0)
            gls_log(GLS_LOG_WARNING, "%s: has the timestamp of another tractogram than %s", s->path, c->in);
}

/* Reads columns from files and lists their names for the output. */
static gls_status read_columns(conversion *c, gls_tract_output *output)
{
    size_t n = 0;
    gls_status status = gls_tract_weights_open(&c->weights, c->o->weights, c->run, c->in, false);
    if (!status && c->o->weights) output->added[n++] = c->weights.column;
    if (!status) status = gls_tract_table_read(&c->table, c->o->dps);
    for (size_t k = 0; k < c->table.n && !status; k++) {
        if (n + 1 >= sizeof output->added / sizeof *output->added)
            status = gls_fail(GLS_ERR_UNSUPPORTED, "%s: has too many columns: at most %zu can be added", c->o->dps,
                              sizeof output->added / sizeof *output->added - 1);
        else
            output->added[n++] = c->table.column[k].name;
    }
    for (int k = 0; k < c->o->tsf.n && !status; k++) {
        status = gls_tract_scalars_open(&c->scalars[k], c->o->tsf.value[k]);
        if (!status) compare_stamps(c, &c->scalars[k], output->info);
        if (!status && n + 1 < sizeof output->added / sizeof *output->added) output->added[n++] = c->scalars[k].name;
    }
    return status;
}

/* Builds the chain of sinks, in this order: adding weights and the columns of --dps and --tsf; dropping streamlines
 * without points or with a coordinate that is not finite; --compress; the writer and the summary. */
static gls_status connect(conversion *c, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_tract_output output = {.path = c->out, .info = info, .fields = c->o->fields, .half_precision = c->o->half};
    gls_tractogram_format format;
    gls_grid grid;
    gls_sink both[2];
    gls_status status = gls_tractogram_format_parse(c->out, &format);
    if (!status && (gls_tract_needs_grid(format) || c->run->options.reference)) {
        status = gls_tract_grid_choose(c->run, c->in, info, c->out, &grid);
        output.grid = &grid;
    }
    if (!status) status = read_columns(c, &output);
    if (!status) status = gls_summary_create(c->run->options.reference ? &grid : NULL, &c->summary);
    if (!status) status = gls_tract_writer_create(c->run, &output, &both[0]);
    if (status) return status;
    both[1] = gls_summary_sink(c->summary);
    status = gls_sink_tee(both, 2, sink);
    if (status) gls_sink_abort(&both[0]);
    gls_sink next = *sink;
    if (!status && c->o->compress > 0) {
        status = gls_filter_compress_create(c->o->compress, c->o->max_segment, &next, sink);
        next = *sink;
    }
    if (!status) status = gls_filter_valid_create(&c->valid, &next, sink);
    for (int k = 0; k < c->o->tsf.n && !status; k++) status = gls_tract_scalars_sink(&c->scalars[k], sink);
    for (size_t k = 0; k < c->table.n && !status; k++) {
        next = *sink;
        status = gls_filter_dps_create_from(c->o->dps, &c->table.column[k], c->table.rows, &next, sink);
    }
    return status ? status : gls_tract_weights_sink(&c->weights, info, c->in, sink);
}

/* Adds counts to the sidecar, and warns of streamlines that are left out or leave the grid. */
static void report(conversion *c)
{
    const gls_summary_result *r = gls_summary_get(c->summary);
    gls_tract_run *run = c->run;
    gls_tract_run_count(run, "read", c->valid.taken);
    gls_tract_run_count(run, "written", c->valid.kept);
    gls_tract_run_count(run, "points", r->points);
    gls_tract_run_count(run, "outside_reference", r->outside);
    gls_tract_warn_left_out(c->in, &c->valid);
    if (r->outside > 0)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " streamlines leave the grid of %s, the first is %" PRIu64, c->in,
                r->outside, run->options.reference, r->first_outside);
    gls_tract_run_message(run, "%s: %" PRIu64 " streamlines, %" PRIu64 " points", c->out, r->streamlines, r->points);
}

gls_status gls_tract_convert(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    conversion c = {.run = run, .o = options, .in = file[0], .out = file[n - 1]};
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_format format;
    gls_sink sink = {0};
    gls_status status = gls_tractogram_format_parse(c.out, &format);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(c.in, run->options.reference, c.o->weights, c.o->dps));
    if (!status) status = gls_tract_run_reads_all(run, c.o->tsf.value, (size_t)c.o->tsf.n);
    if (!status) status = gls_tract_run_writes(run, c.out);
    if (!status) status = gls_tract_open(run, c.in, false, &reader);
    if (!status) status = connect(&c, gls_tractogram_reader_info(reader), &sink);
    status = gls_tract_pump(run, reader, &sink, status);
    if (!status) report(&c);
    gls_tractogram_reader_close(reader);
    gls_summary_destroy(c.summary);
    gls_tract_weights_close(&c.weights);
    gls_tract_table_finish(&c.table);
    for (int k = 0; k < c.o->tsf.n; k++) gls_tract_scalars_close(&c.scalars[k]);
    return status;
}
