/* Numbers the labels of an image as regions of a connectome, and measures their volumes and centres. */
#include <math.h>
#include <stdlib.h>

#include <glslines/image.h>

#include "image/region_set.h"
#include "tracts/connectome_parts.h"
#include "util/status.h"

/* Largest label, 2^24: whole numbers up to here are exact in the float32 that images are read as. */
#define MAX_LABEL 16777216

static gls_status find_largest(const gls_image *labels, const char *name, int32_t *largest)
{
    *largest = 0;
    for (size_t v = 0, n = gls_grid_voxels(&labels->grid); v < n; v++) {
        float value = labels->data[v];
        if (!(value >= 0 && value <= MAX_LABEL && value == floorf(value)))
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: has the value %.9g, but labels are whole numbers from 0 to %d: give an image of such labels", name,
                (double)value, MAX_LABEL);
        if ((int32_t)value > *largest) *largest = (int32_t)value;
    }
    return *largest > 0 ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: has no voxel above 0: give an image of labels", name);
}

/* Numbers the regions and measures them. number[]: 1 for the labels of the options, else 0 on entry; on return for each
 * label from 0 to `largest` the number of its region, from 1; 0: none. */
static gls_status number_labels(gls_nodes *nodes, const gls_image *labels, const char *name,
                                const gls_connectome_options *o, int32_t *number, int32_t largest)
{
    const size_t n = gls_grid_voxels(&labels->grid);
    for (size_t v = 0; v < n; v++) number[(int32_t)labels->data[v]] = 1;
    number[0] = 0;
    for (int32_t label = 1; label <= largest; label++)
        if (number[label] || o->raw_labels) number[label] = (int32_t)++nodes->n;
    if (nodes->n > GLS_CONNECTOME_MAX_NODES)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: gives a connectome of %zu regions%s, but at most %d are possible%s",
                        name, nodes->n, o->n_rows > 0 ? " with those of the table" : "", GLS_CONNECTOME_MAX_NODES,
                        o->raw_labels   ? "; --labels compact counts only labels that occur"
                        : o->n_rows > 0 ? ": give a table of the labels of this atlas alone"
                                        : "");
    nodes->voxel = malloc(n * sizeof *nodes->voxel);
    nodes->label = malloc(nodes->n * sizeof *nodes->label);
    nodes->volume = calloc(nodes->n + 1, sizeof *nodes->volume);
    nodes->centre = calloc(nodes->n + 1, sizeof *nodes->centre);
    if (!nodes->voxel || !nodes->label || !nodes->volume || !nodes->centre)
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    for (int32_t label = 1; label <= largest; label++)
        if (number[label]) nodes->label[number[label] - 1] = label;
    for (size_t v = 0; v < n; v++) {
        int32_t node = nodes->voxel[v] = number[(int32_t)labels->data[v]];
        double p[3];
        if (node == 0) continue;
        nodes->volume[node]++;
        gls_region_centre(&labels->grid, v, p);
        for (int a = 0; a < 3; a++) nodes->centre[node][a] += p[a];
    }
    return GLS_OK;
}

gls_status gls_nodes_init(gls_nodes *nodes, const gls_image *labels, const char *name, const gls_connectome_options *o)
{
    int32_t largest;
    *nodes = (gls_nodes){.grid = labels->grid};
    gls_status status = find_largest(labels, name, &largest);
    if (status) return status;
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i] > largest && o->rows[i] <= MAX_LABEL) largest = o->rows[i];
    int32_t *number = calloc((size_t)largest + 1, sizeof *number);
    if (!number) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", name);
    for (size_t i = 0; i < o->n_rows; i++)
        if (o->rows[i] > 0 && o->rows[i] <= largest) number[o->rows[i]] = 1;
    status = number_labels(nodes, labels, name, o, number, largest);
    free(number);
    return status;
}

void gls_nodes_finish(gls_nodes *nodes)
{
    free(nodes->voxel);
    free(nodes->label);
    free(nodes->volume);
    free(nodes->centre);
    *nodes = (gls_nodes){.n = 0};
}
