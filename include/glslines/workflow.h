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
#include <glslines/shard.h>
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
    GLS_MODEL_AUTO  /* GLS_MODEL_MSMT, where there is no b0 GLS_MODEL_CSD */
} gls_model_kind;

/* Axes of spherical harmonics: 1 + gls_bvec_frame, or by the basis: scanner axes for the tournier07 bases, as MRtrix3
 * has them, else those of FSL's b-vectors, as DIPY has them. */
typedef enum gls_frame { GLS_FRAME_AUTO, GLS_FRAME_FSL, GLS_FRAME_IMAGE, GLS_FRAME_WORLD } gls_frame;

/* Coordinates of listed seeds. */
typedef enum gls_seed_space {
    GLS_SEEDS_VOXEL, /* voxel centres at whole numbers */
    GLS_SEEDS_WORLD  /* mm, RAS+ */
} gls_seed_space;

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

#define GLS_MAX_NUMBERS 8
typedef struct gls_numbers {
    double value[GLS_MAX_NUMBERS];
    int n;
} gls_numbers;

#define GLS_MAX_STRINGS 64
typedef struct gls_strings {
    const char *value[GLS_MAX_STRINGS];
    int n;
} gls_strings;

/* Which points lie outside of the mask. */
typedef enum gls_mask_stop {
    GLS_MASK_STOP_INTERPOLATED, /* none: the stop map, which is 0 there, is all that ends a half-streamline */
    GLS_MASK_STOP_NEAREST       /* those whose nearest voxel does: a half-streamline ends before the first of them */
} gls_mask_stop;

/* A gradient table and a model. */
typedef struct gls_model_options {
    gls_bvec_frame bvec_frame;         /* of the file of b-vectors; default GLS_BVEC_FSL */
    double b0_threshold;               /* s/mm2, >= 0: volumes up to this are b = 0; default 50 */
    gls_bvalue_scaling bvalue_scaling; /* default GLS_BVALUES_SCALED_AUTO */
    gls_model_kind model;              /* default GLS_MODEL_OPDT; of a fit GLS_MODEL_CSD */
    int sh_order;         /* even, 2 .. 12, OPDT and CSA up to 8; default 0: 4, MSMT the response's, at most 8 */
    gls_numbers shells;   /* s/mm2, the shells to use, of MSMT several, else one; default none: CSD takes that of
                             gls_csd_choose_shell(), the others take all volumes */
    const char *response; /* file, CSD only: see gls_response_read(); default NULL: estimated */
    /* files, MSMT only: see gls_tissue_response_read(); default NULL: gls_responses_dhollander(). With white matter
     * alone, or without one of the others, there are fewer tissues */
    const char *response_wm, *response_gm, *response_csf;
    bool force_response;          /* take them for other b-values than those that they name; default false */
    bool normalise, no_normalise; /* MSMT: default both false: gls_normalise() where the mask has 1000 voxels */
    double response_fa;           /* of an estimate: members of gls_response_options; defaults as there */
    int response_radius;
    uint64_t response_voxels;
    const char *csd_directions; /* CSD, MSMT: where ODFs must not be negative, a built-in sphere or a file of
                                   gls_csd_directions_read(); default NULL: "small", MSMT "repulsion600" */
    double sm_lambda;           /* OPDT, CSA: smoothing, >= 0; default 0.006 */
    double min_signal;          /* OPDT, CSA: smaller values are raised to this, > 0; default 1 */
    gls_sh_basis sh_basis;      /* of the file that is read (sh) or written (fit); default GLS_SH_TOURNIER07 */
    gls_frame sh_frame;         /* of that file; default GLS_FRAME_AUTO */
} gls_model_options;

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

/* What to track and how. One of dwi, sh, odf and phantom is needed. */
typedef struct gls_job_options {
    size_t size; /* of this struct */
    /* images; all on one grid */
    const char *dwi;         /* the series */
    const char *bval, *bvec; /* its table, both or none; default NULL: the files beside dwi, dwi.bval and dwi.bvec
                                (.bvals, .bvecs), else bvals and bvecs. bvec "-": bval is a table of
                                gls_gradients_read_table(); bval "-", too: dwi is a .mif that has it */
    const char *mask;        /* voxels > 0; default NULL: gls_mask_estimate() of dwi; without dwi all */
    const char *roi; /* seeds lie in voxels > 0; default NULL: with three tissues gls_seed_region_of_tissues(), else
                        gls_seed_region_of_fa() of 0.2. Without dwi it is needed unless seeds is given */
    const char *fa;  /* stop map; default NULL: FA of a tensor fit */
    const char *sh, *odf; /* ODFs in place of a model: SH, or amplitudes for the directions of sphere */
    bool phantom;         /* the built-in phantom in place of images; default false */
    gls_model_options model;
    const char *sphere;    /* the name of a built-in one, see gls_sphere_create(), or a file; default "default" */
    const char *cache_dir; /* folder that keeps fits; default NULL */
    /* seeds */
    uint64_t nseeds;            /* random ones, 1 .. 2^32 - 1; 0, with track.select: as many as it takes; default
                                   100000 */
    uint64_t seeds_per_voxel;   /* in place of nseeds; default 0 */
    const char *seeds;          /* in place of nseeds: file; default NULL */
    const char *seed_sphere;    /* in place of roi: "x,y,z,r", world mm; default NULL */
    const char *seed_rejection; /* in place of roi: file, seeds in proportion to its values; default NULL */
    const char *seed_gmwmi;     /* in place of roi: file, or "auto"; seeds on the interface of grey and white matter;
                                   default NULL */
    uint64_t seed_grid;         /* in place of nseeds: seeds along each axis of a voxel; default 0 */
    gls_numbers seed_direction; /* none or three: goes to track.seed_direction */
    gls_seed_space seed_space;  /* of that file; default GLS_SEEDS_VOXEL */
    uint64_t seed_seed;         /* random seed of the positions; default 0 */
    const char *shard;          /* "3/8", or "auto": from srun or mpirun; default NULL: all seeds */
    /* tracking; getter GLS_DG_BOOT needs a series and a model other than CSD */
    gls_preset preset; /* of what is not given, see gls_job_options_settle(); default GLS_PRESET_DEFAULT */
    gls_track_params track;
    struct {
        bool step_size, probe_length, probe_radius, min_radius_of_curvature, ptt_substep;
    } in_mm; /* those members of track that are in mm; default false: in voxels, whose size is their smallest side */
    gls_mask_stop mask_stop; /* default GLS_MASK_STOP_NEAREST; without a mask there is nothing to stop at */
    /* regions, each as gls_regions_add() takes it; default none */
    gls_strings include, exclude, tracking_mask, stop_at, include_ordered, include_end, include_both_ends, exclude_end;
    /* tissue, on any grid: an image of five volumes, or files of one; default NULL: none. A track.stop_threshold of -1
     * leaves the stop map out, a track.min_length of -1 stands for two voxels */
    const char *act, *pve_wm, *pve_gm, *pve_csf, *pve_sgm;
    gls_tissue_rule act_rule; /* default GLS_TISSUE_RULE_ACT */
    /* devices */
    const char *device;    /* see gls_device_open(); several names with commas share the work; default "auto" */
    gls_graphics api;      /* default GLS_GRAPHICS_AUTO */
    int ngpus;             /* devices of that name, 1 .. GLS_TRACKER_MAX_DEVICES; default 1 */
    uint64_t memory_limit; /* MB (10^6 bytes) of the host and of each device, of both together where the device's memory
                              is the host's; default 0: none */
    /* output */
    const char *output;             /* its suffix gives the format; "none": only the three below; default NULL:
                                       tracks.trx */
    const char *output_prefix;      /* in place of output: a suffix by format is appended; default NULL */
    gls_tractogram_format format;   /* where output does not give it; default GLS_FORMAT_TRX */
    gls_precision output_precision; /* of positions in TRX; default GLS_PRECISION_FLOAT */
    const char *sidecar;            /* JSON; "none": none; default NULL: beside the output */
    const char *write_mask;         /* the mask, NIfTI; default NULL: none */
    const char *density;            /* map of the streamlines in each voxel, NIfTI; default NULL: none */
    const char *connectome;         /* "labels.nii.gz:matrix.csv", see <glslines/connectome.h>; default NULL: none */
    const char *output_seeds; /* text, for each streamline its number, that of the point at its seed, and the seed,
                                 world mm; default NULL: none */
    const char *profile;      /* "bundles.tsv:profile.csv" or "bundles.tsv:image,image:profile.csv", see
                                 <glslines/bundles.h>; without images the stop map; default NULL: none */
    bool weights;             /* SIFT2 weights, see <glslines/weights.h>: a column of TRX files, else a text file;
                                 connectome sums them up. Needs sh, or the model CSD. Default false */
    bool force;               /* overwrite; default false */
    bool skip_existing;       /* do nothing where all outputs are there and the sidecar tells of the same inputs and
                                 parameters; default false */
    bool resume;        /* keep a journal, output with ".resume" behind it, until the outputs are complete; where there
                           is one of such a run, go on behind it; default false */
    bool fail_if_empty; /* GLS_ERR_EMPTY where there is no streamline (the file is written); default false */
    int argc;           /* words of the command line to note in the sidecar; default 0: none */
    char **argv;
} gls_job_options;
/* Those of the bootstrap over OPDT. */
GLS_API gls_job_options gls_job_options_default(void);
/* Gives all that was not given the default of the preset, direction getter and model, which are chosen first where they
 * are not given: dg ifod2 with MSMT, prob with CSD, sh or odf; model AUTO where mask or roi are left to the library.
 * given: names of options, such as "max-angle", up to NULL; NULL: none. To be called once, when all else is set. */
GLS_API void gls_job_options_settle(gls_job_options *options, const char *const *given);

/* What a job did. */
typedef struct gls_job_result {
    gls_track_result track;
    const char *output, *sidecar; /* names of files, sidecar NULL: none; valid as long as the job */
    uint64_t output_bytes;
    bool skipped; /* by skip_existing: nothing was done, and only the names are set */
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
 * to 1. PREFIX_mask.nii.gz where the mask is made. */
typedef struct gls_fit_options {
    size_t size;
    const char *dwi, *prefix;       /* needed */
    const char *bval, *bvec, *mask; /* as in gls_job_options */
    gls_model_options model;        /* default GLS_MODEL_CSD */
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
    GLS_RESPONSE_MANUAL      /* of all shells, from the voxels of the mask */
} gls_response_algorithm;

/* Responses for glslines and for MRtrix3: PREFIX_wm.txt, PREFIX_gm.txt and PREFIX_csf.txt, or of one shell
 * PREFIX_response.txt; PREFIX_voxels.nii.gz, the voxels that they come from; PREFIX.json. See <glslines/responses.h>
 * for the numbers. */
typedef struct gls_respond_options {
    size_t size;
    const char *dwi, *prefix;         /* needed */
    const char *bval, *bvec, *mask;   /* as in gls_job_options */
    gls_response_algorithm algorithm; /* default GLS_RESPONSE_DHOLLANDER */
    gls_model_options model;          /* of it bvec_frame, b0_threshold, bvalue_scaling, shells and csd_directions */
    int erode;
    uint64_t n_voxels;
    double fa_threshold, wm_percent, gm_percent, csf_percent;
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
