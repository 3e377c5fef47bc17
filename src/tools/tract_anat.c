/* `glslines anat`: a T1 and an atlas in the space of a series. */
#include <stdlib.h>
#include <string.h>

#include "anat/anat_files.h"
#include "gpu/devices.h"
#include "tools/tract_results.h"
#include "util/status.h"
#include "util/text.h"

static gls_anat_sources sources_of(const gls_anat_cli *o, const char *t1)
{
    return (gls_anat_sources){.t1 = t1,
                              .dwi = o->dwi,
                              .bval = o->bval,
                              .bvec = o->bvec,
                              .dwi_mask = o->dwi_mask,
                              .fixed = o->template_image,
                              .fixed_mask = o->template_mask,
                              .prior = o->template_tissue,
                              .labels = o->labels,
                              .lesion = o->lesion_mask,
                              .deep = o->deep_labels.value,
                              .n_deep = (size_t)o->deep_labels.n,
                              .hippocampus = o->deep_hippocampus};
}

static gls_status check_options(const gls_anat_cli *o)
{
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "anat: needs --output DIR");
    if (!o->dwi) return gls_fail(GLS_ERR_ARGUMENT, "anat: needs --dwi IMAGE, the series or an image of it");
    if (!o->bval != !o->bvec) return gls_fail(GLS_ERR_ARGUMENT, "--bval and --bvec: give both or none");
    if ((o->deep_labels.n > 0 || o->deep_hippocampus) && !o->labels)
        return gls_fail(GLS_ERR_ARGUMENT, "--deep-labels and --deep-hippocampus: need --labels");
    if ((o->template_name || o->fine) && !o->template_image)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --template", o->fine ? "fine" : "template-name");
    for (const char *c = o->template_name; c && *c; c++)
        if (!gls_is_alnum((unsigned char)*c))
            return gls_fail(GLS_ERR_ARGUMENT, "--template-name %s: may have letters and digits alone",
                            o->template_name);
    if (o->template_name && !*o->template_name) return gls_fail(GLS_ERR_ARGUMENT, "--template-name: is empty");
    return gls_device_gpus_check(o->device, 1, (gls_graphics)o->api);
}

/* Adds all files to the run, and makes the folder. */
static gls_status note_files(gls_tract_run *run, const gls_anat_sources *s, const gls_anat_names *names,
                             const char *folder)
{
    char *path[GLS_ANAT_MAX_FILES];
    size_t n = 0;
    gls_status status = gls_anat_sources_list(s, path, &n);
    if (!status) status = gls_tract_run_reads_all(run, (const char *const *)path, n);
    for (size_t i = 0; i < n; i++) free(path[i]);
    if (!status) status = gls_output_group_make_folder(&run->files.group, folder);
    for (int k = 0; k < GLS_ANAT_N_FILES && !status; k++) {
        if (!names->path[k]) continue;
        gls_tract_run_lists_output(run, names->path[k]);
        status = gls_run_writes(&run->files, names->path[k]);
    }
    return status ? status : gls_run_writes_sidecar(&run->files, names->sidecar, "");
}

static bool go_on(void *user)
{
    gls_tract_run *run = user;
    return !run->go_on || run->go_on(run, 0);
}

gls_status gls_tract_anat(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_anat_cli *o = options;
    const gls_anat_sources s = sources_of(o, file[0]);
    gls_anat_names names = {.sidecar = NULL};
    gls_anat_inputs inputs = {
        .fine = o->fine, .device = o->device, .graphics = (gls_graphics)o->api, .go_on = go_on, .user = run};
    gls_anat anat = {.cut = false};
    (void)n;
    gls_status status = check_options(o);
    if (status) return status;
    status = gls_anat_names_init(&names, &s, o->output, NULL, "dwi", o->template_name);
    if (!status) status = note_files(run, &s, &names, o->output);
    if (!status) status = gls_anat_inputs_read(&s, &inputs);
    if (!status) status = gls_anat_make(&inputs, &anat);
    if (!status) status = gls_anat_write(&anat, &s, &names, run->options.force, &run->files.group);
    if (!status) {
        gls_anat_describe(&anat, run->root);
        gls_tract_run_message(run, "%s: brain of %.0f ml; %s", o->output, anat.millilitre,
                              anat.warnings > 0 ? "look at the warnings before you use the images" : "aligned");
    }
    gls_anat_finish(&anat);
    gls_anat_inputs_finish(&inputs);
    gls_anat_names_finish(&names);
    return status;
}
