/* Collects streamlines into bundles: tests each streamline against the rules of all bundles, keeps the members, and in
 * a second pass filters streamlines and flips them to the direction of their bundle. */
#include "streamlines/builder.h"
#include "tracts/other_space.h"
#include "tracts/bundle_core.h"
#include "tracts/bundle_judge.h"
#include "tracts/bundle_parts.h"
#include "tracts/bundle_table.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/select.h>

#include "streamlines/filter_parts.h"
#include "tracts/line_geometry.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

/* --- The choice of the nearest bundle for streamlines that may belong to only one. */

/* Distances are rounded to 1e-4 mm, so that smaller differences count as equal. */
#define STEPS_OF_MM 1e4

/* Distances of a streamline from the regions of a bundle, mm; measure() returns them in steps of 1e-4 mm. */
typedef struct nearness {
    double from_regions; /* sum over include, start and end regions before widening, and the nearest of include_any */
    double from_centres; /* mean over the centres of these regions */
} nearness;

/* Whether the distances a are smaller: those from regions, of equal ones those from centres. */
static bool is_nearer(nearness a, nearness b)
{
    return a.from_regions < b.from_regions || (a.from_regions == b.from_regions && a.from_centres < b.from_centres);
}

/* Returns the sum with the distances, mm, of a line of n points from one region added. */
static nearness add(nearness sum, const gls_rois *rois, size_t index, const float (*point)[3], size_t n)
{
    double from_centre;
    sum.from_regions += gls_rois_distance(rois, index, point, n, &from_centre);
    sum.from_centres += from_centre;
    return sum;
}

/* Distances of a streamline from a bundle's regions. GLS_BUNDLE_UNKNOWN: the direction with the nearer ends counts. */
static nearness measure(const gls_bundle_rules *rules, const gls_bundle_rule *r, gls_bundle_direction direction,
                        const float (*point)[3], size_t n)
{
    nearness sum = {0, 0}, nearest = {INFINITY, INFINITY}, ends[2] = {{0, 0}, {0, 0}};
    size_t n_regions = r->n_include + (r->n_include_any > 0);
    for (size_t k = 0; k < r->n_include; k++) sum = add(sum, rules->rois, r->include[k], point, n);
    for (size_t k = 0; k < r->n_include_any; k++) {
        const nearness one = add((nearness){0, 0}, rules->rois, r->include_any[k], point, n);
        if (is_nearer(one, nearest)) nearest = one;
    }
    if (r->n_include_any > 0)
        sum = (nearness){sum.from_regions + nearest.from_regions, sum.from_centres + nearest.from_centres};
    for (int e = 0; e < 2; e++) {
        if (r->end[e] == GLS_RULE_NONE) continue;
        for (int backwards = 0; backwards < 2; backwards++)
            ends[backwards] = add(ends[backwards], rules->rois, r->end[e], &point[e == backwards ? 0 : n - 1], 1);
        n_regions++;
    }
    bool is_backwards = direction == GLS_BUNDLE_AGAINST;
    if (direction == GLS_BUNDLE_UNKNOWN) is_backwards = is_nearer(ends[1], ends[0]);
    if (n_regions == 0) return (nearness){INFINITY, INFINITY};
    sum.from_regions = rint((sum.from_regions + ends[is_backwards].from_regions) * STEPS_OF_MM);
    sum.from_centres = rint((sum.from_centres + ends[is_backwards].from_centres) / (double)n_regions * STEPS_OF_MM);
    return sum;
}

/* Chooses, for a streamline that passes the tests of several bundles, the nearest of them; rules->n: it passes none.
 * verdict and direction have an entry for each bundle; the verdict GLS_BUNDLE_TESTS means that it passes. The distance
 * is the sum of distances from the include, start and end regions before widening, and from the nearest of include_any,
 * 0 if the streamline meets all of them; among equally near bundles the smallest mean distance from the centres of
 * these regions decides, then the order. Bundles without regions come last. */
static size_t choose_bundle(const gls_bundle_rules *rules, const uint8_t *verdict, const uint8_t *direction,
                            const float (*point)[3], size_t n)
{
    nearness best = {INFINITY, INFINITY};
    size_t chosen = rules->n;
    for (size_t k = 0; k < rules->n; k++) {
        if (verdict[k] != GLS_BUNDLE_TESTS) continue;
        const nearness one = measure(rules, &rules->rule[k], (gls_bundle_direction)direction[k], point, n);
        if (chosen < rules->n && !is_nearer(one, best)) continue;
        best = one;
        chosen = k;
    }
    return chosen;
}

gls_bundles_options gls_bundles_options_default(void)
{
    return (gls_bundles_options){.size = sizeof(gls_bundles_options),
                                 .nodes = 100,
                                 .cleaning = {.distance = 4, .length_z = 4, .rounds = 5, .min = 20, .core = 0.6}};
}

/* Creates the bundles and takes ownership of the rules, also if it fails. */
static gls_status create(gls_bundle_rules *rules, const gls_bundles_options *options, gls_bundles **out)
{
    gls_bundles_options o = options ? *options : gls_bundles_options_default();
    gls_bundles *b = calloc(1, sizeof *b);
    if (b) {
        b->options = o;
        b->n_threads = omp_get_max_threads();
        b->hits = calloc((size_t)b->n_threads, sizeof *b->hits);
        b->bundle = calloc(rules->n, sizeof *b->bundle);
        b->rules = *rules;
        *rules = (gls_bundle_rules){.n = 0};
    }
    if (!b || !b->hits || !b->bundle) {
        gls_bundle_rules_finish(rules);
        gls_bundles_destroy(b);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
    }
    for (size_t i = 0; i < b->rules.n; i++) {
        const gls_bundle_rule *r = &b->rules.rule[i];
        if (o.clip && r->n_include < 2) {
            gls_status status = gls_fail(
                GLS_ERR_INPUT,
                "--clip: bundle %s has fewer than two include regions, between which streamlines would be clipped",
                r->name);
            gls_bundles_destroy(b);
            return status;
        }
        bool has_direction = r->n_include >= 2 || (r->end[0] != GLS_RULE_NONE) != (r->end[1] != GLS_RULE_NONE) ||
                             (r->end[0] != GLS_RULE_NONE && r->end[1] != GLS_RULE_NONE) || r->ordered;
        b->bundle[i].directed = o.orientation != GLS_ORIENT_AUTO;
        b->bundle[i].keeps_nodes = o.keep_nodes || o.clean || r->clean || (!has_direction && !b->bundle[i].directed);
    }
    if (o.orientation == GLS_ORIENT_GIVEN && o.given->line)
        gls_line_resample(o.given->line, o.given->n_line, GLS_ORIENT_POINTS, b->standard);
    *out = b;
    return GLS_OK;
}

/* Checks the options of any bundles; NULL: the defaults. */
static gls_status check_options(const gls_bundles_options *options)
{
    GLS_REQUIRE_SIZE(options);
    if (!options) return GLS_OK;
    const gls_clean_options *cleaning = &options->cleaning;
    GLS_REQUIRE(options->nodes >= 2);
    GLS_REQUIRE_ENUMERATOR(options->orientation, GLS_ORIENT_GIVEN);
    GLS_REQUIRE(!isnan(cleaning->distance) && !isnan(cleaning->length_z) && !isnan(cleaning->core));
    return GLS_OK;
}

gls_status gls_bundles_read(const char *path, const gls_bundles_options *options, gls_bundles **bundles)
{
    GLS_REQUIRE(path && bundles);
    return gls_bundles_read_in(path, options, NULL, bundles);
}

gls_status gls_bundles_read_in(const char *path, const gls_bundles_options *options, const gls_transform *space,
                               gls_bundles **bundles)
{
    gls_bundle_rules rules;
    gls_status status = check_options(options);
    if (status) return status;
    status = gls_bundle_rules_read(path, options ? options->folder : NULL, options ? options->grid : NULL,
                                   options && options->unique, space, &rules);
    return status ? status : create(&rules, options, bundles);
}

/* Makes n bundles with these names and no test. */
static gls_status make_whole_rules(const char *const *names, size_t n, gls_bundle_rules *rules)
{
    *rules = (gls_bundle_rules){.n = 0};
    for (size_t i = 0; i < n; i++) GLS_REQUIRE(names[i]);
    gls_status status = gls_rois_create(GLS_ROI_TEST_SEGMENT, NULL, &rules->rois);
    for (size_t i = 0; i < n && !status; i++) {
        status = gls_bundle_rules_add(rules, NULL);
        if (!status && !(rules->rule[i].name = gls_text_copy(names[i])))
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    }
    if (status) gls_bundle_rules_finish(rules);
    return status;
}

gls_status gls_bundles_whole(const char *name, const gls_bundles_options *options, gls_bundles **bundles)
{
    GLS_REQUIRE(name && bundles);
    gls_bundle_rules rules;
    gls_status status = check_options(options);
    if (!status) status = make_whole_rules(&name, 1, &rules);
    return status ? status : create(&rules, options, bundles);
}

gls_status gls_bundles_groups(const char *const *names, const bool *directed, size_t n,
                              const gls_bundles_options *options, gls_bundles **bundles)
{
    GLS_REQUIRE(names && n >= 1 && bundles);
    gls_bundle_rules rules;
    gls_status status = check_options(options);
    if (!status) status = make_whole_rules(names, n, &rules);
    if (!status) status = create(&rules, options, bundles);
    if (status) return status;
    (*bundles)->by_group = true;
    for (size_t i = 0; directed && i < n; i++) (*bundles)->bundle[i].directed |= directed[i];
    return GLS_OK;
}

void gls_bundles_destroy(gls_bundles *b)
{
    if (!b) return;
    for (size_t i = 0; b->bundle && i < b->rules.n; i++) {
        free(b->bundle[i].member);
        free(b->bundle[i].node);
    }
    for (int i = 0; b->hits && i < b->n_threads; i++) gls_roi_hits_finish(&b->hits[i]);
    gls_bundle_rules_finish(&b->rules);
    free(b->bundle);
    free(b->hits);
    free(b->verdict);
    free(b->direction);
    free(b);
}

/* Fills in the verdicts and directions of streamline i for all bundles. */
static void judge(void *user, int thread, const gls_streamlines *s, size_t i)
{
    gls_bundles *b = user;
    gls_roi_hits *hits = &b->hits[thread];
    const float(*point)[3] = s->point + s->offset[i];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]), m = b->rules.n;
    uint8_t *verdict = &b->verdict[i * m], *way = &b->direction[i * m];
    double length = gls_line_length(point, n);
    if (n > 0) gls_rois_find(b->rules.rois, hits, point, n);
    for (size_t k = 0; k < m; k++) {
        gls_bundle_direction direction = GLS_BUNDLE_UNKNOWN;
        gls_bundle_test test = GLS_BUNDLE_LENGTH;
        if (n > 0 && b->by_group)
            test = gls_column_value(&s->group[k], i) ? GLS_BUNDLE_TESTS : GLS_BUNDLE_INCLUDE;
        else if (n > 0 && !hits->failed)
            test = gls_bundle_judge(&b->rules, k, hits, point, n, length, &direction);
        verdict[k] = (uint8_t)test;
        way[k] = (uint8_t)direction;
    }
    if (n > 0 && b->options.unique) {
        const size_t chosen = choose_bundle(&b->rules, verdict, way, point, n);
        for (size_t k = 0; k < m; k++)
            if (verdict[k] == GLS_BUNDLE_TESTS && k != chosen) verdict[k] = GLS_BUNDLE_UNIQUE;
    }
    const gls_orientation *given = b->options.given;
    for (size_t k = 0; k < m; k++) {
        if (verdict[k] == GLS_BUNDLE_TESTS && b->options.orientation == GLS_ORIENT_GIVEN)
            way[k] = gls_line_is_backwards(given, given->centre, b->standard, point, n) ? GLS_BUNDLE_AGAINST
                                                                                        : GLS_BUNDLE_ALONG;
        if (b->options.orientation == GLS_ORIENT_NONE) way[k] = GLS_BUNDLE_ALONG;
    }
}

/* Nodes of the part between the first and the last include region, see gls_bundles_options.clip. */
static gls_status make_clipped(gls_bundles *b, size_t k, const float (*point)[3], size_t n, float (*node)[3])
{
    const gls_bundle_rule *r = &b->rules.rule[k];
    const size_t region[] = {r->include[0], r->include[r->n_include - 1]};
    gls_roi_hits *hits = &b->hits[0];
    double from = INFINITY, until = -INFINITY;
    float(*part)[3] = malloc((n + 1) * sizeof *part);
    if (part) gls_rois_find(b->rules.rois, hits, point, n);
    if (!part || hits->failed) {
        free(part);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    }
    for (int e = 0; e < 2; e++) {
        from = fmin(from, gls_rois_first(b->rules.rois, hits, region[e]));
        until = fmax(until, gls_rois_last(b->rules.rois, hits, region[e]));
    }
    gls_line_resample((const float(*)[3])part, gls_line_part(point, n, from, until, part), b->options.nodes, node);
    free(part);
    return GLS_OK;
}

static gls_status add_member(gls_bundles *b, size_t k, const gls_streamlines *s, size_t i, double weight)
{
    gls_bundle *bundle = &b->bundle[k];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]), row = (size_t)b->options.nodes * 3;
    const float(*point)[3] = s->point + s->offset[i];
    if (bundle->n == bundle->capacity) {
        size_t capacity = bundle->capacity ? 2 * bundle->capacity : 64;
        gls_member *member = realloc(bundle->member, capacity * sizeof *member);
        if (member) bundle->member = member;
        float *node = bundle->keeps_nodes ? realloc(bundle->node, capacity * row * sizeof *node) : NULL;
        if (node) bundle->node = node;
        if (!member || (bundle->keeps_nodes && !node)) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
        bundle->capacity = capacity;
    }
    gls_bundle_direction direction = b->direction[i * b->rules.n + k];
    bool turned = direction == GLS_BUNDLE_AGAINST;
    bundle->any_unknown |= direction == GLS_BUNDLE_UNKNOWN;
    bundle->member[bundle->n] =
        (gls_member){b->streamlines + i, gls_line_length(point, n), weight, (uint32_t)n, turned};
    if (bundle->keeps_nodes) {
        float(*node)[3] = (float(*)[3])(bundle->node + bundle->n * row);
        gls_status status = GLS_OK;
        if (b->options.clip)
            status = make_clipped(b, k, point, n, node);
        else
            gls_line_resample(point, n, b->options.nodes, node);
        if (status) return status;
        if (turned) gls_line_reverse(node, b->options.nodes);
    }
    bundle->n++;
    return GLS_OK;
}

/* Lists the groups of the streamlines in the order of the bundles. */
static gls_status order_groups(const gls_bundles *b, const gls_streamlines *s, gls_column *groups)
{
    for (size_t k = 0; k < b->rules.n; k++) {
        const gls_column *c = gls_column_find(s->group, s->n_groups, b->rules.rule[k].name);
        if (!c) return gls_fail(GLS_ERR_INPUT, "the tractogram has no group \"%s\"", b->rules.rule[k].name);
        groups[k] = *c;
    }
    return GLS_OK;
}

static gls_status append(void *user, const gls_streamlines *in)
{
    gls_bundles *b = user;
    const size_t m = b->rules.n;
    gls_streamlines s = *in;
    gls_column *groups = NULL;
    gls_status status = GLS_OK;
    if (in->n * m > b->verdict_capacity) {
        uint8_t *verdict = realloc(b->verdict, in->n * m), *direction = realloc(b->direction, in->n * m);
        if (verdict) b->verdict = verdict;
        if (direction) b->direction = direction;
        if (!verdict || !direction) return gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
        b->verdict_capacity = in->n * m;
    }
    const gls_column *weights = b->options.weights ? gls_column_find(in->dps, in->n_dps, b->options.weights) : NULL;
    if (b->options.weights && (!weights || weights->components != 1))
        return gls_fail(GLS_ERR_INPUT, "the tractogram has no column \"%s\" of one value a streamline",
                        b->options.weights);
    if (b->by_group) {
        groups = malloc(m * sizeof *groups);
        status = groups ? order_groups(b, in, groups) : gls_fail(GLS_ERR_MEMORY, "out of memory for bundles");
        s.group = groups;
    }
    if (!status) {
        gls_lines_parallel(&s, 64, b->n_threads, judge, b);
        for (int i = 0; i < b->n_threads; i++)
            if (b->hits[i].failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    }
    for (size_t i = 0; i < s.n && !status; i++)
        for (size_t k = 0; k < m && !status; k++) {
            if (b->verdict[i * m + k] < GLS_BUNDLE_TESTS)
                b->bundle[k].failed[b->verdict[i * m + k]]++;
            else
                status = add_member(b, k, &s, i, weights ? gls_column_value(weights, i) : 1);
        }
    b->streamlines += s.n;
    free(groups);
    return status;
}

gls_sink gls_bundles_sink(gls_bundles *bundles)
{
    return (gls_sink){.append = append, .user = bundles};
}

gls_status gls_bundles_complete(gls_bundles *b)
{
    GLS_REQUIRE(b);
    gls_status status = GLS_OK;
    for (size_t k = 0; k < b->rules.n && !status; k++) {
        gls_bundle *bundle = &b->bundle[k];
        if (bundle->any_unknown && !bundle->directed && bundle->node) gls_bundle_orient(bundle, b->options.nodes);
        if (gls_bundles_cleans(b, k)) status = gls_bundle_clean(bundle, b->options.nodes, &b->options.cleaning);
    }
    return status;
}

size_t gls_bundles_count(const gls_bundles *b)
{
    return b->rules.n;
}

uint64_t gls_bundles_streamlines(const gls_bundles *b)
{
    return b->streamlines;
}

gls_bundle_info gls_bundles_get(const gls_bundles *b, size_t i)
{
    const gls_bundle *bundle = &b->bundle[i];
    gls_bundle_info info = {.name = b->rules.rule[i].name, .count = bundle->n, .median_length = NAN};
    double sum = 0, square = 0;
    double *length = malloc((bundle->n + 1) * sizeof *length);
    for (size_t k = 0; k < bundle->n; k++) {
        info.turned += bundle->member[k].turned;
        info.weight += bundle->member[k].weight;
        sum += bundle->member[k].length;
        if (length) length[k] = bundle->member[k].length;
    }
    info.mean_length = sum / (double)bundle->n;
    for (size_t k = 0; k < bundle->n; k++) square += pow(bundle->member[k].length - info.mean_length, 2);
    info.sd_length = bundle->n > 1 ? sqrt(square / (double)(bundle->n - 1)) : bundle->n == 1 ? 0 : NAN;
    if (length) info.median_length = gls_median(length, bundle->n);
    free(length);
    memcpy(info.failed, bundle->failed, sizeof info.failed);
    return info;
}

/* --- The second pass: filter and turn. */

/* The filter of the second pass. all: streamlines of no bundle go on, too; at: index of the next streamline in the
 * input. */
typedef struct filter {
    /* collects streamlines for the next sink; owned */
    gls_builder builder;
    /* results of the first pass, borrowed */
    const gls_bundles *bundles;
    bool all;
    uint64_t at;
    size_t *next; /* for each bundle, the index of the member expected next */
    size_t capacity;
    uint8_t **in;       /* in[k][i]: 1 if streamline i of the current block is in bundle k */
    gls_column *column; /* groups of the input, then groups of the bundles */
} filter;

static void discard(void *user)
{
    filter *f = user;
    gls_builder_finish(&f->builder);
    for (size_t k = 0; f->in && k < f->bundles->rules.n; k++) free(f->in[k]);
    free(f->in);
    free(f->next);
    free(f->column);
    free(f);
}

static gls_status reserve_groups(filter *f, const gls_streamlines *in)
{
    const size_t m = f->bundles->rules.n;
    if (in->n > f->capacity || !f->column) {
        f->capacity = in->n;
        free(f->column);
        f->column = malloc((in->n_groups + m) * sizeof *f->column);
        bool done = f->column;
        for (size_t k = 0; k < m && done; k++) {
            free(f->in[k]);
            done = (f->in[k] = malloc(in->n + 1));
        }
        if (!done) {
            f->capacity = 0;
            return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
        }
    }
    return GLS_OK;
}

/* The second pass: hands on members, flipped to the direction of their first bundle, and with f->all also all other
 * streamlines that have points. Adds a group for each bundle, in place of groups of the same name. */
static gls_status send(void *user, const gls_streamlines *in)
{
    filter *f = user;
    const gls_bundles *b = f->bundles;
    const size_t m = b->rules.n;
    gls_streamlines s = *in;
    size_t n_old = 0;
    gls_status status = reserve_groups(f, in);
    if (status) return status;
    for (size_t k = 0; k < in->n_groups; k++) {
        bool replaced = false;
        for (size_t i = 0; i < m; i++) replaced |= strcmp(b->rules.rule[i].name, in->group[k].name) == 0;
        if (!replaced) f->column[n_old++] = in->group[k];
    }
    for (size_t k = 0; k < m; k++) {
        memset(f->in[k], 0, in->n);
        f->column[n_old + k] = (gls_column){b->rules.rule[k].name, GLS_TYPE_BOOL, 1, f->in[k]};
    }
    s.group = f->column;
    s.n_groups = n_old + m;
    status = gls_builder_begin(&f->builder, &s);
    for (size_t i = 0; i < s.n && !status; i++, f->at++) {
        const uint64_t n = s.offset[i + 1] - s.offset[i], last = s.offset[i] + n - 1;
        bool any = false, turned = false;
        for (size_t k = 0; k < m; k++) {
            const gls_bundle *bundle = &b->bundle[k];
            if (f->next[k] == bundle->n || bundle->member[f->next[k]].index != f->at) continue;
            if (!any) turned = bundle->member[f->next[k]].turned;
            any = true;
            f->in[k][i] = 1;
            f->next[k]++;
        }
        uint64_t to;
        if (!any && (!f->all || n == 0)) continue;
        status = gls_builder_add(&f->builder, i, n, &to);
        if (!status && !turned) gls_builder_copy(&f->builder, to, s.offset[i], n);
        for (uint64_t p = 0; p < n && turned && !status; p++) gls_builder_copy(&f->builder, to + p, last - p, 1);
    }
    return status ? status : gls_builder_flush(&f->builder);
}

gls_status gls_bundles_filter(const gls_bundles *bundles, gls_bundles_rest rest, const gls_sink *next, gls_sink *sink)
{
    GLS_REQUIRE(bundles && next && next->append && sink);
    filter *f = calloc(1, sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    f->bundles = bundles;
    f->all = rest == GLS_BUNDLES_REST_KEPT;
    f->next = calloc(bundles->rules.n, sizeof *f->next);
    f->in = calloc(bundles->rules.n, sizeof *f->in);
    if (!f->next || !f->in) {
        discard(f);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    }
    *sink = gls_builder_sink(&f->builder, next, send, discard);
    return GLS_OK;
}
