/* All streamlines of the tractograms of the window, on the server. Their points stay in files. In memory are coarse
 * boxes round parts of each streamline, so that a region that moves is tested against those alone that come near it. */
#include "view/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "streamlines/builder.h"
#include "tractogram/trx_read.h"
#include "tractogram/unpack.h"
#include "util/file.h"
#include "util/status.h"
#include "util/threads.h"

/* Segments of a part, where that does not take more memory than PART_BYTES. Shorter parts are tested more exactly, and
 * take more memory: 6 bytes each. A streamline has at least one, whatever the bound. */
#define PART 12
#define PART_BYTES ((uint64_t)120 << 20)
/* Points between two parts that are read together with them, because a read takes as long as to copy them. */
#define GAP 256
/* Added to the box of a region before boxes are compared, mm: more than the rounding of the exact test. */
#define MARGIN 0.01

/* --- Reading. */

/* State of reading one file. */
typedef struct reading {
    gls_view_lines *lines;
    const gls_view_points *file;
    bool keeps;     /* the points are written to file->fd */
    uint64_t begin; /* index of the first part of the first streamline of a block */
    uint64_t *part; /* for each streamline of a block, index of its first part */
    size_t capacity;
    bool (*go_on)(void);
} reading;

/* Index of the first point of a streamline; of the one behind the last, the number of points. */
static uint64_t first_of(const gls_view_lines *l, uint64_t line)
{
    return line < l->n ? l->first[line / GLS_VIEW_BLOCK] + l->within[line] : l->n_points;
}

/* Number of parts of a streamline of n points. */
static uint64_t parts_of(const gls_view_lines *l, uint64_t n)
{
    return n == 0 ? 0 : n == 1 ? 1 : (n - 2) / l->length + 1;
}

/* Number of segments of each of the n_parts parts of a streamline of n points. The last one may have fewer, but has
 * one. */
static uint64_t segments_of(uint64_t n, uint64_t n_parts)
{
    return n < 2 ? 1 : (n - 2) / n_parts + 1;
}

/* A coordinate in 255ths of the box. The order of two coordinates is never turned round. */
static uint8_t coarse(const gls_box *box, int axis, double v)
{
    const double extent = box->high[axis] - box->low[axis], share = extent > 0 ? (v - box->low[axis]) / extent : 0;
    return (uint8_t)(255 * fmin(fmax(share, 0), 1));
}

/* Finds the boxes of the parts of a streamline. A point that is not finite makes it unusable. */
static void find_parts(void *user, int thread, const gls_streamlines *in, size_t i)
{
    const reading *r = user;
    gls_view_lines *l = r->lines;
    const uint64_t from = in->offset[i], n = in->offset[i + 1] - from, line = l->n + i;
    bool finite = n > 0;
    (void)thread;
    for (uint64_t p = from; p < from + n; p++)
        for (int a = 0; a < 3; a++) finite = finite && isfinite(in->point[p][a]);
    const uint64_t n_parts = parts_of(l, n), length = segments_of(n, n_parts);
    for (uint64_t k = 0; k < n_parts; k++) {
        uint8_t *box = l->part[r->part[i] + k];
        const uint64_t last = (k + 1) * length < n ? (k + 1) * length : n - 1;
        for (int a = 0; a < 3; a++) {
            float low = INFINITY, high = -INFINITY;
            for (uint64_t p = k * length; p <= last; p++) {
                low = fminf(low, in->point[from + p][a]);
                high = fmaxf(high, in->point[from + p][a]);
            }
            /* an empty box is met by nothing */
            box[a] = finite ? coarse(&l->box, a, (double)low) : 255;
            box[a + 3] = finite ? coarse(&l->box, a, (double)high) : 0;
        }
    }
    if (finite)
        __atomic_fetch_or(&l->usable[line / 64], UINT64_C(1) << line % 64, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&l->n_unusable, 1, __ATOMIC_RELAXED);
}

/* Gives the arrays of streamlines room for `lines`, and those of parts for `parts`. */
static bool make_room(gls_view_lines *l, size_t lines, size_t parts)
{
    if (lines > l->line_room) {
        const size_t before = GLS_VIEW_WORDS(l->line_room), blocks = lines / GLS_VIEW_BLOCK + 2;
        uint64_t *first = realloc(l->first, blocks * sizeof *first);
        if (first) l->first = first;
        uint32_t *within = realloc(l->within, lines * sizeof *within);
        if (within) l->within = within;
        uint64_t *usable = realloc(l->usable, GLS_VIEW_WORDS(lines) * sizeof *usable);
        if (usable) l->usable = usable;
        uint64_t *first_part = realloc(l->first_part, blocks * sizeof *first_part);
        if (first_part) l->first_part = first_part;
        if (!first || !within || !usable || !first_part) return false;
        memset(usable + before, 0, (GLS_VIEW_WORDS(lines) - before) * sizeof *usable);
        l->line_room = lines;
    }
    if (parts <= l->part_room) return true;
    void *part = realloc(l->part, parts * sizeof *l->part);
    if (part) l->part = part;
    if (part) l->part_room = parts;
    return part;
}

/* Makes room for the streamlines and parts of a block. There is, unless points that are not finite have more parts than
 * those of the first reading. */
static bool reserve(reading *r, const gls_streamlines *in)
{
    gls_view_lines *l = r->lines;
    size_t n_parts = l->n_parts;
    if (in->n > r->capacity) {
        uint64_t *part = realloc(r->part, in->n * sizeof *part);
        if (!part) return false;
        r->part = part;
        r->capacity = in->n;
    }
    for (size_t i = 0; i < in->n; i++) {
        r->part[i] = n_parts;
        n_parts += parts_of(l, in->offset[i + 1] - in->offset[i]);
    }
    const size_t lines = (size_t)l->n + in->n;
    if (!make_room(l, lines <= l->line_room ? lines : 2 * lines, n_parts <= l->part_room ? n_parts : 2 * n_parts))
        return false;
    for (size_t i = 0; i < in->n; i++)
        if ((l->n + i) % GLS_VIEW_BLOCK == 0) l->first_part[(l->n + i) / GLS_VIEW_BLOCK] = r->part[i];
    l->n_parts = n_parts;
    return true;
}

/* append() of the sink. */
static gls_status append(void *user, const gls_streamlines *in)
{
    reading *r = user;
    gls_view_lines *l = r->lines;
    if (!r->go_on()) return gls_fail(GLS_ERR_CANCELLED, "%s: interrupted", r->file->path);
    if (!reserve(r, in)) return gls_no_memory();
    if (r->keeps && !gls_fd_write(r->file->fd, in->point, (size_t)in->offset[in->n] * sizeof *in->point))
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: cannot keep its points in a temporary file: %s: set TMPDIR to a folder with room",
                        r->file->path, strerror(errno));
    gls_lines_parallel(in, 64, omp_get_max_threads(), find_parts, r);
    for (size_t i = 0; i < in->n; i++) {
        const uint64_t line = l->n + i, first = l->n_points + in->offset[i];
        if (line % GLS_VIEW_BLOCK == 0) l->first[line / GLS_VIEW_BLOCK] = first;
        const uint64_t within = first - l->first[line / GLS_VIEW_BLOCK];
        if (within > UINT32_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED, "%s: its streamlines have too many points to select from",
                            r->file->path);
        l->within[line] = (uint32_t)within;
    }
    l->n += in->n;
    l->n_points += in->offset[in->n];
    return GLS_OK;
}

/* Hash of the columns of a file, whatever their order. */
static uint64_t hash_columns(const gls_tractogram_info *info)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < info->n_dps + info->n_dpv; i++) {
        const bool is_dps = i < info->n_dps;
        const gls_column *column = is_dps ? &info->dps[i] : &info->dpv[i - info->n_dps];
        const uint64_t kind[3] = {is_dps, (uint64_t)column->type, column->components};
        sum += gls_hash(kind, sizeof kind) * (2 * gls_hash(column->name, strlen(column->name)) + 1);
    }
    return sum;
}

/* Reads one file. Its points are read again from where they are, or from a copy in a temporary file. */
static gls_status read_file(gls_view_lines *l, const char *path, const gls_tractogram_read_options *options,
                            bool (*go_on)(void))
{
    gls_tractogram_read_options read = *options;
    gls_tractogram_reader *reader = NULL;
    gls_view_points *file = &l->file[l->n_files];
    reading r = {.lines = l, .file = file, .go_on = go_on};
    const gls_sink sink = {.append = append, .user = &r};
    read.allow_invalid = read.quiet = true;
    *file = (gls_view_points){.path = path, .fd = -1, .line = l->n, .point = l->n_points};
    /* a file that cannot be found cannot be opened */
    (void)stat(path, &file->opened);
    gls_status status = gls_tractogram_reader_open(path, &read, &reader);
    if (status) return status;
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    l->has_grid &= info->has_grid;
    if (l->n_files == 0) l->columns = hash_columns(info);
    l->mixed |= hash_columns(info) != l->columns;
    if (gls_trx_points_at(reader, &file->at)) {
        file->fd = fcntl(reader->fd, F_DUPFD_CLOEXEC, 0);
        if (file->fd < 0) status = gls_fail(GLS_ERR_INPUT, "%s: %s", path, strerror(errno));
    } else {
        status = gls_scratch_open(path, &file->fd);
        r.keeps = true;
    }
    l->n_files++;
    if (!status) status = gls_tractogram_pump(reader, &sink, NULL, NULL);
    gls_tractogram_reader_close(reader);
    free(r.part);
    return status;
}

gls_status gls_view_lines_read(gls_view_lines *l, const char *const *path, size_t n, const gls_box *box,
                               uint64_t n_lines, uint64_t n_points, const gls_tractogram_read_options *options,
                               bool (*go_on)(void))
{
    const uint64_t most = PART_BYTES / sizeof *l->part;
    gls_status status = (l->file = calloc(n + 1, sizeof *l->file)) ? GLS_OK : gls_no_memory();
    l->box = *box;
    l->has_grid = true;
    /* a streamline has one part, and another one after each `length` segments */
    l->length = n_lines < most ? n_points / (most - n_lines) + 1 : n_points + 1;
    if (l->length < PART) l->length = PART;
    /* all at once: arrays that grow leave holes behind, which stay with the process */
    if (!status && !make_room(l, (size_t)n_lines + 1, (size_t)(n_lines + n_points / l->length) + 1))
        status = gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) status = read_file(l, path[i], options, go_on);
    if (status || l->n == 0) return status;
    void *part = realloc(l->part, (l->n_parts + 1) * sizeof *l->part);
    if (part) l->part = part;
    return GLS_OK;
}

gls_status gls_view_lines_refuse(const char *path)
{
    const bool gone = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    return gls_fail(GLS_ERR_INPUT,
                    gone ? "%s: is no longer there: give it back its name, or start 'glslines view' again"
                         : "%s: has changed since it was opened: start 'glslines view' again",
                    path);
}

gls_status gls_view_lines_check(const gls_view_lines *l)
{
    for (size_t i = 0; i < l->n_files; i++) {
        const struct stat *then = &l->file[i].opened;
        struct stat now;
        if (stat(l->file[i].path, &now) != 0 || now.st_dev != then->st_dev || now.st_ino != then->st_ino ||
            now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != then->st_mtim.tv_nsec)
            return gls_view_lines_refuse(l->file[i].path);
    }
    return GLS_OK;
}

void gls_view_lines_finish(gls_view_lines *l)
{
    for (size_t i = 0; i < l->n_files; i++)
        if (l->file[i].fd >= 0) close(l->file[i].fd);
    free(l->file);
    free(l->first);
    free(l->within);
    free(l->usable);
    free(l->first_part);
    free(l->part);
    *l = (gls_view_lines){.n = 0};
}

/* --- Points of streamlines, read again. */

/* Points of successive streamlines. */
typedef struct points {
    float (*point)[3];
    size_t capacity;
} points;

/* Reads the points from .. until - 1, all of one file. Returns false if memory runs out or the file is shorter now. */
static bool read_points(const gls_view_points *file, uint64_t from, uint64_t until, points *to)
{
    const size_t n = (size_t)(until - from), bytes = n * sizeof *to->point;
    if (n > to->capacity) {
        void *point = realloc(to->point, 2 * bytes);
        if (!point) return false;
        to->point = point;
        to->capacity = 2 * n;
    }
    const uint64_t at = file->at + (from - file->point) * sizeof *to->point;
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(file->fd, (char *)to->point + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* The file of a streamline. */
static const gls_view_points *file_of(const gls_view_lines *l, uint64_t line)
{
    size_t i = l->n_files - 1;
    while (l->file[i].line > line) i--;
    return &l->file[i];
}

static gls_status fail_changed(const gls_view_lines *l)
{
    return gls_fail(GLS_ERR_INPUT, "%s: cannot be read again: has it changed? Start 'glslines view' again",
                    l->file[0].path);
}

/* --- Regions. */

/* The six bytes of a part, and two of the next. */
typedef uint8_t bytes __attribute__((vector_size(8)));

/* A search for the streamlines that meet regions. */
typedef struct search {
    const gls_view_lines *lines;
    const gls_rois *rois;
    size_t n;                           /* regions */
    uint64_t *const *met, *const *last; /* last: NULL: not the ends are looked at */
    float low[3], high[3];              /* box of all regions, mm */
    bytes least, most;  /* the same in the units of the parts: a part whose bytes all lie between comes near */
    gls_roi_hits *hits; /* one for each thread */
    points *points;     /* the same */
    points *whole;      /* the same: of whole streamlines */
    bool *failed;       /* the same: points could not be read */
} search;

/* Whether a part of a streamline comes near. */
static bool comes_near(const search *s, const uint8_t part[6])
{
    bytes v;
    uint64_t all;
    memcpy(&v, part, sizeof v);
    const bytes fits = (bytes)((v >= s->least) & (v <= s->most));
    memcpy(&all, &fits, sizeof all);
    return all == UINT64_MAX;
}

/* On which sides of the box of all regions a point lies: a bit for each. */
static unsigned sides(const search *s, const float p[3])
{
    unsigned side = 0;
    for (int a = 0; a < 3; a++) side |= (unsigned)(p[a] < s->low[a]) << a | (unsigned)(p[a] > s->high[a]) << (a + 3);
    return side;
}

/* Finds the regions that n successive points of a streamline meet. Only those from the first to the last segment that
 * come near are tested: whether a segment meets a region does not depend on the others. whole: they are all points of
 * the streamline. Returns false if they have no length, so that the streamline has to be tested as a whole. */
static bool find(const search *s, gls_roi_hits *hits, const float (*point)[3], size_t n, bool whole)
{
    size_t first = n, last = 0;
    unsigned before = sides(s, point[0]);
    for (size_t i = 1; i < n; i++) {
        const unsigned side = sides(s, point[i]);
        if (!(side & before)) {
            first = first < i ? first : i - 1;
            last = i;
        }
        before = side;
    }
    if (n > 1 && first == n && hits->met) {
        memset(hits->met, 0, s->n);
        return true;
    }
    if (first < last) {
        gls_rois_find(s->rois, hits, point + first, last - first + 1);
        if (hits->length > 0 || (whole && last - first + 1 == n)) return true;
    }
    if (whole) gls_rois_find(s->rois, hits, point, n);
    return whole;
}

/* The stretch of a streamline from its first to its last part that come near. */
typedef struct stretch {
    uint64_t line, at; /* the streamline, and the index of the first point of the stretch */
    uint64_t n;        /* points of the stretch */
    bool begins, ends; /* has the first, the last point of the streamline */
} stretch;

/* Finds the stretch of a streamline, whose first point is number `at` and whose first part is number `part`. Returns
 * false if there is none. */
static bool find_stretch(const search *s, uint64_t line, uint64_t at, uint64_t n, const uint8_t (*part)[6],
                         uint64_t n_parts, stretch *found)
{
    uint64_t first = 0, last = n_parts;
    while (first < n_parts && !comes_near(s, part[first])) first++;
    if (first == n_parts) return false;
    while (!comes_near(s, part[last - 1])) last--;
    const uint64_t length = segments_of(n, n_parts), from = first * length,
                   until = last == n_parts ? n : last * length + 1;
    *found = (stretch){line, at + from, until - from, from == 0, until == n};
    return true;
}

/* Finds the regions that a streamline meets, of which the points of a stretch are known. Returns false if points cannot
 * be read. */
static bool find_met(const search *s, int thread, const stretch *c, const float (*point)[3])
{
    const gls_view_lines *l = s->lines;
    gls_roi_hits *hits = &s->hits[thread];
    if (find(s, hits, point, (size_t)c->n, c->begins && c->ends)) return true;
    /* a streamline without length is a point, but a part of one that has a length is none */
    const uint64_t from = first_of(l, c->line), until = first_of(l, c->line + 1);
    points *whole = &s->whole[thread];
    if (!read_points(file_of(l, c->line), from, until, whole)) return false;
    gls_rois_find(s->rois, hits, (const float(*)[3])whole->point, (size_t)(until - from));
    return true;
}

/* Tests one streamline, of which the points of a stretch are known. */
static void test(const search *s, int thread, const stretch *c, const float (*point)[3])
{
    const gls_roi_hits *hits = &s->hits[thread];
    const uint64_t word = c->line / 64, bit = UINT64_C(1) << c->line % 64;
    if (!s->last && !find_met(s, thread, c, point)) s->failed[thread] = true;
    for (size_t k = 0; k < s->n && !s->failed[thread] && !hits->failed; k++) {
        if (s->last ? c->begins && gls_rois_has(s->rois, k, point[0]) : hits->met[k]) s->met[k][word] |= bit;
        if (s->last && c->ends && gls_rois_has(s->rois, k, point[c->n - 1])) s->last[k][word] |= bit;
    }
}

/* Lists the stretches of the streamlines of a block. Returns their number. */
static size_t find_stretches(const search *s, size_t block, stretch found[GLS_VIEW_BLOCK])
{
    const gls_view_lines *l = s->lines;
    const uint64_t begin = block * GLS_VIEW_BLOCK, end = begin + GLS_VIEW_BLOCK < l->n ? begin + GLS_VIEW_BLOCK : l->n;
    uint64_t part = l->first_part[block], at = first_of(l, begin);
    size_t n = 0;
    for (uint64_t line = begin; line < end; line++) {
        const uint64_t next = first_of(l, line + 1), n_parts = parts_of(l, next - at);
        n += find_stretch(s, line, at, next - at, (const uint8_t(*)[6])l->part + part, n_parts, &found[n]);
        part += n_parts;
        at = next;
    }
    return n;
}

/* Tests the streamlines of block number `from` to block `until` - 1. Stretches that lie close together are read at
 * once. */
static void search_blocks(void *user, int thread, size_t from, size_t until)
{
    const search *s = user;
    const gls_view_lines *l = s->lines;
    points *p = &s->points[thread];
    for (size_t block = from; block < until; block++) {
        stretch near[GLS_VIEW_BLOCK];
        const size_t n = find_stretches(s, block, near);
        for (size_t c = 0, next; c < n && !s->failed[thread]; c = next) {
            const gls_view_points *file = file_of(l, near[c].line);
            uint64_t end = near[c].at + near[c].n;
            for (next = c + 1; next < n && near[next].at <= end + GAP && file_of(l, near[next].line) == file; next++)
                end = near[next].at + near[next].n;
            if (!read_points(file, near[c].at, end, p)) s->failed[thread] = true;
            for (size_t i = c; i < next && !s->failed[thread]; i++)
                test(s, thread, &near[i], (const float(*)[3])p->point + (near[i].at - near[c].at));
        }
    }
}

/* Finds the box round all regions. Returns whether it meets the box of the streamlines. */
static bool find_box(search *s)
{
    const gls_box *all = &s->lines->box;
    double low[3], high[3];
    gls_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t k = 0; k < s->n; k++) {
        gls_rois_box(s->rois, k, low, high);
        for (int a = 0; a < 3; a++) {
            box.low[a] = fmin(box.low[a], low[a] - MARGIN);
            box.high[a] = fmax(box.high[a], high[a] + MARGIN);
        }
    }
    s->most = (bytes){0} - 1;
    for (int a = 0; a < 3; a++) {
        if (!(box.low[a] <= all->high[a] && box.high[a] >= all->low[a])) return false;
        s->low[a] = (float)box.low[a];
        s->high[a] = (float)box.high[a];
        s->most[a] = coarse(all, a, box.high[a]);
        s->least[a + 3] = coarse(all, a, box.low[a]);
    }
    return true;
}

gls_status gls_view_lines_meet(const gls_view_lines *l, const gls_rois *rois, size_t n, uint64_t *const *met,
                               uint64_t *const *last)
{
    const int n_threads = omp_get_max_threads();
    const size_t blocks = (size_t)((l->n + GLS_VIEW_BLOCK - 1) / GLS_VIEW_BLOCK);
    search s = {.lines = l, .rois = rois, .n = n, .met = met, .last = last};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < n; k++) memset(met[k], 0, GLS_VIEW_WORDS(l->n) * sizeof **met);
    for (size_t k = 0; k < n && last; k++) memset(last[k], 0, GLS_VIEW_WORDS(l->n) * sizeof **last);
    if (!find_box(&s)) return GLS_OK;
    s.hits = calloc((size_t)n_threads, sizeof *s.hits);
    s.points = calloc((size_t)n_threads, sizeof *s.points);
    s.whole = calloc((size_t)n_threads, sizeof *s.whole);
    s.failed = calloc((size_t)n_threads, sizeof *s.failed);
    if (!s.hits || !s.points || !s.whole || !s.failed)
        status = gls_no_memory();
    else
        gls_parallel(blocks, 4, n_threads, search_blocks, &s);
    for (int t = 0; t < n_threads && !status; t++)
        status = s.hits[t].failed ? gls_no_memory() : s.failed[t] ? fail_changed(l) : GLS_OK;
    for (int t = 0; t < n_threads; t++) {
        if (s.hits) gls_roi_hits_finish(&s.hits[t]);
        if (s.points) free(s.points[t].point);
        if (s.whole) free(s.whole[t].point);
    }
    free(s.hits);
    free(s.points);
    free(s.whole);
    free(s.failed);
    return status;
}

/* --- Sending. */

/* Streamlines that are sent together, so that threads share the work on them. */
#define BATCH 4096

/* Streamlines whose points are read for sending. */
typedef struct sending {
    const gls_view_lines *lines;
    const uint64_t *line; /* their indices */
    uint64_t offset[BATCH + 1];
    float (*point)[3];
    int failed;
} sending;

/* Reads points of streamlines from .. until - 1 of a batch. */
static void read_batch(void *user, int thread, size_t from, size_t until)
{
    sending *s = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        points to = {s->point + s->offset[i], (size_t)(s->offset[i + 1] - s->offset[i])};
        const uint64_t at = first_of(s->lines, s->line[i]);
        if (!read_points(file_of(s->lines, s->line[i]), at, at + to.capacity, &to))
            __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
    }
}

/* Lists the streamlines to send: of `count` ones, `most`. */
static void choose(const gls_view_lines *l, const uint64_t *set, uint64_t count, uint64_t most, uint64_t *line)
{
    uint64_t seen = 0, n = 0;
    for (size_t w = 0; w < GLS_VIEW_WORDS(l->n); w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1, seen++)
            /* of the streamlines up to this one, a share of most / count is sent */
            if ((seen + 1) * most / count > seen * most / count) line[n++] = w * 64 + (uint64_t)__builtin_ctzll(bits);
}

/* Sends the n streamlines of a batch. */
static gls_status send_batch(sending *s, size_t n, const gls_sink *sink)
{
    s->offset[0] = 0;
    for (size_t i = 0; i < n; i++)
        s->offset[i + 1] = s->offset[i] + first_of(s->lines, s->line[i] + 1) - first_of(s->lines, s->line[i]);
    void *point = realloc(s->point, (size_t)(s->offset[n] + 1) * sizeof *s->point);
    if (!point) return gls_no_memory();
    s->point = point;
    gls_parallel(n, 64, omp_get_max_threads(), read_batch, s);
    if (s->failed) return fail_changed(s->lines);
    return gls_sink_append(sink, &(gls_streamlines){.n = n, .offset = s->offset, .point = (const float(*)[3])s->point});
}

gls_status gls_view_lines_send(const gls_view_lines *l, const uint64_t *set, uint64_t count, uint64_t most,
                               const gls_sink *sink)
{
    if (most > count) most = count;
    uint64_t *line = malloc((size_t)(most + 1) * sizeof *line);
    sending *s = malloc(sizeof *s);
    gls_status status = line && s ? GLS_OK : gls_no_memory();
    if (!status) {
        choose(l, set, count, most, line);
        *s = (sending){.lines = l};
    }
    for (uint64_t i = 0; i < most && !status; i += BATCH) {
        s->line = line + i;
        status = send_batch(s, (size_t)(most - i < BATCH ? most - i : BATCH), sink);
    }
    if (s) free(s->point);
    free(s);
    free(line);
    return status;
}
