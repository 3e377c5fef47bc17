/* Reads and writes images of labels, and finds the labels that occur. */
#include "image/labels.h"

#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "image/image_write.h"
#include "image/nifti_read.h"
#include "util/status.h"

/* Makes an image of labels that owns `data`; frees them after a failure. */
static gls_status make(const gls_grid *grid, int32_t *data, bool is_wrapped, gls_labels **labels)
{
    gls_labels *made = malloc(sizeof *made);
    if (made) *made = (gls_labels){.grid = *grid, .data = data, .is_wrapped = is_wrapped};
    if (!made && !is_wrapped) free(data);
    *labels = made;
    return made ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "no memory for an image of labels");
}

gls_status gls_labels_create(const gls_grid *grid, gls_labels **labels)
{
    int32_t *data = calloc(gls_grid_voxels(grid), sizeof *data);
    *labels = NULL;
    return data ? make(grid, data, false, labels) : gls_no_memory();
}

gls_status gls_labels_read_known(const char *path, gls_labels **labels)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read_as_labels(path, &image);
    if (status) return status;
    status = make(&image->grid, (int32_t *)(void *)image->data, false, labels);
    /* the values now belong to the labels */
    image->is_wrapped = true;
    gls_image_destroy(image);
    return status;
}

/* Returns the error for voxel v of a file, whose value is no label. Reads the file again, for the value. */
static gls_status fail_value(const char *path, size_t v)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &image);
    if (status) return status;
    const double value = (double)image->data[v];
    gls_image_destroy(image);
    if (value >= 2048 && value <= GLS_LABEL_MAX && value == (double)(int64_t)value)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has the value %.10g as a floating point number, which may have been rounded: store such "
                        "labels as integers, int32 for example",
                        path, value);
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has the value %.9g, but labels are whole numbers from 0 to %d: give an image of such labels",
                    path, value, GLS_LABEL_MAX);
}

gls_status gls_labels_read(const char *path, gls_labels **labels)
{
    GLS_REQUIRE(path && labels);
    gls_labels *made = NULL;
    gls_status status = gls_labels_read_known(path, &made);
    for (size_t v = 0, n = status ? 0 : gls_grid_voxels(&made->grid); v < n && !status; v++)
        if (made->data[v] == GLS_NO_LABEL) status = fail_value(path, v);
    if (!status) *labels = made;
    if (status) gls_labels_destroy(made);
    return status;
}

gls_status gls_labels_check(const gls_labels *labels, const char *name)
{
    for (size_t v = 0, n = gls_grid_voxels(&labels->grid); v < n; v++)
        if (labels->data[v] < 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: has the value %d, but labels are whole numbers from 0 to %d: give an image of such "
                            "labels",
                            name, labels->data[v], GLS_LABEL_MAX);
    return GLS_OK;
}

gls_status gls_labels_wrap(const gls_grid *grid, int32_t *data, gls_labels **labels)
{
    GLS_REQUIRE(grid && data && labels);
    gls_grid checked;
    gls_status status = gls_grid_init(&checked, grid->dim, grid->affine);
    checked.space = grid->space;
    return status ? status : make(&checked, data, true, labels);
}

gls_status gls_labels_write(const char *path, const gls_labels *labels)
{
    GLS_REQUIRE(path && labels && labels->data);
    gls_status status = gls_image_name_check(path);
    if (!status) status = gls_labels_check(labels, "labels");
    return status ? status
                  : gls_image_write_values(path, true, NULL, &labels->grid, "labels", 1, GLS_TYPE_INT32, labels->data);
}

void gls_labels_destroy(gls_labels *labels)
{
    if (!labels) return;
    if (!labels->is_wrapped) free(labels->data);
    free(labels);
}

/* Comparison for qsort(): labels in ascending order. */
static int by_value(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

gls_status gls_labels_distinct(const gls_labels *labels, const char *name, int32_t **label, size_t *n)
{
    const size_t voxels = gls_grid_voxels(&labels->grid);
    const int32_t *data = labels->data;
    size_t runs = 0, found = 0;
    /* neighbours mostly have one label, so that only the first voxel of each run is sorted */
    for (size_t v = 0; v < voxels; v++) runs += data[v] > 0 && (v == 0 || data[v - 1] != data[v]);
    int32_t *list = malloc((runs + 1) * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for labels", name);
    runs = 0;
    for (size_t v = 0; v < voxels; v++)
        if (data[v] > 0 && (v == 0 || data[v - 1] != data[v])) list[runs++] = data[v];
    qsort(list, runs, sizeof *list, by_value);
    for (size_t i = 0; i < runs; i++)
        if (found == 0 || list[found - 1] != list[i]) list[found++] = list[i];
    *label = list;
    *n = found;
    return GLS_OK;
}

size_t gls_labels_index(const int32_t *label, size_t n, int32_t wanted)
{
    const int32_t *at = n > 0 ? bsearch(&wanted, label, n, sizeof *label, by_value) : NULL;
    return at ? (size_t)(at - label) : n;
}
