/* Scores of a tractogram: compares it with known bundles, or with another tractogram. */
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/filters.h>
#include <glslines/score.h>

#include "image/region_area.h"
#include "image/reorient.h"
#include "tools/tract_results.h"
#include "tracts/bundle_judge.h"
#include "tracts/bundle_parts.h"
#include "tracts/bundle_table.h"
#include "tracts/line_geometry.h"
#include "tracts/roi_tracks.h"
#include "tracts/shape.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* State of `glslines score`. */
typedef struct scoring {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_score_cli *o;
    /* path of the tractogram */
    const char *tracks;
    /* grid of the masks and maps that are compared */
    gls_grid grid;
    /* the text that is printed */
    gls_text shown;
} scoring;

/* Returns a byte for each voxel of the grid: 1 if the centre of the voxel lies in `region`, else 0. From malloc; NULL:
 * out of memory. */
static uint8_t *rasterise(const scoring *s, const gls_rois *rois, size_t region)
{
    const size_t n = gls_grid_voxels(&s->grid);
    uint8_t *inside = malloc(n);
    double p[3];
    for (size_t v = 0; v < n && inside; v++) {
        /* centre of the voxel, world mm */
        gls_region_centre(&s->grid, v, p);
        gls_affine_apply(s->grid.affine, p, p);
        inside[v] = gls_rois_has(rois, region, (const float[3]){(float)p[0], (float)p[1], (float)p[2]});
    }
    return inside;
}

/* Makes the known ends of a bundle from its rule and, if the rule has a truth, the known mask: bytes on the grid. */
static gls_status make_bundle(scoring *s, gls_bundle_rules *rules, size_t b, gls_rois *masks,
                              struct gls_score_truth_bundle *bundle)
{
    gls_bundle_rule *r = &rules->rule[b];
    size_t region;
    if ((!r->truth && !rules->is_json) || r->end[0] == GLS_RULE_NONE || r->end[1] == GLS_RULE_NONE)
        return gls_fail(GLS_ERR_INPUT, "%s: bundle %s cannot be scored without %s", s->o->truth, r->name,
                        rules->is_json ? "the keys endpoints, or head and tail"
                                       : "the columns truth and ends, or truth, start and end");
    bundle->name = r->name;
    for (int e = 0; e < 2; e++) {
        bundle->ends[e] = rasterise(s, rules->rois, r->end[e]);
        if (!bundle->ends[e]) return gls_no_memory();
        r->end[e] = GLS_RULE_NONE; /* the score tests the ends itself, because it may widen the region */
    }
    if (!r->truth) return GLS_OK;
    /* the truth is a region, or a tractogram, whose visited voxels count */
    gls_status status = gls_rois_add_any(masks, "truth", r->truth, &s->grid, 0, &region);
    if (status) return status;
    bundle->mask = rasterise(s, masks, region);
    if (!bundle->mask) return gls_no_memory();
    for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++)
        if (bundle->mask[v]) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the truth of bundle %s covers no voxel of the grid, which is that of --template, else that of "
                    "the tractogram",
                    s->o->truth, r->name);
}

/* State of keep(): the rules other than those of ends. */
typedef struct other_rules {
    /* rules of all bundles */
    const gls_bundle_rules *rules;
    /* space for the regions that a streamline meets */
    gls_roi_hits hits;
} other_rules;

/* Callback gls_score_truth.keep. Bit b of `joined`: the streamline joins the ends of bundle b. Returns the bits of
 * those bundles whose other rules the streamline passes. */
static uint64_t keep(void *user, const float (*point)[3], size_t n, uint64_t joined)
{
    other_rules *other = user;
    const double length = gls_line_length(point, n);
    gls_bundle_direction direction;
    uint64_t kept = 0;
    gls_rois_find(other->rules->rois, &other->hits, point, n);
    for (size_t b = 0; b < other->rules->n; b++)
        if ((joined >> b & 1) &&
            gls_bundle_judge(other->rules, b, &other->hits, point, n, length, &direction) == GLS_BUNDLE_TESTS)
            kept |= (uint64_t)1 << b;
    return kept;
}

/* Function `append` of a sink: adds a batch to the score. user: the gls_score. */
static gls_status add_to_score(void *user, const gls_streamlines *in)
{
    return gls_score_add(user, in);
}

void gls_score_add_counts(cJSON *method, const gls_score_result *r)
{
    const struct {
        const char *key;
        uint64_t n;
    } counts[] = {{"streamlines", r->streamlines},      {"valid", r->valid},
                  {"wrong_path", r->wrong_path},        {"invalid_connections", r->invalid},
                  {"no_connections", r->no_connection}, {"valid_bundles", r->valid_bundles},
                  {"bundles_in_truth", r->n_bundles},   {"invalid_bundles", r->invalid_bundles}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) gls_json_uint(method, counts[i].key, counts[i].n);
    GLS_JSON_MEMBERS(method, r, mean_overlap, mean_overreach, mean_overreach_gt, mean_f1);
}

void gls_score_add_bundles(cJSON *method, const gls_score_result *r, const gls_score_bundle *list)
{
    cJSON *bundles = cJSON_AddArrayToObject(method, "bundles");
    for (size_t b = 0; b < r->n_bundles; b++) {
        const gls_score_bundle *s = &list[b];
        cJSON *bundle = cJSON_CreateObject();
        cJSON_AddItemToArray(bundles, bundle);
        GLS_JSON_MEMBERS(bundle, s, name, valid);
        gls_json_uint(bundle, "voxels", s->truth);
        gls_json_uint(bundle, "voxels_found", s->found);
        gls_json_uint(bundle, "voxels_beyond", s->beyond);
        GLS_JSON_MEMBERS(bundle, s, overlap, overreach, overreach_gt, f1);
    }
}

/* Adds the score to the text and to the sidecar. */
static void report_truth(scoring *s, const gls_score_result *r)
{
    double percent = r->streamlines ? 100 / (double)r->streamlines : 0;
    cJSON *root = cJSON_AddObjectToObject(s->run->root, "score");
    gls_text_printf(&s->shown,
                    "%" PRIu64 " streamlines: VS %.1f %%, WPC %.1f %%, IC %.1f %%, NC %.1f %%; VB %" PRIu64
                    " of %zu, IB %" PRIu64 "; OL %.1f %%, OR %.1f %%, f1 %.1f %%\n",
                    r->streamlines, percent * (double)r->valid, percent * (double)r->wrong_path,
                    percent * (double)r->invalid, percent * (double)r->no_connection, r->valid_bundles, r->n_bundles,
                    r->invalid_bundles, 100 * r->mean_overlap, 100 * r->mean_overreach, 100 * r->mean_f1);
    gls_text_puts(&s->shown, "bundle\tVS\tOL\tOR\tORn\tf1\n");
    for (size_t b = 0; b < r->n_bundles; b++) {
        const gls_score_bundle *k = &r->bundle[b];
        gls_field_show(&s->shown, k->name, '\t');
        gls_text_printf(&s->shown, "\t%" PRIu64 "\t%.4f\t%.4f\t%.4f\t%.4f\n", k->valid, k->overlap, k->overreach,
                        k->overreach_gt, k->f1);
    }
    gls_score_add_counts(root, r);
    gls_score_add_bundles(root, r, r->bundle);
}

/* Scores the tractogram against known bundles. */
static gls_status score_truth(scoring *s)
{
    gls_bundle_rules rules;
    gls_rois *masks = NULL;
    gls_tractogram_reader *reader = NULL;
    gls_score *score = NULL;
    gls_status status = gls_bundle_rules_read(s->o->truth, s->o->folder, &s->grid, false, NULL, &rules);
    if (status) return status;
    status = gls_run_reads_all(&s->run->files, (const char *const *)rules.file, rules.n_files);
    other_rules other = {.rules = &rules};
    struct gls_score_truth_bundle *bundle = calloc(rules.n, sizeof *bundle);
    if (!status && !bundle) status = gls_no_memory();
    if (!status) status = gls_rois_create(GLS_ROI_TEST_SEGMENT, NULL, &masks);
    for (size_t b = 0; b < rules.n && !status; b++) status = make_bundle(s, &rules, b, masks, &bundle[b]);
    const gls_score_truth truth = {s->grid, rules.n, bundle, keep, &other};
    gls_score_options options = gls_score_options_default();
    if (rules.is_json) { /* score by the rules of scilpy */
        options.end_distance = 0;
        options.route_distance = GLS_SCORE_ANY_ROUTE;
        options.ends_are_beyond = true;
    }
    /* --end-distance and --route-distance win over the rules of scilpy */
    if (s->o->end_distance >= 0) options.end_distance = s->o->end_distance;
    if (s->o->route_distance >= 0) options.route_distance = s->o->route_distance;
    cJSON *rule = cJSON_AddObjectToObject(s->run->root, "scoring");
    cJSON_AddNumberToObject(rule, "end_distance_voxels", options.end_distance);
    if (options.route_distance == GLS_SCORE_ANY_ROUTE)
        cJSON_AddStringToObject(rule, "route_distance_voxels", "any");
    else
        cJSON_AddNumberToObject(rule, "route_distance_voxels", options.route_distance);
    cJSON_AddBoolToObject(rule, "ends_are_beyond", options.ends_are_beyond);
    if (!status) status = gls_score_create_for(&truth, &options, &score);
    if (!status) status = gls_tract_open(s->run, s->tracks, false, &reader);
    /* the score judges each streamline as it passes, and keeps none */
    gls_sink sink = {.append = add_to_score, .user = score};
    status = gls_tract_pump(s->run, reader, &sink, status);
    if (!status && other.hits.failed)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    gls_score_result result;
    if (!status) {
        gls_score_get(score, &result);
        report_truth(s, &result);
        gls_tract_run_count(s->run, "read", result.streamlines);
    }
    /* free the masks and ends, which the score had borrowed */
    for (size_t b = 0; b < rules.n && bundle; b++) {
        free((void *)bundle[b].mask);
        for (int e = 0; e < 2; e++) free((void *)bundle[b].ends[e]);
    }
    free(bundle);
    gls_score_destroy(score);
    gls_tractogram_reader_close(reader);
    gls_rois_destroy(masks);
    gls_roi_hits_finish(&other.hits);
    gls_bundle_rules_finish(&rules);
    return status;
}

/* One of two tractograms that are compared. */
typedef struct side {
    /* streamlines in each voxel */
    gls_density *density;
    /* the values of `density`, one for each voxel */
    double *map;
    /* lengths of the streamlines */
    gls_bundle_stats *lengths;
    /* all streamlines, to count those that both tractograms have */
    gls_line_set *set;
    /* only for the second tractogram. taken: number of its streamlines; kept: number of those that the first has, too
     */
    gls_filter_counts shared;
} side;

/* Function `append` of a sink: adds the lengths of a batch. */
static gls_status add_lengths(void *user, const gls_streamlines *in)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < in->n && !status; i++)
        status = gls_bundle_stats_add(((side *)user)->lengths, in->point + in->offset[i],
                                      (size_t)(in->offset[i + 1] - in->offset[i]), 1);
    return status;
}

/* Function `append` of a sink that takes all and keeps nothing. */
static gls_status drop(void *user, const gls_streamlines *in)
{
    (void)user;
    (void)in;
    return GLS_OK;
}

/* Measures a tractogram. other: the streamlines of the first tractogram if this is the second; else NULL. */
static gls_status measure(scoring *s, const char *path, side *a, gls_line_set *other)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0}, all[4];
    const gls_sink nowhere = {.append = drop};
    size_t n = 0;
    gls_status status = gls_density_create(&s->grid, NULL, &a->density);
    /* keep all lengths, for the Kolmogorov-Smirnov statistic */
    if (!status) status = gls_bundle_stats_create(NULL, SIZE_MAX, &a->lengths);
    /* streamlines are equal if their points agree to 1e-4 mm, in either direction */
    if (!status) status = gls_line_set_create(4, GLS_LINES_EITHER_WAY, &a->set);
    if (!status) {
        all[n++] = gls_density_sink(a->density);
        all[n++] = (gls_sink){.append = add_lengths, .user = a};
        all[n++] = gls_line_set_sink(a->set);
    }
    if (!status && other) {
        status = gls_filter_set_create(other, GLS_KEEP_MEMBERS, &a->shared, &nowhere, &all[n]);
        n += !status;
    }
    if (!status) status = gls_sink_tee(all, n, &sink);
    if (!status) status = gls_tract_open(s->run, path, false, &reader);
    status = gls_tract_pump(s->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    a->map = status ? NULL : malloc(gls_grid_voxels(&s->grid) * sizeof *a->map);
    if (!status && !a->map) status = gls_no_memory();
    if (!status) gls_density_get(a->density, a->map);
    return status;
}

/* Two-sample Kolmogorov-Smirnov statistic: the largest difference, 0 .. 1, of the two cumulative distributions of
 * lengths; NaN: a tractogram has no streamlines. */
static double kolmogorov_smirnov(gls_bundle_stats *a, gls_bundle_stats *b)
{
    size_t n, m, i = 0, k = 0;
    const double *x = gls_bundle_stats_sorted(a, &n), *y = gls_bundle_stats_sorted(b, &m);
    double largest = 0;
    while (i < n && k < m) {
        double at = fmin(x[i], y[k]);
        while (i < n && x[i] <= at) i++;
        while (k < m && y[k] <= at) k++;
        largest = fmax(largest, fabs((double)i / (double)n - (double)k / (double)m));
    }
    return n > 0 && m > 0 ? largest : NAN;
}

/* Compares two tractograms: overlap of their maps, correlation, lengths, shared streamlines. */
static void report_pair(scoring *s, const side *a, const side *b)
{
    double both = 0, one = 0, sum = 0, shared = 0, sx = 0, sy = 0, xx = 0, yy = 0, xy = 0, n = 0;
    /* skip voxels that neither tractogram visits, since they would dominate the correlation */
    for (size_t v = 0; v < gls_grid_voxels(&s->grid); v++) {
        double x = a->map[v], y = b->map[v];
        if (x == 0 && y == 0) continue;
        both += x > 0 && y > 0;
        one += (x > 0) + (y > 0);
        if (x > 0 && y > 0) shared += x + y;
        sum += x + y;
        n++;
        sx += x;
        sy += y;
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    /* the correlation is undefined if a map has one value in all these voxels */
    const double spread_x = n * xx - sx * sx, spread_y = n * yy - sy * sy;
    const double correlation = spread_x > 0 && spread_y > 0 ? (n * xy - sx * sy) / sqrt(spread_x * spread_y) : NAN;
    const struct {
        const char *name;
        double value;
        /* dice: of the visited voxels; weighted_dice: by the numbers of streamlines; density_correlation: Pearson's,
         * over visited voxels */
    } rows[] = {{"dice", 2 * both / one},
                {"weighted_dice", shared / sum},
                {"density_correlation", correlation},
                {"length_distance", kolmogorov_smirnov(a->lengths, b->lengths)},
                {"shared_streamlines", (double)b->shared.kept}};
    cJSON *pair = cJSON_AddObjectToObject(s->run->root, "comparison");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        gls_json_double(pair, rows[k].name, rows[k].value);
        if (isnan(rows[k].value)) /* printf() would show the sign of a NaN, which has no meaning */
            gls_text_printf(&s->shown, "%s\tnan\n", rows[k].name);
        else
            gls_text_printf(&s->shown, "%s\t%.6g\n", rows[k].name, rows[k].value);
    }
}

/* Compares two tractograms: maps, lengths, and streamlines that both have. */
static gls_status compare(scoring *s)
{
    side side[2] = {{0}, {0}};
    gls_status status = measure(s, s->tracks, &side[0], NULL);
    if (!status) status = measure(s, s->o->against, &side[1], side[0].set);
    if (!status) report_pair(s, &side[0], &side[1]);
    for (int k = 0; k < 2; k++) {
        gls_density_destroy(side[k].density);
        gls_bundle_stats_destroy(side[k].lengths);
        gls_line_set_destroy(side[k].set);
        free(side[k].map);
    }
    return status;
}

/* Chooses the grid on which maps are compared: --template, or that of the tractogram. */
static gls_status choose_grid(scoring *s)
{
    gls_tractogram_reader *reader = NULL;
    if (s->o->template_image) return gls_grid_read(s->o->template_image, &s->grid);
    gls_status status = gls_tract_open(s->run, s->tracks, false, &reader);
    if (status) return status;
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    s->grid = info->grid;
    if (!info->has_grid) status = gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid: give --template IMAGE", s->tracks);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_score_tracks(gls_tract_run *run, const gls_score_cli *o, const char *tracks)
{
    scoring s = {.run = run, .o = o, .tracks = tracks};
    if (!o->truth == !o->against)
        return gls_fail(GLS_ERR_ARGUMENT, "score: TRACKS needs --truth or --against, not both");
    gls_status status = choose_grid(&s);
    if (!status) status = o->truth ? score_truth(&s) : compare(&s);
    run->printed = gls_text_take(&s.shown);
    return status;
}
