/* Whole runs, from files to files: tracking, fits, responses and merging. The commands track, fit, response and merge
 * of the program call these functions; the same options give the same files.
 *
 *     gls_job_options options = gls_job_options_default();
 *     options.dwi = "dwi.nii.gz";
 *     options.bval = "dwi.bval";
 *     options.bvec = "dwi.bvec";
 *     options.mask = "mask.nii.gz";
 *     options.roi = "wm.nii.gz";
 *     options.output = "tracks.trx";
 *     const char *given[] = {"mask", "roi", "output", NULL};
 *     options.given = given;
 *     if (gls_track_files(&options, NULL, NULL) != GLS_OK) fprintf(stderr, "%s\n", gls_last_error());
 *
 * These functions do not print. Lines for the user go to the log (<glslines/log.h>) with the levels info and warning,
 * and gls_last_error() is the text of a failure. Both call a parameter by the name of its option on the command line.
 * Strings of options are borrowed until the job is destroyed or the function returns. Several jobs may run at the same
 * time, each on a thread of its own. */
#ifndef GLSLINES_WORKFLOW_H
#define GLSLINES_WORKFLOW_H

#include <glslines/connectome.h>
#include <glslines/gradients.h>
#include <glslines/merge.h>
#include <glslines/responses.h>
#include <glslines/shard.h>
#include <glslines/tensor.h>
#include <glslines/track.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model that gives ODFs. GLS_MODEL_OPDT and GLS_MODEL_CSA have the values of gls_qball_model. */
typedef enum gls_model_kind {
    GLS_MODEL_OPDT,
    GLS_MODEL_CSA,
    GLS_MODEL_CSD,  /* constrained spherical deconvolution of one shell */
    GLS_MODEL_MSMT, /* multi-tissue deconvolution of all shells into white matter, grey matter and CSF; with one shell
                       and b0 volumes into white matter and CSF */
    GLS_MODEL_AUTO  /* GLS_MODEL_CSD if `response` is given; else GLS_MODEL_MSMT if response_wm is given; else
                       GLS_MODEL_CSD without b0 volumes or, unless shells are chosen, with b-values on a grid; else
                       GLS_MODEL_MSMT */
} gls_model_kind;

/* Where streamlines from dynamic seeds start. */
typedef enum gls_dynamic_direction { GLS_DYNAMIC_FIXEL, GLS_DYNAMIC_RANDOM } gls_dynamic_direction;

/* Weights of streamlines that a run of tracking computes. */
typedef enum gls_run_weights {
    GLS_RUN_WEIGHTS_NONE,
    GLS_RUN_WEIGHTS_SIFT2, /* from FODs */
    GLS_RUN_WEIGHTS_COMMIT /* from the signal */
} gls_run_weights;

/* Axes of spherical harmonics. GLS_FRAME_AUTO: chosen by the basis: scanner axes for the tournier07 bases, as in
 * MRtrix3, else the axes of FSL's b-vectors, as in DIPY. The other values are 1 + gls_bvec_frame. */
typedef enum gls_frame { GLS_FRAME_AUTO, GLS_FRAME_FSL, GLS_FRAME_IMAGE, GLS_FRAME_WORLD } gls_frame;

/* The set of defaults for options that are not given; 'glslines help presets' lists the values. The values of a preset
 * of another program never change. */
typedef enum gls_preset {
    GLS_PRESET_DEFAULT, /* glslines' own, chosen by measurement */
    GLS_PRESET_GPUSTREAMLINES,
    GLS_PRESET_DIPY,
    GLS_PRESET_TCKGEN,
    GLS_PRESET_QSIRECON,
    GLS_PRESET_PYAFQ,
    GLS_PRESET_TRACTOFLOW
} gls_preset;

/* How a half-streamline ends at the border of the mask. */
typedef enum gls_mask_stop {
    GLS_MASK_STOP_INTERPOLATED, /* only by the interpolated stop map, which is 0 outside the mask */
    GLS_MASK_STOP_NEAREST       /* also before its first point whose nearest voxel lies outside the mask */
} gls_mask_stop;

/* clang-format off */
/* Options of the gradient table and of the model: the rows of params.def that belong to them. In addition:
 * - model: gls_job_options_default() and gls_fit_options_default() set GLS_MODEL_AUTO.
 * - sh_order: even; with OPDT and CSA up to 8. 0 is the default: 4 with OPDT and CSA; with MSMT the order of the
 *   response, up to 8; with CSD the largest order up to 8 that the directions determine (by MRtrix3's rule, the order
 *   of a response that is read).
 * - shells: b-values, of which those up to b0_threshold name the b = 0 volumes; several with MSMT or without a model,
 *   else one. All that is computed from the series is computed from these volumes, and those of b = 0. None: all
 *   volumes, and CSD takes the shell of gls_csd_choose_shell().
 * - tensor_shells: b-values of the shells of the tensor. None: the volumes of shells.
 * - response: CSD, see gls_response_read(). NULL: it is estimated with response_fa, response_radius and
 *   response_voxels, the members of gls_response_options.
 * - response_wm, response_gm, response_csf: MSMT, see gls_tissue_response_read(). NULL: gls_responses_dhollander().
 *   With response_wm alone, or without one of the other two, there are fewer tissues.
 * - force_response: use responses even if their b-values differ from the b-values of the series.
 * - normalise, no_normalise: MSMT. Both false: gls_normalise() is called if the mask has 1000 voxels or more.
 * - csd_rule: CSD, a member of gls_csd_options.
 * - csd_directions: a built-in sphere or a file of gls_csd_directions_read(). NULL: with CSD by DIPY's rule "small",
 *   with CSD by MRtrix3's rule and with MSMT "repulsion600".
 * - sh_basis, sh_frame: basis and axes of the file that tracking reads (sh) or that a fit writes.
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
    GLS_PHASE_FIT,   /* fit of a model; progress in voxels if the fit takes long */
    GLS_PHASE_TRACK, /* progress in seeds */
    GLS_PHASE_MERGE, /* progress in bytes */
    GLS_PHASE_WRITE, /* completing and naming files; no progress, only a chance to cancel before files remain */
    GLS_PHASE_TEST   /* permutation tests; progress in shuffles */
} gls_phase;
typedef struct gls_progress {
    gls_phase phase;
    uint64_t done, total;                 /* total 0: no progress to show, only a chance to cancel */
    uint64_t streamlines, points;         /* GLS_PHASE_TRACK */
    uint64_t verdicts[GLS_VERDICT_COUNT]; /* GLS_PHASE_TRACK: number of streamlines by verdict */
} gls_progress;

/* Watches a run. Called from the thread of the run; members may be NULL. */
typedef struct gls_monitor {
    void *user;
    void (*begin)(void *user, gls_phase phase);             /* a phase begins; phases do not nest */
    bool (*step)(void *user, const gls_progress *progress); /* progress; return false to cancel: GLS_ERR_CANCELLED */
    void (*end)(void *user, gls_phase phase);               /* called once for every begin(), also after a failure */
} gls_monitor;

/* clang-format off */
/* The inputs and options of a run of tracking: the rows of params.def say what the members are. At least one of dwi,
 * sh, odf, peaks, bedpostx and phantom must be set; for getters that look at no data (GLS_FROM_NOTHING) mask or roi is
 * enough, which gives the grid. All images but tissues and regions must be on one grid. In addition:
 * - mask: NULL stands for the mask of the phantom or of bedpostx; else for gls_mask_estimate() of dwi; without dwi for
 *   all voxels.
 * - roi: NULL stands for the region of the phantom; else with three tissues for gls_seed_region_of_tissues(); else for
 *   gls_seed_region_of_fa() of 0.2. seeds, seed_sphere, seed_rejection and seed_gmwmi replace it; without them, dwi and
 *   fa it is needed.
 * - fa: the stop map. NULL stands for a map that is 1 everywhere if the getter ends streamlines by its own data (see
 *   gls_getter_ends_itself()), or if tissue ends them and there is no dwi; else for FA of a tensor fit.
 * - sphere: the name of a built-in one, see gls_sphere_create(), or a file.
 * - nseeds: 0 (only with select) stands for as many seeds as select needs. Set seeds_per_voxel, seeds (a file) or
 *   seed_grid instead of nseeds for other seeds.
 * - seed_direction: none or three numbers, for the tracker.
 * - shard: "3/8", or "auto" for what srun or mpirun says. NULL: all seeds.
 * - preset: the set of defaults for options that are not given, see gls_job_options_set_defaults().
 * - regions: each a text as gls_regions_add() takes it.
 * - stop_threshold: with tissue, a negative value leaves the stop map out.
 * - device: see gls_device_open(); several names with commas share the work. ngpus: 1 to GLS_TRACKER_MAX_DEVICES.
 * - output: NULL stands for tracks.trx. sidecar: NULL stands for a file beside output.
 */
/* clang-format on */
#define GLS_CHOICE_peaks_frame gls_frame
#define GLS_CHOICE_seed_space gls_seed_space
#define GLS_CHOICE_dynamic_direction gls_dynamic_direction
#define GLS_CHOICE_preset gls_preset
#define GLS_CHOICE_mask_stop gls_mask_stop
#define GLS_CHOICE_act_rule gls_tissue_rule
#define GLS_CHOICE_api gls_graphics
#define GLS_CHOICE_labels gls_connectome_rows
#define GLS_CHOICE_weights gls_run_weights
#define GLS_CHOICE_format gls_tractogram_format
#define GLS_CHOICE_output_precision gls_precision
#define GLS_OPTION_JOB(member) member
#define GLS_OPTION_TRACK(member)
#define GLS_OPTION_GRADIENTS(member)
#define GLS_OPTION_MODEL(member)
#define GLS_OPTION_BASIS(member)
#define GLS_OPTION_COMMAND(member)
typedef struct gls_job_options {
    size_t size;              /* size of this struct, set by the default function */
    const char *dwi;          /* path of the diffusion-weighted series */
    const char *bval, *bvec;  /* gradient table of the series; set both or none. Default NULL: the files beside dwi with
                                 its name and .bval and .bvec (or .bvals and .bvecs), else bvals and bvecs in its folder.
                                 bvec "-": bval is a table of gls_gradients_read_table(). Both "-": dwi is a .mif whose
                                 header has the table */
    const char *const *given; /* names of the options that were given, as on the command line, such as
                                 "max-angle", NULL-terminated. The job completes the options by them, as
                                 gls_job_options_complete() does. Default NULL: they are complete. Since 0.2.0 */
    bool one_shell;           /* the one shell of the series decides the default model and getter, see
                                 gls_job_options_complete(); default false */
    gls_model_options model;
    gls_track_params track; /* getter GLS_DG_BOOT needs a series and the model OPDT or CSA */
#define GLS_PARAM(owner, group, type, field, ...) GLS_OPTION_##owner(GLS_FIELD_##type(field))
#include <glslines/params.def>
#undef GLS_PARAM
    struct {
#define GLS_PARAM(owner, group, type, field, ...) GLS_IN_MM_##type(field)
#include <glslines/params.def>
#undef GLS_PARAM
    } in_mm; /* true: the length is in mm; default false: in voxels, whose size is their smallest side. Negative lengths
                are always in voxels, whose size is then the cube root of their volume */
    int argc; /* words of the command line to note in the sidecar; default 0: none */
    char **argv;
} gls_job_options;
/* The default options, with the model and the getter for a series that is not known: GLS_MODEL_AUTO and GLS_DG_IFOD2.
 */
GLS_API gls_job_options gls_job_options_default(void);
/* Sets the options that are not given, and whose default depends on preset, data, getter or model, to this default,
 * without a look at the series. Call it after all given options are set. given: names of the given options, such as
 * "max-angle", NULL-terminated; NULL: none. The model and the direction getter are chosen first, by the preset and the
 * kind of data. Without a preset: AUTO and ifod2 for a series, prob for sh and odf, fact for peaks, bedpost for
 * bedpostx; a given OPDT or CSA gets boot, a given CSD gets prob, a given boot gets OPDT; one_shell, unless a model, a
 * response or another getter is given: CSD and det. All other defaults follow from the preset, the getter and the
 * model. Since 0.2.0. */
GLS_API void gls_job_options_set_defaults(gls_job_options *options, const char *const *given);
/* Completes the options as a job does whose `given` is set, for a caller who needs the values before. Sets one_shell by
 * the gradient table of the series (dwi or phantom), sets the defaults of options that are not given, as
 * gls_job_options_set_defaults() does, and checks that the run uses the given ones. So name each option whose member
 * you set: a value without its name may be lost, and is not checked. given NULL: there are none. Sets options->given to
 * NULL. one_shell: b = 0 and one shell, of b = 1900 s/mm2 or more, whose directions determine order 8. A table that
 * cannot be read is no failure here: the run refuses it. GLS_ERR_ARGUMENT: a given option has no effect, two exclude
 * each other, or a name is that of no option. Since 0.2.0. */
GLS_API gls_status gls_job_options_complete(gls_job_options *options, const char *const *given);

/* How the number of seeds is set. */
typedef enum gls_seed_kind {
    GLS_SEEDS_COUNTED, /* nseeds: a number for the whole run */
    GLS_SEEDS_LISTED,  /* seeds: a file */
    GLS_SEEDS_PER_VOXEL,
    GLS_SEEDS_ON_GRID
} gls_seed_kind;
/* The kind of run that options ask for. Texts are constants, or belong to the options. */
typedef struct gls_method {
    const struct gls_getter *getter; /* row of the direction getter, for the library alone */
    gls_getter_source source;        /* what the getter reads */
    const char *given;  /* option that gives the directions in place of a model: "sh", "odf", "peaks" or "bedpostx";
                           NULL: none */
    const char *tissue; /* where the tissue comes from: file of act, first file of tissue maps, or "built-in phantom";
                           NULL: no tissue */
    gls_seed_kind seeds;
    bool fits;        /* a model is fitted */
    bool odf;         /* ODFs are needed, from a file or from a model, even if only to find peaks in them */
    bool series;      /* the getter reads the diffusion series on the device */
    bool peaks;       /* the getter follows peaks: of files, of ODFs, of bedpostX or of tensors */
    bool finds_peaks; /* these peaks are found by the run, in ODFs or tensors */
    bool tensors;     /* the getter follows the main axes of tensors that are fitted to the series */
    bool stop_map;    /* a stop map ends streamlines */
    bool masks_alone; /* the image of mask or roi gives the grid: the getter looks at no data, and no data are given */
} gls_method;
/* Decides the method once model and getter are chosen, see gls_job_options_set_defaults(). Since 0.2.0. */
GLS_API gls_method gls_method_of(const gls_job_options *options);

/* Result of a job. */
typedef struct gls_job_result {
    gls_track_result track;       /* lengths in it are sums of distances between the points that were written */
    const char *output, *sidecar; /* names of files, sidecar NULL: none; valid as long as the job */
    uint64_t output_bytes;
    bool skipped; /* skip_existing found the outputs of an equal run: nothing was done, and only output, sidecar and
                     track.streamlines are set */
    double seconds_read, seconds_fit, seconds_upload, seconds_track, seconds_write, seconds_total;
} gls_job_result;

/* Runs a whole job: reads the files that the options name, fits, tracks, and writes the tractogram and its sidecar.
 * monitor and result may be NULL; the names in *result are NULL. A failure leaves no file behind, with two exceptions:
 * GLS_ERR_EMPTY (fail_if_empty), after which files and *result are complete, and the journal of `resume`. */
GLS_API gls_status gls_track_files(const gls_job_options *options, const gls_monitor *monitor, gls_job_result *result);

/* A job that is run step by step: create, open, fit (or plan), track, destroy. */
typedef struct gls_job gls_job;
/* Copies the options and completes them, unless they are complete. Checks them, that inputs can be read and outputs can
 * be written; nothing slow. */
GLS_API gls_status gls_job_create(const gls_job_options *options, const gls_monitor *monitor, gls_job **job);
/* Opens devices; reads and compares images; makes seeds, unless their region comes from the fit. With skip_existing,
 * gls_job_result.skipped then says whether the job was done before; such a job can only be destroyed. */
GLS_API gls_status gls_job_open(gls_job *job);
/* Computes, without work on voxels, the memory that tracking would need. Call this in place of gls_job_fit(). */
GLS_API gls_status gls_job_plan(gls_job *job, gls_track_memory *memory);
/* Makes the anatomy of --t1 unless it is kept, and the stop map; fits the model, and makes the seeds where no region
 * was given. Call it after gls_job_open(). */
GLS_API gls_status gls_job_fit(gls_job *job);
/* Tracks and writes all files that the options name. Call it after gls_job_fit(). */
GLS_API gls_status gls_job_track(gls_job *job);
/* Tracks into a sink and writes no files. The job only appends to the sink; the caller finishes or aborts it. */
GLS_API gls_status gls_job_track_to(gls_job *job, const gls_sink *sink);
/* The result, complete after gls_job_track(); borrowed until the job is destroyed. */
GLS_API const gls_job_result *gls_job_get_result(const gls_job *job);
/* Frees `job`, which may be NULL. */
GLS_API void gls_job_destroy(gls_job *job);

/* Options of a fit that is written for other programs. The files are PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz,
 * PREFIX_sh.nii.gz and PREFIX.json; with CSD also PREFIX_response.txt. With MSMT, PREFIX_wm.nii.gz, PREFIX_gm.nii.gz
 * and PREFIX_csf.nii.gz, for the tissues that are fitted, replace PREFIX_sh.nii.gz; PREFIX_wm.txt and so on are their
 * responses, and PREFIX_vf.nii.gz holds the fractions of CSF, grey matter and white matter, which sum to 1.
 * PREFIX_mask.nii.gz is written if no mask is given. tensor_maps adds PREFIX_md.nii.gz, _ad, _rd, _rgb, _v1, _v2, _v3,
 * see gls_tensor_maps(), and _evals, the three eigenvalues. */
typedef struct gls_fit_options {
    size_t size;                    /* size of this struct, set by the default function */
    const char *dwi, *prefix;       /* the series, and the start of the names of files; both needed */
    const char *bval, *bvec, *mask; /* as in gls_job_options */
    gls_model_options model;        /* default GLS_MODEL_AUTO */
    gls_tensor_method tensor;       /* default GLS_TENSOR_DIPY */
    bool tensor_maps;               /* also write the maps of gls_tensor_maps(); default false */
    bool no_model;                  /* fit the tensor alone; default false */
    bool force;                     /* replace existing files; default false: GLS_ERR_OUTPUT */
    int argc;                       /* as in gls_job_options */
    char **argv;
} gls_fit_options;
GLS_API gls_fit_options gls_fit_options_default(void);
/* Reads the series, fits it and writes the files, all or none. monitor may be NULL. */
GLS_API gls_status gls_fit_files(const gls_fit_options *options, const gls_monitor *monitor);

/* How responses are estimated. */
typedef enum gls_response_algorithm {
    GLS_RESPONSE_DHOLLANDER, /* gls_responses_dhollander(): three tissues, all shells */
    GLS_RESPONSE_TOURNIER,   /* gls_responses_tournier(): single bundles, one shell */
    GLS_RESPONSE_FA,         /* gls_responses_fa(): single bundles, one shell */
    GLS_RESPONSE_MANUAL,     /* gls_responses_manual(): all shells, from the voxels of the mask */
    GLS_RESPONSE_MSMT_5TT    /* gls_responses_msmt_5tt(): three tissues, all shells, with an image of five tissues */
} gls_response_algorithm;

/* Options of an estimate of responses, which glslines and MRtrix3 read. The files are PREFIX_wm.txt, PREFIX_gm.txt and
 * PREFIX_csf.txt, or for one response PREFIX_response.txt; PREFIX_voxels.nii.gz, the voxels that were used;
 * PREFIX_mask.nii.gz if no mask is given; and PREFIX.json. <glslines/responses.h> explains the numbers. */
typedef struct gls_respond_options {
    size_t size;                      /* size of this struct, set by the default function */
    const char *dwi, *prefix;         /* the series, and the start of the names of files; both needed */
    const char *bval, *bvec, *mask;   /* as in gls_job_options */
    gls_response_algorithm algorithm; /* default GLS_RESPONSE_DHOLLANDER */
    const char *act;                  /* GLS_RESPONSE_MSMT_5TT: image of five tissues, needed */
    gls_strings transform;            /* with `act`: as in gls_job_options */
    gls_model_options model; /* only bvec_frame, b0_threshold, bvalue_scaling, shells and csd_directions are used */
    gls_responses_options estimate; /* bval, direction and n_directions are set from `model` */
    bool force;                     /* replace existing files; default false: GLS_ERR_OUTPUT */
    int argc;                       /* as in gls_job_options */
    char **argv;
} gls_respond_options;
GLS_API gls_respond_options gls_respond_options_default(void);
/* Reads the series, estimates the responses and writes the files, all or none. monitor may be NULL. */
GLS_API gls_status gls_respond_files(const gls_respond_options *options, const gls_monitor *monitor);

/* Options of a merge: of shards and their sidecars into the tractogram of the whole run and its sidecar, or of maps of
 * shards (.nii, .nii.gz, .csv or .tsv, with names that end in _shard-KofN) into their sum. */
typedef struct gls_merge_options {
    size_t size;               /* size of this struct, set by the default function */
    const char *const *shards; /* paths of the shards, in any order */
    size_t n_shards;
    const char *output; /* needed */
    const char
        *sidecar; /* path of the sidecar; default NULL: beside the output. "none": no sidecar is read or written */
    bool force;   /* replace existing files; default false: GLS_ERR_OUTPUT */
    bool fail_if_empty; /* GLS_ERR_EMPTY if the tractogram has no streamline; the files are written; default false */
    int argc;           /* as in gls_job_options */
    char **argv;
} gls_merge_options;
GLS_API gls_merge_options gls_merge_options_default(void);
/* Merges the shards into output. *result gets the counts of what was written; sidecar (memory for sidecar_size bytes)
 * gets the path of the sidecar, "" if there is none. Both may be NULL. */
GLS_API gls_status gls_merge_files(const gls_merge_options *options, const gls_monitor *monitor,
                                   gls_merge_result *result, char *sidecar, size_t sidecar_size);

#ifdef __cplusplus
}
#endif
#endif
