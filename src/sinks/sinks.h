/* Sinks of `track`: what a run makes of its streamlines beside the tractogram: maps, matrices, tables, columns. */
#ifndef GLS_SINKS_SINKS_H
#define GLS_SINKS_SINKS_H

#include <glslines/bundles.h>
#include <glslines/connectome.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "gpu/devices.h"
#include "record/run.h"
#include "track/engine/visited.h"
#include "util/output_file.h"

/* Each file NAME_sink.c has its kinds in gls_NAME_kinds, and one row here: NAME, number of kinds. All other code goes
 * over the rows. Columns reach the tractogram, and files the sidecar, in this order. */
/* clang-format off */
#define GLS_SINK_KINDS(ROW) \
    ROW(density, 2)     \
    ROW(connectome, 1)  \
    ROW(weights, 1)     \
    ROW(profile, 1)     \
    ROW(sample, 1)      \
    ROW(segment, 1)     \
    ROW(cluster, 1)     \
    ROW(seeds, 1)       \
    ROW(fdt_network, 1) \
    ROW(fdt, 3)         \
    ROW(fdt_matrix, 9)  \
    ROW(fdt_targets, 1)
/* clang-format on */

struct cJSON;
struct gls_sink_kind;

#define GLS_SINK_COUNT(name, n) +(n)
#define GLS_MAX_SINKS (0 GLS_SINK_KINDS(GLS_SINK_COUNT))
#define GLS_SINK_MAX_INPUTS 18 /* most inputs of one sink: files of rules or labels, and images */
#define GLS_SINK_MAX_IMAGES 16

/* One result of one run. */
typedef struct gls_run_sink {
    /* functions of the sink, constant */
    const struct gls_sink_kind *kind;
    bool wanted;  /* true: the options ask for this result */
    char *output; /* path of the result; NULL: the result goes into the tractogram or another result */
    char *input[GLS_SINK_MAX_INPUTS]; /* paths that the sink reads; owned */
    size_t n_inputs;
    const gls_bundles *bundles; /* rules that the sink has read, whose files are also inputs; NULL: none */
    void *state;                /* kind->size bytes, zero at first; owned */
} gls_run_sink;

/* The sinks of a run, and what they may know of the run. Unless a comment says otherwise, the run sets the members and
 * owns what they point to. */
typedef struct gls_run_sinks {
    gls_run_sink sink[GLS_MAX_SINKS]; /* the sinks, in the order of the table */
    size_t n;

    /* --- Set from take() on. */
    gls_run *run; /* inputs and outputs */
    const gls_job_options *options;
    const gls_method *method;
    const gls_shard *shard; /* the shard; count 0: the whole run */
    const char *output;     /* path of the tractogram; NULL: none */
    bool no_tractogram;
    bool writes_trx; /* the tractogram is a TRX file, which holds columns and groups */

    /* --- Set from prepare() on. */
    const gls_grid *grid; /* grid of the images of the run */
    double step_size;     /* mm */

    /* --- Set from begin() on. */
    const gls_image *seed_mask; /* seed region, given or made; NULL: none */
    const gls_image *fod;       /* SH coefficients, read or fitted; NULL: none */
    const gls_image *scalar;    /* FA, or the image of --fa, if wants_fa is set; NULL: none */
    const gls_device_set *devices;

    /* --- Set by sinks, for the run. */
    bool wants_fa;              /* by take(): a sink needs `scalar` */
    bool counts_visits;         /* by open(): a sink uses the visited voxels that a device counts */
    const gls_visited *visited; /* set by the run: visited voxels of the batch that is being delivered; NULL: none */
} gls_run_sinks;

/* The functions of a kind, in the order in which they are called; only choice() is called earlier, after prepare().
 * NULL: nothing to do. If the options do not ask for the result, only take() is called. */
typedef struct gls_sink_kind {
    const char *role; /* key of the output in the sidecar; where an option asks for the sink, the name of the option,
                       * with _ for - */
    size_t size;      /* bytes of the state of a sink */
    /* Checks the options. If they ask for the result: sets wanted, names its files with gls_sink_reads() and
     * gls_sink_writes(), and refuses --shard if the results of parts cannot be merged. Name and format of the
     * tractogram are known. */
    gls_status (*take)(gls_run_sink *sink, gls_run_sinks *sinks);
    /* Reads the inputs of the sink, so that faulty ones end the run before any work. The grid of the run is known. */
    gls_status (*prepare)(gls_run_sink *sink, gls_run_sinks *sinks);
    /* Starts a thread of the sink for work that goes on while the tracker is made. finish() waits for the thread. */
    gls_status (*begin)(gls_run_sink *sink, gls_run_sinks *sinks);
    /* Called before the first streamline. *own: set it to the sink that receives the streamlines; empty at first. A
     * kind that adds columns instead replaces *tractogram by a sink that passes on to the old *tractogram. *tractogram
     * is empty if no tractogram is written. */
    gls_status (*open)(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own);
    /* Whether the sink reads more than the two ends of streamlines. NULL counts as true. tracked: the grid on which a
     * device can count visited voxels. */
    bool (*needs_points)(const gls_run_sink *sink, const gls_grid *tracked);
    /* Called after the last streamline. Adds columns and groups to `writer`, that of the tractogram; NULL: there is
     * none. */
    gls_status (*complete)(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer);
    /* Writes the sink's file as an output of the run: in sinks->run->group, replacing a file only if sinks->run->force
     * is set. */
    gls_status (*write)(gls_run_sink *sink, gls_run_sinks *sinks);
    /* Adds the result to the sidecar. */
    void (*describe)(const gls_run_sink *sink, struct cJSON *root);
    /* Hash of options that change the result and are neither names of files nor parameters in the sidecar. */
    uint64_t (*choice)(const gls_run_sink *sink);
    /* frees what the state holds; may be called after any of the functions above; the state itself is freed by the
     * run */
    void (*finish)(gls_run_sink *sink);
} gls_sink_kind;
#define GLS_SINK_DECLARE(name, n) extern const gls_sink_kind gls_##name##_kinds[n];
GLS_SINK_KINDS(GLS_SINK_DECLARE)

/* --- For kinds. */

/* Adds an input of the sink. Its name is the first `length` characters of text, the value of an option; in the name \:
 * stands for a colon and \, for a comma. */
gls_status gls_sink_reads(gls_run_sink *sink, const char *text, size_t length);
/* Names the output of the sink. text: the name, with \: and \, as in gls_sink_reads(). In a shard, the name gets the
 * mark of the shard, such as _shard-1of3. */
gls_status gls_sink_writes(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text);
/* Names the input and the output of the sink from "A:B". form: what the two names are, as "LABELS:FILE", for the
 * message. GLS_ERR_ARGUMENT: a name or the colon is missing. */
gls_status gls_sink_takes_pair(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text, const char *form);
/* The name of the sink's option without dashes: its role with - for _. Returns name. */
const char *gls_sink_option(const gls_run_sink *sink, char name[64]);
/* Names the images IMAGE,IMAGE,... as inputs. GLS_ERR_ARGUMENT: an empty name, or more than GLS_SINK_MAX_IMAGES. */
gls_status gls_sink_reads_images(gls_run_sink *sink, const char *text, size_t length);
/* Makes *out a sink that passes streamlines to both sinks at the same time, to the second one on a thread of its own.
 * *out owns both, and finishes first before second. On failure the caller still owns both. */
gls_status gls_sink_pair(const gls_sink *first, const gls_sink *second, gls_sink *out);
/* Index in s->point of the point of streamline i that is nearest to the seed, which itself may have been left out. */
uint64_t gls_seed_point(const gls_streamlines *s, size_t i, const float seed[3]);
/* The sink of this kind; NULL if it is not wanted. */
gls_run_sink *gls_sink_find(gls_run_sinks *sinks, const gls_sink_kind *kind);

/* --- For the run: each function goes over all wanted sinks. */

/* Calls take() of every kind. Call gls_sinks_finish() also after a failure. */
gls_status gls_sinks_take(gls_run_sinks *sinks);
/* Adds the files that sinks read to the inputs of the run. */
gls_status gls_sinks_name_inputs(gls_run_sinks *sinks);
/* Calls prepare(), then adds the files that rules name to the inputs. */
gls_status gls_sinks_prepare(gls_run_sinks *sinks);
/* Sets *hash to a hash of the inputs and of choice() of the sinks that have inputs; 0: no sink has inputs. */
gls_status gls_sinks_hash(const gls_run_sinks *sinks, uint64_t *hash);
/* Calls begin(). */
gls_status gls_sinks_begin(gls_run_sinks *sinks);
/* Replaces *tractogram by a sink that passes streamlines to the old *tractogram, unless that is empty, and to all
 * results. */
gls_status gls_sinks_open(gls_run_sinks *sinks, gls_sink *tractogram);
/* Whether any sink reads more than the two ends of streamlines. tracked: as in needs_points(). */
bool gls_sinks_need_points(const gls_run_sinks *sinks, const gls_grid *tracked);
/* Calls complete(). writer: that of the tractogram; NULL: there is none. */
gls_status gls_sinks_complete(gls_run_sinks *sinks, gls_tractogram_writer *writer);
/* Calls write(). */
gls_status gls_sinks_write(gls_run_sinks *sinks);
/* Calls describe(). */
void gls_sinks_describe(const gls_run_sinks *sinks, struct cJSON *root);
/* Frees all sinks. May be called at any time after gls_sinks_take(). */
void gls_sinks_finish(gls_run_sinks *sinks);

/* --- Weights of --weights, for sinks that use them. */

/* Solves for the weights at the first call. Call it after the last streamline. weights: the sink from
 * gls_sink_find(sinks, gls_weights_kinds). *weight: the weights of the *n streamlines, in their order; the sink owns
 * the array. If no weights can be computed, all are 1, with a warning, so that the streamlines are not lost. */
gls_status gls_weights_sink_solve(gls_run_sink *weights, gls_run_sinks *sinks, const float **weight, uint64_t *n);

/* --- Lengths of streamlines as sums of distances between their points, as in tckstats and `glslines stats`.
 * If all steps are straight and all points are written, the tracker's counts of steps give the same lengths. */

/* Lengths are rounded to 1 / GLS_LENGTH_PARTS mm, so that sums are exact and shards add up to the whole run. */
#define GLS_LENGTH_PARTS 1024.0

/* Measured lengths of the streamlines of a run, in whole parts of a mm (GLS_LENGTH_PARTS), so that sums do not depend
 * on the order. */
typedef struct gls_run_lengths {
    uint64_t n, sum; /* number of streamlines; sum of their lengths in parts */
    uint64_t min, max;
    uint32_t *part; /* length of each streamline of one batch; has `room` elements */
    size_t room;
    uint64_t *bin; /* histogram of lengths */
    size_t n_bins;
} gls_run_lengths;

/* Whether lengths need the points: the getter's steps are curved, or points are left out or moved. */
bool gls_lengths_need_points(const gls_job_options *options, const gls_method *method);
/* Adds the lengths of streamlines. */
gls_status gls_run_lengths_add(gls_run_lengths *lengths, const gls_streamlines *streamlines);
/* Sets mean, median and extremes of *result to the measured lengths, mm. The tracker had set them to numbers of steps
 * times the step size. Does nothing without streamlines. */
void gls_run_lengths_get(const gls_run_lengths *lengths, gls_track_result *result);
/* Frees the arrays and sets everything to 0. */
void gls_run_lengths_finish(gls_run_lengths *lengths);

/* --- Maps and matrices of shards. */

/* Whether the name is one of a map or a matrix: that of an image that is written, .csv or .tsv. */
bool gls_map_is_name(const char *path);
/* Adds up maps of all shards of one run. The names must say which part each one is (x_shard-1of3.csv). The sum is byte
 * for byte the map of the whole run. GLS_ERR_INPUT: a part is missing, occurs twice, or does not fit the others. */
gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group);

#endif
