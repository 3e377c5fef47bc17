/* Lists the papers to cite for a run. */
#ifndef GLS_RENDER_CITE_H
#define GLS_RENDER_CITE_H

#include <glslines/common.h>

/* Forms of citations, the words of `cite --format`. */
typedef enum gls_cite_format {
    GLS_CITE_TEXT,     /* a list of references for people */
    GLS_CITE_METHODS,  /* paragraphs on the methods, and the list */
    GLS_CITE_MARKDOWN, /* a table of methods and papers */
    GLS_CITE_BIBTEX,
    GLS_CITE_CFF /* CITATION.cff of the program */
} gls_cite_format;
#define GLS_CITE_FORMATS "text|methods|markdown|bibtex|cff"

/* Citations for a run, given an output or its sidecar, and for the runs that made its inputs, as far as their sidecars
 * are there; path NULL: all papers. *text comes from malloc. Errors as of gls_sidecar_read(); also GLS_ERR_INPUT: the
 * sidecars name no method that has a paper. GLS_ERR_ARGUMENT: GLS_CITE_METHODS without a path. */
gls_status gls_cite(const char *path, gls_cite_format format, char **text);

#endif
