/* References: the papers of page/report.bib, and what to cite for a run. */
#ifndef GLS_RENDER_CITE_H
#define GLS_RENDER_CITE_H

#include <cJSON.h>

#include <glslines/common.h>

#include "util/text.h"

/* Largest number of papers that are cited at once. */
enum { GLS_MAX_PAPERS = 64 };

/* Papers, each once, in the order in which they were cited. All zero: none. */
typedef struct gls_papers {
    /* entry of report.bib, from '@' to its last brace; it is not followed by a NUL */
    const char *entry[GLS_MAX_PAPERS];
    size_t length[GLS_MAX_PAPERS];
    size_t n;
} gls_papers;

/* Adds the paper with this key of report.bib, and appends how a text names it: "Smith et al., 2015a". out NULL: only
 * adds it. A letter tells papers of the same authors and year apart. */
void gls_papers_cite(gls_papers *papers, const char *key, gls_text *out);
/* Appends the references of the program and of the papers, one a line, each behind `bullet`. */
void gls_papers_list(const gls_papers *papers, const char *version, const char *bullet, gls_text *out);
/* Appends BibTeX of this version of the program and of the papers. */
void gls_papers_bibtex(const gls_papers *papers, const char *version, gls_text *out);

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
