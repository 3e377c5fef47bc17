/* Saving what was done in the window. */
#ifndef GLS_VIEW_SAVE_H
#define GLS_VIEW_SAVE_H

#include <stdbool.h>

#include "view/dissect.h"

/* A save that goes on while the server serves. */
typedef struct gls_view_saving gls_view_saving;

/* Begins to write a table of the bundles, and to run this program, which makes of it a tractogram with a group for each
 * bundle, and a picture. The recipe, a script of these command lines, makes the same files without the window. image:
 * behind the streamlines of the picture, and their grid where the tractogram has none; NULL: none. It and d must
 * outlive the save. A request that tracks saves its streamlines, which this program tracks again, and the recipe.
 * *exists: it failed since there are such files, and they were not to be replaced. */
gls_status gls_view_save_begin(gls_view_dissection *d, const char *image, const gls_view_request *request,
                               gls_view_saving **saving, bool *exists);
/* Whether gls_view_save_end() returns at once. */
bool gls_view_save_ended(const gls_view_saving *saving);
/* Waits for the end, which comes soon once d->go_on() is false. Appends JSON with the names of the files, and frees the
 * save; NULL: none. After a failure no new file is left, and the files that it was to replace are there. */
gls_status gls_view_save_end(gls_view_saving *saving, gls_text *json);

#endif
