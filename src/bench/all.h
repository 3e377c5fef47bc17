/* The benchmark: measures each getter that is asked for, with each gls_mapping and on each device that are asked for.
 */
#ifndef GLS_BENCH_ALL_H
#define GLS_BENCH_ALL_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "bench/bench.h"

/* Measures everything. Fills *run, which need not be initialised. Call bench_finish() also after a failure. */
gls_status bench_measure_all(bench_run *run, const bench_options *options, const gls_monitor *monitor);
/* Frees the data and closes the devices. */
void bench_finish(bench_run *run);

#endif
