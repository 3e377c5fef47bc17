/* Chooses and names the rows of connectomes. */
#include "tracts/matrix_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/log.h>

#include "image/nifti_read.h"
#include "tracts/region_shares.h"
#include "transform/bring.h"
#include "util/status.h"
#include "util/text.h"

gls_status gls_matrix_rows_read(gls_matrix_rows *rows, gls_connectome_rows labels, const char *lut)
{
    *rows = (gls_matrix_rows){.labels = labels, .lut = lut};
    if (labels == GLS_LABELS_LUT && !lut) return gls_fail(GLS_ERR_ARGUMENT, "--labels lut: needs --lut FILE");
    gls_status status = gls_label_table_read(&rows->table, lut);
    if (status) return status;
    rows->listed = malloc((rows->table.n + 1) * sizeof *rows->listed);
    if (!rows->listed) return gls_no_memory();
    for (size_t i = 0; i < rows->table.n; i++) rows->listed[i] = rows->table.entry[i].label;
    return GLS_OK;
}

gls_status gls_matrix_rows_connect(const gls_matrix_rows *rows, const char *path, const gls_transform *transform,
                                   const gls_connectome_options *options, gls_connectome **connectome)
{
    const bool max = rows->labels == GLS_LABELS_MAX;
    gls_connectome_options o = *options;
    gls_labels *labels = NULL;
    gls_image *image = NULL;
    gls_status status = GLS_OK;
    o.raw_labels = rows->labels == GLS_LABELS_RAW;
    o.rows = rows->listed;
    o.n_rows = rows->labels == GLS_LABELS_LUT ? rows->table.n : 0;
    if (max || rows->labels == GLS_LABELS_SOFT) {
        status = gls_image_read(path, GLS_IMAGE_4D, &image);
        if (!status) status = gls_image_bring(&image, transform, GLS_RESAMPLE_LINEAR, 0, path);
    } else {
        status = gls_image_read_header(path, GLS_IMAGE_ANY, &image);
        if (!status && image->n_volumes > 1)
            status =
                gls_fail(GLS_ERR_INPUT,
                         "%s: is a 4D series of %zu volumes, but labels are one volume: --labels soft takes them as "
                         "probabilities of regions, --labels max the largest of them",
                         path, image->n_volumes);
        if (!status) status = gls_labels_read(path, &labels);
        if (!status) status = gls_labels_bring(&labels, transform, path);
    }
    /* each volume has a row, also one that is nowhere the largest */
    int32_t *volume = !status && max ? malloc(image->n_volumes * sizeof *volume) : NULL;
    if (!status && max && !volume) status = gls_no_memory();
    for (size_t k = 0; volume && k < image->n_volumes; k++) volume[k] = (int32_t)k + 1;
    if (volume) o.rows = volume, o.n_rows = image->n_volumes;
    if (!status && max) status = gls_labels_of_largest(image, path, &labels);
    if (!status)
        status = rows->labels == GLS_LABELS_SOFT ? gls_connectome_create_soft(image, path, &o, connectome)
                                                 : gls_connectome_create(labels, path, &o, connectome);
    free(volume);
    gls_labels_destroy(labels);
    gls_image_destroy(image);
    return status;
}

/* Copies a name with _ for each blank, comma, quote and control character. name NULL: uses the label. From malloc. */
static char *clean_name(const char *name, int32_t label)
{
    char number[16];
    snprintf(number, sizeof number, "%d", label);
    char *copy = gls_text_copy(name ? name : number);
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr(",\"", *at)) *at = '_';
    return copy;
}

/* Comparison for qsort(): pointers to names. */
static int by_name(const void *a, const void *b)
{
    return strcmp(**(char **const *)a, **(char **const *)b);
}

/* Puts the labels behind names that stand twice. first: index of the first row with a label. */
static gls_status make_unique(gls_matrix_rows *rows, size_t first, const int32_t *label)
{
    const size_t n = rows->n - first;
    char ***sorted = malloc((n + 1) * sizeof *sorted);
    char *twice = NULL;
    size_t names = 0;
    if (!sorted) return gls_no_memory();
    for (size_t i = 0; i < n; i++) sorted[i] = &rows->name[first + i];
    qsort(sorted, n, sizeof *sorted, by_name);
    gls_status status = GLS_OK;
    for (size_t i = 0, end; i < n && !status; i = end) {
        for (end = i + 1; end < n && strcmp(*sorted[i], *sorted[end]) == 0;) end++;
        if (end == i + 1) continue;
        if (names++ == 0) twice = gls_text_copy(*sorted[i]);
        for (size_t k = i; k < end && !status; k++) {
            char *longer = NULL;
            if (gls_asprintf(&longer, "%s_%d", *sorted[k], label[sorted[k] - rows->name - (ptrdiff_t)first]) < 0)
                status = gls_no_memory();
            else
                free(*sorted[k]);
            if (!status) *sorted[k] = longer;
        }
    }
    if (names > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: %zu names stand for several labels, such as '%.60s'; their labels are put behind them", rows->lut,
                names, twice ? twice : "");
    free(twice);
    free(sorted);
    return status;
}

gls_status gls_matrix_rows_name(gls_matrix_rows *rows, const gls_connectome *connectome)
{
    const int32_t *label;
    size_t n = gls_connectome_nodes(connectome, &label), unnamed = 0;
    /* with the option keep_unassigned the first row is for ends without a region */
    const size_t first = gls_connectome_size(connectome) - n;
    rows->n = n + first;
    rows->name = calloc(rows->n, sizeof *rows->name);
    if (!rows->name) return gls_fail(GLS_ERR_MEMORY, "out of memory for names");
    if (first > 0) rows->name[0] = clean_name("unassigned", 0);
    for (size_t i = 0; i < n; i++) {
        const char *name = gls_label_table_name(&rows->table, label[i]);
        unnamed += rows->lut && !name;
        rows->name[first + i] = clean_name(name, label[i]);
    }
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->name[i]) return gls_fail(GLS_ERR_MEMORY, "out of memory for names");
    if (unnamed > 0) gls_log(GLS_LOG_WARNING, "%s: has no name for %zu of %zu labels", rows->lut, unnamed, n);
    return rows->lut ? make_unique(rows, first, label) : GLS_OK;
}

void gls_matrix_rows_finish(gls_matrix_rows *rows)
{
    gls_label_table_finish(&rows->table);
    free(rows->listed);
    for (size_t i = 0; rows->name && i < rows->n; i++) free(rows->name[i]);
    free(rows->name);
    *rows = (gls_matrix_rows){.n = 0};
}
