/* Writes tractograms: chooses the format, checks streamlines, defines columns and groups, completes the file. */
#include "tractogram/tractogram.h"
#include "tractogram/pieces.h"
#include "tractogram/trx.h"
#include "tractogram/writers.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* one row for each format: its suffix and its writer */
#define DECLARE(value, suffix, ...) extern const gls_tractogram_driver gls_##suffix##_driver;
GLS_TRACTOGRAM_FORMATS(DECLARE)
#define ENTRY(value, suffix, ...) [value] = {"." #suffix, &gls_##suffix##_driver},
static const struct {
    const char *suffix;
    const gls_tractogram_driver *driver;
} formats[] = {GLS_TRACTOGRAM_FORMATS(ENTRY)};
#define N_FORMATS (sizeof formats / sizeof *formats)

/* Index of the format that the suffix of a name stands for; N_FORMATS: none. */
static size_t find_format(const char *path)
{
    const size_t n = strlen(path);
    size_t i = 0;
    while (i < N_FORMATS && !(n > 4 && !gls_case_compare(path + n - 4, formats[i].suffix))) i++;
    return i;
}

bool gls_tractogram_is_name(const char *path)
{
    char name[64];
    size_t n = strlen(path);
    const char *end = path + (n < sizeof name ? 0 : n - sizeof name + 1);
    snprintf(name, sizeof name, "%s", end);
    n = strlen(name);
    if (gls_case_ends(name, ".gz")) name[n - 3] = '\0';
    return find_format(name) < N_FORMATS || gls_case_ends(name, ".vtp");
}

gls_status gls_tractogram_format_parse(const char *path, gls_tractogram_format *format)
{
    GLS_REQUIRE(path && format);
    const size_t found = find_format(path);
    char list[16 * N_FORMATS] = "";
    for (size_t i = 0, used = 0; i < N_FORMATS && found == N_FORMATS; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0              ? ""
                                 : i + 1 < N_FORMATS ? ", "
                                                     : " or ",
                                 formats[i].suffix);
    if (found == N_FORMATS)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: the name of a tractogram must end in %s", path, list);
    *format = (gls_tractogram_format)found;
    return GLS_OK;
}

gls_tractogram_options gls_tractogram_options_default(void)
{
    return (gls_tractogram_options){
        .size = sizeof(gls_tractogram_options), .precision = GLS_PRECISION_FLOAT, .overwrite = false};
}

gls_status gls_tractogram_writer_create(const char *path, gls_tractogram_format format, const gls_grid *grid,
                                        const gls_tractogram_options *options, gls_tractogram_writer **writer)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(path && grid && writer && (size_t)format < N_FORMATS);
    gls_tractogram_options defaults = gls_tractogram_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(options->dpg || options->n_dpg == 0);
    for (size_t i = 0; i < options->n_dpg; i++) GLS_REQUIRE(options->dpg[i].group && options->dpg[i].column.name);
    gls_tractogram_writer *w = calloc(1, sizeof *w);
    if (!w) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    w->driver = formats[format].driver;
    w->output = GLS_OUTPUT_NONE;
    if (options->shard) {
        w->is_shard = true;
        w->shard = *options->shard;
    }
    /* the grid as gls_grid_init() makes it, so that voxel sizes follow from the affine */
    gls_status status = gls_grid_init(&w->grid, grid->dim, grid->affine);
    if (!status) status = gls_output_create(path, options->overwrite, &w->output);
    if (!status) status = w->driver->create(w, options);
    for (size_t i = 0; i < options->n_dpg && w->driver != &gls_trx_driver; i++)
        gls_text_printf(&w->lost, "%sdpg %s/%s", i > 0 ? ", " : "", options->dpg[i].group, options->dpg[i].column.name);
    if (!status)
        *writer = w;
    else
        gls_tractogram_writer_abort(w);
    return status;
}

/* Column k in the order dps, dpv, groups. */
static const gls_column *column_of(const gls_streamlines *s, size_t k)
{
    if (k < s->n_dps) return &s->dps[k];
    k -= s->n_dps;
    return k < s->n_dpv ? &s->dpv[k] : &s->group[k - s->n_dpv];
}

/* Comparison for qsort(): names in alphabetical order. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Checks that no two columns of a kind have the same name, because readers find columns by name. */
static gls_status check_names(const gls_tractogram_writer *w, const gls_column *columns, size_t n)
{
    const char **name = malloc((n + 1) * sizeof *name);
    if (!name) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    gls_status status = GLS_OK;
    for (size_t k = 0; k < n; k++) name[k] = columns[k].name;
    qsort(name, n, sizeof *name, by_name);
    for (size_t k = 1; k < n && !status; k++)
        if (strcmp(name[k - 1], name[k]) == 0)
            status = gls_fail(GLS_ERR_ARGUMENT, "%s: two columns or groups would have the name \"%s\"", w->output.path,
                              name[k]);
    free(name);
    return status;
}

/* Makes the columns and groups of the first block the columns and groups of the file. Names must differ within each
 * kind. */
static gls_status define(gls_tractogram_writer *w, const gls_streamlines *s)
{
    const size_t n = s->n_dps + s->n_dpv + s->n_groups;
    w->column = calloc(n + 1, sizeof *w->column);
    if (!w->column) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    w->n_dps = s->n_dps;
    w->n_dpv = s->n_dpv;
    w->n_groups = s->n_groups;
    w->defined = true;
    for (size_t k = 0; k < n; k++) {
        const gls_column *c = column_of(s, k);
        if (!c->name || !*c->name || c->components < 1 || gls_type_size(c->type) == 0 ||
            (k >= s->n_dps + s->n_dpv && (c->type != GLS_TYPE_BOOL || c->components != 1)))
            return gls_fail(GLS_ERR_ARGUMENT, "%s: a column or group has no name, or an invalid type", w->output.path);
        w->column[k] = *c;
        w->column[k].data = NULL;
        w->column[k].name = strdup(c->name);
        if (!w->column[k].name) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    }
    gls_status status = check_names(w, w->column, w->n_dps);
    if (!status) status = check_names(w, w->column + w->n_dps, w->n_dpv);
    if (!status) status = check_names(w, w->column + w->n_dps + w->n_dpv, w->n_groups);
    return !status ? w->driver->define(w) : status;
}

/* Requires streamlines with points, the columns of the first block, and, unless append() of the driver checks them,
 * points that are finite. */
static gls_status check(const gls_tractogram_writer *w, const gls_streamlines *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->offset[i + 1] <= s->offset[i])
            return gls_fail(GLS_ERR_ARGUMENT, "%s: streamline %llu (counted from 0) has no points", w->output.path,
                            (unsigned long long)(w->n_streamlines + i));
    }
    gls_status status =
        w->driver->checks_points ? GLS_OK : gls_writer_check_points(w, s->point, (size_t)s->offset[s->n]);
    /* the first append defines the columns; later appends must have the same columns */
    if (status || !w->defined) return status;
    bool same = s->n_dps == w->n_dps && s->n_dpv == w->n_dpv && s->n_groups == w->n_groups;
    for (size_t k = 0; same && k < w->n_dps + w->n_dpv + w->n_groups; k++) {
        const gls_column *a = &w->column[k], *b = column_of(s, k);
        same = strcmp(a->name, b->name) == 0 && a->type == b->type && a->components == b->components;
    }
    return same ? GLS_OK
                : gls_fail(GLS_ERR_ARGUMENT, "%s: streamlines have other columns than those before", w->output.path);
}

gls_status gls_tractogram_writer_append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    GLS_REQUIRE(w && s);
    if (w->failed != GLS_OK) return gls_fail(w->failed, "%s", w->message);
    if (s->n == 0) return GLS_OK;
    GLS_REQUIRE(s->offset && s->point && s->offset[0] == 0);
    gls_status status = check(w, s);
    if (!status && !w->defined) status = define(w, s);
    if (!status) status = w->driver->append(w, s);
    /* a failed writer refuses everything that follows, with the first message */
    if (status) {
        w->failed = status;
        snprintf(w->message, sizeof w->message, "%s", gls_last_error());
        return status;
    }
    w->n_streamlines += s->n;
    w->n_points += s->offset[s->n];
    return GLS_OK;
}

void gls_writer_join(gls_tractogram_writer *w, gls_output_group *group)
{
    w->output.group = group;
}

const char *gls_tractogram_writer_lost(const gls_tractogram_writer *w)
{
    return w->lost.length > 0 ? w->lost.data : NULL;
}

/* Functions of the sink that gls_tractogram_writer_sink() returns. */
static gls_status sink_append(void *user, const gls_streamlines *streamlines)
{
    return gls_tractogram_writer_append(user, streamlines);
}

static gls_status sink_finish(void *user)
{
    return gls_tractogram_writer_finish(user);
}

static void sink_abort(void *user)
{
    gls_tractogram_writer_abort(user);
}

void gls_writer_note(gls_tractogram_writer *w, const char *name, const char *text)
{
    w->note_name = name;
    w->note = text;
}

gls_sink gls_tractogram_writer_sink(gls_tractogram_writer *writer)
{
    return (gls_sink){sink_append, sink_finish, sink_abort, writer};
}

gls_status gls_tractogram_writer_add_dps(gls_tractogram_writer *w, const gls_column *column)
{
    GLS_REQUIRE(w && column && column->name && column->components >= 1 && (column->data || w->n_streamlines == 0));
    GLS_REQUIRE(w->n_late < sizeof w->late / sizeof *w->late);
    if (gls_column_find(w->column, w->n_dps, column->name) || gls_column_find(w->late, w->n_late, column->name))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has a column \"%s\" already", w->output.path, column->name);
    w->late[w->n_late++] = *column;
    if (w->driver != &gls_trx_driver)
        gls_text_printf(&w->lost, "%sdps %s", w->lost.length > 0 ? ", " : "", column->name);
    return GLS_OK;
}

gls_status gls_writer_add_group(gls_tractogram_writer *w, const char *name, const uint32_t *member, size_t n)
{
    gls_late_group *list = realloc(w->late_group, (w->n_late_groups + 1) * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    w->late_group = list;
    if (gls_column_find(w->column + w->n_dps + w->n_dpv, w->n_groups, name))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has a group \"%s\" already", w->output.path, name);
    list[w->n_late_groups++] = (gls_late_group){name, member, n};
    if (w->driver != &gls_trx_driver) gls_text_printf(&w->lost, "%sgroup %s", w->lost.length > 0 ? ", " : "", name);
    return GLS_OK;
}

gls_status gls_tractogram_writer_finish(gls_tractogram_writer *w)
{
    GLS_REQUIRE(w);
    gls_status status = w->failed != GLS_OK ? gls_fail(w->failed, "%s", w->message) : w->driver->finish(w);
    if (!status) status = gls_output_commit(&w->output);
    gls_tractogram_writer_abort(w);
    return status;
}

/* Frees the memory of all rooms. */
static void free_rooms(gls_piece_rooms *rooms)
{
    for (int i = 0; i < GLS_PIECE_ROOMS; i++) free(rooms->room[i].data);
    *rooms = (gls_piece_rooms){0};
}

void gls_tractogram_writer_abort(gls_tractogram_writer *w)
{
    if (!w) return;
    w->driver->destroy(w->state);
    gls_output_discard(&w->output);
    for (size_t k = 0; w->column && k < w->n_dps + w->n_dpv + w->n_groups; k++) free((void *)w->column[k].name);
    free(w->column);
    free(w->late_group);
    free_rooms(&w->rooms);
    gls_text_finish(&w->lost);
    free(w);
}
