/* Fixel directories as other programs and `glslines fixels` write them, and the fixels that streamlines follow. */
#ifndef GLS_TOOLS_FIXEL_FOLDER_H
#define GLS_TOOLS_FIXEL_FOLDER_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"
#include "tracts/visits_parts.h"

/* The fixels of a directory: those of a voxel follow each other. All zero is empty. */
typedef struct gls_fixel_folder {
    gls_grid grid;
    size_t n;
    uint32_t *first, *count; /* for each voxel its first fixel, and its number of fixels */
    float (*direction)[3];   /* of each fixel, unit vectors along the scanner axes */
} gls_fixel_folder;

/* Reads index and directions of a directory, which become inputs of the run. GLS_ERR_INPUT: they are no fixels. Call
 * gls_fixel_folder_finish() even after a failure. */
gls_status gls_fixel_folder_read(gls_fixel_folder *folder, gls_tract_run *run, const char *directory);
/* Reads a file with a value for each fixel of the directory. The caller frees *value. */
gls_status gls_fixel_folder_values(const gls_fixel_folder *folder, const char *path, float **value);
/* The fixel of a voxel nearest to a line along d, if the angle is below that of the cosine `least`; UINT32_MAX: none.
 */
uint32_t gls_fixel_folder_nearest(const gls_fixel_folder *folder, uint64_t voxel, const double d[3], double least);
/* Frees everything. */
void gls_fixel_folder_finish(gls_fixel_folder *folder);

/* Chooses the mapping by which streamlines follow fixels: lengths along the spline, each step upsampled to `share` of a
 * voxel, 0: not upsampled. step: mm, or 0 for that of the header. GLS_ERR_ARGUMENT: it is not known. */
gls_status gls_fixel_walk(const gls_tractogram_info *info, const char *path, const gls_grid *grid, double step,
                          double share, gls_density_options *options);

/* Makes a filter that adds to each point the value of the fixel that its streamline follows in the voxel, or 0, as the
 * column `name`. Everything is borrowed until the filter ends. */
gls_status gls_fixel_filter(const gls_fixel_folder *folder, const float *value, double angle, const char *name,
                            const gls_sink *next, gls_sink *filter);
/* Counts for each fixel the streamlines that follow it. count: n zeros, borrowed. */
gls_status gls_fixel_counter(const gls_fixel_folder *folder, const gls_density_options *walk, double angle,
                             uint32_t *count, gls_sink *sink);

#endif
