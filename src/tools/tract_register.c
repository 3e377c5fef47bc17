/* `glslines register`: finds the transform between two images, and writes it as other programs read it.
 * Two tractograms go to register_tracks.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/devices.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "registration/align.h"
#include "tools/chain.h"
#include "tools/image_info.h"
#include "tools/register_labels.h"
#include "tools/register_tracks.h"
#include "transform/resample.h"
#include "transform/transform_write.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

typedef struct registration {
    gls_tract_run *run;
    const gls_register_cli *o;
    gls_alignment a;
    gls_register_labels labels;
    bool has_volumes; /* an image has several, of which --volume chooses one */
    char *path[10];   /* outputs, owned */
    size_t n_paths;
} registration;

/* Whether a field is found. */
static bool is_nonlinear(const registration *r)
{
    return r->o->type == GLS_REGISTER_AUTO || r->o->type == GLS_REGISTER_NONLINEAR;
}

static void finish(registration *r)
{
    gls_alignment_finish(&r->a);
    gls_register_labels_finish(&r->labels);
    for (size_t k = 0; k < r->n_paths; k++) free(r->path[k]);
}

/* --- Images. */

/* Reads one volume. */
static gls_status read_image(registration *r, const char *path, gls_image **image, size_t *volume)
{
    *volume = r->o->volume >= 0 ? (size_t)r->o->volume : 0;
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, image);
    if (status) return status;
    if ((*image)->n_volumes > 1 && r->o->volume < 0)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu volumes: choose one by --volume N, 0 for the first", path,
                        (*image)->n_volumes);
    r->has_volumes |= (*image)->n_volumes > 1;
    if ((*image)->n_volumes == 1) *volume = 0;
    if (*volume >= (*image)->n_volumes) return gls_fail(GLS_ERR_INPUT, "%s: has no volume %d", path, r->o->volume);
    return GLS_OK;
}

/* Reads an image and its masks; lesion NULL: none. */
static gls_status read_side(registration *r, const char *path, const char *mask_path, const char *lesion_path,
                            gls_align_side *side)
{
    gls_image *image = NULL, *mask = NULL, *lesion = NULL;
    size_t volume;
    uint64_t voxels;
    gls_status status = read_image(r, path, &image, &volume);
    if (!status && mask_path) status = gls_image_read_mask(&image->grid, path, mask_path, &mask);
    if (!status && mask_path) status = gls_image_count_voxels(mask, mask_path, "mask", &voxels);
    if (!status && lesion_path) status = gls_image_read_mask(&image->grid, path, lesion_path, &lesion);
    if (status)
        gls_image_destroy(image);
    else
        status = gls_align_side_init(side, path, image, volume, mask, lesion);
    gls_image_destroy(mask);
    gls_image_destroy(lesion);
    return status;
}

/* Cuts MOVING,FIXED[,WEIGHT] in place. Returns false if it is not of this form. */
static bool parse_channel(char *text, const char **moving, const char **fixed, double *weight)
{
    char *rest = text, *end = NULL;
    *moving = gls_names_next(&rest, ',');
    *fixed = gls_names_next(&rest, ',');
    const char *number = gls_names_next(&rest, ',');
    *weight = number ? gls_strtod(number, &end) : 1;
    return *moving && *fixed && (!number || (end != number && *end == '\0')) && *weight > 0 && isfinite(*weight) &&
           !gls_names_next(&rest, ',');
}

/* Reads the images of --channel, whose grids may differ from those of the first pair. */
static gls_status read_channels(registration *r)
{
    gls_status status = GLS_OK;
    if (r->o->channel.n >= GLS_VELOCITY_CHANNELS)
        return gls_fail(GLS_ERR_ARGUMENT, "--channel: at most %d", GLS_VELOCITY_CHANNELS - 1);
    for (int k = 0; k < r->o->channel.n && !status; k++) {
        gls_align_channel *c = &r->a.channel[r->a.n_channels++];
        gls_image *moving = NULL, *fixed = NULL;
        const char *path[2];
        size_t volume[2];
        uint64_t bad;
        char *text = strdup(r->o->channel.value[k]);
        if (!text) return gls_no_memory();
        if (!parse_channel(text, &path[0], &path[1], &c->weight))
            status = gls_fail(GLS_ERR_ARGUMENT, "--channel %s: needs MOVING,FIXED or MOVING,FIXED,WEIGHT",
                              r->o->channel.value[k]);
        if (!status) status = gls_tract_run_reads_all(r->run, path, 2);
        if (!status) status = read_image(r, path[0], &moving, &volume[0]);
        if (!status) status = read_image(r, path[1], &fixed, &volume[1]);
        if (!status) status = gls_grid_require_equal(&r->a.fixed.image->grid, r->a.fixed.name, &fixed->grid, path[1]);
        if (!status) status = gls_level_init(&c->moving, moving, volume[0], NULL, NULL, path[0], &bad);
        if (!status) status = gls_level_init(&c->fixed, fixed, volume[1], NULL, NULL, path[1], &bad);
        gls_image_destroy(moving);
        gls_image_destroy(fixed);
        free(text);
    }
    return status;
}

/* --- Options. */

/* Sets levels and iterations, which begin as gls_alignment_usual() says. */
static gls_status set_levels(registration *r)
{
    gls_alignment *a = &r->a;
    const gls_register_cli *o = r->o;
    const int n = o->levels.n ? o->levels.n : (int)a->linear.n_levels;
    const double coarser = gls_alignment_edge(a);
    if (o->iterations.n && o->iterations.n != n)
        return gls_fail(GLS_ERR_ARGUMENT, "--iterations: has %d numbers, but there are %d levels", o->iterations.n, n);
    for (int k = 0; k < n; k++) {
        if (k > 0 && o->levels.n && o->levels.value[k] >= o->levels.value[k - 1])
            return gls_fail(GLS_ERR_ARGUMENT, "--levels: has to go from coarse to fine, but %g follows %g",
                            o->levels.value[k], o->levels.value[k - 1]);
        if (o->levels.n) a->linear.voxel[k] = a->velocity.voxel[k] = fmax(o->levels.value[k], coarser);
        if (k > 2) a->velocity.iterations[k] = a->velocity.iterations[2];
        if (o->iterations.n) a->velocity.iterations[k] = (int)o->iterations.value[k];
    }
    a->linear.n_levels = a->velocity.n_levels = (size_t)n;
    return GLS_OK;
}

/* Takes --init. */
static gls_status set_init(registration *r)
{
    static const char *const ways[] = {"auto", "header", "mass", "middle"};
    gls_transform t;
    r->a.linear.init = GLS_INIT_GIVEN;
    for (int k = 0; k < 4; k++)
        if (strcmp(r->o->init, ways[k]) == 0) r->a.linear.init = (gls_linear_init)k;
    if (r->a.linear.init != GLS_INIT_GIVEN) return GLS_OK;
    gls_status status = gls_tract_run_reads(r->run, r->o->init);
    if (!status) status = gls_transform_read(&r->o->init, 1, &t);
    if (status) return status;
    if (t.step[0].field)
        status = gls_fail(GLS_ERR_ARGUMENT, "--init %s: is a field, but an affine map is needed", r->o->init);
    else
        memcpy(r->a.linear.start, t.step[0].map, sizeof r->a.linear.start);
    gls_transform_finish(&t);
    return status;
}

static bool go_on(void *user)
{
    gls_tract_run *run = user;
    return !run->go_on || run->go_on(run, 0);
}

static gls_status set_options(registration *r)
{
    const gls_register_cli *o = r->o;
    gls_alignment *a = &r->a;
    gls_alignment_usual(a);
    a->nonlinear = is_nonlinear(r);
    a->device = o->device;
    a->graphics = (gls_graphics)o->api;
    a->go_on = (gls_go_on){go_on, r->run};
    a->linear.affine = o->type != GLS_REGISTER_RIGID;
    a->linear.search = (gls_linear_search)o->search;
    a->linear.check_header = o->header == 0;
    a->velocity.ssd = o->metric == 1;
    a->velocity.radius = o->radius;
    a->velocity.step = o->step;
    a->velocity.smooth_update = o->smooth_update;
    a->velocity.smooth_total = o->smooth_total;
    return set_levels(r);
}

/* --- Outputs. */

/* Names an output PREFIX + suffix, and adds it to the run. listed: the sidecar names it. */
static gls_status add_output(registration *r, const char *suffix, bool listed, const char **path)
{
    gls_text text = {0};
    gls_text_printf(&text, "%s%s", r->o->output, suffix);
    char *made = gls_text_take(&text);
    if (!made) return gls_no_memory();
    r->path[r->n_paths++] = made;
    *path = made;
    if (listed) gls_tract_run_lists_output(r->run, made);
    return gls_run_writes(&r->run->files, made);
}

/* Names of what is written; NULL: not written. */
typedef struct outputs {
    const char *affine, *warp, *inverse, *velocity, *warped, *jacobian, *dice, *report;
} outputs;

static gls_status name_outputs(registration *r, outputs *out)
{
    const bool nonlinear = is_nonlinear(r);
    const struct {
        const char **path, *suffix;
        bool wanted;
    } rows[] = {{&out->affine, "_affine.txt", true},
                {&out->warp, "_warp.nii.gz", nonlinear},
                {&out->inverse, "_inverse_warp.nii.gz", nonlinear},
                {&out->velocity, "_velocity.nii.gz", nonlinear},
                {&out->warped, "_warped.nii.gz", r->o->warped},
                {&out->jacobian, "_jacobian.nii.gz", r->o->jacobian},
                {&out->dice, "_dice.tsv", r->o->labels},
                {&out->report, ".html", r->o->report}};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !status; k++)
        /* the report is made from the complete sidecar, which cannot say whether that succeeds */
        if (rows[k].wanted) status = add_output(r, rows[k].suffix, rows[k].path != &out->report, rows[k].path);
    return status ? status : gls_run_writes_sidecar(&r->run->files, r->o->output, ".json");
}

/* Resamples the moving image to the fixed grid, by one interpolation. */
static gls_status write_warped(registration *r, const char *path)
{
    const gls_align_side *moving = &r->a.moving;
    gls_transform_step step[2];
    const gls_transform transform = gls_alignment_transform(&r->a, false, step);
    gls_image *made = NULL, *one = NULL;
    uint64_t outside;
    gls_status status = gls_image_wrap(
        &moving->image->grid, 1, moving->image->data + moving->volume * gls_grid_voxels(&moving->image->grid), &one);
    if (!status)
        status = gls_image_resample(one, &transform, &r->a.fixed.image->grid, GLS_RESAMPLE_LINEAR, 0, &made, &outside);
    if (!status)
        status = gls_image_write_grouped(path, r->run->options.force, &r->run->files.group, made, GLS_IMAGE_FLOAT32);
    gls_image_destroy(one);
    gls_image_destroy(made);
    return status;
}

static gls_status write_all(registration *r, const outputs *out)
{
    const bool force = r->run->options.force, nonlinear = r->a.nonlinear;
    gls_output_group *group = &r->run->files.group;
    const double(*map)[4] = (const double(*)[4])r->a.found.map;
    gls_status status = r->o->affine_format == 0 ? gls_transform_write_matrix(out->affine, force, group, map)
                                                 : gls_transform_write_itk(out->affine, force, group, map);
    if (!status && nonlinear) status = gls_transform_write_field(out->warp, force, group, r->a.forward, false);
    if (!status && nonlinear) status = gls_transform_write_field(out->inverse, force, group, r->a.back, false);
    if (!status && nonlinear)
        status = gls_image_write_values(out->velocity, force, group, &r->a.flow.grid, "velocity, voxels", 3,
                                        GLS_TYPE_FLOAT32, r->a.flow.v);
    if (!status && out->jacobian)
        status = gls_image_write_grouped(out->jacobian, force, group, r->a.jacobian, GLS_IMAGE_FLOAT32);
    if (!status && out->warped) status = write_warped(r, out->warped);
    if (!status && out->dice) status = gls_register_labels_write(r->run, &r->labels, out->dice);
    return status;
}

/* The findings that the sidecar records. */
static void describe(const registration *r)
{
    cJSON *root = r->run->root;
    cJSON_AddStringToObject(root, "chain",
                            r->a.nonlinear ? "-t PREFIX_warp.nii.gz -t PREFIX_affine.txt" : "-t PREFIX_affine.txt");
    cJSON_AddStringToObject(root, "inverse_chain",
                            r->a.nonlinear ? "-t PREFIX_affine.txt,inverse -t PREFIX_inverse_warp.nii.gz"
                                           : "-t PREFIX_affine.txt,inverse");
    gls_alignment_describe(&r->a, root);
    gls_chain_describe_grids(&r->a.fixed.image->grid, &r->a.moving.image->grid, root);
    if (r->o->labels) gls_register_labels_describe(&r->labels, root);
}

static gls_status work(registration *r, const char *const *file)
{
    const gls_register_cli *o = r->o;
    outputs out = {.affine = NULL};
    gls_status status =
        gls_tract_run_reads_all(r->run, GLS_PATHS(file[0], file[1], o->fixed_mask, o->moving_mask, o->lesion_mask));
    if (!status) status = set_init(r);
    if (!status) status = name_outputs(r, &out);
    if (!status && o->labels) status = gls_register_labels_read(r->run, o->labels, &r->labels);
    if (!status) status = read_side(r, file[1], o->fixed_mask, NULL, &r->a.fixed);
    if (!status) status = read_side(r, file[0], o->moving_mask, o->lesion_mask, &r->a.moving);
    if (!status) status = read_channels(r);
    if (!status && o->volume >= 0 && !r->has_volumes)
        status = gls_fail(GLS_ERR_ARGUMENT, "--volume %d: no image has several volumes: leave it out", o->volume);
    if (!status) status = set_options(r);
    if (!status) status = gls_alignment_find(&r->a);
    if (!status) gls_alignment_warn(&r->a);
    if (!status && o->labels) status = gls_register_labels_compare(&r->a, &r->labels);
    if (!status) status = write_all(r, &out);
    if (status) return status;
    describe(r);
    gls_tract_run_message(r->run, "%s: NMI %.4f, %.0f %% of the fixed image lie in the moving image", o->output,
                          r->a.found.score, 100 * r->a.found.share);
    return GLS_OK;
}

gls_status gls_tract_register(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    registration r = {.run = run, .o = options};
    const bool image = gls_image_is_name(file[0]);
    (void)n;
    if (image != gls_image_is_name(file[1]))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "register: %s is an image, but %s is none: give two images or two tractograms", file[!image],
                        file[image]);
    if (!image) return gls_register_tracks(run, options, file);
    if (r.o->type > GLS_REGISTER_RIGID)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--type similarity, scaling and translation: are for tractograms, but %s is an image: give "
                        "nonlinear, affine or rigid",
                        file[0]);
    if (!r.o->output) return gls_fail(GLS_ERR_ARGUMENT, "register: needs --output PREFIX");
    gls_status status = gls_device_gpus_check(r.o->device, 1, (gls_graphics)r.o->api);
    if (!status) status = work(&r, file);
    finish(&r);
    return status;
}
