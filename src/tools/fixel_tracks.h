/* `glslines fixels --tracks`: streamlines of fixels, and the density of FODs along streamlines. */
#ifndef GLS_TOOLS_FIXEL_TRACKS_H
#define GLS_TOOLS_FIXEL_TRACKS_H

#include "tools/tract_results.h"

/* Writes the number of streamlines of each fixel of a directory. */
gls_status gls_fixels_count_tracks(gls_tract_run *run, const gls_fixels_cli *options, const char *directory,
                                   const char *out);
/* Writes the fibre density along the streamlines of a bundle. fod: with the path and the transform. */
gls_status gls_fixels_measure_tracks(gls_tract_run *run, const gls_fixels_cli *options, const gls_fod_options *fod,
                                     const char *out);

#endif
