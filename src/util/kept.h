/* What the library notes down for its next run, in the user's cache folder. */
#ifndef GLS_UTIL_KEPT_H
#define GLS_UTIL_KEPT_H

#include <glslines/common.h>

/* The path of a note of this kind, a folder, and key; with make the folder is made. False: the user has no such folder,
 * or it is another user's, as under sudo and in a folder that all may write. */
bool gls_kept_path(const char *kind, uint64_t key, bool make, char *path, size_t size);
/* The same of a note that has a name of its own. */
bool gls_kept_file(const char *name, bool make, char *path, size_t size);

/* Whether a regular file stands at path, and no link to one. own: of this user. */
bool gls_kept_is_file(const char *path, bool own);
/* Writes a note in place of an older one. GLS_ERR_OUTPUT: what stands there is something else, and stays. */
gls_status gls_kept_write(const char *path, const void *data, size_t bytes);

#endif
