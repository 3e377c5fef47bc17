/* What the library notes down for its next run, in the user's cache folder. */
#ifndef GLS_UTIL_KEPT_H
#define GLS_UTIL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of a note of this kind, a folder, and key; with make the folder is made. False: the user has no such folder,
 * or it is another user's, as under sudo. */
bool gls_kept_path(const char *kind, uint64_t key, bool make, char *path, size_t size);

#endif
