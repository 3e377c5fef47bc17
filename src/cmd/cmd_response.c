/* `glslines response`: estimates response functions from diffusion data. */
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/track_options.h"

CMD_VALUES(response, gls_respond_options, gls_respond_options_default())

#define OPTION_OWNER gls_respond_options
static const gls_option table[] = {
    GLS_OPTION(
        "Method", CHOICE, algorithm, "algorithm", 0, NULL, NULL, GLS_ANY, NULL, GLS_RESPONSE_CHOICES,
        "How responses are estimated. dhollander: of white matter, grey matter and CSF, from all shells, for msmt. "
        "msmt_5tt: the same, with an image of tissues. tournier, fa: of single fibres, from one shell, for csd. "
        "manual: from all shells, of the voxels of MASK, which must hold a single bundle each."),
    GLS_OPTION("Method", STRING, act, "act", 0, "FILE", NULL, GLS_ANY, NULL, NULL,
               "msmt_5tt: image of five tissues (5ttgen), on any grid that lies over the series."),
    GLS_OPTION("Method", DOUBLE, estimate.pvf, "pvf", 0, "X", NULL, GLS_BETWEEN(0, 1), NULL, NULL,
               "msmt_5tt: a voxel with more than this fraction of a tissue counts as purely of this tissue."),
    GLS_OPTION("Method", CHOICE, estimate.wm, "wm-algorithm", 0, NULL, NULL, GLS_ANY, NULL, GLS_SINGLE_FIBRES_CHOICES,
               "msmt_5tt: how single bundles are found in white matter."),
    GLS_OPTION("Method", NUMBERS, model.shells, "shells", 0, "B", "s/mm2",
               GLS_VALUES(0, INFINITY, true, 1, GLS_MAX_NUMBERS, false), "tournier, fa: the highest; else all", NULL,
               "b-values of the shells to use, in addition to b = 0; tournier, fa: b-value of one shell."),
    GLS_OPTION("Method", INT, estimate.erode, "erode", 0, "N", NULL, GLS_BETWEEN(0, 100), NULL, NULL,
               "dhollander, fa: number of times that the mask is eroded by one voxel."),
    GLS_OPTION("Method", DOUBLE, estimate.fa_threshold, "fa-threshold", 0, "X", NULL, GLS_BETWEEN(0, 1), NULL, NULL,
               "dhollander: voxels with FA above X are first taken as white matter. msmt_5tt: voxels of grey matter "
               "and CSF have FA below X. fa: the response is estimated from all voxels with FA above X, in place of "
               "--voxels."),
    GLS_OPTION("Method", DOUBLE, estimate.wm_percent, "wm-percent", 0, "P", "%", GLS_ABOVE_TO(0, 100), NULL, NULL,
               "dhollander: share of the refined white matter voxels from which its response is estimated."),
    GLS_OPTION("Method", DOUBLE, estimate.gm_percent, "gm-percent", 0, "P", "%", GLS_ABOVE_TO(0, 100), NULL, NULL,
               "dhollander: share of the refined grey matter voxels from which its response is estimated."),
    GLS_OPTION("Method", DOUBLE, estimate.csf_percent, "csf-percent", 0, "P", "%", GLS_ABOVE_TO(0, 100), NULL, NULL,
               "dhollander: share of the refined CSF voxels from which its response is estimated."),
    GLS_OPTION("Method", UINT64, estimate.n_voxels, "voxels", 0, "N", NULL, GLS_BETWEEN(1, 1000000), NULL, NULL,
               "tournier, fa: number of voxels from which the response is estimated; msmt_5tt: number for the "
               "response of white matter."),
    GLS_OPTION("Method", STRING, model.csd_directions, "csd-directions", 0, "small|repulsion724|symmetric362|FILE",
               NULL, GLS_ANY, "repulsion600", NULL,
               "dhollander, tournier, msmt_5tt: directions in which the ODFs of their fits must not be negative."),
    CMD_MASK_OPTION,
    GLS_OPTION("Input", CHOICE, model.bvec_frame, "bvec-frame", 0, NULL, NULL, GLS_ANY, NULL, GLS_FRAME_CHOICES,
               "Axes of the b-vectors, as --bvec-frame of 'glslines track'."),
    GLS_OPTION("Input", DOUBLE, model.b0_threshold, "b0-threshold", 0, "B", "s/mm2", GLS_AT_LEAST(0), NULL, NULL,
               "Volumes with a b-value up to this count as b = 0."),
    GLS_OPTION("Input", CHOICE, model.bvalue_scaling, "bvalue-scaling", 0, NULL, NULL, GLS_ANY, NULL,
               GLS_SCALING_CHOICES, "Scaling of b-values by the lengths of their vectors, as for 'glslines track'."),
    GLS_OPTION("Output", FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL, "Overwrite existing files."),
    {.name = NULL},
};

/* Options that only some algorithms have. */
static const struct {
    const char *option;
    unsigned algorithms; /* bits, one for each algorithm */
    const char *names;
} owners[] = {
#define BIT(name) (1u << GLS_RESPONSE_##name)
    {"erode", BIT(DHOLLANDER) | BIT(FA), "dhollander and fa"},
    {"fa-threshold", BIT(DHOLLANDER) | BIT(FA) | BIT(MSMT_5TT), "dhollander, fa and msmt_5tt"},
    {"wm-percent", BIT(DHOLLANDER), "dhollander"},
    {"gm-percent", BIT(DHOLLANDER), "dhollander"},
    {"csf-percent", BIT(DHOLLANDER), "dhollander"},
    {"voxels", BIT(TOURNIER) | BIT(FA) | BIT(MSMT_5TT), "tournier, fa and msmt_5tt"},
    {"csd-directions", BIT(DHOLLANDER) | BIT(TOURNIER) | BIT(MSMT_5TT), "dhollander, tournier and msmt_5tt"},
    {"act", BIT(MSMT_5TT), "msmt_5tt"},
    {"pvf", BIT(MSMT_5TT), "msmt_5tt"},
    {"wm-algorithm", BIT(MSMT_5TT), "msmt_5tt"},
#undef BIT
};

/* Rejects options that the chosen algorithm does not have. */
static int check(const gls_respond_options *v, const cmd_arguments *arguments)
{
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (cmd_options_given(arguments, owners[i].option) && !(owners[i].algorithms >> v->algorithm & 1))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --algorithm %s has it", owners[i].option, owners[i].names);
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
    .name = "response",
    .synopsis = "DWI [BVAL BVEC [MASK]] PREFIX [options]",
    .summary = "Estimate response functions, for deconvolution here and in MRtrix3",
    .description =
        "Writes responses as text in MRtrix3's form. dhollander and msmt_5tt write PREFIX_wm.txt, PREFIX_gm.txt and "
        "PREFIX_csf.txt with a row for each shell; tournier and fa write PREFIX_response.txt with one row, manual "
        "with a row for each shell. Also writes PREFIX_voxels.nii.gz, the voxels that the responses come from, with a "
        "volume for each response; PREFIX.json with all parameters; and, if the mask is made from DWI, "
        "PREFIX_mask.nii.gz. The voxels are those of MRtrix3's dwi2response; look at them in a viewer.",
    .positionals = CMD_TEXTS(CMD_SERIES_POSITIONALS, "MASK", "Brain mask, voxels > 0; default: made from DWI.",
                             "PREFIX", "Output prefix of the files to write."),
    .max_positionals = 5,
    .rows = {{.table = table, .at = offsetof(response_values, o)}},
    .examples = CMD_TEXTS(
        "Responses of white matter, grey matter and CSF:",
        "glslines response dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz response", "A fit with these responses:",
        "glslines fit dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz sub01 --model msmt --response-wm response_wm.txt "
        "--response-gm response_gm.txt --response-csf response_csf.txt",
        "Responses of the tissues of a segmentation by 5ttgen:",
        "glslines response dwi.nii.gz tissues --algorithm msmt_5tt --act 5tt.nii.gz",
        "A response of single fibres, from the shell of b = 1000:",
        "glslines response dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz fibres --algorithm tournier --shells 1000"),
    .values_size = sizeof(response_values),
    .set_defaults = set_response_defaults,
    .run = run_response,
};
