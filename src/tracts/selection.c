/* The filter that selects streamlines: several threads test the streamlines, then the streamlines that passed go on in
 * their order. */
#include <glslines/select.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_set.h"
#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "tracts/other_space.h"
#include "tracts/rois.h"
#include "util/status.h"
#include "util/threads.h"

#define LENGTH_SLACK 1e-4 /* tolerance of lengths, mm */
#define DEGREE (3.14159265358979323846 / 180)

/* An axis-parallel box, world mm. */
typedef struct box {
    double low[3], high[3];
} box;

struct gls_selection {
    /* copy; strings and lists belong to the caller, regions are not used after creation */
    gls_select_options options;
    /* all regions, each once even if several roles name it */
    gls_rois *rois;
    size_t *index[GLS_REGION_ROLES]; /* indices of the regions of each role, in the order given */
    size_t n[GLS_REGION_ROLES];
    uint32_t end_bits[GLS_REGION_ROLES]; /* bits of the roles that look at ends, for gls_region_ends_fit() */
    bool has_ends_alone;                 /* no region is of a role that looks at all points */
    /* counts of the current pass */
    gls_select_counts counts;
    /* largest number of threads of a call */
    int n_threads;
    gls_roi_hits *hits; /* one for each thread */
    box *box;           /* one for each thread: box of all points that it saw, mm */
};

/* The filter of one selection. */
typedef struct filter {
    /* collects streamlines for the next sink; owned */
    gls_builder builder;
    /* borrowed; its owner reads the counts when the pass is over */
    gls_selection *selection;
    uint8_t *verdict; /* for each streamline the test that failed, or GLS_SELECT_N_TESTS */
    size_t capacity;
} filter;

/* The roles of which a selection takes regions: rows of regions.def with GLS_REGION_FILTER. */
static const gls_region_role filter_role[] = {
#define GLS_REGION_FILTER(symbol, ...) symbol,
#include <glslines/regions.def>
};

/* Whether a selection takes regions of this role. */
static bool is_filter(gls_region_role role)
{
    for (size_t i = 0; i < sizeof filter_role / sizeof *filter_role; i++)
        if (filter_role[i] == role) return true;
    return false;
}

gls_select_options gls_select_options_default(void)
{
    return (gls_select_options){.size = sizeof(gls_select_options),
                                .max_length = INFINITY,
                                .min_weight = -INFINITY,
                                .max_weight = INFINITY,
                                .max_turn = INFINITY,
                                .max_winding = INFINITY};
}

/* Reads all regions of the options and sorts them by role. */
static gls_status add_regions(gls_selection *s)
{
    const gls_select_options *o = &s->options;
    gls_status status = GLS_OK;
    s->has_ends_alone = true;
    for (size_t i = 0; i < o->n_regions && !status; i++) {
        const gls_region_role role = o->region[i].role;
        GLS_REQUIRE(is_filter(role));
        size_t *list = realloc(s->index[role], (s->n[role] + 1) * sizeof *list);
        if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
        s->index[role] = list;
        status = gls_rois_add(s->rois, gls_region_role_name(role), o->region[i].text, o->distance, &list[s->n[role]]);
        if (!status) s->n[role]++;
        s->has_ends_alone &= gls_region_kind_of(role)->where == GLS_REGION_ENDS;
    }
    if (status) return status;
    if (s->n[GLS_REGION_INCLUDE_END] > 2)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--include-end: a streamline has two ends, but %zu regions were given: give at most two",
                        s->n[GLS_REGION_INCLUDE_END]);
    /* bits of gls_region_ends_fit(): 1 and 2 for the regions of include-end, 4 for include-both-ends, 8 for
     * exclude-end */
    s->end_bits[GLS_REGION_INCLUDE_END] = (1u << s->n[GLS_REGION_INCLUDE_END]) - 1;
    s->end_bits[GLS_REGION_INCLUDE_BOTH_ENDS] = s->n[GLS_REGION_INCLUDE_BOTH_ENDS] ? 4 : 0;
    s->end_bits[GLS_REGION_EXCLUDE_END] = s->n[GLS_REGION_EXCLUDE_END] ? 8 : 0;
    return GLS_OK;
}

/* Checks that the lists of regions and groups exist and have no NULL. */
static gls_status check_members(const gls_select_options *o)
{
    GLS_REQUIRE(o->region || o->n_regions == 0);
    GLS_REQUIRE(o->group || o->n_groups == 0);
    GLS_REQUIRE(o->not_group || o->n_not_groups == 0);
    for (size_t i = 0; i < o->n_regions; i++) GLS_REQUIRE(o->region[i].text);
    for (size_t i = 0; i < o->n_groups; i++) GLS_REQUIRE(o->group[i]);
    for (size_t i = 0; i < o->n_not_groups; i++) GLS_REQUIRE(o->not_group[i]);
    return GLS_OK;
}

gls_status gls_selection_create(const gls_select_options *options, gls_selection **selection)
{
    return gls_selection_create_in(options, NULL, selection);
}

gls_status gls_selection_create_in(const gls_select_options *options, const gls_transform *space,
                                   gls_selection **selection)
{
    const gls_select_options defaults = gls_select_options_default();
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(selection);
    if (!options) options = &defaults;
    const gls_status complete = check_members(options);
    if (complete) return complete;
    GLS_REQUIRE(options->distance >= 0 && isfinite(options->distance));
    GLS_REQUIRE_ENUMERATOR(options->test, GLS_ROI_TEST_VERTEX);
    GLS_REQUIRE(!isnan(options->min_length) && !isnan(options->max_length));
    GLS_REQUIRE(!isnan(options->min_weight) && !isnan(options->max_weight));
    GLS_REQUIRE(!isnan(options->max_turn) && !isnan(options->max_winding));
    gls_selection *s = calloc(1, sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for a selection");
    s->options = *options;
    /* one set of regions that were met, and one box of points, for each thread */
    s->n_threads = omp_get_max_threads();
    s->hits = calloc((size_t)s->n_threads, sizeof *s->hits);
    s->box = malloc((size_t)s->n_threads * sizeof *s->box);
    for (int t = 0; s->box && t < s->n_threads; t++)
        s->box[t] = (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    gls_status status = s->hits && s->box ? gls_rois_create(options->test, space, &s->rois)
                                          : gls_fail(GLS_ERR_MEMORY, "out of memory for a selection");
    if (!status) status = add_regions(s);
    /* the caller's list is not read again */
    s->options.region = NULL;
    if (status)
        gls_selection_destroy(s);
    else
        *selection = s;
    return status;
}

void gls_selection_destroy(gls_selection *s)
{
    if (!s) return;
    for (int i = 0; s->hits && i < s->n_threads; i++) gls_roi_hits_finish(&s->hits[i]);
    for (int role = 0; role < GLS_REGION_ROLES; role++) free(s->index[role]);
    gls_rois_destroy(s->rois);
    free(s->hits);
    free(s->box);
    free(s);
}

gls_select_counts gls_selection_get_counts(const gls_selection *s)
{
    return s ? s->counts : (gls_select_counts){.taken = 0};
}

const char *gls_selection_far_region(const gls_selection *s)
{
    box all = s->box[0];
    for (int t = 1; t < s->n_threads; t++)
        for (int a = 0; a < 3; a++) {
            all.low[a] = fmin(all.low[a], s->box[t].low[a]);
            all.high[a] = fmax(all.high[a], s->box[t].high[a]);
        }
    return s->counts.taken > 0 ? gls_rois_find_far(s->rois, all.low, all.high) : NULL;
}

const char *gls_selection_graded_region(const gls_selection *s)
{
    return gls_rois_find_graded(s->rois);
}

/* Whether no angle between successive steps exceeds max_turn, and the sum of these angles does not exceed max_winding,
 * degrees. Steps of length 0 are left out. */
static bool has_shape(const gls_select_options *o, const gls_streamlines *s, size_t i)
{
    double before[3] = {0}, length = 0, winding = 0;
    if (isinf(o->max_turn) && isinf(o->max_winding)) return true;
    for (uint64_t p = s->offset[i] + 1; p < s->offset[i + 1]; p++) {
        double d[3], mm = gls_builder_distance(s, p - 1, p), dot = 0;
        if (mm == 0) continue;
        for (int r = 0; r < 3; r++) {
            d[r] = (double)s->point[p][r] - s->point[p - 1][r];
            dot += d[r] * before[r];
        }
        if (length > 0) {
            double turn = acos(fmax(-1, fmin(1, dot / (mm * length)))) / DEGREE;
            winding += turn;
            if (turn > o->max_turn) return false;
        }
        memcpy(before, d, sizeof d);
        length = mm;
    }
    return winding <= o->max_winding;
}

/* Whether a streamline is a member of all wanted groups and of no unwanted one. prepare() has checked that all
 * exist. */
static bool in_groups(const gls_select_options *o, const gls_streamlines *s, size_t i)
{
    for (size_t k = 0; k < o->n_groups; k++)
        if (!gls_column_value(gls_column_find(s->group, s->n_groups, o->group[k]), i)) return false;
    for (size_t k = 0; k < o->n_not_groups; k++)
        if (gls_column_value(gls_column_find(s->group, s->n_groups, o->not_group[k]), i)) return false;
    return true;
}

/* Whether the index of a streamline is in the sorted list, by bisection. No list: every streamline is wanted. */
static bool has_id(const gls_select_options *o, uint64_t id)
{
    size_t low = 0, high = o->n_ids;
    if (!o->id) return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->n_ids && o->id[low] == id;
}

/* Bits of gls_region_ends_fit() for a point: those of the regions of end roles in which the point lies. */
static uint32_t end_bits_at(const gls_selection *s, const float *point)
{
    uint32_t bits = 0;
    for (int role = 0; role < GLS_REGION_ROLES; role++)
        for (size_t k = 0; s->end_bits[role] && k < s->n[role]; k++)
            if (gls_rois_has(s->rois, s->index[role][k], point))
                bits |= role == GLS_REGION_INCLUDE_END ? 1u << k : s->end_bits[role];
    return bits;
}

/* Whether the two ends fit the regions of the roles that look at ends. */
static bool ends_fit(const gls_selection *s, const float *first, const float *last)
{
    return gls_region_ends_fit(s->end_bits, end_bits_at(s, first), end_bits_at(s, last));
}

/* Whether a streamline passes all tests of regions. Sets hits->failed if memory runs out; the answer is then false.
 * A streamline without points passes only if there are no regions. */
static bool regions_fit(const gls_selection *s, gls_roi_hits *hits, const float (*point)[3], size_t n)
{
    const size_t *include = s->index[GLS_REGION_INCLUDE], *any = s->index[GLS_REGION_INCLUDE_ANY],
                 *exclude = s->index[GLS_REGION_EXCLUDE], *ordered = s->index[GLS_REGION_INCLUDE_ORDERED],
                 *all = s->index[GLS_REGION_ALL], n_ordered = s->n[GLS_REGION_INCLUDE_ORDERED];
    if (s->options.n_regions == 0) return true;
    if (n == 0 || !ends_fit(s, point[0], point[n - 1])) return false;
    if (s->has_ends_alone) return true;
    gls_rois_find(s->rois, hits, point, n);
    if (hits->failed) return false;
    for (size_t k = 0; k < s->n[GLS_REGION_INCLUDE]; k++)
        if (!hits->met[include[k]]) return false;
    bool meets_any = s->n[GLS_REGION_INCLUDE_ANY] == 0;
    for (size_t k = 0; k < s->n[GLS_REGION_INCLUDE_ANY]; k++) meets_any |= hits->met[any[k]];
    if (!meets_any) return false;
    for (size_t k = 0; k < s->n[GLS_REGION_EXCLUDE]; k++)
        if (hits->met[exclude[k]]) return false;
    for (size_t k = 0; k < s->n[GLS_REGION_ALL]; k++)
        /* the share is a quotient of sums, so that 1 may be missed by rounding */
        if (!(gls_rois_share(s->rois, hits, all[k]) >= 1 - 1e-9)) return false;
    return n_ordered == 0 || gls_rois_ordered(s->rois, hits, ordered, n_ordered, false) ||
           (s->options.either_way && gls_rois_ordered(s->rois, hits, ordered, n_ordered, true));
}

/* The first test that a streamline fails, cheap ones first; GLS_SELECT_N_TESTS: it passes all. in, i: block and
 * index of the streamline; weights: the column of weights, or NULL. */
static gls_select_test judge(const gls_selection *s, gls_roi_hits *hits, const gls_column *weights,
                             const gls_streamlines *in, size_t i)
{
    const gls_select_options *o = &s->options;
    const uint64_t n = in->offset[i + 1] - in->offset[i];
    if (!has_id(o, s->counts.taken + i)) return GLS_SELECT_BY_ID;
    if (!in_groups(o, in, i)) return GLS_SELECT_BY_GROUP;
    double weight = weights ? gls_column_value(weights, i) : 0;
    if (weights && !(weight >= o->min_weight && weight <= o->max_weight)) return GLS_SELECT_BY_WEIGHT;
    if (n < o->min_points) return GLS_SELECT_BY_POINTS;
    double length = o->min_length > 0 || isfinite(o->max_length) ? gls_builder_length(in, i) : o->min_length;
    if (!(length >= o->min_length - LENGTH_SLACK && length <= o->max_length + LENGTH_SLACK))
        return GLS_SELECT_BY_LENGTH;
    if (!has_shape(o, in, i)) return GLS_SELECT_BY_SHAPE;
    return regions_fit(s, hits, in->point + in->offset[i], (size_t)n) ? GLS_SELECT_N_TESTS : GLS_SELECT_BY_REGION;
}

/* Finds the column of weights, checks that the groups of the options exist, and allocates verdicts. */
static gls_status prepare(filter *f, const gls_streamlines *in, const gls_column **weights)
{
    const gls_select_options *o = &f->selection->options;
    *weights = o->weights ? gls_column_find(in->dps, in->n_dps, o->weights) : NULL;
    if (o->weights && (!*weights || (*weights)->components != 1))
        return gls_fail(GLS_ERR_INPUT, "the tractogram has no column \"%s\" of one value a streamline", o->weights);
    for (size_t k = 0; k < o->n_groups + o->n_not_groups; k++) {
        const char *name = k < o->n_groups ? o->group[k] : o->not_group[k - o->n_groups];
        if (!gls_column_find(in->group, in->n_groups, name))
            return gls_fail(GLS_ERR_INPUT, "the tractogram has no group \"%s\"", name);
    }
    if (in->n <= f->capacity) return GLS_OK;
    uint8_t *verdict = realloc(f->verdict, in->n);
    if (!verdict) return gls_fail(GLS_ERR_MEMORY, "out of memory for a selection");
    f->verdict = verdict;
    f->capacity = in->n;
    return GLS_OK;
}

/* Enlarges the box of a thread so that it holds the points of streamlines from .. until - 1. */
static void note_box(box *box, const gls_streamlines *in, size_t from, size_t until)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t p = in->offset[from]; p < in->offset[until]; p++)
        for (int a = 0; a < 3; a++) {
            float x = in->point[p][a];
            low[a] = x < low[a] ? x : low[a];
            high[a] = x > high[a] ? x : high[a];
        }
    for (int a = 0; a < 3; a++) {
        box->low[a] = fmin(box->low[a], (double)low[a]);
        box->high[a] = fmax(box->high[a], (double)high[a]);
    }
}

/* A block of streamlines that several threads test. */
typedef struct trial {
    filter *filter;
    /* NULL: no limits of weights */
    const gls_column *weights;
    const gls_streamlines *in;
} trial;

/* Judges streamlines from .. until - 1 on one thread, and, if there are regions, enlarges its box. */
static void judge_some(void *user, int thread, size_t from, size_t until)
{
    const trial *t = user;
    gls_selection *s = t->filter->selection;
    if (s->options.n_regions > 0) note_box(&s->box[thread], t->in, from, until);
    for (size_t i = from; i < until; i++)
        t->filter->verdict[i] = (uint8_t)judge(s, &s->hits[thread], t->weights, t->in, i);
}

/* Passes on the streamlines that passed all tests, or with `inverse` the others, and counts both. */
static gls_status hand_on(filter *f, const gls_streamlines *in)
{
    gls_selection *s = f->selection;
    size_t n_kept = 0;
    for (size_t i = 0; i < in->n; i++) {
        bool passed = f->verdict[i] == GLS_SELECT_N_TESTS;
        if (!passed) s->counts.failed[f->verdict[i]]++;
        n_kept += passed != s->options.inverse;
    }
    s->counts.kept += n_kept;
    if (n_kept == 0) return GLS_OK;
    /* all are wanted: the block goes on without a copy */
    if (n_kept == in->n) return gls_sink_append(&f->builder.next, in);
    gls_status status = gls_builder_begin(&f->builder, in);
    for (size_t i = 0; i < in->n && !status; i++) {
        uint64_t to, n = in->offset[i + 1] - in->offset[i];
        if ((f->verdict[i] == GLS_SELECT_N_TESTS) == s->options.inverse) continue;
        status = gls_builder_add(&f->builder, i, n, &to);
        if (!status) gls_builder_copy(&f->builder, to, in->offset[i], n);
    }
    return status ? status : gls_builder_flush(&f->builder);
}

/* Function `append` of the sink: judges the streamlines of a block on all threads, then passes on those that stay. */
static gls_status append(void *user, const gls_streamlines *in)
{
    filter *f = user;
    gls_selection *s = f->selection;
    const gls_column *weights;
    gls_status status = prepare(f, in, &weights);
    if (status) return status;
    gls_parallel(in->n, 64, s->n_threads, judge_some, &(trial){f, weights, in});
    for (int i = 0; i < s->n_threads; i++)
        if (s->hits[i].failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    s->counts.taken += in->n;
    return hand_on(f, in);
}

static void discard(void *user)
{
    filter *f = user;
    gls_builder_finish(&f->builder);
    free(f->verdict);
    free(f);
}

gls_status gls_selection_filter(gls_selection *selection, const gls_sink *next, gls_sink *sink)
{
    GLS_REQUIRE(selection && next && next->append && sink);
    filter *f = calloc(1, sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    f->selection = selection;
    /* reset the counts, so that they are counts of the pass that begins with this filter */
    selection->counts = (gls_select_counts){0};
    *sink = gls_builder_sink(&f->builder, next, append, discard);
    return GLS_OK;
}
