/* Reads the headers of MRtrix3's tracks and track scalars, and finds the numbers that belong to them, in the same file
 * or another one. */
#include "tractogram/tck_header.h"
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/readers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Largest header that is read; MRtrix3 keeps a history of commands in it. */
#define MAX_HEADER ((size_t)16 << 20)

/* Reads the header as text of *n bytes; *out has space for a NUL behind them. Most headers are short. */
static gls_status read_text(const char *path, int fd, uint64_t bytes, char **out, size_t *n)
{
    char *text = NULL;
    /* reads four times as much until the header's end is found */
    for (size_t want = 65536;; want *= 4) {
        const bool whole = bytes <= want;
        const size_t got = whole ? (size_t)bytes : want;
        free(text);
        text = malloc(got + 1);
        gls_status status =
            text ? gls_regular_read(path, fd, 0, text, got) : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
        *n = status ? 0 : gls_mrtrix_header_bytes(text, got, whole);
        if (!status && *n == 0 && (whole || want >= MAX_HEADER))
            status = gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its header has no end", path);
        if (!status && *n == 0) continue;
        if (status)
            free(text);
        else
            *out = text;
        return status;
    }
}

/* Reads the value of datatype: float32 or float64, in either byte order. */
static gls_status read_type(const char *path, const char *value, gls_tck_header *h)
{
    size_t n;
    gls_mrtrix_type(value, &n, &h->swapped);
    h->wide = n == 7 && gls_case_compare_n(value, "Float64", n) == 0;
    if (h->wide || (n == 7 && gls_case_compare_n(value, "Float32", n) == 0)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: has data of type %.40s; only Float32 and Float64 (LE, BE) are known", path,
                    value);
}

/* A header is text: a first line that names the format, lines "key: value" up to "END", and the numbers behind it or in
 * another file. Only the keys datatype and file are needed to read the numbers; line() gets all others. */
gls_status gls_tck_header_read(const char *path, int fd, uint64_t bytes, gls_tck_line line, void *user,
                               gls_tck_header *h)
{
    char *text = NULL, *key, *value;
    size_t n = 0;
    bool has_type = false, has_file = false;
    *h = (gls_tck_header){.file = NULL};
    gls_status status = read_text(path, fd, bytes, &text, &n);
    char *rest = status ? NULL : gls_mrtrix_lines(text, n);
    for (char *found; !status && (found = gls_mrtrix_next(&rest));) {
        char *copy = strdup(found);
        if (!copy) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
        if (status || !gls_mrtrix_split(found, &key, &value)) {
            free(copy);
            continue; /* ignore lines without a colon, as MRtrix3 does */
        }
        if (gls_case_compare(key, "datatype") == 0) {
            has_type = true;
            status = read_type(path, value, h);
        } else if (gls_case_compare(key, "file") == 0) {
            status = has_file
                         ? gls_fail(GLS_ERR_INPUT,
                                    "%s: damaged: its header has the line 'file', which says where the data are, twice",
                                    path)
                         : gls_mrtrix_data_file(path, value, &h->file, &h->start);
            has_file = true;
        } else {
            status = line(user, key, value, copy, (size_t)(value - found));
        }
        free(copy);
    }
    free(text);
    if (!status && (!has_type || !has_file))
        status = gls_fail(GLS_ERR_INPUT, "%s: damaged: its header lacks the line datatype or the line file", path);
    /* the text may not overlap the numbers in the same file */
    if (!status && !h->file && h->start < n)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: damaged: its header has %zu bytes, but says that the data begin at byte %" PRIu64
                          ", within the header",
                          path, n, h->start);
    return status;
}

gls_status gls_tck_header_open(const gls_tck_header *h, const char *path, int fd, uint64_t bytes, size_t row,
                               bool recover, gls_cursor *cursor)
{
    const bool beside = h->file != NULL;
    gls_status status = beside ? gls_regular_open(h->file, &fd, &bytes) : GLS_OK;
    if (status) return status;
    /* `row` becomes a number of bytes; `whole`: bytes of all complete rows */
    const bool scalars = row == 1;
    row *= h->wide ? 8 : 4;
    const uint64_t whole = h->start > bytes ? 0 : (bytes - h->start) / row * row;
    if (h->start > bytes)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: truncated or damaged: its data should begin at byte %" PRIu64
                          ", but the file has only %" PRIu64 " bytes",
                          beside ? h->file : path, h->start, bytes);
    else if (h->start + whole != bytes && !recover)
        status = gls_fail(
            GLS_ERR_INPUT,
            "%s: truncated or damaged: its data are not whole %s: the last whole one ends at byte %" PRIu64 "; %s",
            path, scalars ? "values" : "points", h->start + whole,
            scalars ? "make the file again, as by 'glslines sample --tsf'"
                    : "'glslines edit --recover' leaves out the last streamline");
    if (!status) status = gls_cursor_init(cursor, path, fd, h->start, h->start + whole);
    if (!status && beside) cursor->owns_fd = true;
    if (status && beside) close(fd);
    return status;
}

void gls_tck_header_finish(gls_tck_header *h)
{
    free(h->file);
    *h = (gls_tck_header){.file = NULL};
}

/* Ignores a line of the header. */
static gls_status skip_line(void *user, const char *key, const char *value, const char *whole, size_t value_at)
{
    (void)user, (void)key, (void)value, (void)whole, (void)value_at;
    return GLS_OK;
}

gls_status gls_tck_data_file(const char *path, char **file)
{
    static const char start[] = "mrtrix tracks";
    gls_tck_header header = {.file = NULL};
    gls_cursor data = {0};
    char head[sizeof start - 1];
    struct stat info;
    uint64_t bytes = 0;
    int fd;
    *file = NULL;
    /* a pipe must not be opened, because closing it would end it */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || gls_regular_open(path, &fd, &bytes) != GLS_OK)
        return GLS_OK;
    const bool is_tck = bytes >= sizeof head && gls_regular_read(path, fd, 0, head, sizeof head) == GLS_OK &&
                        memcmp(head, start, sizeof head) == 0;
    if (is_tck && gls_tck_header_read(path, fd, bytes, skip_line, NULL, &header) == GLS_OK && header.file &&
        gls_tck_header_open(&header, path, fd, bytes, 3, true, &data) == GLS_OK) {
        gls_cursor_finish(&data);
        *file = header.file;
        header.file = NULL;
    }
    gls_tck_header_finish(&header);
    close(fd);
    return GLS_OK;
}

double gls_tck_step(const gls_tractogram_info *info, double otherwise)
{
    /* output_step_size comes first: it is the step after resampling */
    static const char *const keys[] = {"output_step_size", "step_size"};
    double step;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < info->n_header; k++)
            if (info->format == GLS_FORMAT_TCK && strcmp(info->header[k].key, keys[i]) == 0 &&
                gls_parse_double(info->header[k].value, &step) && step > 0)
                return step;
    return otherwise;
}
