/* Compares labels of two images, label by label: a measure of a registration that does not depend on the intensities
 * which it compared. */
#include "registration/label_overlap.h"

#include <math.h>
#include <stdlib.h>

#include "image/grid.h"
#include "image/labels.h"
#include "transform/resample.h"
#include "util/status.h"

void gls_label_overlap_finish(gls_label_overlap *overlap)
{
    free(overlap->row);
    *overlap = (gls_label_overlap){.n = 0};
}

/* Refuses images whose labels cannot be compared. n: number of labels of each image. */
static gls_status check_lists(const char *const name[2], const size_t n[2], size_t n_common)
{
    for (int k = 0; k < 2; k++)
        if (n[k] == 0) return gls_fail(GLS_ERR_INPUT, "%s: has no label above 0", name[k]);
    if (n_common > 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s and %s have no label in common: give labels of one protocol", name[0], name[1]);
}

gls_status gls_label_overlap_list(const gls_labels *moving, const char *moving_name, const gls_labels *fixed,
                                  const char *fixed_name, gls_label_overlap *overlap)
{
    const char *const name[2] = {moving_name, fixed_name};
    int32_t *label[2] = {NULL, NULL};
    size_t n[2] = {0, 0}, at[2] = {0, 0};
    gls_status status = gls_labels_distinct(moving, name[0], &label[0], &n[0]);
    if (!status) status = gls_labels_distinct(fixed, name[1], &label[1], &n[1]);
    if (!status && !(overlap->row = calloc(n[0] + n[1] + 1, sizeof *overlap->row))) status = gls_no_memory();
    while (!status && (at[0] < n[0] || at[1] < n[1])) {
        gls_overlap_row *row = &overlap->row[overlap->n++];
        row->in_moving = at[0] < n[0] && (at[1] == n[1] || label[0][at[0]] <= label[1][at[1]]);
        row->in_fixed = at[1] < n[1] && (at[0] == n[0] || label[1][at[1]] <= label[0][at[0]]);
        row->label = row->in_moving ? label[0][at[0]] : label[1][at[1]];
        at[0] += row->in_moving;
        at[1] += row->in_fixed;
        overlap->n_common += row->in_moving && row->in_fixed;
    }
    if (!status) status = check_lists(name, n, overlap->n_common);
    free(label[0]);
    free(label[1]);
    return status;
}

/* Makes an image of the places of labels in the list, from 1; 0: no label. float32 holds them exactly, which it does
 * not do with labels. */
static gls_status make_places(const gls_labels *labels, const gls_label_overlap *overlap, gls_image **places)
{
    int32_t *list = malloc(overlap->n * sizeof *list);
    gls_status status = list ? gls_image_create(&labels->grid, 1, places) : gls_no_memory();
    for (size_t i = 0; i < overlap->n && !status; i++) list[i] = overlap->row[i].label;
    for (size_t v = 0; !status && v < gls_grid_voxels(&labels->grid); v++)
        if (labels->data[v] > 0) (*places)->data[v] = (float)(1 + gls_labels_index(list, overlap->n, labels->data[v]));
    free(list);
    return status;
}

/* Compares the places of labels of the fixed image with those that a map brings there. */
static gls_status compare(const gls_image *moving, const gls_image *fixed, const gls_transform *t, gls_overlap_by by,
                          gls_label_overlap *overlap)
{
    gls_image *moved = NULL;
    uint64_t outside, *count = calloc(3 * (overlap->n + 1), sizeof *count);
    uint64_t *in_fixed = count, *in_moved = in_fixed + overlap->n + 1, *both = in_moved + overlap->n + 1;
    gls_status status =
        !count ? gls_no_memory() : gls_image_resample(moving, t, &fixed->grid, GLS_RESAMPLE_LABEL, 0, &moved, &outside);
    for (size_t v = 0; !status && v < gls_grid_voxels(&fixed->grid); v++) {
        const size_t f = (size_t)fixed->data[v], m = (size_t)moved->data[v];
        in_fixed[f]++;
        in_moved[m]++;
        both[f] += f == m;
    }
    for (size_t i = 0; i < overlap->n && !status; i++) {
        gls_overlap_row *row = &overlap->row[i];
        const uint64_t sum = in_fixed[i + 1] + in_moved[i + 1];
        row->fixed = in_fixed[i + 1];
        row->moved = in_moved[i + 1];
        row->dice[by] = sum > 0 ? 2 * (double)both[i + 1] / (double)sum : NAN;
        if (row->in_fixed && row->in_moving) overlap->mean[by] += row->dice[by] / (double)overlap->n_common;
    }
    gls_image_destroy(moved);
    free(count);
    return status;
}

gls_status gls_label_overlap_find(const gls_labels *moving, const gls_labels *fixed,
                                  const gls_transform by[GLS_OVERLAP_N], gls_label_overlap *overlap)
{
    gls_image *places[2] = {NULL, NULL};
    gls_status status = make_places(moving, overlap, &places[0]);
    if (!status) status = make_places(fixed, overlap, &places[1]);
    for (int k = 0; k < GLS_OVERLAP_N && !status; k++)
        status = compare(places[0], places[1], &by[k], (gls_overlap_by)k, overlap);
    gls_image_destroy(places[0]);
    gls_image_destroy(places[1]);
    return status;
}
