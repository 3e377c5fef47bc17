/* Reads one region, from an image, as a sphere or as a box: for tracking and for filters of streamlines. Parses the
 * texts that name regions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/region_area.h"
#include "image/labels.h"
#include "image/region_store_parts.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* --- Texts. */

/* Largest coordinate of a sphere's centre or a box's corner, and longest edge of a box, mm: its square is finite in
 * single precision. */
#define MAX_MM 1e15
/* Shortest edge of a box as a share of its coordinates: what is thinner is lost in the rounding of points. */
#define MIN_EDGE 1e-6

/* Reads numbers separated by commas and stores at most six. Returns how many there are; 0: not all are numbers. */
static size_t read_numbers(const char *text, double number[6])
{
    char item[64];
    size_t n = 0;
    for (const char *c = text;; c++) {
        size_t length = strcspn(c, ",");
        double value;
        if (length >= sizeof item) return 0;
        memcpy(item, c, length);
        item[length] = '\0';
        if (!gls_parse_double(item, &value)) return 0;
        if (n < 6) number[n] = value;
        n++;
        c += length;
        if (!*c) return n;
    }
}

/* Checks the corners of a box, and sorts their coordinates. */
static gls_status check_box(const char *option, const char *text, gls_region_text *out)
{
    for (int a = 0; a < 3; a++) {
        const double low = fmin(out->number[a], out->number[a + 3]), high = fmax(out->number[a], out->number[a + 3]);
        if (!(low >= -MAX_MM && high <= MAX_MM))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a box is x,y,z,X,Y,Z: numbers must be from -%g to %g mm",
                            option, text, MAX_MM, MAX_MM);
        if (low == high)
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a box is x,y,z,X,Y,Z: its corners must differ in each number",
                            option, text);
        const double least = MIN_EDGE * fmax(1, fmax(-low, high));
        if (!(high - low >= least && high - low <= MAX_MM))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--%s %s: a box is x,y,z,X,Y,Z: it is %g mm long along %c, but there an edge must be from "
                            "%g to %g mm long",
                            option, text, high - low, 'x' + a, least, MAX_MM);
        out->number[a] = low;
        out->number[a + 3] = high;
    }
    out->is_box = true;
    return GLS_OK;
}

gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *out)
{
    *out = (gls_region_text){.path = NULL};
    size_t n = read_numbers(text, out->number);
    bool exists = access(text, F_OK) == 0;
    if (n == 6) return check_box(option, text, out);
    if (n == 4 || (n > 1 && !exists)) {
        if (n != 4)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--%s %s: a sphere is x,y,z,r and a box x,y,z,X,Y,Z: %zu numbers were given", option, text,
                            n);
        if (!(out->number[3] > 0))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: the radius must be more than 0 mm", option,
                            text);
        for (int i = 0; i < 3; i++)
            if (!(fabs(out->number[i]) <= MAX_MM))
                return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: x, y and z must be from -%g to %g mm",
                                option, text, MAX_MM, MAX_MM);
        if (!gls_is_single(out->number[3]))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: the radius must be at most 3.4e+38 mm",
                            option, text);
        out->is_sphere = true;
        return GLS_OK;
    }
    if (!exists && strchr(text, ',') && !strchr(text, ':'))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r, a box x,y,z,X,Y,Z, and there is no such file",
                        option, text);
    const char *colon = exists ? NULL : strrchr(text, ':');
    /* The last colon separates labels from the path if no file has the whole text as its name and no slash follows. */
    bool labels = colon && colon > text && !strchr(colon, '/');
    gls_label_ranges ranges = {.n = 0};
    gls_status status = labels ? gls_label_ranges_parse(colon + 1, 1, &ranges) : GLS_OK;
    gls_label_ranges_finish(&ranges);
    if (status == GLS_ERR_ARGUMENT)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: after ':' come labels from 1 to %d, as in 3,7,1000-1035", option,
                        text, GLS_LABEL_MAX);
    out->path = status ? NULL : gls_text_copy(text);
    if (!out->path) return gls_no_memory();
    if (labels) {
        out->path[colon - text] = '\0';
        out->labels = out->path + (colon - text) + 1;
    }
    return GLS_OK;
}

gls_status gls_region_text_check(const char *option, const char *text)
{
    gls_region_text region;
    gls_status status = gls_region_text_parse(option, text, &region);
    if (!status && region.path && access(region.path, R_OK) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", region.path, strerror(errno));
    free(region.path);
    return status;
}

bool gls_region_voxel_at(const gls_grid *grid, const double p[3], size_t *voxel)
{
    size_t index[3];
    for (int i = 0; i < 3; i++) {
        double v = floor(p[i] + 0.5);
        if (!(v >= 0 && v < grid->dim[i])) return false;
        index[i] = (size_t)v;
    }
    *voxel = (index[2] * (size_t)grid->dim[1] + index[1]) * (size_t)grid->dim[0] + index[0];
    return true;
}

void gls_region_centre(const gls_grid *grid, size_t voxel, double p[3])
{
    size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    p[0] = (double)(voxel % nx);
    p[1] = (double)(voxel / nx % ny);
    p[2] = (double)(voxel / nx / ny);
}

/* Makes a region of no voxels yet. name: for the message. */
static gls_status begin(const gls_grid *grid, const char *name, gls_region_area *area)
{
    area->grid = *grid;
    area->inside = calloc(gls_grid_voxels(grid), 1);
    return area->inside ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", name);
}

/* Marks all voxels with a finite value above 0. option, name: for messages. */
static gls_status mark_positive(const char *option, const gls_image *image, const char *name, gls_region_area *area)
{
    gls_status status = begin(&image->grid, name, area);
    for (size_t v = 0, n = gls_grid_voxels(&image->grid); v < n && !status; v++) {
        float value = image->data[v];
        area->inside[v] = value > 0 && isfinite(value);
        area->is_graded |= value > 0 && value < 1;
        area->voxels += area->inside[v];
    }
    if (!status && area->voxels == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: the region of --%s is empty: no voxel is > 0", name, option);
    return status;
}

/* Returns the error that no voxel has a label of a range. */
static gls_status fail_absent(const char *name, const gls_label_range *range)
{
    /* see gls_labels_read() */
    const char *why = range->last < 16777216 ? "" : ": images of such labels must be of integers, not of float32";
    return range->first == range->last
               ? gls_fail(GLS_ERR_INPUT, "%s: no voxel has the label %d%s", name, range->first, why)
               : gls_fail(GLS_ERR_INPUT, "%s: no voxel has a label from %d to %d%s", name, range->first, range->last,
                          why);
}

/* Marks the voxels with a label that the text names. GLS_ERR_INPUT: no voxel has a label of one of the ranges. */
static gls_status mark_labels(const gls_labels *labels, const char *text, const char *name, gls_region_area *area)
{
    const size_t n = gls_grid_voxels(&labels->grid);
    gls_label_ranges ranges;
    gls_status status = begin(&labels->grid, name, area);
    if (!status) status = gls_label_ranges_parse(text, 1, &ranges);
    if (status) return status;
    for (size_t i = 0; i < ranges.n && !status; i++) {
        const gls_label_range *range = &ranges.range[i];
        bool found = false;
        for (size_t v = 0; v < n; v++) {
            if (labels->data[v] < range->first || labels->data[v] > range->last) continue;
            area->inside[v] = 1;
            found = true;
        }
        if (!found) status = fail_absent(name, range);
    }
    for (size_t v = 0; v < n && !status; v++) area->voxels += area->inside[v];
    gls_label_ranges_finish(&ranges);
    return status;
}

/* Makes the grid of one voxel that is the box with these corners, world mm. */
static gls_status make_box(const double corner[6], const char *name, gls_region_area *area)
{
    const int32_t dim[3] = {1, 1, 1};
    double affine[3][4] = {{0}};
    gls_grid grid;
    for (int a = 0; a < 3; a++) {
        affine[a][a] = corner[a + 3] - corner[a];
        affine[a][3] = (corner[a] + corner[a + 3]) / 2;
    }
    gls_status status = gls_grid_init(&grid, dim, (const double(*)[4])affine);
    if (!status) status = begin(&grid, name, area);
    if (status) return status;
    area->is_box = true;
    area->inside[0] = 1;
    area->voxels = 1;
    return GLS_OK;
}

gls_status gls_region_area_mark(const char *option, const gls_image *image, const char *name, gls_region_area *area)
{
    *area = (gls_region_area){.inside = NULL};
    return mark_positive(option, image, name, area);
}

gls_status gls_region_area_read(const char *option, const char *text, gls_region_area *area)
{
    gls_region_text parsed;
    gls_image *image = NULL;
    gls_labels *labels = NULL;
    *area = (gls_region_area){.inside = NULL};
    gls_status status = gls_region_text_parse(option, text, &parsed);
    if (status) return status;
    if (parsed.is_sphere) {
        const double *v = parsed.number;
        area->sphere = (gls_region_sphere){.centre = {v[0], v[1], v[2]}, .radius = v[3]};
        return GLS_OK;
    }
    if (parsed.is_box) return make_box(parsed.number, text, area);
    if (parsed.labels) {
        status = gls_labels_read_known(parsed.path, &labels);
        if (!status) status = mark_labels(labels, parsed.labels, text, area);
    } else {
        status = gls_image_read(parsed.path, GLS_IMAGE_3D, &image);
        if (!status) status = mark_positive(option, image, text, area);
    }
    gls_image_destroy(image);
    gls_labels_destroy(labels);
    free(parsed.path);
    return status;
}

void gls_region_area_finish(gls_region_area *area)
{
    free(area->inside);
    area->inside = NULL;
}

void gls_region_area_centre(const gls_region_area *area, double centre[3])
{
    double sum[3] = {0}, p[3];
    for (size_t v = 0, n = area->inside ? gls_grid_voxels(&area->grid) : 0; v < n; v++) {
        gls_region_centre(&area->grid, v, p);
        for (int a = 0; a < 3 && area->inside[v]; a++) sum[a] += p[a] / (double)area->voxels;
    }
    if (area->inside) gls_affine_apply(area->grid.affine, sum, centre);
    if (!area->inside) memcpy(centre, area->sphere.centre, sizeof area->sphere.centre);
}
