#include "util/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

uint64_t gls_hash(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

int gls_hash_file(const char *path, uint64_t *hash)
{
    enum { BYTES = 1 << 20 };
    FILE *file = fopen(path, "rb");
    if (!file) return errno;
    char *data = malloc(BYTES);
    XXH3_state_t *state = data ? XXH3_createState() : NULL;
    int reason = state && XXH3_64bits_reset(state) == XXH_OK ? 0 : ENOMEM;
    for (size_t n; !reason && (n = fread(data, 1, BYTES, file)) > 0;) XXH3_64bits_update(state, data, n);
    if (!reason && ferror(file)) reason = EIO;
    if (!reason) *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(data);
    fclose(file);
    return reason;
}

char *gls_hash_text(uint64_t hash, char text[17])
{
    snprintf(text, 17, "%016" PRIx64, hash);
    return text;
}
