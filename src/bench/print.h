/* Prints the table of the benchmark: a row for each measured quantity, a column for each getter, device and
 * gls_mapping. */
#ifndef GLS_BENCH_PRINT_H
#define GLS_BENCH_PRINT_H

#include "bench/bench.h"

/* Prints the table to standard output: a row for each measured quantity, a column for each getter, device and
 * gls_mapping. */
void bench_print(const bench_run *run);

#endif
