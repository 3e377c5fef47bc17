/* Reads what weights by the signal are computed from: series, gradient table, mask, peaks. */
#include "tools/signal_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/peaks.h>

#include "image/nifti_read.h"
#include "image/reorient.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"
#include "weights/signal_model.h"

#define GAMMA 2.675987e8              /* gyromagnetic ratio of protons, rad/s/T */
#define MAX_SCHEME ((size_t)16 << 20) /* bytes */

enum { SCALAR = 2 }; /* word of --kernel */

gls_status gls_signal_input_name(gls_signal_input *in, gls_tract_run *run, const gls_weights_cli *o, const char *series)
{
    gls_status status = GLS_OK;
    if (o->scheme && (o->bval || o->bvec))
        return gls_fail(GLS_ERR_ARGUMENT, "--scheme: not with --bval or --bvec: leave out one of them");
    if (!o->bval != !o->bvec) return gls_fail(GLS_ERR_ARGUMENT, "--bval and --bvec: give both or none");
    if (o->kernel != SCALAR && !o->scheme) {
        if (o->bval) {
            in->bval = strdup(o->bval);
            in->bvec = strdup(o->bvec);
            status = in->bval && in->bvec ? GLS_OK : gls_no_memory();
        } else {
            status = gls_series_find_table(series, "give --bval and --bvec, or --scheme", &in->bval, &in->bvec);
        }
    }
    if (status) return status;
    return gls_tract_run_reads_all(run, GLS_PATHS(series, in->bval ? gls_table_path(in->bval) : NULL,
                                                  in->bvec ? gls_table_path(in->bvec) : NULL, o->scheme, o->mask,
                                                  o->peaks, o->directions));
}

/* b-value, s/mm2, of a row x y z b, or x y z G Delta delta TE in SI units. */
static double scheme_bval(const double *row, size_t columns)
{
    if (columns == 4) return row[3];
    const double q = GAMMA * row[3] * row[5];
    return q * q * (row[4] - row[5] / 3) * 1e-6;
}

/* Makes the table from n rows, and with seven columns the timing. */
static gls_status make_table(gls_signal_input *in, const double *row, size_t columns,
                             const gls_gradients_options *options)
{
    gls_series *s = &in->series;
    const size_t n = s->dwi->n_volumes;
    if (columns == 7 && !(in->timing = malloc(n * sizeof *in->timing))) return gls_no_memory();
    for (size_t i = 0; in->timing && i < n; i++)
        in->timing[i] = (gls_pulse_timing){row[i * columns + 5], row[i * columns + 4]};
    double *bval = malloc(n * sizeof *bval), (*bvec)[3] = malloc(n * sizeof *bvec);
    gls_status status = bval && bvec ? GLS_OK : gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) {
        bval[i] = scheme_bval(row + i * columns, columns);
        memcpy(bvec[i], row + i * columns, sizeof bvec[i]);
    }
    if (!status)
        status = gls_gradients_create(bval, (const double(*)[3])bvec, n, options, &s->dwi->grid, &s->gradients);
    free(bval);
    free(bvec);
    return status;
}

/* Reads --scheme. A first line without numbers is its header. */
static gls_status read_scheme(gls_signal_input *in, const char *path, const gls_gradients_options *options)
{
    gls_series *s = &in->series;
    char *text = NULL;
    double *value = NULL;
    size_t bytes, rows, columns;
    gls_series_warn_of_deviations(s->name);
    gls_status status = gls_file_read_text(path, MAX_SCHEME, &text, &bytes);
    if (status) return status;
    const char *from = text;
    while (gls_is_space((unsigned char)*from)) from++;
    const char *end = strchr(from, '\n');
    if (end && *from != '#' && gls_is_lower(gls_to_lower((unsigned char)*from))) from = end + 1;
    status = gls_table_parse(path, from, bytes - (size_t)(from - text), &value, &rows, &columns);
    if (!status && columns != 4 && columns != 7)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: has %zu columns, but a scheme has 4 (x y z b) or 7 (x y z G Delta delta TE)",
                     path, columns);
    if (!status && rows != s->dwi->n_volumes)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but %s has %zu volumes", path, rows, s->name, s->dwi->n_volumes);
    if (!status) status = make_table(in, value, columns, options);
    free(value);
    free(text);
    return status;
}

/* Reads --peaks onto the grid of the series. */
static gls_status read_peaks(gls_signal_input *in, const gls_weights_cli *o)
{
    const gls_grid *grid = &in->series.dwi->grid;
    const gls_bvec_frame frame = (gls_bvec_frame)o->peaks_frame;
    gls_image *image = NULL;
    gls_status status = gls_image_read_vectors(o->peaks, &image);
    /* reorder voxels only if the vectors are along scanner axes, which do not change with the voxel axes */
    if (!status && frame == GLS_BVEC_WORLD) status = gls_image_reorient(&image, o->peaks, grid);
    if (!status) status = gls_grid_require_equal(grid, in->series.name, &image->grid, o->peaks);
    if (!status) status = gls_peaks_append(&in->peaks, image, o->peaks, frame);
    gls_image_destroy(image);
    return status;
}

/* Takes the timing of the pulses from the options, else of the scheme, and checks it. */
static gls_status find_timing(gls_signal_input *in, const gls_weights_cli *o)
{
    const gls_gradients *table = in->series.gradients;
    if (o->pulse_duration > 0) {
        free(in->timing);
        in->timing = malloc(table->n * sizeof *in->timing);
        if (!in->timing) return gls_no_memory();
        for (size_t i = 0; i < table->n; i++)
            in->timing[i] = (gls_pulse_timing){1e-3 * o->pulse_duration, 1e-3 * o->pulse_separation};
    }
    if (!in->timing)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--kernel cylinder: needs the timing of the gradients: give --pulse-duration and "
                        "--pulse-separation, or a --scheme of seven columns");
    for (size_t i = 0; i < table->n; i++) {
        gls_pulse_timing *t = &in->timing[i];
        if (t->duration > 0 && t->separation >= t->duration) continue;
        if (!table->is_b0[i])
            return gls_fail(GLS_ERR_INPUT,
                            "%s: volume %zu (counted from 0) has gradients of %g s that begin %g s apart, which is "
                            "impossible",
                            o->scheme && !(o->pulse_duration > 0) ? o->scheme : in->series.name, i, t->duration,
                            t->separation);
        *t = (gls_pulse_timing){1, 1}; /* without gradients any timing will do */
    }
    return GLS_OK;
}

gls_status gls_signal_input_read(gls_signal_input *in, const gls_weights_cli *o, const char *path)
{
    gls_gradients_options table = gls_gradients_options_default();
    gls_series *s = &in->series;
    table.b0_threshold = o->b0_threshold;
    table.frame = (gls_bvec_frame)o->bvec_frame;
    table.without_b0 = true;
    s->name = path;
    gls_status status = gls_image_read(path, o->kernel == SCALAR ? GLS_IMAGE_3D : GLS_IMAGE_4D, &s->dwi);
    if (!status && o->scheme)
        status = read_scheme(in, o->scheme, &table);
    else if (!status && o->kernel != SCALAR)
        status = gls_series_read_table(s, in->bval, in->bvec, &table);
    if (!status && o->kernel == GLS_SIGNAL_CYLINDER) status = find_timing(in, o);
    if (!status && o->mask) status = gls_image_read_on_grid(&s->dwi->grid, path, o->mask, &in->mask);
    if (!status && o->peaks) status = read_peaks(in, o);
    return status;
}

void gls_signal_input_finish(gls_signal_input *in)
{
    gls_series_finish(&in->series);
    gls_image_destroy(in->mask);
    gls_image_destroy(in->peaks);
    free(in->bval);
    free(in->bvec);
    free(in->timing);
    *in = (gls_signal_input){.mask = NULL};
}
