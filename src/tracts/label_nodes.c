/* Numbers the labels of an image as regions of a connectome, and measures their volumes and centres. */
#include <glslines/connectome.h>

#include <stdlib.h>
#include <string.h>

#include "tracts/label_nodes.h"
#include "image/labels.h"
#include "image/region_area.h"
#include "image/region_set.h"
#include "util/status.h"

/* Comparison for qsort(): labels in ascending order. */
static int by_label(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Returns the error that there are n regions. */
static gls_status fail_many(const char *name, size_t n, const gls_connectome_options *o)
{
    return gls_fail(GLS_ERR_UNSUPPORTED, "%s: gives a connectome of %zu regions%s, but at most %d are possible%s", name,
                    n, o->n_rows > 0 ? " with those of the table" : "", GLS_CONNECTOME_MAX_NODES,
                    o->raw_labels   ? "; --labels compact counts only labels that occur"
                    : o->n_rows > 0 ? ": give a table of the labels of this atlas alone"
                                    : "");
}

/* Fills in the labels of the regions, ascending: those that occur and those of the options, or all up to the largest.
 */
static gls_status choose_regions(gls_nodes *nodes, const gls_labels *labels, const char *name,
                                 const gls_connectome_options *o)
{
    int32_t *label = NULL;
    size_t occurring = 0, n = 0;
    gls_status status = gls_labels_distinct(labels, name, &label, &occurring);
    if (status) return status;
    nodes->label = label;
    if (occurring == 0) return gls_fail(GLS_ERR_INPUT, "%s: has no voxel above 0: give an image of labels", name);
    const size_t room = o->raw_labels ? GLS_CONNECTOME_MAX_NODES : 0;
    int32_t *all = realloc(label, (occurring + o->n_rows + room) * sizeof *all);
    if (!all) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for labels", name);
    nodes->label = all;
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i] > 0) all[occurring++] = o->rows[i];
    qsort(all, occurring, sizeof *all, by_label);
    for (size_t i = 0; i < occurring; i++)
        if (n == 0 || all[n - 1] != all[i]) all[n++] = all[i];
    const size_t largest = (size_t)all[n - 1];
    nodes->n = o->raw_labels ? largest : n;
    if (nodes->n > GLS_CONNECTOME_MAX_NODES) return fail_many(name, nodes->n, o);
    for (size_t i = 0; o->raw_labels && i < largest; i++) all[i] = (int32_t)i + 1;
    return GLS_OK;
}

/* Numbers the voxels by their regions, and sums up the volumes and centres of these. */
static void number_voxels(gls_nodes *nodes, const gls_labels *labels)
{
    int32_t last = 0, node = 0; /* label of the voxel before, and its region; neighbours mostly have one label */
    for (size_t v = 0, n = gls_grid_voxels(&labels->grid); v < n; v++) {
        const int32_t label = labels->data[v];
        if (label != last) node = label > 0 ? (int32_t)gls_labels_index(nodes->label, nodes->n, label) + 1 : 0;
        last = label;
        nodes->voxel[v] = node;
        double p[3];
        if (node == 0) continue;
        nodes->volume[node]++;
        gls_region_centre(&labels->grid, v, p);
        for (int a = 0; a < 3; a++) nodes->centre[node][a] += p[a];
    }
}

gls_status gls_nodes_init(gls_nodes *nodes, const gls_labels *labels, const char *name, const gls_connectome_options *o)
{
    *nodes = (gls_nodes){.grid = labels->grid};
    gls_status status = gls_labels_check(labels, name);
    if (!status) status = choose_regions(nodes, labels, name, o);
    if (status) return status;
    nodes->voxel = malloc(gls_grid_voxels(&labels->grid) * sizeof *nodes->voxel);
    nodes->volume = calloc(nodes->n + 1, sizeof *nodes->volume);
    nodes->centre = calloc(nodes->n + 1, sizeof *nodes->centre);
    if (!nodes->voxel || !nodes->volume || !nodes->centre) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    number_voxels(nodes, labels);
    return GLS_OK;
}

void gls_nodes_finish(gls_nodes *nodes)
{
    free(nodes->voxel);
    free(nodes->label);
    free(nodes->volume);
    free(nodes->centre);
    *nodes = (gls_nodes){.n = 0};
}
