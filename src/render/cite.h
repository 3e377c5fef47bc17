/* What to cite: the program, and the papers of the methods of a run. Entries stand in page/report.bib. */
#ifndef GLS_RENDER_CITE_H
#define GLS_RENDER_CITE_H

#include <cJSON.h>

#include <glslines/common.h>

#include "util/text.h"

enum { GLS_CITE_MAX = 16 };

/* Keys of the papers of a run by its sidecar, at most GLS_CITE_MAX; NULL: of all methods. */
size_t gls_cite_keys(const cJSON *sidecar, const char *key[GLS_CITE_MAX]);
/* BibTeX of the program of that version and of the papers. */
void gls_cite_bibtex(gls_text *out, const char *version, const char *const *key, size_t n);
/* The same as lines of a list of references. */
void gls_cite_list(gls_text *out, const char *version, const char *const *key, size_t n);
typedef enum gls_cite_format { GLS_CITE_TEXT, GLS_CITE_BIBTEX, GLS_CITE_CFF } gls_cite_format;
/* What to cite for a run, by its tractogram or sidecar, or with path NULL for all methods; as CFF the program alone.
 * *text is from malloc. Errors: those of gls_sidecar_read(). */
gls_status gls_cite(const char *path, gls_cite_format format, char **text);

#endif
