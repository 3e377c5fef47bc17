#include "util/hash.h"
#include "util/file.h"
#include "util/input.h"
#include "util/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

uint64_t gls_hash(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

gls_status gls_hash_file(const char *path, uint64_t *hash)
{
    enum { BYTES = 1 << 20 };
    uint64_t size = 0;
    int fd;
    gls_status status = gls_regular_open(path, &fd, &size);
    if (status) return status;
    char *data = malloc(BYTES);
    XXH3_state_t *state = data ? XXH3_createState() : NULL;
    if (!state || XXH3_64bits_reset(state) != XXH_OK) status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    for (int64_t n = 1; !status && n > 0;) {
        n = gls_fd_read(fd, data, BYTES);
        if (n < 0) status = gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", path, strerror(errno));
        if (n > 0) XXH3_64bits_update(state, data, (size_t)n);
    }
    if (!status) *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(data);
    close(fd);
    return status;
}

char *gls_hash_text(uint64_t hash, char text[17])
{
    snprintf(text, 17, "%016" PRIx64, hash);
    return text;
}
