/* Chooses what `glslines bench` measures, from the texts of its options: getters, mappings, devices, the shape of the
 * data. */
#ifndef GLS_BENCH_CHOOSE_H
#define GLS_BENCH_CHOOSE_H

#include <glslines/common.h>

#include "bench/bench.h"

/* Sets what is measured. getters, mappings and devices are lists with commas; shape is "AxBxC", or NULL for the
 * default. Call bench_options_finish() afterwards, also after a failure. */
gls_status bench_choose(bench_options *options, const char *shape, const char *getters, const char *mappings,
                        const char *devices);
/* Frees what bench_choose() allocated. */
void bench_options_finish(bench_options *options);

#endif
