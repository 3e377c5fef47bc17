/* Functions of density maps and connectomes that only the sinks of a run use. */
#ifndef GLS_TRACTS_SINK_PARTS_H
#define GLS_TRACTS_SINK_PARTS_H

#include <glslines/connectome.h>
#include <glslines/density.h>

#include "track/engine/visited.h"
#include "util/output_file.h"

/* --- Density maps from the counts of a device, see gls_visited. */

/* Whether the map can be made from counts in this grid. */
bool gls_density_takes_visited(const gls_density *density, const gls_grid *grid);
/* While *visited is not NULL, append() takes the counts of the appended streamlines from **visited if the map can use
 * them, and follows only streamlines that the device has left to the host. Otherwise it follows all streamlines, or
 * fails with GLS_ERR_UNSUPPORTED if their points are missing. The map is the same. */
void gls_density_use_visited(gls_density *density, const gls_visited **visited);

/* --- Files written as part of a group, which may be NULL. An existing file is an error unless `overwrite`. */

/* Like gls_density_write(), with the file in `group`. */
gls_status gls_density_write_grouped(const gls_density *density, const char *path, bool overwrite,
                                     gls_output_group *group);
/* Whether append() reads more than the ends of streamlines: for regions on the way, or for lengths. */
bool gls_connectome_needs_points(const gls_connectome *connectome);
/* pair[i]: gets the regions of both ends of streamline i, for gls_connectome_add_pairs(). Not with GLS_ASSIGN_ALL. */
gls_status gls_connectome_find_pairs(gls_connectome *connectome, const gls_streamlines *streamlines,
                                     int32_t (*pair)[2]);
/* Adds n streamlines by the regions of their ends, each with a weight. Not with options that need lengths.
 * GLS_ERR_INPUT: a weight is not finite. */
gls_status gls_connectome_add_pairs(gls_connectome *connectome, const int32_t (*pair)[2], const float *weight,
                                    size_t n);
/* Like gls_connectome_write(), with the file in `group`. names: gls_connectome_size() names of rows and columns; NULL:
 * no header. missing: text for cells without a value. */
gls_status gls_connectome_write_grouped(const gls_connectome *connectome, const char *path, bool overwrite,
                                        gls_output_group *group, const char *const *names, const char *missing);

#endif
