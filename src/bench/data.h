/* The data of the benchmark: a phantom of the size of a brain, and the model that each getter needs. */
#ifndef GLS_BENCH_DATA_H
#define GLS_BENCH_DATA_H

#include <glslines/common.h>

#include "bench/bench.h"
#include "bench/measure.h"

/* Makes phantom, stop map, seeds, sphere and regions, and sets the parameters of tracking. bench_finish() frees them.
 */
gls_status bench_data_make(bench_run *run);
/* Fits the model of one direction getter as `track` does. Call bench_model_finish() afterwards, also after a failure.
 */
gls_status bench_model_fit(bench_run *run, int dg, bench_model *model);
/* Frees the model. The data stay with the run. */
void bench_model_finish(bench_model *model);

#endif
