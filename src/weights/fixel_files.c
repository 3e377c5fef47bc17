/* Writes fixel directories, which MRtrix3 reads as fixel images. */
#include <glslines/type.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weights/fixel_files.h"
#include "image/image_write.h"
#include "util/status.h"
#include "util/text.h"
#include "weights/fixel_parts.h"

/* Writes an image DIRECTORY/NAME.nii of n volumes as part of the group. An existing file is an error unless
 * `overwrite`. */
static gls_status write_one(const char *directory, const char *name, bool overwrite, gls_output_group *group,
                            const gls_grid *grid, size_t n, gls_type type, const void *data)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%s.nii", directory, name) < 0) return gls_no_memory();
    gls_status status = gls_output_check(path, overwrite, NULL, 0);
    if (!status) status = gls_image_write_values(path, overwrite, group, grid, NULL, n, type, data);
    free(path);
    return status;
}

/* Grid of a list of n rows: an image of n x columns x 1 voxels. */
static gls_status list_grid(size_t n, int columns, gls_grid *grid)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const int32_t dim[3] = {(int32_t)n, columns, 1};
    return gls_grid_init(grid, dim, affine);
}

/* Writes index.nii: two volumes of uint32, for each voxel the number of its fixels and the index of the first one. */
static gls_status write_index(const gls_fixels *f, const char *directory, bool overwrite, gls_output_group *group)
{
    const size_t n = gls_grid_voxels(&f->grid);
    uint32_t *index = malloc(2 * n * sizeof *index);
    if (!index) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", directory);
    for (size_t v = 0; v < n; v++) {
        index[v] = f->voxel[v].count;
        index[n + v] = f->voxel[v].count > 0 ? f->voxel[v].first : 0;
    }
    gls_status status = write_one(directory, "index", overwrite, group, &f->grid, 2, GLS_TYPE_UINT32, index);
    free(index);
    return status;
}

/* Writes directions.nii: unit vectors along the scanner axes as an image of n x 3 x 1 values. */
static gls_status write_directions(const gls_fixels *f, const char *directory, bool overwrite, gls_output_group *group)
{
    gls_grid grid;
    float *direction = malloc(3 * f->n * sizeof *direction);
    if (!direction) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", directory);
    for (size_t i = 0; i < f->n; i++)
        /* column by column, since the first axis of the image, the fixel, varies fastest */
        for (size_t a = 0; a < 3; a++) direction[a * f->n + i] = f->fixel[i].direction[a];
    gls_status status = list_grid(f->n, 3, &grid);
    if (!status) status = write_one(directory, "directions", overwrite, group, &grid, 1, GLS_TYPE_FLOAT32, direction);
    free(direction);
    return status;
}

gls_status gls_fixels_write_grouped(const gls_fixels *f, const char *directory, const gls_fixel_values *values,
                                    size_t n, bool overwrite, gls_output_group *group)
{
    gls_grid grid;
    gls_status status = gls_output_group_make_folder(group, directory);
    if (!status) status = list_grid(f->n, 1, &grid);
    for (size_t i = 0; i < n && !status; i++)
        status = write_one(directory, values[i].name, overwrite, group, &grid, 1, GLS_TYPE_FLOAT32, values[i].value);
    if (!status) status = write_directions(f, directory, overwrite, group);
    /* write the index last: it makes the directory a fixel image */
    return status ? status : write_index(f, directory, overwrite, group);
}

gls_status gls_fixels_write(const gls_fixels *f, const char *directory, const gls_fixel_values *values, size_t n,
                            gls_existing existing)
{
    gls_output_group group = {0};
    GLS_REQUIRE(f && directory && (values || n == 0));
    gls_status status = gls_fixels_write_grouped(f, directory, values, n, existing == GLS_EXISTING_REPLACE, &group);
    return gls_output_group_end(&group, status);
}
