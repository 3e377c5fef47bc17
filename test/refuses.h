/* Checks that a tractogram is refused. Include after cmocka.h. */
#ifndef GLS_TEST_REFUSES_H
#define GLS_TEST_REFUSES_H

#include <string.h>

#include <glslines/common.h>
#include <glslines/tractogram.h>

static char warning[1024]; /* the last warning, in programs that keep it */

/* Reads a file to its end. Returns the status. */
static inline gls_status read_file(const char *path, const gls_tractogram_read_options *options, uint64_t *n)
{
    gls_tractogram_reader *reader;
    gls_streamlines s = {.n = 1};
    *warning = '\0';
    gls_status status = gls_tractogram_reader_open(path, options, &reader);
    *n = 0;
    if (status != GLS_OK) return status;
    for (; status == GLS_OK && s.n > 0; *n += s.n) status = gls_tractogram_reader_next(reader, &s);
    gls_tractogram_reader_close(reader);
    return status;
}

static inline void refuses(const char *path, const gls_tractogram_read_options *options, const char *reason)
{
    uint64_t n;
    assert_int_equal(read_file(path, options, &n), GLS_ERR_INPUT);
    if (!strstr(gls_last_error(), reason) || strncmp(gls_last_error(), path, strlen(path)) != 0)
        fail_msg("no '%s' in: %s", reason, gls_last_error());
}

#endif
