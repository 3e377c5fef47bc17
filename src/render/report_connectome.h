/* Section of a report: the connectome as a matrix, as a circle, and its largest edges. */
#ifndef GLS_RENDER_REPORT_CONNECTOME_H
#define GLS_RENDER_REPORT_CONNECTOME_H

#include "render/report_parts.h"
#include "util/text.h"

/* Appends the connectome as a matrix, as a circle and as a table. */
void gls_report_connectome(const gls_report *report, gls_text *out);

#endif
