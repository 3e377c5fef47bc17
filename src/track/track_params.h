/* Parameters of tracking: facts of the rows of params.def and of the direction getters, and the checks of parameters
 * and inputs. */
#ifndef GLS_TRACK_TRACK_PARAMS_H
#define GLS_TRACK_TRACK_PARAMS_H

#include <glslines/msmt.h>
#include <glslines/track.h>

#include "track/getter/param_user.h"
#include "util/option.h"

/* --- Rows of params.def as data, and the macros that other files expand them with. */

/* Ranges that rows of several commands share. */
#define GLS_ORDERS GLS_BETWEEN(2, GLS_MSMT_MAX_ORDER)
#define GLS_ANGLES GLS_ABOVE_TO(0, 90)
#define GLS_PROBE_LENGTHS GLS_ABOVE_TO(0, 1000)
#define GLS_RADII GLS_ABOVE_TO(0, 1e6)
#define GLS_BATCHES GLS_BETWEEN(1, 4294967295.0)

/* default_text of a parameter whose default depends on the getter, see record/defaults.def. */
#define GLS_BY_GETTER "by getter"

#define GLS_PRESET_CHOICES "default|gpustreamlines|dipy|tckgen|qsirecon|pyafq|tractoflow"
#define GLS_MODEL_CHOICES "opdt|csa|csd|msmt|auto"
#define GLS_CSD_RULE_CHOICES "dipy|mrtrix"
#define GLS_TENSOR_CHOICES "dipy|mrtrix|ols"
#define GLS_RESPONSE_CHOICES "dhollander|tournier|fa|manual|msmt_5tt"
#define GLS_SINGLE_FIBRES_CHOICES "tournier|fa"
#define GLS_SCALING_CHOICES "auto|on|off"
/* GLS_GETTER_WORDS is "|boot|prob|det|..."; GLS_GETTER_CHOICES omits the first bar. */
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

/* Converts negative lengths, which are in voxels, to mm. voxel: side of a voxel, mm. */
void gls_track_params_lengths(gls_track_params *params, double voxel);

/* Which struct has the member of a row: one bit each. */
enum {
    GLS_OF_TRACK = 1,     /* gls_track_params */
    GLS_OF_GRADIENTS = 2, /* gls_model_options: how the gradient table is read */
    GLS_OF_MODEL = 4,     /* gls_model_options: how a model is fitted */
    GLS_OF_BASIS = 8,     /* gls_model_options: how spherical harmonics are stored */
    GLS_OF_JOB = 16,      /* gls_job_options */
    GLS_OF_COMMAND = 32   /* no struct: only the program reads it */
};

/* How a parameter affects the result of a run. */
typedef enum gls_param_role {
    GLS_ROLE_RESULT,   /* streamlines depend on its value, which is part of the run's identity */
    GLS_ROLE_RESOURCE, /* devices, memory, parts of a run: never changes the result */
    GLS_ROLE_PATH,     /* names a file of one brain; its contents, not its path, are part of the identity */
    GLS_ROLE_SHARED,   /* names a file that several brains may share, such as a response; its contents are part of the
                          identity */
    GLS_ROLE_OUTPUT,   /* names output files or chooses their format */
    GLS_ROLE_COLUMNS   /* an output that becomes columns or groups of the tractogram. A text that has its metavar's
                          ":FILE" names an output file besides; what stands before the colon may name inputs */
} gls_param_role;
/* Whether streamlines depend on the value, or on the file that it names. */
static inline bool gls_role_has_part(int role)
{
    return role == GLS_ROLE_RESULT || role == GLS_ROLE_PATH || role == GLS_ROLE_SHARED;
}

/* Name of a direction getter, as --dg takes it. */
const char *gls_getter_name(gls_direction_getter dg);
/* Returns the method of the getter in words, for a sentence of a report. *paper: key of the paper of the method in
 * src/render/page/report.bib; NULL: none. NULL for a value that is no getter. */
const char *gls_getter_words(gls_direction_getter dg, const char **paper);
/* The getter of this name; GLS_DG_COUNT if there is none. */
gls_direction_getter gls_getter_named(const char *name);
struct gls_getter;
/* GLS_ERR_ARGUMENT unless the getter has a parameter, as the message says with the names of all getters that have it.
 * remark: end of the message. */
gls_status gls_getter_require(const struct gls_getter *getter, gls_param_user user, const char *option,
                              const char *remark);
/* Writes the names of the getters that use the parameters of `user`, as "boot, prob, det", into text and returns text.
 * For GLS_FOR_CUTOFF it adds ", and prob, det of FODs". */
const char *gls_getters_with(gls_param_user user, char *text, size_t size);

/* --- Checks before a tracker is made. */

#define GLS_MAX_DIRECTIONS 32
#define GLS_MAX_STEPS 1000000
/* Largest number of iterations of a half-streamline; kernels count them in 31 bits. */
#define GLS_MAX_ITERATIONS 1000000000

/* Checks that the getter has all parameters that are switched on. GLS_ERR_ARGUMENT names the getters that have one. */
gls_status gls_track_params_check_getter(const gls_track_params *params);
/* Checks each parameter, and combinations. GLS_ERR_ARGUMENT with a message that names the parameter and what it must
 * be. */
gls_status gls_track_params_check(const gls_track_params *params);
/* Checks whether --region-rule, --backtrack and --pft are possible with these parameters. tissue: there is an image of
 * tissue. */
gls_status gls_track_tissue_check(const gls_track_params *params, bool tissue);
/* Checks the input of a tracker. Call gls_track_params_check() first. */
gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input);

#endif
