/* Probabilistic parcellations: images of four dimensions, volume k of which is the probability of region k. Few regions
 * overlap in a voxel, so only probabilities above 0 are kept. */
#include "tracts/region_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_area.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"

#define TOLERANCE 1e-3 /* by which probabilities may lie outside 0 to 1 */
#define MIN_SUM 0.01   /* a point or a voxel of less has no region */

/* Checks the number of volumes and all values. */
static gls_status check(const gls_image *image, const char *name)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    if (image->n_volumes > GLS_CONNECTOME_MAX_NODES)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %zu volumes, but at most %d regions are possible", name,
                        image->n_volumes, GLS_CONNECTOME_MAX_NODES);
    for (size_t i = 0; i < n; i++)
        if (!(image->data[i] >= -TOLERANCE && image->data[i] <= 1 + TOLERANCE))
            return gls_fail(GLS_ERR_INPUT, "%s: has the value %g, but probabilities of regions lie between 0 and 1%s",
                            name, (double)image->data[i],
                            image->data[i] > 1 && image->data[i] <= 100 ? ": divide percentages by 100" : "");
    return GLS_OK;
}

/* Value of a volume at a voxel, between 0 and 1. */
static float value_at(const gls_image *image, size_t volume, size_t voxel)
{
    return fminf(fmaxf(image->data[volume * gls_grid_voxels(&image->grid) + voxel], 0), 1);
}

/* Lists the regions of each voxel. */
static gls_status list_shares(gls_region_shares *s, const gls_image *image)
{
    const size_t n = gls_grid_voxels(&image->grid);
    size_t count = 0, capacity = 0;
    s->first = malloc((n + 1) * sizeof *s->first);
    s->inside = calloc(n, sizeof *s->inside);
    if (!s->first || !s->inside) return gls_no_memory();
    for (size_t v = 0; v < n; v++) {
        double sum = 0;
        s->first[v] = count;
        for (size_t k = 0; k < image->n_volumes; k++) {
            const float value = value_at(image, k, v);
            if (!(value > 0)) continue;
            if (!gls_list_reserve(&s->of, count, &capacity, 4096, sizeof *s->of)) return gls_no_memory();
            s->of[count++] = (gls_region_share){(int32_t)k + 1, value};
            sum += (double)value;
        }
        s->inside[v] = sum >= MIN_SUM ? (int32_t)v + 1 : 0;
    }
    s->first[n] = count;
    return GLS_OK;
}

/* Numbers the regions, and finds their sizes and centres. */
static gls_status number_regions(const gls_region_shares *s, size_t n, gls_nodes *nodes)
{
    *nodes = (gls_nodes){.grid = s->grid, .n = n};
    double *sum = calloc(n + 1, sizeof *sum);
    nodes->label = malloc(n * sizeof *nodes->label);
    nodes->volume = calloc(n + 1, sizeof *nodes->volume);
    nodes->centre = calloc(n + 1, sizeof *nodes->centre);
    if (!sum || !nodes->label || !nodes->volume || !nodes->centre) {
        free(sum);
        return gls_no_memory();
    }
    for (size_t i = 0; i < n; i++) nodes->label[i] = (int32_t)i + 1;
    for (size_t v = 0; v < gls_grid_voxels(&s->grid); v++) {
        double p[3];
        gls_region_centre(&s->grid, v, p);
        for (uint64_t k = s->first[v]; k < s->first[v + 1]; k++) {
            const int32_t region = s->of[k].region;
            nodes->volume[region]++;
            sum[region] += (double)s->of[k].share;
            for (int a = 0; a < 3; a++) nodes->centre[region][a] += (double)s->of[k].share * p[a];
        }
    }
    /* the centre of a region is the sum in centre[] over the number of its voxels */
    for (size_t r = 1; r <= n; r++)
        for (int a = 0; a < 3 && sum[r] > 0; a++) nodes->centre[r][a] *= (double)nodes->volume[r] / sum[r];
    free(sum);
    return GLS_OK;
}

gls_status gls_region_shares_init(gls_region_shares *s, const gls_image *image, const char *name,
                                  const gls_connectome_options *o, gls_nodes *nodes)
{
    *s = (gls_region_shares){.grid = image->grid};
    *nodes = (gls_nodes){.n = 0};
    gls_grid_inverse(&s->grid, s->world_to_voxel);
    if (o->assignment != GLS_ASSIGN_RADIAL && o->assignment != GLS_ASSIGN_END)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: probabilities of regions need --assign radial or end", name);
    if (gls_grid_voxels(&image->grid) > INT32_MAX - 1)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has more than 2^31 voxels", name);
    gls_status status = check(image, name);
    if (!status) status = list_shares(s, image);
    if (!status && s->first[gls_grid_voxels(&s->grid)] == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no value above 0: give probabilities of regions", name);
    if (!status) status = number_regions(s, image->n_volumes, nodes);
    if (!status && o->assignment == GLS_ASSIGN_RADIAL)
        status = gls_assigner_create(&s->grid, s->inside, o, &s->assigner);
    return status;
}

/* Adds a share to a region of the list from index `from` on, or the region to the list. */
static bool add(gls_region_share share, size_t from, gls_region_share **list, size_t *n, size_t *capacity)
{
    for (size_t i = from; i < *n; i++)
        if ((*list)[i].region == share.region) {
            (*list)[i].share += share.share;
            return true;
        }
    if (!gls_list_grow(list, *n + 1, capacity, sizeof **list)) return false;
    (*list)[(*n)++] = share;
    return true;
}

/* Adds `weight` times the shares of a voxel. */
static bool add_voxel(const gls_region_shares *s, size_t voxel, double weight, size_t from, gls_region_share **list,
                      size_t *n, size_t *capacity)
{
    for (uint64_t k = s->first[voxel]; k < s->first[voxel + 1]; k++)
        if (!add((gls_region_share){s->of[k].region, (float)(weight * (double)s->of[k].share)}, from, list, n,
                 capacity))
            return false;
    return true;
}

/* Adds the shares between the eight voxels around a point, of which those outside the grid have none. */
static bool add_between(const gls_region_shares *s, const float point[3], gls_region_share **list, size_t *n,
                        size_t *capacity)
{
    const double p[3] = {point[0], point[1], point[2]};
    const size_t from = *n;
    double v[3];
    gls_affine_apply((const double(*)[4])s->world_to_voxel, p, v);
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t voxel = 0;
        for (int a = 2; a >= 0; a--) {
            const double low = floor(v[a]), at = low + (corner >> a & 1);
            weight *= corner >> a & 1 ? v[a] - low : 1 - (v[a] - low);
            if (!(at >= 0 && at < s->grid.dim[a])) weight = 0;
            voxel = voxel * (size_t)s->grid.dim[a] + (weight > 0 ? (size_t)at : 0);
        }
        if (weight > 0 && !add_voxel(s, voxel, weight, from, list, n, capacity)) return false;
    }
    return true;
}

bool gls_region_shares_find(const gls_region_shares *s, const float point[3], gls_region_share **list, size_t *n,
                            size_t *capacity)
{
    const size_t from = *n;
    double sum = 0;
    if (!add_between(s, point, list, n, capacity)) return false;
    for (size_t i = from; i < *n; i++) sum += (double)(*list)[i].share;
    if (s->assigner && sum < MIN_SUM) {
        int32_t pair[2];
        gls_assign_ends(s->assigner, (const float(*)[3])point, 1, pair);
        if (pair[0] > 0) {
            *n = from;
            if (!add_voxel(s, (size_t)pair[0] - 1, 1, from, list, n, capacity)) return false;
            sum = 0;
            for (size_t i = from; i < *n; i++) sum += (double)(*list)[i].share;
        }
    }
    for (size_t i = from; i < *n && sum > 1; i++) (*list)[i].share = (float)((double)(*list)[i].share / sum);
    return true;
}

void gls_region_shares_finish(gls_region_shares *s)
{
    gls_assigner_destroy(s->assigner);
    free(s->first);
    free(s->of);
    free(s->inside);
    *s = (gls_region_shares){.first = NULL};
}

gls_status gls_labels_of_largest(const gls_image *image, const char *name, gls_labels **labels)
{
    const size_t n = gls_grid_voxels(&image->grid);
    gls_status status = check(image, name);
    if (status) return status;
    gls_labels *made = calloc(1, sizeof *made);
    int32_t *data = malloc(n * sizeof *data);
    if (!made || !data) {
        free(made);
        free(data);
        return gls_no_memory();
    }
    for (size_t v = 0; v < n; v++) {
        float largest = 0;
        data[v] = 0;
        for (size_t k = 0; k < image->n_volumes; k++)
            if (value_at(image, k, v) > largest) {
                largest = value_at(image, k, v);
                data[v] = (int32_t)k + 1;
            }
    }
    *made = (gls_labels){.grid = image->grid, .data = data};
    *labels = made;
    return GLS_OK;
}
