/* How fast tractograms are written, beside plain writes of the same bytes to the same folder: parcels as the tracker
 * sends them, of points that are made once, so that the writer alone is measured. By hand.
 * Usage: writer_speed FOLDER [GB [REPETITIONS [beside]]]
 * beside: another thread shares out work all the time, as the tracker does. Threads: as OMP_NUM_THREADS says. */
#include <glslines/tractogram.h>

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tractogram/writers.h"
#include "util/threads.h"

/* Number of streamlines in a batch, and number of batches that take turns. */
enum { LINES = 56000, PARCELS = 2, PLAIN_BYTES = 16 << 20, MOST_TIMES = 32 };

typedef struct parcel {
    gls_streamlines lines;
    size_t bytes; /* of the points */
} parcel;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gls_last_error());
    exit(1);
}

static void *large(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!memory) stop("out of memory");
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Makes random walks of 2 to 158 points, as long as streamlines of a brain. */
static parcel make_parcel(uint32_t seed)
{
    uint64_t *offset = malloc((LINES + 1) * sizeof *offset), n = 0;
    static const char *names[] = {GLS_DPS_SEEDS, GLS_DPS_SEED_INDEX};
    uint32_t *index = malloc(LINES * sizeof *index), state = seed;
    float(*start)[3] = malloc(LINES * sizeof *start);
    gls_column *dps = calloc(2, sizeof *dps);
    if (!offset || !index || !start || !dps) stop("out of memory");
    for (size_t i = 0; i < LINES; i++) {
        state = state * 1664525u + 1013904223u;
        offset[i] = n;
        n += 2 + (state >> 16) % 157;
        index[i] = (uint32_t)i;
    }
    offset[LINES] = n;
    float(*point)[3] = large(n * sizeof *point), *p = point[0];
    for (uint64_t i = 0; i < 3 * n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(state >> 8) * 1e-5f - 80.0f;
    }
    for (size_t i = 0; i < LINES; i++) memcpy(start[i], point[offset[i]], sizeof *start);
    dps[0] = (gls_column){names[0], GLS_TYPE_FLOAT32, 3, start};
    dps[1] = (gls_column){names[1], GLS_TYPE_UINT32, 1, index};
    return (parcel){{.n = LINES, .offset = offset, .point = (const float(*)[3])point, .n_dps = 2, .dps = dps},
                    n * sizeof *point};
}

/* --- plain writes ---------------------------------------------------------- */

typedef struct plain {
    int fd, n_threads, thread;
    uint64_t bytes;
    const unsigned char *data; /* Writes PLAIN_BYTES at a time, one block behind the other. */
    size_t n_data;
} plain;

static void *write_plain(void *user)
{
    const plain *p = user;
    for (uint64_t at = (uint64_t)p->thread * PLAIN_BYTES; at < p->bytes; at += (uint64_t)p->n_threads * PLAIN_BYTES) {
        size_t n = p->bytes - at < PLAIN_BYTES ? (size_t)(p->bytes - at) : PLAIN_BYTES;
        for (size_t done = 0; done < n;) {
            const unsigned char *data = p->data + at / PLAIN_BYTES % p->n_data * PLAIN_BYTES;
            ssize_t m = pwrite(p->fd, data + done, n - done, (off_t)(at + done));
            if (m <= 0) exit((perror("pwrite"), 1));
            done += (size_t)m;
        }
    }
    return NULL;
}

/* Writes from one block of memory, which stays in the cache, or from a batch. */
static double time_plain(const char *folder, uint64_t bytes, int n_threads, const parcel *from)
{
    plain p[GLS_PIECE_THREADS];
    pthread_t thread[GLS_PIECE_THREADS];
    static unsigned char *data[GLS_PIECE_THREADS];
    char path[4096];
    snprintf(path, sizeof path, "%s/plain", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) exit((perror(path), 1));
    for (int i = 0; i < n_threads; i++) {
        if (!data[i]) memset(data[i] = large(PLAIN_BYTES), 1, PLAIN_BYTES);
        p[i] = (plain){fd, n_threads, i, bytes, data[i], 1};
        if (from) p[i].data = (const unsigned char *)from->lines.point;
        if (from) p[i].n_data = from->bytes / PLAIN_BYTES;
    }
    double start = now();
    for (int i = 1; i < n_threads; i++)
        if (pthread_create(&thread[i], NULL, write_plain, &p[i]) != 0) stop("a thread");
    write_plain(&p[0]);
    for (int i = 1; i < n_threads; i++) pthread_join(thread[i], NULL);
    (void)fsync(fd);
    double seconds = now() - start;
    close(fd);
    unlink(path);
    return seconds;
}

/* --- the writer ------------------------------------------------------------ */

static double time_writer(const char *folder, const char *suffix, gls_precision precision, const parcel *parcels,
                          uint64_t bytes, uint64_t *file_bytes, double *finishing)
{
    static const double affine[3][4] = {{2, 0, 0, -80}, {0, 2, 0, -80}, {0, 0, 2, -80}};
    char path[4096];
    gls_grid grid;
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    struct stat info;
    gls_tractogram_options options = gls_tractogram_options_default();
    options.overwrite = true;
    options.precision = precision;
    snprintf(path, sizeof path, "%s/writer.%s", folder, suffix);
    if (gls_grid_init(&grid, (const int32_t[3]){81, 106, 76}, affine) != GLS_OK ||
        gls_tractogram_format_parse(path, &format) != GLS_OK ||
        gls_tractogram_writer_create(path, format, &grid, &options, &writer) != GLS_OK)
        stop(path);
    double start = now();
    for (uint64_t done = 0, i = 0; done < bytes; i++) {
        const parcel *p = &parcels[i % PARCELS];
        if (gls_tractogram_writer_append(writer, &p->lines) != GLS_OK) stop(path);
        done += p->bytes;
    }
    *finishing = now() - start;
    if (gls_tractogram_writer_finish(writer) != GLS_OK) stop(path);
    double seconds = now() - start;
    *finishing = (seconds - *finishing) / seconds;
    if (stat(path, &info) != 0) exit(1);
    *file_bytes = (uint64_t)info.st_size;
    unlink(path);
    return seconds;
}

/* --- work beside ----------------------------------------------------------- */

static atomic_bool over;

static void spin(void *user, int thread, size_t from, size_t until)
{
    (void)user;
    (void)thread;
    double end = now() + 1e-5 * (double)(until - from);
    while (now() < end) {
    }
}

static void *share_out(void *user)
{
    (void)user;
    while (!atomic_load(&over)) {
        gls_parallel(64, 4, omp_get_max_threads(), spin, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
    }
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *suffix;
        gls_precision precision;
    } kinds[] = {{"plain, 1 thread", NULL, 0},
                 {"plain, threads of the writer", NULL, 0},
                 {"plain, 1 thread, of a parcel", NULL, 0},
                 {"TRX", "trx", GLS_PRECISION_FLOAT},
                 {"TRK", "trk", GLS_PRECISION_FLOAT},
                 {"TCK", "tck", GLS_PRECISION_FLOAT},
                 {"TRX, half precision", "trx", GLS_PRECISION_HALF}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static double rate[KINDS][MOST_TIMES], busy[KINDS], finishing[KINDS];
    if (argc < 2) return fprintf(stderr, "writer_speed FOLDER [GB [REPETITIONS [beside]]]\n"), 2;
    const uint64_t bytes = (uint64_t)((argc > 2 ? atof(argv[2]) : 4) * 1e9);
    int times = argc > 3 ? atoi(argv[3]) : 3, threads = omp_get_max_threads() / 4;
    if (times < 1 || times > MOST_TIMES) return 2;
    threads = threads < 1 ? 1 : threads > GLS_PIECE_THREADS ? GLS_PIECE_THREADS : threads;
    pthread_t other;
    bool beside = argc > 4 && strcmp(argv[4], "beside") == 0;
    parcel parcels[PARCELS];
    for (uint32_t i = 0; i < PARCELS; i++) parcels[i] = make_parcel(i + 1);
    if (beside && pthread_create(&other, NULL, share_out, NULL) != 0) return 1;
    /* this round does not count, because memory that the machine has not touched before comes more slowly */
    time_plain(argv[1], bytes + bytes / 8, 1, NULL);
    for (int t = 0; t < times; t++)
        for (int k = 0; k < KINDS; k++) {
            uint64_t written = bytes;
            double part = 0, cpu = cpu_seconds(),
                   seconds =
                       !kinds[k].suffix
                           ? time_plain(argv[1], bytes, k == 1 ? threads : 1, k == 2 ? parcels : NULL)
                           : time_writer(argv[1], kinds[k].suffix, kinds[k].precision, parcels, bytes, &written, &part);
            rate[k][t] = (double)written / seconds;
            finishing[k] += part / times;
            busy[k] += (cpu_seconds() - cpu) / times / ((double)written * 1e-9);
        }
    atomic_store(&over, true);
    if (beside) pthread_join(other, NULL);
    printf(
        "GB/s, median of %d [least .. largest], part of plain writes by one thread, CPU seconds for a GB, part of the "
        "time behind the last streamline\n",
        times);
    double plain = 0;
    for (int k = 0; k < KINDS; k++) {
        qsort(rate[k], (size_t)times, sizeof rate[k][0], ascending);
        double median = rate[k][times / 2];
        if (k == 0) plain = median;
        printf("%-30s %6.2f [%.2f .. %.2f] %5.2f %6.2f %5.2f\n", kinds[k].name, median * 1e-9, rate[k][0] * 1e-9,
               rate[k][times - 1] * 1e-9, median / plain, busy[k], finishing[k]);
    }
    return 0;
}
