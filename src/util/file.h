/* Files: reading whole ones, and writing ones that appear under their name only when complete. */
#ifndef GLS_UTIL_FILE_H
#define GLS_UTIL_FILE_H

#include <glslines/common.h>

/* Whole contents of a file (or pipe) of at most max_bytes, followed by a NUL that is not counted; *data is from malloc.
 * GLS_ERR_INPUT names the file. */
gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n);

/* The inverse, atomic; an existing file is an error unless overwrite. */
gls_status gls_file_write(const char *path, bool overwrite, const void *data, size_t bytes);

/* A file in the making. It has no name, or a temporary one in the same directory where the file system knows no
 * nameless files, until it is committed. */
typedef struct gls_output {
    int fd;
    char *path;      /* final name; a symbolic link to a file is followed */
    char *temporary; /* NULL while the file has no name */
    bool overwrite;
} gls_output;

/* Permissions: those of the file that is replaced, else as the umask says. GLS_ERR_OUTPUT names the file and the
 * reason: exists already, no such directory, permission. On failure output is as after gls_output_discard(). */
gls_status gls_output_create(const char *path, bool overwrite, gls_output *output);
/* Appends, or replaces what stands at offset without moving the end at which is appended. */
gls_status gls_output_write(gls_output *output, const void *data, size_t bytes);
gls_status gls_output_write_at(gls_output *output, uint64_t offset, const void *data, size_t bytes);
/* Cuts the file; the next write is appended there. */
gls_status gls_output_truncate(gls_output *output, uint64_t bytes);
/* Gives the file its name. Whatever happens, output is then as after gls_output_discard(). */
gls_status gls_output_commit(gls_output *output);
/* Removes the unfinished file. Harmless when there is none. */
void gls_output_discard(gls_output *output);

/* A value for outputs that are not open: gls_output_discard() accepts it. */
#define GLS_OUTPUT_NONE ((gls_output){.fd = -1})

/* Opens a nameless file for scratch data in the directory of the output; it vanishes when closed. */
gls_status gls_output_scratch(const gls_output *output, int *fd);

/* Writes everything at the file's position or returns false with errno set. */
bool gls_fd_write(int fd, const void *data, size_t bytes);
/* Reads up to bytes (less only at the end of the file); -1 with errno set. */
int64_t gls_fd_read(int fd, void *data, size_t bytes);

#endif
