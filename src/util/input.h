/* Files that are read. A pipe or a terminal may keep its reader waiting for ever, in open() for a writer and in read()
 * for its bytes; here neither does: opening never waits, and reading asks the host now and then whether to go on
 * waiting, see gls_set_wait(). */
#ifndef GLS_UTIL_INPUT_H
#define GLS_UTIL_INPUT_H

#include <glslines/common.h>

typedef struct gls_input {
    const char *path; /* for messages; the caller's */
    int fd;           /* -1: not open */
    bool regular;     /* so that it can be opened again, and read anywhere */
    uint64_t bytes;   /* of a regular file, else 0 */
} gls_input;

/* GLS_ERR_INPUT names the file; input is then as after gls_input_close(). */
gls_status gls_input_open(const char *path, gls_input *input);
/* The next bytes; *got is smaller only at the end of the file. GLS_ERR_CANCELLED if the host ends the wait. */
gls_status gls_input_read(const gls_input *input, void *data, size_t bytes, size_t *got);
/* Accepts one that is not open, fd of which is -1. */
void gls_input_close(gls_input *input);

/* Opens a regular file, for readers that do not go from front to back or come again; GLS_ERR_INPUT for pipes and
 * devices. *fd is -1 on failure. */
gls_status gls_regular_open(const char *path, int *fd, uint64_t *bytes);
/* Bytes from .. from + bytes - 1; GLS_ERR_INPUT if the file is shorter. */
gls_status gls_regular_read(const char *path, int fd, uint64_t from, void *data, size_t bytes);

#endif
