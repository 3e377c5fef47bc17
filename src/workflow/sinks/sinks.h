/* What a run of tracking makes of its streamlines beside the tractogram: maps, matrices, tables, columns. */
#ifndef GLS_WORKFLOW_SINKS_SINKS_H
#define GLS_WORKFLOW_SINKS_SINKS_H

#include <glslines/bundles.h>
#include <glslines/connectome.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "track/engine/visited.h"
#include "util/output_file.h"

/* --- What a run of tracking makes of its streamlines beside the tractogram: maps, matrices, tables, columns. Each kind
 * of result is one file of this folder and one row of the table in sink_table.c; all else of the program walks over the
 * rows. */

struct cJSON;
struct gls_sink_kind;

#define GLS_MAX_SINKS 16
#define GLS_SINK_MAX_INPUTS 18 /* rules or labels, and images */
#define GLS_SINK_MAX_IMAGES 16

/* One result of one run. */
typedef struct gls_run_sink {
    const struct gls_sink_kind *kind;
    bool wanted;                      /* the options ask for it */
    char *output;                     /* its file; NULL: it goes into the tractogram, or into another result */
    char *input[GLS_SINK_MAX_INPUTS]; /* files that it reads, owned */
    size_t n_inputs;
    const gls_bundles *bundles; /* rules that it has read, whose files are inputs, too; NULL: none */
    void *state;                /* kind->size bytes, zero at first */
} gls_run_sink;

typedef struct gls_run_sinks {
    gls_run_sink sink[GLS_MAX_SINKS]; /* in the order of the table */
    size_t n;
    bool wants_fa;              /* a sink shows FA, or the image of --fa in its place */
    bool counts_visits;         /* a sink takes the voxels that a device counts */
    const gls_visited *visited; /* those of the streamlines that are delivered at the moment; NULL: none */
} gls_run_sinks;

/* What a kind of result does, in this order. Functions that are NULL do nothing; only take is called where the options
 * do not ask for the result. */
typedef struct gls_sink_kind {
    const char *role; /* the key of its output in the sidecar: the option that asks for it, with _ for - */
    size_t size;      /* bytes of its state */
    /* Checks the options; where they ask for the result: sets wanted, and names files with gls_sink_reads() and
     * gls_sink_writes(). The name and format of the tractogram are known. */
    gls_status (*take)(gls_run_sink *sink, gls_job *job);
    /* Reads rules, once the grid of the run is known. */
    gls_status (*prepare)(gls_run_sink *sink, gls_job *job);
    /* Begins before the first streamline. *own: what streamlines are appended to, empty at first. A kind that adds
     * columns puts a sink of its own before *tractogram instead, which is empty where no tractogram is written. */
    gls_status (*open)(gls_run_sink *sink, gls_job *job, gls_output_group *group, gls_sink *tractogram, gls_sink *own);
    /* Whether it reads more of a streamline than its two ends; NULL: it does. tracked: the grid whose visited voxels a
     * device may count. */
    bool (*needs_points)(const gls_run_sink *sink, const gls_grid *tracked);
    /* Once all streamlines have come: columns and groups for the tractogram's writer (NULL: there is none). */
    gls_status (*complete)(gls_run_sink *sink, gls_job *job, gls_tractogram_writer *writer);
    /* Writes its file in the group. */
    gls_status (*write)(gls_run_sink *sink, gls_job *job, gls_output_group *group);
    /* Adds to the sidecar. */
    void (*describe)(const gls_run_sink *sink, struct cJSON *root);
    /* Hash of options that change the result, beside the names of files and the parameters of the sidecar. */
    uint64_t (*choice)(const gls_run_sink *sink);
    void (*finish)(gls_run_sink *sink);
} gls_sink_kind;

extern const gls_sink_kind gls_density_kind, gls_dec_kind, gls_connectome_kind, gls_weights_kind, gls_profile_kind,
    gls_sample_kind, gls_segment_kind, gls_seeds_kind;

/* --- for kinds ------------------------------------------------------------ */

/* Names an input or the output: length characters of an option's text, in which \: and \, are letters of a name. An
 * output is named as that of this shard. */
gls_status gls_sink_reads(gls_run_sink *sink, const char *text, size_t length);
gls_status gls_sink_writes(gls_run_sink *sink, const gls_job *job, const char *text);
/* Names the images IMAGE,IMAGE as inputs. GLS_ERR_ARGUMENT: an empty name, or more than GLS_SINK_MAX_IMAGES. */
gls_status gls_sink_reads_images(gls_run_sink *sink, const char *text, size_t length);
/* Hands streamlines to both at the same time, to the second on a thread of its own; they then belong to *out, which
 * finishes them in this order. On failure they stay with the caller. */
gls_status gls_sink_pair(const gls_sink *first, const gls_sink *second, gls_sink *out);
/* The sink of this kind, NULL where it is not wanted. */
gls_run_sink *gls_sink_find(gls_job *job, const gls_sink_kind *kind);

/* --- for the run ---------------------------------------------------------- */

/* All wanted sinks of a job take their options. To be finished whatever comes. */
gls_status gls_sinks_take(gls_job *job);
/* Adds what the sinks read to the inputs of the job. */
gls_status gls_sinks_name_inputs(gls_job *job);
/* Reads rules and adds the files that these name to the inputs. */
gls_status gls_sinks_prepare(gls_job *job);
/* A hash of all inputs of sinks and of how they are used; 0: there are none. */
gls_status gls_sinks_hash(const gls_job *job, uint64_t *hash);
/* Lets the streamlines that go to *tractogram, which may be empty, also go into all results: it becomes a sink that
 * feeds all. */
gls_status gls_sinks_open(gls_job *job, gls_output_group *group, gls_sink *tractogram);
bool gls_sinks_need_points(const gls_job *job);
gls_status gls_sinks_complete(gls_job *job, gls_tractogram_writer *writer);
gls_status gls_sinks_write(gls_job *job, gls_output_group *group);
void gls_sinks_describe(const gls_job *job, struct cJSON *root);
void gls_sinks_finish(gls_job *job);

/* --- The weights that track --weights computes, for sinks that take them. */

/* Hands the ends of all streamlines with their weights, the column GLS_DPS_WEIGHTS, to a connectome, once all
 * streamlines have come. weights: the wanted sink of gls_weights_kind. */
gls_status gls_weights_sink_connect(gls_run_sink *weights, gls_job *job, gls_connectome *connectome);

#endif
