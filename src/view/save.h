/* Saving what was done in the window. */
#ifndef GLS_VIEW_SAVE_H
#define GLS_VIEW_SAVE_H

#include <stdbool.h>

#include "view/dissect.h"

/* Writes a table of the bundles, and runs this program, which makes of it a tractogram with a group for each bundle,
 * and a picture. The recipe, a script of these command lines, makes the same files without the window. image: behind
 * the streamlines of the picture, and their grid where the tractogram has none; NULL: none. Appends JSON with the names
 * of the files. *exists: there are such files, and they were not to be replaced. A failure leaves nothing behind, but
 * for files that were replaced. */
gls_status gls_view_save(gls_view_dissection *d, const char *image, const gls_view_request *request, gls_text *json,
                         bool *exists);

#endif
