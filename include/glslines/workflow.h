/* From files to results: everything between the names of images and a tractogram, a fit or a merged file. The commands
 * track, fit and merge of the program are these functions; the same options give the same files.
 *
 *     gls_job_options options = gls_job_options_default();
 *     options.dwi = "dwi.nii.gz";
 *     options.bval = "dwi.bval";
 *     options.bvec = "dwi.bvec";
 *     options.mask = "mask.nii.gz";
 *     options.roi = "wm.nii.gz";
 *     options.output = "tracks.trx";
 *     if (gls_track_files(&options, NULL, NULL) != GLS_OK) fprintf(stderr, "%s\n", gls_last_error());
 *
 * Nothing here prints: what a person should read goes to the log (<glslines/log.h>) as lines of the levels info and
 * warning, and the text of a failure is gls_last_error(). Texts call a parameter by the name of its option on the
 * command line. Strings of options are borrowed until the job is destroyed or the function returns. Several jobs may
 * run on threads of their own, one thread each. */
#ifndef GLSLINES_WORKFLOW_H
#define GLSLINES_WORKFLOW_H

#include <glslines/gradients.h>
#include <glslines/merge.h>
#include <glslines/responses.h>
#include <glslines/shard.h>
#include <glslines/tensor.h>
#include <glslines/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first two are those of gls_qball_model. */
typedef enum gls_model_kind {
    GLS_MODEL_OPDT,
    GLS_MODEL_CSA,
    GLS_MODEL_CSD,  /* deconvolution of one shell */
    GLS_MODEL_MSMT, /* of all shells, into white matter, grey matter and CSF; of one shell and b0 without grey matter */
    GLS_MODEL_AUTO  /* GLS_MODEL_MSMT; GLS_MODEL_CSD with one response, without b0, or with b-values on a grid */
} gls_model_kind;

/* Axes of spherical harmonics: 1 + gls_bvec_frame, or by the basis: scanner axes for the tournier07 bases, as MRtrix3
 * has them, else those of FSL's b-vectors, as DIPY has them. */
typedef enum gls_frame { GLS_FRAME_AUTO, GLS_FRAME_FSL, GLS_FRAME_IMAGE, GLS_FRAME_WORLD } gls_frame;

/* Whose defaults hold for what is not given: 'glslines help presets' has the values. Those of a preset never change. */
typedef enum gls_preset {
    GLS_PRESET_DEFAULT, /* glslines' own, chosen by measurement */
    GLS_PRESET_GPUSTREAMLINES,
    GLS_PRESET_DIPY,
    GLS_PRESET_TCKGEN,
    GLS_PRESET_QSIRECON,
    GLS_PRESET_PYAFQ,
    GLS_PRESET_TRACTOFLOW
} gls_preset;

/* Which points lie outside of the mask. */
typedef enum gls_mask_stop {
    GLS_MASK_STOP_INTERPOLATED, /* none: the stop map, which is 0 there, is all that ends a half-streamline */
    GLS_MASK_STOP_NEAREST       /* those whose nearest voxel does: a half-streamline ends before the first of them */
} gls_mask_stop;

/* clang-format off */
/* A gradient table and a model: the rows of params.def that belong to them. Besides:
 * - model: default GLS_MODEL_OPDT; of a fit GLS_MODEL_CSD.
 * - sh_order: even; OPDT and CSA up to 8. 0 stands for 4 with OPDT and CSA; for 8 or what the directions (by MRtrix3's
 *   rule a response that is read) determine with CSD; for the response's order, at most 8, with MSMT.
 * - shells: several with MSMT, else one. None: CSD takes that of gls_csd_choose_shell(), the others take all volumes.
 * - response: CSD, see gls_response_read(). NULL: it is estimated with response_fa, response_radius and
 *   response_voxels, the members of gls_response_options.
 * - response_wm, response_gm, response_csf: MSMT, see gls_tissue_response_read(). NULL: gls_responses_dhollander().
 *   With white matter alone, or without one of the others, there are fewer tissues.
 * - force_response: responses are taken for other b-values than those that they name.
 * - normalise, no_normalise: MSMT. Both false: gls_normalise() is called where the mask has 1000 voxels.
 * - csd_rule: CSD, a member of gls_csd_options.
 * - csd_directions: a built-in sphere or a file of gls_csd_directions_read(). NULL: "small"; with MSMT and
 *   MRtrix3's rule "repulsion600".
 * - sh_basis, sh_frame: of the file that is read (sh) or written (fit).
 */
/* clang-format on */
#define GLS_CHOICE_bvec_frame gls_bvec_frame
#define GLS_CHOICE_bvalue_scaling gls_bvalue_scaling
#define GLS_CHOICE_model gls_model_kind
#define GLS_CHOICE_csd_rule gls_csd_rule
#define GLS_CHOICE_sh_basis gls_sh_basis
#define GLS_CHOICE_sh_frame gls_frame
#define GLS_PARAM(owner, group, type, field, ...) GLS_FIT_##owner(GLS_FIELD_##type(field))
#define GLS_FIT_TRACK(member)
#define GLS_FIT_JOB(member)
#define GLS_FIT_GRADIENTS(member) member
#define GLS_FIT_MODEL(member) member
#define GLS_FIT_BASIS(member) member
#define GLS_FIT_COMMAND(member)
typedef struct gls_model_options {
#include <glslines/params.def>
} gls_model_options;
#undef GLS_PARAM

/* Parts of the work, for gls_monitor. */
typedef enum gls_phase {
    GLS_PHASE_FIT,   /* of a model; progress in voxels where that takes long */
    GLS_PHASE_TRACK, /* progress in seeds */
    GLS_PHASE_MERGE, /* progress in bytes */
    GLS_PHASE_WRITE  /* files that a cancelled run should not leave behind */
} gls_phase;
typedef struct gls_progress {
    gls_phase phase;
    uint64_t done, total;                 /* total 0: no progress to tell, only a chance to cancel */
    uint64_t streamlines, points;         /* GLS_PHASE_TRACK */
    uint64_t verdicts[GLS_VERDICT_COUNT]; /* the same: streamlines by what became of them */
} gls_progress;

/* Watches a run. Called from the thread of the run; members may be NULL. */
typedef struct gls_monitor {
    void *user;
    void (*begin)(void *user, gls_phase phase);             /* phases do not nest */
    bool (*step)(void *user, const gls_progress *progress); /* false: cancel, GLS_ERR_CANCELLED */
    void (*end)(void *user, gls_phase phase);               /* comes for every begin() */
} gls_monitor;

/* clang-format off */
/* The inputs of a run of tracking, and all its options: the rows of params.def say what the members are. One of dwi,
 * sh, odf, peaks and phantom is needed. Images are on one grid; those of tissue and regions may be on any. Besides:
 * - mask: NULL stands for gls_mask_estimate() of dwi, and for all voxels without dwi.
 * - roi: NULL stands for gls_seed_region_of_tissues() with three tissues, else for gls_seed_region_of_fa() of 0.2.
 *   Without dwi it is needed unless seeds is given. seed_sphere, seed_rejection and seed_gmwmi take its place.
 * - fa: NULL stands for FA of a tensor fit.
 * - sphere: the name of a built-in one, see gls_sphere_create(), or a file.
 * - nseeds: 0, only with select, stands for as many as select takes. seeds_per_voxel, seeds (a file) and seed_grid take
 *   its place.
 * - seed_direction: none or three numbers, for the tracker.
 * - shard: "3/8", or "auto" for what srun or mpirun says. NULL: all seeds.
 * - preset: gives the defaults of what is not given, see gls_job_options_settle().
 * - regions: each a text as gls_regions_add() takes it.
 * - with tissue a stop_threshold of -1 leaves the stop map out, and a min_length of -1 stands for two voxels.
 * - device: see gls_device_open(); several names with commas share the work. ngpus: 1 to GLS_TRACKER_MAX_DEVICES.
 * - output: NULL stands for tracks.trx. sidecar: NULL stands for a file beside output.
 */
/* clang-format on */
#define GLS_CHOICE_peaks_frame gls_frame
#define GLS_CHOICE_seed_space gls_seed_space
#define GLS_CHOICE_preset gls_preset
#define GLS_CHOICE_mask_stop gls_mask_stop
#define GLS_CHOICE_act_rule gls_tissue_rule
#define GLS_CHOICE_api gls_graphics
#define GLS_CHOICE_format gls_tractogram_format
#define GLS_CHOICE_output_precision gls_precision
#define GLS_OPTION_JOB(member) member
#define GLS_OPTION_TRACK(member)
#define GLS_OPTION_GRADIENTS(member)
#define GLS_OPTION_MODEL(member)
#define GLS_OPTION_BASIS(member)
#define GLS_OPTION_COMMAND(member)
typedef struct gls_job_options {
    size_t size;             /* size of this struct, set by the default function */
    const char *dwi;         /* the series */
    const char *bval, *bvec; /* its table, both or none; default NULL: the files beside dwi, dwi.bval and dwi.bvec
                                (.bvals, .bvecs), else bvals and bvecs. bvec "-": bval is a table of
                                gls_gradients_read_table(); bval "-", too: dwi is a .mif that has it */
    gls_model_options model;
    gls_track_params track; /* getter GLS_DG_BOOT needs a series and a model other than CSD */
#define GLS_PARAM(owner, group, type, field, ...) GLS_OPTION_##owner(GLS_FIELD_##type(field))
#include <glslines/params.def>
#undef GLS_PARAM
    struct {
#define GLS_PARAM(owner, group, type, field, ...) GLS_IN_MM_##type(field)
#include <glslines/params.def>
#undef GLS_PARAM
    } in_mm;  /* lengths that are in mm; default false: in voxels, whose size is their smallest side */
    int argc; /* words of the command line to note in the sidecar; default 0: none */
    char **argv;
} gls_job_options;
/* Those of a series: model AUTO and iFOD2. */
GLS_API gls_job_options gls_job_options_default(void);
/* Gives all that was not given the default of the preset, direction getter and model, which are chosen first where they
 * are not given. They follow from what the data are, and from nothing else: AUTO and ifod2 for a series, prob for sh
 * and odf, fact for peaks; boot goes with OPDT and CSA, prob with CSD. given: names of options, such as "max-angle", up
 * to NULL; NULL: none. To be called once, when all else is set. */
GLS_API void gls_job_options_settle(gls_job_options *options, const char *const *given);

/* What a job did. */
typedef struct gls_job_result {
    gls_track_result track;       /* its lengths: sums of distances between the points that were written */
    const char *output, *sidecar; /* names of files, sidecar NULL: none; valid as long as the job */
    uint64_t output_bytes;
    bool skipped; /* by skip_existing: nothing was done, and only the names and track.streamlines are set */
    double seconds_read, seconds_fit, seconds_upload, seconds_track, seconds_write, seconds_total;
} gls_job_result;

/* From the files of the options to a tractogram and its sidecar. NULL monitor and result are fine; names in *result are
 * NULL. On failure no file is left behind. */
GLS_API gls_status gls_track_files(const gls_job_options *options, const gls_monitor *monitor, gls_job_result *result);

/* The same step by step. NULL options: defaults. */
typedef struct gls_job gls_job;
/* Checks the options, that inputs can be read and outputs can be written; nothing slow. */
GLS_API gls_status gls_job_create(const gls_job_options *options, const gls_monitor *monitor, gls_job **job);
/* Opens devices; reads and compares images; makes seeds. With skip_existing gls_job_get_result() then tells whether
 * the job was done before: it can only be destroyed. */
GLS_API gls_status gls_job_open(gls_job *job);
/* In place of gls_job_fit(), without work on voxels: what tracking would take. */
GLS_API gls_status gls_job_plan(gls_job *job, gls_track_memory *memory);
/* Stop map and model. */
GLS_API gls_status gls_job_fit(gls_job *job);
/* Tracks, to the files of the options. */
GLS_API gls_status gls_job_track(gls_job *job);
/* Tracks to a sink in place of files. It is only appended to: finishing or aborting it is for the caller. */
GLS_API gls_status gls_job_track_to(gls_job *job, const gls_sink *sink);
/* After gls_job_track(); borrowed. */
GLS_API const gls_job_result *gls_job_get_result(const gls_job *job);
/* Accepts NULL. */
GLS_API void gls_job_destroy(gls_job *job);

/* A fit for other programs: PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz, PREFIX_sh.nii.gz, with CSD PREFIX_response.txt, and
 * PREFIX.json. With MSMT in place of PREFIX_sh.nii.gz: PREFIX_wm.nii.gz, PREFIX_gm.nii.gz and PREFIX_csf.nii.gz,
 * responses as PREFIX_wm.txt and so on, and PREFIX_vf.nii.gz, the fractions of CSF, grey and white matter, which sum
 * to 1. PREFIX_mask.nii.gz where the mask is made. With tensor_maps: PREFIX_md.nii.gz, _ad, _rd, _rgb, _v1, _v2, _v3 as
 * gls_tensor_maps(), and _evals, the three eigenvalues. */
typedef struct gls_fit_options {
    size_t size;
    const char *dwi, *prefix;       /* needed */
    const char *bval, *bvec, *mask; /* as in gls_job_options */
    gls_model_options model;        /* default GLS_MODEL_AUTO */
    gls_tensor_method tensor;       /* default GLS_TENSOR_DIPY */
    bool tensor_maps;
    bool no_model; /* the tensor alone */
    bool force;
    int argc;
    char **argv;
} gls_fit_options;
GLS_API gls_fit_options gls_fit_options_default(void);
GLS_API gls_status gls_fit_files(const gls_fit_options *options, const gls_monitor *monitor);

/* How responses are estimated. */
typedef enum gls_response_algorithm {
    GLS_RESPONSE_DHOLLANDER, /* of tissues, from all shells */
    GLS_RESPONSE_TOURNIER,   /* of one shell */
    GLS_RESPONSE_FA,         /* of one shell */
    GLS_RESPONSE_MANUAL,     /* of all shells, from the voxels of the mask */
    GLS_RESPONSE_MSMT_5TT    /* of tissues, from all shells and an image of five tissues */
} gls_response_algorithm;

/* Responses for glslines and for MRtrix3: PREFIX_wm.txt, PREFIX_gm.txt and PREFIX_csf.txt, or of one shell
 * PREFIX_response.txt; PREFIX_voxels.nii.gz, the voxels that they come from; PREFIX.json. See <glslines/responses.h>
 * for the numbers. */
typedef struct gls_respond_options {
    size_t size;
    const char *dwi, *prefix;         /* needed */
    const char *bval, *bvec, *mask;   /* as in gls_job_options */
    gls_response_algorithm algorithm; /* default GLS_RESPONSE_DHOLLANDER */
    const char *act;                  /* GLS_RESPONSE_MSMT_5TT: image of five tissues, needed */
    gls_single_fibres wm;             /* of it, too */
    gls_model_options model;          /* of it bvec_frame, b0_threshold, bvalue_scaling, shells and csd_directions */
    int erode;
    uint64_t n_voxels;
    double fa_threshold, wm_percent, gm_percent, csf_percent, pvf;
    bool force;
    int argc;
    char **argv;
} gls_respond_options;
GLS_API gls_respond_options gls_respond_options_default(void);
GLS_API gls_status gls_respond_files(const gls_respond_options *options, const gls_monitor *monitor);

/* Shards and their sidecars into the tractogram of the whole run and its sidecar; or maps of shards, .nii, .nii.gz,
 * .csv or .tsv, whose names end in _shard-KofN, into their sum. */
typedef struct gls_merge_options {
    size_t size;
    const char *const *shards; /* in any order */
    size_t n_shards;
    const char *output;  /* needed */
    const char *sidecar; /* "none": none is written, none is read; default NULL: beside the output */
    bool force;
    bool fail_if_empty;
    int argc;
    char **argv;
} gls_merge_options;
GLS_API gls_merge_options gls_merge_options_default(void);
/* *result tells what was written, sidecar (room for sidecar_size bytes) where its sidecar lies, "" if there is none;
 * either may be NULL. */
GLS_API gls_status gls_merge_files(const gls_merge_options *options, const gls_monitor *monitor,
                                   gls_merge_result *result, char *sidecar, size_t sidecar_size);

#ifdef __cplusplus
}
#endif
#endif
