/* Reads MRtrix3's tracks: a text header, then triplets of float32 or float64 in either byte order, NaN after each
 * streamline, Inf at the end. */
#include "tractogram/reader.h"
#include "tractogram/shard.h"
#include "tractogram/tractogram.h"
#include "util/input.h"
#include "util/plain.h"
#include "util/status.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER ((size_t)16 << 20)

typedef struct tck {
    bool swapped, wide;
    bool has_type;
    char *file; /* of the data, as the header names it */
    char *path; /* the same with its folder; NULL: the data stand in the file itself */
    uint64_t start;
    uint64_t n_count;
    bool counted; /* the header says n_count */
    bool ended;   /* the triplet of Inf, or the end of the data */
    bool told;
} tck;

static gls_status read_type(gls_tractogram_reader *r, const char *value)
{
    static const struct {
        const char *name;
        bool wide, big;
    } types[] = {{"Float32LE", false, false}, {"Float32BE", false, true}, {"Float32", false, false},
                 {"Float64LE", true, false},  {"Float64BE", true, true},  {"Float64", true, false}};
    tck *t = r->state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, value) != 0) continue;
        t->has_type = true;
        t->wide = types[i].wide;
        t->swapped = types[i].big;
        r->info.position_type = t->wide ? GLS_TYPE_FLOAT64 : GLS_TYPE_FLOAT32;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: data of type %.40s; Float32 and Float64 (LE, BE) are known", r->path, value);
}

/* "NAME OFFSET" */
static gls_status read_place(gls_tractogram_reader *r, const char *value)
{
    tck *t = r->state;
    const char *blank = strrchr(value, ' ');
    char *end;
    if (t->file) return gls_reader_damaged(r, "its header names two places of data");
    if (!blank || blank == value || blank[1] < '0' || blank[1] > '9')
        return gls_reader_damaged(r, "the place of its data in its header");
    errno = 0;
    t->start = strtoull(blank + 1, &end, 10);
    if (*end || errno) return gls_reader_damaged(r, "the place of its data in its header");
    t->file = strndup(value, (size_t)(blank - value));
    return t->file ? GLS_OK : gls_reader_no_memory(r);
}

static gls_status read_line(gls_tractogram_reader *r, char *line)
{
    tck *t = r->state;
    char *colon = strchr(line, ':'), *end;
    if (!colon) return GLS_OK; /* MRtrix3 passes over such lines, too */
    char **lines = realloc(r->lines, (r->n_lines + 2) * sizeof *lines);
    if (!lines) return gls_reader_no_memory(r);
    r->lines = lines;
    lines[r->n_lines] = strdup(line);
    lines[r->n_lines + 1] = NULL;
    if (!lines[r->n_lines]) return gls_reader_no_memory(r);
    const char *value = colon + 1;
    while (gls_is_space((unsigned char)*value)) value++;
    *colon = '\0';
    bool own = !strcmp(line, "datatype") || !strcmp(line, "file") || !strcmp(line, "count") ||
               !strcmp(line, "total_count") || !strcmp(line, "timestamp") || !strcmp(line, GLS_SHARD_KEY);
    if (own)
        free(lines[r->n_lines]);
    else
        r->n_lines++;
    lines[r->n_lines] = NULL;
    if (!strcmp(line, "datatype")) return read_type(r, value);
    if (!strcmp(line, "file")) return read_place(r, value);
    if (!strcmp(line, "count")) {
        t->n_count = strtoull(value, &end, 10);
        t->counted = end != value && !*end;
        return GLS_OK;
    }
    if (!strcmp(line, "total_count")) r->n_begun = strtoull(value, NULL, 10);
    if (!strcmp(line, GLS_SHARD_KEY)) r->data.checked = true;
    return gls_reader_add_header(r, line, value);
}

/* Lines up to END; blanks at the end of a line do not count. */
static gls_status read_lines(gls_tractogram_reader *r, char *text)
{
    char *line = strchr(text, '\n');
    if (!line) return gls_reader_damaged(r, "its header has no end");
    for (line++;;) {
        char *end = strchr(line, '\n');
        if (!end) return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its header has no end", r->path);
        char *last = end;
        while (last > line && gls_is_space((unsigned char)last[-1])) last--;
        *last = '\0';
        if (strcmp(line, "END") == 0) return GLS_OK;
        gls_status status = read_line(r, line);
        if (status != GLS_OK) return status;
        line = end + 1;
    }
}

/* The header as text; most are short. */
static gls_status read_text(gls_tractogram_reader *r, char **out)
{
    gls_status status = GLS_OK;
    char *text = NULL;
    for (size_t want = 65536;; want *= 4) {
        size_t bytes = r->info.bytes < want ? (size_t)r->info.bytes : want;
        char *grown = realloc(text, bytes + 1);
        if (!grown) {
            free(text);
            return gls_reader_no_memory(r);
        }
        text = grown;
        status = gls_reader_head(r, 0, text, bytes);
        text[bytes] = '\0';
        if (status != GLS_OK || strstr(text, "\nEND") || bytes == r->info.bytes || want >= MAX_HEADER) break;
    }
    if (status == GLS_OK)
        *out = text;
    else
        free(text);
    return status;
}

/* The data stand in this file, or in another one beside it. */
static gls_status open_data(gls_tractogram_reader *r)
{
    tck *t = r->state;
    uint64_t bytes = r->info.bytes;
    const bool checked = r->data.checked;
    int fd = r->fd;
    gls_status status = GLS_OK;
    if (!t->has_type || !t->file) return gls_reader_damaged(r, "its header does not say datatype and file");
    if (strcmp(t->file, ".") != 0) {
        const char *slash = strrchr(r->path, '/');
        size_t folder = slash && *t->file != '/' ? (size_t)(slash - r->path) + 1 : 0;
        t->path = malloc(folder + strlen(t->file) + 1);
        if (!t->path) return gls_reader_no_memory(r);
        memcpy(t->path, r->path, folder);
        strcpy(t->path + folder, t->file);
        status = gls_regular_open(t->path, &fd, &bytes);
    }
    const size_t row = t->wide ? 24 : 12;
    if (status == GLS_OK && t->start > bytes) status = gls_reader_damaged(r, "the place of its data in its header");
    if (status == GLS_OK && (bytes - t->start) % row != 0 && !r->options.recover)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: truncated or damaged: its data are not whole points, the last ends at byte %" PRIu64
                          "; --recover leaves out the last streamline",
                          r->path, t->start + (bytes - t->start) / row * row);
    if (status == GLS_OK)
        status = gls_cursor_init(&r->data, r->path, fd, t->start, t->start + (bytes - t->start) / row * row);
    if (r->data.buffer && fd != r->fd) r->data.owns_fd = true;
    r->data.checked = checked;
    return status;
}

static gls_status open_tck(gls_tractogram_reader *r)
{
    char *text = NULL;
    tck *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    gls_status status = read_text(r, &text);
    if (status == GLS_OK) status = read_lines(r, text);
    free(text);
    if (status == GLS_OK) status = open_data(r);
    if (status != GLS_OK) return status;
    r->info.counts_streamlines = t->counted;
    r->info.n_streamlines = t->n_count;
    return GLS_OK;
}

/* How many of n triplets of float32 come before one that is not finite. */
static size_t count_finite(const unsigned char *data, size_t n)
{
    enum { BLOCK = 8 };
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

/* Takes points out of the buffer up to a triplet that ends something. *end gets 0, NAN or INFINITY: the buffer is
 * empty, the streamline is whole, the file is. */
static gls_status take_points(gls_tractogram_reader *r, uint64_t *points, float *end)
{
    tck *t = r->state;
    gls_cursor *c = &r->data;
    const size_t row = t->wide ? 24 : 12;
    gls_status status = gls_cursor_fill(c, row);
    size_t n = (c->n - c->next) / row;
    if (status == GLS_OK) status = gls_reader_reserve(r, *points + n);
    if (status != GLS_OK) return status;
    *end = 0;
    if (!t->wide && !t->swapped) {
        size_t finite = count_finite(c->buffer + c->next, n);
        memcpy(r->point[*points], c->buffer + c->next, finite * row);
        c->next += finite * row;
        *points += finite;
        n -= finite;
    }
    for (size_t i = 0; i < n && *end == 0; i++, c->next += row) {
        float *p = r->point[*points];
        double full[3];
        memcpy(t->wide ? (void *)full : (void *)p, c->buffer + c->next, row);
        if (t->swapped) gls_swap_bytes(t->wide ? (void *)full : (void *)p, 3, row / 3);
        for (int k = 0; k < 3; k++) {
            if (t->wide)
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
            (*points)++; /* a point that is not finite */
        r->seen_finite &= *points == before;
    }
    return GLS_OK;
}

static gls_status read_streamline(gls_tractogram_reader *r, uint64_t *points, bool *whole)
{
    tck *t = r->state;
    const uint64_t first = *points;
    float end = 0;
    gls_status status = GLS_OK;
    while (status == GLS_OK && end == 0 && gls_cursor_left(&r->data) > 0) status = take_points(r, points, &end);
    *whole = isnan(end);
    if (status != GLS_OK || *whole) return status;
    t->ended = true;
    if (end == 0) gls_reader_warn(r, "%s: has no mark at its end: it may have been cut off", r->path);
    if (*points == first) return GLS_OK;
    if (!r->options.recover)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: truncated or damaged: its last streamline has no end; --recover leaves it out", r->path);
    gls_reader_warn(r, "%s: its last streamline has no end and is left out", r->path);
    *points = first;
    return GLS_OK;
}

/* What does not fit together, once. */
static void tell(gls_tractogram_reader *r)
{
    tck *t = r->state;
    if (t->told) return;
    t->told = true;
    if (t->counted && t->n_count != r->lines_read)
        gls_reader_warn(r, "%s: has %llu streamlines, but its header says %llu", r->path,
                        (unsigned long long)r->lines_read, (unsigned long long)t->n_count);
    if (gls_cursor_left(&r->data) > 0)
        gls_reader_warn(r, "%s: data follow the mark at its end; they are not read", r->path);
}

static gls_status next_tck(gls_tractogram_reader *r, size_t *n)
{
    tck *t = r->state;
    uint64_t points = 0;
    size_t i = 0;
    r->seen_finite = !t->wide;
    while (i < r->max_lines && points < r->max_points && !t->ended) {
        bool whole;
        gls_status status = read_streamline(r, &points, &whole);
        if (status != GLS_OK) return status;
        if (whole) r->line_offset[++i] = points;
    }
    *n = i;
    r->done = 1 - (double)gls_cursor_left(&r->data) / (double)(r->data.end - t->start + 1);
    if (i == 0) tell(r);
    return GLS_OK;
}

static void close_tck(gls_tractogram_reader *r)
{
    tck *t = r->state;
    if (t) free(t->file);
    if (t) free(t->path);
    free(t);
}

gls_status gls_tck_data_file(const char *path, char **file)
{
    static const char start[] = "mrtrix tracks";
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_tractogram_reader *r = NULL;
    char head[sizeof start - 1];
    struct stat info;
    uint64_t bytes = 0;
    int fd;
    *file = NULL;
    /* a pipe must not even be opened: that would end it */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || gls_regular_open(path, &fd, &bytes) != GLS_OK)
        return GLS_OK;
    const bool is_tck = bytes >= sizeof head && gls_regular_read(path, fd, 0, head, sizeof head) == GLS_OK &&
                        memcmp(head, start, sizeof head) == 0;
    close(fd);
    options.quiet = options.recover = true;
    if (!is_tck || gls_tractogram_reader_open(path, &options, &r) != GLS_OK) return GLS_OK;
    const tck *t = r->driver == &gls_tck_reader ? r->state : NULL;
    gls_status status = GLS_OK;
    if (t && t->path && !(*file = strdup(t->path))) status = gls_reader_no_memory(r);
    gls_tractogram_reader_close(r);
    return status;
}

const gls_reader_driver gls_tck_reader = {open_tck, next_tck, close_tck};
