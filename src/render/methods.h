/* The methods of a run in words, as a paper has them, from its sidecar. */
#ifndef GLS_RENDER_METHODS_H
#define GLS_RENDER_METHODS_H

#include <cJSON.h>

#include "render/papers.h"
#include "render/report_parts.h"
#include "util/text.h"

/* Appends a paragraph, without a line end, on the run that a sidecar describes: the series, the model, tracking with
 * its parameters and counts, or what a command on tractograms did. Adds the papers that the paragraph names. Appends
 * nothing for a command that has no method. */
void gls_methods_write(const cJSON *sidecar, gls_papers *papers, gls_text *out);
/* Appends a paragraph for a paper: what was done, with which parameters, by which methods; and its BibTeX. */
void gls_report_methods(const gls_report *report, gls_text *out);

#endif
