/* --labels of `glslines register`: reads labels of both images, compares them before and after, writes a table. */
#include "tools/register_labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "image/grid.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

void gls_register_labels_finish(gls_register_labels *l)
{
    free(l->text);
    free(l->table);
    gls_labels_destroy(l->of_moving);
    gls_labels_destroy(l->of_fixed);
    gls_label_table_finish(&l->names);
    gls_label_overlap_finish(&l->overlap);
    *l = (gls_register_labels){.text = NULL};
}

/* Whether the run writes this file. */
static bool is_output(const gls_run *run, const char *path)
{
    for (size_t i = 0; i < run->n_outputs; i++)
        if (gls_same_file(run->output[i], path)) return true;
    return false;
}

/* Finds a table beside an image: of the same name, with the suffix of a table. *path stays NULL if there is none. */
static gls_status find_table(const gls_run *run, const char *image, char **path)
{
    static const char *const suffixes[] = {".tsv", ".csv", ".txt", ".lut", ".label", ".xml"};
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes && !*path; k++) {
        if (gls_asprintf(path, "%.*s%s", (int)gls_image_stem(image), image, suffixes[k]) < 0) return gls_no_memory();
        if (access(*path, R_OK) == 0 && !is_output(run, *path)) break;
        free(*path);
        *path = NULL;
    }
    return GLS_OK;
}

/* Reads the names of labels. What was found beside an image and is no table is left out, with a warning. */
static gls_status read_names(gls_tract_run *run, const char *given, gls_register_labels *l)
{
    gls_status status = GLS_OK;
    if (given && !(l->table = gls_text_copy(given))) status = gls_no_memory();
    if (!status && !l->table) status = find_table(&run->files, l->fixed, &l->table);
    if (!status && !l->table) status = find_table(&run->files, l->moving, &l->table);
    if (status || !l->table) return status;
    status = gls_label_table_read(&l->names, l->table);
    if (status == GLS_ERR_INPUT && !given) {
        gls_log(GLS_LOG_WARNING, "labels have no names: %s", gls_last_error());
        free(l->table);
        l->table = NULL;
        gls_label_table_finish(&l->names);
        return GLS_OK;
    }
    return status ? status : gls_tract_run_reads(run, l->table);
}

gls_status gls_register_labels_read(gls_tract_run *run, const char *option, gls_register_labels *l)
{
    char *rest = l->text = gls_text_copy(option);
    if (!rest) return gls_no_memory();
    l->moving = gls_names_next(&rest, ',');
    l->fixed = gls_names_next(&rest, ',');
    const char *names = gls_names_next(&rest, ',');
    if (!l->fixed || !*l->moving || !*l->fixed || (names && !*names) || gls_names_next(&rest, ','))
        return gls_fail(GLS_ERR_ARGUMENT, "--labels %s: needs MOVING,FIXED or MOVING,FIXED,NAMES", option);
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(l->moving, l->fixed));
    if (!status) status = gls_labels_read(l->moving, &l->of_moving);
    if (!status) status = gls_labels_read(l->fixed, &l->of_fixed);
    if (!status) status = gls_label_overlap_list(l->of_moving, l->moving, l->of_fixed, l->fixed, &l->overlap);
    return status ? status : read_names(run, names, l);
}

gls_status gls_register_labels_compare(gls_alignment *a, gls_register_labels *l)
{
    gls_transform_step step[2];
    const gls_transform all = gls_alignment_transform(a, false, step);
    const gls_transform by[GLS_OVERLAP_N] = {
        [GLS_OVERLAP_HEADERS] = {.n = 0},
        [GLS_OVERLAP_LINEAR] = {.n = 1, .step = &step[all.n - 1]},
        [GLS_OVERLAP_ALL] = all,
    };
    gls_status status = gls_label_overlap_find(l->of_moving, l->of_fixed, by, &l->overlap);
    if (status) return status;
    const double *mean = l->overlap.mean;
    if (mean[GLS_OVERLAP_ALL] == 0 && gls_alignment_look(a, "labels, of which none meets its own"))
        gls_log(GLS_LOG_WARNING,
                "no label of %s meets its own of %s after the registration: labels have to lie in the spaces of MOVING "
                "and FIXED",
                l->moving, l->fixed);
    else if (mean[GLS_OVERLAP_ALL] < mean[GLS_OVERLAP_HEADERS] &&
             gls_alignment_look(a, "labels, which agree less than before"))
        gls_log(GLS_LOG_WARNING,
                "labels agree less than before the registration (mean Dice %.3f, before %.3f): look at both images, "
                "and at the order of --labels MOVING,FIXED",
                mean[GLS_OVERLAP_ALL], mean[GLS_OVERLAP_HEADERS]);
    return GLS_OK;
}

gls_status gls_register_labels_write(gls_tract_run *run, const gls_register_labels *l, const char *path)
{
    gls_text text = {0};
    gls_text_printf(&text, "index\tname\tfixed_voxels\tmoved_voxels\tdice_headers\tdice_linear\tdice\n");
    for (size_t i = 0; i < l->overlap.n; i++) {
        const gls_overlap_row *row = &l->overlap.row[i];
        const char *name = gls_label_table_name(&l->names, row->label);
        gls_text_printf(&text, "%" PRId32 "\t", row->label);
        gls_field_append(&text, name ? name : "n/a", '\t');
        gls_text_printf(&text, "\t%" PRIu64 "\t%" PRIu64, row->fixed, row->moved);
        for (int k = 0; k < GLS_OVERLAP_N; k++)
            if (isfinite(row->dice[k]))
                gls_text_printf(&text, "\t%.4f", row->dice[k]);
            else
                gls_text_puts(&text, "\tn/a");
        gls_text_puts(&text, "\n");
    }
    return gls_text_write(&text, path, run->options.force, &run->files.group, GLS_OK);
}

void gls_register_labels_describe(const gls_register_labels *l, cJSON *root)
{
    cJSON *labels = cJSON_AddObjectToObject(root, "labels");
    const gls_overlap_row *least = NULL;
    size_t only_fixed = 0;
    for (size_t i = 0; i < l->overlap.n; i++) {
        const gls_overlap_row *row = &l->overlap.row[i];
        only_fixed += !row->in_moving;
        if (row->in_fixed && row->in_moving && (!least || row->dice[GLS_OVERLAP_ALL] < least->dice[GLS_OVERLAP_ALL]))
            least = row;
    }
    cJSON_AddStringToObject(labels, "moving", l->moving);
    cJSON_AddStringToObject(labels, "fixed", l->fixed);
    if (l->table) cJSON_AddStringToObject(labels, "names", l->table);
    gls_json_uint(labels, "common", l->overlap.n_common);
    gls_json_uint(labels, "of_fixed_alone", only_fixed);
    gls_json_uint(labels, "of_moving_alone", l->overlap.n - l->overlap.n_common - only_fixed);
    gls_json_double(labels, "mean_dice_headers", l->overlap.mean[GLS_OVERLAP_HEADERS]);
    gls_json_double(labels, "mean_dice_linear", l->overlap.mean[GLS_OVERLAP_LINEAR]);
    gls_json_double(labels, "mean_dice", l->overlap.mean[GLS_OVERLAP_ALL]);
    if (!least) return;
    gls_json_uint(labels, "least_dice_label", (uint64_t)least->label);
    gls_json_double(labels, "least_dice", least->dice[GLS_OVERLAP_ALL]);
}
