#include "tractogram/reader.h"
#include "util/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    gls_status (*open)(gls_tractogram_reader *reader);
    gls_status (*next)(gls_tractogram_reader *reader, size_t *n);
} formats[] = {
    [GLS_FORMAT_TRX] = {gls_trx_reader_open, gls_trx_reader_next},
    [GLS_FORMAT_TRK] = {gls_trk_reader_open, gls_trk_reader_next},
    [GLS_FORMAT_TCK] = {gls_tck_reader_open, gls_tck_reader_next},
};

gls_status gls_reader_damaged(const gls_tractogram_reader *r, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: damaged: %s", r->path, what);
}

gls_status gls_reader_no_shard(const gls_tractogram_reader *r)
{
    return gls_fail(GLS_ERR_INPUT, "%s: is no shard: it was not written by 'glslines track --shard'", r->path);
}

gls_status gls_reader_reserve(gls_tractogram_reader *r, uint64_t n)
{
    if (n <= r->point_capacity) return GLS_OK;
    size_t capacity = r->point_capacity < GLS_READER_POINTS ? GLS_READER_POINTS : r->point_capacity;
    while (capacity < n) capacity += capacity / 2;
    float(*point)[3] = realloc(r->point, capacity * sizeof *point);
    if (point) r->point = point;
    uint16_t *halves = r->half ? realloc(r->halves, capacity * 3 * sizeof *halves) : NULL;
    if (halves) r->halves = halves;
    if (!point || (r->half && !halves))
        return gls_fail(GLS_ERR_MEMORY, "%s: no memory for a streamline of %llu points", r->path,
                        (unsigned long long)n);
    r->point_capacity = capacity;
    return GLS_OK;
}

gls_status gls_reader_head(const gls_tractogram_reader *r, uint64_t from, void *data, size_t bytes)
{
    if (from > r->file.bytes || bytes > r->file.bytes - from)
        return gls_fail(GLS_ERR_INPUT, "%s: truncated: %llu bytes", r->path, (unsigned long long)r->file.bytes);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(r->fd, (char *)data + done, bytes - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", r->path, n < 0 ? strerror(errno) : "it is truncated");
        done += (size_t)n;
    }
    return GLS_OK;
}

gls_status gls_reader_finish_data(gls_tractogram_reader *r)
{
    if (gls_cursor_left(&r->data) > 0) return gls_reader_damaged(r, "data behind the last streamline");
    if (r->data.crc != r->crc) return gls_reader_damaged(r, "its data do not have the checksum in its header");
    return GLS_OK;
}

gls_status gls_tractogram_reader_open(const char *path, gls_tractogram_reader *r)
{
    struct stat info;
    *r = (gls_tractogram_reader){.path = path, .fd = -1};
    gls_status status = gls_tractogram_format_parse(path, &r->file.format);
    if (status != GLS_OK) return status;
    /* a pipe that nobody writes to must not hold the program */
    r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->fd < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(r->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = gls_fail(GLS_ERR_INPUT, "%s: is not a regular file", path);
        goto fail;
    }
    r->file.bytes = (uint64_t)info.st_size;
    r->line_offset = calloc(GLS_READER_LINES + 1, sizeof *r->line_offset);
    r->seed_index = malloc(GLS_READER_LINES * sizeof *r->seed_index);
    r->seed = malloc(GLS_READER_LINES * sizeof *r->seed);
    if (!r->line_offset || !r->seed_index || !r->seed) {
        status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
        goto fail;
    }
    status = formats[r->file.format].open(r);
    if (status == GLS_OK) status = gls_reader_reserve(r, 1);
    if (status == GLS_OK) return GLS_OK;
fail:
    gls_tractogram_reader_close(r);
    return status;
}

void gls_tractogram_reader_close(gls_tractogram_reader *r)
{
    if (!r->path) return;
    if (r->fd >= 0) close(r->fd);
    for (char **line = r->header_lines; line && *line; line++) free(*line);
    free(r->header_lines);
    gls_cursor_finish(&r->data);
    for (int i = 0; i < TRX_N_ARRAYS; i++) gls_cursor_finish(&r->array[i]);
    free(r->line_offset);
    free(r->seed_index);
    free(r->seed);
    free(r->point);
    free(r->halves);
    *r = (gls_tractogram_reader){.path = NULL};
}

/* Streamlines stand in the order of seeds, and seeds are those of the shard. TRK rounds indices above 2^24, so only
 * their order holds there. */
static gls_status check_seeds(gls_tractogram_reader *r, size_t n)
{
    const gls_shard *shard = &r->file.shard;
    bool exact = r->file.format == GLS_FORMAT_TRX || shard->total_seeds <= UINT64_C(1) << 24;
    if (shard->total_seeds > UINT64_C(1) << 32) return GLS_OK; /* files hold their low 32 bits only */
    for (size_t i = 0; i < n; i++) {
        uint32_t seed = r->seed_index[i];
        if (seed < r->last_seed) return gls_reader_damaged(r, "its streamlines are not in the order of seeds");
        if (exact && (seed < shard->first_seed || seed - shard->first_seed >= shard->n_seeds))
            return gls_reader_damaged(r, "a seed of another shard");
        r->last_seed = seed;
    }
    return GLS_OK;
}

gls_status gls_tractogram_reader_next(gls_tractogram_reader *r, gls_streamlines *lines)
{
    size_t n = 0;
    gls_status status = formats[r->file.format].next(r, &n);
    if (status == GLS_OK && n > 0 && r->has_seed_index) status = check_seeds(r, n);
    if (status != GLS_OK) return status;
    r->lines_read += n;
    r->points_read += r->line_offset[n];
    *lines = (gls_streamlines){.n = n, .offset = r->line_offset, .point = (const float(*)[3])r->point};
    if (r->has_seed_index) lines->seed_index = r->seed_index;
    if (r->has_seed) lines->seed = (const float(*)[3])r->seed;
    return GLS_OK;
}

gls_status gls_shard_file_read(const char *path, gls_shard_file *file)
{
    GLS_REQUIRE(path && file);
    gls_tractogram_reader reader;
    gls_status status = gls_tractogram_reader_open(path, &reader);
    if (status != GLS_OK) return status;
    *file = reader.file;
    gls_tractogram_reader_close(&reader);
    return GLS_OK;
}
