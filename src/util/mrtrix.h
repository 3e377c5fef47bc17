/* Text headers of MRtrix3's files: images, tracks and track scalars. Behind a first line that names the kind of file
 * come lines "key: value" up to a line END. As in MRtrix3, keys and types may have any case, blanks and NUL bytes
 * around a line, a key and a value do not count, and a '#' starts a comment. */
#ifndef GLS_UTIL_MRTRIX_H
#define GLS_UTIL_MRTRIX_H

#include <glslines/common.h>

/* The bytes of a header up to the end of its line END; 0: these n bytes have no line END. A last line without a line
 * end counts only if whole is true: no more bytes follow in the file. */
size_t gls_mrtrix_header_bytes(const char *text, size_t n, bool whole);
/* Replaces NUL bytes among the n bytes of a header by blanks and ends it with a NUL at text[n]. Returns what follows
 * the first line. */
char *gls_mrtrix_lines(char *text, size_t n);
/* Cuts the next line off *rest: without blanks around it. NULL: that was the line END, or the last one. */
char *gls_mrtrix_next(char **rest);
/* Cuts a line into key and value, without its comment. false: it has no colon, and MRtrix3 passes over it. */
bool gls_mrtrix_split(char *line, char **key, char **value);

/* Splits the order of bytes, LE or BE, from the name of a type: *n is the length of the rest, *swapped says that it is
 * not this machine's order. */
void gls_mrtrix_type(const char *name, size_t *n, bool *swapped);
/* Where the data are: "NAME OFFSET" or "NAME". *file, from malloc, has the folder of path before it; NULL for the name
 * ".", the file itself. GLS_ERR_INPUT names path. */
gls_status gls_mrtrix_place(const char *path, const char *value, char **file, uint64_t *offset);

#endif
