/* The signal as a linear function of streamlines, peaks and balls: A x = y. */
#ifndef GLS_WEIGHTS_SIGNAL_MODEL_H
#define GLS_WEIGHTS_SIGNAL_MODEL_H

#include <stdint.h>

#include <glslines/gradients.h>
#include <glslines/params_fields.h>

#include "weights/cylinder.h"
#include "weights/signal_rows.h"

#define GLS_SIGNAL_MAX_VOLUMES 4096

/* The share of a streamline in the signal of a voxel. */
typedef enum gls_signal_kernel {
    GLS_SIGNAL_STICK,   /* exp(-b d (g u)^2) */
    GLS_SIGNAL_LIFE,    /* as GLS_SIGNAL_STICK, minus its mean over the weighted volumes */
    GLS_SIGNAL_SCALAR,  /* 1: the series is a map of one volume */
    GLS_SIGNAL_CYLINDER /* along as GLS_SIGNAL_STICK, across that of an impermeable cylinder */
} gls_signal_kernel;

/* Kernels of the compartments; diffusivities in mm2/s. */
typedef struct gls_signal_kernels {
    gls_signal_kernel kernel;
    double d_par, d_par_ec; /* along streamlines, and along peaks */
    gls_numbers radii;      /* GLS_SIGNAL_CYLINDER: um; a streamline has an unknown for each */
    gls_numbers d_perp;     /* across peaks: a zeppelin for each peak and value */
    gls_numbers d_iso;      /* a ball for each voxel and value */
} gls_signal_kernels;

/* The problem. Columns of A: streamlines, with several radii all for each of these, then for each d_perp all peaks,
 * then for each d_iso all voxels. Kernels and streamlines are scaled: a kernel to norm 1 in direction 0, a streamline
 * by its gls_signal_rows.norm. Signals of voxels are float32, unknowns double; sums are made in the order of
 * streamlines and voxels, so that the result has the same bytes for any number of threads. */
typedef struct gls_signal_model {
    size_t m, n_voxels, n_bins;  /* m: number of volumes in use */
    const gls_signal_rows *rows; /* borrowed. The model replaces the bins of its entries by their numbers here */
    size_t n_streamlines, n_peaks, n_perp, n_iso;
    size_t first_peak, first_ball, n; /* first columns of peaks and balls, number of columns */
    /* kernels, scaled: of streamlines and of each d_perp a signal for each direction, of each d_iso one signal */
    float *stick, *zeppelin, *ball;
    size_t n_radii; /* 1 but for GLS_SIGNAL_CYLINDER; the rows and directions have been repeated for others */
    double *stick_norm, *zeppelin_norm, *ball_norm; /* of each radius, d_perp and d_iso */
    float *y;                                       /* n_voxels signals */
    /* bins of each voxel, their directions, and for each bin the entries of its column */
    uint32_t *first_bin; /* n_voxels + 1 values */
    uint16_t *direction; /* direction of each bin */
    uint64_t *first;     /* n_bins + 1 values */
    uint32_t *line;      /* streamline of each entry of a column */
    uint16_t *length;    /* its length, units */
    double *scale;       /* for each streamline mm of a unit / norm; 0: the streamline is left out */
    /* peaks of each voxel, and their directions */
    uint32_t *peak; /* n_voxels + 1 values */
    uint16_t *peak_direction;
    double *line_scaled; /* work space: x of each streamline times its scale */
    float *bin_value;    /* work space: product of residual and kernel, for each bin */
    double *voxel_sum;   /* work space: a sum of each voxel */
} gls_signal_model;

/* Where the model gets voxels, signals and peaks from; everything is borrowed, and needed only during the call. */
typedef struct gls_signal_source {
    const char *name;               /* name of the series for messages */
    const gls_image *dwi;           /* the series; a map of one volume for GLS_SIGNAL_SCALAR */
    const gls_gradients *table;     /* gradient table of the series; NULL for GLS_SIGNAL_SCALAR */
    const gls_pulse_timing *timing; /* of each volume; needed by GLS_SIGNAL_CYLINDER alone */
    const gls_image *peaks;         /* peaks as gls_peaks_append() makes them; NULL: none */
    double peaks_ratio;             /* peaks below this share of the largest in the voxel are left out */
    double b0_min;   /* voxels whose mean b = 0 signal is at most this share of the mean over voxels get the signal 0 */
    bool all_voxels; /* voxels of the mask without streamlines are in the model, too */
} gls_signal_source;

/* Makes the model. Call gls_signal_model_finish() even after a failure. */
gls_status gls_signal_model_init(gls_signal_model *model, gls_signal_rows *rows, const gls_signal_kernels *kernels,
                                 const gls_signal_source *source);
/* r = A x - y, or with plain A x. Returns half the sum of the squares of r. */
double gls_signal_model_apply(const gls_signal_model *model, const double *x, bool plain, float *r);
/* g = A' s with s = r + momentum (r - before). Returns half the sum of the squares of s. */
double gls_signal_model_transpose(const gls_signal_model *model, const float *r, const float *before, float momentum,
                                  double *g);
/* Leaves streamlines whose x is below `least` out of the model, and sets the signal of voxels to 0 in which no column
 * is left. */
void gls_signal_model_leave_out(gls_signal_model *model, const double *x, double least);
/* Values of voxels that follow from the unknowns. */
typedef enum gls_signal_map {
    GLS_SIGNAL_MAP_IC,    /* signal fraction of streamlines */
    GLS_SIGNAL_MAP_EC,    /* of peaks */
    GLS_SIGNAL_MAP_ISO,   /* of balls */
    GLS_SIGNAL_MAP_RMSE,  /* root of the mean squared residual */
    GLS_SIGNAL_MAP_NRMSE, /* root of the sum of the squared residuals over that of the squared signal */
    GLS_SIGNAL_N_MAPS
} gls_signal_map;
/* Ending of the name of a map's file: _ic, _ec, _iso, _rmse or _nrmse, and .nii.gz. */
const char *gls_signal_map_end(gls_signal_map map);
/* Fills out[], a value for each voxel of the grid, 0 in voxels outside the model. r: A x - y. */
void gls_signal_model_map(const gls_signal_model *model, gls_signal_map map, const double *x, const float *r,
                          float *out);
/* Frees everything. */
void gls_signal_model_finish(gls_signal_model *model);

#endif
