/* Writes an anatomy: images in the space of the series and transforms, by the names of BIDS. */
#include "anat/anat_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/image_write.h"
#include "image/label_table.h"
#include "image/labels.h"
#include "transform/transform_write.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define FIELD_VOXEL 2.0 /* mm, of the field that brings the template to the T1 */

/* --- Names. */

/* Value of a key in a name such as sub-01_ses-2_T1w.nii.gz: its letters and digits. *n: their number; 0: the name does
 * not have the key. */
static const char *value_of(const char *name, const char *key, size_t *n)
{
    for (const char *at = name; (at = strstr(at, key)); at++) {
        const char *value = at + strlen(key);
        *n = 0;
        while (gls_is_alnum((unsigned char)value[*n])) (*n)++;
        if ((at == name || at[-1] == '_') && *n > 0) return value;
    }
    *n = 0;
    return NULL;
}

/* Letters and digits of the name of a file, without its suffix. */
static char *plain_name(const char *path)
{
    const char *name = gls_file_name(path);
    const size_t stem = gls_image_stem(name);
    char *plain = malloc(stem + 1);
    size_t n = 0;
    for (size_t i = 0; plain && i < stem; i++)
        if (gls_is_alnum((unsigned char)name[i])) plain[n++] = name[i];
    if (plain) plain[n] = '\0';
    return plain;
}

/* Value of a key in a file's name, else `other`, else the plain name. From malloc. */
static char *name_part(const char *path, const char *key, const char *other)
{
    size_t n;
    const char *value = value_of(gls_file_name(path), key, &n);
    if (other) return strdup(other);
    return value ? strndup(value, n) : plain_name(path);
}

/* "sub-X_" or "sub-X_ses-Y_", as the name of the T1 says; else "". From malloc. */
static char *subject_of(const char *t1)
{
    const char *name = gls_file_name(t1);
    size_t n, n_session;
    const char *subject = value_of(name, "sub-", &n), *session = value_of(name, "ses-", &n_session);
    char *text = NULL;
    if (!subject) return strdup("");
    if (gls_asprintf(&text, "sub-%.*s_%s%.*s%s", (int)n, subject, session ? "ses-" : "", session ? (int)n_session : 0,
                     session ? session : "", session ? "_" : "") < 0)
        return NULL;
    return text;
}

/* Parts of the name of each file: before and after the space of the series, of the template, or of the series and then
 * the name of the labels. */
typedef enum name_part_of { OF_SERIES, OF_TEMPLATE, OF_LABELS } name_part_of;
static const struct {
    const char *before, *after;
    name_part_of of;
} forms[GLS_ANAT_N_FILES] = {
    [GLS_ANAT_MASK] = {"space-", "_desc-brain_mask.nii.gz", OF_SERIES},
    [GLS_ANAT_B0] = {"space-", "_dwiref.nii.gz", OF_SERIES},
    [GLS_ANAT_T1] = {"space-", "_desc-preproc_T1w.nii.gz", OF_SERIES},
    [GLS_ANAT_GM] = {"space-", "_label-GM_probseg.nii.gz", OF_SERIES},
    [GLS_ANAT_WM] = {"space-", "_label-WM_probseg.nii.gz", OF_SERIES},
    [GLS_ANAT_CSF] = {"space-", "_label-CSF_probseg.nii.gz", OF_SERIES},
    [GLS_ANAT_FIVE] = {"space-", GLS_ANAT_FIVE_END, OF_SERIES},
    [GLS_ANAT_TO_SERIES] = {"from-T1w_to-", "_mode-image_xfm.txt", OF_SERIES},
    [GLS_ANAT_FROM_SERIES] = {"from-", "_to-T1w_mode-image_xfm.txt", OF_SERIES},
    [GLS_ANAT_TO_TEMPLATE] = {"from-T1w_to-", "_mode-image_xfm.nii.gz", OF_TEMPLATE},
    [GLS_ANAT_FROM_TEMPLATE] = {"from-", "_to-T1w_mode-image_xfm.nii.gz", OF_TEMPLATE},
    [GLS_ANAT_LABELS] = {"space-", "_dseg.nii.gz", OF_LABELS},
    [GLS_ANAT_LABEL_NAMES] = {"space-", "_dseg.tsv", OF_LABELS},
};

gls_status gls_anat_names_init(gls_anat_names *names, const gls_anat_sources *s, const char *folder,
                               const char *subject, const char *series, const char *template_name)
{
    char *own = subject ? strdup(subject) : subject_of(s->t1), *labels = NULL, *rest = NULL;
    char *space = s->fixed ? name_part(s->fixed, "tpl-", template_name) : NULL;
    if (s->labels && (labels = strdup(s->labels))) rest = labels;
    char *atlas = rest ? name_part(gls_names_next(&rest, ','), "atlas-", NULL) : NULL;
    bool failed = !own || (s->fixed && !space) || (s->labels && !atlas);
    *names = (gls_anat_names){.sidecar = NULL};
    for (int k = 0; k < GLS_ANAT_N_FILES && !failed; k++) {
        const bool of_labels = forms[k].of == OF_LABELS;
        if ((forms[k].of == OF_TEMPLATE && !space) || (of_labels && !atlas) || (k == GLS_ANAT_LABEL_NAMES && !rest))
            continue;
        failed = gls_asprintf(&names->path[k], "%s/%s%s%s%s%s%s", folder, own, forms[k].before,
                              forms[k].of == OF_TEMPLATE ? space : series, of_labels ? "_seg-" : "",
                              of_labels ? atlas : "", forms[k].after) < 0;
    }
    if (!failed) failed = gls_asprintf(&names->sidecar, "%s/%sspace-%s_desc-5tt_probseg.json", folder, own, series) < 0;
    free(own);
    free(labels);
    free(space);
    free(atlas);
    return failed ? gls_no_memory() : GLS_OK;
}

void gls_anat_names_finish(gls_anat_names *names)
{
    for (int k = 0; k < GLS_ANAT_N_FILES; k++) free(names->path[k]);
    free(names->sidecar);
    *names = (gls_anat_names){.sidecar = NULL};
}

/* --- Files. */

/* Writes a field of a chain: on `grid`, or on cubes of FIELD_VOXEL that cover it if it is finer. */
static gls_status write_field(const char *path, bool force, gls_output_group *group, const gls_transform *t,
                              const gls_grid *grid)
{
    gls_grid coarse;
    gls_image *field = NULL;
    double affine[3][4];
    int32_t dim[3];
    memcpy(affine, grid->affine, sizeof affine);
    for (int a = 0; a < 3; a++) {
        const double ratio = fmax(1, FIELD_VOXEL / grid->voxel_size[a]);
        dim[a] = (int32_t)ceil((grid->dim[a] - 1) / ratio) + 1;
        for (int r = 0; r < 3; r++) affine[r][a] *= ratio;
    }
    gls_status status = gls_grid_init(&coarse, dim, (const double(*)[4])affine);
    if (!status) status = gls_image_create(&coarse, 3, &field);
    if (!status) gls_transform_sample(t, false, field);
    if (!status) status = gls_transform_write_field(path, force, group, field, false);
    gls_image_destroy(field);
    return status;
}

static gls_status write_transforms(const gls_anat *a, const gls_anat_names *names, bool force, gls_output_group *group)
{
    gls_transform_step step[2];
    double back[3][4];
    gls_affine_invert((const double(*)[4])a->to_series.found.map, back);
    gls_status status = gls_transform_write_matrix(names->path[GLS_ANAT_TO_SERIES], force, group,
                                                   (const double(*)[4])a->to_series.found.map);
    if (!status)
        status = gls_transform_write_matrix(names->path[GLS_ANAT_FROM_SERIES], force, group, (const double(*)[4])back);
    if (status || !names->path[GLS_ANAT_TO_TEMPLATE]) return status;
    gls_transform t = gls_alignment_transform(&a->to_template, false, step);
    status = write_field(names->path[GLS_ANAT_TO_TEMPLATE], force, group, &t, &a->to_template.flow.grid);
    t = gls_alignment_transform(&a->to_template, true, step);
    t.identity_outside = true; /* the affine map alone, outside of the template */
    if (!status)
        status = write_field(names->path[GLS_ANAT_FROM_TEMPLATE], force, group, &t, &a->to_template.moving.image->grid);
    return status;
}

/* Writes the labels as whole numbers, and those that occur with their names. */
static gls_status write_labels(const gls_anat *a, const gls_anat_sources *s, const gls_anat_names *names, bool force,
                               gls_output_group *group)
{
    int32_t *label = NULL;
    size_t n_labels = 0;
    gls_status status = gls_image_write_values(names->path[GLS_ANAT_LABELS], force, group, &a->grid, "labels", 1,
                                               GLS_TYPE_INT32, a->labels->data);
    if (!status && names->path[GLS_ANAT_LABEL_NAMES]) {
        gls_label_table table = {.n = 0};
        gls_text text = {0};
        char *copy = strdup(s->labels), *rest = copy;
        if (copy) gls_names_next(&rest, ',');
        status = copy ? gls_label_table_read(&table, gls_names_next(&rest, ',')) : gls_no_memory();
        if (!status) status = gls_labels_distinct(a->labels, names->path[GLS_ANAT_LABELS], &label, &n_labels);
        gls_text_printf(&text, "index\tname\n");
        for (size_t i = 0; i < n_labels && !status; i++) {
            const char *name = gls_label_table_name(&table, label[i]);
            gls_text_printf(&text, "%" PRId32 "\t", label[i]);
            gls_field_append(&text, name ? name : "n/a", '\t');
            gls_text_printf(&text, "\n");
        }
        status = gls_text_write(&text, names->path[GLS_ANAT_LABEL_NAMES], force, group, status);
        gls_label_table_finish(&table);
        free(copy);
    }
    free(label);
    return status;
}

gls_status gls_anat_write(const gls_anat *a, const gls_anat_sources *s, const gls_anat_names *names, bool force,
                          gls_output_group *group)
{
    static const gls_anat_file fraction[GLS_CLASSES] = {
        [GLS_CLASS_CSF] = GLS_ANAT_CSF, [GLS_CLASS_GM] = GLS_ANAT_GM, [GLS_CLASS_WM] = GLS_ANAT_WM};
    const size_t n = gls_grid_voxels(&a->grid);
    gls_status status = gls_image_write_grouped(names->path[GLS_ANAT_MASK], force, group, a->mask, GLS_IMAGE_UINT8);
    if (!status) status = gls_image_write_grouped(names->path[GLS_ANAT_B0], force, group, a->b0, GLS_IMAGE_FLOAT32);
    if (!status) status = gls_image_write_grouped(names->path[GLS_ANAT_T1], force, group, a->t1, GLS_IMAGE_FLOAT32);
    for (size_t k = 0; k < GLS_CLASSES && !status; k++)
        status = gls_image_write_values(names->path[fraction[k]], force, group, &a->grid, NULL, 1, GLS_TYPE_FLOAT32,
                                        a->fractions->data + k * n);
    if (!status) status = gls_image_write_grouped(names->path[GLS_ANAT_FIVE], force, group, a->five, GLS_IMAGE_FLOAT32);
    if (!status) status = write_transforms(a, names, force, group);
    return !status && a->labels ? write_labels(a, s, names, force, group) : status;
}
