/* `glslines bench`: what is measured, where the times are stored, and the steps of the measurement. */
#ifndef GLS_BENCH_BENCH_H
#define GLS_BENCH_BENCH_H

#include <time.h>

#include <glslines/glslines.h>

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
    bool no_write;
    bool force;          /* existing files may be replaced */
    uint64_t chunk_size; /* seeds of a batch; 0: chosen by the tracker */
    int repeat;          /* repetitions of a column, 1 to BENCH_MAX_REPEAT */
    int argc;            /* command line, for the JSON */
    char **argv;
} bench_options;

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

/* A device that is measured. */
typedef struct bench_device {
    gls_device *device;
    const gls_device_info *info;
} bench_device;

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
    double kernel[GLS_ENGINE_TIMES];    /* seconds on the device, from a separate run */
    uint64_t host_bytes;                /* upper bound of host memory for streamlines */
    uint64_t device_bytes;              /* device memory of the tracker */
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

#endif
