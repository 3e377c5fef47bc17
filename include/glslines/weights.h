/* Weights of streamlines: how many fibres each stands for, so that the density of streamlines in each fixel approaches
 * the density that the fibre orientation distributions have there. SIFT2 (Smith et al. 2015), its linear approximation,
 * and SIFT (Smith et al. 2013), which selects streamlines, after tcksift2 and tcksift of MRtrix3.
 *
 *     gls_fixels_create(sh, "fod.nii.gz", NULL, NULL, &fixels);
 *     gls_weights_create(fixels, NULL, &weights);
 *     gls_weights_set_walk(weights, gls_weights_upsampling(0.5, gls_fixels_grid(fixels)), GLS_WALK_CURVE);
 *     sink = gls_weights_sink(weights);
 *     gls_tractogram_pump(reader, &sink, NULL, NULL);
 *     gls_weights_solve(weights, &device, 1, NULL, NULL);
 *     const float *w = gls_weights_get(weights, &n);
 *
 * An entry is a fixel that a streamline touches: 24 bits for the fixel (32 if there are more than 2^24 fixels), 8 bits
 * for the length in it. Sums are made in fixed point, so the weights are the same, byte for byte, for any number of
 * threads, devices and chunks, and any division of the stream into blocks. */
#ifndef GLSLINES_WEIGHTS_H
#define GLSLINES_WEIGHTS_H

#include <glslines/device.h>
#include <glslines/fixels.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How weights are computed. */
typedef enum gls_weights_method {
    GLS_WEIGHTS_SIFT2,
    GLS_WEIGHTS_LINEAR, /* without iterations: the weight of a streamline is the mean of the weights that would fit its
                           fixels, weighted by the length in each */
    GLS_WEIGHTS_SIFT    /* weights 0 or 1: selects streamlines */
} gls_weights_method;

/* What becomes of fixels that only one streamline touches. */
typedef enum gls_single_visit {
    GLS_SINGLE_VISIT_EXCLUDE, /* the fit leaves them out, as in tcksift2 3.0.4 */
    GLS_SINGLE_VISIT_KEEP     /* the fit uses them, as in tcksift2 3.0.3 */
} gls_single_visit;

/* Options of weights, with the names of the options of tcksift2 and tcksift. */
typedef struct gls_weights_options {
    size_t size;                   /* size of this struct, set by the default function */
    gls_weights_method method;     /* default GLS_WEIGHTS_SIFT2 */
    double reg_tikhonov;           /* >= 0; default 0 */
    double reg_tv;                 /* >= 0; default 0.1 */
    double min_td_frac;            /* 0 .. 1: exclude fixels whose density of streamlines (mu TD with weights of 1) is
                                      below this fraction of their FOD's density; default 0.1 */
    uint32_t min_iters, max_iters; /* min_cf_decrease ends no run before iteration min_iters; default 10, 1000 */
    double min_coeff, max_coeff;   /* limits of a coefficient, ln(weight), <= 0 and >= 0; a coefficient of min_coeff
                                      gives the weight 0; default -INFINITY, INFINITY */
    double max_coeff_step;         /* largest change of a coefficient in an iteration, > 0; default 1 */
    double min_cf_decrease;        /* 0 .. 1: stop after an iteration that lowers the cost by less than this fraction of
                                      the first cost; default 2.5e-5 */
    gls_single_visit single_visit; /* default GLS_SINGLE_VISIT_EXCLUDE */
    bool remove_untracked;         /* leave fixels without streamlines out of the model; default false */
    double fd_threshold;  /* leave fixels whose density is at most this value out of the model; default 0: none */
    int unmapped;         /* SIFT2: weight of streamlines that touch no fixel, 0 or 1; default 1 */
    bool force;           /* go on where all fixels are excluded; default false */
    bool statistics;      /* fill in step and coefficient of gls_weights_iteration; default false */
    uint64_t term_number; /* SIFT: streamlines to keep, fewer than there are; default 0: no target */
    double term_ratio; /* SIFT: stop when the relative decrease of the cost is less than this ratio times the relative
                          decrease of the streamlines' total length; default 0 */
    double term_mu;    /* SIFT: stop when mu reaches this value; default 0: no target */
    size_t chunk_entries;  /* size of a chunk, in entries of 4 bytes, 1 .. 2^29; default 2^25 (128 MiB). With more than
                              2^24 fixels an entry takes 5 bytes, so that a chunk has 4/5 as many. Never changes the
                              result */
    uint64_t device_bytes; /* memory of each device that may be used; default 0: half of its memory if its size is
                              known, else enough for all chunks. Never changes the result */
} gls_weights_options;
GLS_API gls_weights_options gls_weights_options_default(void);

typedef struct gls_weights gls_weights;

/* Creates weights without streamlines. fixels must outlive the weights. Memory, on the host and on a device: 4 bytes
 * for each entry (5 with more than 2^24 fixels), 16 for each streamline, 60 for each fixel. */
GLS_API gls_status gls_weights_create(const gls_fixels *fixels, const gls_weights_options *options,
                                      gls_weights **weights);
/* Frees `weights`, which may be NULL. */
GLS_API void gls_weights_destroy(gls_weights *weights);

/* Sets two images of one volume on the grid of the fixels; call this before the first streamline. The images are
 * copied; NULL means 1 everywhere. mask: weight of each voxel in the model, 0 .. 1. scale: factor for the FOD's
 * density. */
GLS_API gls_status gls_weights_set_mask(gls_weights *weights, const gls_image *mask, const gls_image *scale);

/* Factor by which tcksift2 upsamples streamlines of this step in mm: ceil(step / (0.1 * smallest voxel side)), at most
 * 32. */
GLS_API uint32_t gls_weights_upsampling(double step, const gls_grid *grid);
/* The line through the points of a streamline along which lengths in voxels are measured. */
typedef enum gls_walk_line {
    GLS_WALK_CURVE,   /* a cubic spline */
    GLS_WALK_SEGMENTS /* straight lines */
} gls_walk_line;
/* Sets how streamlines are mapped to voxels; call this before the first streamline. Each segment is divided into
 * `ratio` pieces (1 .. 32; default 1). */
GLS_API gls_status gls_weights_set_walk(gls_weights *weights, uint32_t ratio, gls_walk_line line);
/* Sets the n distinct devices that map streamlines to fixels, at most GLS_TRACKER_MAX_DEVICES; call this before the
 * first streamline. n = 0 (default): the CPU maps. The result has the same bytes. The devices are borrowed until
 * gls_weights_solve() or gls_weights_destroy(); a thread of the library uses each of them while further streamlines
 * arrive, so give no device that a tracker uses meanwhile: open it again with gls_device_reopen(). If a device fails,
 * lacks memory or has no hardware for double precision, the CPU maps instead. Since 0.2.0. */
GLS_API gls_status gls_weights_set_devices(gls_weights *weights, gls_device *const *devices, size_t n);
/* Returns the weights as a sink, which maps streamlines to fixels with several threads. The weights stay with the
 * caller: finishing or aborting the sink does nothing. GLS_ERR_INPUT: a point is not finite, or successive points are
 * too far apart. */
GLS_API gls_sink gls_weights_sink(gls_weights *weights);

typedef struct gls_weights_spread {
    double min, mean, mean_abs, var, max; /* var: sum of the squares / (n - 1), the mean is not subtracted */
} gls_weights_spread;

/* State of SIFT2 after an iteration. gls_weights_result.iteration[0] is the state before all iterations. */
typedef struct gls_weights_iteration {
    double data, tikhonov, tv; /* terms of the cost */
    uint64_t excluded;         /* number of excluded fixels */
    gls_weights_spread step, coefficient;
    double norm; /* sum of the squares of the coefficients */
} gls_weights_iteration;

typedef struct gls_weights_result {
    uint64_t streamlines, entries, chunks; /* numbers of all streamlines, of entries, and of chunks of entries */
    uint64_t without_points;               /* streamlines of one point or none */
    uint64_t outside;                      /* streamlines of two points or more that do not enter the grid */
    uint64_t without_fixels;               /* streamlines that touch no fixel, including the two counts above */
    uint64_t fixels, untracked, excluded, removed; /* numbers of fixels: all; without streamlines; excluded; left out of
                                                      the model */
    double mu;                                     /* density of an FOD for each mm of streamline in a voxel */
    double scale;                                  /* factor of the regularisation, A in SIFT2 */
    double low_mm[3], high_mm[3];                  /* box around all points, world mm */
    size_t n_iterations;                           /* number of entries of iteration[] */
    const gls_weights_iteration *iteration;
    bool limit_reached; /* SIFT2 stopped because of max_iters */
    bool diverged;      /* the cost rose in the last three iterations, or was not finite: the last entry of iteration[]
                         * is the best iteration, from which the weights come */
    uint64_t kept;      /* SIFT: number of streamlines with weight 1 */
    double cost_first, cost_last;
    double seconds_map, seconds_solve;
} gls_weights_result;

/* Progress of SIFT2 and SIFT by iterations; return false to cancel. */
typedef bool (*gls_weights_progress)(void *user, uint64_t iteration, double cost);
/* Computes the weights; call this once, after the last streamline. SIFT2 runs on n distinct devices that share its
 * chunks, or with n = 0 on the CPU; the other methods run on the CPU. If a device fails or lacks memory, the CPU begins
 * anew, with a warning. llvmpipe and the CPU give the same bytes. GLS_ERR_EMPTY: there is no streamline, no streamline
 * touches a fixel, or all fixels are excluded and gls_weights_options.force is false. progress may be NULL. */
GLS_API gls_status gls_weights_solve(gls_weights *weights, gls_device *const *devices, size_t n,
                                     gls_weights_progress progress, void *user);
/* Returns counts and measures, which are complete after gls_weights_solve(). Borrowed until the weights are destroyed.
 */
GLS_API const gls_weights_result *gls_weights_get_result(const gls_weights *weights);
/* Weights of all streamlines, in their order; for SIFT 0 or 1. Borrowed; NULL before gls_weights_solve(). */
GLS_API const float *gls_weights_get(const gls_weights *weights, uint64_t *n);
/* Returns the natural logarithms of the weights of SIFT2, borrowed; NULL before gls_weights_solve() and for other
 * methods. */
GLS_API const float *gls_weights_get_coefficients(const gls_weights *weights);

typedef enum gls_weights_values {
    GLS_WEIGHTS_FD,       /* density of the FOD times the scale of gls_weights_set_mask() */
    GLS_WEIGHTS_TD,       /* density of streamlines: the sum of weight times length (mm) in the fixel */
    GLS_WEIGHTS_TD_FIRST, /* like GLS_WEIGHTS_TD with weights of 1 */
    GLS_WEIGHTS_EXCESS,   /* mu TD - FD */
    GLS_WEIGHTS_COUNT,    /* number of streamlines that touch the fixel */
    GLS_WEIGHTS_MEAN,     /* SIFT2: mean coefficient of the streamlines that touch the fixel, weighted by length in it;
                             else 0 */
    GLS_WEIGHTS_EXCLUDED, /* 1: streamlines touch the fixel, but it is excluded, so that no coefficient depends on it;
                             else 0 */
    GLS_WEIGHTS_MU_TD,    /* mu TD, to be compared with FD */
    GLS_WEIGHTS_N_VALUES
} gls_weights_values;
/* Name of a kind of values, e.g. "td". */
GLS_API const char *gls_weights_values_name(gls_weights_values kind);
/* Computes a value for each fixel. out: memory for gls_fixels_count() values. */
GLS_API gls_status gls_weights_get_fixels(const gls_weights *weights, gls_weights_values kind, float *out);

#ifdef __cplusplus
}
#endif
#endif
