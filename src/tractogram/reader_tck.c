/* Shards in MRtrix3's format. */
#include "tractogram/reader.h"
#include "tractogram/shard.h"
#include "tractogram/tractogram.h"
#include "util/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a line "key: value", or NULL. */
static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    return strncmp(line, key, n) == 0 && strncmp(line + n, ": ", 2) == 0 ? line + n + 2 : NULL;
}

/* One line of the header. Those that the writer does not make itself are kept. */
static gls_status read_line(gls_tractogram_reader *r, const char *line, size_t *n_lines, uint64_t *start)
{
    const char *value;
    char *end;
    if ((value = value_of(line, GLS_SHARD_KEY))) {
        if (r->file.shard.count > 0) return gls_reader_damaged(r, "two notes on its part of the run");
        return gls_shard_parse(value, &r->file.shard, &r->crc, r->file.version)
                   ? GLS_OK
                   : gls_reader_damaged(r, "the note on its part of the run");
    }
    if ((value = value_of(line, "count")) || (value = value_of(line, "total_count"))) {
        uint64_t count = strtoull(value, &end, 10);
        if (end == value || *end || (*line == 't' && count != r->file.n_streamlines))
            return gls_reader_damaged(r, "the count in its header");
        r->file.n_streamlines = count;
        return GLS_OK;
    }
    if ((value = value_of(line, "datatype")))
        return strcmp(value, "Float32LE") == 0 ? GLS_OK : gls_reader_damaged(r, "its type of data is not Float32LE");
    if ((value = value_of(line, "file"))) {
        if (sscanf(value, ". %" SCNu64, start) != 1)
            return gls_reader_damaged(r, "the place of its data in its header");
        return GLS_OK;
    }
    char **lines = realloc(r->header_lines, (*n_lines + 2) * sizeof *lines);
    if (!lines) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    r->header_lines = lines;
    lines[*n_lines] = strdup(line);
    lines[*n_lines + 1] = NULL;
    return lines[(*n_lines)++] ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
}

static gls_status read_lines(gls_tractogram_reader *r, char *text, uint64_t *start)
{
    static const char first[] = "mrtrix tracks\n";
    size_t n_lines = 0;
    if (strncmp(text, first, sizeof first - 1) != 0) return gls_fail(GLS_ERR_INPUT, "%s: is no TCK file", r->path);
    for (char *line = text + sizeof first - 1;;) {
        char *end = strchr(line, '\n');
        if (!end) return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its header has no end", r->path);
        *end = '\0';
        if (strcmp(line, "END") == 0) return GLS_OK;
        gls_status status = read_line(r, line, &n_lines, start);
        if (status != GLS_OK) return status;
        line = end + 1;
    }
}

gls_status gls_tck_reader_open(gls_tractogram_reader *r)
{
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    uint64_t start = 0;
    size_t bytes = r->file.bytes < GLS_TCK_MAX_HEADER ? (size_t)r->file.bytes : GLS_TCK_MAX_HEADER;
    char *text = calloc(1, bytes + 1);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    gls_status status = gls_reader_head(r, 0, text, bytes);
    if (status == GLS_OK) status = gls_grid_init(&r->grid, (const int32_t[3]){1, 1, 1}, identity);
    if (status == GLS_OK) status = read_lines(r, text, &start);
    free(text);
    if (status != GLS_OK) return status;
    if (r->file.shard.count == 0) return gls_reader_no_shard(r);
    if (start == 0 || start > r->file.bytes) return gls_reader_damaged(r, "the place of its data in its header");
    return gls_cursor_init(&r->data, r->path, r->fd, start, r->file.bytes);
}

/* Points up to the triplet that ends a streamline or the file; *last tells which. */
static gls_status read_streamline(gls_tractogram_reader *r, uint64_t *points, bool *last)
{
    float p[3];
    for (;;) {
        gls_status status = gls_cursor_read(&r->data, p, sizeof p);
        if (status != GLS_OK) return status;
        if (!isfinite(p[0])) break;
        status = gls_reader_reserve(r, *points + 1);
        if (status != GLS_OK) return status;
        memcpy(r->point[(*points)++], p, sizeof p);
    }
    *last = isinf(p[0]);
    return GLS_OK;
}

gls_status gls_tck_reader_next(gls_tractogram_reader *r, size_t *n)
{
    uint64_t points = 0;
    size_t i = 0;
    for (; i < GLS_READER_LINES && points < GLS_READER_POINTS && r->lines_read + i < r->file.n_streamlines; i++) {
        bool last;
        gls_status status = read_streamline(r, &points, &last);
        if (status != GLS_OK) return status;
        if (last) return gls_reader_damaged(r, "fewer streamlines than its header says");
        r->line_offset[i + 1] = points;
        if (points == r->line_offset[i]) return gls_reader_damaged(r, "a streamline without points");
    }
    *n = i;
    if (i > 0) return GLS_OK;
    bool last;
    gls_status status = read_streamline(r, &points, &last);
    if (status != GLS_OK) return status;
    return last && points == 0 ? gls_reader_finish_data(r)
                               : gls_reader_damaged(r, "more streamlines than its header says");
}
