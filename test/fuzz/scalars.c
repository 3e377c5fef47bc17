/* Any bytes as a track scalar file: an error or a value for each vertex, never a crash. */
#include "tools/tract_convert.h"
#include "file.h"
#include "few_lines.h"

static gls_status take(void *user, const gls_streamlines *s)
{
    const gls_column *c = gls_column_find(s->dpv, s->n_dpv, "x");
    double *sum = user;
    if (!c || c->components != 1) abort();
    for (uint64_t p = 0; p < s->offset[s->n]; p++) *sum += gls_column_value(c, p);
    return GLS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64], text[72];
    double sum = 0;
    gls_tract_scalars scalars;
    int fd = fuzz_file(data, bytes, path);
    snprintf(text, sizeof text, "%s=x", path);
    if (fuzz_ok(gls_tract_scalars_open(&scalars, text))) {
        gls_sink sink = {.append = take, .user = &sum};
        if (fuzz_ok(gls_tract_scalars_sink(&scalars, &sink)) && fuzz_ok(fuzz_append_lines(&sink)))
            fuzz_ok(gls_sink_finish(&sink));
        else
            gls_sink_abort(&sink);
    }
    gls_tract_scalars_close(&scalars);
    close(fd);
    return 0;
}
