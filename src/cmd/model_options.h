/* Options of a model fit, one entry each for all commands that fit: a command puts a model_options named model into its
 * struct and the entries into its table. */
#ifndef GLS_CMD_MODEL_OPTIONS_H
#define GLS_CMD_MODEL_OPTIONS_H

#include <math.h>

#include <glslines/glslines.h>

#include "cmd/options.h"

typedef struct model_options {
    int bvec_frame; /* gls_bvec_frame */
    double b0_threshold;
    int model, sh_order;
    double sm_lambda, min_signal;
    cmd_numbers shells; /* none: the model's own choice */
    const char *response;
    int sh_basis; /* gls_sh_basis, of files */
    int sh_frame; /* MODEL_FRAME_AUTO, or 1 + gls_bvec_frame */
} model_options;

/* Values of model_options.model: the first two are those of gls_qball_model. */
enum { MODEL_OPDT, MODEL_CSA, MODEL_CSD };
#define MODEL_CHOICES "opdt|csa|csd"

enum { MODEL_FRAME_AUTO };

/* The order of the words of each choice is that of the enum behind it. */
#define MODEL_GRADIENT_ENTRIES(group_name, owner)                                                                      \
    {.group = group_name,                                                                                              \
     .name = "bvec-frame",                                                                                             \
     .type = CMD_CHOICE,                                                                                               \
     .choices = "fsl|image|world",                                                                                     \
     .offset = offsetof(owner, model.bvec_frame),                                                                      \
     .help = "Frame of the b-vectors: FSL's rule (voxel axes, x negated where the affine's determinant is positive), " \
             "voxel axes as they are, or scanner "                                                                     \
             "axes."},                                                                                                 \
    {                                                                                                                  \
        .group = group_name, .name = "b0-threshold", .type = CMD_DOUBLE, .metavar = "B", .unit = "s/mm2", .min = 0,    \
        .max = INFINITY, .offset = offsetof(owner, model.b0_threshold),                                                \
        .help = "Volumes with a b-value up to this count as b = 0."                                                    \
    }

#define MODEL_BASIS_ENTRIES(group_name, owner, what)                                                                \
    {.group = group_name,                                                                                           \
     .name = "sh-basis",                                                                                            \
     .type = CMD_CHOICE,                                                                                            \
     .metavar = "BASIS",                                                                                            \
     .choices = "descoteaux07_legacy|descoteaux07|tournier07_legacy|tournier07",                                    \
     .offset = offsetof(owner, model.sh_basis),                                                                     \
     .help = "Basis of the spherical harmonics " what                                                               \
             ": tournier07 (MRtrix3), tournier07_legacy (MRtrix 0.2), descoteaux07 or descoteaux07_legacy (DIPY's " \
             "default)."},                                                                                          \
    {                                                                                                               \
        .group = group_name, .name = "sh-frame", .type = CMD_CHOICE, .choices = "auto|fsl|image|world",             \
        .offset = offsetof(owner, model.sh_frame),                                                                  \
        .help = "Axes of the spherical harmonics " what                                                             \
                ": those of b-vectors by FSL's rule, voxel axes or scanner axes. auto: scanner axes for the "       \
                "tournier07 bases, as MRtrix3 has them, else FSL's, as DIPY has them."                              \
    }

#define MODEL_ENTRIES(group_name, owner)                                                                            \
    {.group = group_name,                                                                                           \
     .name = "model",                                                                                               \
     .type = CMD_CHOICE,                                                                                            \
     .choices = MODEL_CHOICES,                                                                                      \
     .offset = offsetof(owner, model.model),                                                                        \
     .help = "Orientation model: orientation probability density transform, constant solid angle, or constrained "  \
             "spherical deconvolution."},                                                                           \
        {.group = group_name,                                                                                       \
         .name = "sh-order",                                                                                        \
         .type = CMD_INT,                                                                                           \
         .metavar = "L",                                                                                            \
         .min = 2,                                                                                                  \
         .max = 8,                                                                                                  \
         .offset = offsetof(owner, model.sh_order),                                                                 \
         .help = "Order of the spherical harmonics of the model, even."},                                           \
        {.group = group_name,                                                                                       \
         .name = "shells",                                                                                          \
         .type = CMD_NUMBERS,                                                                                       \
         .metavar = "B",                                                                                            \
         .unit = "s/mm2",                                                                                           \
         .min = 0,                                                                                                  \
         .max = INFINITY,                                                                                           \
         .min_open = true,                                                                                          \
         .min_values = 1,                                                                                           \
         .max_values = CMD_MAX_NUMBERS,                                                                             \
         .offset = offsetof(owner, model.shells),                                                                   \
         .default_text = "csd: the lowest of at least 500 s/mm2; else all together",                                \
         .help = "b-value of the shell that the model uses, b = 0 besides."},                                       \
        {.group = group_name,                                                                                       \
         .name = "response",                                                                                        \
         .type = CMD_STRING,                                                                                        \
         .metavar = "FILE",                                                                                         \
         .offset = offsetof(owner, model.response),                                                                 \
         .default_text = "from voxels of FA above 0.7 in the centre of the image",                                  \
         .help = "Response function for csd: text with l1 l2 l2 S0 (mm2/s and signal), or MRtrix3's coefficients, " \
                 "one row or one for each shell."},                                                                 \
        {.group = group_name,                                                                                       \
         .name = "sm-lambda",                                                                                       \
         .type = CMD_DOUBLE,                                                                                        \
         .metavar = "X",                                                                                            \
         .min = 0,                                                                                                  \
         .max = INFINITY,                                                                                           \
         .offset = offsetof(owner, model.sm_lambda),                                                                \
         .help = "Laplace-Beltrami smoothing of opdt and csa."},                                                    \
    {                                                                                                               \
        .group = group_name, .name = "min-signal", .type = CMD_DOUBLE, .metavar = "S", .min = 0, .max = INFINITY,   \
        .min_open = true, .offset = offsetof(owner, model.min_signal),                                              \
        .help = "Smaller values of the signal are raised to this by opdt and csa."                                  \
    }

/* Fills in the defaults; model is one of MODEL_OPDT and so on. */
void model_options_default(model_options *options, int model);

/* What the table cannot check, from the option names that were given. Returns an exit code, the message printed. */
int model_options_check(const cmd_command *command, const model_options *options, const cmd_arguments *arguments);

/* The axes that --sh-frame stands for. */
gls_bvec_frame model_options_frame(const model_options *options);
/* The name of a basis as --sh-basis takes it. */
const char *model_basis_name(gls_sh_basis basis);

#endif
