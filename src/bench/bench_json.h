/* All results of the benchmark as JSON. */
#ifndef GLS_BENCH_BENCH_JSON_H
#define GLS_BENCH_BENCH_JSON_H

#include "bench/bench.h"

/* The results as JSON text, from malloc. NULL: out of memory. */
char *bench_json_text(const bench_run *run);

#endif
