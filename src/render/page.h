/* Text for HTML pages, and the embedded parts of a report's page. */
#ifndef GLS_RENDER_PAGE_H
#define GLS_RENDER_PAGE_H

#include <glslines/common.h>

#include "util/text.h"

/* Text of the embedded file of this name; NULL: there is none. */
const char *gls_page_part(const char *name);
/* Appends the template `page`, in which value() replaces each {{name}}. */
void gls_page_fill(gls_text *out, const char *page, void (*value)(void *user, gls_text *out, const char *name),
                   void *user);
/* Appends text as HTML: escapes HTML's special characters, and what gls_escape() escapes. Line ends and tabs stay. */
void gls_html_puts(gls_text *out, const char *text);
/* Appends a number: "1,234", "12.35"; "-" if it is not finite. */
void gls_text_number(gls_text *out, double v);
/* Appends JSON for a script element: '<' becomes \u003c; bytes that are not UTF-8, and control characters other than
 * line ends and tabs, become '?'. */
void gls_html_json(gls_text *out, const char *json);
/* Appends bytes in base64. */
void gls_html_base64(gls_text *out, const void *data, size_t bytes);
/* Appends bytes as the page's script reads them: compressed by deflate, then in base64. */
gls_status gls_html_packed(gls_text *out, const void *data, size_t bytes);

#endif
