/* `glslines clean`: drops streamlines that repeat others, and outliers. Passes over the tractogram: one finds
 * repetitions, one scores what is left, the last writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/bundles.h>
#include <glslines/filters.h>

#include "geometry/outliers.h"
#include "streamlines/filter_groups.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tracts/bundle_parts.h"
#include "util/numbers.h"
#include "util/status.h"

/* values of --method, in the order of its choices */
enum { METHOD_QB, METHOD_CCI, METHOD_MAHALANOBIS, METHOD_NONE };

/* Points at which repetitions are compared. */
enum { REPEAT_POINTS = 20 };

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
    uint64_t n_repeats, n_outliers, n_equal;
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

/* Drops repetitions. */
static gls_status drop_repeats(cleaning *c)
{
    if (!(c->o->duplicates > 0)) return GLS_OK;
    gls_features_init(&c->features, REPEAT_POINTS, false);
    gls_status status = pass(c, gls_features_sink(&c->features));
    if (!status) status = begin(c, c->features.n);
    bool *repeats = malloc(c->features.n + 1);
    if (!status && !repeats) status = gls_no_memory();
    if (!status) status = gls_outliers_repeats(&c->features, c->o->duplicates, repeats, NULL);
    for (uint64_t i = 0; i < c->n && !status; i++)
        if (repeats[i]) {
            c->keep[i] = 0;
            c->score[i] = NAN;
            c->n_repeats++;
        }
    free(repeats);
    gls_features_finish(&c->features);
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

/* Writes the streamlines. dropped: for each 1 where it was dropped; group: for each 0 where it was dropped, else 1. */
static gls_status write(cleaning *c, const float *dropped, const uint32_t *group)
{
    static const char *const names[] = {group_name};
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
    const gls_line_groups groups = {names, 1, group, c->n, c->tracks};
    if (!status && c->o->keep_all) status = gls_filter_groups_create(&groups, &next, &sink);
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
        group[i] = c->keep[i] != 0;
        kept += c->keep[i] != 0;
    }
    if (!status) status = write(c, dropped, group);
    free(dropped);
    free(group);
    if (status) return status;
    gls_tract_run_count(c->run, "streamlines", c->n);
    gls_tract_run_count(c->run, "kept", kept);
    gls_tract_run_count(c->run, "duplicates", c->n_repeats);
    gls_tract_run_count(c->run, "outliers", c->n_outliers);
    gls_tract_run_message(c->run, "%s of %s streamlines kept; %s duplicates, %s outliers", GLS_COUNT(kept),
                          GLS_COUNT(c->n), GLS_COUNT(c->n_repeats), GLS_COUNT(c->n_outliers));
    return GLS_OK;
}

gls_status gls_tract_clean(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_clean_cli *o = options;
    cleaning c = {.run = run, .o = o, .tracks = file[0], .out = file[1]};
    (void)n;
    if (o->method == METHOD_NONE && !(o->duplicates > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "clean: --method none leaves nothing to do: give --duplicates");
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(c.tracks, run->options.reference));
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(c.out, o->rejected));
    if (!status) status = drop_repeats(&c);
    if (!status && (o->method == METHOD_QB || o->method == METHOD_CCI)) status = score_lines(&c);
    if (!status && o->method == METHOD_MAHALANOBIS) status = drop_far(&c);
    if (!status) status = finish(&c);
    gls_features_finish(&c.features);
    free(c.keep);
    free(c.score);
    return status;
}
