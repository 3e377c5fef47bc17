/* `glslines anat`: a T1 and an atlas in the space of a series; or brain mask and tissue from a fit of the series. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tissue.h>

#include "anat/anat_files.h"
#include "anat/five_of_fit.h"
#include "gpu/devices.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "tools/tract_results.h"
#include "transform/resample.h"
#include "util/json_text.h"
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
                              .boundary = o->boundary,
                              .hippocampus = o->deep_hippocampus};
}

/* Checks that a fit is whole, and alone. */
static gls_status check_fit(const gls_anat_cli *o, size_t n_files)
{
    const bool others = o->dwi || o->bval || o->bvec || o->dwi_mask || o->template_image || o->template_mask ||
                        o->template_tissue || o->template_name || o->fine || o->boundary || o->lesion_mask;
    if (!o->fod || !o->gm || !o->csf)
        return gls_fail(GLS_ERR_ARGUMENT, "--fod, --gm and --csf: give all three, of one fit");
    if (n_files > 0 || others)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--fod: takes tissue from a fit of the series, without T1, --dwi and all that belongs to them");
    if (o->api != GLS_GRAPHICS_AUTO || (strcmp(o->device, "auto") != 0 && strcmp(o->device, "cpu") != 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --fod, which uses no device: leave out one of them",
                        o->api != GLS_GRAPHICS_AUTO ? "api" : "device");
    return GLS_OK;
}

static gls_status check_options(const gls_anat_cli *o, size_t n_files)
{
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "anat: needs --output DIR");
    if ((o->deep_labels.n > 0 || o->deep_hippocampus) && !o->labels)
        return gls_fail(GLS_ERR_ARGUMENT, "--deep-labels and --deep-hippocampus: need --labels");
    if (o->fod || o->gm || o->csf) return check_fit(o, n_files);
    if (n_files == 0) return gls_fail(GLS_ERR_ARGUMENT, "anat: needs a T1, or --fod, --gm and --csf");
    if (!o->dwi) return gls_fail(GLS_ERR_ARGUMENT, "anat: needs --dwi IMAGE, the series or an image of it");
    if (!o->bval != !o->bvec) return gls_fail(GLS_ERR_ARGUMENT, "--bval and --bvec: give both or none");
    if ((o->template_name || o->fine) && !o->template_image)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --template", o->fine ? "fine" : "template-name");
    for (const char *c = o->template_name; c && *c; c++)
        if (!gls_is_alnum((unsigned char)*c))
            return gls_fail(GLS_ERR_ARGUMENT, "--template-name %s: may have letters and digits alone",
                            o->template_name);
    if (o->template_name && !*o->template_name) return gls_fail(GLS_ERR_ARGUMENT, "--template-name: is empty");
    return gls_device_gpus_check(o->device, 1, (gls_graphics)o->api);
}

/* Makes the folder, and adds all outputs to the run. */
static gls_status make_folder(gls_tract_run *run, const gls_anat_names *names, const char *folder)
{
    gls_status status = gls_output_group_make_folder(&run->files.group, folder);
    for (int k = 0; k < GLS_ANAT_N_FILES && !status; k++) {
        if (!names->path[k]) continue;
        gls_tract_run_lists_output(run, names->path[k]);
        status = gls_run_writes(&run->files, names->path[k]);
    }
    return status ? status : gls_run_writes_sidecar(&run->files, names->sidecar, "");
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
    return status ? status : make_folder(run, names, folder);
}

static bool go_on(void *user)
{
    gls_tract_run *run = user;
    return !run->go_on || run->go_on(run, 0);
}

/* Makes all from a T1. */
static gls_status make_of_t1(gls_tract_run *run, const gls_anat_cli *o, const char *t1)
{
    const gls_anat_sources s = sources_of(o, t1);
    gls_anat_names names = {.sidecar = NULL};
    gls_anat_inputs inputs = {
        .fine = o->fine, .device = o->device, .graphics = (gls_graphics)o->api, .go_on = {go_on, run}};
    gls_anat anat = {.cut = false};
    gls_status status = gls_anat_names_init(&names, &s, o->output, NULL, "dwi", o->template_name);
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

/* Adds the volume of each tissue to the sidecar, and says how large the brain is. */
static void describe_fit(gls_tract_run *run, const gls_image *five, const char *folder)
{
    static const char *const names[GLS_TISSUE_TYPES] = {
        [GLS_TISSUE_CGM] = "GM", [GLS_TISSUE_SGM] = "deep_GM", [GLS_TISSUE_WM] = "WM", [GLS_TISSUE_CSF] = "CSF"};
    const size_t n = gls_grid_voxels(&five->grid);
    const double ml = fabs(gls_grid_determinant(&five->grid)) / 1000;
    cJSON *tissue = cJSON_AddObjectToObject(run->root, "tissue");
    double all = 0;
    for (size_t t = 0; t < GLS_TISSUE_TYPES; t++) {
        double sum = 0;
        for (size_t v = 0; v < n && names[t]; v++) sum += (double)five->data[t * n + v];
        if (names[t]) gls_json_double(cJSON_AddObjectToObject(tissue, names[t]), "volume_ml", sum * ml);
        all += sum * ml;
    }
    gls_tract_run_message(run, "%s: brain of %.0f ml", folder, all);
}

/* Reads labels in the space of the fit, and makes the share of deep grey matter on a grid; leaves it NULL if no label
 * is deep grey matter. */
static gls_status read_deep(const gls_anat_sources *s, const gls_grid *grid, gls_image **deep)
{
    const gls_transform identity = {.n = 0};
    gls_anat_inputs in = {.fine = false};
    gls_image *marked = NULL;
    uint64_t outside = 0;
    gls_status status = gls_anat_labels_read(s, &in);
    if (!status) status = gls_anat_labels_mark(&in, &in.deep, &marked);
    if (!status) status = gls_image_resample(marked, &identity, grid, GLS_RESAMPLE_LINEAR, 0, deep, &outside);
    if (!status && outside == gls_grid_voxels(grid))
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: no voxel of the fit lies in it: with --fod the labels have to be in the space of the "
                          "series: bring them there by 'glslines transform'",
                          s->labels);
    if (in.deep.n == 0) {
        gls_image_destroy(*deep);
        *deep = NULL;
    }
    gls_image_destroy(marked);
    gls_anat_inputs_finish(&in);
    return status;
}

/* Warns of labels of deep grey matter where the fit has no grey matter. */
static void warn_of_deep(const gls_image *five, const char *labels)
{
    const size_t n = gls_grid_voxels(&five->grid);
    for (size_t v = 0; v < n; v++)
        if (five->data[GLS_TISSUE_SGM * n + v] > 0) return;
    gls_log(GLS_LOG_WARNING,
            "%s: no grey matter of the fit lies in its labels of deep grey matter: with --fod the labels have to be in "
            "the space of the series: bring them there by 'glslines transform'",
            labels);
}

/* Reads the images of a fit, and makes brain mask and five tissues of them. */
static gls_status find_tissue(const char *const path[GLS_FIT_TISSUES], const gls_anat_sources *s, gls_image **five,
                              gls_image **mask)
{
    gls_image *tissue[GLS_FIT_TISSUES] = {NULL}, *deep = NULL;
    gls_status status = gls_image_read(path[0], GLS_IMAGE_ANY, &tissue[0]);
    for (int t = 1; t < GLS_FIT_TISSUES && !status; t++)
        status = gls_image_read_on_grid(&tissue[0]->grid, path[0], path[t], &tissue[t]);
    if (!status && s->labels) status = read_deep(s, &tissue[0]->grid, &deep);
    if (!status) status = gls_five_tissues_of_fit((const gls_image *const *)tissue, deep, path[0], five, mask);
    if (!status && deep) warn_of_deep(*five, s->labels);
    for (int t = 0; t < GLS_FIT_TISSUES; t++) gls_image_destroy(tissue[t]);
    gls_image_destroy(deep);
    return status;
}

/* Makes brain mask and five tissues from the densities of a fit. */
static gls_status make_of_fit(gls_tract_run *run, const gls_anat_cli *o)
{
    const char *const path[GLS_FIT_TISSUES] = {[GLS_FIT_WM] = o->fod, [GLS_FIT_GM] = o->gm, [GLS_FIT_CSF] = o->csf};
    const gls_anat_sources s = sources_of(o, NULL), named = {.t1 = o->fod};
    const bool force = run->options.force;
    cJSON_ReplaceItemInObjectCaseSensitive(
        run->root, "Description", cJSON_CreateString("Brain mask and tissue from a fit of a series, by glslines"));
    gls_anat_names names = {.sidecar = NULL};
    gls_image *five = NULL, *mask = NULL;
    gls_status status = gls_anat_names_init(&names, &named, o->output, NULL, "dwi", NULL);
    for (int k = 0; k < GLS_ANAT_N_FILES; k++) {
        if (k == GLS_ANAT_MASK || k == GLS_ANAT_FIVE) continue;
        free(names.path[k]);
        names.path[k] = NULL;
    }
    if (!status) status = gls_tract_run_reads_all(run, path, GLS_FIT_TISSUES);
    if (!status) status = note_files(run, &s, &names, o->output);
    if (!status) status = find_tissue(path, &s, &five, &mask);
    gls_output_group *group = &run->files.group;
    if (!status) status = gls_image_write_grouped(names.path[GLS_ANAT_MASK], force, group, mask, GLS_IMAGE_UINT8);
    if (!status) status = gls_image_write_grouped(names.path[GLS_ANAT_FIVE], force, group, five, GLS_IMAGE_FLOAT32);
    if (!status) describe_fit(run, five, o->output);
    gls_image_destroy(five);
    gls_image_destroy(mask);
    gls_anat_names_finish(&names);
    return status;
}

gls_status gls_tract_anat(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_anat_cli *o = options;
    gls_status status = check_options(o, n);
    if (status) return status;
    return o->fod ? make_of_fit(run, o) : make_of_t1(run, o, file[0]);
}
