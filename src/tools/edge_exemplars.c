/* Exemplars of the edges of a connectome: collects the mean of the streamlines of each edge, then makes a line for it.
 * Streamlines are added in their order, so that the bytes do not depend on blocks. */
#include "tools/edge_exemplars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/labels.h"
#include "tracts/exemplar.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"

/* Points of a mean where the header does not say otherwise. */
enum { POINTS = 201, MAX_POINTS = 100000 };

/* Number of a field of the header of a TCK file, 0 if there is none. */
static double header_number(const gls_tractogram_info *info, const char *key)
{
    double value;
    for (size_t k = 0; k < info->n_header; k++)
        if (strcmp(info->header[k].key, key) == 0 && gls_parse_double(info->header[k].value, &value) && value > 0)
            return value;
    return 0;
}

gls_status gls_edge_exemplars_init(gls_edge_exemplars *e, const gls_tract_lists *lists, const gls_edge_sets *sets,
                                   const char *path, double step, const char *weights, const gls_tractogram_info *info)
{
    const gls_connectome_options options = gls_connectome_options_default();
    gls_labels *labels = NULL;
    *e = (gls_edge_exemplars){.lists = lists, .sets = sets, .weights = weights, .step = step, .n_points = POINTS};
    double own = header_number(info, "output_step_size");
    if (own == 0) own = header_number(info, "step_size");
    if (e->step == 0) e->step = own > 0 ? own : 1;
    const double n = round(header_number(info, "max_dist") / (own > 0 ? own : 1)) + 1;
    if (n >= 5 && n <= MAX_POINTS) e->n_points = (size_t)n;
    gls_status status = gls_labels_read(path, &labels);
    if (!status) status = gls_nodes_init(&e->nodes, labels, path, &options);
    gls_labels_destroy(labels);
    if (status) return status;
    e->sum = calloc(sets->n * e->n_points + 1, sizeof *e->sum);
    e->weight = calloc(sets->n + 1, sizeof *e->weight);
    e->count = calloc(sets->n + 1, sizeof *e->count);
    return e->sum && e->weight && e->count ? GLS_OK : gls_no_memory();
}

/* Centre of the region of a label, world mm. Returns false if the image lacks the label. */
static bool find_centre(const gls_edge_exemplars *e, int32_t label, double centre[3])
{
    const size_t i = label > 0 ? gls_labels_index(e->nodes.label, e->nodes.n, label) : e->nodes.n;
    if (i >= e->nodes.n || e->nodes.volume[i + 1] == 0) return false;
    for (int r = 0; r < 3; r++) centre[r] = e->nodes.centre[i + 1][r] / (double)e->nodes.volume[i + 1];
    gls_affine_apply((const double(*)[4])e->nodes.grid.affine, centre, centre);
    return true;
}

/* Adds a streamline to the mean of edge k, beginning at the smaller label. */
static void add_to_edge(gls_edge_exemplars *e, size_t k, const float (*point)[3], size_t n, double weight)
{
    const int32_t *edge = e->sets->label[k], *label = e->lists->label + e->lists->first[e->at];
    double a[3], b[3];
    size_t first = 0;
    bool backwards = label[0] != edge[0];
    if (edge[0] == edge[1] || !find_centre(e, edge[0], a) || !find_centre(e, edge[1], b)) return;
    if (e->lists->first[e->at + 1] - e->lists->first[e->at] != 2 &&
        !gls_exemplar_part(point, n, a, b, &first, &n, &backwards))
        return;
    gls_exemplar_add(point + first, n, backwards, weight, e->sum + k * e->n_points, e->n_points);
    e->weight[k] += weight;
    e->count[k]++;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_edge_exemplars *e = user;
    const gls_column *weights = e->weights ? gls_column_find(s->dps, s->n_dps, e->weights) : NULL;
    for (size_t i = 0; i < s->n; i++, e->at++) {
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        if (e->at >= e->sets->rows) continue; /* the caller reports that there are more streamlines */
        for (uint64_t k = e->sets->first[e->at]; n > 0 && k < e->sets->first[e->at + 1]; k++)
            add_to_edge(e, e->sets->of[k], s->point + s->offset[i], n, weights ? gls_column_value(weights, i) : 1);
    }
    return GLS_OK;
}

gls_sink gls_edge_exemplars_sink(gls_edge_exemplars *exemplars)
{
    return (gls_sink){.append = append, .user = exemplars};
}

/* Adds a line with its columns. */
static gls_status add_line(gls_edge_exemplars *e, const float (*point)[3], size_t n, const int32_t edge[2],
                           double weight, uint64_t count)
{
    const uint64_t before = e->n > 0 ? e->offset[e->n] : 0;
    if (!gls_list_grow(&e->offset, e->n + 2, &e->capacity, sizeof *e->offset) ||
        !gls_list_grow(&e->point, (size_t)before + n, &e->point_capacity, sizeof *e->point) ||
        !gls_list_grow(&e->edge, e->n + 1, &e->edge_capacity, sizeof *e->edge) ||
        !gls_list_grow(&e->line_weight, e->n + 1, &e->weight_capacity, sizeof *e->line_weight) ||
        !gls_list_grow(&e->line_count, e->n + 1, &e->count_capacity, sizeof *e->line_count))
        return gls_no_memory();
    memcpy(e->point[before], point, n * sizeof *point);
    memcpy(e->edge[e->n], edge, sizeof *e->edge);
    e->line_weight[e->n] = weight;
    e->line_count[e->n] = count;
    e->offset[0] = 0;
    e->offset[++e->n] = before + n;
    return GLS_OK;
}

/* Makes the line of two regions. k: index of their edge; sets->n: they have no streamlines. */
static gls_status make_line(gls_edge_exemplars *e, const int32_t edge[2], size_t k)
{
    double a[3], b[3];
    float(*line)[3] = NULL;
    size_t n = 0;
    if (!find_centre(e, edge[0], a) || !find_centre(e, edge[1], b)) return GLS_OK;
    const double weight = k < e->sets->n ? e->weight[k] : 0;
    const uint64_t count = k < e->sets->n ? e->count[k] : 0;
    if (!(weight > 0)) {
        const float straight[2][3] = {{(float)a[0], (float)a[1], (float)a[2]}, {(float)b[0], (float)b[1], (float)b[2]}};
        return add_line(e, straight, 2, edge, weight, count);
    }
    double(*mean)[3] = e->sum + k * e->n_points;
    for (size_t i = 0; i < e->n_points; i++)
        for (int r = 0; r < 3; r++) mean[i][r] /= weight;
    gls_status status = gls_exemplar_make(mean, e->n_points, a, b, e->step, &line, &n);
    if (!status) status = add_line(e, (const float(*)[3])line, n, edge, weight, count);
    free(line);
    return status;
}

/* Index of the edge of two labels, which lies at *next or later; sets->n: they have no streamlines. */
static size_t find_edge(const gls_edge_sets *sets, int32_t a, int32_t b, size_t *next)
{
    const int32_t(*label)[2] = (const int32_t(*)[2])sets->label;
    while (*next < sets->n && (label[*next][0] < a || (label[*next][0] == a && label[*next][1] < b))) ++*next;
    return *next < sets->n && label[*next][0] == a && label[*next][1] == b ? *next : sets->n;
}

gls_status gls_edge_exemplars_lines(gls_edge_exemplars *e, const gls_edge_choice *choice, bool all,
                                    gls_streamlines *lines, gls_tract_lists *lists)
{
    const gls_label_ranges *wanted = &choice->nodes;
    size_t next = 0;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < e->nodes.n && !status; i++)
        for (size_t j = i + 1; j < e->nodes.n && !status; j++) {
            const int32_t edge[2] = {e->nodes.label[i], e->nodes.label[j]};
            const bool one = wanted->n == 0 || gls_label_ranges_have(wanted, edge[0]),
                       other = wanted->n == 0 || gls_label_ranges_have(wanted, edge[1]);
            const size_t k = find_edge(e->sets, edge[0], edge[1], &next);
            if (choice->exclusive ? !(one && other) : !(one || other)) continue;
            if (k < e->sets->n ? e->count[k] > 0 || all : all) status = make_line(e, edge, k);
        }
    for (size_t i = 0; i < e->n && !status; i++) gls_tract_lists_add(lists, e->edge[i], 2);
    if (!status && lists->failed) status = gls_no_memory();
    e->column[0] = (gls_column){"edge", GLS_TYPE_INT32, 2, e->edge};
    e->column[1] = (gls_column){"count", GLS_TYPE_UINT64, 1, e->line_count};
    e->column[2] = (gls_column){"weights", GLS_TYPE_FLOAT64, 1, e->line_weight};
    *lines = (gls_streamlines){
        .n = e->n, .offset = e->offset, .point = (const float(*)[3])e->point, .dps = e->column, .n_dps = 3};
    return status;
}

void gls_edge_exemplars_finish(gls_edge_exemplars *e)
{
    gls_nodes_finish(&e->nodes);
    free(e->sum);
    free(e->weight);
    free(e->count);
    free(e->point);
    free(e->offset);
    free(e->edge);
    free(e->line_weight);
    free(e->line_count);
    *e = (gls_edge_exemplars){.n = 0};
}
