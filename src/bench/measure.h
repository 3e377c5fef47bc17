/* Measures a column of the benchmark: makes a tracker, runs once to warm up, then repeats. */
#ifndef GLS_BENCH_MEASURE_H
#define GLS_BENCH_MEASURE_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/odf.h>

#include "bench/bench.h"
#include "dwi/fit_model_parts.h"

/* A fitted model for one direction getter. */
typedef struct bench_model {
    gls_series_model model;
    gls_odf_source *odf; /* for getters that sample ODFs; NULL: none */
    gls_image *peaks;    /* peaks of the phantom, for getters that follow peaks */
    double seconds_fit;  /* time of the fit, s, without the fit of FA */
} bench_model;

/* Reads the CPU seconds at this moment. */
bench_busy bench_busy_now(void);
/* Measures a column: runs once to warm up, repeats, and fills in the times and the result. */
gls_status bench_measure(bench_run *run, const bench_model *model, bench_column *column);
/* Median of a time over the repetitions. */
double bench_median(const bench_column *column, bench_time time);

#endif
