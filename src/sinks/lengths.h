/* Lengths of the streamlines of a run: mean, extremes, and the median from a histogram. */
#ifndef GLS_SINKS_LENGTHS_H
#define GLS_SINKS_LENGTHS_H

#include <glslines/common.h>
#include <glslines/streamlines.h>
#include <glslines/track.h>
#include <glslines/workflow.h>

/* Measured lengths of the streamlines of a run, in whole parts of a mm (GLS_LENGTH_PARTS), so that sums do not depend
 * on the order. */
typedef struct gls_run_lengths {
    uint64_t n, sum; /* number of streamlines; sum of their lengths in parts */
    uint64_t min, max;
    uint32_t *part; /* length of each streamline of one batch; has `room` elements */
    size_t room;
    uint64_t *bin; /* histogram of lengths */
    size_t n_bins;
} gls_run_lengths;

/* Whether lengths need the points: the getter's steps are curved, or points are left out or moved. */
bool gls_lengths_need_points(const gls_job_options *options, const gls_method *method);
/* Adds the lengths of streamlines. */
gls_status gls_run_lengths_add(gls_run_lengths *lengths, const gls_streamlines *streamlines);
/* Sets mean, median and extremes of *result to the measured lengths, mm. The tracker had set them to numbers of steps
 * times the step size. Does nothing without streamlines. */
void gls_run_lengths_get(const gls_run_lengths *lengths, gls_track_result *result);
/* Frees the arrays and sets everything to 0. */
void gls_run_lengths_finish(gls_run_lengths *lengths);

#endif
