/* glslines fixels: the lobes of fibre orientation distributions as a fixel directory. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"
#include "cmd/fod_options.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "util/status.h"
#include "workflow/json.h"

typedef struct fixel_options {
    cmd_common common;
    gls_fod_options fod;
    int basis, frame;
    bool force;
} fixel_options;

static const cmd_option table[] = {
    FOD_OPTIONS(fixel_options, fod, basis, frame),
    {.group = "Output",
     .name = "force",
     .type = CMD_FLAG,
     .offset = offsetof(fixel_options, force),
     .help = "Overwrite existing output files."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    fixel_options *o = values;
    *o = (fixel_options){.basis = GLS_SH_TOURNIER07, .frame = GLS_FRAME_AUTO};
    o->fod.fixel = gls_fixel_options_default();
    o->fod.fixel.refine = true;
}

static gls_status write_fixels(const gls_fixels *fixels, const char *directory, bool force)
{
    const size_t n = gls_fixels_count(fixels);
    const gls_fixel *fixel = gls_fixels_get(fixels);
    float *value = malloc(2 * n * sizeof *value);
    if (!value) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", directory);
    for (size_t i = 0; i < n; i++) {
        value[i] = fixel[i].fd;
        value[n + i] = fixel[i].peak;
    }
    const gls_fixel_values values[] = {{"fd", value}, {"peak", value + n}};
    gls_status status = gls_fixels_write(fixels, directory, values, 2, force);
    free(value);
    return status;
}

static int run_fixels(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    fixel_options *o = values;
    gls_fod fod = {0};
    char *sidecar = NULL;
    if (arguments->n_positionals != 2)
        return cmd_error(CMD_EXIT_USAGE, "fixels: takes SH and DIR, got %d arguments", arguments->n_positionals);
    o->fod.sh = arguments->positional[0];
    o->fod.basis = (gls_sh_basis)o->basis;
    o->fod.frame = (gls_frame)o->frame;
    const char *directory = arguments->positional[1], *inputs[] = {o->fod.sh, o->fod.act, o->fod.proc_mask};
    gls_status status = gls_fod_read(&o->fod, &fod);
    if (!status) status = write_fixels(fod.fixels, directory, o->force);
    if (!status && asprintf(&sidecar, "%s/fixels.json", directory) < 0)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) {
        cJSON *root = tract_sidecar_begin("Fixels by glslines", command, values, arguments, inputs, 3, directory);
        gls_json_uint(root, "fixels", gls_fixels_count(fod.fixels));
        gls_json_uint(root, "voxels", gls_fixels_voxels(fod.fixels));
        status = tract_sidecar_write(sidecar, o->force, root);
    }
    if (!status) cmd_info("%s: %zu fixels", directory, gls_fixels_count(fod.fixels));
    gls_fod_finish(&fod);
    free(sidecar);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "SH",  "FODs as spherical harmonics of even order up to 16, NIfTI, such as PREFIX_sh.nii.gz of 'glslines fit'.",
    "DIR", "Directory to write to; made where it does not exist.",
    NULL,
};

static const char *const examples[] = {
    "Fixels for MRtrix3 and other programs:",
    "glslines fixels sub01_sh.nii.gz sub01_fixels",
    NULL,
};

const cmd_command cmd_fixels = {
    .name = "fixels",
    .synopsis = "SH DIR [options]",
    .summary = "Segment fibre orientation distributions into fixels",
    .description = "Writes index.nii and directions.nii, fd.nii (fibre density: the integral of a lobe and its "
                   "antipode), peak.nii (its amplitude) and fixels.json, as MRtrix3's fod2fixel.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(fixel_options),
    .set_defaults = set_defaults,
    .run = run_fixels,
};
