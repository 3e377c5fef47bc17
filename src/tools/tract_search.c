/* `glslines search`: neighbours of streamlines among reference streamlines, as a table and as columns. Streams the
 * tractogram; the references lie in memory. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/neighbours.h>

#include "gpu/devices.h"
#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "tools/chain.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "transform/move_points.h"
#include "util/numbers.h"
#include "util/status.h"

/* Columns that the search adds. */
static const char *const added[] = {"neighbours", "neighbour", "neighbour_distance"};

/* Comparisons of two points from which on --device auto opens a GPU. For 1e12 of them, most of which boxes exclude, 16
 * cores took 10 to 20 s, and one H200 1 to 2.3 s, the opening included: at a tenth of them the cores should need as
 * long as it takes at least. */
#define WORTH_A_DEVICE 1e11

/* State of `glslines search`. */
typedef struct search {
    gls_tract_run *run;
    const gls_search_cli *o;
    gls_neighbours *neighbours;
    gls_device_set devices; /* empty: the CPU computes */
    /* the table; open if there is one */
    gls_tract_text table;
    bool has_table;
    /* receives the streamlines with their columns; empty: none */
    gls_sink next;
    /* columns of a block */
    uint32_t *count, *nearest;
    float *distance;
    size_t capacity;
    gls_column *column;
    size_t n_columns;
    /* streamlines so far, those with neighbours, pairs of neighbours */
    uint64_t lines, found, pairs;
} search;

/* Drops what follows. */
static void discard(void *user)
{
    search *s = user;
    gls_sink_abort(&s->next);
}

/* Allocates the columns of a block. */
static gls_status reserve(search *s, const gls_streamlines *in)
{
    if (in->n > s->capacity || !s->count) {
        free(s->count);
        s->capacity = 0;
        s->count = malloc((3 * in->n + 1) * sizeof *s->count);
        if (!s->count) return gls_no_memory();
        s->nearest = s->count + in->n;
        s->distance = (float *)(s->count + 2 * in->n);
        s->capacity = in->n;
    }
    if (in->n_dps + 3 > s->n_columns) {
        gls_column *more = realloc(s->column, (in->n_dps + 3) * sizeof *more);
        if (!more) return gls_no_memory();
        s->column = more;
        s->n_columns = in->n_dps + 3;
    }
    return GLS_OK;
}

/* Passes a block on with its columns, in front of the others. */
static gls_status pass_on(search *s, const gls_streamlines *in)
{
    size_t n = 0;
    s->column[n++] = (gls_column){added[0], GLS_TYPE_UINT32, 1, s->count};
    s->column[n++] = (gls_column){added[1], GLS_TYPE_UINT32, 1, s->nearest};
    s->column[n++] = (gls_column){added[2], GLS_TYPE_FLOAT32, 1, s->distance};
    for (size_t k = 0; k < in->n_dps; k++) {
        bool replaced = false;
        for (int j = 0; j < 3; j++) replaced |= strcmp(in->dps[k].name, added[j]) == 0;
        if (!replaced) s->column[n++] = in->dps[k];
    }
    gls_streamlines out = *in;
    out.dps = s->column;
    out.n_dps = n;
    return gls_sink_append(&s->next, &out);
}

/* Finds the neighbours of a block. */
static gls_status append(void *user, const gls_streamlines *in)
{
    search *s = user;
    const uint64_t *first;
    const gls_neighbour *found;
    gls_status status = gls_neighbours_find(s->neighbours, in, &first, &found);
    if (!status) status = reserve(s, in);
    for (size_t i = 0; i < in->n && !status; i++) {
        const size_t n = (size_t)(first[i + 1] - first[i]);
        const gls_neighbour *own = found + first[i], *best = own;
        for (size_t k = 1; k < n; k++)
            if (own[k].distance < best->distance) best = &own[k];
        s->count[i] = (uint32_t)n;
        s->nearest[i] = n > 0 ? best->reference : UINT32_MAX;
        s->distance[i] = n > 0 ? best->distance : NAN;
        s->found += n > 0;
        s->pairs += n;
        for (size_t k = 0; k < n && s->has_table; k++) {
            gls_tract_text_number(&s->table, (double)(s->lines + i));
            gls_tract_text_number(&s->table, (double)own[k].reference);
            gls_tract_text_number(&s->table, (double)own[k].distance);
            gls_tract_text_number(&s->table, own[k].reversed);
            gls_tract_text_end_row(&s->table);
        }
    }
    s->lines += in->n;
    return status || !s->next.append ? status : pass_on(s, in);
}

/* Finishes what follows. */
static gls_status finish(void *user)
{
    search *s = user;
    return gls_sink_finish(&s->next);
}

/* A filter that lets streamlines with neighbours pass. */
typedef struct chooser {
    gls_builder builder;
} chooser;

/* Passes on the streamlines of a block that have neighbours. */
static gls_status choose(void *user, const gls_streamlines *in)
{
    chooser *c = user;
    const gls_column *count = gls_column_find(in->dps, in->n_dps, added[0]);
    gls_status status = gls_builder_begin(&c->builder, in);
    for (size_t i = 0; i < in->n && !status; i++) {
        uint64_t to, n = in->offset[i + 1] - in->offset[i];
        if (((const uint32_t *)count->data)[i] == 0) continue;
        status = gls_builder_add(&c->builder, i, n, &to);
        if (!status) gls_builder_copy(&c->builder, to, in->offset[i], n);
    }
    return status ? status : gls_builder_flush(&c->builder);
}

/* Frees the filter. */
static void discard_chooser(void *user)
{
    chooser *c = user;
    gls_builder_finish(&c->builder);
    free(c);
}

/* Makes the sink of --tracks. */
static gls_status create_tracks(search *s, const char *tracks, const gls_tractogram_info *info, gls_grid *grid)
{
    gls_tract_output output = {.path = s->o->tracks, .info = info, .added = {added[0], added[1], added[2]}};
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(s->o->tracks, &format);
    if (!status && gls_tract_needs_grid(format)) {
        status = gls_tract_grid_choose(s->run, tracks, info, s->o->tracks, grid);
        output.grid = grid;
    }
    output.drops_group_data = !s->o->keep_all;
    if (!status) status = gls_tract_writer_create(s->run, &output, &s->next);
    if (status || s->o->keep_all) return status;
    chooser *c = calloc(1, sizeof *c);
    if (!c) {
        gls_sink_abort(&s->next);
        return gls_no_memory();
    }
    const gls_sink writer = s->next;
    s->next = gls_builder_sink(&c->builder, &writer, choose, discard_chooser);
    return GLS_OK;
}

/* Reads the references, and brings them to the space of the streamlines. All must come there, as they are numbered. */
static gls_status read_references(search *s, const char *path)
{
    gls_transform space = {.n = 0};
    gls_move_counts moved = {.dropped = 0};
    const gls_search_cli *o = s->o;
    gls_tractogram_reader *reader = NULL;
    gls_neighbours_options options = gls_neighbours_options_default();
    options.distance = (gls_distance)o->distance;
    options.points = (uint32_t)o->points;
    options.radius = o->radius;
    options.nearest = (uint32_t)o->nearest;
    gls_status status = gls_neighbours_create(&options, &s->neighbours);
    if (!status) status = gls_chain_read(s->run, &o->transform, &space);
    if (!status) status = gls_tract_open(s->run, path, false, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_neighbours_references(s->neighbours);
    if (!status && space.n > 0) {
        const gls_sink next = sink;
        status = gls_filter_move_create(&space, false, &moved, &next, &sink);
    }
    status = gls_tract_pump(s->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    gls_transform_finish(&space);
    if (!status && moved.dropped > 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has streamlines outside of the transform (%s): bring it to the space of the "
                          "streamlines by 'glslines transform' first, which says what becomes of them",
                          path, GLS_COUNT(moved.dropped));
    if (status) return status;
    const uint64_t n_void = gls_neighbours_void(s->neighbours);
    if (gls_neighbours_count(s->neighbours) == 0) gls_log(GLS_LOG_WARNING, "%s: has no streamlines", path);
    if (n_void > 0)
        gls_log(GLS_LOG_WARNING, "%s: %s streamlines without length are nobody's neighbours", path, GLS_COUNT(n_void));
    return GLS_OK;
}

/* Opens the device that compares the points, if there is enough to do. */
static gls_status open_device(search *s, const gls_tractogram_info *info)
{
    const gls_search_cli *o = s->o;
    const double lines = info->counts_streamlines ? (double)info->n_streamlines : 1e6,
                 references = (double)gls_neighbours_count(s->neighbours), points = o->points;
    if (o->distance != GLS_DISTANCE_MAM && o->distance != GLS_DISTANCE_HAUSDORFF) return GLS_OK;
    if (strcmp(o->device, "auto") == 0 && lines * references * points * points < WORTH_A_DEVICE) return GLS_OK;
    gls_status status =
        gls_device_set_open_gpus(&s->devices, o->device, 1, (gls_graphics)o->api, "distances are computed on the CPU");
    if (!status && s->devices.n > 0) status = gls_neighbours_set_device(s->neighbours, s->devices.device[0]);
    return status;
}

/* Opens the table. */
static gls_status open_table(search *s)
{
    static const char *const names[] = {"streamline", "reference", "distance", "reversed"};
    if (!s->o->output) return GLS_OK;
    gls_status status = gls_tract_text_open(s->run, s->o->output, &s->table);
    if (status) return status;
    s->has_table = true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) gls_tract_text_field(&s->table, names[k]);
    gls_tract_text_end_row(&s->table);
    return GLS_OK;
}

gls_status gls_tract_search(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_search_cli *o = options;
    search s = {.run = run, .o = o};
    gls_tractogram_reader *reader = NULL;
    gls_grid grid;
    (void)n;
    if (!o->output && !o->tracks) return gls_fail(GLS_ERR_ARGUMENT, "search: needs an output: --output or --tracks");
    gls_status status = gls_device_gpus_check(o->device, 1, (gls_graphics)o->api);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(file[0], file[1], run->options.reference));
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->output));
    if (!status) status = gls_tract_run_writes(run, o->tracks);
    if (!status) status = read_references(&s, file[1]);
    if (!status) status = gls_tract_open(run, file[0], false, &reader);
    if (!status && o->tracks) status = create_tracks(&s, file[0], gls_tractogram_reader_info(reader), &grid);
    if (!status) status = open_device(&s, gls_tractogram_reader_info(reader));
    if (!status) status = open_table(&s);
    gls_sink sink = {append, finish, discard, &s};
    status = gls_tract_pump(run, reader, &sink, status);
    if (s.has_table) status = gls_tract_text_close(&s.table, status);
    gls_tractogram_reader_close(reader);
    if (!status) {
        gls_tract_run_count(run, "streamlines", s.lines);
        gls_tract_run_count(run, "references", gls_neighbours_count(s.neighbours));
        gls_tract_run_count(run, "with_neighbours", s.found);
        gls_tract_run_count(run, "pairs", s.pairs);
        gls_tract_run_message(run, "%s of %s streamlines have neighbours, %s pairs", GLS_COUNT(s.found),
                              GLS_COUNT(s.lines), GLS_COUNT(s.pairs));
    }
    free(s.count);
    free(s.column);
    gls_neighbours_destroy(s.neighbours);
    gls_device_set_close(&s.devices);
    return status;
}
