/* Sections of a report with text and tables. */
#ifndef GLS_RENDER_REPORT_TABLES_H
#define GLS_RENDER_REPORT_TABLES_H

#include <cJSON.h>

#include "render/report_parts.h"
#include "util/text.h"

/* Value in the sidecar at a path of keys such as "counts/seeds"; NULL: none. */
const cJSON *gls_report_get(const gls_report *report, const char *path);
/* Number in the sidecar at a path of keys; NAN: none. */
double gls_report_number(const gls_report *report, const char *path);
/* Text in the sidecar at a path of keys; NULL: none. */
const char *gls_report_text(const gls_report *report, const char *path);
/* Appends a paragraph saying that `what` is unknown, because there is no sidecar or the sidecar lacks it. */
void gls_report_missing(const gls_report *report, gls_text *out, const char *what);

/* A section of the page. Its function appends the HTML of the section. Where the report lacks the data, it appends a
 * sentence that says so, or nothing. */
typedef struct gls_report_section {
    const char *name; /* name of the section in the template of the page; NULL ends a list */
    void (*put)(const gls_report *report, gls_text *out);
} gls_report_section;

/* Sections of text and tables, sections with plots, and the data of the 3-D view that the script of the page reads. */
extern const gls_report_section gls_report_tables[], gls_report_plots[], gls_report_data[];
/* One row of a table of measures: its name, where the number or the list of numbers stands in an object, its unit. */
typedef struct gls_report_measure {
    const char *name, *path, *unit; /* name NULL ends a list */
} gls_report_measure;
/* Appends a table of measures; rows that the object lacks are left out. name: of the table, for its caption. */
void gls_report_append_measures(const cJSON *object, const char *name, const gls_report_measure *rows, gls_text *out);
/* Appends a picture with its caption as a figure. */
void gls_report_append_picture(const gls_report_picture *p, const char *caption, gls_text *out);

#endif
