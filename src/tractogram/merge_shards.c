/* Merges the shards of a run. First reads the header of each shard and compares it with the others; then copies the
 * streamlines, shard by shard, through a writer like the one that wrote the shards, and checks them against the
 * header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/merge.h>

#include "tractogram/merge_shards.h"
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"
#include "tractogram/shard_note.h"
#include "tractogram/tractogram.h"
#include "tractogram/writers.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* A shard that is read block by block and checked on the way. */
typedef struct shard_reader {
    gls_tractogram_reader *reader; /* NULL: closed. Points of TRK files stay as in the file */
    const gls_tractogram_info *info;
    gls_shard_file file;
    uint32_t crc;       /* TRK and TCK: checksum of the data, from the note */
    uint32_t last_seed; /* index of the last seed; seeds never decrease within a file */
} shard_reader;

/* Checks that the file has no values except seeds and their indices, and in TRX files sampled values and groups:
 * `track` writes no others into shards. */
static gls_status check_columns(const shard_reader *s)
{
    const gls_tractogram_info *info = s->info;
    const bool is_trx = info->format == GLS_FORMAT_TRX;
    bool known = info->n_dpv == 0 && (info->n_groups == 0 || is_trx) && info->n_dpg == 0;
    for (size_t k = 0; k < info->n_dps; k++) {
        const gls_column *c = &info->dps[k];
        bool is_seed = strcmp(c->name, GLS_DPS_SEEDS) == 0 && c->type == GLS_TYPE_FLOAT32 && c->components == 3,
             is_index = strcmp(c->name, GLS_DPS_SEED_INDEX) == 0 && c->components == 1 &&
                        c->type == (is_trx ? GLS_TYPE_UINT32 : GLS_TYPE_FLOAT32),
             is_sampled = is_trx && c->type == GLS_TYPE_FLOAT64;
        known = known && (is_seed || is_index || is_sampled);
    }
    if (info->format != GLS_FORMAT_TCK)
        known = known && info->n_header == 1; /* the only field is the note on the shard */
    if (info->position_type == GLS_TYPE_FLOAT64) known = false;
    return known ? GLS_OK : gls_reader_damaged(s->reader, "it has values that glslines does not write into shards");
}

/* Requires the format that the file's name says, a valid note on the shard, a grid (except in TCK files, which have
 * none), and the columns of a shard. */
static gls_status check_head(shard_reader *s, gls_tractogram_format format)
{
    const char *note = NULL, *path = s->reader->path;
    if (s->info->format != format)
        return gls_fail(GLS_ERR_INPUT, "%s: its name says that it is a %s file, but it is a %s file", path,
                        gls_tractogram_format_name(format), gls_tractogram_format_name(s->info->format));
    for (size_t i = 0; i < s->info->n_header; i++)
        if (strcmp(s->info->header[i].key, GLS_SHARD_KEY) == 0) note = s->info->header[i].value;
    if (!note) return gls_fail(GLS_ERR_INPUT, "%s: is no shard: it was not written by 'glslines track --shard'", path);
    if (!gls_shard_parse(note, &s->file.shard, format == GLS_FORMAT_TRX ? NULL : &s->crc, s->file.version))
        return gls_reader_damaged(s->reader, "its note on the part of the run is not valid");
    if (format != GLS_FORMAT_TCK && !s->info->has_grid)
        return gls_reader_damaged(s->reader, "its header has no valid grid");
    s->file.format = format;
    s->file.n_streamlines = s->info->n_streamlines;
    s->file.bytes = s->info->bytes;
    return check_columns(s);
}

/* Closes the reader. Accepts a zeroed or closed one. */
static void shard_close(shard_reader *s)
{
    gls_tractogram_reader_close(s->reader);
    *s = (shard_reader){.reader = NULL};
}

/* Opens a shard and checks its header, and that the suffix of its name fits the format. After a failure the reader is
 * closed. */
static gls_status shard_open(const char *path, shard_reader *s)
{
    gls_tractogram_format format;
    *s = (shard_reader){.reader = NULL};
    gls_status status = gls_tractogram_format_parse(path, &format);
    if (!status) status = gls_tractogram_reader_open(path, NULL, &s->reader);
    if (status) return status;
    s->info = gls_tractogram_reader_info(s->reader);
    s->reader->in_stored_space = true;
    status = check_head(s, format);
    if (status) shard_close(s);
    return status;
}

/* Checks that streamlines are in the order of seeds, and that seeds belong to the shard. TRK files round indices above
 * 2^24: if the run has more seeds than that, only the order is checked in them. Does nothing for files without indices,
 * and for runs of more than 2^32 seeds. */
static gls_status check_seeds(shard_reader *s, const gls_streamlines *lines)
{
    const gls_shard *shard = &s->file.shard;
    const gls_column *index = gls_column_find(lines->dps, lines->n_dps, GLS_DPS_SEED_INDEX);
    bool exact = s->file.format == GLS_FORMAT_TRX || shard->total_seeds <= UINT64_C(1) << 24;
    if (!index || shard->total_seeds > UINT64_C(1) << 32)
        return GLS_OK; /* files store only the low 32 bits of the index of a seed */
    for (size_t i = 0; i < lines->n; i++) {
        double value = gls_column_value(index, i);
        uint32_t seed = !(value > 0) ? 0 : value >= 4294967295.0 ? UINT32_MAX : (uint32_t)value;
        if (seed < s->last_seed) return gls_reader_damaged(s->reader, "its streamlines are not in the order of seeds");
        if (exact && (seed < shard->first_seed || seed - shard->first_seed >= shard->n_seeds))
            return gls_reader_damaged(s->reader, "it has a streamline of a seed of another shard");
        s->last_seed = seed;
    }
    return GLS_OK;
}

/* Reads the next streamlines, valid until the next call. lines->n is 0 at the end, after all checks. */
static gls_status shard_next(shard_reader *s, gls_streamlines *lines)
{
    gls_tractogram_reader *r = s->reader;
    gls_status status = gls_tractogram_reader_next(r, lines);
    if (status) return status;
    for (size_t i = 0; i < lines->n; i++)
        if (lines->offset[i + 1] == lines->offset[i])
            return gls_reader_damaged(r, "it has a streamline without points");
    if (lines->n > 0) return check_seeds(s, lines);
    if (r->lines_read != s->file.n_streamlines)
        return gls_reader_damaged(r, "the count of streamlines in its header is wrong");
    if (s->file.format == GLS_FORMAT_TRX) return GLS_OK;
    if (gls_cursor_left(&r->data) > 0) return gls_reader_damaged(r, "it has data behind the last streamline");
    if (gls_shard_crc_begun(r->data.crc, r->n_begun) != s->crc)
        return gls_reader_damaged(r, "its data do not have the checksum in its header");
    return GLS_OK;
}

gls_status gls_shard_file_read(const char *path, gls_shard_file *file)
{
    GLS_REQUIRE(path && file);
    shard_reader reader;
    gls_status status = shard_open(path, &reader);
    if (status) return status;
    *file = reader.file;
    shard_close(&reader);
    return GLS_OK;
}

/* --- Merging. */

/* Histogram of streamlines by their number of steps. */
typedef struct lengths {
    /* bin[k]: streamlines of k steps, k + 1 points */
    uint64_t *bin;
    /* number of elements of `bin` */
    uint64_t n_bins;
    /* streamlines and points that were copied */
    uint64_t streamlines, points;
} lengths;

/* Shards that are merged, and what was read of each. */
typedef struct merge {
    /* paths of the shards as given, in any order */
    const char *const *paths;
    /* number of shards that are given */
    size_t n;
    /* path of the merged file */
    const char *output;
    gls_shard_file *file; /* one entry for each path */
    size_t *order;        /* indices of paths, sorted by part of the run */
    shard_reader first;   /* header of paths[0], with which the headers of all other shards are compared */
    shard_reader later;   /* the first shard that has streamlines, if that is not paths[0] */
    /* `first` or `later`, whichever has streamlines; a shard without any has neither columns nor a precision. NULL:
     * none found yet */
    const shard_reader *filled;
    lengths lengths;
    uint64_t last_part, last_seeds; /* members of gls_merge_result */
    gls_merge_progress progress;
    /* argument of progress() */
    void *user;
    /* bytes of all shards, and bytes of the shards that are copied so far, for progress */
    uint64_t bytes, bytes_done;
} merge;

/* Counts streamlines, points, and steps into a histogram that grows as needed. Every streamline of a shard has a point,
 * so steps do not fall below 0. */
static gls_status lengths_add(lengths *l, const gls_streamlines *s)
{
    for (size_t i = 0; i < s->n; i++) {
        uint64_t steps = s->offset[i + 1] - s->offset[i] - 1;
        if (steps >= l->n_bins) {
            uint64_t n = steps + 1 + l->n_bins / 2 + 256, *bin = realloc(l->bin, n * sizeof *bin);
            if (!bin) return gls_fail(GLS_ERR_MEMORY, "out of memory for the histogram of lengths");
            memset(bin + l->n_bins, 0, (n - l->n_bins) * sizeof *bin);
            l->bin = bin;
            l->n_bins = n;
        }
        l->bin[steps]++;
    }
    l->streamlines += s->n;
    l->points += s->offset[s->n];
    return GLS_OK;
}

/* Statistics of the merged streamlines, in steps; all 0 without streamlines. */
static gls_merge_result lengths_result(const lengths *l)
{
    const uint64_t n = l->streamlines;
    gls_merge_result r = {.streamlines = n, .points = l->points};
    if (n == 0) return r;
    r.mean_steps = (double)(l->points - n) / (double)n;
    r.median_steps = gls_histogram_median(l->bin, l->n_bins, n);
    r.min_steps = gls_histogram_bin(l->bin, l->n_bins, 0);
    r.max_steps = gls_histogram_bin(l->bin, l->n_bins, n - 1);
    return r;
}

/* Whether two lists of header lines, each ended by NULL, are equal. A list that is NULL is empty. */
static bool same_lines(char *const *a, char *const *b)
{
    for (; a && b && *a && *b; a++, b++) {
        if (strcmp(*a, *b) != 0) return false;
    }
    return (!a || !*a) && (!b || !*b);
}

/* Whether the points of a shard are stored as float16. */
static bool is_half(const shard_reader *r)
{
    return r->info->position_type == GLS_TYPE_FLOAT16;
}

/* Whether two lists of columns agree in order, names, types and numbers of components. */
static bool same_columns(const gls_column *a, size_t n, const gls_column *b, size_t m)
{
    bool same = n == m;
    for (size_t k = 0; same && k < n; k++)
        same = strcmp(a[k].name, b[k].name) == 0 && a[k].type == b[k].type && a[k].components == b[k].components;
    return same;
}

/* Whether two shards with streamlines have the same columns and groups. */
static bool has_same_columns(const shard_reader *a, const shard_reader *b)
{
    const gls_tractogram_info *x = a->info, *y = b->info;
    return same_columns(x->dps, x->n_dps, y->dps, y->n_dps) &&
           same_columns(x->group, x->n_groups, y->group, y->n_groups);
}

/* Compares a shard with streamlines with the first such shard. */
static gls_status compare_filled(const merge *m, const char *path, const shard_reader *r)
{
    if (!m->filled || r->file.n_streamlines == 0) return GLS_OK;
    if (!has_same_columns(m->filled, r))
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than the others: its columns or groups differ", path);
    if (is_half(m->filled) != is_half(r))
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than the others: the precision of its positions differs",
                        path);
    return GLS_OK;
}

/* Checks that a shard belongs to the same run as the first one. */
static gls_status compare(const merge *m, const char *path, const shard_reader *r)
{
    const shard_reader *a = &m->first;
    const gls_grid *g = &a->info->grid, *h = &r->info->grid;
    const gls_shard *x = &a->file.shard, *y = &r->file.shard;
    const char *first = m->paths[0];
    if (r->file.format != a->file.format)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another format than %s: merge the shards of a single run", path,
                        first);
    if (x->count != y->count)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is shard %u of %u, but %s is shard %u of %u: merge the shards of a single run", path,
                        y->index, y->count, first, x->index, x->count);
    if (strcmp(a->file.version, r->file.version) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: version %s of glslines wrote it, not version %s",
                        path, first, r->file.version, a->file.version);
    if (x->total_seeds != y->total_seeds)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: one of %llu seeds, not %llu", path, first,
                        (unsigned long long)y->total_seeds, (unsigned long long)x->total_seeds);
    if (memcmp(g->dim, h->dim, sizeof g->dim) != 0 || memcmp(g->affine, h->affine, sizeof g->affine) != 0 ||
        memcmp(g->voxel_size, h->voxel_size, sizeof g->voxel_size) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: its reference grid differs", path, first);
    if (x->inputs != y->inputs)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: the input data differ", path, first);
    if (x->parameters != y->parameters || x->select != y->select)
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: the parameters differ", path, first);
    if (!same_lines(a->reader->lines, r->reader->lines))
        return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: the lines of their headers differ", path, first);
    return compare_filled(m, path, r);
}

/* Opens shard i, notes what it says of itself, and compares it with the first shard. Only the first shard and the first
 * shard that has streamlines stay open. */
static gls_status read_head(merge *m, size_t i)
{
    shard_reader r;
    gls_status status = shard_open(m->paths[i], &r);
    if (status) return status;
    /* the first reader, and the first one with streamlines, stay open in *m; all others are closed here */
    if (i == 0) m->first = r;
    m->file[i] = r.file;
    m->bytes += r.file.bytes;
    if (i > 0) status = compare(m, m->paths[i], &r);
    const bool fills = !m->filled && r.file.n_streamlines > 0;
    if (fills && i > 0) m->later = r;
    if (fills) m->filled = i > 0 ? &m->later : &m->first;
    if (i > 0 && !fills) shard_close(&r);
    return status;
}

/* Appends missing parts as "2, 4 and 7", at most five of them. */
static void list_missing(const merge *m, gls_text *text, uint32_t *n_missing)
{
    uint32_t count = m->file[0].shard.count, listed = 0;
    *n_missing = 0;
    for (uint32_t k = 0; k < count; k++) *n_missing += m->order[k] == SIZE_MAX;
    for (uint32_t k = 0; k < count && listed < 5; k++) {
        if (m->order[k] != SIZE_MAX) continue;
        listed++;
        gls_text_printf(text, "%s%u", listed == 1 ? "" : listed == *n_missing ? " and " : ", ", k + 1);
    }
    if (*n_missing > listed) gls_text_printf(text, " and %u more", *n_missing - listed);
}

/* Sorts the shards; each part must occur exactly once. */
static gls_status sort(merge *m)
{
    uint32_t count = m->file[0].shard.count, n_missing;
    m->order = malloc(count * sizeof *m->order);
    if (!m->order) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", m->output);
    /* order[k]: index of the path of shard k + 1; SIZE_MAX: not found yet */
    for (uint32_t k = 0; k < count; k++) m->order[k] = SIZE_MAX;
    for (size_t i = 0; i < m->n; i++) {
        size_t *at = &m->order[m->file[i].shard.index - 1];
        if (*at != SIZE_MAX)
            return gls_fail(GLS_ERR_INPUT, "%s: is shard %u of %u, and so is %s: give each shard once", m->paths[i],
                            m->file[i].shard.index, count, m->paths[*at]);
        *at = i;
    }
    if (m->n == count) return GLS_OK;
    gls_text text = {0};
    list_missing(m, &text, &n_missing);
    char *list = gls_text_take(&text);
    gls_status status = gls_fail(GLS_ERR_INPUT, "%s: cannot be made: of %u shards %s %s missing: give all shards",
                                 m->output, count, list ? list : "some", n_missing == 1 ? "is" : "are");
    free(list);
    return status;
}

/* Replaces the message of the writer, which names the output, by one that names the shard. */
static gls_status fail_shard(const char *path)
{
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", gls_last_error());
    const char *text = strstr(reason, ": ");
    return gls_fail(GLS_ERR_INPUT, "%s: damaged%s", path, text ? text : "");
}

/* Leaves out streamlines beyond the number that the run asked for (--select): no shard knows how many the others have.
 * If this block reaches the number, notes in *m the shard, and the number of seeds up to and with the seed of the last
 * streamline that is kept, or 0 if the file may have rounded the index of this seed to float32. */
static void cut_lines(merge *m, const gls_shard *shard, gls_streamlines *lines)
{
    uint64_t left = shard->select - m->lengths.streamlines;
    if (shard->select == 0 || lines->n < left) return;
    lines->n = (size_t)left;
    if (left == 0) return;
    const gls_column *index = gls_column_find(lines->dps, lines->n_dps, GLS_DPS_SEED_INDEX);
    bool exact = index && (index->type == GLS_TYPE_UINT32 || shard->total_seeds <= UINT64_C(1) << 24);
    m->last_part = shard->index;
    m->last_seeds = exact ? (uint64_t)gls_column_value(index, left - 1) + 1 : 0;
}

/* Copies the streamlines of shard i to the output; with --select at most as many as are still wanted. */
static gls_status copy_shard(merge *m, size_t i, gls_tractogram_writer *writer)
{
    shard_reader r;
    gls_streamlines lines = {.n = 1};
    gls_status status = shard_open(m->paths[i], &r);
    if (status) return status;
    /* the file may have been replaced since its header was read */
    if (r.file.shard.index != m->file[i].shard.index || r.file.bytes != m->file[i].bytes ||
        r.file.n_streamlines != m->file[i].n_streamlines)
        status = gls_fail(GLS_ERR_INPUT, "%s: changed while it was read: run the command again", m->paths[i]);
    if (!status) status = compare(m, m->paths[i], &r);
    if (!status && r.file.shard.select == 0) writer->n_begun += r.reader->n_begun;
    for (bool more = true; !status && more;) {
        status = shard_next(&r, &lines);
        more = lines.n > 0;
        if (!status) cut_lines(m, &r.file.shard, &lines);
        if (!status) status = gls_tractogram_writer_append(writer, &lines);
        /* the writer refuses something that no shard of this program contains */
        if (status == GLS_ERR_ARGUMENT) status = fail_shard(m->paths[i]);
        if (!status) status = lengths_add(&m->lengths, &lines);
        /* progress in bytes, because shards differ in size */
        double part = r.file.n_streamlines > 0 ? (double)r.reader->lines_read / (double)r.file.n_streamlines : 1;
        if (!status && m->progress &&
            !m->progress(m->user, m->bytes_done + (uint64_t)(part * (double)r.file.bytes), m->bytes))
            status = gls_fail(GLS_ERR_CANCELLED, "cancelled");
    }
    m->bytes_done += r.file.bytes;
    shard_close(&r);
    return status;
}

/* Writes the merged tractogram, shard by shard in the order of seeds. Points are copied as stored, so that the bytes
 * are those of a single run. */
static gls_status write_output(merge *m, bool overwrite, gls_output_group *group)
{
    static const double unit[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_tractogram_writer *writer = NULL;
    gls_tractogram_options options = gls_tractogram_options_default();
    options.precision = m->filled && is_half(m->filled) ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.overwrite = overwrite;
    options.header_lines = (const char *const *)m->first.reader->lines;
    gls_grid grid = m->first.info->grid;
    gls_status status = GLS_OK;
    if (m->first.file.format == GLS_FORMAT_TCK) /* TCK stores no grid, and its writer needs none */
        status = gls_grid_init(&grid, (const int32_t[3]){1, 1, 1}, unit);
    if (!status) status = gls_tractogram_writer_create(m->output, m->first.file.format, &grid, &options, &writer);
    if (status) return status;
    /* Copy the voxel sizes, so that the bytes are those of a single run: sizes computed from the rounded affine may
     * differ in the last bit. */
    memcpy(writer->grid.voxel_size, grid.voxel_size, sizeof grid.voxel_size);
    writer->in_stored_space = true;
    gls_writer_join(writer, group);
    for (uint32_t k = 0; k < m->file[0].shard.count && !status; k++) status = copy_shard(m, m->order[k], writer);
    if (!status) return gls_tractogram_writer_finish(writer);
    gls_tractogram_writer_abort(writer);
    return status;
}

gls_status gls_tractogram_merge(const char *const *paths, size_t n, const char *output, gls_existing existing,
                                gls_merge_progress progress, void *user, gls_merge_result *result)
{
    return gls_tractogram_merge_grouped(paths, n, output, existing == GLS_EXISTING_REPLACE, NULL, progress, user,
                                        result);
}

/* Reads and compares the headers of all shards before any streamline is copied, so that a shard of another run fails at
 * once. The first shard, and the first one with streamlines, stay open, because all others are compared with them. */
gls_status gls_tractogram_merge_grouped(const char *const *paths, size_t n, const char *output, bool overwrite,
                                        gls_output_group *group, gls_merge_progress progress, void *user,
                                        gls_merge_result *result)
{
    GLS_REQUIRE(paths && output);
    GLS_REQUIRE(n > 0);
    merge m = {.paths = paths, .n = n, .output = output, .progress = progress, .user = user};
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(output, &format);
    if (status) return status;
    m.file = calloc(n, sizeof *m.file);
    if (!m.file) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output);
    /* the first shard decides on the format; all others must agree with it */
    for (size_t i = 0; i < n && !status; i++) {
        status = read_head(&m, i);
        if (!status && i == 0 && m.first.file.format != format)
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "%s: its suffix is of another format than that of %s; merging does not convert", output,
                              paths[0]);
    }
    if (!status) status = sort(&m);
    if (!status) status = write_output(&m, overwrite, group);
    if (!status && result) {
        *result = lengths_result(&m.lengths);
        if (m.first.file.shard.select > result->streamlines)
            gls_log(GLS_LOG_WARNING,
                    "%s: has %llu streamlines in place of %llu (--select): all shards together have no more", output,
                    (unsigned long long)result->streamlines, (unsigned long long)m.first.file.shard.select);
        result->last_part = m.last_part;
        result->last_seeds = m.last_seeds;
    }
    if (m.filled == &m.later) shard_close(&m.later);
    shard_close(&m.first);
    free(m.lengths.bin);
    free(m.order);
    free(m.file);
    return status;
}
