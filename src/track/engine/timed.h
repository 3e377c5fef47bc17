/* Kernel times by the device's clock, for the benchmark, which sees no other header of the engine. */
#ifndef GLS_TRACK_ENGINE_TIMED_H
#define GLS_TRACK_ENGINE_TIMED_H

#include <glslines/track.h>

typedef enum gls_engine_time { GLS_TIME_INITIAL, GLS_TIME_TRACK, GLS_TIME_GATHER, GLS_ENGINE_TIMES } gls_engine_time;

/* Turns timing on or off and sets the times to 0. With timing, the host waits for each kernel, which slows runs. */
void gls_tracker_time_kernels(gls_tracker *tracker, bool on);
/* Time that the kernels of one pass took, s: the sum over all devices of the tracker. */
double gls_tracker_kernel_seconds(const gls_tracker *tracker, gls_engine_time time);

#endif
