/* Writes bytes to a file that readers open by its path, and checks that an error of a reader has a message. */
#ifndef GLS_FUZZ_FILE_H
#define GLS_FUZZ_FILE_H

#include <glslines/common.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Returns the descriptor, to be closed. */
static inline int fuzz_file(const uint8_t *data, size_t bytes, char path[64])
{
    int fd = memfd_create("input", 0);
    if (fd < 0 || (bytes && write(fd, data, bytes) != (ssize_t)bytes)) abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* Whether the reader accepted the file. */
static inline bool fuzz_ok(gls_status status)
{
    if (status != GLS_OK && gls_last_error()[0] == '\0') abort();
    return status == GLS_OK;
}

#endif
