/* Writes MRtrix3 tracks: a text header, triplets of floats in world mm, NaN after each streamline, Inf at the end. */
#include "tractogram/tck.h"
#include "tractogram/file_formats.h"
#include "tractogram/pieces.h"
#include "tractogram/shard_note.h"
#include "tractogram/writers.h"
#include "util/status.h"
#include "util/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of count, total_count and both parts of the timestamp. */
#define COUNT_WIDTH 12
/* Hexadecimal digits of the checksum. */
#define CRC_WIDTH 8

/* State of the writer. */
typedef struct tck {
    /* buffer in front of the output */
    gls_packer packer;
    /* text of the header, GLS_TCK_MAX_HEADER bytes */
    char *header;
    size_t n_header;           /* size of the header in bytes */
    size_t count, total_count; /* positions of the digits of both counts in the header */
    size_t stamp;              /* position of the timestamp in the header */
    size_t crc;                /* position in the header of the checksum (in the note on a shard); 0: none */
} tck;

/* Frees the state of a writer, which may be NULL. */
static void destroy(void *state)
{
    tck *t = state;
    if (!t) return;
    gls_packer_finish(&t->packer);
    free(t->header);
    free(t);
}

bool gls_tck_is_line(const char *line)
{
    static const char *const reserved[] = {"datatype", "file", "count", "total_count", "timestamp", GLS_SHARD_KEY};
    const char *colon = strchr(line, ':');
    if (!colon || colon == line || strchr(colon + 1, ':')) return false;
    /* control characters would end the line, or hide a part of it */
    for (const char *c = line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strlen(reserved[i]) == (size_t)(colon - line) &&
            !gls_case_compare_n(line, reserved[i], (size_t)(colon - line)))
            return false;
    }
    return true;
}

/* Makes the header with space for the numbers that are known only at the end: count, total_count, timestamp and
 * checksum have fixed widths. */
static gls_status make_header(tck *t, const char *path, const char *const *lines, const gls_shard *shard)
{
    static const char first[] = "mrtrix tracks\n";
    size_t n = sizeof first - 1;
    t->header = calloc(1, GLS_TCK_MAX_HEADER);
    if (!t->header) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    memcpy(t->header, first, n);
    /* the caller's lines, the note on the shard, then lines of fixed width */
    for (; lines && *lines; lines++) {
        if (!gls_tck_is_line(*lines))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "%s: \"%s\" is no header line: \"key: value\" without another colon is needed", path,
                            *lines);
        if (n + strlen(*lines) + GLS_TCK_LAST_LINES > GLS_TCK_MAX_HEADER)
            return gls_fail(GLS_ERR_ARGUMENT, "%s: the header lines exceed %d bytes", path,
                            GLS_TCK_MAX_HEADER - GLS_TCK_LAST_LINES);
        n += (size_t)sprintf(t->header + n, "%s\n", *lines);
    }
    if (shard) {
        char text[GLS_SHARD_TEXT];
        gls_shard_print(shard, &(uint32_t){0}, text);
        n += (size_t)sprintf(t->header + n, "%s: %s\n", GLS_SHARD_KEY, text);
        t->crc = n - 1 - CRC_WIDTH;
    }
    n += (size_t)sprintf(t->header + n, "datatype: Float32LE\ncount: ");
    t->count = n;
    n += (size_t)sprintf(t->header + n, "%0*d\ntimestamp: ", COUNT_WIDTH, 0);
    t->stamp = n;
    n += (size_t)sprintf(t->header + n, "%0*d.%0*d\ntotal_count: ", COUNT_WIDTH, 0, COUNT_WIDTH, 0);
    t->total_count = n;
    n += (size_t)sprintf(t->header + n, "%0*d\n", COUNT_WIDTH, 0);
    /* behind this: "file: . 12345\nEND\n" and NULs up to a multiple of 64 */
    t->n_header = (n + 18 + 63) / 64 * 64;
    sprintf(t->header + n, "file: . %zu\nEND\n", t->n_header);
    return GLS_OK;
}

/* Function create() of the driver: writes a header of the right length whose numbers are zeros. */
static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    tck *t = w->state = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    gls_status status = gls_packer_init(&t->packer, &w->output);
    if (!status) status = make_header(t, w->output.path, options->header_lines, options->shard);
    t->packer.checked = w->is_shard;
    if (!status) status = gls_output_write(&w->output, t->header, t->n_header);
    return status;
}

/* Function define() of the driver: TCK stores no columns. */
static gls_status define(gls_tractogram_writer *w)
{
    for (size_t k = 0; k < w->n_dps + w->n_dpv + w->n_groups; k++) gls_writer_lose(w, k);
    return GLS_OK;
}

/* The triplet that ends a streamline. */
static const float separator[3] = {NAN, NAN, NAN};

/* Streamlines of one append. */
typedef struct lines {
    /* writer, for checks and messages */
    const gls_tractogram_writer *w;
    /* the block that is appended */
    const gls_streamlines *s;
} lines;

/* Position of streamline i in the append, in bytes: the points before it, and a triplet of NaN for each streamline
 * before it. */
static uint64_t offset_of_line(const void *user, size_t i)
{
    const gls_streamlines *s = ((const lines *)user)->s;
    return (s->offset[i] + i) * sizeof separator;
}

/* Formats streamlines from .. until - 1: the points of each, and behind them a triplet of NaN. */
static gls_status form_lines(void *user, size_t from, size_t until, unsigned char *room, const void **data)
{
    const lines *l = user;
    const gls_streamlines *s = l->s;
    (void)data;
    gls_status status =
        gls_writer_check_points(l->w, s->point + s->offset[from], (size_t)(s->offset[until] - s->offset[from]));
    for (size_t i = from; i < until && !status; i++) {
        const size_t bytes = (size_t)(s->offset[i + 1] - s->offset[i]) * sizeof *s->point;
        memcpy(room, s->point[s->offset[i]], bytes);
        memcpy(room + bytes, separator, sizeof separator);
        room += bytes + sizeof separator;
    }
    return status;
}

/* Function append() of the driver. Several threads format large blocks; this thread formats small ones. */
static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    tck *t = w->state;
    lines l = {w, s};
    if (gls_pieces_wanted(offset_of_line(&l, s->n)))
        return gls_packer_write_pieces(
            &t->packer,
            &(gls_pieces){.n = s->n, .offset = offset_of_line, .form = form_lines, .user = &l, .rooms = &w->rooms});
    gls_status status = gls_writer_check_points(w, s->point, (size_t)s->offset[s->n]);
    for (size_t i = 0; i < s->n && !status; i++) {
        status = gls_packer_write(&t->packer, s->point[s->offset[i]],
                                  (size_t)(s->offset[i + 1] - s->offset[i]) * sizeof *s->point);
        if (!status) status = gls_packer_write(&t->packer, separator, sizeof separator);
    }
    return status;
}

/* If the number of streamlines begun is unknown, removes the line total_count and pads the header with NULs. */
static gls_status leave_out_total(gls_tractogram_writer *w)
{
    static const char key[] = "total_count: ";
    const tck *t = w->state;
    size_t from = t->total_count - (sizeof key - 1), next = t->total_count + COUNT_WIDTH + 1;
    char rest[128] = "";
    snprintf(rest, sizeof rest, "%s", t->header + next);
    return gls_output_write_at(&w->output, from, rest, next - from + strlen(rest));
}

int gls_tck_stamp(uint64_t streamlines, uint64_t points, char stamp[GLS_TCK_STAMP])
{
    return snprintf(stamp, GLS_TCK_STAMP, "%0*" PRIu64 ".%0*" PRIu64, COUNT_WIDTH, streamlines, COUNT_WIDTH, points);
}

/* Writes the triplet of Inf that ends the file, then the numbers into the header. */
static gls_status finish(gls_tractogram_writer *w)
{
    static const float end[3] = {INFINITY, INFINITY, INFINITY};
    tck *t = w->state;
    char digits[32], total[32], stamp[GLS_TCK_STAMP];
    /* the caller may have counted only a part of the streamlines begun; total_count must not be below count */
    uint64_t begun = w->n_begun > 0 && w->n_begun < w->n_streamlines ? w->n_streamlines : w->n_begun;
    gls_status status = gls_packer_write(&t->packer, end, sizeof end);
    if (!status) status = gls_packer_flush(&t->packer);
    int width = snprintf(digits, sizeof digits, "%0*llu", COUNT_WIDTH, (unsigned long long)w->n_streamlines);
    if (width > COUNT_WIDTH ||
        snprintf(total, sizeof total, "%0*llu", COUNT_WIDTH, (unsigned long long)begun) > COUNT_WIDTH ||
        gls_tck_stamp(w->n_streamlines, w->n_points, stamp) > 2 * COUNT_WIDTH + 1)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: the number of streamlines or points has more than %d digits",
                        w->output.path, COUNT_WIDTH);
    if (!status) status = gls_output_write_at(&w->output, t->count, digits, COUNT_WIDTH);
    if (!status) status = gls_output_write_at(&w->output, t->stamp, stamp, strlen(stamp));
    if (!status)
        status = begun > 0 ? gls_output_write_at(&w->output, t->total_count, total, COUNT_WIDTH) : leave_out_total(w);
    if (!status && w->is_shard) {
        snprintf(digits, sizeof digits, "%08" PRIx32, gls_shard_crc_begun(t->packer.crc, begun));
        status = gls_output_write_at(&w->output, t->crc, digits, CRC_WIDTH);
    }
    return status;
}

const gls_tractogram_driver gls_tck_driver = {true, create, define, append, finish, destroy};
