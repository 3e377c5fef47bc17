/* The connectome of a report: reads it with the names of its regions. */
#ifndef GLS_RENDER_REPORT_MATRIX_H
#define GLS_RENDER_REPORT_MATRIX_H

#include <glslines/common.h>

#include "render/report_parts.h"

/* Reads the connectome of the report, if there is one. If `input` has the name of a matrix, reads it; GLS_ERR_INPUT: it
 * is no matrix. Else reads the matrix that the run wrote, and only warns if it is faulty. */
gls_status gls_report_find_matrix(gls_report *report, const char *input);
/* Whether a file has the name of a matrix: .csv, .tsv or .txt. */
bool gls_report_is_matrix(const char *path);
/* Frees the matrix and its names. */
void gls_report_matrix_finish(gls_report_matrix *matrix);

#endif
