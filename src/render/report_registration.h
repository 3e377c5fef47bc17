/* Section of a report: a registration of two images: verdict, pictures before and after, measures. */
#ifndef GLS_RENDER_REPORT_REGISTRATION_H
#define GLS_RENDER_REPORT_REGISTRATION_H

#include "render/report_parts.h"
#include "util/text.h"

/* Whether a sidecar is that of a registration of two images. */
bool gls_report_is_registration(const cJSON *sidecar);
/* If the report is one of a registration, adds its images and transforms to the inputs of the report. */
gls_status gls_report_find_registration(gls_report *report);
/* Appends the section, or nothing if the report is none of a registration; and the link to it. */
void gls_report_registration(const gls_report *report, gls_text *out);
void gls_report_registration_link(const gls_report *report, gls_text *out);
/* Appends tables of the measures and levels of one registration, `alignment` in its sidecar; nothing if it is NULL.
 * name: of the registration, for the captions. */
void gls_report_alignment(const cJSON *alignment, const char *name, gls_text *out);

#endif
