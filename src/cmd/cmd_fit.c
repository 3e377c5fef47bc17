/* `glslines fit`: fits diffusion data and writes FA, tensor, ODFs and response for other programs. */
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/track_options.h"

CMD_VALUES(fit, gls_fit_options, gls_fit_options_default())

#define OPTION_OWNER gls_fit_options
static const gls_option mask_row[] = {CMD_MASK_OPTION, {.name = NULL}};

static const gls_option output_rows[] = {
    GLS_OPTION(
        "Tensor", CHOICE, tensor, "tensor", 0, NULL, NULL, GLS_ANY, NULL, GLS_TENSOR_CHOICES,
        "Weights of the tensor's least-squares fit. dipy: from an unweighted fit, as in DIPY's WLS. mrtrix: from the "
        "signal, then twice from the fit before, as in dwi2tensor. ols: no weights, as in dwi2tensor -ols -iter 0."),
    GLS_OPTION(
        "Tensor", FLAG, tensor_maps, "tensor-maps", 0, NULL, NULL, GLS_ANY, NULL, NULL,
        "Also write PREFIX_md.nii.gz, _ad and _rd (mean, axial and radial diffusivity, mm2/s), _evals (the three "
        "eigenvalues), _v1, _v2 and _v3 (their vectors along the voxel axes) and _rgb (FA in the colours of v1)."),
    GLS_OPTION("Tensor", FLAG, no_model, "no-model", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Fit the tensor alone, no orientation model."),
    GLS_OPTION("Output", CHOICE, model.sh_basis, "sh-basis", 0, "BASIS", NULL, GLS_ANY, NULL, GLS_BASIS_CHOICES,
               "Basis of the spherical harmonics to write: tournier07 (MRtrix3), tournier07_legacy (MRtrix 0.2), "
               "descoteaux07, or descoteaux07_legacy (DIPY's default)."),
    GLS_OPTION(
        "Output", CHOICE, model.sh_frame, "sh-frame", 0, NULL, NULL, GLS_ANY, NULL, "auto|" GLS_FRAME_CHOICES,
        "Axes of the spherical harmonics to write. fsl: axes of b-vectors by FSL's rule. image: voxel axes. world: "
        "scanner axes. auto: world for the tournier07 bases, as in MRtrix3, else fsl, as in DIPY."),
    GLS_OPTION("Output", FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL, "Overwrite existing files."),
    {.name = NULL},
};

/* Entry of the command: checks the options of the model, fits, and writes the files. --csd-rule or --response without
 * --model chooses csd. */
static int run_fit(void *values, const cmd_arguments *arguments)
{
    gls_fit_options *o = &((fit_values *)values)->o;
    const model_files files = {&o->dwi, &o->bval, &o->bvec, &o->mask, &o->prefix};
    static const char *const of_csd[] = {"csd-rule", "response", NULL};
    if (!cmd_options_given(arguments, "model") && cmd_options_first(arguments, of_csd)) o->model.model = GLS_MODEL_CSD;
    int code = model_files_get(arguments, files);
    for (const gls_param *p = gls_params; !code && o->no_model && p->name; p++)
        if (p->owner == GLS_OF_MODEL && cmd_options_given(arguments, p->name))
            code = cmd_error(CMD_EXIT_USAGE, "--no-model cannot be used with --%s, an option of the model", p->name);
    if (!code) code = model_options_check(&o->model, arguments);
    if (code) return code;
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    gls_status status = gls_fit_files(o, cmd_monitor(true));
    if (!status) cmd_interrupt_done();
    return cmd_finish(status);
}

const cmd_command command_fit = {
    .name = "fit",
    .synopsis = "DWI [BVAL BVEC [MASK]] PREFIX [options]",
    .summary = "Fit tensor and orientation model, and write them as NIfTI for other programs",
    .description =
        "Writes PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz (Dxx Dxy Dyy Dxz Dyz Dzz in mm2/s along the voxel axes), "
        "PREFIX_sh.nii.gz (spherical harmonics of the model), with csd PREFIX_response.txt, and PREFIX.json with all "
        "parameters. msmt, the default for most series, writes in place of PREFIX_sh.nii.gz the files "
        "PREFIX_wm.nii.gz, "
        "PREFIX_gm.nii.gz and PREFIX_csf.nii.gz, their responses PREFIX_wm.txt and so on, and PREFIX_vf.nii.gz "
        "(fractions of CSF, grey and white matter). If the mask is made from DWI, it is written to PREFIX_mask.nii.gz. "
        "The defaults of basis and axes are those of MRtrix3.",
    .positionals =
        CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK", "Voxels > 0 are fitted; default: the brain, made from DWI.", "PREFIX",
                  "Output prefix: PREFIX_fa.nii.gz and so on."),
    .max_positionals = 5,
    .rows = {{.table = mask_row, .at = offsetof(fit_values, o)},
             CMD_MODEL_ROWS(fit_values, o.model, .owners = GLS_OF_GRADIENTS | GLS_OF_MODEL),
             {.table = output_rows, .at = offsetof(fit_values, o)}},
    .aliases = model_option_aliases,
    .examples = CMD_TEXTS(
        "White matter, grey matter and CSF from all shells, normalised:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01",
        "Track along the white matter of this fit, with its stop map:",
        "glslines track --sh sub01_wm.nii.gz --fa sub01_fa.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg prob",
        "Fibre orientation distributions of one shell for MRtrix3:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01_csd --model csd", "The OPDT for DIPY:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01_opdt --model opdt --sh-basis descoteaux07_legacy",
        "Maps of the tensor alone:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01_tensor --no-model --tensor-maps"),
    .values_size = sizeof(fit_values),
    .set_defaults = set_fit_defaults,
    .run = run_fit,
};
