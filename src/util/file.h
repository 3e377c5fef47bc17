/* Files: reading whole ones, and whole pieces. */
#ifndef GLS_UTIL_FILE_H
#define GLS_UTIL_FILE_H

#include <glslines/common.h>

/* The text of a file (or pipe) of at most max_bytes, without a UTF-8 byte order mark, followed by a NUL that is not
 * counted; *data is from malloc. GLS_ERR_INPUT names the file. */
gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n);

/* The same without NUL bytes at the end, and with \n at the end of each line in place of \r\n and \r: for text without
 * quotes around line ends. GLS_ERR_INPUT: NUL bytes inside, as text in UTF-16 has. */
gls_status gls_file_read_text(const char *path, size_t max_bytes, char **text, size_t *n);

/* What stands behind the last slash of a path. */
const char *gls_file_name(const char *path);
/* Whether two paths lead to one file: the same inode, or, where there is none yet, the same name in the same folder. */
bool gls_same_file(const char *a, const char *b);

/* Writes everything at the file's position or returns false with errno set. */
bool gls_fd_write(int fd, const void *data, size_t bytes);
/* The same for pipes, whose readers may not read: waits as long as go_on says so. Returns how many bytes were written,
 * less than all where it failed or did not go on. */
size_t gls_fd_write_while(int fd, const void *data, size_t bytes, bool (*go_on)(void));
/* Reads up to bytes (less only at the end of the file); -1 with errno set. */
int64_t gls_fd_read(int fd, void *data, size_t bytes);

#endif
