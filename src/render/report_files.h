/* Data of a report for programs: streamlines for the script of the 3-D view, in the page; files for MultiQC and
 * versions of the software, beside the page. */
#ifndef GLS_RENDER_REPORT_FILES_H
#define GLS_RENDER_REPORT_FILES_H

#include <glslines/common.h>

#include "render/report_parts.h"

/* Writes the files that the options name: those for MultiQC, and the one with the versions of program and libraries. */
gls_status gls_report_add_files(gls_report *report);

#endif
