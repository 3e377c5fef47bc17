/* `glslines fixels`: writes the lobes of fibre orientation distributions as a fixel directory. */
#include <stdlib.h>
#include <unistd.h>

#include "tools/chain.h"
#include "tools/fixel_tracks.h"
#include "tools/tract_results.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"
#include "weights/fixel_files.h"
#include "weights/fixel_parts.h"
#include "weights/fod.h"

gls_fixels_cli gls_fixels_cli_default(void)
{
    return (gls_fixels_cli){
        .fod = gls_fod_options_default(),
#define ROW GLS_ROW_DEFAULT
#define PART_ROW(...)
#include "tools/fixels.def"
#undef PART_ROW
#undef ROW
    };
}

gls_status gls_tract_fixels_check(const gls_tract_run *run, const char *directory, const char *const *names, size_t n)
{
    /* files that each fixel directory has */
    static const char *const always[] = {"index.nii", "directions.nii", "fixels.json"};
    const size_t n_always = sizeof always / sizeof *always;
    gls_status status = GLS_OK;
    /* a directory that does not exist has no files to replace */
    if (access(directory, F_OK) != 0) return GLS_OK;
    for (size_t i = 0; i < n_always + n && !status; i++) {
        char *path = NULL;
        const char *name = i < n_always ? always[i] : names[i - n_always];
        if (gls_asprintf(&path, "%s/%s%s", directory, name, i < n_always ? "" : ".nii") < 0) return gls_no_memory();
        status = gls_place_check(path, run->files.force, &run->files.inputs, (const char *const *)run->files.output,
                                 run->files.n_outputs);
        free(path);
    }
    return status;
}

/* Writes the fixel directory with fibre density and peak amplitude. */
static gls_status write_fixels(gls_tract_run *run, const gls_fixels *fixels, const char *directory)
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
    gls_status status = gls_fixels_write_grouped(fixels, directory, values, 2, run->files.force, &run->files.group);
    free(value);
    return status;
}

/* Checks combinations of options. */
static gls_status check(const gls_fixels_cli *o)
{
    const char *alone = o->afd ? "afd" : o->step_size > 0 ? "step-size" : NULL;
    if (!o->tracks && alone) return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --tracks", alone);
    if (!o->afd && (o->all_fixels || o->tracks_all))
        return gls_fail(GLS_ERR_ARGUMENT, "--all-fixels and --tracks-all: need --afd");
    if (o->all_fixels && o->tracks_all)
        return gls_fail(GLS_ERR_ARGUMENT, "--tracks-all sums all fixels: leave out --all-fixels");
    if (o->tracks && !o->afd && (o->fod.act || o->fod.proc_mask))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--act and --proc-mask: not with --tracks, whose fixels are given, unless with "
                        "--afd");
    return o->transform.n > 0 && !o->fod.act ? gls_fail(GLS_ERR_ARGUMENT, "--transform: needs --act") : GLS_OK;
}

/* Measures the density along streamlines. */
static gls_status measure(gls_tract_run *run, const gls_fixels_cli *options, const char *const *file)
{
    gls_fod_options o = options->fod;
    gls_transform transform = {.n = 0};
    o.sh = file[0];
    o.transform = &transform;
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(o.sh, o.act, o.proc_mask));
    if (!status) status = gls_chain_note(run, &options->transform);
    if (!status) status = gls_chain_read(run, &options->transform, &transform);
    if (!status) status = gls_fixels_measure_tracks(run, options, &o, file[1]);
    gls_transform_finish(&transform);
    return status;
}

gls_status gls_tract_fixels(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_fixels_cli *cli = options;
    gls_fod_options o = cli->fod;
    const gls_strings *chain = &cli->transform;
    const char *directory = file[n - 1];
    gls_transform transform = {.n = 0};
    const gls_status checked = check(cli);
    if (checked) return checked;
    if (cli->afd) return measure(run, cli, file);
    if (cli->tracks) return gls_fixels_count_tracks(run, cli, file[0], file[1]);
    gls_fod fod = {0};
    o.sh = file[0];
    o.transform = &transform;
    /* find the peak of each lobe between the directions of the segmentation, too */
    o.fixel.refine = true;
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(o.sh, o.act, o.proc_mask));
    if (!status) status = gls_chain_note(run, chain);
    if (!status) status = gls_tract_fixels_check(run, directory, (const char *const[]){"fd", "peak"}, 2);
    if (!status) status = gls_chain_read(run, chain, &transform);
    if (!status) status = gls_fod_read(&o, &fod);
    if (!status) status = write_fixels(run, fod.fixels, directory);
    /* the sidecar lies in the directory under a fixed name */
    if (!status && gls_asprintf(&run->files.sidecar, "%s/fixels.json", directory) < 0) status = gls_no_memory();
    if (!status) {
        gls_json_uint(run->root, "fixels", gls_fixels_count(fod.fixels));
        gls_json_uint(run->root, "voxels", gls_fixels_voxels(fod.fixels));
        gls_tract_run_message(run, "%s: %zu fixels", directory, gls_fixels_count(fod.fixels));
    }
    gls_fod_finish(&fod);
    gls_transform_finish(&transform);
    return status;
}
