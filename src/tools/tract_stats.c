/* `glslines stats`: lengths and shapes of tractograms and of their groups, one row each. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/reorient.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tractogram/readers.h"
#include "tractogram/tck_header.h"
#include "tracts/line_geometry.h"
#include "tracts/shape.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Columns of --shape, in the order of write_row(). */
static const char *const shape_names[GLS_SHAPE_VALUES] = {
    "volume_mm3",       "span_mm",        "curl",         "diameter_mm",     "elongation",    "surface_area_mm2",
    "irregularity",     "area_start_mm2", "area_end_mm2", "radius_start_mm", "radius_end_mm", "irregularity_start",
    "irregularity_end", "mean_curvature"};

/* Numbers of lengths that are kept for quantiles: all rows share MAX_KEPT, but each row may keep MIN_KEPT. A row with
 * more lengths needs further passes. */
#define MAX_KEPT ((size_t)1 << 20)
#define MIN_KEPT ((size_t)1 << 14)
/* largest number of bins of a histogram */
#define MAX_BINS 1e7

/* The whole file, or one of its groups. */
typedef struct row {
    /* lengths, and measures of shape with --shape */
    gls_bundle_stats *stats;
    bool again; /* the lengths must be read in another pass */
    /* bins of --histogram */
    double width; /* width of the bins, mm; 0: the first pass has not ended, or no --histogram */
    size_t n_bins, capacity;
    /* streamlines in each bin */
    uint64_t *bin;
} row;

/* State of `glslines stats`. */
typedef struct stats {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_stats_cli *o;
    /* files of --output, --histogram and --dump */
    gls_tract_text table, histogram, dump;
    /* the file that is being measured */
    const char *path;
    double width; /* width of bins, mm */
    gls_tract_weights weights;
    /* number of elements of `row` */
    size_t n_rows;
    /* the file, then its groups */
    row *row;
    /* text for standard output */
    gls_text shown;
    /* streamlines of all files */
    uint64_t total;
    /* true: the second pass, in which lengths are counted for the histogram */
    bool is_second_pass;
} stats;

/* First pass: adds streamlines to the row of the file and to the rows of their groups, and writes --dump. */
static gls_status append(void *user, const gls_streamlines *in)
{
    stats *s = user;
    gls_status status = GLS_OK;
    const gls_column *w = s->weights.column ? gls_column_find(in->dps, in->n_dps, s->weights.column) : NULL;
    for (size_t i = 0; i < in->n && !status; i++) {
        const float(*point)[3] = in->point + in->offset[i];
        size_t n = (size_t)(in->offset[i + 1] - in->offset[i]);
        double weight = w ? gls_column_value(w, i) : 1;
        if (!isfinite(weight)) return gls_fail(GLS_ERR_INPUT, "%s: the weight of a streamline is not finite", s->path);
        status = gls_bundle_stats_add(s->row[0].stats, point, n, weight);
        /* row g is group g - 1 */
        for (size_t g = 1; g < s->n_rows && !status; g++)
            if (gls_column_value(&in->group[g - 1], i))
                status = gls_bundle_stats_add(s->row[g].stats, point, n, weight);
        if (!s->o->dump) continue;
        gls_tract_text_number(&s->dump, gls_line_length(point, n));
        gls_tract_text_end_row(&s->dump);
    }
    return status;
}

/* Writes a row of values to the table and to the text that is printed. */
static void write_cells(stats *s, const char *name, const double *value, size_t n)
{
    char number[40];
    if (s->o->output) gls_tract_text_field(&s->table, name);
    gls_field_show(&s->shown, name, '\t');
    for (size_t k = 0; k < n; k++) {
        if (s->o->output) gls_tract_text_number(&s->table, value[k]);
        gls_text_printf(&s->shown, "\t%s",
                        isfinite(value[k]) ? gls_format_double(value[k], number, sizeof number) : "nan");
    }
    if (s->o->output) gls_tract_text_end_row(&s->table);
    gls_text_puts(&s->shown, "\n");
}

/* Writes one row of the table. Figures of lengths are NaN without streamlines. */
static void write_row(stats *s, const char *name, gls_bundle_stats *row)
{
    gls_lengths l = gls_bundle_stats_lengths(row);
    /* without streamlines the figures of lengths have no value, and counts are 0 */
    if (l.n == 0) l.mean = l.median = l.sd = l.min = l.q25 = l.q75 = l.max = l.step = NAN;
    /* the columns in the order of write_header() */
    double value[11 + GLS_SHAPE_VALUES] = {
        (double)l.n, l.weight, (double)l.points, l.mean, l.median, l.sd, l.min, l.q25, l.q75, l.max, l.step};
    size_t n = 11;
    if (s->o->shape) {
        gls_shape h = gls_bundle_stats_shape(row);
        const double more[GLS_SHAPE_VALUES] = {h.volume,
                                               h.span,
                                               h.curl,
                                               h.diameter,
                                               h.elongation,
                                               h.surface_area,
                                               h.irregularity,
                                               h.area[0],
                                               h.area[1],
                                               h.radius[0],
                                               h.radius[1],
                                               h.end_irregularity[0],
                                               h.end_irregularity[1],
                                               h.mean_curvature};
        memcpy(value + n, more, sizeof more);
        n += GLS_SHAPE_VALUES;
    }
    write_cells(s, name, value, n);
}

/* Writes the header line to the table and to the printed text. */
static void write_header(stats *s)
{
    static const char *const names[11] = {"count",  "weight", "points", "mean_mm", "median_mm", "sd_mm",
                                          "min_mm", "q25_mm", "q75_mm", "max_mm",  "step_mm"};
    gls_text_puts(&s->shown, "name");
    if (s->o->output) gls_tract_text_field(&s->table, "name");
    for (size_t k = 0; k < (s->o->shape ? 11 + GLS_SHAPE_VALUES : 11); k++) {
        const char *name = k < 11 ? names[k] : shape_names[k - 11];
        gls_text_printf(&s->shown, "\t%s", name);
        if (s->o->output) gls_tract_text_field(&s->table, name);
    }
    gls_text_puts(&s->shown, "\n");
    if (s->o->output) gls_tract_text_end_row(&s->table);
}

/* Counts a length in bin round(length / width), as tckstats does. */
static gls_status count_length(row *r, double length)
{
    const double at = round(length / r->width);
    if (!(at <= MAX_BINS))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--bin: a streamline of %g mm in bins of %g mm needs more than %.0f bins: give wider bins",
                        length, r->width, MAX_BINS);
    const size_t k = (size_t)at;
    if (k >= r->capacity) {
        size_t capacity = 2 * k + 256;
        uint64_t *bin = realloc(r->bin, capacity * sizeof *bin);
        if (!bin) return gls_fail(GLS_ERR_MEMORY, "out of memory for a histogram");
        memset(bin + r->capacity, 0, (capacity - r->capacity) * sizeof *bin);
        r->bin = bin;
        r->capacity = capacity;
    }
    r->bin[k]++;
    if (k >= r->n_bins) r->n_bins = k + 1;
    return GLS_OK;
}

/* Ends a pass over the streamlines of a row of the table. With --histogram, the end of the first pass also sets the
 * width of the bins, and counts the lengths if all of them were kept. */
static gls_status end_pass(stats *s, row *r, bool is_first)
{
    size_t n;
    gls_status status = gls_bundle_stats_end_pass(r->stats, &r->again);
    if (status || !is_first || !s->o->histogram) return status;
    /* sorted: all lengths; NULL if not all were kept, then the second pass counts them */
    const double *sorted = gls_bundle_stats_sorted(r->stats, &n);
    r->width = s->width;
    for (size_t i = 0; sorted && i < n && !status; i++) status = count_length(r, sorted[i]);
    return status;
}

/* Later passes: adds lengths to the rows that need them; the second pass also counts the lengths for --histogram. */
static gls_status append_again(void *user, const gls_streamlines *in)
{
    stats *s = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < in->n && !status; i++) {
        const size_t n = (size_t)(in->offset[i + 1] - in->offset[i]);
        if (n == 0) continue;
        const double length = gls_line_length(in->point + in->offset[i], n);
        for (size_t g = 0; g < s->n_rows && !status; g++) {
            row *r = &s->row[g];
            if (!r->again || (g > 0 && !gls_column_value(&in->group[g - 1], i))) continue;
            status = gls_bundle_stats_add_again(r->stats, length);
            if (!status && r->width > 0 && s->is_second_pass) status = count_length(r, length);
        }
    }
    return status;
}

/* Ends the first pass, then reads the file again as long as a row needs it: a row that has more lengths than it keeps
 * finds its quantiles in further passes. */
static gls_status read_again(stats *s, const char *path)
{
    gls_status status = GLS_OK;
    bool again = true;
    s->is_second_pass = true;
    /* the first time, the loop reads nothing: it ends the first pass and finds the rows that need another pass */
    for (bool is_first = true; again && !status; is_first = false) {
        gls_tractogram_reader *reader = NULL;
        gls_sink sink = {.append = append_again, .user = s};
        again = false;
        if (!is_first) {
            status = gls_tract_open(s->run, path, false, &reader);
            status = gls_tract_pump(s->run, reader, &sink, status);
            gls_tractogram_reader_close(reader);
            /* bins are complete now; later passes only refine quantiles */
            s->is_second_pass = false;
        }
        for (size_t g = 0; g < s->n_rows && !status; g++) {
            row *r = &s->row[g];
            if (is_first || r->again) status = end_pass(s, r, is_first);
            again |= r->again;
        }
    }
    return status;
}

/* Writes a line for each bin of one row: name of the row, centre of the bin in mm, count. */
static void write_histogram(stats *s, const char *name, const row *r)
{
    for (size_t k = 0; k < r->n_bins; k++) {
        gls_tract_text_field(&s->histogram, name);
        gls_tract_text_number(&s->histogram, (double)k * r->width);
        gls_tract_text_number(&s->histogram, (double)r->bin[k]);
        gls_tract_text_end_row(&s->histogram);
    }
}

/* Makes a row for the file and, with --groups, one for each group. */
static gls_status create_rows(stats *s, const gls_tractogram_info *info)
{
    gls_grid grid;
    gls_status status = GLS_OK;
    if (s->o->shape && s->o->template_image)
        status = gls_grid_read(s->o->template_image, &grid);
    else if (s->o->shape && info->has_grid)
        grid = info->grid;
    else if (s->o->shape)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid, which --shape needs: give --template IMAGE", s->path);
    s->row = calloc(1 + info->n_groups, sizeof *s->row);
    if (!s->row) return gls_no_memory();
    size_t n = 1 + (s->o->groups ? info->n_groups : 0);
    /* the rows divide MAX_KEPT lengths among them; each keeps at least MIN_KEPT */
    const size_t kept = MAX_KEPT / n > MIN_KEPT ? MAX_KEPT / n : MIN_KEPT;
    while (s->n_rows < n && !status) {
        status = gls_bundle_stats_create(s->o->shape ? &grid : NULL, kept, &s->row[s->n_rows].stats);
        if (!status) s->n_rows++;
    }
    return status;
}

/* Measures one file and writes its rows. */
static gls_status measure(stats *s, const char *path)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {.append = append, .user = s};
    s->path = path;
    gls_status status = gls_tract_weights_open(&s->weights, s->o->weights, s->run, path, false);
    if (!status) status = gls_tract_open(s->run, path, false, &reader);
    if (!status) status = create_rows(s, gls_tractogram_reader_info(reader));
    /* width of the bins: --bin, or the step that a TCK file states, or 1 mm */
    if (!status) s->width = s->o->bin > 0 ? s->o->bin : gls_tck_step(gls_tractogram_reader_info(reader), 1);
    if (!status) status = gls_tract_weights_sink(&s->weights, gls_tractogram_reader_info(reader), path, &sink);
    status = gls_tract_pump(s->run, reader, &sink, status);
    /* further passes, for rows with more lengths than are kept */
    if (!status) status = read_again(s, path);
    /* row 0 is the whole file, row g is group g - 1 */
    for (size_t g = 0; g < s->n_rows && !status; g++) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        const char *name = g == 0 ? path : info->group[g - 1].name;
        write_row(s, name, s->row[g].stats);
        if (s->o->histogram) write_histogram(s, name, &s->row[g]);
        if (g == 0) s->total += gls_bundle_stats_lengths(s->row[0].stats).n;
    }
    /* the next file begins without rows */
    for (size_t g = 0; g < s->n_rows; g++) {
        gls_bundle_stats_destroy(s->row[g].stats);
        free(s->row[g].bin);
    }
    free(s->row);
    s->row = NULL;
    s->n_rows = 0;
    gls_tract_weights_close(&s->weights);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_tract_stats(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_stats_cli *o = options;
    stats s = {.run = run, .o = o};
    const char *const outputs[] = {o->output, o->histogram, o->dump};
    gls_tract_text *const texts[] = {&s.table, &s.histogram, &s.dump};
    if (n > 1 && gls_tract_weights_file(o->weights))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--weights %s: is one file, but there are %zu tractograms: measure one tractogram at a time",
                        o->weights, n);
    gls_status status = gls_tract_run_reads_all(run, file, n);
    if (!status)
        status = gls_tract_run_reads_all(
            run, GLS_PATHS(run->options.reference, o->template_image, gls_tract_weights_file(o->weights)));
    /* outputs are opened before anything is measured */
    if (!status) status = gls_tract_run_writes_all(run, outputs, 3);
    for (int k = 0; k < 3 && !status; k++)
        if (outputs[k]) status = gls_tract_text_open(run, outputs[k], texts[k]);
    if (!status) write_header(&s);
    if (!status && o->histogram)
        gls_tract_text_printf(&s.histogram, "name%clength_mm%ccount\n", s.histogram.separator, s.histogram.separator);
    for (size_t i = 0; i < n && !status; i++) status = measure(&s, file[i]);
    /* close all texts, also after a failure, which then leaves no file */
    for (int k = 0; k < 3; k++) status = gls_tract_text_close(texts[k], status);
    gls_tract_run_count(run, "read", s.total);
    char *shown = gls_text_take(&s.shown);
    if (!status && !o->output) {
        run->printed = shown;
        shown = NULL;
    }
    free(shown);
    return status;
}
