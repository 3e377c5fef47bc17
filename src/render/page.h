/* The page of a report: its embedded parts, and text that is safe in HTML. */
#ifndef GLS_RENDER_PAGE_H
#define GLS_RENDER_PAGE_H

#include <glslines/common.h>

#include "util/text.h"

typedef struct gls_page_file {
    const char *name, *text; /* NULL at the end of the list */
} gls_page_file;
extern const gls_page_file gls_page_files[];

/* The part of that name. */
const char *gls_page_part(const char *name);
/* The entry of report.bib with that key, from '@' to the last brace; *length is 0 where there is none. */
const char *gls_page_reference(const char *key, size_t *length);

/* Text in which no character means anything to HTML; what gls_escape() escapes is escaped, but for ends of lines. */
void gls_html_puts(gls_text *out, const char *text);
/* JSON between script tags: '<' is written as \u003c, what is no UTF-8 or a control character as '?'. */
void gls_html_json(gls_text *out, const char *json);
void gls_html_base64(gls_text *out, const void *data, size_t bytes);
/* A section of the page: the template with each {{name}} replaced. value() appends what stands for the name. */
void gls_page_fill(gls_text *out, const char *page, void (*value)(void *user, gls_text *out, const char *name),
                   void *user);

#endif
