/* Section of a report: weights of streamlines from the signal (COMMIT): how the solver ended, its curve, and maps of
 * error and compartments. */
#ifndef GLS_RENDER_REPORT_WEIGHTS_H
#define GLS_RENDER_REPORT_WEIGHTS_H

#include "render/report_parts.h"
#include "util/text.h"

/* Whether an object of a sidecar describes weights by the signal. */
bool gls_report_is_fit(const cJSON *object);
/* Finds the weights that the run of the report computed, and their maps: in its sidecar, or in NAME_weights.json, which
 * `weights --in-place` leaves beside the tractogram. Weights of another tractogram, and maps of another run, are left
 * out with a warning. */
gls_status gls_report_find_weights(gls_report *report);
/* Appends the section, or nothing if there are no such weights; and the link to it. */
void gls_report_weights(const gls_report *report, gls_text *out);
void gls_report_weights_link(const gls_report *report, gls_text *out);

#endif
