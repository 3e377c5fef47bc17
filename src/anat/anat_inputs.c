/* Reads the images of an anatomy: T1, series, template, priors, labels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anat/anat_files.h"
#include "dwi/series.h"
#include "image/label_table.h"
#include "image/labels.h"
#include "image/reorient.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Splits a list of names, separated by commas, into copies. Returns their number; 0 if there are more than `most`. */
static size_t split(const char *text, char *name[], size_t most)
{
    char *copy = strdup(text), *rest = copy;
    size_t n = 0;
    for (const char *next; copy && (next = gls_names_next(&rest, ','));) {
        if (n < most) name[n] = strdup(next);
        n++;
    }
    free(copy);
    for (size_t i = 0; i < n && i < most && n > most; i++) free(name[i]);
    return n > most ? 0 : n;
}

static void forget(char *name[], size_t n)
{
    for (size_t i = 0; i < n; i++) free(name[i]);
}

gls_status gls_anat_sources_list(const gls_anat_sources *s, char *path[GLS_ANAT_MAX_FILES], size_t *n)
{
    const char *const one[] = {s->t1,
                               s->dwi,
                               s->bval ? gls_table_path(s->bval) : NULL,
                               s->bvec ? gls_table_path(s->bvec) : NULL,
                               s->dwi_mask,
                               s->fixed,
                               s->fixed_mask,
                               s->lesion};
    *n = 0;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (one[i] && !(path[(*n)++] = strdup(one[i]))) return gls_no_memory();
    if (s->prior) {
        const size_t found = split(s->prior, path + *n, 3);
        *n += found;
        if (found != 3)
            return gls_fail(GLS_ERR_ARGUMENT, "--template-tissue %s: needs WM,GM,CSF, three images", s->prior);
    }
    if (s->labels) {
        const size_t found = split(s->labels, path + *n, 2);
        *n += found;
        if (found == 0) return gls_fail(GLS_ERR_ARGUMENT, "%s: needs LABELS or LABELS,NAMES", s->labels);
    }
    return GLS_OK;
}

/* Reads an image of one volume. */
static gls_status read_one(const char *path, gls_anat_image *to)
{
    to->name = path;
    return path ? gls_image_read(path, GLS_IMAGE_3D, &to->image) : GLS_OK;
}

/* Reads a mask on the grid of an image. */
static gls_status read_mask(const gls_anat_image *of, const char *path, gls_anat_image *to)
{
    to->name = path;
    return path ? gls_image_read_mask(&of->image->grid, of->name, path, &to->image) : GLS_OK;
}

/* Reads a mask of the brain, which has a voxel; a mask of lesions needs none. */
static gls_status read_brain(const gls_anat_image *of, const char *path, gls_anat_image *to)
{
    uint64_t voxels;
    const gls_status status = read_mask(of, path, to);
    return status || !path ? status : gls_image_count_voxels(to->image, path, "mask", &voxels);
}

/* The mean of the volumes of a series that are not diffusion-weighted. */
static gls_status take_mean(const gls_series *s, gls_image **mean)
{
    const size_t voxels = gls_grid_voxels(&s->dwi->grid);
    if (s->gradients->n_b0 == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: has no volume without diffusion weighting: give --dwi such an image",
                        s->name);
    gls_status status = gls_image_create(&s->dwi->grid, 1, mean);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < voxels; v++) {
        double sum = 0;
        for (size_t t = 0; t < s->gradients->n; t++)
            if (s->gradients->is_b0[t]) sum += (double)s->dwi->data[t * voxels + v];
        (*mean)->data[v] = (float)(sum / (double)s->gradients->n_b0);
    }
    return GLS_OK;
}

/* Reads the series, or an image without diffusion weighting, and the mask of the brain. */
static gls_status read_dwi(const gls_anat_sources *s, gls_anat_inputs *in)
{
    gls_series series = {.name = s->dwi};
    gls_image *image = NULL;
    gls_gradients_options table = gls_gradients_options_default();
    in->b0.name = s->dwi;
    gls_status status = gls_image_read(s->dwi, GLS_IMAGE_ANY, &image);
    if (status) return status;
    if (image->n_volumes == 1) {
        in->b0.image = image;
        if (s->bval)
            return gls_fail(GLS_ERR_ARGUMENT, "--bval and --bvec: %s has one volume, and needs none: leave them out",
                            s->dwi);
        return read_brain(&in->b0, s->dwi_mask, &in->brain);
    }
    series.dwi = image;
    table.without_b0 = true; /* so that the message below names the remedy */
    char *bval = NULL, *bvec = NULL;
    if (!s->bval)
        status = gls_series_find_table(s->dwi, "give --bval and --bvec, or --dwi an image of one volume", &bval, &bvec);
    if (!status) status = gls_series_read_table(&series, s->bval ? s->bval : bval, s->bval ? s->bvec : bvec, &table);
    if (!status) status = take_mean(&series, &in->b0.image);
    if (!status && s->dwi_mask) status = read_brain(&in->b0, s->dwi_mask, &in->brain);
    if (!status && !s->dwi_mask) {
        in->brain.name = s->dwi;
        status = gls_series_make_mask(&series, &in->brain.image);
    }
    free(bval);
    free(bvec);
    gls_series_finish(&series);
    return status;
}

/* Reads the probabilities of white matter, grey matter and CSF into one image, in the order of the classes. */
static gls_status read_prior(const gls_anat_sources *s, gls_anat_image *to)
{
    char *name[3];
    const size_t n = split(s->prior, name, 3), place[3] = {GLS_CLASS_WM, GLS_CLASS_GM, GLS_CLASS_CSF};
    gls_image *one = NULL;
    gls_status status = GLS_OK;
    to->name = s->prior;
    for (size_t i = 0; i < n && !status; i++) {
        status = i == 0 ? gls_image_read(name[0], GLS_IMAGE_3D, &one)
                        : gls_image_read_on_grid(&to->image->grid, name[0], name[i], &one);
        if (!status && i == 0) status = gls_image_create(&one->grid, GLS_CLASSES, &to->image);
        for (size_t v = 0; !status && v < gls_grid_voxels(&one->grid); v++) {
            if (!(one->data[v] >= 0 && one->data[v] <= 1.001f))
                status = gls_fail(GLS_ERR_INPUT,
                                  "%s: has a value of %g, but --template-tissue needs probabilities from 0 to 1",
                                  name[i], (double)one->data[v]);
            else
                to->image->data[place[i] * gls_grid_voxels(&one->grid) + v] = one->data[v];
        }
        gls_image_destroy(one);
        one = NULL;
    }
    forget(name, n);
    return status;
}

/* --- Labels. */

static gls_status add_number(gls_anat_numbers *numbers, int32_t label)
{
    int32_t *list = realloc(numbers->label, (numbers->n + 1) * sizeof *list);
    if (!list) return gls_no_memory();
    numbers->label = list;
    size_t at = numbers->n++;
    for (; at > 0 && list[at - 1] > label; at--) list[at] = list[at - 1];
    list[at] = label;
    return GLS_OK;
}

/* Whether a name contains one of these words. */
static bool has_word(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gls_case_find(name, word[i])) return true;
    return false;
}
#define HAS(name, words) has_word(name, words, sizeof words / sizeof *words)

/* Whether a region of this name is deep grey matter. */
static bool is_deep(const char *name, bool hippocampus)
{
    static const char *const words[] = {"thalam", "caudate", "putamen", "pallid", "accumb"},
                             *const others[] = {"hypothalam", "subthalam", "epithalam"},
                             *const more[] = {"hippocamp", "amygdal"}, *const not_more[] = {"parahippocamp"};
    return (HAS(name, words) && !HAS(name, others)) || (hippocampus && HAS(name, more) && !HAS(name, not_more));
}

static bool is_stem(const char *name)
{
    static const char *const words[] = {"brain-stem", "brain stem", "brain_stem", "brainstem"};
    return HAS(name, words);
}

/* Adds the labels of deep grey matter and brain stem by their names. */
static gls_status take_names(const gls_label_table *table, bool deep, bool hippocampus, gls_anat_inputs *in)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < table->n && !status; i++) {
        if (deep && is_deep(table->entry[i].name, hippocampus)) status = add_number(&in->deep, table->entry[i].label);
        if (!status && is_stem(table->entry[i].name)) status = add_number(&in->stem, table->entry[i].label);
    }
    return status;
}

/* Adds FreeSurfer's numbers if the labels are FreeSurfer's. */
static gls_status take_freesurfer(const int32_t *label, size_t n, bool hippocampus, gls_anat_inputs *in)
{
    static const int32_t deep[] = {10, 11, 12, 13, 26, 49, 50, 51, 52, 58}, more[] = {17, 18, 53, 54}, stem = 16,
                         needed[] = {10, 11, 12, 13, 49, 50, 51, 52};
    bool is = n > 0 && label[n - 1] >= 1000;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) is = is && gls_labels_index(label, n, needed[i]) < n;
    if (!is) return GLS_OK;
    for (size_t i = 0; i < sizeof deep / sizeof *deep && !status; i++) status = add_number(&in->deep, deep[i]);
    for (size_t i = 0; hippocampus && i < sizeof more / sizeof *more && !status; i++)
        status = add_number(&in->deep, more[i]);
    gls_log(GLS_LOG_INFO, "%s: its labels are FreeSurfer's: deep grey matter and brain stem are found by number",
            in->labels.name);
    return status ? status : add_number(&in->stem, stem);
}

/* Finds out which labels are deep grey matter and brain stem. names: NULL: no table. */
static gls_status take_deep(const gls_anat_sources *s, const gls_labels *labels, const char *names, gls_anat_inputs *in)
{
    gls_label_table table;
    gls_status status = gls_label_table_read(&table, names);
    if (!status) status = gls_labels_distinct(labels, in->labels.name, &in->known.label, &in->known.n);
    if (!status && in->known.n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: has no label above 0", in->labels.name);
    const int32_t *label = in->known.label;
    const size_t n = in->known.n;
    for (size_t i = 0; i < s->n_deep && !status; i++) {
        status = add_number(&in->deep, (int32_t)s->deep[i]);
        if (!status && gls_labels_index(label, n, (int32_t)s->deep[i]) == n)
            status = gls_fail(GLS_ERR_INPUT, "--deep-labels: %s has no label %g", in->labels.name, s->deep[i]);
    }
    if (!status && names) status = take_names(&table, s->n_deep == 0, s->hippocampus, in);
    if (!status && !names && s->n_deep == 0) status = take_freesurfer(label, n, s->hippocampus, in);
    if (!status && in->deep.n == 0)
        gls_log(GLS_LOG_WARNING,
                "%s: no label is known as deep grey matter, which then counts as cortex or white matter: give the "
                "names, LABELS,NAMES, or --deep-labels",
                in->labels.name);
    gls_label_table_finish(&table);
    return status;
}

gls_status gls_anat_labels_read(const gls_anat_sources *s, gls_anat_inputs *in)
{
    char *name[2] = {NULL};
    const size_t n = split(s->labels, name, 2);
    gls_labels *labels = NULL;
    in->labels.name = s->labels;
    gls_status status = n == 0 ? gls_no_memory() : gls_labels_read(name[0], &labels);
    if (!status) status = take_deep(s, labels, n > 1 ? name[1] : NULL, in);
    if (!status) status = gls_image_create(&labels->grid, 1, &in->labels.image);
    for (size_t v = 0; !status && v < gls_grid_voxels(&labels->grid); v++)
        if (labels->data[v] > 0)
            in->labels.image->data[v] = (float)(1 + gls_labels_index(in->known.label, in->known.n, labels->data[v]));
    gls_labels_destroy(labels);
    forget(name, n);
    return status;
}

gls_status gls_anat_inputs_read(const gls_anat_sources *s, gls_anat_inputs *in)
{
    if (!s->fixed && (s->fixed_mask || s->prior || s->labels))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: is of a template's space: give --template, too",
                        s->labels  ? s->labels
                        : s->prior ? s->prior
                                   : s->fixed_mask);
    in->boundary = s->boundary;
    gls_status status = read_one(s->t1, &in->t1);
    if (!status) status = read_mask(&in->t1, s->lesion, &in->lesion);
    if (!status) status = read_dwi(s, in);
    if (!status) status = read_one(s->fixed, &in->fixed);
    if (!status && s->fixed) status = read_brain(&in->fixed, s->fixed_mask, &in->fixed_mask);
    if (!status && s->prior) status = read_prior(s, &in->prior);
    if (!status && s->labels) status = gls_anat_labels_read(s, in);
    return status;
}
