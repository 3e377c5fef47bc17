/* Times of a tracker's kernels by the device's clock, for the benchmark. */
#ifndef GLS_TRACK_ENGINE_TIMED_H
#define GLS_TRACK_ENGINE_TIMED_H

#include <glslines/track.h>

typedef enum gls_engine_time { GLS_TIME_INITIAL, GLS_TIME_TRACK, GLS_TIME_GATHER, GLS_ENGINE_TIMES } gls_engine_time;

/* Whether the host waits for each kernel and adds up the device's times, from 0 on; slows runs. */
void gls_tracker_time_kernels(gls_tracker *tracker, bool on);
/* Of all its devices. */
double gls_tracker_kernel_seconds(const gls_tracker *tracker, gls_engine_time time);

#endif
