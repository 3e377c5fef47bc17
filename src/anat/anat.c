/* The T1 of a subject in the space of the series: one rigid and one nonlinear registration, then masks, tissue and
 * labels on one grid. Every image comes to this grid from its file by one interpolation. */
#include "anat/anat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anat/brain_mask.h"
#include "anat/five_tissues.h"
#include "image/grid.h"
#include "image/labels.h"
#include "image/morphology.h"
#include "transform/resample.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

#define VOXEL 1.25        /* mm, of the grid; that of the T1 if it is larger */
#define MARGIN 12.0       /* mm, around the brain */
#define CUT_MARGIN 2.4    /* mm, by which the brain of the series is dilated before the T1 is cut to it */
#define LABEL_CLOSING 6.0 /* mm, by which labels are closed to make a mask */
#define MIN_ML 700.0      /* millilitres of a brain */
#define MAX_ML 2200.0
#define MIN_DICE 0.9
#define MIN_DICE_SERIES 0.8 /* masks of series are made in many ways */
/* Shares of the intensity of white matter between which T1 images have grey matter, and below which they have fluid. A
 * mask that holds skull makes fluid of it, and grey matter of fluid; one without fluid makes fluid of grey matter. */
#define MIN_GREY 0.45
#define MAX_GREY 0.92
#define MAX_FLUID 0.55
#define MAX_GROWTH 12.0 /* mm, by which the rim of a mask may be moved until intensities are right */
/* mm between the centres of the masks of T1 and series, where both images have voxels: masks of series may hold parts
 * of the scalp. */
#define MAX_APART 5.0
#define MAX_VOXELS ((double)(1 << 28))

void gls_anat_inputs_finish(gls_anat_inputs *in)
{
    gls_anat_image *const all[] = {&in->t1,    &in->lesion,     &in->b0,    &in->brain,
                                   &in->fixed, &in->fixed_mask, &in->prior, &in->labels};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) gls_image_destroy(all[i]->image);
    free(in->known.label);
    free(in->deep.label);
    free(in->stem.label);
    *in = (gls_anat_inputs){.fine = false};
}

void gls_anat_finish(gls_anat *a)
{
    gls_alignment_finish(&a->to_series);
    gls_alignment_finish(&a->to_template);
    gls_image *const all[] = {a->mask, a->b0, a->t1, a->fractions, a->five};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) gls_image_destroy(all[i]);
    gls_labels_destroy(a->labels);
    gls_tissue_classes_finish(&a->classes);
    *a = (gls_anat){.cut = false};
}

/* --- Registration. */

/* An image that shares its values with another. */
static gls_status borrow(const gls_image *image, gls_image **made)
{
    return gls_image_wrap(&image->grid, image->n_volumes, image->data, made);
}

/* Registers the T1, which the alignment owns from then on, to an image. */
static gls_status align(const gls_anat_inputs *in, const gls_anat_image *fixed, gls_image *t1, bool nonlinear,
                        gls_anat *made, gls_alignment *a)
{
    gls_image *image = NULL;
    gls_status status = gls_align_side_init(&a->moving, in->t1.name, t1, 0, NULL, in->lesion.image);
    if (!status) status = borrow(fixed->image, &image);
    if (!status) status = gls_align_side_init(&a->fixed, fixed->name, image, 0, NULL, NULL);
    if (status) return status;
    gls_alignment_usual(a);
    a->nonlinear = a->linear.affine = nonlinear;
    a->brain = nonlinear ? in->fixed_mask.image : NULL;
    a->linear.check_header = true;
    a->device = in->device;
    a->graphics = in->graphics;
    a->go_on = in->go_on;
    if (in->fine && gls_alignment_edge(a) < 2) {
        const size_t last = a->velocity.n_levels++;
        a->velocity.voxel[last] = fmax(1, gls_alignment_edge(a));
        a->velocity.iterations[last] = a->velocity.iterations[last - 1] / 2;
    }
    status = gls_alignment_find(a);
    if (!status && *a->found.header_advice)
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: its header seems to be wrong: against %s its axes match better %s (NMI %.4f, as it is "
                     "%.4f): compare both by eye, and correct the header",
                     a->moving.name, a->fixed.name, a->found.header_advice, a->found.header_other, a->found.header_own);
    if (!status) made->warnings += gls_alignment_warn(a);
    return status;
}

/* The chain of one alignment's map, or two. */
typedef struct chain {
    gls_transform_step step[4];
    gls_transform t;
} chain;

/* Chain that takes points of the series to the T1, and on to the template if to_template is set. */
static void make_chain(const gls_anat *a, bool to_template, chain *c)
{
    const gls_transform first = gls_alignment_transform(&a->to_series, false, c->step);
    c->t = (gls_transform){.n = first.n, .step = c->step};
    if (to_template) c->t.n += gls_alignment_transform(&a->to_template, true, c->step + first.n).n;
}

/* Sets values that are not finite to 0, after they were counted, so that interpolation does not spread them. */
static void drop_bad(gls_image *image)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    for (size_t v = 0; v < n; v++)
        if (!isfinite(image->data[v])) image->data[v] = 0;
}

/* Makes a set of the voxels above a value. */
static gls_status make_set(const gls_image *image, float above, uint8_t **set)
{
    const size_t n = gls_grid_voxels(&image->grid);
    *set = calloc(n, 1);
    if (!*set) return gls_no_memory();
    for (size_t v = 0; v < n; v++) (*set)[v] = image->data[v] > above;
    return GLS_OK;
}

/* Makes a copy of the T1 that is 0 outside of the brain of the series. */
static gls_status cut_t1(const gls_anat_inputs *in, const gls_anat *a, gls_image **made)
{
    gls_transform_step step[2];
    const gls_transform back = gls_alignment_transform(&a->to_series, true, step);
    const size_t n = gls_grid_voxels(&in->t1.image->grid);
    gls_image *brain = NULL;
    uint8_t *set = NULL;
    uint64_t outside;
    gls_status status =
        gls_image_resample(in->brain.image, &back, &in->t1.image->grid, GLS_RESAMPLE_NEAREST, 0, &brain, &outside);
    if (!status) status = make_set(brain, 0, &set);
    if (!status) status = gls_morphology_dilate_mm(&in->t1.image->grid, set, CUT_MARGIN);
    if (!status) status = gls_image_create(&in->t1.image->grid, 1, made);
    for (size_t v = 0; v < n && !status; v++) (*made)->data[v] = set[v] ? in->t1.image->data[v] : 0;
    gls_image_destroy(brain);
    free(set);
    return status;
}

/* Registers the T1 to the series, then to the template if there is one. */
static gls_status register_all(const gls_anat_inputs *in, gls_anat *a)
{
    gls_image *t1 = NULL;
    gls_status status = borrow(in->t1.image, &t1);
    if (!status) status = align(in, &in->b0, t1, false, a, &a->to_series);
    if (status) return status;
    drop_bad(in->t1.image);
    drop_bad(in->b0.image);
    if (!in->fixed.image) return GLS_OK;
    t1 = NULL;
    status = a->cut ? cut_t1(in, a, &t1) : borrow(in->t1.image, &t1);
    return status ? status : align(in, &in->fixed, t1, true, a, &a->to_template);
}

/* --- The brain. */

/* Makes the first mask: that of the template, else the voxels of a template of the brain alone, else labels, closed;
 * without a template that of the series. *mask: on a grid of its own, 1 in the brain. */
static gls_status first_mask(const gls_anat_inputs *in, const gls_anat *a, gls_image **mask)
{
    const gls_image *from = !in->fixed.image       ? in->brain.image
                            : in->fixed_mask.image ? in->fixed_mask.image
                            : a->cut               ? in->fixed.image
                                                   : in->labels.image;
    const bool labels = in->fixed.image && from == in->labels.image;
    uint8_t *set = NULL;
    if (!from)
        return in->fixed.image
                   ? gls_fail(GLS_ERR_ARGUMENT, "%s: shows the whole head: give --template-mask MASK", in->fixed.name)
                   : gls_fail(GLS_ERR_ARGUMENT,
                              "%s: without a template the brain of the series is needed: give --dwi a "
                              "series, or --dwi-mask",
                              in->b0.name);
    if (a->cut && !in->brain.image)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: shows the brain alone, so that the T1 has to be cut to the brain: give --dwi a series, or "
                        "--dwi-mask",
                        in->fixed.name);
    const size_t n = gls_grid_voxels(&from->grid);
    gls_status status = make_set(from, 0, &set);
    if (!status && labels) status = gls_brain_mask_grow(&from->grid, LABEL_CLOSING, set);
    if (!status && labels) status = gls_brain_mask_grow(&from->grid, -LABEL_CLOSING, set);
    if (!status && from != in->fixed_mask.image) status = gls_morphology_fill_holes(from->grid.dim, set);
    if (!status && gls_morphology_count(from->grid.dim, set) == 0)
        status = gls_fail(GLS_ERR_INPUT, "brain mask: has no voxel: give one of the brain");
    if (!status) status = gls_image_create(&from->grid, 1, mask);
    for (size_t v = 0; v < n && !status; v++) (*mask)->data[v] = set[v];
    free(set);
    return status;
}

/* Makes the grid: cubes along the world axes, in a box around the first mask in the space of the series. */
static gls_status make_grid(const gls_anat_inputs *in, const gls_image *mask, gls_anat *a)
{
    const double edge = fmax(VOXEL, cbrt(fabs(gls_grid_determinant(&in->t1.image->grid))));
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, voxels = 1;
    double affine[3][4] = {{edge, 0, 0, 0}, {0, edge, 0, 0}, {0, 0, edge, 0}};
    int32_t dim[3];
    gls_transform_step step[2];
    gls_transform to_t1 = {.n = 0};
    if (in->fixed.image) to_t1 = gls_alignment_transform(&a->to_template, false, step);
    to_t1.identity_outside = true;
    for (size_t v = 0; v < gls_grid_voxels(&mask->grid); v++) {
        int32_t at[3];
        if (!(mask->data[v] > 0)) continue;
        gls_grid_centre(&mask->grid, v, at);
        double p[3] = {at[0], at[1], at[2]};
        gls_affine_apply(mask->grid.affine, p, p);
        if (in->fixed.image) {
            gls_transform_apply(&to_t1, p, p);
            double back[3][4];
            gls_affine_invert((const double(*)[4])a->to_series.found.map, back);
            gls_affine_apply((const double(*)[4])back, p, p);
        }
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], p[r] - MARGIN);
            high[r] = fmax(high[r], p[r] + MARGIN);
        }
    }
    for (int r = 0; r < 3; r++) {
        affine[r][3] = low[r];
        voxels *= ceil((high[r] - low[r]) / edge) + 1;
    }
    if (voxels > MAX_VOXELS)
        return gls_fail(GLS_ERR_INPUT, "brain mask: its box has %.0f x %.0f x %.0f mm: give a mask of one brain",
                        high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    for (int r = 0; r < 3; r++) dim[r] = (int32_t)ceil((high[r] - low[r]) / edge) + 1;
    const gls_status status = gls_grid_init(&a->grid, dim, (const double(*)[4])affine);
    a->grid.space = in->b0.image->grid.space;
    return status;
}

/* Brings an image of the template's space, of the T1, or of the series. */
enum { FROM_SERIES, FROM_T1, FROM_TEMPLATE };
static gls_status bring(const gls_anat *a, const gls_image *image, int from, gls_resampling how, gls_image **made)
{
    chain c;
    uint64_t outside;
    make_chain(a, from == FROM_TEMPLATE, &c);
    if (from == FROM_SERIES) c.t.n = 0;
    return gls_image_resample(image, &c.t, &a->grid, how, 0, made, &outside);
}

/* Compares a mask on the grid with that of the series, where the series has voxels. */
static gls_status compare_with_series(const gls_anat_inputs *in, const uint8_t *mask, gls_anat *a)
{
    gls_image *seen = NULL, *brain = NULL, *ones = NULL;
    const size_t n = gls_grid_voxels(&a->grid);
    size_t both = 0, sum = 0, count[2] = {0};
    double centre[2][3] = {{0}}, square = 0;
    a->dice_series = a->series_apart = NAN;
    if (!in->brain.image) return GLS_OK;
    gls_status status = gls_image_create(&in->brain.image->grid, 1, &ones);
    for (size_t v = 0; !status && v < gls_grid_voxels(&ones->grid); v++) ones->data[v] = 1;
    if (!status) status = bring(a, ones, FROM_SERIES, GLS_RESAMPLE_NEAREST, &seen);
    if (!status) status = bring(a, in->brain.image, FROM_SERIES, GLS_RESAMPLE_NEAREST, &brain);
    for (size_t v = 0; v < n && !status; v++) {
        if (!(seen->data[v] > 0)) continue;
        const bool in_both[2] = {mask[v] > 0, brain->data[v] > 0};
        int32_t at[3];
        gls_grid_centre(&a->grid, v, at);
        for (int k = 0; k < 2; k++) {
            count[k] += in_both[k];
            for (int r = 0; r < 3 && in_both[k]; r++) centre[k][r] += a->grid.voxel_size[r] * at[r];
        }
        both += in_both[0] && in_both[1];
        sum += (size_t)in_both[0] + in_both[1];
    }
    if (!status && sum > 0) a->dice_series = 2 * (double)both / (double)sum;
    for (int r = 0; r < 3 && count[0] > 0 && count[1] > 0; r++)
        square += pow(centre[0][r] / (double)count[0] - centre[1][r] / (double)count[1], 2);
    if (count[0] > 0 && count[1] > 0) a->series_apart = sqrt(square);
    gls_image_destroy(seen);
    gls_image_destroy(brain);
    gls_image_destroy(ones);
    return status;
}

/* Whether intensities of classes are those of a T1 image in a mask of the brain. *grey, fluid: shares of the intensity
 * of white matter. */
static bool has_contrast(const gls_tissue_classes *c, double *grey, double *fluid)
{
    *grey = exp(c->mean[GLS_CLASS_GM] - c->mean[GLS_CLASS_WM]);
    *fluid = exp(c->mean[GLS_CLASS_CSF] - c->mean[GLS_CLASS_WM]);
    return *grey >= MIN_GREY && *grey <= MAX_GREY && *fluid <= MAX_FLUID;
}

/* Turns the error of a trial mask without three classes, which is then not taken, to GLS_OK. */
static gls_status unless_no_classes(gls_status status)
{
    return status == GLS_ERR_INPUT ? GLS_OK : status;
}

/* Moves the rim of a mask inwards or outwards until the classes have the contrast of a T1 image. A mask that no step
 * repairs stays as it is. */
static gls_status grow(const gls_anat_inputs *in, const gls_image *prior, uint8_t *set, gls_tissue_classes *c,
                       gls_anat *a)
{
    const size_t n = gls_grid_voxels(&a->grid);
    const double step = fmax(2, a->grid.voxel_size[0]);
    double grey, fluid;
    if (has_contrast(c, &grey, &fluid)) return GLS_OK;
    const double sign = grey < MIN_GREY ? -1 : 1;
    uint8_t *trial = malloc(n);
    gls_status status = trial ? GLS_OK : gls_no_memory();
    for (double mm = step; mm <= MAX_GROWTH && a->mask_grown == 0 && !status; mm += step) {
        gls_tissue_classes tried = {.rounds = 0};
        memcpy(trial, set, n);
        status = gls_brain_mask_grow(&a->grid, sign * mm, trial);
        if (!status) status = gls_tissue_classes_find(&tried, a->t1, trial, prior, NULL, &in->go_on, in->t1.name);
        if (!status && has_contrast(&tried, &grey, &fluid)) {
            const gls_tissue_classes before = *c;
            *c = tried;
            tried = before;
            memcpy(set, trial, n);
            a->mask_grown = sign * mm;
        }
        gls_tissue_classes_finish(&tried);
    }
    free(trial);
    return unless_no_classes(status);
}

/* Moves a mask that lies beside the brain. It stays if there the classes have not the contrast of a T1 image, or
 * explain the intensities worse. */
static gls_status move_to_brain(const gls_anat_inputs *in, const gls_image *prior, uint8_t *set, gls_tissue_classes *c,
                                gls_anat *a)
{
    const size_t n = gls_grid_voxels(&a->grid);
    double shift[3], grey, fluid;
    gls_status status = gls_brain_mask_find_shift(a->t1, c, set, shift);
    const double length = sqrt(shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2]);
    if (status || length == 0) return status;
    gls_tissue_classes tried = {.rounds = 0};
    uint8_t *trial = malloc(n);
    if (!trial) return gls_no_memory();
    memcpy(trial, set, n);
    status = gls_brain_mask_move(&a->grid, shift, trial);
    if (!status) status = gls_tissue_classes_find(&tried, a->t1, trial, prior, NULL, &in->go_on, in->t1.name);
    if (!status && has_contrast(&tried, &grey, &fluid) && tried.score > c->score) {
        const gls_tissue_classes before = *c;
        *c = tried;
        tried = before;
        memcpy(set, trial, n);
        a->mask_moved = length;
    }
    gls_tissue_classes_finish(&tried);
    free(trial);
    return unless_no_classes(status);
}

/* Repairs a first mask that is bad: one that holds skull or lacks fluid, then one that lies beside the brain. */
static gls_status repair(const gls_anat_inputs *in, const gls_image *prior, uint8_t *set, gls_tissue_classes *c,
                         gls_anat *a)
{
    double grey, fluid;
    const gls_status status = grow(in, prior, set, c, a);
    return status || !has_contrast(c, &grey, &fluid) ? status : move_to_brain(in, prior, set, c, a);
}

/* Takes the mask of the template as registration brought it, where the one that tissue made of it has not the figures
 * of a brain. */
static gls_status check_correction(const gls_anat_inputs *in, const gls_image *prior, const uint8_t *set, uint8_t *mask,
                                   gls_anat *a)
{
    const size_t n = gls_grid_voxels(&a->grid);
    double grey, fluid;
    a->dice_mended = gls_brain_mask_dice(set, mask, n);
    a->uncorrected = in->fixed.image && (a->dice_mended < MIN_DICE || !has_contrast(&a->classes, &grey, &fluid));
    if (!a->uncorrected) return GLS_OK;
    memcpy(mask, set, n);
    gls_tissue_classes_finish(&a->classes);
    return gls_tissue_classes_find(&a->classes, a->t1, mask, prior, NULL, &in->go_on, in->t1.name);
}

/* Makes the T1 on the grid, the mask, the classes in it, and their fractions. */
static gls_status find_brain(const gls_anat_inputs *in, const gls_image *first, gls_anat *a)
{
    const int from = in->fixed.image ? FROM_TEMPLATE : FROM_SERIES;
    gls_image *brought = NULL, *prior = NULL;
    gls_tissue_classes begin = {.rounds = 0};
    uint8_t *given = NULL, *set = NULL, *mask = NULL;
    gls_status status = make_grid(in, first, a);
    const size_t n = status ? 0 : gls_grid_voxels(&a->grid);
    if (!status) status = bring(a, first, from, GLS_RESAMPLE_LINEAR, &brought);
    if (!status) status = bring(a, in->b0.image, FROM_SERIES, GLS_RESAMPLE_LINEAR, &a->b0);
    if (!status) status = bring(a, in->t1.image, FROM_T1, GLS_RESAMPLE_LINEAR, &a->t1);
    if (!status && in->prior.image) status = bring(a, in->prior.image, FROM_TEMPLATE, GLS_RESAMPLE_LINEAR, &prior);
    if (!status) status = make_set(brought, 0.5f, &given);
    if (!status) status = make_set(brought, 0.5f, &set);
    if (!status && !(mask = malloc(n))) status = gls_no_memory();
    if (!status) status = gls_tissue_classes_find(&begin, a->t1, set, prior, NULL, &in->go_on, in->t1.name);
    if (!status) status = repair(in, prior, set, &begin, a);
    if (!status) status = gls_brain_mask_correct(a->t1, &begin, set, mask);
    if (!status) status = gls_tissue_classes_find(&a->classes, a->t1, mask, prior, &begin, &in->go_on, in->t1.name);
    if (!status) a->dice = gls_brain_mask_dice(given, mask, n);
    if (!status) status = check_correction(in, prior, set, mask, a);
    if (!status) status = gls_tissue_classes_fractions(&a->classes, a->t1, mask, &a->fractions);
    if (!status) status = gls_image_create(&a->grid, 1, &a->mask);
    if (!status) status = compare_with_series(in, mask, a);
    if (!status) {
        a->millilitre = (double)gls_morphology_count(a->grid.dim, mask) * fabs(gls_grid_determinant(&a->grid)) / 1000;
        for (size_t v = 0; v < n; v++) {
            a->mask->data[v] = mask[v];
            a->t1->data[v] /= expf(a->classes.bias[v]);
        }
    }
    gls_image_destroy(brought);
    gls_image_destroy(prior);
    gls_tissue_classes_finish(&begin);
    free(given);
    free(set);
    free(mask);
    return status;
}

/* Forgets the results of find_brain(). */
static void forget_brain(gls_anat *a)
{
    gls_image **const all[] = {&a->mask, &a->b0, &a->t1, &a->fractions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gls_image_destroy(*all[i]);
        *all[i] = NULL;
    }
    gls_tissue_classes_finish(&a->classes);
    a->mask_moved = a->mask_grown = 0;
}

/* Says why the border of white matter has not changed the map. */
static void say_why_kept(const gls_anat_inputs *in, gls_anat *a)
{
    const gls_boundary *b = &a->boundary;
    const char *t1 = in->t1.name, *b0 = in->b0.name;
    if (b->end == GLS_BOUNDARY_NO_BETTER) {
        gls_log(GLS_LOG_INFO,
                "border of white matter: the map by mutual information is kept, since no other is clearly better: the "
                "cost is below %g before, or stays above %.0f %% of that",
                GLS_BOUNDARY_MIN_COST, 100 * GLS_BOUNDARY_FALL);
        return;
    }
    a->warnings += gls_alignment_look(&a->to_series, "the border of white matter");
    if (b->end == GLS_BOUNDARY_FEW)
        gls_log(GLS_LOG_WARNING,
                "%s: too little white matter in the mask: its border has %zu points, and needs %d: the map by mutual "
                "information is taken: look at white matter and the mask on the series",
                t1, b->points, GLS_BOUNDARY_MIN_POINTS);
    else if (b->end == GLS_BOUNDARY_UNSEEN)
        gls_log(GLS_LOG_WARNING,
                "%s: the border of its white matter does not show in %s, where grey matter should be brighter (cost "
                "%.2f at %zu points): the map by mutual information is taken: look at white matter on the series",
                t1, b0, b->after, b->points);
    else
        gls_log(GLS_LOG_WARNING,
                "%s: the border of its white matter would move it by %.1f mm and %.1f degrees on %s, and less than "
                "%g mm and %g degrees is taken: the map by mutual information is taken: look at white matter on the "
                "series",
                t1, b->shift, b->turn, b0, GLS_BOUNDARY_MAX_SHIFT, GLS_BOUNDARY_MAX_TURN);
}

/* Lets the map of the T1 to the series follow the border of white matter, and makes the brain anew where it lies then.
 */
static gls_status refine(const gls_anat_inputs *in, const gls_image *first, gls_anat *a)
{
    const size_t n = gls_grid_voxels(&a->grid);
    gls_boundary *b = &a->boundary;
    gls_status status = gls_boundary_refine(a->fractions->data + GLS_CLASS_WM * n, a->mask, in->b0.image,
                                            a->to_series.found.map, &in->go_on, b);
    if (status) return status;
    if (b->end != GLS_BOUNDARY_FEW)
        gls_log(GLS_LOG_INFO, "border of white matter: cost %.4f, before %.4f, at %zu points; %.2f mm and %.2f degrees",
                b->after, b->before, b->points, b->shift, b->turn);
    if (b->end == GLS_BOUNDARY_TAKEN) {
        forget_brain(a);
        return find_brain(in, first, a);
    }
    say_why_kept(in, a);
    return GLS_OK;
}

static void warn_of_brain(const gls_anat_inputs *in, gls_anat *a)
{
    const char *t1 = in->t1.name, *of = in->fixed.image ? "the template" : "the series";
    const char *option = in->fixed.image ? "--template-mask" : "--dwi-mask";
    double grey, fluid;
    if (a->mask_moved > 0 && ++a->warnings)
        gls_log(GLS_LOG_WARNING,
                "%s: the brain mask of %s lay %.0f mm beside the brain, and was moved: look at the mask on the T1, and "
                "give another %s",
                t1, of, a->mask_moved, option);
    if (a->mask_grown != 0 && ++a->warnings)
        gls_log(GLS_LOG_WARNING,
                "%s: the brain mask of %s %s, and its rim was moved by %.0f mm: look at the mask on the T1, and give "
                "another %s",
                t1, of, a->mask_grown < 0 ? "held skull" : "lacked fluid", fabs(a->mask_grown), option);
    if ((a->millilitre < MIN_ML || a->millilitre > MAX_ML) && ++a->warnings)
        gls_log(GLS_LOG_WARNING, "%s: its brain mask has %.0f ml: look at the mask on the T1", t1, a->millilitre);
    if (a->uncorrected && ++a->warnings)
        gls_log(
            GLS_LOG_WARNING,
            "%s: the brain mask that tissue makes of that of the template is not that of a brain (Dice of both %.2f): "
            "that of the template is taken: look at it on the T1",
            t1, a->dice_mended);
    else if (a->dice_mended < MIN_DICE && ++a->warnings)
        gls_log(GLS_LOG_WARNING,
                "%s: tissue moved the brain mask far from that of the series (Dice %.2f): look at the mask on the T1",
                t1, a->dice_mended);
    if (a->dice_series < MIN_DICE_SERIES && ++a->warnings)
        gls_log(GLS_LOG_WARNING,
                "%s: its brain mask and that of the series differ (Dice %.2f): one of them is wrong, or the T1 does "
                "not lie on the series: look at both",
                t1, a->dice_series);
    else if (a->series_apart > MAX_APART && a->mask_moved == 0 && ++a->warnings)
        gls_log(
            GLS_LOG_WARNING,
            "%s: the centres of its brain mask and that of the series lie %.0f mm apart: look at both, and give the "
            "series a mask that lies on it (--dwi-mask, --mask), such as the one that is written here",
            t1, a->series_apart);
    if (!has_contrast(&a->classes, &grey, &fluid) && ++a->warnings)
        gls_log(GLS_LOG_WARNING,
                "%s: its tissue is probably wrong: what was found as grey matter has %.2f of the intensity of white "
                "matter, as fluid %.2f: is it a T1 image, or is the brain mask too %s? Give another %s",
                t1, grey, fluid, grey < MIN_GREY ? "large" : "small", option);
}

/* --- Tissue and labels. */

gls_status gls_anat_labels_mark(const gls_anat_inputs *in, const gls_anat_numbers *numbers, gls_image **marked)
{
    const gls_image *labels = in->labels.image;
    const gls_status status = gls_image_create(&labels->grid, 1, marked);
    for (size_t v = 0; !status && v < gls_grid_voxels(&labels->grid); v++)
        (*marked)->data[v] =
            labels->data[v] > 0 &&
            gls_labels_index(numbers->label, numbers->n, in->known.label[(size_t)labels->data[v] - 1]) < numbers->n;
    return status;
}

/* Makes an image on the grid of the share of each voxel that some labels take; leaves it NULL if there are none. */
static gls_status bring_share(const gls_anat_inputs *in, const gls_anat *a, const gls_anat_numbers *numbers,
                              gls_image **share)
{
    gls_image *marked = NULL;
    if (!in->labels.image || numbers->n == 0) return GLS_OK;
    gls_status status = gls_anat_labels_mark(in, numbers, &marked);
    if (!status) status = bring(a, marked, FROM_TEMPLATE, GLS_RESAMPLE_LINEAR, share);
    gls_image_destroy(marked);
    return status;
}

/* Makes the labels on the grid. */
static gls_status bring_labels(const gls_anat_inputs *in, gls_anat *a)
{
    gls_image *places = NULL;
    gls_status status = bring(a, in->labels.image, FROM_TEMPLATE, GLS_RESAMPLE_LABEL, &places);
    if (!status) status = gls_labels_create(&a->grid, &a->labels);
    for (size_t v = 0; !status && v < gls_grid_voxels(&a->grid); v++)
        a->labels->data[v] = places->data[v] > 0 ? in->known.label[(size_t)places->data[v] - 1] : 0;
    gls_image_destroy(places);
    return status;
}

static gls_status make_tissue(const gls_anat_inputs *in, gls_anat *a)
{
    gls_image *deep = NULL, *stem = NULL, *lesion = NULL, *marked = NULL;
    uint8_t *mask = NULL;
    gls_status status = make_set(a->mask, 0, &mask);
    if (!status) status = bring_share(in, a, &in->deep, &deep);
    if (!status) status = bring_share(in, a, &in->stem, &stem);
    if (!status && in->lesion.image) status = gls_image_create(&in->lesion.image->grid, 1, &marked);
    for (size_t v = 0; !status && marked && v < gls_grid_voxels(&marked->grid); v++)
        marked->data[v] = in->lesion.image->data[v] > 0;
    if (!status && marked) status = bring(a, marked, FROM_T1, GLS_RESAMPLE_LINEAR, &lesion);
    if (!status) status = gls_five_tissues_make(a->fractions, mask, deep, stem, lesion, &a->five);
    if (!status && in->labels.image) status = bring_labels(in, a);
    gls_image *const all[] = {deep, stem, lesion, marked};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) gls_image_destroy(all[i]);
    free(mask);
    return status;
}

gls_status gls_anat_make(const gls_anat_inputs *in, gls_anat *a)
{
    gls_image *first = NULL;
    *a = (gls_anat){.cut = in->fixed.image && gls_image_is_brain_alone(in->fixed.image, 0, in->fixed_mask.image),
                    .refined = in->boundary};
    gls_status status = first_mask(in, a, &first);
    if (!status) status = register_all(in, a);
    if (!status) status = find_brain(in, first, a);
    if (!status && in->boundary) status = refine(in, first, a);
    gls_image_destroy(first);
    if (!status) warn_of_brain(in, a);
    if (!status) status = make_tissue(in, a);
    if (status) gls_anat_finish(a);
    return status;
}

/* --- The sidecar. */

/* Adds what the border of white matter did to the map that `series` describes. */
static void describe_boundary(const gls_boundary *b, cJSON *series)
{
    static const char *const ends[] = {
        [GLS_BOUNDARY_TAKEN] = "the map follows the border",
        [GLS_BOUNDARY_NO_BETTER] = "the map by mutual information is kept: the cost shows no better one",
        [GLS_BOUNDARY_FEW] = "the map by mutual information is kept: there is too little white matter",
        [GLS_BOUNDARY_UNSEEN] = "the map by mutual information is kept: the border does not show in the series",
        [GLS_BOUNDARY_FAR] = "the map by mutual information is kept: the border lies too far away"};
    cJSON *object = cJSON_AddObjectToObject(series, "boundary");
    gls_json_uint(object, "points", b->points);
    if (b->end != GLS_BOUNDARY_FEW) {
        gls_json_double(object, "cost_before", b->before);
        gls_json_double(object, "cost_after", b->after);
        gls_json_double(object, "shift_mm", b->shift);
        gls_json_double(object, "turn_degrees", b->turn);
    }
    cJSON_AddBoolToObject(object, "taken", b->end == GLS_BOUNDARY_TAKEN);
    cJSON_AddStringToObject(object, "result", ends[b->end]);
    if (b->end == GLS_BOUNDARY_TAKEN)
        cJSON_AddStringToObject(cJSON_GetObjectItem(series, "linear"), "measured",
                                "of the map by mutual information, before it followed the border of white matter");
}

void gls_anat_describe(const gls_anat *a, cJSON *root)
{
    static const char *const names[GLS_CLASSES] = {"CSF", "GM", "WM"};
    const size_t n = gls_grid_voxels(&a->grid);
    const double ml = fabs(gls_grid_determinant(&a->grid)) / 1000;
    cJSON_AddStringToObject(root, "verdict",
                            a->warnings == 0 ? GLS_ALIGNED : "look at the warnings before you use the images");
    cJSON *series = cJSON_AddObjectToObject(root, "t1_to_series");
    gls_alignment_describe(&a->to_series, series);
    if (a->refined) describe_boundary(&a->boundary, series);
    if (a->to_template.moving.name) {
        cJSON *object = cJSON_AddObjectToObject(root, "t1_to_template");
        cJSON_AddBoolToObject(object, "t1_cut_to_brain", a->cut);
        gls_alignment_describe(&a->to_template, object);
    }
    cJSON *brain = cJSON_AddObjectToObject(root, "brain");
    gls_json_double(brain, "volume_ml", a->millilitre);
    gls_json_double(brain, "dice_with_first_mask", a->dice);
    cJSON_AddBoolToObject(brain, "rim_follows_tissue", !a->uncorrected);
    gls_json_double(brain, "first_mask_moved_mm", a->mask_moved);
    gls_json_double(brain, "first_mask_grown_mm", a->mask_grown);
    if (isfinite(a->dice_series)) gls_json_double(brain, "dice_with_series_mask", a->dice_series);
    if (isfinite(a->series_apart)) gls_json_double(brain, "centres_apart_mm", a->series_apart);
    gls_json_double(brain, "voxel_mm", a->grid.voxel_size[0]);
    cJSON *tissue = cJSON_AddObjectToObject(root, "tissue");
    gls_json_uint(tissue, "rounds", a->classes.rounds);
    for (size_t k = 0; k < GLS_CLASSES; k++) {
        cJSON *class = cJSON_AddObjectToObject(tissue, names[k]);
        double sum = 0;
        for (size_t v = 0; v < n; v++) sum += (double)a->fractions->data[k * n + v];
        gls_json_double(class, "volume_ml", sum * ml);
        gls_json_double(class, "intensity", exp(a->classes.mean[k]));
        gls_json_double(class, "log_intensity_sd", a->classes.sd[k]);
    }
}
