/* Reads MRtrix3's tracks: a text header, then triplets of float32 or float64 in either byte order; NaN ends a
 * streamline, Inf ends the file. */
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/tck_header.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State of the reader. */
typedef struct tck {
    /* lines of the header that the reader uses */
    gls_tck_header header;
    /* number of streamlines that the header states */
    uint64_t n_count;
    bool counted; /* true: the header states n_count */
    bool ended;   /* true: the triplet of Inf, or the end of the data, was reached */
    /* true: warn_of_count() has been called */
    bool warned;
} tck;

/* Whether a header line describes this file alone; such a line is not copied to a file that is made from this one. */
static bool is_own(const char *key)
{
    return !strcmp(key, "count") || !strcmp(key, "total_count") || !strcmp(key, "timestamp") ||
           !strcmp(key, GLS_SHARD_KEY);
}

/* Keeps a line of the header, for a tractogram that is written from this one. */
static gls_status keep_line(gls_tractogram_reader *r, const char *text)
{
    char **lines = realloc(r->lines, (r->n_lines + 2) * sizeof *lines);
    if (!lines) return gls_reader_no_memory(r);
    r->lines = lines;
    lines[r->n_lines] = strdup(text);
    lines[r->n_lines + 1] = NULL;
    return lines[r->n_lines++] ? GLS_OK : gls_reader_no_memory(r);
}

/* Takes one line `key: value` of the header; called by gls_tck_header_read(). */
static gls_status read_line(void *user, const char *key, const char *value, const char *text, size_t value_at)
{
    gls_tractogram_reader *r = user;
    tck *t = r->state;
    gls_status status = is_own(key) ? GLS_OK : keep_line(r, text);
    if (status) return status;
    if (!strcmp(key, "count")) {
        t->counted = gls_parse_uint64(value, &t->n_count);
        return GLS_OK;
    }
    if (!strcmp(key, "total_count")) r->n_begun = strtoull(value, NULL, 10);
    if (!strcmp(key, GLS_SHARD_KEY)) r->data.checked = true;
    return gls_reader_add_header(r, key, text + value_at);
}

/* Function open() of the driver. `checked` of the cursor, which read_line() sets for a shard, is kept and set again,
 * because gls_tck_header_open() clears it. */
static gls_status open_tck(gls_tractogram_reader *r)
{
    tck *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    gls_status status = gls_tck_header_read(r->path, r->fd, r->info.bytes, read_line, r, &t->header);
    const bool checked = r->data.checked;
    if (!status)
        status = gls_tck_header_open(&t->header, r->path, r->fd, r->info.bytes, 3, r->options.recover, &r->data);
    if (status) return status;
    r->data.checked = checked;
    r->info.position_type = t->header.wide ? GLS_TYPE_FLOAT64 : GLS_TYPE_FLOAT32;
    r->info.counts_streamlines = t->counted;
    r->info.n_streamlines = t->n_count;
    return GLS_OK;
}

/* Number of triplets of float32, of n triplets, before the first triplet that has a number that is not finite. */
static size_t count_finite(const unsigned char *data, size_t n)
{
    enum { BLOCK = 8 };
    /* all bits of the exponent are set in NaN and infinities alone */
    const uint32_t exponent = 0x7f800000;
    uint32_t word[3 * BLOCK];
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint32_t found = 0;
        memcpy(word, data + 12 * i, sizeof word);
        for (size_t k = 0; k < 3 * BLOCK; k++) found |= (word[k] & exponent) == exponent;
        if (found) break;
    }
    for (; i < n; i++) {
        memcpy(word, data + 12 * i, 12);
        if ((word[0] & exponent) == exponent || (word[1] & exponent) == exponent || (word[2] & exponent) == exponent)
            break;
    }
    return i;
}

/* Takes points from the buffer up to a triplet that is not finite. *end: NAN: end of a streamline; INFINITY: end of the
 * file; 0: neither was found in the buffer. */
static gls_status take_points(gls_tractogram_reader *r, uint64_t *points, float *end)
{
    tck *t = r->state;
    gls_cursor *c = &r->data;
    const size_t row = t->header.wide ? 24 : 12;
    gls_status status = gls_cursor_fill(c, row);
    size_t n = (c->n - c->next) / row;
    if (!status) status = gls_reader_reserve(r, *points + n);
    if (status) return status;
    *end = 0;
    /* in the usual case, float32 in the byte order of this machine, copy all points up to the next triplet that is not
     * finite */
    if (!t->header.wide && !t->header.swapped) {
        size_t finite = count_finite(c->buffer + c->next, n);
        memcpy(r->point[*points], c->buffer + c->next, finite * row);
        c->next += finite * row;
        *points += finite;
        n -= finite;
    }
    /* one triplet after the other: three NaN end a streamline, three Inf end the file */
    for (size_t i = 0; i < n && *end == 0; i++, c->next += row) {
        float *p = r->point[*points];
        double full[3];
        memcpy(t->header.wide ? (void *)full : (void *)p, c->buffer + c->next, row);
        if (t->header.swapped) gls_swap_bytes(t->header.wide ? (void *)full : (void *)p, 3, row / 3);
        for (int k = 0; k < 3; k++) {
            if (t->header.wide)
                p[k] = (float)full[k];
            else
                full[k] = p[k];
        }
        const uint64_t before = *points;
        if (isfinite(full[0]))
            (*points)++;
        else if (isnan(full[0]) && isnan(full[1]) && isnan(full[2]))
            *end = NAN;
        else if (isinf(full[0]) && isinf(full[1]) && isinf(full[2]))
            *end = INFINITY;
        else
            (*points)++; /* a damaged point, of which not all values are NaN or infinite */
        r->seen_finite &= *points == before;
    }
    return GLS_OK;
}

/* Reads the points up to the next triplet of NaN or Inf. *whole: a streamline was read to its end. */
static gls_status read_streamline(gls_tractogram_reader *r, uint64_t *points, bool *whole)
{
    tck *t = r->state;
    const uint64_t first = *points;
    float end = 0;
    gls_status status = GLS_OK;
    while (!status && end == 0 && gls_cursor_left(&r->data) > 0) status = take_points(r, points, &end);
    *whole = isnan(end);
    if (status || *whole) return status;
    t->ended = true;
    if (end == 0) gls_reader_warn(r, "%s: has no mark at its end: the file may have been cut off", r->path);
    if (*points == first) return GLS_OK;
    if (!r->options.recover)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: truncated or damaged: its last streamline has no end; 'glslines edit --recover' leaves "
                        "out this streamline",
                        r->path);
    gls_reader_warn(r, "%s: its last streamline has no end and is left out", r->path);
    *points = first;
    return GLS_OK;
}

/* On the first call, warns if the header states another number of streamlines, and if data follow the mark at the
 * end. */
static void warn_of_count(gls_tractogram_reader *r)
{
    tck *t = r->state;
    if (t->warned) return;
    t->warned = true;
    if (t->counted && t->n_count != r->lines_read)
        gls_reader_warn(r, "%s: has %llu streamlines, but its header says %llu", r->path,
                        (unsigned long long)r->lines_read, (unsigned long long)t->n_count);
    if (gls_cursor_left(&r->data) > 0)
        gls_reader_warn(r, "%s: data follow the mark at its end; they are not read", r->path);
}

/* Reads the next block of streamlines; *n: their number, 0 at the end. */
static gls_status next_tck(gls_tractogram_reader *r, size_t *n)
{
    tck *t = r->state;
    uint64_t points = 0;
    size_t i = 0;
    /* float32 points are checked here. float64 points may overflow when they become float32: for them seen_finite stays
     * false, and gls_tractogram_reader_next() checks the whole block. */
    r->seen_finite = !t->header.wide;
    while (i < r->max_lines && points < r->max_points && !t->ended) {
        bool whole;
        gls_status status = read_streamline(r, &points, &whole);
        if (status) return status;
        if (whole) r->line_offset[++i] = points;
    }
    *n = i;
    r->done = 1 - (double)gls_cursor_left(&r->data) / (double)(r->data.end - t->header.start + 1);
    if (i == 0) warn_of_count(r);
    return GLS_OK;
}

/* Function close() of the driver. */
static void close_tck(gls_tractogram_reader *r)
{
    tck *t = r->state;
    if (t) gls_tck_header_finish(&t->header);
    free(t);
}

const gls_reader_driver gls_tck_reader = {open_tck, next_tck, close_tck};
