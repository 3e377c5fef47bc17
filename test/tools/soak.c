/* Runs of tracking in one process, one behind the other, for so many minutes: memory must not grow from run to run. By
 * hand. Usage: soak WORK_FOLDER MINUTES [DWI BVAL BVEC MASK ROI]; without files the built-in phantom is tracked. A line
 * a minute; exit code 1 if memory grew. */
#include <glslines/glslines.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_MINUTES 1000
/* What may come and go between two looks: arenas of threads, caches of the driver. */
#define SLACK_MB 24.0

typedef struct state {
    double resident, used; /* MB, of the process and of what malloc() has given out */
    int descriptors;
} state;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static state look(void)
{
    long pages = 0;
    char path[64];
    state s = {.descriptors = 0};
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) abort();
    fclose(file);
    struct mallinfo2 m = mallinfo2();
    s.resident = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
    s.used = (double)(m.uordblks + m.hblkhd) / 1e6;
    for (int fd = 0; fd < 1000; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        s.descriptors += access(path, F_OK) == 0;
    }
    return s;
}

/* One run of many kinds; every tenth fails. */
static void track(const char *folder, char **files, uint64_t number)
{
    static const char *const suffixes[] = {"trx", "trk", "tck"};
    char output[4096], density[4200];
    gls_job_options o = gls_job_options_default();
    if (files) {
        o.dwi = files[0];
        o.bval = files[1];
        o.bvec = files[2];
        o.mask = files[3];
        o.roi = files[4];
    } else {
        o.phantom = true;
    }
    snprintf(output, sizeof output, "%s/%s.%s", folder, number % 10 == 9 ? "absent/a" : "a", suffixes[number % 3]);
    snprintf(density, sizeof density, "%s/d.nii.gz", folder);
    o.output = output;
    o.force = true;
    o.sphere = "small";
    o.nseeds = 200 + 37 * (number % 11);
    o.track.rng_seed = number;
    o.track.batch_seeds = number % 2 ? 100 : 0;
    o.track.dg = number % 4 == 0   ? GLS_DG_BOOT
                 : number % 4 == 1 ? GLS_DG_PROB
                 : number % 4 == 2 ? GLS_DG_DET
                                   : GLS_DG_PTT;
    o.model.model = o.track.dg == GLS_DG_PTT ? GLS_MODEL_CSD : GLS_MODEL_CSA;
    o.ngpus = number % 5 == 4 ? 2 : 1;
    o.resume = number % 6 == 5;
    if (number % 3 == 0) o.density = density;
    gls_status status = gls_track_files(&o, NULL, NULL);
    if ((status == GLS_OK) != (number % 10 != 9)) {
        fprintf(stderr, "run %llu: %s\n", (unsigned long long)number,
                status == GLS_OK ? "no failure" : gls_last_error());
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static state seen[MAX_MINUTES];
    if (argc != 3 && argc != 8) return fprintf(stderr, "soak WORK_FOLDER MINUTES [DWI BVAL BVEC MASK ROI]\n"), 2;
    int minutes = atoi(argv[2]), n = 0;
    double start = now();
    uint64_t runs = 0;
    if (minutes < 4 || minutes >= MAX_MINUTES) return fprintf(stderr, "4 to %d minutes\n", MAX_MINUTES - 1), 2;
    while (now() - start < 60.0 * minutes) {
        track(argv[1], argc == 8 ? argv + 3 : NULL, runs++);
        if (now() - start < 60.0 * (n + 1) || runs < 60) continue;
        seen[n] = look();
        printf("%3.0f min, %llu runs: resident %.1f MB, allocated %.1f MB, %d descriptors\n", (now() - start) / 60,
               (unsigned long long)runs, seen[n].resident, seen[n].used, seen[n].descriptors);
        fflush(stdout);
        n++;
    }
    if (n < 3) return fprintf(stderr, "too few runs\n"), 2;
    /* what a run leaves to the driver depends on its kind, and memory swings with it: the extremes of the last third
     * against those of the first */
    state low[2], high[2];
    for (int part = 0; part < 2; part++) {
        int from = part ? n - (n + 2) / 3 : 0;
        low[part] = high[part] = seen[from];
        for (int i = from; i < from + (n + 2) / 3; i++) {
            low[part].resident = fmin(low[part].resident, seen[i].resident);
            low[part].used = fmin(low[part].used, seen[i].used);
            high[part].resident = fmax(high[part].resident, seen[i].resident);
            high[part].descriptors =
                seen[i].descriptors > high[part].descriptors ? seen[i].descriptors : high[part].descriptors;
        }
    }
    bool grew = low[1].resident > low[0].resident + SLACK_MB || high[1].resident > high[0].resident + SLACK_MB ||
                low[1].used > low[0].used + SLACK_MB / 4 || high[1].descriptors > high[0].descriptors;
    printf("%llu runs in %.0f minutes: resident %.1f to %.1f MB at first, %.1f to %.1f MB at last, allocated %+.1f MB, "
           "%+d descriptors%s\n",
           (unsigned long long)runs, (now() - start) / 60, low[0].resident, high[0].resident, low[1].resident,
           high[1].resident, low[1].used - low[0].used, high[1].descriptors - high[0].descriptors,
           grew ? ": GREW" : "");
    return grew;
}
