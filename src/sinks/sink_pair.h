/* A sink that passes streamlines to two sinks at the same time: to one on the caller's thread, to the other on a thread
 * of its own. */
#ifndef GLS_SINKS_SINK_PAIR_H
#define GLS_SINKS_SINK_PAIR_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

/* Makes *out a sink that passes streamlines to both sinks at the same time, to the second one on a thread of its own.
 * *out owns both, and finishes first before second. On failure the caller still owns both. */
gls_status gls_sink_pair(const gls_sink *first, const gls_sink *second, gls_sink *out);

#endif
