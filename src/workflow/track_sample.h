/* Statistics of images along streamlines while they are tracked: columns of the tractogram, or a table. */
#ifndef GLS_WORKFLOW_TRACK_SAMPLE_H
#define GLS_WORKFLOW_TRACK_SAMPLE_H

#include <glslines/workflow.h>

#include "workflow/tracts/sample_set.h"

#define GLS_TRACK_SAMPLE_MAX_IMAGES 16

typedef struct gls_track_sample {
    char *image[GLS_TRACK_SAMPLE_MAX_IMAGES];
    size_t n_images; /* 0: nothing is sampled */
    char *table;     /* file; NULL: columns of the tractogram */
    gls_sample_set set;
    gls_sample_counts counts;
    gls_sample_rows rows;
} gls_track_sample;

/* Takes the names from --sample, IMAGE,IMAGE or IMAGE,IMAGE:FILE, and the statistics from --stat-tck. To be finished
 * whatever comes. */
gls_status gls_track_sample_take(gls_track_sample *sample, const gls_job_options *options);
/* Reads the images. With a table *sink becomes one that fills it, else one that adds columns and hands on to what *sink
 * was. */
gls_status gls_track_sample_begin(gls_track_sample *sample, bool overwrite, gls_output_group *group, gls_sink *sink);
/* Leaves the table to the group. */
gls_status gls_track_sample_end(gls_track_sample *sample);
void gls_track_sample_finish(gls_track_sample *sample);

#endif
