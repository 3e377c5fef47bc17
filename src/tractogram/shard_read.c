/* Reads shards and checks every claim that they make about themselves. */
#include "tractogram/shards.h"

#include <string.h>

#include "util/status.h"

/* Checks that the columns are those of the tracker, and in TRX files those that `track` samples and groups that it
 * segments; other columns would be lost in merging. */
static gls_status check_columns(const gls_shard_reader *s)
{
    const gls_tractogram_info *info = s->info;
    const bool is_trx = info->format == GLS_FORMAT_TRX;
    /* what track writes, and nothing else */
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
    return known ? GLS_OK : gls_reader_damaged(s->reader, "values that glslines does not write into shards");
}

/* Requires the format that the file's name says, a valid note on the shard, and a grid. */
static gls_status check_head(gls_shard_reader *s, gls_tractogram_format format)
{
    const char *note = NULL, *path = s->reader->path;
    /* the format's reader goes by content; merging goes by name */
    if (s->info->format != format)
        return gls_fail(GLS_ERR_INPUT, "%s: is no %s file, as its name says, but %s", path,
                        gls_tractogram_format_name(format), gls_tractogram_format_name(s->info->format));
    for (size_t i = 0; i < s->info->n_header; i++)
        if (strcmp(s->info->header[i].key, GLS_SHARD_KEY) == 0) note = s->info->header[i].value;
    if (!note) return gls_fail(GLS_ERR_INPUT, "%s: is no shard: it was not written by 'glslines track --shard'", path);
    if (!gls_shard_parse(note, &s->file.shard, format == GLS_FORMAT_TRX ? NULL : &s->crc, s->file.version))
        return gls_reader_damaged(s->reader, "the note on its part of the run");
    if (format != GLS_FORMAT_TCK && !s->info->has_grid)
        return gls_reader_damaged(s->reader, "its header has no valid grid");
    s->file.format = format;
    s->file.n_streamlines = s->info->n_streamlines;
    s->file.bytes = s->info->bytes;
    return check_columns(s);
}

gls_status gls_shard_reader_open(const char *path, gls_shard_reader *s)
{
    gls_tractogram_format format;
    *s = (gls_shard_reader){.reader = NULL};
    gls_status status = gls_tractogram_format_parse(path, &format);
    if (!status) status = gls_tractogram_reader_open(path, NULL, &s->reader);
    if (status) return status;
    s->info = gls_tractogram_reader_info(s->reader);
    s->reader->in_stored_space = true;
    status = check_head(s, format);
    if (status) gls_shard_reader_close(s);
    return status;
}

void gls_shard_reader_close(gls_shard_reader *s)
{
    gls_tractogram_reader_close(s->reader);
    /* NULL marks a closed reader */
    *s = (gls_shard_reader){.reader = NULL};
}

/* Checks that streamlines are in the order of seeds, and that seeds belong to the shard. TRK rounds indices above 2^24,
 * so only their order is checked there. */
static gls_status check_seeds(gls_shard_reader *s, const gls_streamlines *lines)
{
    const gls_shard *shard = &s->file.shard;
    const gls_column *index = gls_column_find(lines->dps, lines->n_dps, GLS_DPS_SEED_INDEX);
    bool exact = s->file.format == GLS_FORMAT_TRX || shard->total_seeds <= UINT64_C(1) << 24;
    if (!index || shard->total_seeds > UINT64_C(1) << 32) return GLS_OK; /* files store only the low 32 bits */
    for (size_t i = 0; i < lines->n; i++) {
        double value = gls_column_value(index, i);
        /* a value of a damaged file may be anything; the conversion keeps it in range */
        uint32_t seed = !(value > 0) ? 0 : value >= 4294967295.0 ? UINT32_MAX : (uint32_t)value;
        if (seed < s->last_seed) return gls_reader_damaged(s->reader, "its streamlines are not in the order of seeds");
        if (exact && (seed < shard->first_seed || seed - shard->first_seed >= shard->n_seeds))
            return gls_reader_damaged(s->reader, "a seed of another shard");
        s->last_seed = seed;
    }
    return GLS_OK;
}

gls_status gls_shard_reader_next(gls_shard_reader *s, gls_streamlines *lines)
{
    gls_tractogram_reader *r = s->reader;
    gls_status status = gls_tractogram_reader_next(r, lines);
    if (status) return status;
    /* checks that no reader of single streamlines makes */
    for (size_t i = 0; i < lines->n; i++)
        if (lines->offset[i + 1] == lines->offset[i]) return gls_reader_damaged(r, "a streamline without points");
    if (lines->n > 0) return check_seeds(s, lines);
    if (r->lines_read != s->file.n_streamlines)
        return gls_reader_damaged(r, "the count of streamlines in its header is wrong");
    /* the archive of TRX has a checksum for each array, which its reader has checked */
    if (s->file.format == GLS_FORMAT_TRX) return GLS_OK;
    if (gls_cursor_left(&r->data) > 0) return gls_reader_damaged(r, "data behind the last streamline");
    if (gls_shard_crc_begun(r->data.crc, r->n_begun) != s->crc)
        return gls_reader_damaged(r, "its data do not have the checksum in its header");
    return GLS_OK;
}

gls_status gls_shard_file_read(const char *path, gls_shard_file *file)
{
    GLS_REQUIRE(path && file);
    gls_shard_reader reader;
    gls_status status = gls_shard_reader_open(path, &reader);
    if (status) return status;
    *file = reader.file;
    gls_shard_reader_close(&reader);
    return GLS_OK;
}
