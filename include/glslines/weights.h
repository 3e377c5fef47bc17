/* Weights of streamlines: how many fibres each stands for, so that the density of streamlines in each fixel becomes
 * that of the fibre orientation distributions. SIFT2 (Smith et al. 2015), its linear approximation, and SIFT (Smith et
 * al. 2013), which selects streamlines, after tcksift2 and tcksift of MRtrix3.
 *
 *     gls_fixels_create(sh, "fod.nii.gz", NULL, NULL, &fixels);
 *     gls_weights_create(fixels, NULL, &weights);
 *     gls_weights_set_walk(weights, gls_weights_upsampling(0.5, gls_fixels_grid(fixels)), GLS_WALK_CURVE);
 *     sink = gls_weights_sink(weights);
 *     gls_tractogram_pump(reader, &sink, NULL, NULL);
 *     gls_weights_solve(weights, &device, 1, NULL, NULL);
 *     const float *w = gls_weights_get(weights, &n);
 *
 * Lengths are kept in 4 bytes an entry (24 bits of the fixel, 8 of the length in it), sums are made in fixed point: the
 * same weights, byte for byte, for any number of threads, devices, chunks and any division of the stream. */
#ifndef GLSLINES_WEIGHTS_H
#define GLSLINES_WEIGHTS_H

#include <glslines/device.h>
#include <glslines/fixels.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_weights_method {
    GLS_WEIGHTS_SIFT2,
    GLS_WEIGHTS_LINEAR, /* one pass: the mean of what its fixels ask, by length */
    GLS_WEIGHTS_SIFT    /* 0 or 1 */
} gls_weights_method;

/* Names are those of tcksift2 and tcksift. */
typedef struct gls_weights_options {
    size_t size;                   /* size of this struct, set by the default function */
    gls_weights_method method;     /* default GLS_WEIGHTS_SIFT2 */
    double reg_tikhonov;           /* >= 0; default 0 */
    double reg_tv;                 /* >= 0; default 0.1 */
    double min_td_frac;            /* 0 .. 1: fixels with less of their density at first are excluded; default 0.1 */
    uint32_t min_iters, max_iters; /* default 10, 1000 */
    double min_coeff, max_coeff;   /* of ln(weight); default -INFINITY, INFINITY */
    double max_coeff_step;         /* in an iteration, > 0; default 1 */
    double min_cf_decrease;        /* 0 .. 1, of the first cost: less of a decrease ends it; default 2.5e-5 */
    bool keep_single;      /* keep fixels that only one entry touches, as tcksift2 3.0.3; default false: they are
                              excluded, as by later ones */
    bool remove_untracked; /* leave fixels without streamlines out of the model; default false */
    double fd_threshold;   /* leave fixels of this density or less out of it; default 0: none */
    double unmapped;       /* weight of streamlines that touch no fixel, 0 or 1; default 1 */
    bool force;            /* go on where all fixels are excluded; default false */
    bool statistics;       /* fill in step and coefficient of gls_weights_iteration; default false */
    uint64_t term_number;  /* SIFT: streamlines to keep; default 0: no target */
    double term_ratio;     /* SIFT: smallest ratio of the decrease of the cost to that of the streamlines' length, both
                              relative; default 0 */
    double term_mu;        /* SIFT: ends where mu reaches this; default 0: no target */
    size_t chunk_entries;  /* entries of a chunk, 1 .. 2^29; default 2^25 (128 MiB). Never changes the result */
    uint64_t device_bytes; /* memory of a device that may be used; default 0: half of what it has, or all chunks. Never
                              changes the result */
} gls_weights_options;
GLS_API gls_weights_options gls_weights_options_default(void);

typedef struct gls_weights gls_weights;

/* fixels must outlive the weights. Memory: 4 bytes for each fixel that a streamline touches, 16 for each streamline, 60
 * for each fixel; on a device the same. */
GLS_API gls_status gls_weights_create(const gls_fixels *fixels, const gls_weights_options *options,
                                      gls_weights **weights);
/* Accepts NULL. */
GLS_API void gls_weights_destroy(gls_weights *weights);

/* Images of one volume on the grid of the fixels, copied, before the first streamline comes; NULL: 1 everywhere. mask:
 * what each voxel counts in the model, 0 .. 1. scale: a factor of the densities. */
GLS_API gls_status gls_weights_set_mask(gls_weights *weights, const gls_image *mask, const gls_image *scale);

/* By how much tcksift2 upsamples streamlines of this step, mm: ceil(step / (0.1 * smallest voxel side)), up to 32. */
GLS_API uint32_t gls_weights_upsampling(double step, const gls_grid *grid);
/* What leads through the points of a streamline. */
typedef enum gls_walk_line {
    GLS_WALK_CURVE,   /* a cubic */
    GLS_WALK_SEGMENTS /* straight lines */
} gls_walk_line;
/* How streamlines are mapped, before the first comes: ratio pieces for each segment (1 .. 32; default 1). */
GLS_API gls_status gls_weights_set_walk(gls_weights *weights, uint32_t ratio, gls_walk_line line);
/* A device that maps the streamlines, before the first comes, in place of the CPU's threads: the same bytes. It is
 * borrowed until gls_weights_solve() or gls_weights_destroy(), and used by a thread of the library while the next come.
 * Where it fails, has no memory for that, or no double precision in its hardware, the CPU does it. NULL (default): the
 * CPU. */
GLS_API gls_status gls_weights_set_device(gls_weights *weights, gls_device *device);
/* Maps streamlines; it stays with the caller: finishing or aborting it does nothing. Threads share each parcel.
 * GLS_ERR_INPUT: a point that is not finite. */
GLS_API gls_sink gls_weights_sink(gls_weights *weights);

typedef struct gls_weights_spread {
    double min, mean, mean_abs, var, max; /* var: of the distance from 0 */
} gls_weights_spread;

/* Of SIFT2 after an iteration (the first: before all). */
typedef struct gls_weights_iteration {
    double data, tikhonov, tv; /* terms of the cost */
    uint64_t excluded;         /* fixels */
    gls_weights_spread step, coefficient;
    double norm; /* sum of the squares of the coefficients */
} gls_weights_iteration;

typedef struct gls_weights_result {
    uint64_t streamlines, entries, chunks;
    uint64_t without_points;                       /* streamlines of one point or none */
    uint64_t outside;                              /* others that do not enter the grid */
    uint64_t without_fixels;                       /* all that touch no fixel, those two included */
    uint64_t fixels, untracked, excluded, removed; /* untracked: no streamline touches them */
    double mu;                                     /* density of an FOD for each mm of streamline in a voxel */
    double scale;                                  /* A: what the regularisation is multiplied by */
    double low_mm[3], high_mm[3];                  /* of all points */
    size_t n_iterations;                           /* entries of iteration */
    const gls_weights_iteration *iteration;
    bool limit_reached; /* max_iters ended it */
    bool diverged;      /* the cost rose in the last three iterations, or was not finite: the last entry of iteration is
                         * the best, and the weights are its */
    uint64_t kept;      /* SIFT: streamlines */
    double cost_first, cost_last;
    double seconds_map, seconds_solve;
} gls_weights_result;

/* Progress by iterations; return false to cancel. */
typedef bool (*gls_weights_progress)(void *user, uint64_t iteration, double cost);
/* Once all streamlines have come. SIFT2 works on n distinct devices that share its chunks, or with n = 0 on the CPU;
 * the other methods work on the CPU. llvmpipe and the CPU give the same bytes. GLS_ERR_EMPTY: no streamline, none that
 * touches a fixel, all fixels excluded. progress may be NULL. */
GLS_API gls_status gls_weights_solve(gls_weights *weights, gls_device *const *devices, size_t n,
                                     gls_weights_progress progress, void *user);
/* Borrowed; complete after gls_weights_solve(). */
GLS_API const gls_weights_result *gls_weights_get_result(const gls_weights *weights);
/* Weights of all streamlines, in their order; for SIFT 0 or 1. Borrowed. */
GLS_API const float *gls_weights_get(const gls_weights *weights, uint64_t *n);
/* Their logarithms (SIFT2), NULL before or for other methods. */
GLS_API const float *gls_weights_get_coefficients(const gls_weights *weights);

typedef enum gls_weights_values {
    GLS_WEIGHTS_FD,       /* density of the FOD in the model: times scale */
    GLS_WEIGHTS_TD,       /* mm of weighted streamlines in the fixel */
    GLS_WEIGHTS_TD_FIRST, /* the same with weights of 1 */
    GLS_WEIGHTS_EXCESS,   /* mu TD - FD */
    GLS_WEIGHTS_COUNT,    /* entries */
    GLS_WEIGHTS_MEAN,     /* mean coefficient */
    GLS_WEIGHTS_EXCLUDED, /* 1: no coefficient was chosen for its sake */
    GLS_WEIGHTS_MU_TD,    /* mu TD, to be compared with FD */
    GLS_WEIGHTS_N_VALUES
} gls_weights_values;
/* Name of such values, e.g. "td". */
GLS_API const char *gls_weights_values_name(gls_weights_values kind);
/* A value for each fixel. */
GLS_API gls_status gls_weights_get_fixels(const gls_weights *weights, gls_weights_values kind, float *out);

#ifdef __cplusplus
}
#endif
#endif
