/* track --fdt-network LABELS:FILE: probtrackx2's matrix of how many streamlines from each region meet each other
 * region. */
#ifndef GLS_SINKS_FDT_NETWORK_SINK_H
#define GLS_SINKS_FDT_NETWORK_SINK_H

#include "sinks/fdt.h"
#include "sinks/sinks.h"

/* Regions of --fdt-network; NULL: the run has no network. */
const gls_fdt_numbering *gls_fdt_find_rois(gls_run_sinks *sinks);

#endif
