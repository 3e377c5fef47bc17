/* track --output-seeds: a table of the seeds of all streamlines that are kept. */
#include <inttypes.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "util/status.h"
#include "util/text.h"

/* bytes of text that are collected before they are written */
#define PIECE 65536

/* State of --output-seeds. */
typedef struct seeds_state {
    /* the file of the table */
    gls_output output;
    gls_text text; /* rows not written yet */
    uint64_t n;    /* number of streamlines so far */
} seeds_state;

static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    if (!sinks->options->output_seeds) return GLS_OK;
    ((seeds_state *)sink->state)->output = GLS_OUTPUT_NONE;
    sink->wanted = true;
    return gls_sink_writes(sink, sinks, sinks->options->output_seeds);
}

/* Writes the collected rows and empties the text. */
static gls_status flush(seeds_state *t)
{
    if (t->text.failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for seeds");
    gls_status status = t->text.length > 0 ? gls_output_write(&t->output, t->text.data, t->text.length) : GLS_OK;
    t->text.length = 0;
    return status;
}

/* Appends a row for each streamline: its index, the index of its point nearest to the seed, and the position of the
 * seed, world mm. */
static gls_status append(void *user, const gls_streamlines *s)
{
    seeds_state *t = user;
    const gls_column *column = gls_column_find(s->dps, s->n_dps, GLS_DPS_SEEDS);
    /* tracked streamlines always have the column of seeds; without it no row is written */
    const float(*seed)[3] = column ? column->data : NULL;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < s->n && seed && !status; i++) {
        gls_text_printf(&t->text, "%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g,\n", t->n++,
                        gls_seed_point(s, i, seed[i]) - s->offset[i], (double)seed[i][0], (double)seed[i][1],
                        (double)seed[i][2]);
        if (t->text.length >= PIECE) status = flush(t);
    }
    return status;
}

/* Creates the file of the table; the header is that of MRtrix3's -output_seeds. */
static gls_status open_table(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    seeds_state *t = sink->state;
    (void)tractogram;
    gls_status status = gls_output_create(sink->output, sinks->run->force, &t->output);
    t->output.group = &sinks->run->group;
    gls_text_puts(&t->text, "#Track_index,Seed_index,Pos_x,Pos_y,Pos_z,\n");
    *own = (gls_sink){.append = append, .user = t};
    return status;
}

/* Writes what is still buffered and gives the file its name. */
static gls_status write_table(gls_run_sink *sink, gls_run_sinks *sinks)
{
    seeds_state *t = sink->state;
    (void)sinks;
    gls_status status = flush(t);
    return status ? status : gls_output_commit(&t->output);
}

/* Function `finish` of the sink. A file that was not written completely is discarded. */
static void finish(gls_run_sink *sink)
{
    seeds_state *t = sink->state;
    gls_output_discard(&t->output);
    gls_text_finish(&t->text);
}

const gls_sink_kind gls_seeds_kinds[] = {{.role = "output_seeds",
                                          .size = sizeof(seeds_state),
                                          .take = take,
                                          .open = open_table,
                                          .write = write_table,
                                          .finish = finish}};
