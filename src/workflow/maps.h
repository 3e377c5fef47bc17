/* Maps and matrices that a run of tracking makes beside its tractogram, from the same streamlines. */
#ifndef GLS_WORKFLOW_MAPS_H
#define GLS_WORKFLOW_MAPS_H

#include <glslines/bundles.h>
#include <glslines/connectome.h>
#include <glslines/density.h>
#include <glslines/workflow.h>

#include "track/engine/visited.h"
#include "util/output.h"
#include "workflow/seed_table.h"
#include "workflow/track_sample.h"
#include "workflow/track_segment.h"
#include "workflow/weigh.h"

#define GLS_MAPS_MAX_IMAGES 16

typedef struct gls_maps {
    char *density; /* file; NULL: none */
    char *dec;     /* file; NULL: none */
    char *labels;  /* of the connectome; NULL: none */
    char *matrix;  /* file */
    char *rules;   /* of the profile; NULL: none */
    char *profile; /* file */
    char *seeds;   /* file; NULL: none */
    char *image[GLS_MAPS_MAX_IMAGES];
    size_t n_images; /* 0: FA alone */
    const char *fa;  /* file in its place; NULL: none */
    gls_density *map, *dec_map;
    const gls_visited *visited; /* what a device knows of the streamlines that are delivered */
    gls_connectome *connectome;
    gls_bundles *bundles;
    gls_track_sample sample;
    gls_track_segment segment;
    gls_weigh weigh;
    gls_seed_table seed_table;
    char *weights; /* file, where the tractogram cannot hold them; NULL: none */
} gls_maps;

/* Takes the names from the options, those of outputs as of this part of the run; to be finished whatever comes. */
gls_status gls_maps_init(gls_maps *maps, const gls_job_options *options, const gls_shard *shard);
/* A file that a run writes, by the option that asks for it. */
typedef struct gls_job_file {
    const char *role, *path;
} gls_job_file;
/* The files that are written, and the files that are read; returns how many. */
#define GLS_MAPS_OUTPUTS 8
#define GLS_MAPS_INPUTS (3 + GLS_MAPS_MAX_IMAGES + GLS_TRACK_SAMPLE_MAX_IMAGES)
size_t gls_maps_outputs(const gls_maps *maps, gls_job_file file[GLS_MAPS_OUTPUTS]);
size_t gls_maps_inputs(const gls_maps *maps, const char *path[GLS_MAPS_INPUTS]);
/* How the options use these files: which is for what, statistics, how bundles are told apart. */
uint64_t gls_maps_choice(const gls_maps *maps);
/* Reads the rules of bundles. shards: this is a part of a run. trx: bundles become groups of a TRX file. */
gls_status gls_maps_read_rules(gls_maps *maps, const gls_grid *grid, bool shards, bool trx);
/* Lets the streamlines that go to *sink also go into the maps: *sink becomes one that feeds all. An empty sink: into
 * the maps alone. A file that grows meanwhile is one of the group. */
gls_status gls_maps_add(gls_maps *maps, const gls_grid *grid, bool overwrite, gls_output_group *group, gls_sink *sink);
/* Whether a map looks at more of a streamline than its ends, and what a device tells of the voxels that it visits of
 * the grid of tracking. */
bool gls_maps_need_points(const gls_maps *maps, const gls_grid *tracked);
/* Once all streamlines have come: their weights and groups, to the tractogram's writer where it holds them (NULL: there
 * is none). */
gls_status gls_maps_complete(gls_maps *maps, const gls_device_set *devices, gls_tractogram_writer *writer);
/* Whether FA, or the image of --fa in its place, is shown. */
bool gls_maps_want_fa(const gls_maps *maps);
/* Writes the files in the group. fa: NULL where it is not wanted. */
gls_status gls_maps_write(gls_maps *maps, const gls_image *fa, bool overwrite, gls_output_group *group);
void gls_maps_finish(gls_maps *maps);

#endif
