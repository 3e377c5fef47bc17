/* Options of `glslines bench`. */
#ifndef GLS_CMD_BENCH_OPTIONS_H
#define GLS_CMD_BENCH_OPTIONS_H

#include "bench/bench.h"
#include "cmd/model_options.h"

typedef struct bench_values {
    cmd_common common;
    const char *shape;
    uint64_t nseeds;
    model_options model;
    const char *dg, *device, *mapping;
    int api, precision, mask_stop;
    uint64_t chunk_size;
    int repeat;
    bool no_write, no_ceilings;
    const char *json, *trace;
    bool force;
} bench_values;

extern const cmd_option bench_option_table[];
void bench_options_default(void *values);

/* What is to be measured. Returns an exit code, the message printed; then and later bench_options_finish(). */
int bench_options_get(const bench_values *values, const cmd_arguments *arguments, bench_options *options);

#endif
