/* The papers that runs cite: the entries of page/report.bib. */
#ifndef GLS_RENDER_PAPERS_H
#define GLS_RENDER_PAPERS_H

#include <stddef.h>

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
 * adds it. A letter distinguishes papers of the same authors and year. */
void gls_papers_cite(gls_papers *papers, const char *key, gls_text *out);
/* Appends the references of the program and of the papers, one a line, each behind `bullet`. */
void gls_papers_list(const gls_papers *papers, const char *version, const char *bullet, gls_text *out);
/* Appends BibTeX of this version of the program and of the papers. */
void gls_papers_bibtex(const gls_papers *papers, const char *version, gls_text *out);
/* Adds all papers, in the order of report.bib. */
void gls_papers_all(gls_papers *papers);
/* Appends a table in Markdown with a row for each paper: the methods that it describes, and the reference. */
void gls_papers_table(const gls_papers *papers, gls_text *out);

#endif
