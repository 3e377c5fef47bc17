/* Connectomes: threads find the regions of both ends of each streamline, and one adds them up in order. */
#include <glslines/connectome.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/affine.h"
#include "util/format.h"
#include "util/output.h"
#include "util/status.h"
#include "util/text.h"

/* A voxel near another one. */
typedef struct offset {
    int32_t step[3];
    double mm;
    size_t order; /* among those of equal distance */
} offset;

struct gls_connectome {
    gls_connectome_options options;
    gls_grid grid;
    double world_to_voxel[3][4];
    int32_t *node; /* region of each voxel from 1, 0: none */
    size_t n_nodes;
    int32_t *label;   /* of each region, from 0 */
    uint64_t *volume; /* voxels of each, from 1 */
    size_t n_offsets;
    offset *offset; /* radial search: by distance */
    double half_diagonal;
    double *value, *weight; /* (n_nodes + 1)^2, upper triangle */
    gls_connectome_counts counts;
    size_t capacity;
    int32_t (*pair)[2]; /* of a parcel */
};

gls_connectome_options gls_connectome_options_default(void)
{
    return (gls_connectome_options){
        .size = sizeof(gls_connectome_options), .assignment = GLS_ASSIGN_RADIAL, .radius = 4};
}

static int compare_labels(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int compare_offsets(const void *a, const void *b)
{
    const offset *x = a, *y = b;
    if (x->mm != y->mm) return x->mm < y->mm ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Numbers the labels that occur. */
static gls_status number_labels(gls_connectome *c, const gls_image *labels, const char *name)
{
    const size_t n = gls_grid_voxels(&labels->grid);
    int32_t *sorted = malloc((n + 1) * sizeof *sorted);
    c->node = malloc(n * sizeof *c->node);
    if (!sorted || !c->node) goto no_memory;
    for (size_t v = 0; v < n; v++) {
        float value = labels->data[v];
        if (!(value >= 0 && value <= 16777216.0f && value == floorf(value))) {
            free(sorted);
            return gls_fail(GLS_ERR_INPUT, "%s: %g is no label: whole numbers from 0 to 16777216 are", name,
                            (double)value);
        }
        c->node[v] = sorted[v] = (int32_t)value;
    }
    qsort(sorted, n, sizeof *sorted, compare_labels);
    for (size_t v = 0; v < n; v++)
        if (sorted[v] > 0 && (c->n_nodes == 0 || sorted[v] != sorted[c->n_nodes - 1])) sorted[c->n_nodes++] = sorted[v];
    c->label = sorted;
    if (c->n_nodes == 0) return gls_fail(GLS_ERR_INPUT, "%s: has no label", name);
    if (c->n_nodes > GLS_CONNECTOME_MAX_NODES)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %zu labels, more than %d", name, c->n_nodes,
                        GLS_CONNECTOME_MAX_NODES);
    c->volume = calloc(c->n_nodes + 1, sizeof *c->volume);
    if (!c->volume) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    for (size_t v = 0; v < n; v++) {
        if (c->node[v] == 0) continue;
        int32_t *at = bsearch(&c->node[v], c->label, c->n_nodes, sizeof *at, compare_labels);
        c->node[v] = (int32_t)(at - c->label) + 1;
        c->volume[c->node[v]]++;
    }
    return GLS_OK;
no_memory:
    free(sorted);
    return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
}

/* Voxels in whose reach an end may lie. Those of equal distance come in the order of axes that point towards RAS. */
static gls_status list_offsets(gls_connectome *c)
{
    const double *size = c->grid.voxel_size, reach = c->options.radius + c->half_diagonal;
    int sign[3], n[3];
    double boxes = 1;
    for (int a = 0; a < 3; a++) {
        int longest = 0;
        for (int r = 1; r < 3; r++)
            if (fabs(c->grid.affine[r][a]) > fabs(c->grid.affine[longest][a])) longest = r;
        sign[a] = c->grid.affine[longest][a] < 0 ? -1 : 1;
        boxes *= 2 * ceil(reach / size[a]) + 1;
    }
    if (boxes > 1e7)
        return gls_fail(GLS_ERR_UNSUPPORTED, "a search of %g mm among voxels of %g mm", c->options.radius, size[0]);
    for (int a = 0; a < 3; a++) n[a] = (int)ceil(reach / size[a]);
    c->offset = malloc((size_t)boxes * sizeof *c->offset);
    if (!c->offset) return gls_fail(GLS_ERR_MEMORY, "out of memory for a search");
    for (int z = -n[2]; z <= n[2]; z++)
        for (int y = -n[1]; y <= n[1]; y++)
            for (int x = -n[0]; x <= n[0]; x++) {
                double dz = z * size[2], dy = y * size[1], dx = x * size[0], mm = sqrt(dz * dz + dy * dy + dx * dx);
                if (mm >= reach) continue;
                c->offset[c->n_offsets] = (offset){{x * sign[0], y * sign[1], z * sign[2]}, mm, c->n_offsets};
                c->n_offsets++;
            }
    qsort(c->offset, c->n_offsets, sizeof *c->offset, compare_offsets);
    return GLS_OK;
}

/* The voxel if it is one of the grid; v: whole numbers. */
static bool find_voxel(const gls_connectome *c, const double v[3], size_t *voxel)
{
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= 0 && v[a] < c->grid.dim[a])) return false;
    *voxel = ((size_t)v[2] * (size_t)c->grid.dim[1] + (size_t)v[1]) * (size_t)c->grid.dim[0] + (size_t)v[0];
    return true;
}

static int32_t find_node(const gls_connectome *c, const float point[3])
{
    double p[3] = {point[0], point[1], point[2]}, centre[3], best = c->options.radius;
    int32_t node = 0;
    size_t voxel;
    gls_affine_apply(c->world_to_voxel, p, centre);
    for (int a = 0; a < 3; a++) centre[a] = round(centre[a]);
    if (c->options.assignment == GLS_ASSIGN_END) return find_voxel(c, centre, &voxel) ? c->node[voxel] : 0;
    for (size_t i = 0; i < c->n_offsets && c->offset[i].mm <= best + 2 * c->half_diagonal; i++) {
        const int32_t *step = c->offset[i].step;
        double v[3] = {centre[0] + step[0], centre[1] + step[1], centre[2] + step[2]}, w[3];
        if (!find_voxel(c, v, &voxel) || c->node[voxel] == 0) continue;
        gls_affine_apply(c->grid.affine, v, w);
        double x = p[0] - w[0], y = p[1] - w[1], z = p[2] - w[2], mm = sqrt(x * x + y * y + z * z);
        if (mm >= best) continue;
        best = mm;
        node = c->node[voxel];
    }
    return node;
}

static double length_of(const float (*point)[3], size_t n)
{
    double length = 0;
    for (size_t p = 1; p < n; p++) {
        double x = (double)point[p][0] - point[p - 1][0], y = (double)point[p][1] - point[p - 1][1],
               z = (double)point[p][2] - point[p - 1][2];
        length += sqrt(x * x + y * y + z * z);
    }
    return length;
}

static double scale_of(const gls_connectome *c, const int32_t pair[2], const float (*point)[3], size_t n)
{
    double length, voxels;
    switch (c->options.scale) {
    case GLS_SCALE_LENGTH: return length_of(point, n);
    case GLS_SCALE_INVLENGTH: length = length_of(point, n); return length > 0 ? 1 / length : 0;
    case GLS_SCALE_INVNODEVOL:
        voxels = (double)(c->volume[pair[0]] + c->volume[pair[1]]);
        return voxels > 0 ? 2 / voxels : 0;
    default: return 1;
    }
}

static void add(gls_connectome *c, const int32_t pair[2], double value, double weight)
{
    size_t a = (size_t)(pair[0] < pair[1] ? pair[0] : pair[1]), b = (size_t)(pair[0] < pair[1] ? pair[1] : pair[0]),
           cell = a * (c->n_nodes + 1) + b;
    switch (c->options.stat) {
    case GLS_STAT_SUM:
    case GLS_STAT_MEAN:
        c->value[cell] += value * weight;
        c->weight[cell] += weight;
        break;
    case GLS_STAT_MIN: c->value[cell] = fmin(c->value[cell], value); break;
    case GLS_STAT_MAX: c->value[cell] = fmax(c->value[cell], value); break;
    }
    c->counts.joined += a > 0;
    c->counts.unassigned += (a == 0) + (b == 0);
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_connectome *c = user;
    const gls_column *weights = NULL;
    if (c->options.weights) {
        weights = gls_column_find(s->dps, s->n_dps, c->options.weights);
        if (!weights || weights->components != 1)
            return gls_fail(GLS_ERR_INPUT, "no column \"%s\" of one value a streamline", c->options.weights);
    }
    if (s->n > c->capacity) {
        int32_t(*pair)[2] = realloc(c->pair, s->n * sizeof *pair);
        if (!pair) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ends of streamlines");
        c->pair = pair;
        c->capacity = s->n;
    }
#pragma omp parallel for schedule(dynamic, 256)
    for (size_t i = 0; i < s->n; i++) {
        if (s->offset[i + 1] == s->offset[i]) continue;
        c->pair[i][0] = find_node(c, s->point[s->offset[i]]);
        c->pair[i][1] = find_node(c, s->point[s->offset[i + 1] - 1]);
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        double weight = weights ? gls_column_value(weights, i) : 1;
        if (!isfinite(weight))
            return gls_fail(GLS_ERR_INPUT, "the weight of streamline %llu is not finite",
                            (unsigned long long)c->counts.streamlines);
        c->counts.streamlines++;
        c->counts.empty += n == 0;
        if (n > 0) add(c, c->pair[i], scale_of(c, c->pair[i], s->point + s->offset[i], n), weight);
    }
    return GLS_OK;
}

gls_status gls_connectome_create(const gls_image *labels, const char *name, const gls_connectome_options *options,
                                 gls_connectome **connectome)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(labels && labels->n_volumes == 1 && name && connectome);
    gls_connectome_options o = options ? *options : gls_connectome_options_default();
    GLS_REQUIRE(o.radius > 0 && isfinite(o.radius));
    gls_connectome *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome");
    c->options = o;
    c->grid = labels->grid;
    gls_grid_inverse(&c->grid, c->world_to_voxel);
    for (int a = 0; a < 3; a++) c->half_diagonal += 0.25 * c->grid.voxel_size[a] * c->grid.voxel_size[a];
    c->half_diagonal = sqrt(c->half_diagonal);
    gls_status status = number_labels(c, labels, name);
    if (!status && o.assignment == GLS_ASSIGN_RADIAL) status = list_offsets(c);
    size_t cells = (c->n_nodes + 1) * (c->n_nodes + 1);
    if (!status) {
        c->value = calloc(cells, sizeof *c->value);
        c->weight = calloc(cells, sizeof *c->weight);
        if (!c->value || !c->weight)
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome of %zu regions", c->n_nodes);
    }
    for (size_t i = 0; i < cells && !status && o.stat >= GLS_STAT_MIN; i++)
        c->value[i] = o.stat == GLS_STAT_MIN ? INFINITY : -INFINITY;
    if (status)
        gls_connectome_destroy(c);
    else
        *connectome = c;
    return status;
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
    if (labels) *labels = connectome->label;
    return connectome->n_nodes;
}

size_t gls_connectome_size(const gls_connectome *c)
{
    return c->n_nodes + (c->options.keep_unassigned ? 1 : 0);
}

double gls_connectome_value(const gls_connectome *c, size_t row, size_t column)
{
    if (!c->options.keep_unassigned) row++, column++;
    if (row == column && c->options.zero_diagonal) return 0;
    if (row > column && !c->options.symmetric) return 0;
    size_t a = row < column ? row : column, b = row < column ? column : row, cell = a * (c->n_nodes + 1) + b;
    double value = c->value[cell];
    if (c->options.stat == GLS_STAT_MEAN) return c->weight[cell] != 0 ? value / c->weight[cell] : value;
    return isfinite(value) ? value : NAN;
}

gls_status gls_connectome_write(const gls_connectome *c, const char *path, bool overwrite)
{
    GLS_REQUIRE(c && path);
    const size_t n = gls_connectome_size(c);
    const char *suffix = strrchr(path, '.');
    char separator = suffix && strcmp(suffix, ".csv") == 0 ? ',' : suffix && strcmp(suffix, ".tsv") == 0 ? '\t' : ' ';
    gls_text row = {0};
    gls_output output;
    char number[40];
    gls_status status = gls_output_create(path, overwrite, &output);
    for (size_t i = 0; i < n && !status; i++) {
        row.length = 0;
        for (size_t k = 0; k < n; k++) {
            double value = gls_connectome_value(c, i, k);
            if (k > 0) gls_text_append(&row, &separator, 1);
            gls_text_puts(&row, isnan(value) ? "nan" : gls_format_double(value, number, sizeof number));
        }
        gls_text_append(&row, "\n", 1);
        status = row.failed ? gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path)
                            : gls_output_write(&output, row.data, row.length);
    }
    gls_text_finish(&row);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

void gls_connectome_destroy(gls_connectome *c)
{
    if (!c) return;
    free(c->node);
    free(c->label);
    free(c->volume);
    free(c->offset);
    free(c->value);
    free(c->weight);
    free(c->pair);
    free(c);
}
