/* `glslines bench`: what is measured, where the times are stored, and the steps of the measurement; the scores of
 * methods on the phantom; and `glslines devices --check`. */
#ifndef GLS_BENCH_BENCH_H
#define GLS_BENCH_BENCH_H

#include <time.h>

#include <glslines/glslines.h>

#include "dwi/fit_model.h"
#include "run/job_inputs_parts.h"
#include "tools/tract_results.h"
#include "track/engine/timed.h"
#include "util/status.h"

/* Sizes of the arrays of bench_run; the command line is checked against these sizes. */
#define BENCH_MAX_REPEAT 100
#define BENCH_MAX_DEVICES 8
#define BENCH_MAX_COLUMNS 64
#define BENCH_GETTERS GLS_DG_COUNT
#define BENCH_MAPPINGS GLS_MAPPING_COUNT

/* Options of the measurement, from the command line. */
typedef struct bench_options {
    int shape[3];    /* voxels; 0: the default size */
    uint64_t nseeds; /* number of seeds; 0: chosen by device and getter */
    gls_model_options model;
    int dg[BENCH_GETTERS], n_dg;            /* values of gls_direction_getter */
    int mapping[BENCH_MAPPINGS], n_mapping; /* values of gls_mapping */
    const char *device[BENCH_MAX_DEVICES];
    int n_devices;
    gls_graphics api;
    gls_precision precision;
    gls_mask_stop mask_stop;
    bool no_write, no_ceilings;
    const char *write_data; /* folder for the data of the benchmark; NULL: none */
    bool force;             /* files in that folder may be replaced */
    uint64_t chunk_size;    /* seeds of a batch; 0: chosen by the tracker */
    int repeat;             /* repetitions of a column, 1 to BENCH_MAX_REPEAT */
    int argc;               /* command line, for the JSON */
    char **argv;
} bench_options;

/* Sets what is measured. getters, mappings and devices are lists with commas; shape is "AxBxC", or NULL for the
 * default. Call bench_options_finish() afterwards, also after a failure. */
gls_status bench_choose(bench_options *options, const char *shape, const char *getters, const char *mappings,
                        const char *devices);
/* Frees what bench_choose() allocated. */
void bench_options_finish(bench_options *options);

/* Times of one repetition, seconds by the host's clock. */
typedef enum bench_time {
    BENCH_INITIAL, /* first pass, which finds initial directions, with its transfers */
    BENCH_SCAN,    /* prefix sum and other work of the host */
    BENCH_TRACK,   /* second pass, which tracks streamlines, with its transfers */
    BENCH_GATHER,
    BENCH_READBACK,
    BENCH_COMPUTE, /* sum of the five above */
    BENCH_WAIT,    /* tracking waits for the writer */
    BENCH_WRITE,   /* work of the writer on its own thread, and completing the file */
    BENCH_WHOLE,   /* from the first seed to the complete file */
    BENCH_TIMES
} bench_time;

/* Number of threads that write plain bytes to a file, without tracking, for comparison: one, or as many as the writer
 * of tractograms has. */
typedef enum bench_plain { BENCH_PLAIN_ONE, BENCH_PLAIN_MANY, BENCH_PLAIN } bench_plain;

/* Rates that a device reaches in small kernels, each of which does one thing. */
typedef struct bench_ceilings {
    bool measured;
    double copy_bytes; /* bytes read and written per second */
    double fma_flops;  /* per second; a multiply-add counts 2 */
    double fetches;    /* trilinear samples of four half-precision channels, per second */
} bench_ceilings;

/* A device that is measured, and the rates that it reaches. */
typedef struct bench_device {
    gls_device *device;
    const gls_device_info *info;
    bench_ceilings ceilings;
} bench_device;

/* Work for one stored point, counted from the algorithm; bench_work_count() in measure.c has the rules. */
typedef struct bench_work {
    double fetches;       /* trilinear samples of four channels */
    double fetched_bytes; /* bytes of all texels that these samples read, eight each */
    double flops;         /* a multiply-add counts 2 */
} bench_work;

/* A fitted model for one direction getter. */
typedef struct bench_model {
    gls_series_model model;
    gls_odf_source *odf; /* for getters that sample ODFs; NULL: none */
    gls_image *peaks;    /* peaks of the phantom, for getters that follow peaks */
    double seconds_fit;  /* time of the fit, s, without the fit of FA */
} bench_model;

/* One getter on one device with one gls_mapping. */
typedef struct bench_column {
    int dg, mapping, device; /* device: index in bench_run.device */
    uint64_t nseeds;
    gls_track_params params;
    gls_track_result result;
    uint64_t commissural; /* streamlines from one hemisphere to the other */
    uint64_t file_bytes;  /* 0: no file written */
    /* Rates, bytes per second, at which a file of file_bytes (4 GiB at most) was written to the same folder without
     * tracking, after each repetition: by one thread, and by as many threads as the writer has. 0: not measured. */
    double plain[BENCH_PLAIN][BENCH_MAX_REPEAT];
    double kernel[GLS_ENGINE_TIMES]; /* seconds on the device, from a separate run */
    uint64_t host_bytes;             /* upper bound of host memory for streamlines */
    uint64_t device_bytes;           /* device memory of the tracker */
    bench_work work;
    double seconds_fit, seconds_create; /* fit of the model; making of the tracker, with its upload and compilation */
    double seconds[BENCH_TIMES][BENCH_MAX_REPEAT];
    int n; /* number of repetitions */
} bench_column;

/* CPU seconds so far. own: of this process and of its children that have ended; all: of all processes of the machine,
 * and time that the hypervisor took. clock: seconds of gls_clock_seconds(). */
typedef struct bench_busy {
    double clock, own, all;
    bool known;
} bench_busy;
/* Reads the CPU seconds at this moment. */
bench_busy bench_busy_now(void);

/* State and results of a benchmark, too large for the stack. */
typedef struct bench_run {
    const bench_options *options;
    const gls_monitor *monitor;
    gls_track_params params; /* parameters from which those of each column are made */
    gls_job_options job;     /* equivalent options of `track`, for all columns */
    gls_job_inputs data;     /* phantom, masks, stop map, seeds, sphere, regions */
    bench_device device[BENCH_MAX_DEVICES];
    bench_column column[BENCH_MAX_COLUMNS];
    int n_columns;
    uint64_t nseeds; /* seeds of a getter; ptt gets fewer by default if any device is a software renderer */
    time_t started;  /* date of the results */
    bench_busy busy; /* CPU seconds when the benchmark began */
    gls_warnings warnings;
    double seconds_phantom, seconds_fa; /* times, s, in which the phantom and the map of FA were made */
    char *directory;                    /* folder of temporary files; NULL: none */
} bench_run;

/* Measures everything. Fills *run, which need not be initialised. Call bench_finish() also after a failure. */
gls_status bench_measure_all(bench_run *run, const bench_options *options, const gls_monitor *monitor);
/* Frees the data and closes the devices. */
void bench_finish(bench_run *run);

/* Measures a column: runs once to warm up, repeats, and fills in the times and the result. */
gls_status bench_measure(bench_run *run, const bench_model *model, bench_column *column);

/* Measures the rates that the device reaches in small kernels. */
gls_status bench_ceilings_measure(gls_device *device, bench_ceilings *ceilings);

/* Prints the table to standard output: a row for each measured quantity, a column for each getter, device and
 * gls_mapping. */
void bench_print(const bench_run *run);
/* The results as JSON text, from malloc. NULL: out of memory. */
char *bench_json_text(const bench_run *run);

/* Median of a time over the repetitions. */
double bench_median(const bench_column *column, bench_time time);

/* --- Figures and lists that need no device. */

/* Order statistics of n >= 1 values. The median of an even number of values is the mean of the middle two. */
typedef struct bench_spread {
    double median, min, max;
} bench_spread;
/* Computes the order statistics of n >= 1 values, which may be in any order. */
bench_spread bench_spread_of(const double *value, int n);

/* Number of streamlines that begin at x < 0 and end at x > 0 in world space, or the other way round. The phantom is
 * centred at x = 0. */
uint64_t bench_commissural(const gls_streamlines *streamlines);

/* Parses a list with commas. index: gets for each word its index in choices ("a|b|c"), in the order of the list,
 * without repetitions; has space for max entries. "all" stands for every word if all is true. Returns the number of
 * entries; -1 if a word is not among the choices, with that word in *bad (borrowed from list, *bad_length characters).
 */
int bench_parse_list(const char *list, const char *choices, bool all, int *index, int max, const char **bad,
                     int *bad_length);
/* Parses "81x106x76": three whole numbers from 16 to 512. Returns false otherwise. */
bool bench_parse_shape(const char *text, int shape[3]);

/* --- `glslines score`: how well methods do. */

/* Scores the tractogram file[0] or, if n is 0, the methods that the options ask for on the built-in phantom. options: a
 * gls_score_cli. */
gls_status gls_tract_score(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options: the defaults in the rows of score.def, and the phantom's default of --snr. */
gls_score_cli gls_score_cli_default(void);

/* --- `glslines devices --check`: does the driver of a device compile the kernels of every getter, and does the device
 * compute right? */

/* Options of the check, from the command line. */
typedef struct check_options {
    const char *device;
    gls_graphics api;
    bool compile_only;
    double seconds;   /* time limit for one variant with one gls_mapping */
    const char *only; /* "boot4" or "boot4:group": check only this and keep no result; NULL: all */
} check_options;

/* Checks every variant with every gls_mapping that the device has, each in a process of its own, so that the check
 * survives a driver that crashes or hangs. A variant, such as boot4, is a getter with an order of its model.
 * GLS_MAPPING_SINGLE is checked on software renderers only. GLS_ERR_DEVICE: a variant works with no mapping.
 * GLS_ERR_ARGUMENT: unknown name in options->only. */
gls_status check_device(const check_options *options);

/* Checks one variant with one gls_mapping, such as "boot4:subgroup", in this process. Prints the result for
 * check_device() to standard output, as lines "kernel", "tracked", "batches" and "error" with tabs.
 * "lines:boot4:single" prints the streamlines. */
gls_status check_one(const check_options *options, const char *what);

#endif
