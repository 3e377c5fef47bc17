/* `glslines clean`: drops streamlines that repeat others, that have a wrong shape, and outliers; divides a bundle into
 * parts; gives it one direction. Each step is a pass over the streamlines that stay so far; the last pass writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/bundles.h>
#include <glslines/filters.h>

#include "geometry/bends.h"
#include "geometry/outliers.h"
#include "record/tract_run.h"
#include "streamlines/filter_groups.h"
#include "tools/orient.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tracts/bundle_parts.h"
#include "tracts/line_geometry.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* values of --method, in the order of its choices */
enum { METHOD_QB, METHOD_CCI, METHOD_MAHALANOBIS, METHOD_NONE };

/* Points at which repetitions, and streamlines with their mean, are compared. */
enum { POINTS = 20 };

/* Distance of the points at which curvature is measured, mm; share of a part, percent. */
#define CURVATURE_STEP 1.0
#define MIN_SHARE 5.0

/* The direction of the mean. */
typedef struct direction {
    gls_tract_orient asked;
    float line[POINTS][3]; /* the mean, in the direction in which streamlines shall run */
    uint64_t n_turned;
} direction;

/* Name of the column of scores, and of the group of dropped streamlines. */
static const char score_name[] = "clean_score", group_name[] = "rejected";

/* State of `glslines clean`. */
typedef struct cleaning {
    gls_tract_run *run;
    const gls_clean_cli *o;
    const char *tracks, *out;
    /* points of the streamlines that are scored; box of all their points, mm */
    gls_features features;
    float low[3], high[3];
    uint64_t n; /* number of streamlines of the file */
    /* for each streamline of the file, allocated at the end of the first pass: whether it stays, and its score */
    float *keep, *score;
    uint64_t n_repeats, n_loops, n_curved, n_sharp, n_outliers, n_parts, n_outside, n_equal;
    /* for each streamline that stays so far, in their order, whether the step at work drops it */
    bool *drops;
    size_t n_seen, capacity;
    float (*memory)[3];
    size_t n_memory;
    /* for each streamline its part, from 0 on; NULL: there are none. Their names, n_parts of them, and that of the
     * rejected ones */
    uint32_t *part;
    char **name;
    direction way;
} cleaning;

/* Widens the box, and keeps the points of streamlines that are no repetitions. */
static gls_status collect(void *user, const gls_streamlines *in)
{
    cleaning *c = user;
    for (uint64_t p = 0; p < in->offset[in->n]; p++)
        for (int k = 0; k < 3; k++) {
            c->low[k] = fminf(c->low[k], in->point[p][k]);
            c->high[k] = fmaxf(c->high[k], in->point[p][k]);
        }
    return gls_features_add(&c->features, in);
}

/* Passes the streamlines of the file that stay so far to a sink. */
static gls_status pass(cleaning *c, gls_sink sink)
{
    gls_tractogram_reader *reader = NULL;
    gls_filter_counts counts;
    gls_status status =
        c->n > 0 ? gls_tract_open_again(c->run, c->tracks, &reader) : gls_tract_open(c->run, c->tracks, false, &reader);
    const gls_sink next = sink;
    if (!status && c->keep) status = gls_filter_listed_create(c->keep, c->n, &counts, &next, &sink);
    status = gls_tract_pump(c->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Allocates the flag and the score of each streamline. At first all stay, with the score 1. */
static gls_status begin(cleaning *c, uint64_t n)
{
    c->n = n;
    c->keep = malloc((n + 1) * sizeof *c->keep);
    c->score = malloc((n + 1) * sizeof *c->score);
    if (!c->keep || !c->score) return gls_no_memory();
    for (uint64_t i = 0; i < n; i++) c->keep[i] = c->score[i] = 1;
    return GLS_OK;
}

/* Drops streamlines that stay so far and that are marked in drops[], and gives them a score. *n: how many. */
static void drop_marked(cleaning *c, const bool *drops, float score, uint64_t *n)
{
    size_t k = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        if (c->keep[i] == 0 || !drops[k++]) continue;
        c->keep[i] = 0;
        c->score[i] = score;
        ++*n;
    }
}

/* Drops repetitions. */
static gls_status drop_repeats(cleaning *c)
{
    if (!(c->o->duplicates > 0)) return GLS_OK;
    gls_features_init(&c->features, POINTS, false);
    gls_status status = pass(c, gls_features_sink(&c->features));
    if (!status) status = begin(c, c->features.n);
    bool *repeats = malloc(c->features.n + 1);
    if (!status && !repeats) status = gls_no_memory();
    if (!status) status = gls_outliers_repeats(&c->features, c->o->duplicates, repeats, NULL);
    if (!status) drop_marked(c, repeats, NAN, &c->n_repeats);
    free(repeats);
    gls_features_finish(&c->features);
    return status;
}

/* Whether a streamline has a loop: whether it runs round its mean point by as many degrees, as scilpy counts them. */
static gls_status test_loops(cleaning *c, const float (*point)[3], size_t n, bool *drops)
{
    *drops = gls_line_sweep(point, n) >= c->o->loops;
    return GLS_OK;
}

/* Whether a streamline turns too sharply. */
static gls_status test_curvature(cleaning *c, const float (*point)[3], size_t n, bool *drops)
{
    const size_t wanted = gls_line_spaced(gls_line_length(point, n), CURVATURE_STEP);
    if (!gls_list_grow(&c->memory, wanted, &c->n_memory, sizeof *c->memory)) return gls_no_memory();
    *drops = gls_line_curvature(point, n, CURVATURE_STEP, c->memory) > c->o->max_curvature;
    return GLS_OK;
}

/* A test of single streamlines. */
typedef struct shape_test {
    cleaning *c;
    gls_status (*drops)(cleaning *c, const float (*point)[3], size_t n, bool *drops);
} shape_test;

/* Tests the streamlines of a block. */
static gls_status test_shapes(void *user, const gls_streamlines *in)
{
    const shape_test *t = user;
    cleaning *c = t->c;
    gls_status status = GLS_OK;
    if (!gls_list_grow(&c->drops, c->n_seen + in->n, &c->capacity, sizeof *c->drops)) return gls_no_memory();
    for (uint64_t i = 0; i < in->n && !status; i++) {
        const size_t n = (size_t)(in->offset[i + 1] - in->offset[i]);
        bool *const drops = &c->drops[c->n_seen++];
        *drops = false;
        if (n > 0) status = t->drops(c, in->point + in->offset[i], n, drops);
    }
    return status;
}

/* Drops streamlines that a test of single streamlines finds. *n: how many. */
static gls_status drop_shapes(cleaning *c,
                              gls_status (*drops)(cleaning *c, const float (*point)[3], size_t n, bool *drops),
                              uint64_t *n)
{
    shape_test test = {c, drops};
    c->n_seen = 0;
    gls_status status = pass(c, (gls_sink){.append = test_shapes, .user = &test});
    if (!status && !c->keep) status = begin(c, c->n_seen);
    if (!status) drop_marked(c, c->drops, NAN, n);
    return status;
}

/* Drops clusters that turn more sharply than others. */
static gls_status drop_sharp(cleaning *c)
{
    gls_clusters *clusters = NULL;
    bool *drops = NULL;
    gls_status status = gls_bends_begin(c->o->sharp_turns, c->o->seed, &clusters);
    if (!status) status = pass(c, gls_clusters_sink(clusters));
    if (!status) status = gls_bends_find(clusters, &drops);
    if (!status && !c->keep) status = begin(c, gls_clusters_streamlines(clusters));
    if (!status) drop_marked(c, drops, NAN, &c->n_sharp);
    free(drops);
    gls_clusters_destroy(clusters);
    return status;
}

/* A streamline with its score. */
typedef struct scored {
    double score;
    uint64_t line;
} scored;

/* Comparison for qsort(): the lowest score first; of equal ones the later streamline. */
static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? -1 : 1;
    return (x->line < y->line) - (x->line > y->line);
}

/* Drops the streamlines with the lowest scores. score: n scores, of the streamlines that stay so far. */
static gls_status drop_lowest(cleaning *c, const double *score, size_t n)
{
    const gls_clean_cli *o = c->o;
    const double limit = o->method == METHOD_QB ? o->alpha : o->min_cci;
    scored *list = malloc((n + 1) * sizeof *list);
    if (!list) return gls_no_memory();
    size_t k = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        if (c->keep[i] == 0) continue;
        c->score[i] = (float)score[k];
        list[k] = (scored){score[k], i};
        k++;
    }
    qsort(list, n, sizeof *list, by_score);
    const size_t dropped = (size_t)floor((double)n * o->drop / 100 + 0.5);
    for (k = 0; k < n; k++)
        if (o->drop > 0 ? k < dropped : list[k].score < limit) {
            c->keep[list[k].line] = 0;
            c->n_outliers++;
        }
    free(list);
    return GLS_OK;
}

/* Scores streamlines by clusters or neighbours. */
static gls_status score_lines(cleaning *c)
{
    for (int k = 0; k < 3; k++) {
        c->low[k] = INFINITY;
        c->high[k] = -INFINITY;
    }
    gls_features_init(&c->features, GLS_OUTLIER_POINTS, c->o->method == METHOD_QB);
    gls_status status = pass(c, (gls_sink){.append = collect, .user = c});
    if (!status && !c->keep) status = begin(c, c->features.n);
    const gls_features *f = &c->features;
    double *score = malloc((f->n + 1) * sizeof *score), side = INFINITY;
    if (!status && !score) status = gls_no_memory();
    for (int k = 0; k < 3; k++) side = fmin(side, (double)(c->high[k] - c->low[k]));
    if (!status)
        status = c->o->method == METHOD_QB ? gls_outliers_depth(f, side, score)
                                           : gls_outliers_confidence(f, c->o->power, score, &c->n_equal);
    if (!status && c->n_equal > 0)
        gls_log(GLS_LOG_WARNING, "%s: %s streamlines have equal ones, which count as 0.01 mm away: give --duplicates",
                c->tracks, GLS_COUNT(c->n_equal));
    if (!status) status = drop_lowest(c, score, f->n);
    free(score);
    gls_features_finish(&c->features);
    return status;
}

/* Drops outliers by the distance from the core. */
static gls_status drop_far(cleaning *c)
{
    const gls_clean_cli *o = c->o;
    gls_bundles *bundles = NULL;
    gls_bundles_options options = gls_bundles_options_default();
    options.clean = true;
    options.cleaning = (gls_clean_options){o->clean_distance, o->clean_length_z, o->clean_rounds,
                                           o->clean_min,      o->clean_core,     o->clean_length};
    gls_status status = gls_bundles_whole("all", &options, &bundles);
    if (!status) status = pass(c, gls_bundles_sink(bundles));
    if (!status) status = gls_bundles_complete(bundles);
    if (!status && !c->keep) status = begin(c, gls_bundles_streamlines(bundles));
    if (!status) {
        const gls_bundle *b = &bundles->bundle[0];
        size_t m = 0;
        uint64_t k = 0;
        for (uint64_t i = 0; i < c->n; i++) {
            if (c->keep[i] == 0) continue;
            const bool is_member = m < b->n && b->member[m].index == k;
            m += is_member;
            k++;
            if (is_member) continue;
            c->keep[i] = 0;
            c->score[i] = 0;
            c->n_outliers++;
        }
    }
    gls_bundles_destroy(bundles);
    return status;
}

/* Names the parts, and the group of rejected streamlines behind them. n: number of parts. */
static gls_status name_groups(cleaning *c, size_t n)
{
    const char *file = gls_file_name(c->tracks);
    c->name = calloc(n + 1, sizeof *c->name);
    if (!c->name) return gls_no_memory();
    c->n_parts = n;
    for (size_t k = 0; k < n; k++)
        if (gls_asprintf(&c->name[k], "%.*s_%zu", (int)strcspn(file, "."), file, k + 1) < 0) return gls_no_memory();
    c->name[n] = gls_text_copy(group_name);
    return c->name[n] ? GLS_OK : gls_no_memory();
}

/* Divides what is left into parts, and drops the rest. */
static gls_status divide(cleaning *c)
{
    if (!(c->o->sub_bundles > 0)) return name_groups(c, 0);
    gls_cluster_options options = gls_cluster_options_default();
    gls_clusters *clusters = NULL;
    options.threshold = &c->o->sub_bundles;
    options.n_thresholds = 1;
    gls_status status = gls_clusters_create(&options, &clusters);
    if (!status) status = pass(c, gls_clusters_sink(clusters));
    if (!status) status = gls_clusters_complete(clusters);
    if (!status && !c->keep) status = begin(c, gls_clusters_streamlines(clusters));
    const double share = c->o->min_share > 0 ? c->o->min_share : MIN_SHARE;
    if (!status) {
        const double least = ceil((double)gls_clusters_streamlines(clusters) * share / 100);
        status = gls_clusters_reduce(clusters, (uint64_t)fmax(1, least), GLS_CLUSTER_NUMBERS_SIZE);
    }
    if (!status) status = name_groups(c, gls_clusters_count(clusters));
    c->part = status ? NULL : malloc((c->n + 1) * sizeof *c->part);
    if (!status && !c->part) status = gls_no_memory();
    const uint32_t *member = status ? NULL : gls_clusters_members(clusters);
    size_t k = 0;
    for (uint64_t i = 0; i < c->n && !status; i++) {
        c->part[i] = UINT32_MAX;
        if (c->keep[i] == 0) continue;
        c->part[i] = member[k] == GLS_CLUSTER_NONE ? UINT32_MAX : member[k];
        k++;
        if (c->part[i] != UINT32_MAX) continue;
        c->keep[i] = 0;
        c->n_outside++;
    }
    gls_clusters_destroy(clusters);
    return status;
}

/* Whether the name of the bundle says that it lies on the right. */
static bool is_right(const char *path)
{
    const char *file = gls_file_name(path);
    const size_t n = strcspn(file, ".");
    return (n >= 2 && strncmp(file + n - 2, "_R", 2) == 0) || (n >= 6 && strncmp(file + n - 6, "_right", 6) == 0);
}

/* Finds the mean, and the direction in which it runs. */
static gls_status find_direction(cleaning *c)
{
    const gls_clean_cli *o = c->o;
    gls_bundles_options options = gls_bundles_options_default();
    gls_bundles *bundles = NULL;
    gls_orientation wanted = c->way.asked.orientation;
    double core[POINTS][3], way[3];
    if (!o->orient) return GLS_OK;
    options.nodes = POINTS;
    options.keep_nodes = true;
    gls_status status = gls_bundles_whole("all", &options, &bundles);
    if (!status) status = pass(c, gls_bundles_sink(bundles));
    if (!status) status = gls_bundles_complete(bundles);
    if (!status && !c->keep) status = begin(c, gls_bundles_streamlines(bundles));
    if (!status) gls_bundles_core(bundles, 0, core);
    gls_bundles_destroy(bundles);
    if (status) return status;
    for (int p = 0; p < POINTS; p++)
        for (int k = 0; k < 3; k++) c->way.line[p][k] = (float)core[p][k];
    if (!(wanted.axis > 0 || wanted.centre || wanted.line)) {
        for (int k = 0; k < 3; k++) way[k] = fabs(core[POINTS - 1][k] - core[0][k]);
        wanted.axis = way[1] > way[0] ? 2 : 1;
        if (way[2] > way[wanted.axis - 1]) wanted.axis = 3;
    }
    float standard[GLS_ORIENT_POINTS][3];
    if (wanted.line) gls_line_resample(wanted.line, wanted.n_line, GLS_ORIENT_POINTS, standard);
    const bool mirrors = o->symmetric && wanted.axis == 1 && is_right(c->tracks);
    const bool turns = gls_line_is_backwards(&wanted, c->way.asked.centre, (const float(*)[3])standard,
                                             (const float(*)[3])c->way.line, POINTS);
    if (turns != mirrors) gls_line_reverse(c->way.line, POINTS);
    return GLS_OK;
}

/* Makes a sink that writes streamlines to a file: those with `wanted` in keep[]; NULL: all. info: of the input. */
static gls_status create_output(cleaning *c, const char *path, const float *wanted, const gls_tractogram_info *info,
                                const gls_grid *grid, gls_filter_counts *counts, gls_sink *sink)
{
    const gls_tract_output output = {.path = path,
                                     .info = info,
                                     .grid = grid,
                                     .added = {score_name, group_name},
                                     .drops_group_data = wanted != NULL};
    gls_status status = gls_tract_writer_create(c->run, &output, sink);
    const gls_sink next = *sink;
    if (!status && wanted) status = gls_filter_listed_create(wanted, c->n, counts, &next, sink);
    return status;
}

/* Writes the streamlines. dropped: for each 1 where it was dropped; group: for each its group, by its place in the
 * names. */
static gls_status write(cleaning *c, const float *dropped, const uint32_t *group)
{
    gls_tractogram_reader *reader = NULL;
    gls_filter_counts counts[2];
    gls_sink all[2] = {{0}}, sink = {0};
    gls_grid grid;
    size_t n = 0;
    const char *paths[] = {c->out, c->o->rejected};
    gls_status status = gls_tract_open_again(c->run, c->tracks, &reader);
    for (int k = 0; k < 2 && !status; k++) {
        gls_tractogram_format format;
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        const gls_grid *own = NULL;
        if (!paths[k]) continue;
        status = gls_tractogram_format_parse(paths[k], &format);
        if (!status && gls_tract_needs_grid(format)) {
            status = gls_tract_grid_choose(c->run, c->tracks, info, paths[k], &grid);
            own = &grid;
        }
        if (!status)
            status = create_output(c, paths[k],
                                   k == 1           ? dropped
                                   : c->o->keep_all ? NULL
                                                    : c->keep,
                                   info, own, &counts[k], &all[n]);
        n += !status;
    }
    if (!status) status = gls_sink_tee(all, n, &sink);
    for (size_t k = 0; k < n && status; k++) gls_sink_abort(&all[k]);
    gls_sink next = sink;
    const gls_orientation along = {.line = (const float(*)[3])c->way.line, .n_line = POINTS};
    if (!status && c->o->orient) status = gls_filter_orient_create(&along, &c->way.n_turned, &next, &sink);
    next = sink;
    const size_t n_groups = (size_t)c->n_parts + c->o->keep_all;
    const gls_line_groups groups = {(const char *const *)c->name, n_groups, group, c->n, c->tracks, NULL};
    if (!status && n_groups > 0) status = gls_filter_groups_create(&groups, &next, &sink);
    next = sink;
    const gls_column column = {score_name, GLS_TYPE_FLOAT32, 1, c->score};
    if (!status && c->o->method != METHOD_NONE) status = gls_filter_dps_create(&column, c->n, &next, &sink);
    status = gls_tract_pump(c->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Counts streamlines that stay, and writes. */
static gls_status finish(cleaning *c)
{
    float *dropped = malloc((c->n + 1) * sizeof *dropped);
    uint32_t *group = malloc((c->n + 1) * sizeof *group);
    uint64_t kept = 0;
    gls_status status = dropped && group ? GLS_OK : gls_no_memory();
    for (uint64_t i = 0; i < c->n && !status; i++) {
        dropped[i] = c->keep[i] == 0;
        group[i] = c->keep[i] == 0 ? (uint32_t)c->n_parts : c->part ? c->part[i] : UINT32_MAX;
        kept += c->keep[i] != 0;
    }
    if (!status) status = write(c, dropped, group);
    free(dropped);
    free(group);
    if (status) return status;
    const struct {
        const char *name, *words;
        uint64_t n;
        bool asked;
    } counts[] = {
        {"duplicates", "duplicates", c->n_repeats, true},
        {"loops", "loops", c->n_loops, c->o->loops > 0},
        {"curved", "with too much curvature", c->n_curved, c->o->max_curvature > 0},
        {"sharp_turns", "with sharp turns", c->n_sharp, c->o->sharp_turns > 0},
        {"outliers", "outliers", c->n_outliers, true},
        {"in_no_part", "in no part", c->n_outside, c->o->sub_bundles > 0},
    };
    gls_text text = {0};
    gls_tract_run_count(c->run, "streamlines", c->n);
    gls_tract_run_count(c->run, "kept", kept);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        if (!counts[k].asked) continue;
        gls_tract_run_count(c->run, counts[k].name, counts[k].n);
        gls_text_printf(&text, "%s%s %s", k > 0 ? ", " : "; ", GLS_COUNT(counts[k].n), counts[k].words);
    }
    if (c->o->sub_bundles > 0) gls_tract_run_count(c->run, "parts", c->n_parts);
    if (c->o->orient) gls_tract_run_count(c->run, "turned_round", c->way.n_turned);
    gls_tract_run_message(c->run, "%s of %s streamlines kept%s", GLS_COUNT(kept), GLS_COUNT(c->n),
                          text.data ? text.data : "");
    gls_text_finish(&text);
    return GLS_OK;
}

/* Refuses options that have no effect, or nothing to do. */
static gls_status check(const gls_clean_cli *o)
{
    const bool given = o->orient && gls_tract_orient_file(o->orient) && strcmp(o->orient, "auto") != 0;
    if (o->method == METHOD_NONE && !(o->duplicates > 0) && !(o->loops > 0) && !(o->max_curvature > 0) &&
        !(o->sharp_turns > 0) && !(o->sub_bundles > 0) && !o->orient)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "clean: --method none leaves nothing to do: give --duplicates, --loops, --max-curvature, "
                        "--sharp-turns, --sub-bundles or --orient");
    if (o->min_share > 0 && !(o->sub_bundles > 0)) return gls_fail(GLS_ERR_ARGUMENT, "--min-share needs --sub-bundles");
    if (o->symmetric && (!o->orient || given))
        return gls_fail(GLS_ERR_ARGUMENT, "--symmetric needs --orient auto, x, y or z");
    return GLS_OK;
}

/* Drops streamlines, step by step. */
static gls_status drop(cleaning *c)
{
    const gls_clean_cli *o = c->o;
    gls_status status = drop_repeats(c);
    if (!status && o->loops > 0) status = drop_shapes(c, test_loops, &c->n_loops);
    if (!status && o->max_curvature > 0) status = drop_shapes(c, test_curvature, &c->n_curved);
    if (!status && o->sharp_turns > 0) status = drop_sharp(c);
    if (!status && (o->method == METHOD_QB || o->method == METHOD_CCI)) status = score_lines(c);
    if (!status && o->method == METHOD_MAHALANOBIS) status = drop_far(c);
    return status ? status : divide(c);
}

gls_status gls_tract_clean(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_clean_cli *o = options;
    cleaning c = {.run = run, .o = o, .tracks = file[0], .out = file[1]};
    const char *asked = o->orient && strcmp(o->orient, "auto") != 0 ? o->orient : NULL;
    (void)n;
    gls_status status = check(o);
    if (!status)
        status =
            gls_tract_run_reads_all(run, GLS_PATHS(c.tracks, run->options.reference, gls_tract_orient_file(asked)));
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(c.out, o->rejected));
    if (!status) status = gls_tract_orient_read(&c.way.asked, run, asked);
    if (!status) status = drop(&c);
    if (!status) status = find_direction(&c);
    if (!status) status = finish(&c);
    gls_tract_orient_finish(&c.way.asked);
    gls_features_finish(&c.features);
    for (size_t k = 0; c.name && k <= c.n_parts; k++) free(c.name[k]);
    free(c.name);
    free(c.part);
    free(c.drops);
    free(c.memory);
    free(c.keep);
    free(c.score);
    return status;
}
