/* `glslines register`: finds the transform between two images, and writes it as other programs read it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/devices.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "registration/linear.h"
#include "registration/quality.h"
#include "registration/velocity.h"
#include "tools/tract_results.h"
#include "transform/resample.h"
#include "transform/transform_write.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

enum { TYPE_NONLINEAR, TYPE_AFFINE, TYPE_RIGID };

/* One of both images: with masks for the last levels, and without for the search. */
typedef struct side {
    const char *name;
    gls_image *image;
    gls_level whole, masked;
    size_t volume;
} side;

/* Images of --channel. */
typedef struct channel {
    gls_level fixed, moving;
    double weight;
} channel;

typedef struct registration {
    gls_tract_run *run;
    const gls_register_cli *o;
    side fixed, moving;
    channel channel[GLS_VELOCITY_CHANNELS];
    size_t n_channels;
    gls_linear_options linear;
    gls_velocity_options velocity;
    gls_linear_result found;
    gls_velocity flow;
    gls_image *forward, *back, *jacobian;
    bool has_volumes; /* an image has several, of which --volume chooses one */
    gls_field_quality quality;
    char *path[8]; /* outputs, owned */
    size_t n_paths;
} registration;

static void finish(registration *r)
{
    side *const sides[2] = {&r->fixed, &r->moving};
    for (int k = 0; k < 2; k++) {
        gls_image_destroy(sides[k]->image);
        gls_level_finish(&sides[k]->whole);
        gls_level_finish(&sides[k]->masked);
    }
    for (size_t k = 0; k < r->n_channels; k++) {
        gls_level_finish(&r->channel[k].fixed);
        gls_level_finish(&r->channel[k].moving);
    }
    gls_velocity_finish(&r->flow);
    gls_image_destroy(r->forward);
    gls_image_destroy(r->back);
    gls_image_destroy(r->jacobian);
    for (size_t k = 0; k < r->n_paths; k++) free(r->path[k]);
}

/* --- Images. */

/* Warns of grids on which a registration is doubtful. */
static void warn_of_grid(const char *name, const gls_grid *grid)
{
    double low = INFINITY, high = 0;
    int32_t least = INT32_MAX;
    for (int a = 0; a < 3; a++) {
        low = fmin(low, grid->voxel_size[a]);
        high = fmax(high, grid->voxel_size[a]);
        least = grid->dim[a] < least ? grid->dim[a] : least;
    }
    if (high > 5 * low || high > 4)
        gls_log(GLS_LOG_WARNING, "%s: voxels of %.3g to %.3g mm: the result is as coarse as that; compare it by eye",
                name, low, high);
    if (least < 8)
        gls_log(GLS_LOG_WARNING, "%s: only %d voxel%s along an axis: turns about the others are hardly seen there",
                name, least, least == 1 ? "" : "s");
}

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
static gls_status read_side(registration *r, const char *path, const char *mask_path, const char *lesion_path, side *s)
{
    gls_image *mask = NULL, *lesion = NULL;
    uint64_t bad = 0;
    s->name = path;
    gls_status status = read_image(r, path, &s->image, &s->volume);
    if (!status) warn_of_grid(path, &s->image->grid);
    if (!status && mask_path) status = gls_image_read_mask(&s->image->grid, path, mask_path, &mask);
    if (!status && lesion_path) status = gls_image_read_mask(&s->image->grid, path, lesion_path, &lesion);
    if (!status) status = gls_level_init(&s->whole, s->image, s->volume, NULL, lesion, path, &bad);
    if (!status && bad > 0)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " voxels are not finite and are left out", path, bad);
    if (!status) status = gls_level_init(&s->masked, s->image, s->volume, mask, lesion, path, &bad);
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
        channel *c = &r->channel[r->n_channels++];
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
        if (!status) status = gls_grid_require_equal(&r->fixed.image->grid, r->fixed.name, &fixed->grid, path[1]);
        if (!status) status = gls_level_init(&c->moving, moving, volume[0], NULL, NULL, path[0], &bad);
        if (!status) status = gls_level_init(&c->fixed, fixed, volume[1], NULL, NULL, path[1], &bad);
        gls_image_destroy(moving);
        gls_image_destroy(fixed);
        free(text);
    }
    return status;
}

/* Box of a grid along the world axes. */
static void box_of(const gls_grid *grid, double low[3], double high[3])
{
    for (int r = 0; r < 3; r++) low[r] = INFINITY, high[r] = -INFINITY;
    for (int k = 0; k < 8; k++) {
        double p[3] = {k & 1 ? grid->dim[0] - 1 : 0, k & 2 ? grid->dim[1] - 1 : 0, k & 4 ? grid->dim[2] - 1 : 0};
        gls_affine_apply(grid->affine, p, p);
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], p[r]);
            high[r] = fmax(high[r], p[r]);
        }
    }
}

/* Compares where both headers say that the images are. */
static gls_status check_boxes(const registration *r)
{
    double low[2][3], high[2][3], centre[2][3], square = 0;
    bool apart = false;
    box_of(&r->fixed.image->grid, low[0], high[0]);
    box_of(&r->moving.image->grid, low[1], high[1]);
    gls_level_centre(&r->fixed.whole, centre[0]);
    gls_level_centre(&r->moving.whole, centre[1]);
    for (int a = 0; a < 3; a++) {
        apart |= low[0][a] > high[1][a] || low[1][a] > high[0][a];
        square += (centre[0][a] - centre[1][a]) * (centre[0][a] - centre[1][a]);
    }
    if (!apart) return GLS_OK;
    if (r->linear.init == GLS_INIT_HEADER)
        return gls_fail(GLS_ERR_INPUT,
                        "%s and %s do not overlap: by their headers they are %.0f mm apart: leave out --init header",
                        r->moving.name, r->fixed.name, sqrt(square));
    gls_log(GLS_LOG_WARNING, "%s and %s do not overlap: by their headers they are %.0f mm apart", r->moving.name,
            r->fixed.name, sqrt(square));
    return GLS_OK;
}

/* --- Options. */

/* Sets levels and iterations. coarser: voxels of the coarser image, mm. */
static gls_status set_levels(registration *r, double coarser)
{
    static const double usual[3] = {8, 4, 2};
    static const int most[3] = {100, 70, 40};
    const gls_register_cli *o = r->o;
    const int n = o->levels.n ? o->levels.n : 3;
    if (o->iterations.n && o->iterations.n != n)
        return gls_fail(GLS_ERR_ARGUMENT, "--iterations: has %d numbers, but there are %d levels", o->iterations.n, n);
    r->linear.n_levels = r->velocity.n_levels = (size_t)n;
    for (int k = 0; k < n; k++) {
        const double asked = o->levels.n ? o->levels.value[k] : usual[k];
        if (k > 0 && o->levels.n && asked >= o->levels.value[k - 1])
            return gls_fail(GLS_ERR_ARGUMENT, "--levels: has to go from coarse to fine, but %g follows %g", asked,
                            o->levels.value[k - 1]);
        r->linear.voxel[k] = fmax(asked, coarser);
        r->velocity.voxel[k] = o->levels.n ? r->linear.voxel[k] : fmax(2, coarser) * (1 << (n - 1 - k));
        r->velocity.iterations[k] = o->iterations.n ? (int)o->iterations.value[k] : most[k < 3 ? k : 2];
    }
    return GLS_OK;
}

/* Takes --init. */
static gls_status set_init(registration *r)
{
    static const char *const ways[] = {"auto", "header", "mass", "middle"};
    gls_transform t;
    r->linear.init = GLS_INIT_GIVEN;
    for (int k = 0; k < 4; k++)
        if (strcmp(r->o->init, ways[k]) == 0) r->linear.init = (gls_linear_init)k;
    if (r->linear.init != GLS_INIT_GIVEN) return GLS_OK;
    gls_status status = gls_tract_run_reads(r->run, r->o->init);
    if (!status) status = gls_transform_read(&r->o->init, 1, &t);
    if (status) return status;
    if (t.step[0].field)
        status = gls_fail(GLS_ERR_ARGUMENT, "--init %s: is a field, but an affine map is needed", r->o->init);
    else
        memcpy(r->linear.start, t.step[0].map, sizeof r->linear.start);
    gls_transform_finish(&t);
    return status;
}

static gls_status set_options(registration *r)
{
    const gls_register_cli *o = r->o;
    const double edge[2] = {cbrt(fabs(gls_grid_determinant(&r->fixed.image->grid))),
                            cbrt(fabs(gls_grid_determinant(&r->moving.image->grid)))};
    r->linear.affine = o->type != TYPE_RIGID;
    r->linear.search = (gls_linear_search)o->search;
    r->linear.check_header = o->header == 0;
    r->velocity.ssd = o->metric == 1;
    r->velocity.radius = o->radius;
    r->velocity.step = o->step;
    r->velocity.smooth_update = o->smooth_update;
    r->velocity.smooth_total = o->smooth_total;
    return set_levels(r, fmax(edge[0], edge[1]));
}

/* --- The work. */

static bool go_on(void *user)
{
    gls_tract_run *run = user;
    return !run->go_on || run->go_on(run, 0);
}

/* Opens the device that --device names; none for the CPU, which is faster than a software renderer. */
static gls_status open_device(const registration *r, gls_device_set *set)
{
    const gls_register_cli *o = r->o;
    const bool any = strcmp(o->device, "auto") == 0;
    gls_status status = GLS_OK;
    if (strcmp(o->device, "cpu") != 0) status = gls_device_set_open(set, o->device, 1, (gls_graphics)o->api);
    if (status == GLS_ERR_DEVICE && any) status = GLS_OK;
    if (status) return status;
    if (set->n > 0 && any && gls_device_get_info(set->device[0])->software) gls_device_set_close(set);
    if (set->n == 0) gls_log(GLS_LOG_INFO, "the registration is computed on the CPU");
    return GLS_OK;
}

/* Finds the linear and the nonlinear part, on a device, or if it is NULL on the CPU. */
static gls_status align(registration *r, gls_device *device)
{
    gls_velocity_channel channels[GLS_VELOCITY_CHANNELS] = {{&r->fixed.masked, &r->moving.masked, 1}};
    double sum = 1;
    const size_t n = r->n_channels + 1;
    for (size_t k = 1; k < n; k++) {
        channels[k] =
            (gls_velocity_channel){&r->channel[k - 1].fixed, &r->channel[k - 1].moving, r->channel[k - 1].weight};
        sum += channels[k].weight;
    }
    for (size_t k = 0; k < n; k++) channels[k].weight /= sum;
    r->linear.device = device;
    gls_status status = gls_linear_register(&r->fixed.whole, &r->moving.whole, &r->fixed.masked, &r->moving.masked,
                                            &r->linear, &r->found);
    if (!status && !go_on(r->run)) status = gls_fail(GLS_ERR_CANCELLED, "cancelled");
    if (!status && r->o->type == TYPE_NONLINEAR)
        status = gls_velocity_register(channels, n, (const double(*)[4])r->found.map, &r->velocity, device, go_on,
                                       r->run, &r->flow);
    return status;
}

/* Computes the registration where --device says, and on the CPU where the device that was chosen cannot. */
static gls_status compute(registration *r)
{
    gls_device_set set = {.n = 0};
    gls_status status = open_device(r, &set);
    gls_device *device = set.n > 0 ? set.device[0] : NULL;
    if (!status) status = align(r, device);
    if (device && strcmp(r->o->device, "auto") == 0 &&
        (status == GLS_ERR_UNSUPPORTED || gls_status_is_memory(status))) {
        gls_log(GLS_LOG_WARNING, "the registration is computed on the CPU, since the device cannot: %s",
                gls_last_error());
        device = NULL;
        status = align(r, NULL);
    }
    cJSON_AddStringToObject(r->run->root, "device", device ? gls_device_get_info(device)->renderer : "CPU");
    gls_device_set_close(&set);
    return status;
}

/* Makes the fields of the nonlinear part, and measures them. */
static gls_status make_fields(registration *r)
{
    gls_level last = {.value = NULL};
    gls_status status = gls_velocity_fields(&r->flow, &r->forward, &r->back);
    if (!status) status = gls_field_jacobian(r->forward, &r->jacobian);
    if (!status) status = gls_level_shrink(&r->fixed.masked, r->velocity.voxel[r->velocity.n_levels - 1], &last);
    if (!status) status = gls_field_measure(r->forward, r->back, r->jacobian, last.mask, &r->quality);
    gls_level_finish(&last);
    return status;
}

/* Warns of results that have to be looked at. */
static void warn(const registration *r)
{
    const gls_linear_result *f = &r->found;
    const gls_field_quality *q = &r->quality;
    if (*f->header_advice)
        gls_log(
            GLS_LOG_WARNING,
            "%s: its header seems to be wrong: against %s its axes match better %s (NMI %.4f, as it is %.4f). Compare "
            "both images by eye, and correct the header; nothing was changed",
            r->moving.name, r->fixed.name, f->header_advice, f->header_other, f->header_own);
    if (f->share < 0.5)
        gls_log(GLS_LOG_WARNING, "only %.0f %% of %s lie in %s: crop the fixed image, or give --fixed-mask",
                100 * f->share, r->fixed.name, r->moving.name);
    if (f->score < 1.05)
        gls_log(GLS_LOG_WARNING,
                "the images have little in common (NMI %.3f): compare them by eye, and try --search wide", f->score);
    if (!r->forward) return;
    if (q->folded > 0)
        gls_log(GLS_LOG_WARNING, "the field folds at %" PRIu64 " voxels: try a larger --smooth-total", q->folded);
    if (q->inverse[1] > 0.5 * r->flow.grid.voxel_size[0])
        gls_log(GLS_LOG_WARNING, "the inverse is off by %.2f mm at 1 %% of the voxels: try a larger --smooth-total",
                q->inverse[1]);
    if (q->displacement[2] > 25)
        gls_log(GLS_LOG_WARNING, "the field moves points by up to %.0f mm: compare the images by eye",
                q->displacement[2]);
}

/* --- Outputs. */

/* Names an output PREFIX + suffix, and adds it to the run. */
static gls_status add_output(registration *r, const char *suffix, const char **path)
{
    gls_text text = {0};
    gls_text_printf(&text, "%s%s", r->o->output, suffix);
    char *made = gls_text_take(&text);
    if (!made) return gls_no_memory();
    r->path[r->n_paths++] = made;
    *path = made;
    gls_tract_run_lists_output(r->run, made);
    return gls_run_writes(&r->run->files, made);
}

/* Names of what is written; NULL: not written. */
typedef struct outputs {
    const char *affine, *warp, *inverse, *velocity, *warped, *jacobian;
} outputs;

static gls_status name_outputs(registration *r, outputs *out)
{
    const bool nonlinear = r->o->type == TYPE_NONLINEAR;
    const struct {
        const char **path, *suffix;
        bool wanted;
    } rows[] = {{&out->affine, "_affine.txt", true},
                {&out->warp, "_warp.nii.gz", nonlinear},
                {&out->inverse, "_inverse_warp.nii.gz", nonlinear},
                {&out->velocity, "_velocity.nii.gz", nonlinear},
                {&out->warped, "_warped.nii.gz", r->o->warped},
                {&out->jacobian, "_jacobian.nii.gz", r->o->jacobian}};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !status; k++)
        if (rows[k].wanted) status = add_output(r, rows[k].suffix, rows[k].path);
    return status ? status : gls_run_writes_sidecar(&r->run->files, r->o->output, ".json");
}

/* Resamples the moving image to the fixed grid, by one interpolation. */
static gls_status write_warped(registration *r, const char *path)
{
    gls_transform_step step[2] = {{.field = r->forward}, {.field = NULL}};
    const gls_transform transform = {.n = r->forward ? 2 : 1, .step = r->forward ? step : step + 1};
    gls_image *made = NULL, *one = NULL;
    uint64_t outside;
    memcpy(step[1].map, r->found.map, sizeof step[1].map);
    gls_affine_invert((const double(*)[4])r->found.map, step[1].back);
    if (r->forward) gls_grid_inverse(&r->forward->grid, step[0].to_voxel);
    gls_status status =
        gls_image_wrap(&r->moving.image->grid, 1,
                       r->moving.image->data + r->moving.volume * gls_grid_voxels(&r->moving.image->grid), &one);
    if (!status)
        status = gls_image_resample(one, &transform, &r->fixed.image->grid, GLS_RESAMPLE_LINEAR, 0, &made, &outside);
    if (!status)
        status = gls_image_write_grouped(path, r->run->options.force, &r->run->files.group, made, GLS_IMAGE_FLOAT32);
    gls_image_destroy(one);
    gls_image_destroy(made);
    return status;
}

static gls_status write_all(registration *r, const outputs *out)
{
    const bool force = r->run->options.force;
    gls_output_group *group = &r->run->files.group;
    const double(*map)[4] = (const double(*)[4])r->found.map;
    gls_status status = r->o->affine_format == 0 ? gls_transform_write_matrix(out->affine, force, group, map)
                                                 : gls_transform_write_itk(out->affine, force, group, map);
    if (!status && r->forward) status = gls_transform_write_field(out->warp, force, group, r->forward);
    if (!status && r->forward) status = gls_transform_write_field(out->inverse, force, group, r->back);
    if (!status && r->forward)
        status = gls_image_write_values(out->velocity, force, group, &r->flow.grid, "velocity, voxels", 3,
                                        GLS_TYPE_FLOAT32, r->flow.v);
    if (!status && out->jacobian)
        status = gls_image_write_grouped(out->jacobian, force, group, r->jacobian, GLS_IMAGE_FLOAT32);
    if (!status && out->warped) status = write_warped(r, out->warped);
    return status;
}

static void add_numbers(cJSON *object, const char *key, const double *value, int n)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (int k = 0; k < n; k++) gls_json_append_double(array, value[k]);
}

/* The findings that the sidecar records. */
static void describe(const registration *r)
{
    cJSON *root = r->run->root;
    const gls_linear_result *f = &r->found;
    cJSON_AddStringToObject(root, "moving", r->moving.name);
    cJSON_AddStringToObject(root, "fixed", r->fixed.name);
    cJSON_AddStringToObject(root, "maps", "points of the fixed image to points of the moving image, RAS mm");
    cJSON_AddStringToObject(root, "chain",
                            r->forward ? "-t PREFIX_warp.nii.gz -t PREFIX_affine.txt" : "-t PREFIX_affine.txt");
    cJSON_AddStringToObject(root, "inverse_chain",
                            r->forward ? "-t PREFIX_affine.txt,inverse -t PREFIX_inverse_warp.nii.gz"
                                       : "-t PREFIX_affine.txt,inverse");
    cJSON *linear = cJSON_AddObjectToObject(root, "linear");
    cJSON_AddStringToObject(linear, "start", f->start);
    add_numbers(linear, "start_turn_degrees", f->turn, 3);
    gls_json_double(linear, "nmi", f->score);
    gls_json_double(linear, "overlap", f->share);
    if (r->linear.check_header) gls_json_double(linear, "header_nmi", f->header_own);
    if (r->linear.check_header) gls_json_double(linear, "header_nmi_of_exchanged_axes", f->header_other);
    cJSON *levels = cJSON_AddArrayToObject(linear, "levels");
    for (size_t k = 0; k < f->n_levels; k++) {
        cJSON *level = cJSON_CreateObject();
        cJSON_AddStringToObject(level, "type", f->level[k].affine ? "affine" : "rigid");
        gls_json_double(level, "voxel_mm", f->level[k].voxel);
        gls_json_uint(level, "evaluations", f->level[k].evaluations);
        gls_json_double(level, "nmi", f->level[k].score);
        cJSON_AddItemToArray(levels, level);
    }
    if (!r->forward) return;
    cJSON *field = cJSON_AddObjectToObject(root, "nonlinear");
    levels = cJSON_AddArrayToObject(field, "levels");
    for (size_t k = 0; k < r->flow.n_levels; k++) {
        const gls_velocity_level *l = &r->flow.level[k];
        cJSON *level = cJSON_CreateObject();
        gls_json_double(level, "voxel_mm", l->voxel);
        gls_json_uint(level, "iterations", (uint64_t)l->iterations);
        gls_json_double(level, "first_cost", l->first);
        gls_json_double(level, "last_cost", l->last);
        cJSON_AddItemToArray(levels, level);
    }
    add_numbers(field, "displacement_mm_median_p99_max", r->quality.displacement, 3);
    add_numbers(field, "jacobian_min_p1_median_p99_max", r->quality.jacobian, 5);
    gls_json_double(field, "jacobian_log_sd", r->quality.log_sd);
    gls_json_uint(field, "folded_voxels", r->quality.folded);
    add_numbers(field, "inverse_error_mm_median_p99_max", r->quality.inverse, 3);
}

static gls_status work(registration *r, const char *const *file)
{
    const gls_register_cli *o = r->o;
    outputs out = {.affine = NULL};
    gls_status status =
        gls_tract_run_reads_all(r->run, GLS_PATHS(file[0], file[1], o->fixed_mask, o->moving_mask, o->lesion_mask));
    if (!status) status = set_init(r);
    if (!status) status = name_outputs(r, &out);
    if (!status) status = read_side(r, file[1], o->fixed_mask, NULL, &r->fixed);
    if (!status) status = read_side(r, file[0], o->moving_mask, o->lesion_mask, &r->moving);
    if (!status) status = read_channels(r);
    if (!status && o->volume >= 0 && !r->has_volumes)
        status = gls_fail(GLS_ERR_ARGUMENT, "--volume %d: no image has several volumes: leave it out", o->volume);
    if (!status) status = set_options(r);
    if (!status) status = check_boxes(r);
    if (!status) status = compute(r);
    if (!status && o->type == TYPE_NONLINEAR) status = make_fields(r);
    if (!status) warn(r);
    if (!status) status = write_all(r, &out);
    if (status) return status;
    describe(r);
    gls_tract_run_message(r->run, "%s: NMI %.4f, %.0f %% of the fixed image lie in the moving image", o->output,
                          r->found.score, 100 * r->found.share);
    return GLS_OK;
}

gls_status gls_tract_register(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    registration r = {.run = run, .o = options};
    (void)n;
    if (!r.o->output) return gls_fail(GLS_ERR_ARGUMENT, "register: needs --output PREFIX");
    const gls_status status = work(&r, file);
    finish(&r);
    return status;
}
