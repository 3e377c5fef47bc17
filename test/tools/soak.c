/* Runs of the library in one process, one behind the other, for so many minutes: memory must not grow from run to run,
 * not by a hundred bytes. By hand. A line a minute, and one for each run in WORK_FOLDER/soak.tsv; exit code 1 if memory
 * grew. 0 minutes: judges the soak.tsv that is there.
 *
 * The same cycle of kinds of runs comes again and again, and after each run sizes are taken:
 *   own         bytes that the library's own calls of malloc() and the like hold (the linker wraps the calls, so that a
 *               driver's are not among them): what a kind leaves behind may not grow at all
 *   allocated   bytes that malloc() has given out to anyone. Mesa loses some each time that a display is opened and
 *               closed: what that is, is measured without the library, and taken off for each display that it opened
 *   anonymous   memory of the process that is no file's. malloc_trim() is not called before: it gives back whole pages
 * of the heap's free memory, after which every small block that the driver loses there is seen as a page The driver
 * keeps more after one kind than after another, and the last two swing. They are compared with the same kind in other
 * cycles only: the median of all slopes between two cycles (Theil, Sen), which single runs do not move, and Kendall's
 * tau, the share of pairs that rise less that of those that fall: near 1 for a leak, however slow, and near 0 for what
 * comes and goes. Both have to be above a limit to call it growth. SOAK_LEAK=BYTES: so much is lost on purpose in each
 * run, as a test of the test; SOAK_LEAK_FOREIGN likewise, past the wrapped calls, as a driver would; SOAK_LEAK_MAP, by
 * mmap(), as a compiler in the driver would. */
#include <glslines/density.h>
#include <glslines/glslines.h>

#include <epoxy/egl.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KINDS 26
#define SIDE 24 /* voxels of the phantom */
#define MAX_CYCLES 1000
/* Growth is more than so many bytes a run of all that malloc() gives, of anonymous memory, and so much of a trend. */
#define LIMIT_ALLOCATED 50.0
#define LIMIT_ANONYMOUS 1024.0
#define LIMIT_TAU 0.5

/* --- the library's own memory ---------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
void __wrap_free(void *p);

/* Notes which blocks are held, so that a block that another library made and this one frees is recognised. */
static struct {
    pthread_mutex_t lock;
    const void **block; /* 2^bits places, open addressing */
    size_t *bytes;
    unsigned bits;
    size_t n, total;
    uint64_t taken; /* ever */
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t place_of(const void *p)
{
    return (size_t)(((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u) >> (64 - held.bits));
}

static void hold(void *p, size_t bytes);

static void make_room(void)
{
    const void **block = held.block;
    size_t *bytes = held.bytes, places = block ? (size_t)1 << held.bits : 0;
    if (held.n * 2 < places) return;
    held.bits = block ? held.bits + 1 : 12;
    held.block = __real_calloc((size_t)1 << held.bits, sizeof *held.block);
    held.bytes = __real_calloc((size_t)1 << held.bits, sizeof *held.bytes);
    if (!held.block || !held.bytes) abort();
    held.n = held.total = 0;
    for (size_t i = 0; i < places; i++)
        if (block[i]) hold((void *)(uintptr_t)block[i], bytes[i]);
    __real_free(block);
    __real_free(bytes);
}

static void hold(void *p, size_t bytes)
{
    size_t mask = ((size_t)1 << held.bits) - 1, i = place_of(p);
    while (held.block[i]) i = (i + 1) & mask;
    held.block[i] = p;
    held.bytes[i] = bytes;
    held.n++;
    held.total += bytes;
}

static void release(const void *p)
{
    size_t mask = ((size_t)1 << held.bits) - 1, i = place_of(p);
    while (held.block[i] && held.block[i] != p) i = (i + 1) & mask;
    if (!held.block[i]) return;
    held.n--;
    held.total -= held.bytes[i];
    held.block[i] = NULL;
    for (size_t k = (i + 1) & mask; held.block[k]; k = (k + 1) & mask) { /* those behind move up */
        size_t home = place_of(held.block[k]);
        if (((k - home) & mask) < ((k - i) & mask)) continue;
        held.block[i] = held.block[k];
        held.bytes[i] = held.bytes[k];
        held.block[k] = NULL;
        i = k;
    }
}

static void *note(void *p, size_t bytes)
{
    if (!p) return p;
    pthread_mutex_lock(&held.lock);
    make_room();
    hold(p, bytes);
    held.taken++;
    pthread_mutex_unlock(&held.lock);
    return p;
}

static void forget(const void *p)
{
    if (!p) return;
    pthread_mutex_lock(&held.lock);
    if (held.block) release(p);
    pthread_mutex_unlock(&held.lock);
}

void *__wrap_malloc(size_t bytes)
{
    return note(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return note(__real_calloc(n, bytes), n * bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    forget(p); /* before another thread gets the block */
    void *made = __real_realloc(p, bytes);
    if (!made && bytes) note(p, 0);
    return note(made, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return note(__real_aligned_alloc(alignment, bytes), bytes);
}

char *__wrap_strdup(const char *text)
{
    return note(__real_strdup(text), strlen(text) + 1);
}

char *__wrap_strndup(const char *text, size_t n)
{
    char *copy = __real_strndup(text, n);
    return note(copy, copy ? strlen(copy) + 1 : 0);
}

void __wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

/* --- displays -------------------------------------------------------------- */

static uint64_t displays; /* that the library opened */
static PFNEGLINITIALIZEPROC initialize;

static EGLBoolean count_display(EGLDisplay display, EGLint *major, EGLint *minor)
{
    displays++;
    return initialize(display, major, minor);
}

static void watch_displays(void)
{
    (void)eglInitialize(EGL_NO_DISPLAY, NULL, NULL); /* finds the function */
    initialize = epoxy_eglInitialize;
    epoxy_eglInitialize = count_display;
}

static size_t allocated_now(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* Returns the bytes that the driver itself loses for each display that is opened and closed, once its caches are full.
 */
static double lost_for_display(void)
{
    enum { FILL = 800, COUNTED = 200 };
    size_t before = 0;
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) return 0;
    for (int i = 0; i < FILL + COUNTED; i++) {
        if (i == FILL) before = allocated_now();
        EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        if (!initialize(display, NULL, NULL)) return 0;
        eglTerminate(display);
        eglReleaseThread();
    }
    return ((double)allocated_now() - (double)before) / COUNTED;
}

/* --- runs ------------------------------------------------------------------ */

static void need(gls_status status)
{
    if (status != GLS_OK) fprintf(stderr, "%s\n", gls_last_error()), exit(2);
}

static char *name_in(const char *folder, const char *name)
{
    static char made[8][4200];
    static int n;
    n = (n + 1) % 8;
    snprintf(made[n], sizeof made[n], "%s/%s", folder, name);
    return made[n];
}

/* Makes the inputs of all runs: a small phantom, its FODs, a tractogram. */
static void prepare(const char *folder)
{
    gls_phantom *phantom;
    gls_phantom_params p = gls_phantom_params_default();
    for (int a = 0; a < 3; a++) p.shape[a] = SIDE;
    p.n_directions = 30;
    need(gls_phantom_create(&p, &phantom));
    need(gls_phantom_write(phantom, folder, GLS_EXISTING_REPLACE));
    gls_phantom_destroy(phantom);
    gls_image *labels;
    need(gls_image_read(name_in(folder, "mask.nii.gz"), GLS_IMAGE_3D, &labels));
    for (size_t v = 0; v < gls_grid_voxels(&labels->grid); v++)
        labels->data[v] *= (float)(1 + v / SIDE % SIDE / 8 + 3 * (v / SIDE / SIDE / 12));
    need(gls_image_write(name_in(folder, "labels.nii.gz"), labels, GLS_IMAGE_UINT8));
    gls_image_destroy(labels);
    gls_fit_options fit = gls_fit_options_default();
    fit.dwi = name_in(folder, "dwi.nii.gz");
    fit.mask = name_in(folder, "mask.nii.gz");
    fit.prefix = name_in(folder, "s");
    fit.model.sh_order = 4;
    fit.model.sh_basis = GLS_SH_TOURNIER07;
    fit.force = true;
    need(gls_fit_files(&fit, NULL));
}

/* Tracks in many ways; every tenth run fails. */
static void track(const char *folder, unsigned kind)
{
    static const char *const suffixes[] = {"a.trx", "a.trk", "a.tck"};
    char connectome[8500];
    bool fails = kind % 10 == 9;
    gls_job_options o = gls_job_options_default();
    o.dwi = name_in(folder, "dwi.nii.gz");
    o.mask = name_in(folder, "mask.nii.gz");
    o.roi = name_in(folder, "roi.nii.gz");
    o.output = name_in(fails ? "/nonexistent" : folder, suffixes[kind % 3]);
    o.force = true;
    o.sphere = "small";
    o.nseeds = 200 + 37 * (kind % 11);
    o.track.rng_seed = kind;
    o.track.batch_seeds = kind % 2 ? 100 : 0;
    o.track.dg = kind % 4 == 0 ? GLS_DG_BOOT : kind % 4 == 1 ? GLS_DG_PROB : kind % 4 == 2 ? GLS_DG_DET : GLS_DG_PTT;
    o.model.model = o.track.dg == GLS_DG_PTT ? GLS_MODEL_CSD : GLS_MODEL_CSA;
    o.ngpus = kind % 5 == 4 ? 2 : 1;
    o.resume = kind % 6 == 5;
    o.weights = kind % 8 == 3;
    snprintf(connectome, sizeof connectome, "%s/labels.nii.gz:%s/c.csv", folder, folder);
    if (kind % 8 == 3 || kind % 8 == 6) o.connectome = (gls_strings){.value = {connectome}, .n = 1};
    if (kind % 3 == 0) o.density = name_in(folder, "d.nii.gz");
    gls_status status = gls_track_files(&o, NULL, NULL);
    if ((status == GLS_OK) != fails) return;
    fprintf(stderr, "kind %u: %s\n", kind, fails ? "no failure" : gls_last_error());
    exit(2);
}

/* Makes a map of a tractogram. */
static void map(const char *folder, const gls_grid *grid)
{
    gls_density *density;
    gls_tractogram_reader *reader;
    gls_density_options options = gls_density_options_default();
    options.stat = GLS_DENSITY_MEAN;
    options.value = GLS_DENSITY_MM;
    need(gls_density_create(grid, &options, &density));
    gls_sink sink = gls_density_sink(density);
    need(gls_tractogram_reader_open(name_in(folder, "a.tck"), NULL, &reader));
    need(gls_tractogram_pump(reader, &sink, NULL, NULL));
    gls_tractogram_reader_close(reader);
    need(gls_density_write(density, name_in(folder, "d.nii.gz")));
    gls_density_destroy(density);
}

/* Computes weights of a tractogram, mapped and solved by a device or the CPU; then a map of the same tractogram. */
static void weigh(const char *folder, bool on_device)
{
    gls_image *sh;
    gls_fixels *fixels;
    gls_weights *weights;
    gls_device *device = NULL;
    gls_tractogram_reader *reader;
    need(gls_image_read(name_in(folder, "s_sh.nii.gz"), GLS_IMAGE_ANY, &sh));
    need(gls_fixels_create(sh, "s_sh.nii.gz", NULL, NULL, &fixels));
    need(gls_weights_create(fixels, NULL, &weights));
    need(gls_weights_set_walk(weights, gls_weights_upsampling(0.5, gls_fixels_grid(fixels)), GLS_WALK_CURVE));
    if (on_device) need(gls_device_open(NULL, GLS_GRAPHICS_AUTO, &device));
    if (on_device) need(gls_weights_set_devices(weights, &device, 1));
    gls_sink sink = gls_weights_sink(weights);
    need(gls_tractogram_reader_open(name_in(folder, "a.tck"), NULL, &reader));
    need(gls_tractogram_pump(reader, &sink, NULL, NULL));
    gls_tractogram_reader_close(reader);
    need(gls_weights_solve(weights, &device, on_device, NULL, NULL));
    gls_weights_destroy(weights);
    if (device) gls_device_close(device);
    map(folder, gls_fixels_grid(fixels));
    gls_fixels_destroy(fixels);
    gls_image_destroy(sh);
}

/* --- verdict --------------------------------------------------------------- */

enum { OWN, ALLOCATED, ANONYMOUS, DESCRIPTORS, DISPLAYS, SIZES };
static double seen[SIZES][MAX_CYCLES][KINDS];

static void look(uint64_t cycle, unsigned kind)
{
    char line[256], path[64];
    seen[OWN][cycle][kind] = (double)held.total;
    seen[ALLOCATED][cycle][kind] = (double)allocated_now();
    seen[DISPLAYS][cycle][kind] = (double)displays;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) abort();
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0) seen[ANONYMOUS][cycle][kind] = 1024 * atof(line + 8);
    fclose(file);
    for (int fd = 0; fd < 1000; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        seen[DESCRIPTORS][cycle][kind] += access(path, F_OK) == 0;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns for a size, over the cycles from..n-1, the median slope in bytes per run, and tau. */
static double trend(double size[][KINDS], uint64_t from, uint64_t n, double *tau)
{
    uint64_t cycles = n - from, pairs = 0;
    double *slope = __real_malloc(KINDS * cycles * cycles / 2 * sizeof *slope), rising = 0;
    if (!slope) abort();
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (uint64_t i = from; i < n; i++)
            for (uint64_t k = i + 1; k < n; k++) {
                double change = size[k][kind] - size[i][kind];
                rising += (change > 0) - (change < 0);
                slope[pairs++] = change / (double)((k - i) * KINDS);
            }
    qsort(slope, pairs, sizeof *slope, compare);
    double median = slope[pairs / 2];
    __real_free(slope);
    *tau = rising / (double)pairs;
    return median;
}

/* Judges cycles 0..n-1, which are complete. The first fifth fills caches. */
static bool judge(uint64_t n)
{
    uint64_t from = n / 5 > 1 ? n / 5 : 1;
    double lost = lost_for_display(), a_run = 0;
    for (uint64_t cycle = 0; cycle < n; cycle++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            seen[ALLOCATED][cycle][kind] -= lost * seen[DISPLAYS][cycle][kind];
    a_run = lost * (seen[DISPLAYS][n - 1][KINDS - 1] - seen[DISPLAYS][0][KINDS - 1]) / (double)((n - 1) * KINDS);
    double tau[2], slope[2] = {trend(seen[ALLOCATED], from, n, &tau[0]), trend(seen[ANONYMOUS], from, n, &tau[1])};
    double own = 0, descriptors = 0;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        own = fmax(own, seen[OWN][n - 1][kind] - seen[OWN][from][kind]);
        descriptors = fmax(descriptors, seen[DESCRIPTORS][n - 1][kind] - seen[DESCRIPTORS][from][kind]);
    }
    bool grew = own > 0 || descriptors > 0 || (slope[0] > LIMIT_ALLOCATED && tau[0] > LIMIT_TAU) ||
                (slope[1] > LIMIT_ANONYMOUS && tau[1] > LIMIT_TAU);
    printf("cycles %llu to %llu: own memory %+.0f bytes, descriptors %+.0f; bytes a run: allocated %+.1f (tau %+.2f) "
           "besides %.1f of the driver's displays, anonymous %+.0f (tau %+.2f)%s\n",
           (unsigned long long)from, (unsigned long long)n - 1, own, descriptors, slope[0], tau[0], a_run, slope[1],
           tau[1], grew ? ": GREW" : "");
    return grew;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t amount(const char *variable)
{
    const char *text = getenv(variable);
    return text ? (size_t)strtoull(text, NULL, 10) : 0;
}

static void lose_mapping(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    memset(p, 1, bytes);
}

/* Reads the complete cycles of a file. */
static uint64_t read_series(const char *path)
{
    char line[256];
    uint64_t runs = 0;
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file)) perror(path), exit(2);
    for (; runs < MAX_CYCLES * KINDS && fgets(line, sizeof line, file); runs++) {
        double value[SIZES];
        unsigned kind;
        if (sscanf(line, "%u %lf %lf %lf %lf %lf", &kind, &value[OWN], &value[ALLOCATED], &value[ANONYMOUS],
                   &value[DESCRIPTORS], &value[DISPLAYS]) != 6 ||
            kind != runs % KINDS)
            fprintf(stderr, "%s: run %llu is not one\n", path, (unsigned long long)runs), exit(2);
        for (int k = 0; k < SIZES; k++) seen[k][runs / KINDS][kind] = value[k];
    }
    fclose(file);
    if (runs / KINDS < 6) fprintf(stderr, "too few runs: six cycles of %d are needed\n", KINDS), exit(2);
    return runs / KINDS;
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "soak WORK_FOLDER MINUTES\n"), 2;
    size_t leak = amount("SOAK_LEAK"), foreign = amount("SOAK_LEAK_FOREIGN"), map = amount("SOAK_LEAK_MAP");
    double start = now(), minutes = atof(argv[2]), told = 0;
    uint64_t runs = 0;
    watch_displays();
    if (minutes == 0) return judge(read_series(name_in(argv[1], "soak.tsv")));
    mallopt(M_ARENA_MAX, 1); /* else blocks that a thread frees stay in an arena of their own */
    prepare(argv[1]);
    FILE *series = fopen(name_in(argv[1], "soak.tsv"), "w");
    if (!series) return perror("soak.tsv"), 2;
    fprintf(series, "kind\town\tallocated\tanonymous\tdescriptors\tdisplays\n");
    for (; (now() - start < 60 * minutes || runs % KINDS != 0) && runs < MAX_CYCLES * KINDS; runs++) {
        unsigned kind = runs % KINDS;
        uint64_t cycle = runs / KINDS;
        if (kind < 24)
            track(argv[1], kind);
        else
            weigh(argv[1], kind == 25);
        if (leak) memset(malloc(leak), 1, leak);
        if (foreign) memset(__real_malloc(foreign), 1, foreign);
        if (map) lose_mapping(map);
        look(cycle, kind);
        fprintf(series, "%u\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", kind, seen[OWN][cycle][kind],
                seen[ALLOCATED][cycle][kind], seen[ANONYMOUS][cycle][kind], seen[DESCRIPTORS][cycle][kind],
                seen[DISPLAYS][cycle][kind]);
        fflush(series);
        if (now() - start < told) continue;
        printf("%3.0f min, %llu runs: own %.0f bytes, allocated %.3f MB, anonymous %.1f MB, %.0f descriptors\n",
               (now() - start) / 60, (unsigned long long)runs + 1, seen[OWN][cycle][kind],
               seen[ALLOCATED][cycle][kind] / 1e6, seen[ANONYMOUS][cycle][kind] / 1e6, seen[DESCRIPTORS][cycle][kind]);
        fflush(stdout);
        told += 60;
    }
    if (runs / KINDS < 6) return fprintf(stderr, "too few runs: six cycles of %d are needed\n", KINDS), 2;
    fclose(series);
    printf("%llu runs in %.0f minutes, %llu blocks were the library's\n", (unsigned long long)runs,
           (now() - start) / 60, (unsigned long long)held.taken);
    return judge(runs / KINDS);
}
