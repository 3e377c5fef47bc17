/* Builds connectomes: threads find the regions of each streamline, then one thread adds them up in order, so the result
 * does not depend on the number of threads. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/connectome.h>

#include "tracts/connectome_matrix.h"
#include "streamlines/builder.h"
#include "tracts/assign.h"
#include "tracts/label_nodes.h"
#include "tracts/line_geometry.h"
#include "tracts/region_shares.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"
#include "util/threads.h"

#define FORWARD_SIDES 12 /* largest reach of the forward search, in voxel sides */

/* Sums and extremes of one cell, from which gls_connectome_get_edge() computes its values. */
typedef struct edge {
    double count, weight, sum, length, min, max;
} edge;

/* GLS_ASSIGN_ALL, and probabilities of regions: where the regions of a streamline are in the list of a thread. */
typedef struct stretch {
    /* thread: index of the thread's finder; first: index of the first region in its list; n: number of regions */
    int thread;
    size_t first, n;
} stretch;

/* Regions that a thread found in one call. */
typedef struct finder {
    /* probabilities of regions: shares of both ends of each streamline */
    gls_region_share *share;
    size_t n_shares, share_capacity;
    /* GLS_ASSIGN_ALL */
    gls_assign_scratch scratch;
    /* n: number of regions that were found in all streamlines of the call; capacity: number for which memory is
     * allocated */
    size_t n, capacity;
    int32_t *node;
} finder;

/* A value of a cell, for medians. */
typedef struct cell_value {
    uint64_t cell;
    double value;
} cell_value;

/* All values of all cells; sorted: by cell and value. */
typedef struct cell_values {
    size_t n, capacity;
    cell_value *value;
    bool sorted, failed; /* failed: memory ran out */
} cell_values;

struct gls_connectome {
    /* a copy of the caller's options; strings belong to the caller */
    gls_connectome_options options;
    /* regions of the image of labels */
    gls_nodes nodes;
    gls_assigner *assigner;
    bool is_soft; /* regions have probabilities, those of `shares` */
    gls_region_shares shares;
    /* ends[r]: number of ends in the region with number r, or with GLS_ASSIGN_ALL of streamlines that meet it;
     * ends[0]: number of ends without a region, 0 with GLS_ASSIGN_ALL */
    uint64_t *ends;
    double *value, *weight; /* sums or extremes of values, and sums of weights: (n + 1) x (n + 1), upper triangle */
    cell_values *all;       /* GLS_STAT_MEDIAN: all values; NULL: another statistic */
    bool allow_missing;     /* values of the scale column that are NaN are left out of means and medians */
    edge *edge;             /* one for each cell, in the order of `value`; NULL: not wanted */
    gls_connectome_counts counts;
    size_t capacity; /* allocated elements of pair and stretch */
    /* numbers of the regions of the ends of each streamline, 0: none; if is_soft, how many regions each end has */
    int32_t (*pair)[2];
    stretch *stretch; /* GLS_ASSIGN_ALL, is_soft: regions of each streamline */
    int n_threads;
    finder *finder; /* one for each thread */
};

gls_connectome_options gls_connectome_options_default(void)
{
    return (gls_connectome_options){
        .size = sizeof(gls_connectome_options), .assignment = GLS_ASSIGN_RADIAL, .radius = 4};
}

/* Factor of a streamline's value, without the factors that depend on its regions. */
static double scale_of(const gls_connectome *c, double length)
{
    double value = 1;
    if (c->options.scale & GLS_SCALE_LENGTH) value *= length;
    if (c->options.scale & GLS_SCALE_INVLENGTH) value *= length > 0 ? 1 / length : 0;
    return value;
}

/* Volume of a voxel, mm3. */
static double nodes_voxel_volume(const gls_nodes *nodes)
{
    const double *side = nodes->grid.voxel_size;
    return side[0] * side[1] * side[2];
}

/* Factor for the volumes of the regions that a streamline joins: the number of regions divided by the sum of their
 * volumes, in voxels or mm3; for two regions MRtrix3's 2 / (volume_1 + volume_2). */
static double volume_scale(const gls_connectome *c, const int32_t *node, size_t n)
{
    const double mm3 = nodes_voxel_volume(&c->nodes);
    double voxels = 0, value = 1;
    for (size_t i = 0; i < n; i++) voxels += (double)c->nodes.volume[node[i]];
    if (c->options.scale & GLS_SCALE_INVNODEVOL) value *= voxels > 0 ? (double)n / voxels : 0;
    if (c->options.scale & GLS_SCALE_INVNODEVOL_MM3) value *= voxels > 0 ? (double)n / (voxels * mm3) : 0;
    return value;
}

/* Appends a value to those of all cells. */
static void keep_value(cell_values *all, uint64_t cell, double value)
{
    if (!gls_list_reserve(&all->value, all->n, &all->capacity, 4096, sizeof *all->value)) {
        all->failed = true;
        return;
    }
    all->value[all->n++] = (cell_value){cell, value};
    all->sorted = false;
}

/* Comparison for qsort(): by cell, then by value. */
static int by_cell(const void *a, const void *b)
{
    const cell_value *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Index of the first value of a cell, or of a later one; all->n: there is none. */
static size_t first_of_cell(const cell_values *all, uint64_t cell)
{
    size_t low = 0, high = all->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (all->value[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Median of the values of a cell; NaN: there are none. */
static double median_of(cell_values *all, uint64_t cell)
{
    if (!all->sorted && all->n > 0) qsort(all->value, all->n, sizeof *all->value, by_cell);
    all->sorted = true;
    const size_t first = first_of_cell(all, cell), end = first_of_cell(all, cell + 1), n = end - first;
    if (n == 0) return NAN;
    return 0.5 * (all->value[first + (n - 1) / 2].value + all->value[first + n / 2].value);
}

/* Adds one connection between two regions to its cell. */
static void add(gls_connectome *c, int32_t one, int32_t other, double value, double weight, double length)
{
    size_t a = (size_t)(one < other ? one : other), b = (size_t)(one < other ? other : one),
           cell = a * (c->nodes.n + 1) + b;
    if (isnan(value)) { /* gls_connectome_allow_missing(): the mean of such streamlines alone is NaN, too */
        if (c->options.stat == GLS_STAT_MEAN && c->weight[cell] == 0) c->value[cell] = NAN;
        return;
    }
    switch (c->options.stat) {
    case GLS_STAT_SUM:
    case GLS_STAT_MEAN:
        if (isnan(c->value[cell])) c->value[cell] = 0;
        c->value[cell] += value * weight;
        c->weight[cell] += weight;
        break;
    case GLS_STAT_MIN: c->value[cell] = fmin(c->value[cell], value); break;
    case GLS_STAT_MAX: c->value[cell] = fmax(c->value[cell], value); break;
    case GLS_STAT_MEDIAN: keep_value(c->all, cell, value); break;
    }
    if (!c->edge) return;
    edge *e = &c->edge[cell];
    e->min = e->count > 0 ? fmin(e->min, value) : value;
    e->max = e->count > 0 ? fmax(e->max, value) : value;
    e->count++;
    e->weight += weight;
    e->sum += value * weight;
    e->length += length * weight;
}

/* Adds one streamline: the pair of the regions of its ends. With GLS_ASSIGN_ALL: all pairs of its regions, also of each
 * region with itself; for fewer than two regions the pair of 0 (no region) and its region, or 0. */
static void add_streamline(gls_connectome *c, const int32_t *node, size_t n, double value, double weight, double length)
{
    const bool all = c->options.assignment == GLS_ASSIGN_ALL;
    if (c->options.scale & (GLS_SCALE_INVNODEVOL | GLS_SCALE_INVNODEVOL_MM3))
        value *= n > 0 ? volume_scale(c, node, n) : 0;
    if (all && n < 2) {
        add(c, 0, n > 0 ? node[0] : 0, value, weight, length);
        c->counts.unassigned += 2 - n;
    } else if (all) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = i; k < n; k++) add(c, node[i], node[k], value, weight, length);
    } else {
        add(c, c->options.vector ? 0 : node[0], node[1], value, weight, length);
        c->counts.unassigned += (node[0] == 0) + (node[1] == 0);
    }
    c->counts.joined += all ? n > 1 : node[0] > 0 && node[1] > 0;
    for (size_t i = 0; i < n; i++) c->ends[node[i]]++;
}

/* Adds one streamline whose ends have shares of regions: to each pair of them the product of the shares. What is left
 * of an end has no region. n: number of regions of each end; those of the second stand behind those of the first. */
static void add_shares(gls_connectome *c, const gls_region_share *share, const int32_t n[2], double value,
                       double weight, double length)
{
    const gls_region_share *end[2] = {share, share + n[0]};
    double rest[2] = {1, 1};
    for (int e = 0; e < 2; e++)
        for (int32_t i = 0; i < n[e]; i++) {
            rest[e] -= (double)end[e][i].share;
            c->ends[end[e][i].region]++;
        }
    for (int e = 0; e < 2; e++) {
        rest[e] = fmax(rest[e], 0);
        c->counts.unassigned += n[e] == 0;
        c->ends[0] += n[e] == 0;
    }
    c->counts.joined += n[0] > 0 && n[1] > 0;
    for (int32_t k = 0; k < n[1] && c->options.vector; k++)
        add(c, 0, end[1][k].region, value, weight * (double)end[1][k].share, length);
    if (c->options.vector) {
        if (rest[1] > 0) add(c, 0, 0, value, weight * rest[1], length);
        return;
    }
    for (int32_t i = 0; i < n[0]; i++) {
        const double first = (double)end[0][i].share;
        for (int32_t k = 0; k < n[1]; k++)
            add(c, end[0][i].region, end[1][k].region, value, weight * first * (double)end[1][k].share, length);
        if (rest[1] > 0) add(c, end[0][i].region, 0, value, weight * first * rest[1], length);
    }
    for (int32_t k = 0; k < n[1] && rest[0] > 0; k++)
        add(c, 0, end[1][k].region, value, weight * rest[0] * (double)end[1][k].share, length);
    if (rest[0] > 0 && rest[1] > 0) add(c, 0, 0, value, weight * rest[0] * rest[1], length);
}

static gls_status report_labels(const gls_connectome *c, const int32_t *node, size_t n)
{
    int32_t few[64] = {0}, *label = n <= 64 ? few : malloc(n * sizeof *label);
    if (!label) return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    for (size_t i = 0; i < n; i++) label[i] = node[i] > 0 ? c->nodes.label[node[i] - 1] : 0;
    c->options.assigned(c->options.user, label, n);
    if (label != few) free(label);
    return GLS_OK;
}

static gls_status find_column(const gls_streamlines *s, const char *name, const gls_column **column)
{
    *column = name ? gls_column_find(s->dps, s->n_dps, name) : NULL;
    return !name || (*column && (*column)->components == 1)
               ? GLS_OK
               : gls_fail(GLS_ERR_INPUT, "the tractogram has no column \"%s\" of one value a streamline", name);
}

static gls_status reserve(gls_connectome *c, size_t n)
{
    if (n <= c->capacity) return GLS_OK;
    int32_t(*pair)[2] = realloc(c->pair, n * sizeof *pair);
    if (pair) c->pair = pair;
    stretch *stretch = realloc(c->stretch, n * sizeof *stretch);
    if (stretch) c->stretch = stretch;
    if (!pair || !stretch) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ends of streamlines");
    c->capacity = n;
    return GLS_OK;
}

/* Appends the regions of one streamline to the list of its thread, and notes where they are in *s. */
static void keep(finder *f, stretch *s, int thread)
{
    if (f->n + f->scratch.n > f->capacity) {
        size_t capacity = 2 * (f->n + f->scratch.n) + 256;
        int32_t *node = realloc(f->node, capacity * sizeof *node);
        f->scratch.failed |= !node;
        if (!node) return;
        f->node = node;
        f->capacity = capacity;
    }
    if (f->scratch.n > 0) memcpy(f->node + f->n, f->scratch.node, f->scratch.n * sizeof *f->node);
    *s = (stretch){thread, f->n, f->scratch.n};
    f->n += f->scratch.n;
}

/* Finds the regions of streamline i on one thread. */
static void find_one(void *user, int thread, const gls_streamlines *s, size_t i)
{
    gls_connectome *c = user;
    const float(*point)[3] = s->point + s->offset[i];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    c->pair[i][0] = c->pair[i][1] = 0;
    c->stretch[i] = (stretch){thread, 0, 0};
    if (n == 0) return;
    if (c->is_soft) {
        finder *f = &c->finder[thread];
        const size_t first = f->n_shares;
        for (int e = 0; e < 2; e++) {
            const size_t before = f->n_shares;
            f->scratch.failed |= !gls_region_shares_find(&c->shares, point[e == 0 ? 0 : n - 1], &f->share, &f->n_shares,
                                                         &f->share_capacity);
            c->pair[i][e] = (int32_t)(f->n_shares - before);
        }
        c->stretch[i] = (stretch){thread, first, f->n_shares - first};
        return;
    }
    if (c->options.assignment != GLS_ASSIGN_ALL) {
        gls_assign_ends(c->assigner, point, n, c->pair[i]);
        return;
    }
    gls_assign_all(c->assigner, &c->finder[thread].scratch, point, n);
    keep(&c->finder[thread], &c->stretch[i], thread);
}

static gls_status find_regions(gls_connectome *c, const gls_streamlines *s)
{
    for (int t = 0; t < c->n_threads; t++) c->finder[t].n = c->finder[t].n_shares = 0;
    gls_lines_parallel(s, 256, c->n_threads, find_one, c);
    for (int t = 0; t < c->n_threads; t++)
        if (c->finder[t].scratch.failed)
            return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of a streamline");
    return GLS_OK;
}

static bool measures_length(const gls_connectome *c)
{
    return c->edge || (c->options.scale & (GLS_SCALE_LENGTH | GLS_SCALE_INVLENGTH));
}

bool gls_connectome_needs_points(const gls_connectome *c)
{
    const gls_assignment by = c->options.assignment;
    return measures_length(c) || (by != GLS_ASSIGN_RADIAL && by != GLS_ASSIGN_END);
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_connectome *c = user;
    const gls_column *weights = NULL, *scales = NULL;
    const bool all = c->options.assignment == GLS_ASSIGN_ALL, needs_length = measures_length(c);
    gls_status status = find_column(s, c->options.weights, &weights);
    if (!status) status = find_column(s, c->options.scale_column, &scales);
    if (!status) status = reserve(c, s->n);
    if (!status) status = find_regions(c, s);
    for (size_t i = 0; i < s->n && !status; i++) {
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        const int32_t *node = all ? c->finder[c->stretch[i].thread].node + c->stretch[i].first : c->pair[i];
        const size_t n_nodes = all ? c->stretch[i].n : 2;
        double weight = weights ? gls_column_value(weights, i) : 1, scale = scales ? gls_column_value(scales, i) : 1;
        if (!isfinite(weight) || !(isfinite(scale) || (c->allow_missing && isnan(scale))))
            return gls_fail(GLS_ERR_INPUT, "the weight or scale of streamline %llu (counted from 0) is not finite",
                            (unsigned long long)c->counts.streamlines);
        c->counts.streamlines++;
        c->counts.empty += n == 0;
        if (n > 0) {
            double length = needs_length ? gls_line_length(s->point + s->offset[i], n) : 0;
            const finder *f = &c->finder[c->stretch[i].thread];
            const double value = scale * scale_of(c, length);
            if (c->is_soft)
                add_shares(c, f->share + c->stretch[i].first, c->pair[i], value, weight, length);
            else
                add_streamline(c, node, n_nodes, value, weight, length);
        }
        if (c->options.assigned) status = report_labels(c, node, n_nodes);
    }
    return status || !c->all || !c->all->failed ? status : gls_no_memory();
}

gls_status gls_connectome_find_pairs(gls_connectome *c, const gls_streamlines *s, int32_t (*pair)[2])
{
    GLS_REQUIRE(c->options.assignment != GLS_ASSIGN_ALL && !c->is_soft);
    gls_status status = reserve(c, s->n);
    if (!status) status = find_regions(c, s);
    if (!status && s->n > 0) memcpy(pair, c->pair, s->n * sizeof *pair);
    return status;
}

gls_status gls_connectome_add_pairs(gls_connectome *c, const int32_t (*pair)[2], const float *weight, size_t n)
{
    GLS_REQUIRE(!measures_length(c));
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(weight[i]))
            return gls_fail(GLS_ERR_INPUT, "the weight of streamline %llu (counted from 0) is not finite",
                            (unsigned long long)c->counts.streamlines);
        c->counts.streamlines++;
        add_streamline(c, pair[i], 2, 1, (double)weight[i], 0);
    }
    return GLS_OK;
}

/* Checks options that only a program can get wrong, and the reach of the forward search. */
static gls_status check_options(const gls_connectome_options *o, const gls_grid *grid)
{
    const double *side = grid->voxel_size, least = fmin(side[0], fmin(side[1], side[2]));
    GLS_REQUIRE((unsigned)o->assignment <= GLS_ASSIGN_ALL && (unsigned)o->stat <= GLS_STAT_MEDIAN);
    GLS_REQUIRE_ENUMERATOR(o->test, GLS_ROI_TEST_VERTEX);
    GLS_REQUIRE(o->scale < 16 && isfinite(o->radius) && (o->rows || o->n_rows == 0));
    GLS_REQUIRE(o->radius > 0 || (o->radius == 0 && o->assignment != GLS_ASSIGN_RADIAL));
    if (o->vector && (o->assignment == GLS_ASSIGN_ALL || o->symmetric || o->zero_diagonal || o->edges))
        return gls_fail(GLS_ERR_ARGUMENT, "--vector: has one row, of the regions of last ends: not with --assign all, "
                                          "--symmetric, --zero-diagonal, --edges and --bids");
    if (o->assignment == GLS_ASSIGN_FORWARD && !(o->radius > 0 && o->radius <= FORWARD_SIDES * least))
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "--assign forward: the reach of %g mm must be more than 0 and at most %d voxels of %g mm",
                        o->radius, FORWARD_SIDES, least);
    return GLS_OK;
}

/* Allocates the matrix, with a row and a column 0 for ends without a region. Minima start at infinity, maxima at
 * -infinity. */
static gls_status make_cells(gls_connectome *c)
{
    const gls_connectome_options *o = &c->options;
    const size_t cells = (c->nodes.n + 1) * (c->nodes.n + 1);
    c->ends = calloc(c->nodes.n + 1, sizeof *c->ends);
    c->value = calloc(cells, sizeof *c->value);
    c->weight = calloc(cells, sizeof *c->weight);
    c->edge = o->edges ? calloc(cells, sizeof *c->edge) : NULL;
    c->all = o->stat == GLS_STAT_MEDIAN ? calloc(1, sizeof *c->all) : NULL;
    c->n_threads = omp_get_max_threads();
    c->finder = calloc((size_t)c->n_threads, sizeof *c->finder);
    if (!c->ends || !c->value || !c->weight || !c->finder || (o->edges && !c->edge) ||
        (o->stat == GLS_STAT_MEDIAN && !c->all))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome of %zu regions", c->nodes.n);
    for (size_t i = 0; i < cells && (o->stat == GLS_STAT_MIN || o->stat == GLS_STAT_MAX); i++)
        c->value[i] = o->stat == GLS_STAT_MIN ? INFINITY : -INFINITY;
    return GLS_OK;
}

/* Begins a connectome with a copy of the options. */
static gls_status begin(const gls_connectome_options *o, const gls_grid *grid, gls_connectome **connectome)
{
    gls_status status = check_options(o, grid);
    if (status) return status;
    gls_connectome *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome");
    c->options = *o;
    c->options.rows = NULL; /* the caller may free the array */
    c->options.n_rows = 0;
    *connectome = c;
    return GLS_OK;
}

gls_status gls_connectome_create(const gls_labels *labels, const char *name, const gls_connectome_options *options,
                                 gls_connectome **connectome)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(labels && labels->data && name && connectome);
    const gls_connectome_options o = options ? *options : gls_connectome_options_default();
    gls_connectome *c = NULL;
    gls_status status = begin(&o, &labels->grid, &c);
    if (status) return status;
    status = gls_nodes_init(&c->nodes, labels, name, &o);
    if (!status) status = gls_assigner_create(&c->nodes.grid, c->nodes.voxel, &o, &c->assigner);
    if (!status) status = make_cells(c);
    if (status)
        gls_connectome_destroy(c);
    else
        *connectome = c;
    return status;
}

gls_status gls_connectome_create_soft(const gls_image *probabilities, const char *name,
                                      const gls_connectome_options *options, gls_connectome **connectome)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(probabilities && probabilities->data && name && connectome);
    const gls_connectome_options o = options ? *options : gls_connectome_options_default();
    gls_connectome *c = NULL;
    gls_status status = begin(&o, &probabilities->grid, &c);
    if (status) return status;
    c->is_soft = true;
    if (o.edges || o.assigned || o.stat > GLS_STAT_MEAN ||
        (o.scale & (GLS_SCALE_INVNODEVOL | GLS_SCALE_INVNODEVOL_MM3)))
        status =
            gls_fail(GLS_ERR_UNSUPPORTED,
                     "%s: a connectome by probabilities of regions has sums and means, without invnodevol, tables "
                     "of edges and assignments, which need one label for each end: take the largest (--labels max)",
                     name);
    if (!status) status = gls_region_shares_init(&c->shares, probabilities, name, &o, &c->nodes);
    if (!status) status = make_cells(c);
    if (status)
        gls_connectome_destroy(c);
    else
        *connectome = c;
    return status;
}

void gls_connectome_allow_missing(gls_connectome *connectome)
{
    connectome->allow_missing = true;
}

gls_sink gls_connectome_sink(gls_connectome *connectome)
{
    return (gls_sink){.append = append, .user = connectome};
}

gls_connectome_counts gls_connectome_get_counts(const gls_connectome *connectome)
{
    return connectome->counts;
}

size_t gls_connectome_nodes(const gls_connectome *connectome, const int32_t **labels)
{
    if (labels) *labels = connectome->nodes.label;
    return connectome->nodes.n;
}

gls_connectome_node gls_connectome_get_node(const gls_connectome *c, size_t i)
{
    const gls_nodes *nodes = &c->nodes;
    const double n = (double)nodes->volume[i + 1];
    gls_connectome_node node = {
        nodes->label[i], nodes->volume[i + 1], c->ends[i + 1], n * nodes_voxel_volume(nodes), {0}};
    for (int a = 0; a < 3; a++) node.centroid[a] = nodes->centre[i + 1][a] / n; /* NaN if the region has no voxels */
    gls_affine_apply(nodes->grid.affine, node.centroid, node.centroid);
    return node;
}

size_t gls_connectome_size(const gls_connectome *c)
{
    return c->nodes.n + (c->options.keep_unassigned ? 1 : 0);
}

double gls_connectome_value(const gls_connectome *c, size_t row, size_t column)
{
    if (!c->options.keep_unassigned) row++, column++;
    if (c->options.vector) row = 0; /* the cells of streamlines whose first end counts as none */
    if (row == column && c->options.zero_diagonal) return 0;
    if (row > column && !c->options.symmetric) return 0;
    size_t a = row < column ? row : column, b = row < column ? column : row, cell = a * (c->nodes.n + 1) + b;
    if (c->all) return median_of(c->all, cell);
    double value = c->value[cell];
    if (c->options.stat == GLS_STAT_MEAN) return c->weight[cell] != 0 ? value / c->weight[cell] : value;
    return isfinite(value) ? value : NAN;
}

gls_connectome_edge gls_connectome_get_edge(const gls_connectome *c, size_t row, size_t column)
{
    if (!c->options.keep_unassigned) row++, column++;
    static const edge none = {0};
    const size_t n = c->nodes.n + 1;
    const edge *e = c->edge && row < n && column < n ? &c->edge[row * n + column] : &none;
    gls_connectome_edge out = {(uint64_t)e->count, e->weight, e->sum, NAN, NAN, NAN, NAN};
    if (e->count == 0) return out;
    out.mean = e->weight != 0 ? e->sum / e->weight : NAN;
    out.mean_length = e->weight != 0 ? e->length / e->weight : NAN;
    out.min = e->min;
    out.max = e->max;
    return out;
}

gls_status gls_connectome_write(const gls_connectome *connectome, const char *path, gls_existing existing)
{
    return gls_connectome_write_grouped(connectome, path, existing == GLS_EXISTING_REPLACE, NULL, NULL, "nan");
}

/* Appends the header: an empty cell above the names of rows, then the names of columns. */
static void append_header(const gls_connectome *c, const char *const *names, char separator, gls_text *row)
{
    for (size_t k = 0; k < gls_connectome_size(c); k++) {
        gls_text_append(row, &separator, 1);
        gls_field_append(row, names[k], separator);
    }
    gls_text_append(row, "\n", 1);
}

gls_status gls_connectome_write_grouped(const gls_connectome *c, const char *path, bool overwrite,
                                        gls_output_group *group, const char *const *names, const char *missing)
{
    GLS_REQUIRE(c && path);
    const size_t n = gls_connectome_size(c);
    const char *suffix = strrchr(path, '.');
    char separator = suffix && strcmp(suffix, ".csv") == 0 ? ',' : suffix && strcmp(suffix, ".tsv") == 0 ? '\t' : ' ';
    gls_text row = {0};
    gls_output output;
    char number[40];
    gls_status status = gls_output_create(path, overwrite, &output);
    output.group = group;
    if (names) append_header(c, names, separator, &row);
    for (size_t i = 0; i < (c->options.vector ? 1 : n) && !status; i++) {
        if (names) gls_field_append(&row, c->options.vector ? "last_end" : names[i], separator);
        for (size_t k = 0; k < n; k++) {
            double value = gls_connectome_value(c, i, k);
            if (k > 0 || names) gls_text_append(&row, &separator, 1);
            gls_text_puts(&row, isnan(value) ? missing : gls_format_double(value, number, sizeof number));
        }
        gls_text_append(&row, "\n", 1);
        status = row.failed ? gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path)
                            : gls_output_write(&output, row.data, row.length);
        row.length = 0;
    }
    gls_text_finish(&row);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

void gls_connectome_destroy(gls_connectome *c)
{
    if (!c) return;
    gls_assigner_destroy(c->assigner);
    gls_region_shares_finish(&c->shares);
    gls_nodes_finish(&c->nodes);
    for (int t = 0; c->finder && t < c->n_threads; t++) {
        gls_assign_scratch_finish(&c->finder[t].scratch);
        free(c->finder[t].node);
        free(c->finder[t].share);
    }
    free(c->finder);
    free(c->ends);
    free(c->value);
    free(c->weight);
    free(c->edge);
    if (c->all) free(c->all->value);
    free(c->all);
    free(c->pair);
    free(c->stretch);
    free(c);
}
