/* Tractography: from a fitted model, a stop map and seeds to streamlines. */
#ifndef GLSLINES_TRACK_H
#define GLSLINES_TRACK_H

#include <glslines/device.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/odf.h>
#include <glslines/params_fields.h>
#include <glslines/qball.h>
#include <glslines/regions.h>
#include <glslines/seeds.h>
#include <glslines/sphere.h>
#include <glslines/streamlines.h>
#include <glslines/tissue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the next direction is found: the values of gls_direction_getter, and the words of --dg. boot: residual bootstrap
 * over a q-ball model, closest peak (Berman et al. 2008); prob: a draw from the ODF inside the cone; det: the largest
 * ODF value inside the cone; ptt: parallel transport tractography (Aydogan and Shi 2021), curves by rejection; ifod1: a
 * draw from the FOD inside the cone (Tournier et al. 2012), as MRtrix3's iFOD1; ifod2: arcs drawn by the FOD along them
 * (Tournier et al. 2010), as MRtrix3's iFOD2; sdstream: the FOD's peak that is reached by climbing from the last
 * direction, as MRtrix3's SD_STREAM; fact: the peak of the nearest voxel, as MRtrix3's FACT (Mori et al. 1999); eudx:
 * the mean of the peaks of the eight voxels around, as DIPY's EuDX (Garyfallidis 2012); tensordet: the principal
 * eigenvector of a tensor that is fitted at each point, as MRtrix3's Tensor_Det (Basser et al. 2000); tensorprob: like
 * tensordet, but of signals that a wild bootstrap draws for each streamline, as MRtrix3's Tensor_Prob (Jones 2008);
 * nulldist1, nulldist2: uniform in the cone whatever the data, as MRtrix3's NullDist1 and NullDist2 (Morris et al.
 * 2008); seedtest: the seeds alone, as MRtrix3's SeedTest; closest: the ODF's peak nearest to the last direction, as
 * DIPY's closest peak; bedpost: a fibre of a random sample in a random one of the eight voxels around, as FSL's
 * probtrackx2 (Behrens et al. 2007). */
#define GLS_GETTERS(ROW)               \
    ROW(GLS_DG_BOOT, boot)             \
    ROW(GLS_DG_PROB, prob)             \
    ROW(GLS_DG_DET, det)               \
    ROW(GLS_DG_PTT, ptt)               \
    ROW(GLS_DG_IFOD1, ifod1)           \
    ROW(GLS_DG_IFOD2, ifod2)           \
    ROW(GLS_DG_SDSTREAM, sdstream)     \
    ROW(GLS_DG_FACT, fact)             \
    ROW(GLS_DG_EUDX, eudx)             \
    ROW(GLS_DG_TENSORDET, tensordet)   \
    ROW(GLS_DG_TENSORPROB, tensorprob) \
    ROW(GLS_DG_NULLDIST1, nulldist1)   \
    ROW(GLS_DG_NULLDIST2, nulldist2)   \
    ROW(GLS_DG_SEEDTEST, seedtest)     \
    ROW(GLS_DG_CLOSEST, closest)       \
    ROW(GLS_DG_BEDPOST, bedpost)
#define GLS_GETTER_VALUE(value, word) value,
typedef enum gls_direction_getter {
    GLS_GETTERS(GLS_GETTER_VALUE) GLS_DG_COUNT /* number of getters */
} gls_direction_getter;
/* Whether a getter ends streamlines by its own data. Such a getter needs no stop map: give one that is 1 everywhere. */
GLS_API bool gls_getter_ends_itself(gls_direction_getter dg);
/* Members of gls_track_input that a getter reads besides the stop map. */
typedef enum gls_getter_source {
    GLS_FROM_ODF,    /* odf */
    GLS_FROM_QBALL,  /* dwi, gradients, qball and sphere */
    GLS_FROM_PEAKS,  /* peaks */
    GLS_FROM_SERIES, /* dwi and gradients */
    GLS_FROM_NOTHING
} gls_getter_source;
/* The members of gls_track_input that a getter reads. Since 0.2.0. */
GLS_API gls_getter_source gls_getter_source_of(gls_direction_getter dg);

/* How invocations are mapped to streamlines. */
typedef enum gls_mapping {
    GLS_MAPPING_AUTO,     /* GLS_MAPPING_SINGLE for getters without work to share, else gls_mapping_auto() */
    GLS_MAPPING_SINGLE,   /* one invocation per streamline: for renderers on the CPU */
    GLS_MAPPING_SUBGROUP, /* one subgroup per streamline (needs KHR_shader_subgroup) */
    GLS_MAPPING_GROUP,    /* one work group per streamline: shares the work like GLS_MAPPING_SUBGROUP, but needs no
                             extension */
    GLS_MAPPING_COUNT
} gls_mapping;
/* Name of a mapping: "auto", "single", "subgroup" or "group". */
GLS_API const char *gls_mapping_name(gls_mapping mapping);

/* When a bootstrap attempt counts as failed and is repeated (five attempts at most). */
typedef enum gls_boot_retry {
    GLS_BOOT_RETRY_CONE, /* no peak inside the cone: GPUStreamlines' rule, the default */
    GLS_BOOT_RETRY_PEAK  /* no peak at all: DIPY's rule */
} gls_boot_retry;

/* The signal from whose ODF the bootstrap takes its initial directions. */
typedef enum gls_boot_start {
    GLS_BOOT_START_SAMPLE, /* one bootstrap sample: GPUStreamlines' rule, the default */
    GLS_BOOT_START_FIT     /* the fit of the measured signal: newer DIPY's rule */
} gls_boot_start;

/* The fibre of a sample of bedpostX along which a half-streamline begins. */
typedef enum gls_start_fibre {
    GLS_START_FIBRE_FIRST, /* the first fibre */
    GLS_START_FIBRE_ANY,   /* a random fibre whose fraction is above the cutoff, all with the same probability */
    GLS_START_FIBRE_BY_F,  /* a random fibre whose fraction is above the cutoff, with a probability in proportion to its
                              fraction */
    GLS_START_FIBRE_ALL    /* a random fibre, whatever its fraction */
} gls_start_fibre;
#define GLS_START_FIBRE_CHOICES "first|any|by-f|all"

/* Whether include and exclude regions keep and reject whole streamlines, or each half-streamline by itself. */
typedef enum gls_region_rule {
    GLS_REGION_RULE_STREAMLINE, /* whole streamlines */
    GLS_REGION_RULE_HALVES,     /* half-streamlines, as probtrackx2 does; together they must meet all include regions */
    GLS_REGION_RULE_HALVES_ANY, /* half-streamlines; together they must meet one include region */
    GLS_REGION_RULE_HALVES_ORDERED, /* half-streamlines; include regions must be met in their order */
    GLS_REGION_RULE_HALVES_ONE_WAY  /* half-streamlines; all include regions must be met by the same half-streamline */
} gls_region_rule;
#define GLS_REGION_RULE_CHOICES "streamline|halves|halves-any|halves-ordered|halves-one-way"

/* Values that are interpolated between voxels where ODFs come as SH. ifod1, ifod2 and sdstream always interpolate
 * coefficients. */
typedef enum gls_odf_interpolation {
    GLS_ODF_INTERPOLATE_AUTO,         /* prob, det, closest: coefficients where they are possible (see odf_interpolation
                                         below), else amplitudes */
    GLS_ODF_INTERPOLATE_COEFFICIENTS, /* SH coefficients; negative lobes are clipped after interpolation: DIPY's
                                         from_shcoeff, MRtrix3 */
    GLS_ODF_INTERPOLATE_AMPLITUDES /* amplitudes on the sphere, clipped voxel by voxel: GPUStreamlines, DIPY's from_pmf
                                    */
} gls_odf_interpolation;

/* clang-format off */
/* The rows of params.def that belong to the tracker: their help, range and default say what the members are. Besides:
 * - step_size, probe_length and all other lengths are in mm. The defaults of step_size, probe_length and ptt_substep
 *   are meant for voxels of 1 mm, see gls_track_params_scale(). A negative step_size, min_length or max_length is a
 *   length in voxels, which gls_tracker_create() refuses until it is converted.
 * - fod_cutoff, seed_cutoff: -1 stands for the default, see gls_track_cutoff() and gls_track_seed_cutoff().
 * - fod_power: a value below 0 stands for 1 / ifod_samples.
 * - min_radius_of_curvature: 0 stands for the radius of the arc whose chord of step_size bends by max_angle.
 * - probe_quality: number of samples besides the start. The sum of all samples, the start's included, must be at least
 *   probe_quality x pmf_threshold.
 * - seed_unidirectional: where neither a direction nor tissue decides, the side that is tracked is drawn at random.
 * - backtrack: only with tissue of the rule act and a getter with random steps, other than ptt and tensorprob; not with
 *   stop_at_all nor loop_check.
 * - pft: only with prob or det and tissue of the rule pve or cmc; not with backtrack, stop_at_all nor regions of
 *   GLS_REGION_STOP_LEAVING. The lengths pft_back and pft_front, each rounded up to whole steps, are 64 steps at most
 *   together.
 * - downsample, compress: 1 and 0 keep all points; not both. Segments of compress are up to 10 mm long.
 * - select: 0 tracks all seeds; else the run ends with this many streamlines, the first in the order of seeds.
 * - region_rule: tissue and stop_at_all need GLS_REGION_RULE_STREAMLINE.
 * - odf_interpolation: coefficients need the getter prob, det or closest, and SH of even orders on an antipodal sphere
 *   that are not normalised; else GLS_ERR_ARGUMENT.
 * - batch_seeds: 0 lets the device's limits decide; the number never changes the result. */
/* clang-format on */
#define GLS_CHOICE_dg gls_direction_getter
#define GLS_CHOICE_start_fibre gls_start_fibre
#define GLS_CHOICE_region_rule gls_region_rule
#define GLS_CHOICE_boot_retry gls_boot_retry
#define GLS_CHOICE_boot_start gls_boot_start
#define GLS_CHOICE_odf_interpolation gls_odf_interpolation
#define GLS_CHOICE_mapping gls_mapping
#define GLS_CHOICE_precision gls_precision
#define GLS_PARAM(owner, group, type, field, ...) GLS_TRACKER_##owner(GLS_FIELD_##type(field))
#define GLS_TRACKER_TRACK(member) member
#define GLS_TRACKER_JOB(member)
#define GLS_TRACKER_GRADIENTS(member)
#define GLS_TRACKER_MODEL(member)
#define GLS_TRACKER_BASIS(member)
#define GLS_TRACKER_COMMAND(member)
typedef struct gls_track_params {
    size_t size; /* size of this struct, set by the default function */
#include <glslines/params.def>
    double seed_direction[3]; /* a vector along world axes: one streamline starts from each seed, towards the side to
                                 which the vector points, along the peak nearest to it if the angle is at most
                                 max_angle. sdstream: along the peak reached from the vector. ifod1, ifod2, nulldist1,
                                 nulldist2: along the vector itself. tensordet, tensorprob: along the vector itself if
                                 it is within max_angle of the eigenvector. Default 0 0 0: the getter finds the
                                 directions */
} gls_track_params;
#undef GLS_PARAM
/* The defaults of GPUStreamlines, the same for every getter. */
GLS_API gls_track_params gls_track_params_default(void);
/* The defaults of `glslines track` for a getter over given ODFs, chosen by measurement. Negative lengths are in voxels,
 * whose size is the cube root of their volume. */
GLS_API gls_track_params gls_track_params_default_for(gls_direction_getter dg);
/* Converts lengths in voxels to mm; `voxel`: size of a voxel, mm. Multiplies a positive step_size, probe_length and
 * ptt_substep by `voxel`. Replaces a negative step_size, min_length or max_length by its absolute value times `voxel`.
 * A positive step_size of GLS_DG_EUDX is in mm already, as in DIPY, and stays. */
GLS_API void gls_track_params_scale(gls_track_params *params, double voxel);
/* The interpolation that these parameters give with these ODFs: never GLS_ODF_INTERPOLATE_AUTO. */
GLS_API gls_odf_interpolation gls_track_interpolation(const gls_track_params *params, const gls_odf_source *odf);
/* The value of fod_cutoff; if it is -1, its default for the getter. */
GLS_API double gls_track_cutoff(const gls_track_params *params);
/* The value of seed_cutoff; if it is -1, 0 for eudx and bedpost and gls_track_cutoff() for all other getters. */
GLS_API double gls_track_seed_cutoff(const gls_track_params *params);
/* The largest curvature of a PTT curve, 1/mm. */
GLS_API double gls_track_max_curvature(const gls_track_params *params);

/* The data to track, all on one grid. Everything that the pointers point to is borrowed until gls_tracker_destroy(),
 * because the tracker fills a new context with it after a device was lost. */
typedef struct gls_track_input {
    const gls_image *dwi;           /* boot, tensordet, tensorprob: the series */
    const gls_gradients *gradients; /* boot, tensordet, tensorprob: gradient table of the series */
    const gls_qball *qball;         /* boot: the model, made from the same table */
    const gls_odf_source *odf;      /* getters of GLS_FROM_ODF: the ODFs, clipped at 0, on the sphere of the source */
    const gls_image *peaks;         /* fact, eudx, bedpost: as gls_peaks_append() makes them */
    uint32_t peak_samples;          /* bedpost: number of samples in `peaks`. Samples follow one another and have the
                                       same number of fibres; the length of a vector is the fraction of its fibre. 0
                                       counts as 1 */
    const gls_image *stop_map;      /* 1 volume, e.g. FA */
    const gls_sphere *sphere;       /* boot: directions on which its ODFs are sampled; antipodal */
    const gls_regions *regions;     /* complete, on the grid of the other inputs; NULL: none */
    const gls_tissue *tissue;   /* on the grid of the other inputs; NULL: none. With tissue, an end by the stop map is a
                                   bad end; to switch the stop map off, set stop_threshold below all its values */
    bool seeds_have_directions; /* each seed has a direction, near which its streamline starts; only for seeds that the
                                   library draws by itself (seed_dynamic), else false */
    uint64_t n_seeds; /* number of seeds that will be tracked; 0: not known. Changes no result: for few seeds a
                         software renderer may get kernels that compile faster and track more slowly */
} gls_track_input;

/* The mapping that GLS_MAPPING_AUTO stands for on a device, for getters with work that invocations can share. */
GLS_API gls_mapping gls_mapping_auto(const gls_device_info *device);
/* Number of invocations for each streamline in a mapping on a device; 0: the device does not support the mapping. */
GLS_API uint32_t gls_mapping_lanes(gls_mapping mapping, const gls_device_info *device);

/* Why a half-streamline ended: the list in ends.def. */
typedef enum gls_end {
#define GLS_END_ROW(symbol, value, name, keeps) symbol = value,
#include <glslines/ends.def>
#undef GLS_END_ROW
#define GLS_END_ROW(symbol, value, name, keeps) +1
    GLS_END_COUNT = 0
#include <glslines/ends.def>
#undef GLS_END_ROW
} gls_end;
/* Name of an end in lower case, e.g. "stop_map". */
GLS_API const char *gls_end_name(gls_end end);

/* Outcome of a streamline once both half-streamlines are known: the list in verdicts.def. */
typedef enum gls_verdict {
#define GLS_VERDICT_ROW(symbol, value, ...) symbol = value,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
#define GLS_VERDICT_ROW(...) +1
    GLS_VERDICT_COUNT = 0
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
} gls_verdict;
/* Name of a verdict in lower case, e.g. "too_short". */
GLS_API const char *gls_verdict_name(gls_verdict verdict);
/* A verdict in words, e.g. "shorter than --min-length". */
GLS_API const char *gls_verdict_words(gls_verdict verdict);

/* A length in mm that no path of a human brain exceeds. */
#define GLS_LONG_STREAMLINE 250.0

/* Counts of the particle filter over all streamlines that were begun. */
typedef struct gls_particle_counts {
    uint64_t streamlines; /* number of streamlines with a half-streamline that came to a bad end and was filtered */
    uint64_t runs;        /* how often the filter ran: it goes back from a bad end of a half-streamline and tracks
                             particles from there */
    uint64_t lost;        /* number of runs of the particle filter in which no particle survived; in all other runs a
                             particle saved the half-streamline */
    uint64_t exhausted;   /* number of half-streamlines that had used up pft_trials when they came to their bad end */
} gls_particle_counts;

/* Result of a run. Lengths are of kept streamlines. */
typedef struct gls_track_result {
    uint64_t seeds;                   /* number of seeds tracked */
    uint64_t seeds_without_direction; /* number of seeds at which no initial direction was found */
    uint64_t seeds_rejected; /* number of seeds that regions or tissue rejected before any direction was tracked */
    uint64_t directions;     /* number of initial directions, which is the number of streamlines tracked */
    uint64_t retries;     /* how often streamlines were tracked again; all counts below are of the last attempt of each
                             streamline */
    uint64_t streamlines; /* number of streamlines kept */
    uint64_t points;      /* number of points of the kept streamlines */
    uint64_t verdicts[GLS_VERDICT_COUNT]; /* number of streamlines by verdict; their sum is directions */
    uint64_t met[GLS_REGION_MAX_BITS];    /* number of streamlines that met a region of this bit; streamlines with the
                                             verdict single_point or too_short do not count */
    gls_particle_counts filter;           /* all 0 without pft */
    uint64_t truncated;                   /* number of kept streamlines that were cut at max_length */
    uint64_t long_streamlines;            /* number of kept streamlines longer than GLS_LONG_STREAMLINE */
    uint64_t ends[GLS_END_COUNT];         /* number of half-streamlines by reason of their end; sum 2 x directions */
    double mean_length, median_length, max_length, min_length; /* mm, along the steps that were made */
    double mean_points, median_points;
    uint64_t max_points;
    uint64_t batches, batch_seeds; /* batch_seeds: seeds of a batch at the end of the run, the largest of all devices */
    gls_mapping mapping;           /* mapping of the first device that worked to the end */
    uint32_t lanes;                /* invocations for each streamline, the largest number of all devices */
    uint32_t n_devices;            /* number of devices that worked to the end */
    gls_precision precision;       /* precision of the volumes; GLS_PRECISION_HALF also if single precision did not
                                      fit */
    /* sums over devices */
    double seconds_upload, seconds_compile; /* times of gls_tracker_create() */
    double seconds_initial, seconds_scan, seconds_track, seconds_gather,
        seconds_readback;   /* times of the parts of a batch by the host's clock, with waiting for the device */
    double seconds_longest; /* not a sum: the longest time that one dispatch kept a device busy */
    double seconds_sink;    /* time that the run waited for the sink, or that a device waited for other devices */
} gls_track_result;

/* Share of one device of a tracker in the last run. */
typedef struct gls_track_share {
    uint64_t seeds, streamlines, batches; /* seeds and batches that the device tracked; streamlines that were kept */
    uint32_t resumes;                     /* how often the device was lost and replaced by a new context */
    uint32_t halvings;                    /* how often batches were halved because memory was short */
    bool failed;    /* true: the device failed for good, and the other devices took over its work */
    double seconds; /* time that the device was in use, including waiting */
} gls_track_share;

/* Progress, from the thread of the run; return false to cancel. */
typedef bool (*gls_track_progress)(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines,
                                   uint64_t points);

typedef struct gls_tracker gls_tracker;

/* Creates a tracker on one device: checks parameters and input, compiles kernels, uploads volumes. If the device is
 * closed before the tracker is destroyed, its memory is freed with the tracker, and further runs are GLS_ERR_ARGUMENT.
 * If the device lacks memory, batches are halved, and volumes that do not fit in single precision are stored in half
 * precision; a warning and gls_track_result.precision say so. Lack of memory is an error only if the smallest form
 * does not fit. */
GLS_API gls_status gls_tracker_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                                      gls_tracker **tracker);
/* Largest number of devices that work on one run. */
#define GLS_TRACKER_MAX_DEVICES 64
/* Like gls_tracker_create(), with n distinct devices, 1 .. GLS_TRACKER_MAX_DEVICES, that share the work: several GPUs,
 * or several contexts on one GPU (see gls_device_reopen()). On devices of the same model the streamlines are, byte for
 * byte, the streamlines of one device; other devices may round differently. The host prepares the volumes once for all
 * devices. Finished batches wait in the host's memory until all earlier ones are delivered: two of each device, and up
 * to 16 of each while all that wait take less than 512 MiB. A device that fails, now or later, is left out with a
 * warning; the tracker fails if all devices fail. */
GLS_API gls_status gls_tracker_create_group(gls_device *const *devices, size_t n, const gls_track_params *params,
                                            const gls_track_input *input, gls_tracker **tracker);
/* Frees `tracker`, which may be NULL. */
GLS_API void gls_tracker_destroy(gls_tracker *tracker);

/* Memory of a tracker in bytes, which does not depend on the number of seeds: the volume of the model (with the padding
 * of its textures), the stop map with the regions, the tables of directions, and the buffers of a batch. */
typedef struct gls_track_memory {
    uint64_t volume_bytes, stop_map_bytes, table_bytes, buffer_bytes;
    uint64_t device_bytes;    /* sum of the four above, on each device */
    uint64_t host_bytes;      /* largest memory of the host for batches and for streamlines on their way to the sink */
    uint32_t volume_channels; /* number of values of a voxel in the volume, padding included */
    uint32_t batch_seeds, lanes;
} gls_track_memory;
/* Computes the memory that gls_tracker_create() would allocate on a device with these properties. Opens no device and
 * reads no values of images. n_devices: number of equal devices that share the work. */
GLS_API gls_status gls_track_plan_memory(const gls_device_info *device, size_t n_devices,
                                         const gls_track_params *params, const gls_track_input *input,
                                         gls_track_memory *memory);

/* Tracks all seeds. Only one run at a time. *result is complete on success. progress may be NULL. sink: gets
 * streamlines in world mm, in the order of seeds, then of directions, with the columns GLS_DPS_SEEDS and
 * GLS_DPS_SEED_INDEX; NULL: none. The run appends to the sink from a thread of its own, one call at a time, and neither
 * finishes nor aborts it. If the sink fails, the run ends with its status. The sink must not use the devices of the
 * run, because they wait for it when a few batches are ahead of it. With a sink the indices of seeds must be below
 * 2^32: more seeds are GLS_ERR_UNSUPPORTED, with params.select only once the run reaches them. A lost device is
 * replaced by a new context on the same hardware, and tracking continues after the last finished streamline, so that no
 * streamline is missing or occurs twice. GLS_ERR_LOST: the device was lost four times without a finished seed in
 * between. If memory runs out, batches are halved. A new context and halved batches each give a warning. */
GLS_API gls_status gls_tracker_run(gls_tracker *tracker, const gls_seeds *seeds, const gls_sink *sink,
                                   gls_track_progress progress, void *progress_user, gls_track_result *result);

/* Stores the number of streamlines of the run so far for each verdict; call it from the progress callback. */
GLS_API void gls_tracker_get_verdicts(const gls_tracker *tracker, uint64_t verdicts[GLS_VERDICT_COUNT]);
/* Number of devices that the tracker was created with. */
GLS_API size_t gls_tracker_devices(const gls_tracker *tracker);
/* Counts and times of one device in the last run. The device is known by its index in the array given at creation. */
GLS_API gls_track_share gls_tracker_get_share(const gls_tracker *tracker, size_t device);

#ifdef __cplusplus
}
#endif
#endif
