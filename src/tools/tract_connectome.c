/* `glslines connectome`: for each pair of regions, the number of streamlines that join them, or a statistic of values
 * of these streamlines; tables of regions and pairs, and the labels of each streamline. */
#include <glslines/connectome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "tools/chain.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tracts/connectome_matrix.h"
#include "tracts/matrix_rows.h"
#include "tracts/metrics.h"
#include "tracts/sample_set.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_LISTED 20 /* a warning lists at most so many regions */

/* State of `glslines connectome`. */
typedef struct connecting {
    gls_tract_run *run; /* files, sidecar and message of the command */
    const gls_connectome_cli *o;
    const gls_transform *transform; /* chain of --transform, empty without */
    const char *file[3];            /* paths of tractogram, image of labels and matrix */
    const char *stem;               /* the argument OUT, from which the names of the other files follow */
    const gls_metric *metric;       /* metric of the matrix; NULL: other options say what its cells hold */
    struct connecting *leader;      /* the first matrix of its LABELS, which has the rows and the table of regions */
    char *out;                      /* path of a matrix with a metric; NULL: `stem` is the path */
    bool alone;                     /* no other matrix is made of the same reading */
    gls_assignment assign;          /* method of --assign */
    /* reach of --assign, mm, see --radius: a distance, a length along the streamline (GLS_ASSIGN_REVERSE; 0: no limit),
     * or a cost (GLS_ASSIGN_FORWARD), which is a distance that grows with the angle */
    double radius;
    char *nodes;                       /* path of the table of regions; NULL: none */
    gls_connectome *connectome;        /* the connectome that streamlines fill */
    gls_matrix_rows rows;              /* rows by --labels and --lut, and their names */
    gls_tract_weights weights, scales; /* weights of streamlines; factors of --scale-file */
    gls_tract_text assignments;        /* text of --assignments, if it goes to a file */
    const char *column;                /* name of the column of labels in the output of --trx; NULL: none */
    /* filter that drops streamlines without points or with a coordinate that is not finite, then the writer of --trx */
    gls_sink copy;
    int32_t (*pair)[2]; /* two labels of each streamline of a batch */
    size_t n_pairs, capacity;
    gls_column *list; /* the columns that are passed on with a batch */
    gls_filter_counts copied;
} connecting;

/* The metrics of --metric. */
typedef struct metrics {
    gls_metric metric[GLS_MAX_STRINGS];
    size_t n;
    gls_sample_counts counts; /* of the images of metrics */
} metrics;

/* Callback of the connectome: writes the n labels of a streamline into the column, or into a line of --assignments. */
static void assigned(void *user, const int32_t *label, size_t n)
{
    connecting *c = user;
    if (c->column) {
        memcpy(c->pair[c->n_pairs++], label, sizeof *c->pair);
        return;
    }
    for (size_t i = 0; i < n; i++) gls_tract_text_printf(&c->assignments, i > 0 ? " %d" : "%d", label[i]);
    gls_tract_text_printf(&c->assignments, n > 0 ? "\n" : "0\n");
}

/* --- The copy of the tractogram with a column. */

/* Adds a batch to the connectome, and passes on a copy that has the labels of the ends of streamlines as a column. */
static gls_status append(void *user, const gls_streamlines *in)
{
    connecting *c = user;
    gls_streamlines out = *in;
    /* enlarge the arrays to the largest batch so far */
    if (in->n > c->capacity || !c->list) {
        free(c->pair);
        free(c->list);
        c->capacity = in->n;
        c->pair = malloc((in->n + 1) * sizeof *c->pair);
        c->list = malloc((in->n_dps + 1) * sizeof *c->list);
        if (!c->pair || !c->list) return gls_fail(GLS_ERR_MEMORY, "out of memory for labels of streamlines");
    }
    c->n_pairs = 0;
    /* the connectome calls assigned() for each streamline, which fills c->pair */
    gls_sink sink = gls_connectome_sink(c->connectome);
    gls_status status = gls_sink_append(&sink, in);
    if (status) return status;
    c->list[0] = (gls_column){c->column, GLS_TYPE_INT32, 2, c->pair};
    out.dps = c->list;
    out.n_dps = 1;
    /* an older column of the same name is replaced */
    for (size_t k = 0; k < in->n_dps; k++)
        if (strcmp(in->dps[k].name, c->column) != 0) c->list[out.n_dps++] = in->dps[k];
    return gls_sink_append(&c->copy, &out);
}

/* Function `finish` of the sink that copies. Frees nothing, because the state belongs to the command. */
static gls_status finish(void *user)
{
    return gls_sink_finish(&((connecting *)user)->copy);
}

/* Function `abort` of the sink that copies. */
static void discard(void *user)
{
    gls_sink_abort(&((connecting *)user)->copy);
}

/* Makes *sink, which fills the connectome and passes the streamlines on to the writer of --trx. */
static gls_status create_copy(connecting *c, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_tract_output output = {.path = c->o->trx, .info = info};
    gls_tractogram_format format;
    gls_grid grid;
    gls_status status = gls_tractogram_format_parse(c->o->trx, &format);
    /* TCK and VTK need no grid, but carry one if it is known */
    if (!status && (gls_tract_needs_grid(format) || info->has_grid || c->run->options.reference)) {
        status = gls_tract_grid_choose(c->run, c->file[0], info, c->o->trx, &grid);
        output.grid = &grid;
    }
    if (!status) status = gls_tract_writer_create(c->run, &output, &c->copy);
    const gls_sink next = c->copy;
    if (!status) status = gls_filter_valid_create(&c->copied, &next, &c->copy);
    *sink = (gls_sink){append, finish, discard, c};
    return status;
}

/* --- The connectome. */

/* Parses --scale: the factors by which the value of each streamline is multiplied. */
static gls_status parse_scales(const gls_strings *text, unsigned *scale)
{
    static const char *const names[] = {"none", "length", "invlength", "invnodevol", "invnodevol-mm3"};
    static const unsigned bits[] = {GLS_SCALE_NONE, GLS_SCALE_LENGTH, GLS_SCALE_INVLENGTH, GLS_SCALE_INVNODEVOL,
                                    GLS_SCALE_INVNODEVOL_MM3};
    *scale = 0;
    for (int i = 0; i < text->n; i++) {
        const size_t n = sizeof names / sizeof *names;
        size_t k = 0;
        _Static_assert(sizeof names / sizeof *names == sizeof bits / sizeof *bits, "a bit for each name");
        while (k < n && strcmp(names[k], text->value[i]) != 0) k++;
        if (k == n)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--scale %s: must be none, length, invlength, invnodevol or invnodevol-mm3",
                            text->value[i]);
        *scale |= bits[k];
    }
    return GLS_OK;
}

/* Makes the connectome from the options and the image of labels. */
static gls_status create(connecting *c)
{
    const gls_connectome_cli *o = c->o;
    gls_connectome_options options = {.size = sizeof options,
                                      .assignment = c->assign,
                                      .test = (gls_roi_test)o->roi_test,
                                      .radius = c->radius,
                                      .stat = (gls_connectome_stat)o->stat,
                                      .symmetric = o->symmetric || o->bids,
                                      .zero_diagonal = o->zero_diagonal,
                                      .keep_unassigned = o->keep_unassigned,
                                      .vector = o->vector,
                                      .edges = o->edges != NULL,
                                      .weights = c->weights.column,
                                      .scale_column = c->scales.column,
                                      /* collects the labels of each streamline for the output */
                                      .assigned = o->assignments ? assigned : NULL,
                                      .user = c};
    if (options.radius == 0 && options.assignment == GLS_ASSIGN_RADIAL)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--radius 0: --assign radial needs more than 0 mm; --assign end takes the voxel of an end");
    /* read the image of labels last, so that wrong options fail at once */
    gls_status status = parse_scales(&o->scale, &options.scale);
    if (c->metric) gls_metric_choose(c->metric, c->weights.column, &options);
    if (!status && c == c->leader) status = gls_matrix_rows_read(&c->rows, (gls_connectome_rows)o->labels, o->lut);
    if (!status) status = gls_matrix_rows_connect(&c->leader->rows, c->file[1], c->transform, &options, &c->connectome);
    if (!status && c->metric && c->metric->path) gls_connectome_allow_missing(c->connectome);
    return status;
}

/* Makes all n connectomes, which share the columns of weights and scales of the first. */
static gls_status create_all(connecting *c, size_t n)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        c[i].weights.column = c->weights.column;
        c[i].scales.column = c->scales.column;
        status = create(&c[i]);
    }
    return status;
}

/* Makes *sink, which fills all n connectomes. */
static gls_status create_tee(const connecting *c, size_t n, const gls_tractogram_info *info, metrics *m, gls_sink *sink)
{
    gls_sink *all = malloc(n * sizeof *all);
    gls_status status = all ? GLS_OK : gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) {
        all[i] = gls_connectome_sink(c[i].connectome);
        if (c[i].metric) status = gls_tract_column_check(info, c->file[0], c[i].metric->column);
    }
    if (!status) status = gls_sink_tee(all, n, sink);
    if (!status) status = gls_metrics_sink(m->metric, m->n, &m->counts, sink);
    free(all);
    return status;
}

/* Reads the tractogram once and fills the n connectomes. */
static gls_status connect(connecting *c, size_t n, metrics *m)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    const gls_connectome_cli *o = c->o;
    gls_status status = gls_tract_weights_open(&c->weights, o->weights, c->run, c->file[0], false);
    if (!status) status = gls_tract_weights_open(&c->scales, o->scale_file, c->run, c->file[0], false);
    /* two columns of weights need two names */
    if (!status && c->scales.values) c->scales.column = "scale of streamlines";
    for (size_t k = 0; k < m->n && !status; k++) status = gls_metric_open(&m->metric[k]);
    if (!status) status = create_all(c, n);
    if (!status && o->assignments && !c->column) {
        status = gls_tract_text_open(c->run, o->assignments, &c->assignments);
        if (!status)
            gls_tract_text_printf(&c->assignments, "# labels of the two ends of each streamline, 0 for none\n");
    }
    if (!status) status = gls_tract_open(c->run, c->file[0], false, &reader);
    if (!status) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        status = c->column ? create_copy(c, info, &sink) : create_tee(c, n, info, m, &sink);
        if (!status) status = gls_tract_weights_sink(&c->weights, info, c->file[0], &sink);
        if (!status) status = gls_tract_weights_sink(&c->scales, info, c->file[0], &sink);
    }
    status = gls_tract_pump(c->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    status = gls_tract_text_close(&c->assignments, status);
    gls_tract_weights_close(&c->weights);
    gls_tract_weights_close(&c->scales);
    return status;
}

/* --- Tables. */

/* Writes words as cells of one row. */
static void append_words(gls_tract_text *t, const char *const *words, size_t n)
{
    for (size_t k = 0; k < n; k++) gls_tract_text_field(t, words[k]);
}

/* Writes the table of regions. */
static gls_status write_nodes(connecting *c)
{
    static const char *const head[] = {"index", "label", "name", "voxels", "volume_mm3", "x", "y", "z", "ends"};
    const size_t n = gls_connectome_nodes(c->connectome, NULL), first = c->rows.n - n;
    gls_tract_text t;
    if (!c->nodes) return GLS_OK;
    gls_status status = gls_tract_text_open(c->run, c->nodes, &t);
    if (status) return status;
    t.missing = c->o->bids ? "n/a" : NULL;
    append_words(&t, head, sizeof head / sizeof *head);
    gls_tract_text_end_row(&t);
    for (size_t i = 0; i < n; i++) {
        gls_connectome_node k = gls_connectome_get_node(c->connectome, i);
        /* volume: mm3; centroid: mean of the centres of the region's voxels, world mm */
        const double value[] = {(double)k.voxels, k.volume,      k.centroid[0],
                                k.centroid[1],    k.centroid[2], (double)k.ends};
        gls_tract_text_printf(&t, "%zu%c%d", i + 1, t.separator, k.label);
        gls_tract_text_field(&t, c->rows.name[first + i]);
        for (size_t j = 0; j < sizeof value / sizeof *value; j++) gls_tract_text_number(&t, value[j]);
        gls_tract_text_end_row(&t);
    }
    return gls_tract_text_close(&t, GLS_OK);
}

/* Writes the table of the pairs of regions that streamlines join. */
static gls_status write_edges(connecting *c)
{
    static const char *const head[] = {"a",   "b",    "name_a", "name_b", "count",      "weight",
                                       "sum", "mean", "min",    "max",    "mean_length"};
    const int32_t *label;
    const size_t n = gls_connectome_size(c->connectome), first = n - gls_connectome_nodes(c->connectome, &label);
    gls_tract_text t;
    if (!c->o->edges) return GLS_OK;
    gls_status status = gls_tract_text_open(c->run, c->o->edges, &t);
    if (status) return status;
    t.missing = c->o->bids ? "n/a" : NULL;
    append_words(&t, head, sizeof head / sizeof *head);
    gls_tract_text_end_row(&t);
    for (size_t i = 0; i < n; i++) /* upper triangle and diagonal: pairs have no direction */
        for (size_t k = i; k < n; k++) {
            gls_connectome_edge e = gls_connectome_get_edge(c->connectome, i, k);
            const double value[] = {(double)e.count, e.weight, e.sum, e.mean, e.min, e.max, e.mean_length};
            if (e.count == 0) continue;
            gls_tract_text_printf(&t, "%d%c%d", i >= first ? label[i - first] : 0, t.separator,
                                  k >= first ? label[k - first] : 0);
            gls_tract_text_field(&t, c->rows.name[i]);
            gls_tract_text_field(&t, c->rows.name[k]);
            for (size_t j = 0; j < sizeof value / sizeof *value; j++) gls_tract_text_number(&t, value[j]);
            gls_tract_text_end_row(&t);
        }
    return gls_tract_text_close(&t, GLS_OK);
}

/* --- Messages. */

/* Warns of regions that no streamline reaches. */
static void warn_of_lonely(const connecting *c)
{
    const size_t n = gls_connectome_nodes(c->connectome, NULL);
    gls_text list = {0};
    size_t lonely = 0;
    for (size_t i = 0; i < n; i++) {
        gls_connectome_node node = gls_connectome_get_node(c->connectome, i);
        if (node.ends == 0 && node.voxels > 0 && lonely++ < MAX_LISTED) gls_text_printf(&list, " %d", node.label);
    }
    if (lonely > MAX_LISTED) gls_text_puts(&list, " ...");
    char *text = gls_text_take(&list);
    if (lonely > 0)
        gls_log(GLS_LOG_WARNING, "%s: %zu of %zu regions have no streamline:%s", c->file[1], lonely, n,
                text ? text : "");
    free(text);
}

/* Counts the labels without voxels: of those below the largest label, or with --labels lut of those in the table. Warns
 * of them, because the parcellation may have been cut or moved. If they are at least as many as the regions with
 * voxels, warns only of a table, which may be of more than this atlas; scattered numbers have many gaps. */
static size_t warn_of_absent(const connecting *c)
{
    const int32_t *label;
    const bool lut = c->o->labels == GLS_LABELS_LUT, compact = c->o->labels == GLS_LABELS_COMPACT;
    const size_t n = gls_connectome_nodes(c->connectome, &label);
    gls_text list = {0};
    size_t absent = 0;
    int32_t next = 1; /* one more than the last label that has voxels */
    for (size_t i = 0; i < n; i++) {
        const bool empty = gls_connectome_get_node(c->connectome, i).voxels == 0;
        /* in a compact matrix, gaps between labels are absent labels; in others, rows without voxels are */
        for (next = compact ? next : label[i]; next < label[i] + empty; next++)
            if (absent++ < MAX_LISTED) gls_text_printf(&list, " %d", next);
        next = label[i] + 1;
    }
    if (absent > MAX_LISTED) gls_text_puts(&list, " ...");
    char *text = gls_text_take(&list);
    if (absent > 0 && absent < (compact ? n : n - absent))
        gls_log(GLS_LOG_WARNING, "%s: %zu labels %s do not occur:%s%s", c->file[1], absent,
                lut ? "of the table" : "below the largest", text ? text : "",
                compact ? "; they have no rows: see --labels of 'glslines connectome'" : "");
    else if (lut && absent > 0)
        gls_log(GLS_LOG_WARNING, "%s: %zu of %zu rows have no voxels in %s: give a table of this atlas alone",
                c->o->lut, absent, n, c->file[1]);
    free(text);
    return absent;
}

/* Adds counts to `root`, the sidecar or its part of this matrix, and, once for each image of labels, its labels and
 * warnings of results that look wrong. */
static void report(connecting *c, cJSON *root, cJSON *counts)
{
    const int32_t *label;
    gls_tract_run *run = c->run;
    gls_connectome_counts k = gls_connectome_get_counts(c->connectome);
    size_t n = gls_connectome_nodes(c->connectome, &label);
    gls_json_uint(counts, "read", k.streamlines);
    gls_json_uint(counts, "joined", k.joined);
    gls_json_uint(counts, "unassigned_ends", k.unassigned);
    gls_json_uint(counts, "without_points", k.empty);
    if (c != c->leader) return;
    /* absent_labels: number of labels without voxels, see warn_of_absent() */
    gls_json_uint(root, "absent_labels", warn_of_absent(c));
    cJSON *labels = cJSON_AddArrayToObject(root, "labels");
    for (size_t i = 0; i < n; i++) cJSON_AddItemToArray(labels, cJSON_CreateNumber(label[i]));
    /* more than 30 % of the ends, of which each streamline with points has two */
    if (k.unassigned > 0.6 * (double)(k.streamlines - k.empty))
        gls_log(GLS_LOG_WARNING,
                "%s: %" PRIu64 " of %" PRIu64 " ends have no region: are %s and the tractogram in one space?",
                c->file[0], k.unassigned, 2 * (k.streamlines - k.empty), c->file[1]);
    if (c->o->weights && c->o->stat == GLS_STAT_MEAN && c->o->scale.n == 0 && !c->o->scale_file)
        gls_log(GLS_LOG_WARNING, "--weights with --stat-edge mean and no scale: every cell is 1: give a number such as "
                                 "mean FA by --scale-file");
    warn_of_lonely(c);
    gls_tract_run_message(run, "%s: %zu regions, %" PRIu64 " of %" PRIu64 " streamlines join two", c->file[2], n,
                          k.joined, k.streamlines);
}

/* Adds to the sidecar what the cells of the matrix hold, with the keys that BIDS proposes for matrices (BEP017). */
static void describe(const connecting *c, cJSON *root)
{
    static const char *const stats[] = {[GLS_STAT_SUM] = "sum",
                                        [GLS_STAT_MEAN] = "mean",
                                        [GLS_STAT_MIN] = "least",
                                        [GLS_STAT_MAX] = "largest",
                                        [GLS_STAT_MEDIAN] = "median"};
    const gls_connectome_cli *o = c->o;
    const bool counts = o->scale.n == 0 && !o->scale_file;
    char what[128];
    snprintf(what, sizeof what, "%s of %s%s", stats[o->stat],
             counts ? "streamlines" : "values of streamlines, see parameters", o->weights ? ", weighted" : "");
    cJSON_AddStringToObject(root, "RelationshipMeasure",
                            c->metric                                          ? c->metric->name
                            : counts && o->stat == GLS_STAT_SUM && !o->weights ? "number of streamlines"
                                                                               : what);
    cJSON_AddBoolToObject(root, "Weighted", true);
    cJSON_AddBoolToObject(root, "Directed", false);
    cJSON_AddBoolToObject(root, "ValidDiagonal", !o->zero_diagonal);
    cJSON_AddStringToObject(root, "StorageFormat", "Full");
}

/* Sets the path of the table of regions: that of --nodes, else one beside the matrix. --nodes none: no table. */
static gls_status choose_nodes(connecting *c)
{
    const char *out = c->stem, *dot = strrchr(out, '.'), *slash = strrchr(out, '/');
    /* "none" for no table */
    if (c != c->leader || (c->o->nodes && strcmp(c->o->nodes, "none") == 0)) return GLS_OK;
    int length = dot && (!slash || dot > slash) ? (int)(dot - out) : (int)strlen(out);
    if (c->o->bids) length -= (int)strlen("_relmat");
    if (c->o->nodes)
        c->nodes = gls_text_copy(c->o->nodes);
    else
        gls_asprintf(&c->nodes, "%.*s_nodes.tsv", length, out);
    return c->nodes ? GLS_OK : gls_no_memory();
}

/* Parses "radial", "radial:2" and so on: the method and its reach. --radius may give the reach instead. */
static gls_status parse_assignment(connecting *c)
{
    static const char *const name[] = {"radial", "end", "reverse", "forward", "all"};
    /* default reach, mm; GLS_ASSIGN_REVERSE: 0, no limit */
    static const double radius[] = {
        [GLS_ASSIGN_RADIAL] = 4, [GLS_ASSIGN_END] = 0, [GLS_ASSIGN_FORWARD] = 3, [GLS_ASSIGN_ALL] = 0};
    const char *text = c->o->assign ? c->o->assign : name[0], *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    size_t k = 0;
    while (k < sizeof name / sizeof *name && (strlen(name[k]) != length || strncmp(name[k], text, length) != 0)) k++;
    if (k == sizeof name / sizeof *name)
        return gls_fail(GLS_ERR_ARGUMENT, "--assign: unknown value '%s'; known are: radial, end, reverse, forward, all",
                        text);
    c->assign = (gls_assignment)k;
    c->radius = c->o->radius >= 0 ? c->o->radius : radius[k];
    if (!colon) return GLS_OK;
    const bool searches =
        c->assign == GLS_ASSIGN_RADIAL || c->assign == GLS_ASSIGN_REVERSE || c->assign == GLS_ASSIGN_FORWARD;
    if (!searches || !gls_parse_double(colon + 1, &c->radius) || !(c->radius >= 0 && c->radius <= 1000))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--assign %s: only radial, reverse and forward take a reach, a number from 0 to 1000 (mm), as in radial:2",
            text);
    if (c->o->radius >= 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--radius and --assign %s exclude each other: leave out --radius or the number", text);
    return GLS_OK;
}

/* Checks combinations of options, and names the column of labels and the table of regions. */
static gls_status check(connecting *c)
{
    const gls_connectome_cli *o = c->o;
    gls_status status = parse_assignment(c);
    if (status) return status;
    /* the sidecar names what is used where the user left it open */
    cJSON *parameters = gls_json_at(c->run->root, "parameters");
    if (!o->assign) cJSON_ReplaceItemInObjectCaseSensitive(parameters, "assign", cJSON_CreateString("radial"));
    cJSON_ReplaceItemInObjectCaseSensitive(parameters, "radius_mm", gls_json_new_double(c->radius));
    if (o->assignments && strncmp(o->assignments, "dps:", 4) == 0) c->column = o->assignments + 4;
    if ((c->column != NULL) != (o->trx != NULL))
        return gls_fail(GLS_ERR_ARGUMENT, "--trx and --assignments dps:NAME need each other");
    if (c->column && c->assign == GLS_ASSIGN_ALL)
        return gls_fail(GLS_ERR_ARGUMENT, "--assignments dps:NAME: holds two labels for each streamline, but --assign "
                                          "all may find more: name a text file");
    if (o->labels == GLS_LABELS_LUT && !o->lut) return gls_fail(GLS_ERR_ARGUMENT, "--labels lut: needs --lut FILE");
    if (o->roi_test && c->assign != GLS_ASSIGN_ALL) return gls_fail(GLS_ERR_ARGUMENT, "--roi-test: needs --assign all");
    const size_t length = strlen(c->stem), suffix = strlen("_relmat.tsv");
    if (o->bids && (length <= suffix || strcmp(c->stem + length - suffix, "_relmat.tsv") != 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--bids: the name of the matrix must end in _relmat.tsv, but is %s", c->stem);
    return choose_nodes(c);
}

/* Checks what cannot be given with several matrices, and that no matrix is named twice. */
static gls_status check_several(const connecting *c, size_t n)
{
    const gls_connectome_cli *o = c->o;
    if (n == 1) return GLS_OK;
    const bool many = o->metric.n > 1;
    if (o->assignments || o->edges || (o->nodes && strcmp(o->nodes, "none") != 0))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "connectome: --assignments, --edges and --nodes FILE belong to one matrix: give one LABELS and "
                        "OUT%s",
                        many ? ", and one --metric" : "");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c[i].file[2], c[k].file[2]) == 0)
                return gls_fail(GLS_ERR_ARGUMENT, "%s: is the name of two matrices: give each its own", c[i].file[2]);
    return GLS_OK;
}

/* Names inputs and outputs: the matrix first, beside which the sidecar lies. */
static gls_status name_files(const connecting *c, bool first)
{
    const gls_connectome_cli *o = c->o;
    gls_tract_run *run = c->run;
    gls_status status = GLS_OK;
    if (first)
        status = gls_tract_run_reads_all(run, GLS_PATHS(c->file[0], c->file[1], gls_tract_weights_file(o->weights),
                                                        gls_tract_weights_file(o->scale_file), o->lut,
                                                        run->options.reference));
    else if (c == c->leader)
        status = gls_tract_run_reads(run, c->file[1]);
    for (int k = 0; first && k < o->metric.n && !status; k++) status = gls_tract_run_reads(run, c[k].metric->path);
    if (!status && first) status = gls_chain_note(run, &o->transform);
    if (!status)
        status =
            gls_tract_run_writes_all(run, GLS_PATHS(c->file[2], c->nodes, o->edges, c->column ? NULL : o->assignments));
    return status || !c->column ? status : gls_tract_run_writes(run, o->trx);
}

/* Writes the files of one matrix, and adds it to the sidecar. */
static gls_status write_all(connecting *c)
{
    const gls_connectome_cli *o = c->o;
    gls_tract_run *run = c->run;
    gls_status status = c == c->leader ? gls_matrix_rows_name(&c->rows, c->connectome) : GLS_OK;
    if (!status) /* BIDS has n/a for a value that does not exist */
        status = gls_connectome_write_grouped(c->connectome, c->file[2], run->files.force, &run->files.group,
                                              o->header || o->bids ? (const char *const *)c->leader->rows.name : NULL,
                                              o->bids ? "n/a" : "nan");
    if (!status) status = write_nodes(c);
    if (!status) status = write_edges(c);
    if (status) return status;
    if (c->alone) {
        report(c, run->root, run->counts);
        if (o->bids) describe(c, run->root);
        return GLS_OK;
    }
    cJSON *list = gls_json_at(run->root, "matrices"), *own = cJSON_CreateObject();
    if (!list) list = cJSON_AddArrayToObject(run->root, "matrices");
    cJSON_AddItemToArray(list, own);
    cJSON_AddStringToObject(own, "matrix", c->file[2]);
    cJSON_AddStringToObject(own, "image", c->file[1]);
    if (c->metric) cJSON_AddStringToObject(own, "metric", c->metric->name);
    report(c, own, cJSON_AddObjectToObject(own, "counts"));
    if (o->bids) describe(c, own);
    return GLS_OK;
}

/* Prepares the matrices: for each pair of LABELS and OUT one, or one for each metric. */
static gls_status prepare(connecting *all, size_t n, gls_tract_run *run, const gls_connectome_cli *o,
                          const char *const *file, const metrics *m)
{
    const size_t each = m->n > 0 ? m->n : 1;
    for (size_t i = 0; i < n; i++) {
        const size_t pair = i / each;
        connecting *c = &all[i];
        *c = (connecting){.run = run,
                          .o = o,
                          .file = {file[0], file[1 + 2 * pair], file[2 + 2 * pair]},
                          .stem = file[2 + 2 * pair],
                          .leader = &all[i - i % each],
                          .alone = n == 1};
        if (m->n == 0) continue;
        c->metric = &m->metric[i % each];
        c->out = gls_metric_file(c->metric, c->stem);
        if (!c->out) return gls_no_memory();
        c->file[2] = c->out;
    }
    return GLS_OK;
}

/* Checks what --metric excludes and needs, and parses the metrics. */
static gls_status parse_metrics(const gls_connectome_cli *o, metrics *m)
{
    bool weighted = false;
    if (o->metric.n > 0 && (o->scale.n > 0 || o->scale_file || o->stat))
        return gls_fail(GLS_ERR_ARGUMENT, "--metric excludes --scale, --scale-file and --stat-edge: leave out either "
                                          "--metric or these three");
    m->n = (size_t)o->metric.n;
    gls_status status = gls_metrics_parse(&o->metric, m->metric);
    for (size_t k = 0; k < m->n; k++) weighted = weighted || (m->metric[k].weighted && !m->metric[k].column);
    if (status || m->n == 0 || weighted == (o->weights != NULL)) return status;
    return weighted ? gls_fail(GLS_ERR_ARGUMENT, "--metric weight: needs --weights")
                    : gls_fail(GLS_ERR_ARGUMENT, "--weights: with --metric it needs --metric weight, the metric that "
                                                 "sums it");
}

gls_connectome_cli gls_connectome_cli_default(void)
{
    return (gls_connectome_cli){
#define ROW GLS_ROW_DEFAULT
#include "tools/connectome.def"
#undef ROW
    };
}

gls_status gls_tract_connectome(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_connectome_cli *o = options;
    metrics m = {.n = 0};
    if (n % 2 == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "connectome: takes TRACKS, LABELS and OUT, and further pairs of LABELS and OUT; "
                        "%s has no OUT",
                        file[n - 1]);
    gls_status status = parse_metrics(o, &m);
    gls_transform transform = {.n = 0};
    const size_t n_matrices = (n - 1) / 2 * (m.n > 0 ? m.n : 1);
    connecting *c = calloc(n_matrices, sizeof *c);
    if (!c && !status) status = gls_no_memory();
    if (!status) status = prepare(c, n_matrices, run, o, file, &m);
    if (!status) status = check_several(c, n_matrices);
    /* all inputs and outputs are noted before any is opened */
    for (size_t i = 0; i < n_matrices && !status; i++) {
        c[i].transform = &transform;
        status = check(&c[i]);
        if (!status) status = name_files(&c[i], i == 0);
    }
    if (!status) status = gls_chain_read(run, &o->transform, &transform);
    if (!status) status = connect(c, n_matrices, &m);
    for (size_t i = 0; i < n_matrices && !status; i++) status = write_all(&c[i]);
    if (!status && n_matrices > 1)
        gls_tract_run_message(run, "%zu matrices, the first of them %s", n_matrices, c[0].file[2]);
    if (!status && m.counts.points > 0) gls_sample_warn(&m.counts, "--metric");
    for (size_t k = 0; k < m.n; k++) gls_metric_finish(&m.metric[k]);
    for (size_t i = 0; i < n_matrices && c; i++) {
        gls_connectome_destroy(c[i].connectome);
        gls_matrix_rows_finish(&c[i].rows);
        free(c[i].nodes);
        free(c[i].out);
        free(c[i].pair);
        free(c[i].list);
    }
    gls_transform_finish(&transform);
    free(c);
    return status;
}
