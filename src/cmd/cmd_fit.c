/* glslines fit: diffusion data in, FA, tensor, ODFs and response out, for other programs. */
#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/model_options.h"
#include "cmd/progress.h"
#include "options/bridge.h"

typedef struct fit_options {
    cmd_common common;
    model_options model;
    const char *mask;
    bool force;
} fit_options;
#define CMD_OWNER fit_options

#define GROUP_INPUT "Input"
#define GROUP_MODEL "Model"
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, help)                                                                               \
    FIT_##owner(group, type, field, name, metavar, unit, range, default_text, choices, help)
#define ROW(group, type, field, name, metavar, unit, range, default_text, choices, help)                            \
    CMD_ENTRY(GROUP_##group, type, offsetof(fit_options, model.field), name, 0, metavar, unit, range, default_text, \
              choices, help)
#define NO_ROW(...)
#define FIT_TRACK NO_ROW
#define FIT_JOB NO_ROW
#define FIT_COMMAND NO_ROW
#define FIT_BASIS NO_ROW
#define FIT_GRADIENTS ROW
#define FIT_MODEL ROW

static const cmd_option table[] = {
    CMD_MASK_OPTION,
#include <glslines/params.def>
    CMD_OPTION("Output", CHOICE, model.sh_basis, "sh-basis", 0, "BASIS", NULL, GLS_ANY, NULL, GLS_BASIS_CHOICES,
               "Basis of the spherical harmonics to write: tournier07 (MRtrix3), tournier07_legacy (MRtrix 0.2), "
               "descoteaux07, or descoteaux07_legacy (DIPY's default)."),
    CMD_OPTION(
        "Output", CHOICE, model.sh_frame, "sh-frame", 0, NULL, NULL, GLS_ANY, NULL, "auto|" GLS_FRAME_CHOICES,
        "Axes of the spherical harmonics to write: fsl, those of b-vectors by FSL's rule; image, voxel axes; world, "
        "scanner axes. auto: world for the tournier07 bases, as in MRtrix3, else fsl, as in DIPY."),
    CMD_OPTION("Output", FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL, "Overwrite existing files."),
    {.name = NULL},
};

static void set_defaults(void *values)
{
    gls_fit_options defaults = gls_fit_options_default();
    model_options_set(&((fit_options *)values)->model, &defaults.model);
}

static int run_fit(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const fit_options *o = values;
    model_files files;
    cmd_progress progress = {.begun = false};
    gls_monitor monitor = cmd_progress_monitor(&progress);
    int code = model_files_get(command, arguments, o->mask, &files);
    if (!code) code = model_options_check(command, &o->model, arguments);
    if (code) return code;
    gls_fit_options options = gls_fit_options_default();
    options.dwi = files.dwi;
    options.bval = files.bval;
    options.bvec = files.bvec;
    options.mask = files.mask;
    options.prefix = files.prefix;
    options.model = model_options_get(&o->model);
    options.force = o->force;
    options.argc = arguments->argc;
    options.argv = arguments->argv;
    gls_status status = gls_fit_files(&options, &monitor);
    if (!status) cmd_interrupt_done();
    return cmd_finish(status);
}

static const char *const positionals[] = {
    CMD_SERIES_POSITIONALS,
    "MASK",
    "Voxels > 0 are fitted; default: the brain, made from DWI.",
    "PREFIX",
    "Output prefix: PREFIX_fa.nii.gz and so on.",
    NULL,
};

static const char *const examples[] = {
    "Fibre orientation distributions of order 8 for MRtrix3:",
    "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01",
    "White matter, grey matter and CSF from all shells, normalised:",
    "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --model msmt",
    "Track them, with the stop map of the same fit:",
    "glslines track --sh sub01_sh.nii.gz --fa sub01_fa.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg prob",
    "The OPDT for DIPY:",
    "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --model opdt --sh-basis descoteaux07_legacy",
    NULL,
};

const cmd_command cmd_fit = {
    .name = "fit",
    .synopsis = "DWI [BVAL BVEC [MASK]] PREFIX [options]",
    .summary = "Fit tensor and orientation model, and write them as NIfTI for other programs",
    .description =
        "Writes PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz (Dxx Dxy Dyy Dxz Dyz Dzz in mm2/s along the voxel "
        "axes), PREFIX_sh.nii.gz (spherical "
        "harmonics of the model), with csd PREFIX_response.txt, and PREFIX.json with all parameters. With msmt "
        "in place of PREFIX_sh.nii.gz: PREFIX_wm.nii.gz, PREFIX_gm.nii.gz and PREFIX_csf.nii.gz, their "
        "responses PREFIX_wm.txt and so on, and PREFIX_vf.nii.gz (fractions of CSF, grey and white matter). "
        "PREFIX_mask.nii.gz where the mask is made. The defaults of basis and axes are those of MRtrix3.",
    .positionals = positionals,
    .max_positionals = 5,
    .options = table,
    .aliases = model_option_aliases,
    .examples = examples,
    .hints = &cmd_bridge,
    .values_size = sizeof(fit_options),
    .set_defaults = set_defaults,
    .run = run_fit,
};
