/* The rate of the file system for plain writes: the ceiling for the writer of a tractogram. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "util/clock.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/threads.h"

#define PIECE ((size_t)16 << 20)
/* Larger files give no better measurement, and the memory may be needed for the tractogram. */
#define MAX_BYTES ((uint64_t)4 << 30)

typedef struct plain {
    gls_output output;
    uint64_t bytes;
    const unsigned char *data; /* PIECE bytes */
    bool failed;
} plain;

static void write_some(void *user, int thread, size_t from, size_t until)
{
    plain *p = user;
    (void)thread;
    for (uint64_t i = from; i < until; i++) {
        const uint64_t at = i * PIECE, n = p->bytes - at < PIECE ? p->bytes - at : PIECE;
        if (gls_output_write_at(&p->output, at, p->data, (size_t)n) != GLS_OK) p->failed = true;
    }
}

gls_status bench_plain_file(const char *directory, uint64_t bytes, int n_threads, double *rate)
{
    char path[4096];
    unsigned char *data = malloc(PIECE);
    plain p = {.bytes = bytes < MAX_BYTES ? bytes : MAX_BYTES, .data = data};
    *rate = 0;
    if (!data) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/plain", directory);
    memset(data, 1, PIECE); /* so that each page exists */
    gls_status status = gls_output_create(path, true, &p.output);
    if (!status) {
        double start = gls_clock_seconds();
        gls_parallel((size_t)((p.bytes + PIECE - 1) / PIECE), 1, n_threads, write_some, &p);
        (void)fsync(p.output.fd);
        *rate = (double)p.bytes / (gls_clock_seconds() - start);
        if (p.failed) status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot write", path);
    }
    gls_output_discard(&p.output);
    free(data);
    return status;
}
