/* Regions from tractograms: the voxels that their streamlines pass. */
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/tractogram.h>

#include "tracts/roi_tracks.h"
#include "image/region_area.h"
#include "tractogram/tractogram.h"
#include "tracts/rois.h"
#include "util/status.h"

/* Makes a region of the voxels of the grid that the streamlines of a tractogram pass. Reads the whole tractogram.
 * The caller finishes the area, also after a failure. */
static gls_status trace(gls_tractogram_reader *reader, const gls_grid *grid, gls_region_area *area)
{
    gls_density *density = NULL;
    const size_t n = gls_grid_voxels(grid);
    double *count = malloc(n * sizeof *count);
    area->grid = *grid;
    area->inside = calloc(n, 1);
    gls_status status = count && area->inside ? gls_density_create(grid, NULL, &density)
                                              : gls_fail(GLS_ERR_MEMORY, "out of memory for a region");
    gls_sink sink = {0};
    if (!status) sink = gls_density_sink(density);
    if (!status) status = gls_tractogram_pump(reader, &sink, NULL, NULL);
    if (!status) status = gls_sink_finish(&sink);
    if (!status) gls_density_get(density, count);
    for (size_t v = 0; v < n && !status; v++) {
        area->inside[v] = count[v] > 0;
        area->voxels += area->inside[v];
    }
    gls_density_destroy(density);
    free(count);
    return status;
}

/* Adds a tractogram as a region. */
static gls_status add_tracks(gls_rois *rois, const char *path, const gls_grid *grid, double mm, size_t *index)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_region_area area = {.inside = NULL};
    options.reference = grid;
    gls_status status = gls_tractogram_reader_open(path, &options, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    if (!status && !grid && !info->has_grid)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no grid on which it could be a region: give --reference IMAGE", path);
    if (!status) status = trace(reader, grid ? grid : &info->grid, &area);
    if (!status && area.voxels == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: is no region: none of its streamlines passes through a voxel of the grid",
                          path);
    if (!status) status = gls_rois_add_area(rois, &area, path, mm, index);
    gls_region_area_finish(&area);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_rois_add_any(gls_rois *rois, const char *option, const char *text, const gls_grid *grid, double mm,
                            size_t *index)
{
    if (gls_tractogram_is_name(text) && gls_rois_move(rois))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "%s: --transform brings images, but this region is a tractogram: bring it by 'glslines transform' "
            "first",
            text);
    if (gls_tractogram_is_name(text)) return add_tracks(rois, text, grid, mm, index);
    return gls_rois_add(rois, option, text, mm, index);
}
