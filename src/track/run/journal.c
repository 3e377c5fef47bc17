/* Writes batch results to the journal file of a run, and reads them back when the run is resumed. A hash guards the
 * head, each record and each array; reading ends at the first damaged record. */
#include "track/run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"
#include "util/status.h"

#define MAGIC "GLSJRNL2" /* first bytes of a journal; the number changes with the layout of records */
#define RECORD "GLSPARCL"
#define COMPLETE "GLSDONE1"
/* Bytes of the identity of a run and of its origin in the head of the journal, with their NUL. */
#define IDENTITY_BYTES 512
#define ORIGIN_BYTES 256
/* Appending a result synchronises the journal to the disk if the last synchronisation is at least this long ago, s. A
 * crash of the machine loses the results that were appended since. */
#define SECONDS_BETWEEN_SYNCS 2.0

/* The head of a journal. identity: text with hashes of inputs and parameters, which a resumed run must share; origin:
 * renderer and the version of its driver, for messages. */
typedef struct head {
    char magic[8];
    char identity[IDENTITY_BYTES], origin[ORIGIN_BYTES];
    uint64_t hash; /* hash of all members before `hash`, as in the other structs */
} head;

/* The arrays that follow a record, in this order. */
enum { ARRAY_LENGTHS, ARRAY_INDEX, ARRAY_SEED, ARRAY_POINT, ARRAY_LINES, ARRAY_OUTCOME, N_ARRAYS };
/* The head of a batch result with all streamlines of the seeds first .. end - 1; its arrays follow. */
typedef struct record {
    char magic[8];
    uint64_t first, end, n, n_points, n_seeds, n_outcomes;
    uint64_t array[N_ARRAYS]; /* hash of each array */
    uint64_t hash;
} record;

/* The last record: the run is complete, and these are its output files. */
typedef struct completion {
    char magic[8];
    uint64_t n;
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    uint64_t hash;
} completion;

struct gls_journal {
    int fd;
    char *path;
    head head;
    uint64_t at;       /* offset in the file at which the next record is read or, after the last one, written */
    uint64_t end_seed; /* index behind the last seed of the records read or written so far; 0: none */
    completion done; /* complete files that the end of the journal lists; set after all records are read; n = 0: none */
    double synced;
    uint32_t *length;
    size_t length_capacity;
};

/* Hash of the bytes from `start` up to the member `hash` of the same struct. */
static uint64_t hash_before(const void *start, const uint64_t *hash)
{
    return gls_hash(start, (size_t)((const char *)hash - (const char *)start));
}

/* Returns GLS_ERR_OUTPUT with the path, a text and the reason of the system. */
static gls_status fail(const gls_journal *j, const char *what)
{
    return gls_fail(GLS_ERR_OUTPUT, "%s: %s: %s", j->path, what, strerror(errno));
}

/* Reads `bytes` bytes at offset `at`. Returns false at the end of the file or after an error. */
static bool read_at(int fd, uint64_t at, void *data, uint64_t bytes)
{
    return lseek(fd, (off_t)at, SEEK_SET) >= 0 && gls_fd_read(fd, data, bytes) == (int64_t)bytes;
}

/* Stores the size in bytes of each array of a record. */
static void array_bytes(const record *r, uint64_t bytes[N_ARRAYS])
{
    const gls_batch_result *p = NULL;
    bytes[ARRAY_LENGTHS] = r->n * sizeof(uint32_t);
    bytes[ARRAY_INDEX] = r->n * sizeof *p->seed_index;
    bytes[ARRAY_SEED] = r->n * sizeof *p->seed;
    bytes[ARRAY_POINT] = r->n_points * sizeof *p->point;
    bytes[ARRAY_LINES] = r->n_seeds * sizeof *p->outcomes.lines;
    bytes[ARRAY_OUTCOME] = r->n_outcomes * sizeof *p->outcomes.outcome;
}

/* Bytes of a record with its arrays. */
static uint64_t record_bytes(const record *r)
{
    uint64_t bytes[N_ARRAYS], sum = sizeof *r;
    array_bytes(r, bytes);
    for (int i = 0; i < N_ARRAYS; i++) sum += bytes[i];
    return sum;
}

/* Reads the record at an offset of a file of `size` bytes. Returns false if it is damaged. Does not check its arrays.
 */
static bool read_record(int fd, uint64_t at, uint64_t size, record *r)
{
    if (!read_at(fd, at, r, sizeof *r) || memcmp(r->magic, RECORD, sizeof r->magic) != 0 ||
        hash_before(r, &r->hash) != r->hash || r->first >= r->end)
        return false;
    /* check each count by itself, so that no product or sum overflows */
    return r->n < size && r->n_points < size && r->n_seeds < size && r->n_outcomes < size && size < UINT64_MAX / 1024 &&
           record_bytes(r) <= size - at;
}

/* Reads the list of complete files at an offset. Returns false if there is none, or if it is damaged. */
static bool read_completion(int fd, uint64_t at, completion *c)
{
    return read_at(fd, at, c, sizeof *c) && memcmp(c->magic, COMPLETE, sizeof c->magic) == 0 &&
           hash_before(c, &c->hash) == c->hash && c->n <= GLS_JOURNAL_MAX_FILES;
}

/* Reads the head of the file. Returns false if the file is not a journal of this layout, or damaged. If true, both
 * texts end with NUL. */
static bool read_head(int fd, head *h)
{
    return read_at(fd, 0, h, sizeof *h) && memcmp(h->magic, MAGIC, sizeof h->magic) == 0 &&
           hash_before(h, &h->hash) == h->hash && memchr(h->identity, 0, IDENTITY_BYTES) &&
           memchr(h->origin, 0, ORIGIN_BYTES);
}

/* Begins an empty journal: writes the head and synchronises it to the disk. */
static gls_status begin(gls_journal *j, const char *identity, const char *origin)
{
    j->head = (head){0};
    memcpy(j->head.magic, MAGIC, sizeof j->head.magic);
    snprintf(j->head.identity, IDENTITY_BYTES, "%s", identity);
    snprintf(j->head.origin, ORIGIN_BYTES, "%s", origin);
    j->head.hash = hash_before(&j->head, &j->head.hash);
    if (ftruncate(j->fd, 0) != 0 || lseek(j->fd, 0, SEEK_SET) != 0 || !gls_fd_write(j->fd, &j->head, sizeof j->head) ||
        (fsync(j->fd) != 0 && errno != EINVAL))
        return fail(j, "cannot be written");
    return GLS_OK;
}

/* Whether a file shorter than a head begins like one. */
static bool is_torn_head(int fd, uint64_t size)
{
    char start[sizeof MAGIC - 1];
    uint64_t n = size < sizeof start ? size : sizeof start;
    return read_at(fd, 0, start, n) && memcmp(start, MAGIC, n) == 0;
}

/* Checks the opened file. Keeps a journal of the same identity. Begins a journal in a file that is empty or holds only
 * a part of a head and, with `anew`, in any other regular file. Refuses all other files, and always one that another
 * run has open. */
static gls_status go_on(gls_journal *j, const char *identity, const char *origin, bool anew)
{
    struct stat info;
    bool locked = flock(j->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; /* no lock support: go on */
    if (fstat(j->fd, &info) != 0) return fail(j, "cannot be read");
    if (!S_ISREG(info.st_mode))
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: the journal of --resume must be a regular file: remove or rename what has this name",
                        j->path);
    if (!locked || info.st_nlink == 0) /* no link: the run that had the lock has just ended and removed the file */
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: another run is at work on this output: wait until that run ends, or choose another output",
                        j->path);
    j->at = sizeof j->head;
    bool known = read_head(j->fd, &j->head);
    /* a run that was killed while it wrote the head has no results yet; a file of another program must not be
     * overwritten */
    bool torn = !known && (size_t)info.st_size < sizeof j->head && is_torn_head(j->fd, (uint64_t)info.st_size);
    if (!known && !torn && !anew)
        return gls_fail(
            GLS_ERR_OUTPUT,
            "%s: exists already and is no journal of a run, or is damaged: give --force to overwrite the file",
            j->path);
    if (known && strcmp(j->head.identity, identity) == 0) return GLS_OK;
    if (known && !anew)
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: is the journal of a run with other inputs or options, or of another version of glslines: "
                        "remove the file, or give --force to begin anew",
                        j->path);
    return begin(j, identity, origin);
}

gls_status gls_journal_open(const char *path, const char *identity, const char *origin, bool anew, gls_journal **out)
{
    GLS_REQUIRE(strlen(identity) < IDENTITY_BYTES);
    gls_journal *j = calloc(1, sizeof *j);
    if (!j) return gls_no_memory();
    j->fd = -1;
    j->synced = gls_clock_seconds();
    j->path = strdup(path);
    gls_status status = j->path ? GLS_OK : gls_no_memory();
    /* O_NOFOLLOW: a link in a shared folder could name a file of the user; O_NONBLOCK: opening a pipe must not wait */
    if (!status) j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (!status && j->fd < 0)
        status =
            errno == ELOOP
                ? gls_fail(GLS_ERR_OUTPUT,
                           "%s: the journal of --resume must be a regular file: remove or rename what has this name",
                           path)
                : fail(j, "cannot be opened");
    if (!status) status = go_on(j, identity, origin, anew);
    if (status)
        gls_journal_close(j, false);
    else
        *out = j;
    return status;
}

const char *gls_journal_origin(const gls_journal *j)
{
    return j->head.origin;
}

bool gls_journal_is_empty(const gls_journal *j)
{
    struct stat info;
    return fstat(j->fd, &info) == 0 && info.st_size <= (off_t)sizeof j->head;
}

uint64_t gls_journal_end(const gls_journal *j)
{
    return j->end_seed;
}

/* Allocates memory for the lengths of n streamlines. GLS_ERR_MEMORY. */
static gls_status reserve_lengths(gls_journal *j, uint64_t n)
{
    if (n <= j->length_capacity) return GLS_OK;
    free(j->length);
    j->length = malloc(n * sizeof *j->length);
    j->length_capacity = j->length ? n : 0;
    return j->length ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", j->path);
}

/* Sets array[] to the arrays of a batch result, in the order in which the file has them. */
static void arrays_of(const gls_journal *j, const gls_batch_result *p, void *array[N_ARRAYS])
{
    array[ARRAY_LENGTHS] = j->length;
    array[ARRAY_INDEX] = p->seed_index;
    array[ARRAY_SEED] = p->seed;
    array[ARRAY_POINT] = p->point;
    array[ARRAY_LINES] = p->outcomes.lines;
    array[ARRAY_OUTCOME] = p->outcomes.outcome;
}

/* Ends reading at the first record that cannot be used. Removes the rest of the file, unless the rest is a list of
 * complete files. A killed process leaves one torn record; a crashed machine may leave several damaged ones. */
static gls_status cut(gls_journal *j)
{
    bool done = read_completion(j->fd, j->at, &j->done);
    if (!done) j->done.n = 0;
    if (done && lseek(j->fd, (off_t)j->at, SEEK_SET) >= 0)
        return GLS_OK; /* keep the list of complete files until the next one is written over it */
    if (ftruncate(j->fd, (off_t)j->at) == 0 && lseek(j->fd, (off_t)j->at, SEEK_SET) >= 0) return GLS_OK;
    return fail(j, "cannot be written");
}

gls_status gls_journal_read(gls_journal *j, gls_batch_result *p, bool *found)
{
    /* Read the record at j->at. Reading ends if its seeds do not begin where those of the record before ended. */
    record r;
    void *array[N_ARRAYS];
    uint64_t bytes[N_ARRAYS], at = j->at + sizeof r;
    off_t size = lseek(j->fd, 0, SEEK_END);
    *found = size > 0 && read_record(j->fd, j->at, (uint64_t)size, &r) && (j->end_seed == 0 || r.first == j->end_seed);
    if (!*found) return cut(j);
    gls_status status = gls_batch_result_reserve(p, r.n, r.n_points);
    if (!status) status = gls_outcomes_reserve(&p->outcomes, r.n_seeds, r.n_outcomes);
    if (!status) status = reserve_lengths(j, r.n);
    if (status) return status;
    arrays_of(j, p, array);
    array_bytes(&r, bytes);
    /* Read the arrays and check each by its hash; then compute the offsets of points from the lengths. */
    for (int i = 0; i < N_ARRAYS && *found; at += bytes[i++])
        *found =
            bytes[i] == 0 || (read_at(j->fd, at, array[i], bytes[i]) && gls_hash(array[i], bytes[i]) == r.array[i]);
    p->offset[0] = 0;
    for (uint64_t i = 0; i < r.n && *found; i++) p->offset[i + 1] = p->offset[i] + j->length[i];
    *found = *found && p->offset[r.n] == r.n_points;
    if (!*found) return cut(j);
    p->first = r.first;
    p->n = r.n;
    p->outcomes.n_seeds = r.n_seeds;
    p->outcomes.n_outcomes = r.n_outcomes;
    j->at = at;
    j->end_seed = r.end;
    return GLS_OK;
}

/* Makes the system write buffered data of the file to disk. A file system that cannot do so (EINVAL, EROFS) is no
 * failure. */
static gls_status synchronise(gls_journal *j)
{
    j->synced = gls_clock_seconds();
    return fdatasync(j->fd) == 0 || errno == EINVAL || errno == EROFS ? GLS_OK : fail(j, "cannot be written");
}

gls_status gls_journal_append(gls_journal *j, const gls_batch_result *p)
{
    record r = {.first = p->first,
                .end = p->end,
                .n = p->n,
                .n_points = p->offset[p->n],
                .n_seeds = p->outcomes.n_seeds,
                .n_outcomes = p->outcomes.n_outcomes};
    void *array[N_ARRAYS];
    uint64_t bytes[N_ARRAYS];
    gls_status status = reserve_lengths(j, p->n);
    if (status) return status;
    /* Hashes are computed before anything is written, because the record that holds them precedes the arrays. */
    memcpy(r.magic, RECORD, sizeof r.magic);
    for (size_t i = 0; i < p->n; i++) j->length[i] = (uint32_t)(p->offset[i + 1] - p->offset[i]);
    arrays_of(j, p, array);
    array_bytes(&r, bytes);
    for (int i = 0; i < N_ARRAYS; i++) r.array[i] = bytes[i] > 0 ? gls_hash(array[i], bytes[i]) : 0;
    r.hash = hash_before(&r, &r.hash);
    bool written = gls_fd_write(j->fd, &r, sizeof r);
    for (int i = 0; i < N_ARRAYS && written; i++) written = bytes[i] == 0 || gls_fd_write(j->fd, array[i], bytes[i]);
    if (!written) return fail(j, "cannot be written");
    j->at += record_bytes(&r);
    j->end_seed = r.end;
    return gls_clock_seconds() - j->synced < SECONDS_BETWEEN_SYNCS ? GLS_OK : synchronise(j);
}

gls_status gls_journal_complete(gls_journal *j, const gls_journal_file *files, size_t n)
{
    GLS_REQUIRE(n <= GLS_JOURNAL_MAX_FILES);
    completion c = {0};
    memcpy(c.magic, COMPLETE, sizeof c.magic);
    for (size_t i = 0; i < n; i++) c.file[c.n++] = files[i];
    for (size_t i = 0; i < j->done.n && c.n < GLS_JOURNAL_MAX_FILES; i++) c.file[c.n++] = j->done.file[i];
    c.hash = hash_before(&c, &c.hash);
    if (!gls_fd_write(j->fd, &c, sizeof c)) return fail(j, "cannot be written");
    return synchronise(j);
}

void gls_journal_close(gls_journal *j, bool remove)
{
    if (!j) return;
    if (remove) unlink(j->path);
    if (j->fd >= 0) close(j->fd);
    free(j->path);
    free(j->length);
    free(j);
}

size_t gls_journal_files(const char *path, gls_journal_file files[GLS_JOURNAL_MAX_FILES])
{
    head h;
    completion c;
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return 0;
    off_t size = lseek(fd, 0, SEEK_END);
    if (size >= (off_t)(sizeof h + sizeof c) && read_head(fd, &h) &&
        read_completion(fd, (uint64_t)size - sizeof c, &c)) {
        n = c.n;
        memcpy(files, c.file, n * sizeof *files);
    }
    close(fd);
    return n;
}
