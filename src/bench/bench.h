/* The measurements of `glslines bench`. */
#ifndef GLS_BENCH_H
#define GLS_BENCH_H

#include <time.h>

#include "bench/stats.h"
#include <glslines/glslines.h>

#include "track/engine/timed.h"
#include "util/status.h"
#include "workflow/study.h"

#define BENCH_MAX_REPEAT 100
#define BENCH_MAX_DEVICES 8
#define BENCH_MAX_COLUMNS 64
#define BENCH_GETTERS GLS_DG_COUNT
#define BENCH_MAPPINGS GLS_MAPPING_COUNT

/* What is measured. */
typedef struct bench_options {
    int shape[3];    /* voxels; 0: the usual size */
    uint64_t nseeds; /* 0: by device and getter */
    gls_model_options model;
    int dg[BENCH_GETTERS], n_dg;            /* gls_direction_getter */
    int mapping[BENCH_MAPPINGS], n_mapping; /* gls_mapping */
    const char *device[BENCH_MAX_DEVICES];
    int n_devices;
    gls_graphics api;
    gls_precision precision;
    gls_mask_stop mask_stop;
    bool no_write, no_ceilings;
    uint64_t chunk_size;
    int repeat;
    int argc; /* words of the command line, for the JSON */
    char **argv;
} bench_options;

/* Settles what is measured from lists with commas, shape "AxBxC" or NULL; then and later bench_options_finish(). */
gls_status bench_options_choose(bench_options *options, const char *shape, const char *getters, const char *mappings,
                                const char *devices);
void bench_options_finish(bench_options *options);

/* Times of one repetition, seconds of the host's clock. */
typedef enum bench_time {
    BENCH_INITIAL, /* pass 1 with its transfers */
    BENCH_SCAN,    /* prefix sum and what else the host does */
    BENCH_TRACK,   /* pass 2 with its transfers */
    BENCH_GATHER,
    BENCH_READBACK,
    BENCH_COMPUTE, /* the five above */
    BENCH_WAIT,    /* for the writer */
    BENCH_WRITE,   /* what the writer worked, on a thread of its own, and the completion of the file */
    BENCH_WHOLE,   /* from the first seed to the complete file */
    BENCH_TIMES
} bench_time;
extern const char *const bench_time_names[BENCH_TIMES];

typedef enum bench_plain { BENCH_PLAIN_ONE, BENCH_PLAIN_MANY, BENCH_PLAIN } bench_plain;

/* What a device reaches in small kernels that do one thing only. */
typedef struct bench_ceilings {
    bool measured;
    double copy_bytes; /* per second, read and written */
    double fma_flops;  /* per second, two for each multiply-add */
    double fetches;    /* trilinear samples of four half-precision channels per second */
} bench_ceilings;

typedef struct bench_device {
    gls_device *device;
    const gls_device_info *info;
    bench_ceilings ceilings;
} bench_device;

/* Work of one stored point, counted from the algorithm; see bench_work.c. */
typedef struct bench_work {
    double fetches;       /* trilinear samples of four channels */
    double fetched_bytes; /* of the eight texels of each */
    double flops;         /* two for each multiply-add */
} bench_work;

/* A model for one direction getter. */
typedef struct bench_model {
    gls_model model;
    gls_odf_source *odf;
    gls_image *peaks;   /* of getters that follow them */
    double seconds_fit; /* without FA */
} bench_model;

/* One getter on one device with one mapping. */
typedef struct bench_column {
    int dg, mapping, device; /* device: place in bench_run.device */
    uint64_t nseeds;
    gls_track_params params;
    gls_track_result result;
    uint64_t commissural;
    uint64_t file_bytes; /* 0: nothing written */
    /* Bytes per second of plain writes of as many to the same place, behind each repetition, by one thread and by as
     * many as the writer has; 0: not measured. */
    double plain[BENCH_PLAIN][BENCH_MAX_REPEAT];
    double kernel[GLS_ENGINE_TIMES]; /* seconds of the device, of a run beside the others */
    uint64_t host_bytes;             /* of the host for streamlines, at most */
    uint64_t device_bytes;           /* of the tracker */
    bench_work work;
    double seconds_fit, seconds_create;
    double seconds[BENCH_TIMES][BENCH_MAX_REPEAT];
    int n; /* repetitions */
} bench_column;

/* CPU seconds up to now, of this process with its children and of all; all: stolen time counts, too. */
typedef struct bench_busy {
    double clock, own, all;
    bool known;
} bench_busy;
bench_busy bench_busy_now(void);
/* CPUs that others kept busy meanwhile, on average; NAN where that is not known. */
double bench_busy_others(const bench_busy *from, const bench_busy *to);

typedef struct bench_run {
    const bench_options *options;
    const gls_monitor *monitor;
    gls_track_params params; /* of all columns but for getter and mapping; set with the data */
    gls_job_options job;     /* what track would take: the parameters of all columns */
    gls_study data;          /* phantom, masks, stop map, seeds, sphere */
    bench_device device[BENCH_MAX_DEVICES];
    bench_column column[BENCH_MAX_COLUMNS];
    int n_columns;
    uint64_t nseeds; /* for the fast getters */
    time_t started;
    bench_busy busy; /* at the start */
    gls_warnings warnings;
    double seconds_phantom, seconds_fa;
    char *directory; /* of temporary files; NULL: none */
} bench_run;

/* Measures everything. run is empty before and may be freed after bench_finish(). */
gls_status bench_measure_all(bench_run *run, const bench_options *options, const gls_monitor *monitor);
void bench_finish(bench_run *run);

/* Seeds of a column of this getter. */
uint64_t bench_seeds_for(const bench_run *run, int dg);
/* Phantom, FA, seeds and sphere. */
gls_status bench_data_make(bench_run *run);
/* The model of one direction getter, fitted as track does. */
gls_status bench_model_fit(bench_run *run, int dg, bench_model *model);
void bench_model_finish(bench_model *model);

/* Warms up, repeats, fills the column in. */
gls_status bench_measure(bench_run *run, const bench_model *model, bench_column *column);

gls_status bench_ceilings_measure(gls_device *device, bench_ceilings *ceilings);
/* Bytes per second of plain writes of 16 MiB each to a new file there, once. */
gls_status bench_plain_file(const char *directory, uint64_t bytes, int n_threads, double *rate);
bench_work bench_work_count(const bench_run *run, const bench_model *model, const gls_track_params *params);

/* The table, to standard output: a row for each figure, a column for each getter, device and mapping. */
void bench_print(const bench_run *run);
/* The text, from malloc; NULL without memory. */
char *bench_json_text(const bench_run *run);

/* Median of a time over the repetitions of a column. */
double bench_median(const bench_column *column, bench_time time);
/* The same of plain writes. */
double bench_median_plain(const bench_column *column, bench_plain plain);

#endif
