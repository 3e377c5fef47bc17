/* A hundred million streamlines, and five billion points, through the writer and the reader of each format: numbers and
 * offsets beyond 2^32. Zeros become holes of the file, so that 60 GB take 3. By hand: some minutes, 8 GB of disk.
 * Usage: large WORK_FOLDER [STREAMLINES [POINTS]] */
#include <glslines/tractogram.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EACH 100000 /* number of streamlines in a batch of short ones */
#define LONG_POINTS 1000000

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);

/* Appends many zeros to a regular file, which becomes at least that long. */
static int leaves_hole(int fd, const char *p, size_t bytes, off_t at)
{
    struct stat info;
    if (bytes < 65536 || p[0] != 0 || memcmp(p, p + 1, bytes - 1) != 0 || fstat(fd, &info) != 0 ||
        !S_ISREG(info.st_mode))
        return 0;
    return at + (off_t)bytes <= info.st_size || ftruncate(fd, at + (off_t)bytes) == 0;
}

/* This function stands for write() and pwrite() in all of this program. */
ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || !leaves_hole(fd, data, bytes, at)) return __real_write(fd, data, bytes);
    return lseek(fd, at + (off_t)bytes, SEEK_SET) < 0 ? -1 : (ssize_t)bytes;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    return leaves_hole(fd, data, bytes, at) ? (ssize_t)bytes : __real_pwrite(fd, data, bytes, at);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gls_last_error());
    exit(1);
}

/* Marks by which a streamline is recognised: its number, as two floats that hold it exactly. */
static void mark(float point[3], uint64_t number)
{
    point[0] = (float)(number >> 16);
    point[1] = (float)(number & 0xffff);
}

typedef struct expected {
    uint64_t streamlines, points, each; /* points of every streamline */
    uint64_t marked;                    /* every so many-th streamline has its mark in its last point */
    uint64_t n, n_points;
} expected;

static gls_status check(void *user, const gls_streamlines *s)
{
    expected *e = user;
    for (size_t i = 0; i < s->n; i++, e->n++) {
        float want[3] = {0};
        uint64_t n = s->offset[i + 1] - s->offset[i];
        e->n_points += n;
        if (n != e->each)
            return fprintf(stderr, "streamline %" PRIu64 " has %" PRIu64 " points\n", e->n, n), GLS_ERR_INPUT;
        if (e->n % e->marked != 0) continue;
        mark(want, e->n);
        const float *p = s->point[s->offset[i + 1] - 1];
        for (int a = 0; a < 3; a++)
            if (p[a] - want[a] > 0.01f || want[a] - p[a] > 0.01f)
                return fprintf(stderr, "streamline %" PRIu64 " is another\n", e->n), GLS_ERR_INPUT;
    }
    return GLS_OK;
}

static void write_all(const char *path, gls_tractogram_format format, const expected *e)
{
    static const double affine[3][4] = {{1, 0, 0, 0.5}, {0, 1, 0, 0.5}, {0, 0, 1, 0.5}};
    gls_grid grid;
    gls_tractogram_writer *writer;
    size_t each = e->each > 1000 ? 1 : EACH;
    uint64_t *offset = malloc((each + 1) * sizeof *offset);
    float(*point)[3] = calloc(each * e->each, sizeof *point);
    if (!offset || !point || gls_grid_init(&grid, (const int32_t[3]){100, 100, 100}, affine) != GLS_OK) abort();
    for (size_t i = 0; i <= each; i++) offset[i] = i * e->each;
    gls_tractogram_options options = gls_tractogram_options_default();
    options.overwrite = true;
    if (gls_tractogram_writer_create(path, format, &grid, &options, &writer) != GLS_OK) stop(path);
    for (uint64_t first = 0; first < e->streamlines; first += each) {
        gls_streamlines s = {.n = each, .offset = offset, .point = (const float(*)[3])point};
        if (s.n > e->streamlines - first) s.n = (size_t)(e->streamlines - first);
        for (size_t i = 0; i < s.n; i++)
            if ((first + i) % e->marked == 0) mark(point[offset[i + 1] - 1], first + i);
        if (gls_tractogram_writer_append(writer, &s) != GLS_OK) stop(path);
        for (size_t i = 0; i < s.n; i++) memset(point[offset[i + 1] - 1], 0, sizeof *point);
    }
    if (gls_tractogram_writer_finish(writer) != GLS_OK) stop(path);
    free(offset);
    free(point);
}

static void read_all(const char *path, expected *e)
{
    gls_tractogram_reader *reader;
    gls_sink sink = {.append = check, .user = e};
    if (gls_tractogram_reader_open(path, NULL, &reader) != GLS_OK) stop(path);
    if (gls_tractogram_pump(reader, &sink, NULL, NULL) != GLS_OK) stop(path);
    gls_tractogram_reader_close(reader);
    if (e->n == e->streamlines && e->n_points == e->points) return;
    fprintf(stderr, "%s: %" PRIu64 " streamlines, %" PRIu64 " points\n", path, e->n, e->n_points);
    exit(1);
}

int main(int argc, char **argv)
{
    static const char *const suffixes[] = {"trx", "trk", "tck"};
    if (argc < 2) return fprintf(stderr, "large WORK_FOLDER [STREAMLINES [POINTS]]\n"), 2;
    uint64_t streamlines = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000,
             points = argc > 3 ? strtoull(argv[3], NULL, 10) : 5000000000;
    for (int format = 0; format < 3; format++)
        for (int kind = 0; kind < 2; kind++) {
            char path[4096];
            struct stat info;
            expected e = {.streamlines = streamlines, .each = 2, .marked = 100003};
            if (kind == 1) e = (expected){.streamlines = points / LONG_POINTS, .each = LONG_POINTS, .marked = 7};
            e.points = e.streamlines * e.each;
            snprintf(path, sizeof path, "%s/large.%s", argv[1], suffixes[format]);
            double start = now();
            write_all(path, (gls_tractogram_format)format, &e);
            double written = now();
            if (stat(path, &info) != 0) return 1;
            read_all(path, &e);
            printf("%s: %" PRIu64 " streamlines, %" PRIu64
                   " points, %.1f GB (%.1f GB on the disk): written in %.0f s, read in %.0f s\n",
                   suffixes[format], e.n, e.n_points, (double)info.st_size / 1e9, (double)info.st_blocks * 512 / 1e9,
                   written - start, now() - written);
            fflush(stdout);
            unlink(path);
        }
    return 0;
}
