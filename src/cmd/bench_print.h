/* The table of `glslines bench`. */
#ifndef GLS_CMD_BENCH_PRINT_H
#define GLS_CMD_BENCH_PRINT_H

#include "bench/bench.h"

void cmd_bench_print(const bench_run *run);

#endif
