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
#include "transform/transform.h"
#include "util/output_file.h"

/* Each file NAME_sink.c has its kinds in gls_NAME_kinds, and one row here: NAME, number of kinds. All other code goes
 * over the rows. Columns reach the tractogram, and files the sidecar, in this order. */
/* clang-format off */
#define GLS_SINK_KINDS(ROW) \
    ROW(density, 2)     \
    ROW(connectome, 32)  \
    ROW(weights, 6)     \
    ROW(profile, 1)     \
    ROW(sample, 1)      \
    ROW(segment, 1)     \
    ROW(cluster, 1)     \
    ROW(recognize, 1)   \
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
    bool wanted;   /* true: the options ask for this result */
    bool prepared; /* prepare() was called */
    char *output;  /* path of the result; NULL: the result goes into the tractogram or another result */
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
    bool writes_trx;     /* the tractogram is a TRX file, which holds columns and groups */
    const char *awaited; /* an input that the run makes later; NULL: none */

    /* --- Set from prepare() on. */
    const gls_grid *grid;           /* grid of the images of the run */
    double step_size;               /* mm */
    const gls_transform *transform; /* from the space of the run to that of its images, see --transform */

    /* --- Set from begin() on. */
    const gls_image *seed_mask; /* seed region, given or made; NULL: none */
    const gls_image *fod;       /* SH coefficients, read or fitted; NULL: none */
    const gls_image *scalar;    /* FA, or the image of --fa, if wants_fa is set; NULL: none */
    const gls_device_set *devices;

    /* --- Set by sinks, for the run. */
    bool wants_fa;              /* by take(): a sink needs `scalar` */
    bool wants_visits;          /* by take(): a sink may use the visited voxels that a device counts */
    bool numbers_seeds;         /* by take(): values of the seed mask number regions, so that any mask is right */
    bool counts_visits;         /* by open(): a sink uses the visited voxels that a device counts */
    const gls_visited *visited; /* set by the run: visited voxels of the batch that is being delivered; NULL: none */
} gls_run_sinks;

/* The functions of a kind, in the order in which they are called; only choice() is called earlier, after prepare().
 * NULL: nothing to do. If the options do not ask for the result, only take() is called. */
typedef struct gls_sink_kind {
    const char *role;   /* key of the output in the sidecar; where an option asks for the sink, the name of the option,
                         * with _ for - */
    size_t size;        /* bytes of the state of a sink */
    bool by_length;     /* with --distance-correction it sums lengths */
    bool takes_folders; /* an input may be a folder, all files of which count */
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

/* --- Lengths of streamlines as sums of distances between their points, as in tckstats and `glslines stats`.
 * If all steps are straight and all points are written, the tracker's counts of steps give the same lengths. */

/* Lengths are rounded to 1 / GLS_LENGTH_PARTS mm, so that sums are exact and shards add up to the whole run. */
#define GLS_LENGTH_PARTS 1024.0

#endif
