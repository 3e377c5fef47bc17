/* Commands that read a diffusion series and write what is fitted to it: fit, response. */
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "util/text.h"

/* The row of --mask, for the options of a command that also takes an argument MASK. */
#define CMD_MASK_OPTION                                                                                    \
    GLS_TEXT("Input", mask, "mask", "FILE", "made from DWI", "Brain mask, in place of the argument MASK.", \
             .since = "0.2.0")

/* Where the arguments DWI [BVAL BVEC [MASK]] PREFIX are stored. *mask: before that, the file of --mask or NULL. */
typedef struct model_files {
    const char **dwi, **bval, **bvec, **mask, **prefix;
} model_files;
/* The option for a method that another program takes as an argument, as in "dwi2response dhollander"; NULL: none. */
static const char *option_of_method(const char *word)
{
    static const char *const methods[][2] = {{"dhollander", "--algorithm dhollander"},
                                             {"tournier", "--algorithm tournier"},
                                             {"manual", "--algorithm manual"},
                                             {"msmt_5tt", "--algorithm msmt_5tt"},
                                             {"csd", "--model csd"},
                                             {"msmt_csd", "--model msmt"},
                                             {"msmt", "--model msmt"},
                                             {"csa", "--model csa"},
                                             {"opdt", "--model opdt"}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (gls_case_compare(methods[i][0], word) == 0) return methods[i][1];
    return NULL;
}

/* Stores the arguments. After a fault prints a message. Returns an exit code. */
static int model_files_get(const cmd_arguments *arguments, model_files files)
{
    const char *const *file = arguments->positional;
    int n = arguments->n_positionals;
    /* users of other programs often name a method, such as csd, in place of DWI */
    const char *method = n > 0 && access(file[0], F_OK) != 0 ? option_of_method(file[0]) : NULL;
    if (method)
        return cmd_error(CMD_EXIT_USAGE, "%s: '%s' stands where DWI is expected; the method is chosen by %s",
                         arguments->command->name, file[0], method);
    if (n != 2 && n != 4 && n != 5)
        return cmd_error(CMD_EXIT_USAGE,
                         "%s: takes DWI PREFIX, DWI BVAL BVEC PREFIX or DWI BVAL BVEC MASK PREFIX, got %d argument%s; "
                         "without MASK, --mask FILE names the mask",
                         arguments->command->name, n, n == 1 ? "" : "s");
    if (n == 5 && *files.mask)
        return cmd_error(CMD_EXIT_USAGE, "--mask: the argument MASK names the mask already; leave out one of them");
    if (access(file[n - 1], F_OK) == 0)
        return cmd_error(
            CMD_EXIT_USAGE,
            "%s: the last argument, PREFIX, is the beginning of new file names, but %s exists: give another one",
            arguments->command->name, file[n - 1]);
    *files.dwi = file[0];
    if (n > 2) *files.bval = file[1];
    if (n > 2) *files.bvec = file[2];
    if (n > 4) *files.mask = file[3];
    *files.prefix = file[n - 1];
    return CMD_EXIT_OK;
}

/* `glslines fit`: fits a tensor and an orientation model, and writes their maps for other programs. */
CMD_VALUES(fit, gls_fit_options, gls_fit_options_default())

#define OPTION_OWNER gls_fit_options
static const gls_option mask_row[] = {CMD_MASK_OPTION, {.name = NULL}};

static const gls_option output_rows[] = {
    GLS_CHOICE(
        "Tensor", tensor, "tensor", GLS_TENSOR_CHOICES,
        "Weights of the tensor's least-squares fit. dipy: from an unweighted fit, as in DIPY's WLS. mrtrix: from the "
        "signal, then twice from the fit before, as in dwi2tensor. ols: no weights, as in dwi2tensor -ols -iter 0.",
        .since = "0.2.0"),
    GLS_FLAG("Tensor", tensor_maps, "tensor-maps",
             "Also write PREFIX_md.nii.gz, _ad and _rd (mean, axial and radial diffusivity, mm2/s), _evals (the three "
             "eigenvalues), _v1, _v2 and _v3 (their vectors along the voxel axes) and _rgb (FA in the colours of v1).",
             .since = "0.2.0"),
    GLS_FLAG("Tensor", no_model, "no-model", "Fit the tensor alone, no orientation model.", .since = "0.2.0"),
    GLS_OPTION("Output", CHOICE, model.sh_basis, "sh-basis", 0, "BASIS", NULL, GLS_ANY, NULL, GLS_BASIS_CHOICES,
               "Basis of the spherical harmonics to write: tournier07 (MRtrix3), tournier07_legacy (MRtrix 0.2), "
               "descoteaux07, or descoteaux07_legacy (DIPY's default)."),
    GLS_CHOICE(
        "Output", model.sh_frame, "sh-frame", "auto|" GLS_FRAME_CHOICES,
        "Axes of the spherical harmonics to write. fsl: axes of b-vectors by FSL's rule. image: voxel axes. world: "
        "scanner axes. auto: world for the tournier07 bases, as in MRtrix3, else fsl, as in DIPY."),
    GLS_FLAG("Output", force, "force", "Overwrite existing files."),
    {.name = NULL},
};

/* Entry of the command: checks options, fits, writes files. If --csd-rule or --response is given without --model, the
 * model is csd. */
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
    CMD_ENTRY(fit),
    .synopsis = "DWI [BVAL BVEC [MASK]] PREFIX [options]",
    .writes = GLS_WRITES_SEVERAL,
    .summary = "Fit tensor and orientation model, and write them as NIfTI for other programs",
    .description =
        "Writes PREFIX_fa.nii.gz, PREFIX_tensor.nii.gz (Dxx Dxy Dyy Dxz Dyz Dzz in mm2/s along the voxel axes), "
        "PREFIX_sh.nii.gz (spherical harmonics of the model), with csd PREFIX_response.txt, and PREFIX.json with all "
        "parameters. msmt, the default for most series, writes no PREFIX_sh.nii.gz, but PREFIX_wm.nii.gz, "
        "PREFIX_gm.nii.gz and PREFIX_csf.nii.gz of the tissues that it fits (with one shell not gm), their responses "
        "PREFIX_wm.txt and so on, and PREFIX_vf.nii.gz (fractions of CSF, grey and white matter). If the mask is made "
        "from DWI, it is written to PREFIX_mask.nii.gz. The defaults of basis and axes are those of MRtrix3.",
    .positionals =
        CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK", "Brain mask: voxels > 0 are fitted; default: made from DWI.",
                  "PREFIX", "Output prefix: PREFIX_fa.nii.gz and so on; x.mif gives x_fa.mif and so on."),
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
};

#undef OPTION_OWNER

/* `glslines response`: estimates response functions from diffusion data. */
CMD_VALUES(response, gls_respond_options, gls_respond_options_default())

#define OPTION_OWNER gls_respond_options
static const gls_option response_rows[] = {
    GLS_CHOICE(
        "Method", algorithm, "algorithm", GLS_RESPONSE_CHOICES,
        "How responses are estimated. dhollander: of white matter, grey matter and CSF, from all shells, for msmt. "
        "msmt_5tt: the same, with an image of tissues. tournier, fa: of single fibres, from one shell, for csd. "
        "manual: from all shells, of the voxels of MASK, which must hold a single bundle each."),
    GLS_TEXT("Method", act, "act", "FILE", NULL,
             "msmt_5tt: image of five tissues (5ttgen), on any grid that lies over the series.",
             .only = "algorithm msmt_5tt", .since = "0.2.0"),
    GLS_OPTION(
        "Method", STRINGS, transform, "transform", 't', "FILE[,inverse]", NULL, GLS_ANY, "none", NULL,
        "msmt_5tt: transform that maps points of the space of DWI to the space of --act; give it several times for "
        "a chain, as for 'glslines transform'.",
        .only = "algorithm msmt_5tt", .since = "0.2.0"),
    GLS_NUMBER("Method", DOUBLE, estimate.pvf, "pvf", "X", NULL, GLS_BETWEEN(0, 1), NULL,
               "msmt_5tt: a voxel with more than this fraction of a tissue counts as purely of this tissue.",
               .only = "algorithm msmt_5tt", .since = "0.2.0"),
    GLS_CHOICE("Method", estimate.wm, "wm-algorithm", GLS_SINGLE_FIBRES_CHOICES,
               "msmt_5tt: how single bundles are found in white matter.", .only = "algorithm msmt_5tt",
               .since = "0.2.0"),
    GLS_NUMBER(
        "Method", NUMBERS, model.shells, "shells", "B ...", "s/mm2",
        GLS_VALUES(0, INFINITY, false, 1, GLS_MAX_NUMBERS, false),
        "all; tournier, fa: the response is that of the highest",
        "b-values of the shells to use, in addition to b = 0; tournier, fa: b-value of one shell. Mask and tensor do "
        "not depend on other shells, as with -shells of dwi2response."),
    GLS_NUMBER("Method", INT, estimate.erode, "erode", "N", NULL, GLS_BETWEEN(0, 100), NULL,
               "dhollander, fa: number of times that the mask is eroded by one voxel.",
               .only = "algorithm dhollander|fa"),
    GLS_NUMBER("Method", DOUBLE, estimate.fa_threshold, "fa-threshold", "X", NULL, GLS_BETWEEN(0, 1), "0.2; fa: none",
               "dhollander: voxels with FA above X are first taken as white matter. msmt_5tt: voxels of grey matter "
               "and CSF have FA below X. fa: the response comes from all voxels of FA above X, in place of --voxels.",
               .only = "algorithm dhollander|fa|msmt_5tt"),
    GLS_NUMBER("Method", DOUBLE, estimate.wm_percent, "wm-percent", "P", "%", GLS_ABOVE_TO(0, 100), NULL,
               "dhollander: share of the refined white matter voxels from which its response is estimated.",
               .only = "algorithm dhollander"),
    GLS_NUMBER("Method", DOUBLE, estimate.gm_percent, "gm-percent", "P", "%", GLS_ABOVE_TO(0, 100), NULL,
               "dhollander: share of the refined grey matter voxels from which its response is estimated.",
               .only = "algorithm dhollander"),
    GLS_NUMBER("Method", DOUBLE, estimate.csf_percent, "csf-percent", "P", "%", GLS_ABOVE_TO(0, 100), NULL,
               "dhollander: share of the refined CSF voxels from which its response is estimated.",
               .only = "algorithm dhollander"),
    GLS_NUMBER("Method", UINT64, estimate.n_voxels, "voxels", "N", NULL, GLS_BETWEEN(1, 1000000), NULL,
               "tournier, fa: number of voxels from which the response is estimated; msmt_5tt: number for the "
               "response of white matter.",
               .only = "algorithm tournier|fa|msmt_5tt"),
    GLS_TEXT("Method", model.csd_directions, "csd-directions", "small|repulsion600|repulsion724|symmetric362|FILE",
             "repulsion600",
             "dhollander, tournier, msmt_5tt: directions in which the ODFs of their fits must not be negative.",
             .only = "algorithm dhollander|tournier|msmt_5tt"),
    CMD_MASK_OPTION,
    GLS_CHOICE("Input", model.bvec_frame, "bvec-frame", GLS_FRAME_CHOICES,
               "Axes of the b-vectors, as --bvec-frame of 'glslines track'."),
    GLS_NUMBER("Input", DOUBLE, model.b0_threshold, "b0-threshold", "B", "s/mm2", GLS_AT_LEAST(0), NULL,
               "Volumes with a b-value up to this count as b = 0."),
    GLS_CHOICE("Input", model.bvalue_scaling, "bvalue-scaling", GLS_SCALING_CHOICES,
               "Scaling of b-values by the lengths of their vectors, as for 'glslines track'."),
    GLS_FLAG("Output", force, "force", "Overwrite existing files."),
    {.name = NULL},
};

/* Checks that the options go with the chosen algorithm and with each other. Returns an exit code. */
static int check(const gls_respond_options *v, const cmd_arguments *arguments)
{
    if (v->algorithm == GLS_RESPONSE_MSMT_5TT && !v->act)
        return cmd_error(CMD_EXIT_USAGE, "--algorithm msmt_5tt: needs --act FILE, an image of five tissues");
    if (v->algorithm == GLS_RESPONSE_FA && cmd_options_given(arguments, "fa-threshold") &&
        cmd_options_given(arguments, "voxels"))
        return cmd_error(CMD_EXIT_USAGE,
                         "--fa-threshold and --voxels exclude each other with --algorithm fa: leave out one of them");
    return CMD_EXIT_OK;
}

/* Entry of the command: estimates the responses and writes them, their voxels and the sidecar. */
static int run_response(void *values, const cmd_arguments *arguments)
{
    gls_respond_options *o = &((response_values *)values)->o;
    const model_files files = {&o->dwi, &o->bval, &o->bvec, &o->mask, &o->prefix};
    int code = check(o, arguments);
    if (!code) code = model_files_get(arguments, files);
    if (!code && o->algorithm == GLS_RESPONSE_MANUAL && !o->mask)
        code = cmd_error(CMD_EXIT_USAGE, "--algorithm manual: needs MASK (or --mask), the voxels of the response");
    if (code) return code;
    /* with --algorithm fa, a given --fa-threshold takes the place of the number of voxels */
    if (o->algorithm == GLS_RESPONSE_FA && cmd_options_given(arguments, "fa-threshold")) o->estimate.n_voxels = 0;
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    gls_status status = gls_respond_files(o, cmd_monitor(true));
    if (!status) cmd_interrupt_done();
    return cmd_finish(status);
}

const cmd_command command_response = {
    CMD_ENTRY(response),
    .synopsis = "DWI [BVAL BVEC [MASK]] PREFIX [options]",
    .writes = GLS_WRITES_SEVERAL,
    .summary = "Estimate response functions, for deconvolution here and in MRtrix3",
    .description =
        "Writes responses as text in MRtrix3's form. dhollander and msmt_5tt write PREFIX_wm.txt, PREFIX_gm.txt and "
        "PREFIX_csf.txt with a row for each shell; tournier and fa write PREFIX_response.txt with one row, manual with "
        "a row for each shell. Also writes PREFIX_voxels.nii.gz, the voxels that the responses come from, with a "
        "volume for each response; PREFIX.json with all parameters; and, if the mask is made from DWI, "
        "PREFIX_mask.nii.gz. MRtrix3's dwi2response chooses the same voxels but for a few of white matter, because the "
        "directions of its constraint are others (--csd-directions); with fa and a MASK it does so only if --erode 0 "
        "is given. Look at them in a viewer.",
    .positionals =
        CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK",
                  "Brain mask, voxels > 0; default: made from DWI. manual: voxels of the response.", "PREFIX",
                  "Output prefix of the files to write; x.mif gives images of this format, x_voxels.mif."),
    .max_positionals = 5,
    .rows = {{.table = response_rows, .at = offsetof(response_values, o)}},
    .examples = CMD_TEXTS(
        "Responses of white matter, grey matter and CSF:",
        "glslines response dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz response", "A fit with these responses:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --model msmt --response-wm response_wm.txt "
        "--response-gm response_gm.txt --response-csf response_csf.txt",
        "Responses of the tissues of a segmentation by 5ttgen:",
        "glslines response dwi.nii.gz tissues --algorithm msmt_5tt --act 5tt.nii.gz",
        "A response of single fibres, from the shell of b = 1000:",
        "glslines response dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz fibres --algorithm tournier --shells 1000"),
};
