/* Lengths of the streamlines of a run: sums of the distances between their points, as tckstats and 'glslines stats'
 * have them. Where all steps are straight and all points are written, the tracker's own counts of steps tell the same.
 */
#ifndef GLS_WORKFLOW_LENGTHS_H
#define GLS_WORKFLOW_LENGTHS_H

#include <glslines/workflow.h>

/* Lengths are whole multiples of 1 / GLS_LENGTH_PARTS mm, so that sums are exact and parts of a run add up to it. */
#define GLS_LENGTH_PARTS 1024.0

typedef struct gls_run_lengths {
    uint64_t n, sum; /* streamlines; of their lengths, in parts */
    uint64_t least, most;
    uint32_t *part; /* of each streamline of a parcel, which has room for so many */
    size_t room;
    uint64_t *bin; /* streamlines by length */
    size_t n_bins;
} gls_run_lengths;

/* Whether steps do not tell the lengths: the getter's are curved, or points are left out or moved. */
bool gls_lengths_need_points(const gls_job_options *options);
gls_status gls_run_lengths_add(gls_run_lengths *lengths, const gls_streamlines *streamlines);
/* Puts mean, median and extremes in the place of those of the steps; nothing, where there are no streamlines. */
void gls_run_lengths_get(const gls_run_lengths *lengths, gls_track_result *result);
void gls_run_lengths_finish(gls_run_lengths *lengths);

#endif
