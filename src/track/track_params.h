/* Parameters of tracking: who reads each, and the checks of parameters and inputs. */
#ifndef GLS_TRACK_TRACK_PARAMS_H
#define GLS_TRACK_TRACK_PARAMS_H

#include <glslines/msmt.h>
#include <glslines/track.h>

#include "util/option.h"

/* --- Rows of params.def as data, and the macros with which a file makes of the rows what it needs. */

/* Ranges of rows that several commands have. */
#define GLS_ORDERS GLS_BETWEEN(2, GLS_MSMT_MAX_ORDER)
#define GLS_ANGLES GLS_ABOVE_TO(0, 90)
#define GLS_PROBE_LENGTHS GLS_ABOVE_TO(0, 1000)
#define GLS_RADII GLS_ABOVE_TO(0, 1e6)
#define GLS_BATCHES GLS_BETWEEN(1, 4294967295.0)

/* The default_text of a parameter whose default depends on the getter: it is made from workflow/defaults.def. */
#define GLS_BY_GETTER "by getter"

#define GLS_PRESET_CHOICES "default|gpustreamlines|dipy|tckgen|qsirecon|pyafq|tractoflow"
#define GLS_MODEL_CHOICES "opdt|csa|csd|msmt|auto"
#define GLS_CSD_RULE_CHOICES "dipy|mrtrix"
#define GLS_SCALING_CHOICES "auto|on|off"
/* "|boot|prob|det ...", and without the first bar. */
#define GLS_GETTER_WORD(value, word) "|" #word
#define GLS_GETTER_WORDS GLS_GETTERS(GLS_GETTER_WORD)
#define GLS_GETTER_CHOICES (&(GLS_GETTER_WORDS)[1])
#define GLS_MAPPING_CHOICES "auto|single|subgroup|group"
#define GLS_PRECISION_CHOICES "half|float"
#define GLS_GRAPHICS_CHOICES "auto|gl|gles"
#define GLS_MASK_STOP_CHOICES "interpolated|nearest"
#define GLS_TISSUE_RULE_CHOICES "act|pve|cmc"
#define GLS_FORMAT_CHOICES "trx|trk|tck"
#define GLS_FRAME_CHOICES "fsl|image|world"
#define GLS_BASIS_CHOICES "descoteaux07_legacy|descoteaux07|tournier07_legacy|tournier07"

/* Lengths that are negative, because they are meant in voxels, in mm. */
void gls_track_params_lengths(gls_track_params *params, double voxel);

/* Who has the member of a row, a bit each. */
enum {
    GLS_OF_TRACK = 1,     /* gls_track_params */
    GLS_OF_GRADIENTS = 2, /* gls_model_options: how the gradient table is read */
    GLS_OF_MODEL = 4,     /* the same: how a model is fitted */
    GLS_OF_BASIS = 8,     /* the same: how spherical harmonics are written */
    GLS_OF_JOB = 16,      /* gls_job_options */
    GLS_OF_COMMAND = 32   /* the program alone */
};

/* What a row means for the result of a run. */
typedef enum gls_param_role {
    GLS_ROLE_RESULT,   /* streamlines depend on it: part of the run's identity */
    GLS_ROLE_RESOURCE, /* devices, memory, parts of a run: never changes the result */
    GLS_ROLE_PATH,     /* names a file whose contents are part of the identity, wherever it lies */
    GLS_ROLE_OUTPUT    /* names or kind of the files that are written */
} gls_param_role;

/* Whether no step of a getter is drawn. */
bool gls_getter_is_deterministic(gls_direction_getter dg);
/* The default of fod_cutoff with --act; 0: the same as without. */
double gls_getter_act_cutoff(gls_direction_getter dg);
/* Whether a getter has the parameters of such users, by its row. */
bool gls_getter_has(gls_direction_getter dg, gls_param_user user);
/* "boot, prob, det", those that have them; returns text. */
const char *gls_getters_with(gls_param_user user, char *text, size_t size);
const char *gls_param_role_text(gls_param_role role);

/* --- What a tracker can be made from: the checks in front of everything else. */

#define GLS_MAX_DIRECTIONS 32
#define GLS_MAX_STEPS 1000000
/* Of the loop that tracks a half: they are counted in 31 bits. */
#define GLS_MAX_ITERATIONS 1000000000

/* GLS_ERR_ARGUMENT, with the value and its range. */
gls_status gls_track_params_check(const gls_track_params *params);
/* Whether halves of such a run can be taken back. */
gls_status gls_track_backtrack_check(const gls_track_params *params);
/* Whether halves of such a run can be filtered by particles. */
gls_status gls_track_pft_check(const gls_track_params *params);
/* Parameters have been checked. */
gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input);

#endif
