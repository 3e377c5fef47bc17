/* Maps and matrices that a run of tracking makes beside its tractogram, from the same streamlines. */
#ifndef GLS_WORKFLOW_MAPS_H
#define GLS_WORKFLOW_MAPS_H

#include <glslines/connectome.h>
#include <glslines/density.h>
#include <glslines/workflow.h>

#include "workflow/weigh.h"

typedef struct gls_maps {
    const char *density; /* file; NULL: none */
    char *labels;        /* of the connectome; NULL: none */
    const char *matrix;  /* file, part of labels */
    gls_density *map;
    gls_connectome *connectome;
    gls_weigh weigh;
    char *weights; /* file, where the tractogram cannot hold them; NULL: none */
} gls_maps;

/* Takes the names from the options; to be finished whatever comes. */
gls_status gls_maps_init(gls_maps *maps, const gls_job_options *options);
/* Lets the streamlines that go to *sink also go into the maps: *sink becomes one that feeds all. */
gls_status gls_maps_add(gls_maps *maps, const gls_grid *grid, gls_sink *sink);
/* Once all streamlines have come: their weights, to the tractogram's writer where it holds them. */
gls_status gls_maps_weigh(gls_maps *maps, const gls_device_set *devices, gls_tractogram_writer *writer);
/* Writes the files. */
gls_status gls_maps_write(const gls_maps *maps, bool overwrite);
void gls_maps_finish(gls_maps *maps);

#endif
