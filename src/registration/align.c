/* The registration of one pair of images: search, fields, measures, warnings. */
#include "registration/align.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/devices.h"
#include "image/grid.h"
#include "transform/resample.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

void gls_alignment_finish(gls_alignment *a)
{
    gls_align_side *const sides[2] = {&a->fixed, &a->moving};
    for (int k = 0; k < 2; k++) {
        gls_image_destroy(sides[k]->image);
        gls_level_finish(&sides[k]->whole);
        gls_level_finish(&sides[k]->masked);
    }
    for (size_t k = 0; k < a->n_channels; k++) {
        gls_level_finish(&a->channel[k].fixed);
        gls_level_finish(&a->channel[k].moving);
    }
    gls_velocity_finish(&a->flow);
    gls_image_destroy(a->forward);
    gls_image_destroy(a->back);
    gls_image_destroy(a->jacobian);
    *a = (gls_alignment){.nonlinear = false};
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

gls_status gls_align_side_init(gls_align_side *s, const char *name, gls_image *image, size_t volume,
                               const gls_image *mask, const gls_image *lesion)
{
    uint64_t bad = 0;
    s->name = name;
    s->image = image;
    s->volume = volume;
    s->has_lesion = lesion != NULL;
    warn_of_grid(name, &image->grid);
    gls_status status = gls_level_init(&s->whole, image, volume, NULL, lesion, name, &bad);
    if (!status && bad > 0)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " voxels are not finite and are left out", name, bad);
    return status ? status : gls_level_init(&s->masked, image, volume, mask, lesion, name, &bad);
}

double gls_alignment_edge(const gls_alignment *a)
{
    return fmax(cbrt(fabs(gls_grid_determinant(&a->fixed.image->grid))),
                cbrt(fabs(gls_grid_determinant(&a->moving.image->grid))));
}

void gls_alignment_usual(gls_alignment *a)
{
    static const double usual[3] = {8, 4, 2};
    static const int most[3] = {100, 70, 40};
    const double coarser = gls_alignment_edge(a);
    a->velocity = (gls_velocity_options){.radius = 2, .step = 0.4, .smooth_update = 1.6, .smooth_total = 0.5};
    a->linear.n_levels = a->velocity.n_levels = 3;
    for (int k = 0; k < 3; k++) {
        a->linear.voxel[k] = fmax(usual[k], coarser);
        a->velocity.voxel[k] = fmax(2, coarser) * (1 << (2 - k));
        a->velocity.iterations[k] = most[k];
    }
}

/* Compares where both headers say that the images are. */
static gls_status check_boxes(gls_alignment *a)
{
    double low[2][3], high[2][3], centre[2][3], square = 0;
    bool apart = false;
    gls_grid_extent(&a->fixed.image->grid, low[0], high[0]);
    gls_grid_extent(&a->moving.image->grid, low[1], high[1]);
    gls_level_centre(&a->fixed.whole, centre[0]);
    gls_level_centre(&a->moving.whole, centre[1]);
    for (int k = 0; k < 3; k++) {
        apart |= low[0][k] > high[1][k] || low[1][k] > high[0][k];
        square += (centre[0][k] - centre[1][k]) * (centre[0][k] - centre[1][k]);
    }
    if (!apart) return GLS_OK;
    if (a->linear.init == GLS_INIT_HEADER)
        return gls_fail(GLS_ERR_INPUT,
                        "%s and %s do not overlap: by their headers they are %.0f mm apart: leave out --init header",
                        a->moving.name, a->fixed.name, sqrt(square));
    gls_alignment_look(a, "where the headers place both images");
    gls_log(GLS_LOG_WARNING, "%s and %s do not overlap: by their headers they are %.0f mm apart", a->moving.name,
            a->fixed.name, sqrt(square));
    return GLS_OK;
}

/* Adds to the error of images that do not overlap where both lie. */
static gls_status fail_apart(const gls_alignment *a)
{
    double low[2][3], high[2][3];
    gls_grid_extent(&a->fixed.image->grid, low[0], high[0]);
    gls_grid_extent(&a->moving.image->grid, low[1], high[1]);
    return gls_fail(
        GLS_ERR_INPUT,
        "%s. %s has x %.0f to %.0f, y %.0f to %.0f, z %.0f to %.0f mm, %s x %.0f to %.0f, y %.0f to %.0f, z "
        "%.0f to %.0f mm",
        gls_last_error(), a->fixed.name, low[0][0], high[0][0], low[0][1], high[0][1], low[0][2], high[0][2],
        a->moving.name, low[1][0], high[1][0], low[1][1], high[1][1], low[1][2], high[1][2]);
}

/* --- The work. */

/* Finds the linear and the nonlinear part, on a device, or if it is NULL on the CPU. */
static gls_status align(gls_alignment *a, gls_device *device)
{
    gls_velocity_channel channels[GLS_VELOCITY_CHANNELS] = {{&a->fixed.masked, &a->moving.masked, 1}};
    double sum = 1;
    const size_t n = a->n_channels + 1;
    for (size_t k = 1; k < n; k++) {
        channels[k] =
            (gls_velocity_channel){&a->channel[k - 1].fixed, &a->channel[k - 1].moving, a->channel[k - 1].weight};
        sum += channels[k].weight;
    }
    for (size_t k = 0; k < n; k++) channels[k].weight /= sum;
    a->linear.device = device;
    a->linear.go_on = a->go_on;
    gls_status status = gls_linear_register(&a->fixed.whole, &a->moving.whole, &a->fixed.masked, &a->moving.masked,
                                            &a->linear, &a->found);
    if (status == GLS_ERR_INPUT) status = fail_apart(a);
    if (!status && a->nonlinear)
        status = gls_velocity_register(channels, n, (const double(*)[4])a->found.map, &a->velocity, device, &a->go_on,
                                       &a->flow);
    return status;
}

/* Brings a volume of one image to a grid; NaN outside of it, where no brain is. */
static gls_status bring(const gls_align_side *side, const gls_transform *t, const gls_grid *grid, gls_image **made)
{
    gls_image *one = NULL;
    uint64_t outside;
    gls_status status = gls_image_wrap(&side->image->grid, 1,
                                       side->image->data + side->volume * gls_grid_voxels(&side->image->grid), &one);
    if (!status) status = gls_image_resample(one, t, grid, GLS_RESAMPLE_LINEAR, NAN, made, &outside);
    gls_image_destroy(one);
    return status;
}

/* Whether the volume that is registered shows the brain alone. */
static bool is_brain_alone(const gls_align_side *side)
{
    return gls_image_is_brain_alone(side->image, side->volume, NULL);
}

/* Looks for a part of the brain that has no counterpart, unless it is named. */
static gls_status find_unmatched(gls_alignment *a)
{
    const gls_transform none = {.n = 0};
    gls_transform_step step[2];
    const gls_transform map = gls_alignment_transform(a, false, step);
    gls_image *fixed = NULL, *moved = NULL, *mask = NULL;
    gls_grid grid;
    uint64_t outside;
    if (a->moving.has_lesion || a->fixed.has_lesion) return GLS_OK;
    if (!a->brain && !(is_brain_alone(&a->fixed) && is_brain_alone(&a->moving))) return GLS_OK;
    gls_status status = gls_unmatched_grid(&a->flow.grid, &grid);
    if (!status) status = bring(&a->fixed, &none, &grid, &fixed);
    if (!status) status = bring(&a->moving, &map, &grid, &moved);
    if (!status && a->brain)
        status = gls_image_resample(a->brain, &none, &grid, GLS_RESAMPLE_NEAREST, 0, &mask, &outside);
    if (!status) status = gls_unmatched_find(fixed, moved, mask, &a->unmatched);
    gls_image_destroy(fixed);
    gls_image_destroy(moved);
    gls_image_destroy(mask);
    return status;
}

/* Makes the fields of the nonlinear part, and measures them. */
static gls_status make_fields(gls_alignment *a)
{
    gls_level last = {.value = NULL};
    gls_status status = gls_velocity_fields(&a->flow, &a->forward, &a->back);
    if (!status) status = gls_field_jacobian(a->forward, &a->jacobian);
    if (!status) status = gls_level_shrink(&a->fixed.masked, a->velocity.voxel[a->velocity.n_levels - 1], &last);
    if (!status) status = gls_field_measure(a->forward, a->back, a->jacobian, last.mask, &a->quality);
    if (!status) status = find_unmatched(a);
    gls_level_finish(&last);
    return status;
}

gls_status gls_alignment_find(gls_alignment *a)
{
    gls_device_set set = {.n = 0};
    gls_status status = check_boxes(a);
    if (!status)
        status = gls_device_set_open_gpus(&set, a->device, 1, a->graphics, "the registration is computed on the CPU");
    gls_device *device = set.n > 0 ? set.device[0] : NULL;
    if (!status) status = align(a, device);
    if (device && strcmp(a->device, "auto") == 0 && (status == GLS_ERR_UNSUPPORTED || gls_status_is_memory(status))) {
        gls_log(GLS_LOG_WARNING, "the registration is computed on the CPU, since the device cannot: %s",
                gls_last_error());
        device = NULL;
        status = align(a, NULL);
    }
    snprintf(a->renderer, sizeof a->renderer, "%s", device ? gls_device_get_info(device)->renderer : "CPU");
    gls_device_set_close(&set);
    if (!status && a->nonlinear) status = make_fields(a);
    return status;
}

bool gls_alignment_look(gls_alignment *a, const char *at)
{
    if (a->n_looks < GLS_ALIGNMENT_LOOKS) a->look[a->n_looks++] = at;
    return true;
}

int gls_alignment_warn(gls_alignment *a)
{
    const gls_linear_result *f = &a->found;
    const gls_field_quality *q = &a->quality;
    if (*f->header_advice && gls_alignment_look(a, "the axes of the moving image"))
        gls_log(
            GLS_LOG_WARNING,
            "%s: its header seems to be wrong: against %s its axes match better %s (NMI %.4f, as it is %.4f). Compare "
            "both images by eye, and correct the header; nothing was changed",
            a->moving.name, a->fixed.name, f->header_advice, f->header_other, f->header_own);
    if (f->share < 0.5 && gls_alignment_look(a, "the fields of view of both images"))
        gls_log(GLS_LOG_WARNING, "only %.0f %% of %s lie in %s: crop the fixed image, or give --fixed-mask",
                100 * f->share, a->fixed.name, a->moving.name);
    if (f->score < 1.05 && gls_alignment_look(a, "whether both images show the same"))
        gls_log(GLS_LOG_WARNING,
                "the images have little in common (NMI %.3f): compare them by eye, and try --search wide", f->score);
    if (!a->forward) return (int)a->n_looks;
    if (q->folded > 0 && gls_alignment_look(a, "where the field folds"))
        gls_log(GLS_LOG_WARNING, "the field folds at %" PRIu64 " voxels: try a larger --smooth-total", q->folded);
    if (q->inverse[1] > 0.5 * a->flow.grid.voxel_size[0] && gls_alignment_look(a, "the inverse of the field"))
        gls_log(GLS_LOG_WARNING, "the inverse is off by %.2f mm at 1 %% of the voxels: try a larger --smooth-total",
                q->inverse[1]);
    if (q->displacement[2] > 25 && gls_alignment_look(a, "where the field moves points far"))
        gls_log(GLS_LOG_WARNING, "the field moves points by up to %.0f mm: compare the images by eye",
                q->displacement[2]);
    const gls_unmatched *u = &a->unmatched;
    if (u->millilitre >= GLS_UNMATCHED_ML && gls_alignment_look(a, "a part of the brain without a counterpart"))
        gls_log(
            GLS_LOG_WARNING,
            "%.1f ml around %.0f, %.0f, %.0f mm of %s look unlike %s: if one of them has a lesion there, name it by "
            "--lesion-mask, or leave it out of the masks",
            u->millilitre, u->at[0], u->at[1], u->at[2], a->fixed.name, a->moving.name);
    return (int)a->n_looks;
}

gls_transform gls_alignment_transform(const gls_alignment *a, bool inverse, gls_transform_step step[2])
{
    const size_t linear = a->forward && !inverse ? 1 : 0, field = 1 - linear;
    const double(*map)[4] = (const double(*)[4])a->found.map;
    step[linear] = (gls_transform_step){.field = NULL};
    memcpy(inverse ? step[linear].back : step[linear].map, map, sizeof a->found.map);
    gls_affine_invert(map, inverse ? step[linear].map : step[linear].back);
    if (a->forward) {
        step[field] = (gls_transform_step){.field = inverse ? a->back : a->forward};
        gls_grid_inverse(&a->forward->grid, step[field].to_voxel);
    }
    return (gls_transform){.n = a->forward ? 2 : 1, .step = step};
}

/* --- The sidecar. */

static void add_numbers(cJSON *object, const char *key, const double *value, int n)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (int k = 0; k < n; k++) gls_json_append_double(array, value[k]);
}

static void describe_linear(const gls_alignment *a, cJSON *linear)
{
    const gls_linear_result *f = &a->found;
    cJSON_AddStringToObject(linear, "start", f->start);
    add_numbers(linear, "start_turn_degrees", f->turn, 3);
    gls_json_double(linear, "nmi", f->score);
    gls_json_double(linear, "overlap", f->share);
    if (a->linear.check_header) gls_json_double(linear, "header_nmi", f->header_own);
    if (a->linear.check_header) gls_json_double(linear, "header_nmi_of_exchanged_axes", f->header_other);
    cJSON *levels = cJSON_AddArrayToObject(linear, "levels");
    for (size_t k = 0; k < f->n_levels; k++) {
        cJSON *level = cJSON_CreateObject();
        cJSON_AddStringToObject(level, "type", f->level[k].affine ? "affine" : "rigid");
        gls_json_double(level, "voxel_mm", f->level[k].voxel);
        gls_json_uint(level, "evaluations", f->level[k].evaluations);
        gls_json_double(level, "nmi", f->level[k].score);
        cJSON_AddItemToArray(levels, level);
    }
}

static void describe_field(const gls_alignment *a, cJSON *field)
{
    cJSON *levels = cJSON_AddArrayToObject(field, "levels");
    for (size_t k = 0; k < a->flow.n_levels; k++) {
        const gls_velocity_level *l = &a->flow.level[k];
        cJSON *level = cJSON_CreateObject();
        gls_json_double(level, "voxel_mm", l->voxel);
        gls_json_uint(level, "iterations", (uint64_t)l->iterations);
        gls_json_double(level, "first_cost", l->first);
        gls_json_double(level, "last_cost", l->last);
        cJSON_AddItemToArray(levels, level);
    }
    add_numbers(field, "displacement_mm_median_p99_max", a->quality.displacement, 3);
    add_numbers(field, "jacobian_min_p1_median_p99_max", a->quality.jacobian, 5);
    gls_json_double(field, "jacobian_log_sd", a->quality.log_sd);
    gls_json_uint(field, "folded_voxels", a->quality.folded);
    add_numbers(field, "inverse_error_mm_median_p99_max", a->quality.inverse, 3);
    if (!a->unmatched.looked) return;
    gls_json_double(field, "unmatched_ml", a->unmatched.millilitre);
    if (a->unmatched.millilitre > 0) add_numbers(field, "unmatched_at_mm", a->unmatched.at, 3);
}

/* Adds the verdict: aligned, or what has to be looked at. */
static void describe_verdict(const gls_alignment *a, cJSON *object)
{
    gls_text text = {0};
    for (size_t k = 0; k < a->n_looks; k++) gls_text_printf(&text, "%s%s", k == 0 ? "look at: " : "; ", a->look[k]);
    cJSON_AddStringToObject(object, "verdict", a->n_looks == 0 ? GLS_ALIGNED : text.data ? text.data : "");
    gls_text_finish(&text);
}

void gls_alignment_describe(const gls_alignment *a, cJSON *object)
{
    describe_verdict(a, object);
    cJSON_AddStringToObject(object, "device", a->renderer);
    cJSON_AddStringToObject(object, "moving", a->moving.name);
    cJSON_AddStringToObject(object, "fixed", a->fixed.name);
    cJSON_AddStringToObject(object, "maps", "points of the fixed image to points of the moving image, RAS mm");
    describe_linear(a, cJSON_AddObjectToObject(object, "linear"));
    if (a->forward) describe_field(a, cJSON_AddObjectToObject(object, "nonlinear"));
}
