/* Reads tractograms for a picture: a first pass counts and measures streamlines, a second pass keeps those that are
 * drawn. */

#include <glslines/recognition.h>
#include <glslines/filters.h>
#include <glslines/render.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/collect.h"
#include "render/canvas.h"
#include "render/scene.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"
#include "util/status.h"
#include "util/text.h"

/* Progress callback of gls_tractogram_pump(): returns false, which ends the reading, if go_on() of the options returns
 * false. */
static bool go_on(void *user, double share)
{
    const gls_render_options *o = user;
    (void)share;
    return !o->go_on || o->go_on();
}

/* Opens a file. Points that are not finite are no error here: create_selection() leaves out their streamlines. */
static gls_status open_source(const gls_source *source, const gls_render_plan *plan, gls_tractogram_reader **reader)
{
    gls_tractogram_read_options read = plan->options->read;
    read.allow_invalid = true;
    return gls_tractogram_reader_open(source->path, &read, reader);
}

/* Reads the rest of the file into a chain of sinks and frees the chain. */
static gls_status pump(gls_tractogram_reader *reader, gls_sink *chain, const gls_render_options *o)
{
    gls_status status = gls_tractogram_pump(reader, chain, go_on, (void *)(uintptr_t)o);
    if (!status) return gls_sink_finish(chain);
    gls_sink_abort(chain);
    return status == GLS_ERR_CANCELLED ? gls_fail(status, "interrupted: no picture was written") : status;
}

/* Adds filters in front of *next that keep streamlines with finite points and the wanted lengths. *next becomes the
 * whole chain. */
static gls_status create_selection(const gls_render_options *o, gls_filter_counts *valid, gls_sink *next)
{
    gls_sink chain;
    gls_status status = GLS_OK;
    if (o->min_length > 0 || o->max_length < INFINITY) {
        status = gls_filter_length_create(o->min_length, o->max_length, NULL, next, &chain);
        if (status) return status;
        *next = chain;
    }
    status = gls_filter_valid_create(valid, next, &chain);
    if (!status) *next = chain;
    return status;
}

/* --- First pass ----------------------------------------------------------- */

/* Results of the first pass over a file, as append_measured() fills them. *empty: the box has no point yet. */
typedef struct measure {
    /* receives the counts of streamlines */
    gls_source *source;
    /* box, world mm, of all streamlines with finite points and the wanted lengths, of all files */
    gls_box *box;
    bool *empty;
} measure;

/* append() of the first pass: counts streamlines and members of groups, and widens the box by all points. */
static gls_status append_measured(void *user, const gls_streamlines *s)
{
    measure *m = user;
    m->source->candidates += s->n;
    m->source->points += s->offset[s->n];
    for (size_t i = 0; i < m->source->n_groups; i++) {
        const gls_column *group = gls_column_find(s->group, s->n_groups, m->source->group[i].name);
        for (size_t line = 0; line < s->n && group; line++)
            m->source->group[i].total += gls_column_value(group, line) != 0;
    }
    for (uint64_t p = 0; p < s->offset[s->n]; p++) {
        for (int a = 0; a < 3; a++) {
            double v = s->point[p][a];
            if (*m->empty || v < m->box->low[a]) m->box->low[a] = v;
            if (*m->empty || v > m->box->high[a]) m->box->high[a] = v;
        }
        *m->empty = false;
    }
    return GLS_OK;
}

/* Comparison for qsort(): groups by name. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const gls_named_colour *)a)->name, ((const gls_named_colour *)b)->name);
}

/* Lists the groups of a file, sorted by name. */
static gls_status list_groups(gls_source *source, const gls_tractogram_info *info)
{
    if (info->n_groups == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has no groups, by which --color groups colours streamlines: give another --color",
                        source->path);
    source->group = calloc(info->n_groups, sizeof *source->group);
    if (!source->group) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for its groups", source->path);
    source->n_groups = info->n_groups;
    for (size_t i = 0; i < info->n_groups; i++)
        snprintf(source->group[i].name, sizeof source->group[i].name, "%s", info->group[i].name);
    qsort(source->group, source->n_groups, sizeof *source->group, by_name);
    return GLS_OK;
}

/* Appends the names of columns: "fa, weights", or "none". */
static void list_names(gls_text *text, const gls_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) gls_text_printf(text, "%s%s", i ? ", " : "", columns[i].name);
    if (n == 0) gls_text_puts(text, "none");
}

/* If colours come from a group or a column, checks that the file has it, with one value in each row. */
static gls_status check_names(const gls_source *source, const gls_render_plan *plan, const gls_tractogram_info *info)
{
    /* kind: word for the kind of column in messages */
    const gls_column *columns = info->dps;
    size_t n = info->n_dps;
    const char *kind = "dps";
    if (plan->colouring == GLS_COLOUR_DPV) {
        columns = info->dpv;
        n = info->n_dpv;
        kind = "dpv";
    } else if (plan->colouring == GLS_COLOUR_GROUP) {
        columns = info->group;
        n = info->n_groups;
        kind = "group";
    } else if (plan->colouring != GLS_COLOUR_DPS) {
        return GLS_OK;
    }
    const gls_column *found = gls_column_find(columns, n, plan->name);
    /* colours need a single number for each streamline or point */
    if (found && found->components == 1) return GLS_OK;
    if (found)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: %s %s has %u values in each row, but colours need one value: name another column",
                        source->path, kind, plan->name, found->components);
    /* the message lists the names that the file has */
    gls_text text = {0};
    list_names(&text, columns, n);
    char *names = gls_text_take(&text);
    gls_status status =
        gls_fail(GLS_ERR_INPUT, "%s: has no %s %s; it has: %s", source->path, kind, plan->name, names ? names : "?");
    gls_free(names);
    return status;
}

gls_status gls_source_measure(gls_source *source, const gls_render_plan *plan, gls_box *box, bool *empty)
{
    gls_tractogram_reader *reader = NULL;
    measure m = {source, box, empty};
    gls_sink chain = {append_measured, NULL, NULL, &m};
    gls_status status = open_source(source, plan, &reader);
    if (!status) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        source->has_grid = info->has_grid;
        source->grid = info->grid;
        status = check_names(source, plan, info);
        if (!status && plan->colouring == GLS_COLOUR_GROUPS) status = list_groups(source, info);
    }
    if (!status) status = create_selection(plan->options, &source->valid, &chain);
    if (!status) status = pump(reader, &chain, plan->options);
    gls_tractogram_reader_close(reader);
    source->total = source->valid.taken;
    if (!status && source->valid.kept < source->total)
        gls_log(GLS_LOG_WARNING,
                "%s: %" PRIu64 " streamlines without points, or with a point that is not finite, are left out",
                source->path, source->total - source->valid.kept);
    return status;
}

/* --- Second pass ---------------------------------------------------------- */

gls_status gls_source_collect(const gls_source *source, const gls_render_plan *plan, const gls_sampler *sampler,
                              double tolerance, gls_scene *scene)
{
    const gls_render_options *o = plan->options;
    gls_tractogram_reader *reader = NULL;
    gls_paint paint = {plan->colouring, plan->name, plan->colour, sampler, source->group, source->n_groups};
    gls_painting painting = {scene, &paint};
    gls_sink chain = gls_scene_sink(&painting), filter;
    if (plan->colouring == GLS_COLOUR_BUNDLE || plan->colouring == GLS_COLOUR_GROUP) paint.colour = source->colour;
    if (source->candidates == 0) return GLS_OK;
    gls_status status = open_source(source, plan, &reader);
    /* the chain is built from its end: the scene; the filter that leaves out points; the filter that keeps at most
     * max_streamlines, spread over the file; the filters for finite points and lengths */
    if (!status) status = gls_filter_compress_create(tolerance, INFINITY, &chain, &filter);
    if (!status) {
        chain = filter;
        status = gls_filter_spread_create(o->max_streamlines, source->candidates, NULL, &chain, &filter);
    }
    if (!status) {
        chain = filter;
        status = create_selection(o, NULL, &chain);
    }
    if (status)
        gls_sink_abort(&chain);
    else
        status = pump(reader, &chain, o);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_source_pour(const gls_source *source, const gls_render_plan *plan, gls_sink *sink)
{
    gls_tractogram_reader *reader = NULL;
    gls_status status = open_source(source, plan, &reader);
    if (!status) status = create_selection(plan->options, NULL, sink);
    if (status)
        gls_sink_abort(sink);
    else
        status = pump(reader, sink, plan->options);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Rank of source i by name, from 0. Colours follow the rank, so that the order in which files are given does not change
 * them. */
static size_t rank_of(const gls_source *sources, size_t n, size_t i)
{
    size_t rank = 0;
    for (size_t k = 0; k < n; k++) {
        int order = strcmp(sources[k].name, sources[i].name);
        rank += order < 0 || (order == 0 && k < i);
    }
    return rank;
}

/* Colours 0xrrggbb that viewers with any colour deficiency can distinguish: the seven of Okabe and Ito that are not
 * black, then five more. */
static const uint32_t bundle_colours[] = {0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd55e00,
                                          0xcc79a7, 0xdddddd, 0x88ccee, 0x999933, 0xaa4499, 0x8c6d46};

/* Colour of a bundle: the last colour that the user gave for its name, or else bundle_colours[rank]; the colours
 * repeat. */
static uint32_t colour_of(const gls_render_plan *plan, const char *name, size_t rank)
{
    for (size_t k = plan->n_named; k-- > 0;)
        if (strcmp(plan->named[k].name, name) == 0) return plan->named[k].colour;
    /* what is in no bundle would hide the bundles */
    if (strcmp(name, GLS_GROUP_UNRECOGNIZED) == 0) return gls_colour_rgb(70, 70, 70);
    const uint32_t rgb = bundle_colours[rank % (sizeof bundle_colours / sizeof *bundle_colours)];
    return gls_colour_rgb((int)(rgb >> 16), (int)(rgb >> 8 & 255), (int)(rgb & 255));
}

void gls_sources_colour(gls_source *sources, size_t n, const gls_render_plan *plan)
{
    for (size_t i = 0; i < n; i++) {
        sources[i].colour = colour_of(plan, sources[i].name, rank_of(sources, n, i));
        for (size_t k = 0; k < sources[i].n_groups; k++)
            sources[i].group[k].colour = colour_of(plan, sources[i].group[k].name, k);
    }
}
