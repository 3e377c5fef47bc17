/* What the file system takes in when nothing else is done: the ceiling of the writer of a tractogram. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "util/clock.h"
#include "util/output.h"
#include "util/status.h"

#define PIECE ((size_t)16 << 20)
/* More tells no more, and the memory may be that of the tractogram. */
#define MOST_BYTES ((uint64_t)4 << 30)
enum { TIMES = 3 };

static gls_status write_once(const char *path, const unsigned char *data, uint64_t bytes, double *seconds)
{
    gls_output output;
    gls_status status = gls_output_create(path, true, &output);
    if (status) return status;
    double start = gls_clock_seconds();
    for (uint64_t at = 0; at < bytes && !status; at += PIECE)
        status = gls_output_write_at(&output, at, data, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE);
    if (!status) (void)fsync(output.fd);
    *seconds = gls_clock_seconds() - start;
    gls_output_discard(&output);
    return status;
}

gls_status bench_plain_file(const char *directory, uint64_t bytes, double *rate)
{
    char path[4096];
    unsigned char *data = malloc(PIECE);
    gls_status status = data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/plain", directory);
    if (data) memset(data, 1, PIECE); /* pages of its own */
    if (bytes > MOST_BYTES) bytes = MOST_BYTES;
    *rate = 0;
    for (int i = 0; i < TIMES && !status; i++) {
        double seconds = 0;
        status = write_once(path, data, bytes, &seconds);
        if (!status && seconds > 0) *rate = fmax(*rate, (double)bytes / seconds);
    }
    free(data);
    return status;
}
