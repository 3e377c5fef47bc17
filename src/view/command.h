/* Command lines that do what was done in the window. */
#ifndef GLS_VIEW_COMMAND_H
#define GLS_VIEW_COMMAND_H

#include "record/tract_run.h"
#include "util/text.h"
#include "view/messages.h"

/* GLS_ERR_INPUT: a name, which may be NULL, is not UTF-8, as browsers need it. */
gls_status gls_view_name_check(const char *name);
/* Appends a word as a shell reads it back. */
void gls_view_word(gls_text *out, const char *word);
/* Appends the text of a region: of a painted one, mask-NUMBER.nii.gz. atlas: image of the labels. GLS_ERR_ARGUMENT: it
 * is a label, and atlas is NULL. */
gls_status gls_view_region_text(const gls_view_region *region, const char *atlas, gls_text *out);
/* Largest number of words of the options by which tractograms are read. */
#define GLS_VIEW_READ_WORDS 5
/* Writes these options; reference: image; NULL: none. Returns the number of words. */
size_t gls_view_read_words(const gls_tract_common *input, const char *reference, const char **word);

#endif
