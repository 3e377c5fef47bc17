/* Section of a report: the anatomy of the run, made of a T1 image: verdict, measures, pictures. */
#ifndef GLS_RENDER_REPORT_ANATOMY_H
#define GLS_RENDER_REPORT_ANATOMY_H

#include "render/report_parts.h"
#include "util/text.h"

/* Whether a sidecar is that of an anatomy. */
bool gls_report_is_anatomy(const cJSON *sidecar);
/* Finds the anatomy from which the run took its tissue, or which the sidecar of the report is of. */
gls_status gls_report_find_anatomy(gls_report *report);
/* Appends the section, or nothing if the run has no anatomy; and the link to it. */
void gls_report_anatomy(const gls_report *report, gls_text *out);
void gls_report_anatomy_link(const gls_report *report, gls_text *out);

#endif
