/* Bundles that are found while streamlines are tracked: groups of the tractogram, and their table. */
#ifndef GLS_WORKFLOW_TRACK_SEGMENT_H
#define GLS_WORKFLOW_TRACK_SEGMENT_H

#include <glslines/bundles.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "util/output.h"

/* Streamlines of a bundle that wait until it is known which of them are outliers. */
typedef struct gls_track_waiting {
    size_t n, capacity, n_points, point_capacity;
    uint64_t *place; /* of the streamline among all */
    size_t *offset;  /* n + 1 */
    float (*point)[3];
} gls_track_waiting;

typedef struct gls_track_segment {
    char *rules; /* NULL: none */
    char *table; /* file; NULL: groups of the tractogram alone */
    bool unique; /* a streamline belongs to one bundle at most */
    gls_bundles *bundles;
    struct gls_bundle_stats **volume; /* of each bundle, for the table */
    gls_track_waiting *waiting;       /* of each bundle that is cleaned, for the table */
    uint32_t **member;                /* of each bundle its streamlines, for the tractogram */
} gls_track_segment;

/* Takes the names from --segment, BUNDLES or BUNDLES:TABLE. To be finished whatever comes. */
gls_status gls_track_segment_take(gls_track_segment *segment, const gls_job_options *options);
/* Reads the rules. shards: parts of the run are merged later, which outliers do not allow. trx: bundles become groups
 * of a TRX file. */
gls_status gls_track_segment_begin(gls_track_segment *segment, const gls_grid *grid, bool shards, bool trx);
/* Collects streamlines; it stays with the caller. */
gls_sink gls_track_segment_sink(gls_track_segment *segment);
/* Once all streamlines have come: the groups, to the writer of the tractogram (NULL: there is none). */
gls_status gls_track_segment_complete(gls_track_segment *segment, gls_tractogram_writer *writer);
/* Writes the table in the group. */
gls_status gls_track_segment_write(gls_track_segment *segment, bool overwrite, gls_output_group *group);
void gls_track_segment_finish(gls_track_segment *segment);

#endif
