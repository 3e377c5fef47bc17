/* `glslines info` of an image: its grid, the type of its values, and the gradient table that belongs to it. */
#include "tools/image_info.h"

#include <inttypes.h>
#include <math.h>
#include <nifti2_io.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/gradients.h>

#include "dwi/series.h"
#include "image/formats.h"
#include "image/grid.h"
#include "image/mif_header.h"
#include "image/nifti_header.h"
#include "image/nifti_read.h"
#include "image/stream.h"
#include "record/sidecar.h"
#include "util/json_text.h"
#include "util/status.h"

/* The header of an image, in words. */
typedef struct facts {
    const char *format;
    char type[16]; /* type of the stored values, such as "float32" */
    gls_grid grid;
    size_t n_volumes;
    double slope, inter; /* value = slope * stored + inter */
    int strides[4]; /* strides of the axes left-right, back-front, bottom-top and of the volumes, as MRtrix3 shows them
                     */
} facts;

bool gls_image_is_name(const char *path)
{
    const char *suffix = path + gls_image_stem(path);
    return *suffix && gls_case_compare(suffix, ".gz") != 0;
}

void gls_grid_info(gls_text *text, const gls_grid *g)
{
    char axes[4];
    gls_grid_axis_codes(g, axes);
    gls_text_printf(text, "  grid         %d x %d x %d voxels of %g x %g x %g mm, axes %s\n", g->dim[0], g->dim[1],
                    g->dim[2], g->voxel_size[0], g->voxel_size[1], g->voxel_size[2], axes);
    for (int r = 0; r < 3; r++)
        gls_text_printf(text, "  %-12s %12.6g %12.6g %12.6g %12.6g\n", r == 0 ? "affine" : "", g->affine[r][0],
                        g->affine[r][1], g->affine[r][2], g->affine[r][3]);
}

/* Name of a NIfTI code of a type. */
static void name_type(int code, bool swapped, char type[16])
{
    static const struct {
        int code;
        const char *name;
    } names[] = {{NIFTI_TYPE_INT8, "int8"},      {NIFTI_TYPE_UINT8, "uint8"},   {NIFTI_TYPE_INT16, "int16"},
                 {NIFTI_TYPE_UINT16, "uint16"},  {NIFTI_TYPE_INT32, "int32"},   {NIFTI_TYPE_UINT32, "uint32"},
                 {NIFTI_TYPE_INT64, "int64"},    {NIFTI_TYPE_UINT64, "uint64"}, {NIFTI_TYPE_FLOAT32, "float32"},
                 {NIFTI_TYPE_FLOAT64, "float64"}};
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) name = names[i].name;
    snprintf(type, 16, "%s%s", name, swapped ? "be" : "");
}

/* Sets the strides: the stored axis that runs along each axis of the world, counted from 1, with a minus if it runs to
 * the left, back or bottom. rank: place of the volumes among the axes in the file. */
static void set_strides(facts *f, int rank)
{
    static const char letters[] = "RLAPSI";
    char codes[4];
    gls_grid_axis_codes(&f->grid, codes);
    for (int c = 0; c < 3; c++) {
        const int at = (int)(strchr(letters, codes[c]) - letters), stride = c + 1 + (f->n_volumes > 1 && c >= rank);
        f->strides[at / 2] = at % 2 ? -stride : stride;
    }
    f->strides[3] = rank + 1;
}

static gls_status read_nifti_facts(const char *path, facts *f)
{
    gls_nifti_header h;
    gls_stream *stream = NULL;
    uint64_t used;
    char *header = gls_case_ends(path, ".img") || gls_case_ends(path, ".img.gz") ? gls_nifti_pair(path) : NULL;
    gls_status status = gls_stream_open_regular(header ? header : path, &stream);
    if (!status) status = gls_nifti_read_header(stream, path, &h, &used);
    gls_stream_close(stream);
    free(header);
    if (status) return status;
    *f = (facts){
        .format = "NIfTI", .grid = h.grid, .n_volumes = h.n_volumes, .slope = h.values.slope, .inter = h.values.inter};
    name_type(h.values.datatype, h.values.swapped, f->type);
    set_strides(f, 3);
    return GLS_OK;
}

static gls_status read_mif_facts(const char *path, facts *f)
{
    gls_mif_header h;
    gls_status status = gls_mif_read_header(path, &h);
    if (status) return status;
    *f = (facts){
        .format = "MIF", .grid = h.grid, .n_volumes = h.n_volumes, .slope = h.values.slope, .inter = h.values.inter};
    if (h.coding == GLS_MIF_VALUES)
        name_type(h.values.datatype, h.values.swapped, f->type);
    else
        snprintf(f->type, sizeof f->type, "%s",
                 h.coding == GLS_MIF_BITS ? "bit"
                 : h.values.swapped       ? "float16be"
                                          : "float16");
    set_strides(f, h.volumes_rank);
    gls_mif_header_finish(&h);
    return GLS_OK;
}

/* Reads the gradient table of a series: in its header, or beside it. *table is NULL where there is none. */
static gls_status read_table(const char *path, const facts *f, char **table, gls_gradients **gradients)
{
    char *bval = NULL, *bvec = NULL;
    gls_gradients_options options = gls_gradients_options_default();
    options.without_b0 = true;
    *table = NULL;
    *gradients = NULL;
    if (f->n_volumes < 2 || gls_series_find_table(path, NULL, &bval, &bvec) != GLS_OK) return GLS_OK;
    const bool own = strcmp(bval, "-") == 0;
    gls_log_mute_info(true);
    gls_status status = own ? gls_gradients_read_table(path, &options, &f->grid, f->n_volumes, gradients)
                            : gls_gradients_read(bval, bvec, &options, &f->grid, f->n_volumes, gradients);
    gls_log_mute_info(false);
    *table = own ? strdup("in its header") : bval;
    if (own) free(bval);
    free(bvec);
    return status;
}

/* Shows the shells of a table, and adds them to the JSON. */
static gls_status add_table(const char *table, const gls_gradients *g, gls_text *text, cJSON *json)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(g, &shell, &n, NULL);
    if (status) return status;
    gls_text_puts(text, "  gradients    ");
    gls_text_show(text, table);
    gls_text_puts(text, ":");
    cJSON *list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(json, "gradients"), "shells");
    cJSON_AddStringToObject(cJSON_GetObjectItem(json, "gradients"), "table", table);
    for (size_t i = 0; i < n; i++) {
        gls_text_printf(text, "%s %zu of b = %.0f", i > 0 ? "," : "", shell[i].n, shell[i].bval);
        cJSON *one = cJSON_CreateObject();
        gls_json_double(one, "b", shell[i].bval);
        gls_json_uint(one, "volumes", shell[i].n);
        cJSON_AddItemToArray(list, one);
    }
    gls_text_puts(text, "\n");
    gls_free(shell);
    return GLS_OK;
}

/* Reads all values, and shows their range. */
static gls_status add_values(const char *path, gls_text *text, cJSON *json)
{
    gls_image *image = NULL;
    double low = INFINITY, high = -INFINITY, sum = 0;
    uint64_t n_finite = 0, n_zero = 0;
    size_t n_fields;
    gls_status status = gls_image_read_fields(path, &n_fields, &image);
    if (status) return status;
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    for (size_t i = 0; i < n; i++) {
        const double v = image->data[i];
        if (!isfinite(v)) continue;
        n_finite++;
        n_zero += v == 0;
        sum += v;
        low = fmin(low, v);
        high = fmax(high, v);
    }
    gls_image_destroy(image);
    const double mean = n_finite > 0 ? sum / (double)n_finite : NAN;
    gls_text_printf(text, "  values       min %.6g, mean %.6g, max %.6g, %" PRIu64 " are 0, %" PRIu64 " not finite\n",
                    low, mean, high, n_zero, (uint64_t)n - n_finite);
    cJSON *values = cJSON_AddObjectToObject(json, "values");
    gls_json_double(values, "min", low);
    gls_json_double(values, "mean", mean);
    gls_json_double(values, "max", high);
    gls_json_uint(values, "zero", n_zero);
    gls_json_uint(values, "not_finite", (uint64_t)n - n_finite);
    return GLS_OK;
}

/* Shows what the header says, and adds it to the JSON. */
static void add_facts(const char *path, const facts *f, gls_text *text, cJSON *json)
{
    static const char *const sources[] = {[GLS_AFFINE_GIVEN] = "",
                                          [GLS_AFFINE_SFORM] = "sform",
                                          [GLS_AFFINE_QFORM] = "qform",
                                          [GLS_AFFINE_SIZES] = "voxel sizes alone"};
    const int n_axes = f->n_volumes > 1 ? 4 : 3;
    gls_text_show(text, path);
    gls_text_printf(text, "\n  format       %s, %s values", f->format, f->type);
    if (f->slope != 1 || f->inter != 0) gls_text_printf(text, " times %g plus %g", f->slope, f->inter);
    gls_text_puts(text, "\n");
    gls_grid_info(text, &f->grid);
    if (*sources[f->grid.affine_source])
        gls_text_printf(text, "  %-12s %s\n", "affine from", sources[f->grid.affine_source]);
    gls_text_printf(text, "  volumes      %zu\n  strides      ", f->n_volumes);
    for (int i = 0; i < n_axes; i++) gls_text_printf(text, "%s%d", i > 0 ? "," : "", f->strides[i]);
    gls_text_puts(text, "\n");
    cJSON_AddStringToObject(json, "path", path);
    cJSON_AddStringToObject(json, "format", f->format);
    cJSON_AddStringToObject(json, "type", f->type);
    gls_json_double(json, "slope", f->slope);
    gls_json_double(json, "intercept", f->inter);
    gls_sidecar_add_grid(json, &f->grid);
    gls_json_uint(json, "volumes", f->n_volumes);
    cJSON *strides = cJSON_AddArrayToObject(json, "strides");
    for (int i = 0; i < n_axes; i++) cJSON_AddItemToArray(strides, cJSON_CreateNumber(f->strides[i]));
}

gls_status gls_image_info(const char *path, bool count, gls_text *text, cJSON *list)
{
    facts f;
    char *table = NULL;
    gls_gradients *gradients = NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    gls_status status = gls_mif_is_name(path) ? read_mif_facts(path, &f) : read_nifti_facts(path, &f);
    if (!status) add_facts(path, &f, text, json);
    if (!status) status = read_table(path, &f, &table, &gradients);
    if (!status && gradients) status = add_table(table, gradients, text, json);
    if (!status && count) status = add_values(path, text, json);
    gls_gradients_destroy(gradients);
    free(table);
    return status;
}
