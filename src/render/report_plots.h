/* Sections of a report with plots: lengths, ends, gradients, time. */
#ifndef GLS_RENDER_REPORT_PLOTS_H
#define GLS_RENDER_REPORT_PLOTS_H

#include "render/report_parts.h"

/* Histogram of lengths in bins of equal width from 0. Returns the number of bins, at most 40; 0 without streamlines. */
size_t gls_report_bins(const gls_report *report, double *width, uint64_t bins[40]);

#endif
