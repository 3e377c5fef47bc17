/* Measures what a device reaches in kernels that do one thing: copying, multiply-adds, trilinear samples. */
#ifndef GLS_BENCH_CEILINGS_H
#define GLS_BENCH_CEILINGS_H

#include <glslines/common.h>
#include <glslines/device.h>

#include "bench/bench.h"

/* Measures the rates that the device reaches in small kernels. */
gls_status bench_ceilings_measure(gls_device *device, bench_ceilings *ceilings);

#endif
