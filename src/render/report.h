/* Makes a report: finds and reads its inputs, and fills the page. */
#ifndef GLS_RENDER_REPORT_H
#define GLS_RENDER_REPORT_H

/* Name of a report, from malloc: the input's name with .html in place of its suffix. */
char *gls_report_name(const char *input);

#endif
