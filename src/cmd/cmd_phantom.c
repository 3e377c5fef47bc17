/* `glslines phantom`: writes the built-in phantom as files. */
#include <glslines/phantom.h>

#include <string.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "phantom/write.h"
#include "util/status.h"

typedef struct phantom_values {
    cmd_common common;
    /* the parameters that are plain numbers; make_params() adds the other parameters */
    gls_phantom_params params;
    /* values as the user gave them: numbers of voxels, edges in mm, angles in degrees, b-values in s/mm2 */
    gls_numbers shape, voxel_size, oblique, bvals;
    /* orientation: three letters such as LAS; bids: subjects of a data set, or NULL */
    const char *orientation, *bids;
    /* true: replace existing files */
    bool force;
} phantom_values;
#define OPTION_OWNER phantom_values

static const gls_option table[] = {
    GLS_NUMBER("Grid", NUMBERS, shape, "shape", "X Y Z", "voxels", GLS_VALUES(16, 512, false, 3, 3, true), NULL,
               "Number of voxels along each axis."),
    GLS_NUMBER("Grid", NUMBERS, voxel_size, "voxel-size", "X [Y Z]", "mm", GLS_VALUES(0.1, 20, false, 1, 3, false),
               NULL, "Edges of a voxel; one number is for all three."),
    GLS_TEXT("Grid", orientation, "orientation", "CODES", NULL,
             "Direction in which each voxel axis grows: one of L/R, one of P/A and one of I/S, in any order."),
    GLS_NUMBER("Grid", NUMBERS, oblique, "oblique", "X Y Z", "degrees", GLS_VALUES(-180, 180, false, 3, 3, false), NULL,
               "Rotation of the grid about the world axes x, y and z."),
    GLS_NUMBER("Measurement", NUMBERS, bvals, "bvals", "B ...", "s/mm2",
               GLS_VALUES(100, 20000, false, 1, GLS_PHANTOM_MAX_SHELLS, false), NULL,
               "b-value of each shell; several numbers make several shells."),
    GLS_NUMBER("Measurement", INT, params.n_directions, "directions", "N", NULL, GLS_BETWEEN(6, 1024), NULL,
               "Number of gradient directions in each shell."),
    GLS_NUMBER("Measurement", INT, params.n_b0, "b0s", "N", NULL, GLS_BETWEEN(1, 64), NULL,
               "Number of volumes without diffusion weighting."),
    GLS_NUMBER("Measurement", DOUBLE, params.snr, "snr", "S", NULL, GLS_BETWEEN(0, 1e6), NULL,
               "Signal-to-noise ratio: b = 0 signal of white matter / standard deviation of the (Rician) noise. 0: no "
               "noise; else at least 1."),
    GLS_NUMBER("Measurement", UINT64, params.seed, "rng-seed", "K", NULL, GLS_AT_LEAST(0), NULL,
               "Random seed of the noise.", .since = "0.2.0"),
    GLS_TEXT("Output", bids, "bids", "LABEL[,LABEL]", "none",
             "Write a BIDS data set of derivatives with these subjects, of which each has noise of its own, instead "
             "of one phantom and its truth; LABEL/SESSION puts the series into a session. For trying out 'glslines "
             "bids'."),
    GLS_FLAG("Output", force, "force", "Overwrite existing files."),
    {.name = NULL},
};

/* Takes the defaults of the library, as lists of numbers where options are lists. */
static void set_phantom_defaults(void *values)
{
    gls_phantom_params p = gls_phantom_params_default();
    /* static, because the help reads it after the parameters are gone */
    static char orientation[4];
    memcpy(orientation, p.orientation, sizeof orientation);
    phantom_values *o = values;
    *o = (phantom_values){.params = p, .orientation = orientation};
    o->shape.n = o->voxel_size.n = o->oblique.n = 3;
    for (int a = 0; a < 3; a++) {
        o->shape.value[a] = p.shape[a];
        o->voxel_size.value[a] = p.voxel_size[a];
        o->oblique.value[a] = p.oblique[a];
    }
    o->bvals.n = p.n_shells;
    memcpy(o->bvals.value, p.bval, (size_t)p.n_shells * sizeof *p.bval);
}

/* Requires one letter of each of the pairs L R, P A and I S, in any order. */
static int check_orientation(const char *codes)
{
    static const char *const axes[] = {"LR", "PA", "IS"};
    bool ok = strlen(codes) == 3;
    for (int a = 0; a < 3 && ok; a++)
        ok = (strchr(codes, axes[a][0]) != NULL) + (strchr(codes, axes[a][1]) != NULL) == 1;
    return ok ? CMD_EXIT_OK
              : cmd_error(CMD_EXIT_USAGE,
                          "--orientation: '%s' must hold one of L or R, one of P or A and one of I or S, e.g. LAS",
                          codes);
}

/* Copies the options into the parameters of the phantom, and checks what the table of options cannot. */
static int make_params(const phantom_values *o, gls_phantom_params *p)
{
    *p = o->params;
    if (o->voxel_size.n == 2) return cmd_error(CMD_EXIT_USAGE, "--voxel-size: needs one value or three, got 2");
    if (p->snr > 0 && p->snr < 1)
        return cmd_error(CMD_EXIT_USAGE, "--snr: %g is out of range: must be 0 (no noise) or 1 to 1000000", p->snr);
    int code = check_orientation(o->orientation);
    if (code) return code;
    for (int a = 0; a < 3; a++) {
        p->shape[a] = (int32_t)o->shape.value[a];
        p->voxel_size[a] = o->voxel_size.value[o->voxel_size.n == 1 ? 0 : a];
        p->oblique[a] = o->oblique.value[a];
    }
    memcpy(p->orientation, o->orientation, 4);
    p->n_shells = o->bvals.n;
    memcpy(p->bval, o->bvals.value, (size_t)o->bvals.n * sizeof *p->bval);
    return CMD_EXIT_OK;
}

/* Writes a BIDS data set with a phantom for each subject of --bids. Messages of each phantom are muted. */
static int write_data_set(const phantom_values *o, const gls_phantom_params *params, const char *directory)
{
    size_t n = 0;
    gls_log_mute_info(true);
    cmd_interrupt_catch();
    gls_status status = gls_phantom_write_bids(params, directory, o->bids, o->force, &n);
    cmd_interrupt_release();
    gls_log_mute_info(false);
    if (status) return cmd_error_status(status);
    cmd_info("%s: a BIDS data set of %zu phantoms; track it with: glslines bids %s OUT_DIR participant", directory, n,
             directory);
    return CMD_EXIT_OK;
}

/* Entry of the command: writes a phantom with its ground truth, or with --bids a data set of phantoms. */
static int run_phantom(void *values, const cmd_arguments *arguments)
{
    const phantom_values *o = values;
    gls_phantom_params params;
    gls_phantom *phantom = NULL;
    if (arguments->n_positionals != 1)
        return cmd_error(CMD_EXIT_USAGE, "phantom: needs the directory to write to: glslines phantom %s",
                         arguments->command->synopsis);
    int code = make_params(o, &params);
    if (code) return code;
    if (o->bids) return write_data_set(o, &params, arguments->positional[0]);
    /* mute messages: one text describes the phantom at the end */
    gls_log_mute_info(true);
    gls_status status = gls_phantom_create(&params, &phantom);
    if (!status) {
        /* from here on a signal waits until the files are complete */
        cmd_interrupt_catch();
        status =
            gls_phantom_write(phantom, arguments->positional[0], o->force ? GLS_EXISTING_REPLACE : GLS_EXISTING_KEEP);
        cmd_interrupt_release();
    }
    gls_log_mute_info(false);
    if (status)
        code = cmd_error_status(status);
    else if (cmd_interrupted())
        code = cmd_error(CMD_EXIT_INTERRUPTED, "interrupted; the files in %s are complete", arguments->positional[0]);
    else if (cmd_message_info_enabled())
        code = cmd_print(gls_phantom_text(phantom, arguments->positional[0]));
    gls_phantom_destroy(phantom);
    return code;
}

const cmd_command command_phantom = {
    CMD_ENTRY(phantom),
    .synopsis = "DIR [options]",
    .writes = GLS_WRITES_SEVERAL,
    .summary = "Write the built-in phantom: a brain-like data set with known bundles",
    .description = "Writes a synthetic diffusion data set with crossing, fanning, bending and kissing bundles, grey "
                   "matter, CSF and Rician noise, and the ground truth of every bundle.",
    .positionals = CMD_TEXTS("DIR", "Directory to write to; made where it does not exist."),
    .max_positionals = 1,
    .rows = {{.table = table}},
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples =
        CMD_TEXTS("The demonstration phantom:", "glslines phantom demo", "The size used for benchmarks, 160 volumes:",
                  "glslines phantom bench --shape 81 106 76 --directions 150 --b0s 10",
                  "Two shells, anisotropic and oblique, without noise:",
                  "glslines phantom odd --bvals 1000 2000 --voxel-size 1.7 2 3.1 --oblique 10 0 25 --snr 0",
                  "A data set of two subjects for 'glslines bids':", "glslines phantom qsiprep --bids 01,02"),
};
