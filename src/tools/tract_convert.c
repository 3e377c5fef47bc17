/* `glslines convert`: writes a tractogram of any program in another format, with its columns and groups, and with
 * columns from files beside it: tables, and track scalar files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/filters.h>
#include <glslines/summary.h>

#include "tools/tract_convert.h"
#include "streamlines/filter_columns.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tractogram/cursor.h"
#include "tractogram/readers.h"
#include "tractogram/tck_header.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* --- Tables. */

/* largest table, bytes */
#define MAX_BYTES ((size_t)1 << 33)

/* Splits "name_3": *length is 4, *number is 3. Returns false without a number at the end. */
static bool split_name(const char *text, size_t *length, size_t *number)
{
    const char *mark = strrchr(text, '_');
    char *end;
    if (!mark || mark == text || mark[1] < '0' || mark[1] > '9') return false;
    *number = strtoul(mark + 1, &end, 10);
    *length = (size_t)(mark - text);
    return !*end;
}

/* Splits the header line into n_cells names, at tabs or commas. names has space for n_cells. */
static gls_status cut_header(gls_tract_table *t, const char *path, char **names, size_t n_cells)
{
    char *copy = gls_text_copy(t->header);
    gls_records tabs = gls_records_begin(t->header, '\t'), commas = gls_records_begin(copy, ',');
    if (!copy) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    const size_t n_tabs = gls_record_next(&tabs, names, n_cells);
    size_t n = n_tabs;
    if (n != n_cells) {
        n = gls_record_next(&commas, names, n_cells);
        free(t->header);
        t->header = copy;
    } else {
        /* tabs gave n_cells names: the copy that was to be cut at commas is not needed */
        free(copy);
    }
    if (n != n_cells)
        return gls_fail(GLS_ERR_INPUT, "%s: the header has %zu names, but the rows have %zu columns", path,
                        n > n_tabs ? n : n_tabs, n_cells);
    for (size_t k = 0; k < n; k++)
        if (!*names[k]) return gls_fail(GLS_ERR_INPUT, "%s: the name of column %zu is empty", path, k + 1);
    return GLS_OK;
}

/* Reads the names of columns and counts their components. */
static gls_status read_names(gls_tract_table *t, const char *path, size_t n_cells)
{
    /* columns x_0, x_1, x_2 make one column x of three components */
    /* next: number of the component that would continue the last column; 0: none */
    size_t length = 0, number = 0, next = 0;
    t->column = calloc(n_cells, sizeof *t->column);
    char **names = calloc(n_cells, sizeof *names);
    gls_status status =
        t->column && names ? cut_header(t, path, names, n_cells) : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    for (size_t n = 0; n < n_cells && !status; n++) {
        char *word = names[n];
        bool numbered = split_name(word, &length, &number);
        gls_column *before = t->n > 0 ? &t->column[t->n - 1] : NULL;
        if (before && numbered && next > 0 && number == next && strlen(before->name) == length &&
            strncmp(before->name, word, length) == 0) {
            before->components++;
            next++;
            continue;
        }
        next = numbered && number == 0;
        if (next > 0) word[length] = '\0';
        t->column[t->n++] = (gls_column){.name = word, .type = GLS_TYPE_FLOAT64, .components = 1};
    }
    free(names);
    return status;
}

gls_status gls_tract_table_read(gls_tract_table *t, const char *path)
{
    char *text = NULL;
    double *rows = NULL;
    size_t size = 0, n_rows = 0, n_cells = 0;
    *t = (gls_tract_table){.n = 0};
    if (!path) return GLS_OK;
    gls_status status = gls_file_read(path, MAX_BYTES, &text, &size);
    size_t line = status ? 0 : gls_record_bytes(text, "\t,");
    if (!status && !(t->header = strndup(text, line))) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_table_parse(path, text + line, size - line, &rows, &n_rows, &n_cells);
    if (!status) status = read_names(t, path, n_cells);
    t->rows = n_rows;
    t->values = status ? NULL : malloc(n_rows * n_cells * sizeof *t->values);
    if (!status && !t->values) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    /* copy the cells, which are stored row by row, to one array for each column */
    for (size_t k = 0, first = 0; k < t->n && !status; k++) {
        const size_t width = t->column[k].components;
        double *to = t->values + first * n_rows;
        for (size_t i = 0; i < n_rows; i++)
            for (size_t j = 0; j < width; j++) to[i * width + j] = rows[i * n_cells + first + j];
        t->column[k].data = to;
        first += width;
    }
    free(text);
    free(rows);
    return status;
}

void gls_tract_table_finish(gls_tract_table *t)
{
    free(t->column);
    free(t->header);
    free(t->values);
    *t = (gls_tract_table){.n = 0};
}

/* --- Track scalars. */

/* Callback of gls_tck_header_read(): keeps the first timestamp, which names the tractogram of the scalars. */
static gls_status take_line(void *user, const char *key, const char *value, const char *text, size_t value_at)
{
    gls_tract_scalars *s = user;
    (void)text;
    (void)value_at;
    if (s->stamp || strcmp(key, "timestamp") != 0) return GLS_OK;
    s->stamp = gls_text_copy(value);
    return s->stamp ? GLS_OK : gls_no_memory();
}

gls_status gls_tract_scalars_open(gls_tract_scalars *s, const char *text)
{
    /* the first line of a track scalar file; the rest of its header is as in a TCK file */
    static const char first[] = "mrtrix track scalars";
    /* text is FILE=NAME: FILE may contain "=", NAME may not */
    const char *mark = strrchr(text, '=');
    char start[sizeof first - 1];
    uint64_t bytes;
    *s = (gls_tract_scalars){.fd = -1};
    if (!mark || mark == text || !mark[1]) return gls_fail(GLS_ERR_ARGUMENT, "--tsf %s: must be FILE=NAME", text);
    s->path = gls_text_copy(text);
    if (!s->path) return gls_no_memory();
    s->path[mark - text] = '\0';
    s->name = s->path + (mark - text) + 1;
    gls_status status = gls_regular_open(s->path, &s->fd, &bytes);
    if (status) return status;
    if (bytes < sizeof start || gls_regular_read(s->path, s->fd, 0, start, sizeof start) != GLS_OK ||
        memcmp(start, first, sizeof start) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is no track scalar file: its first line is not '%s'", s->path, first);
    /* read the file like a TCK file that has one number, not three, at each point */
    status = gls_tck_header_read(s->path, s->fd, bytes, take_line, s, &s->header);
    return status ? status : gls_tck_header_open(&s->header, s->path, s->fd, bytes, 1, false, &s->cursor);
}

void gls_tract_scalars_close(gls_tract_scalars *s)
{
    if (!s->path) return; /* not opened */
    gls_cursor_finish(&s->cursor);
    gls_tck_header_finish(&s->header);
    if (s->fd >= 0) close(s->fd);
    free(s->stamp);
    free(s->path);
    *s = (gls_tract_scalars){.fd = -1};
}

/* Reads the next n values. Returns false if there are fewer. */
static bool read_values(gls_tract_scalars *s, size_t n, float *value)
{
    enum { BLOCK = 1024 };
    double block[BLOCK];
    const size_t size = s->header.wide ? sizeof *block : sizeof *value;
    if (gls_cursor_left(&s->cursor) / size < n) return false;
    for (size_t done = 0; done < n;) {
        const size_t m = n - done < BLOCK ? n - done : BLOCK;
        void *to = s->header.wide ? (void *)block : (void *)(value + done);
        if (gls_cursor_read(&s->cursor, to, m * size) != GLS_OK) return false;
        if (s->header.swapped) gls_swap_bytes(to, m, size);
        for (size_t i = 0; s->header.wide && i < m; i++) value[done + i] = (float)block[i];
        done += m;
    }
    return true;
}

/* A filter that adds the values of a track scalar file as a column. */
typedef struct adder {
    /* the track scalar file; its position moves on from batch to batch */
    gls_tract_scalars *scalars;
    /* the sink behind the filter; owned */
    gls_sink next;
    /* values of the points of a batch */
    float *value;
    /* columns of the batch that are passed on, with the new column */
    gls_column *column;
    /* number of elements for which value and column have memory */
    size_t points, columns;
} adder;

/* Reads the values of all points of a batch. GLS_ERR_INPUT: a streamline has another number of points than of values in
 * the file. */
static gls_status fill(adder *a, const gls_streamlines *in)
{
    gls_tract_scalars *s = a->scalars;
    float end = 0;
    for (size_t i = 0; i < in->n; i++, s->line++) {
        const size_t first = (size_t)in->offset[i], n = (size_t)(in->offset[i + 1] - in->offset[i]);
        /* NaN ends the values of a streamline, infinity ends the values of the file */
        bool fits = read_values(s, n, a->value + first) && read_values(s, 1, &end);
        for (size_t p = first; p < first + n && fits; p++) fits = !isinf(a->value[p]);
        if (!fits || !isnan(end))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: does not have one value for each point of streamline %" PRIu64 " (counted from 0)",
                            s->path, s->line);
    }
    return GLS_OK;
}

/* Adds the values of the points of a batch as a column of dpv, which replaces a column of the same name. */
static gls_status append(void *user, const gls_streamlines *in)
{
    adder *a = user;
    gls_streamlines out = *in;
    const size_t points = (size_t)in->offset[in->n];
    if (points > a->points || in->n_dpv + 1 > a->columns || !a->value) {
        free(a->value);
        free(a->column);
        a->points = points;
        a->columns = in->n_dpv + 1;
        a->value = malloc((points + 1) * sizeof *a->value);
        a->column = malloc(a->columns * sizeof *a->column);
        if (!a->value || !a->column) return gls_fail(GLS_ERR_MEMORY, "out of memory for values of vertices");
    }
    gls_status status = fill(a, in);
    if (status) return status;
    a->column[0] = (gls_column){a->scalars->name, GLS_TYPE_FLOAT32, 1, a->value};
    out.dpv = a->column;
    out.n_dpv = 1;
    for (size_t k = 0; k < in->n_dpv; k++)
        if (strcmp(in->dpv[k].name, a->scalars->name) != 0) a->column[out.n_dpv++] = in->dpv[k];
    return gls_sink_append(&a->next, &out);
}

static void discard(void *user)
{
    adder *a = user;
    gls_sink_abort(&a->next);
    free(a->value);
    free(a->column);
    free(a);
}

/* Finishes the next sink. GLS_ERR_INPUT: the file has values for more streamlines than have passed. */
static gls_status finish(void *user)
{
    adder *a = user;
    float end = 0;
    gls_status status = GLS_OK;
    /* a file may end with infinity, or, as MRtrix3 writes it, without */
    if (read_values(a->scalars, 1, &end) && !isinf(end))
        status = gls_fail(GLS_ERR_INPUT, "%s: has values for more than the %" PRIu64 " streamlines of the tractogram",
                          a->scalars->path, a->scalars->line);
    if (!status) status = gls_sink_finish(&a->next);
    discard(a);
    return status;
}

gls_status gls_tract_scalars_sink(gls_tract_scalars *scalars, gls_sink *sink)
{
    adder *a = calloc(1, sizeof *a);
    if (!a) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    a->scalars = scalars;
    a->next = *sink;
    *sink = (gls_sink){append, finish, discard, a};
    return GLS_OK;
}

/* --- The command. */

/* State of `glslines convert`. */
typedef struct conversion {
    gls_tract_run *run;
    const gls_convert_cli *o;
    const char *in, *out;
    gls_tract_weights weights;
    gls_tract_table table;
    gls_tract_scalars scalars[GLS_MAX_STRINGS];
    gls_summary *summary;
    gls_filter_counts valid;
} conversion;

/* Warns if track scalars have the timestamp of another TCK file. MRtrix3 refuses such scalars. */
static void compare_stamps(const conversion *c, const gls_tract_scalars *s, const gls_tractogram_info *info)
{
    for (size_t k = 0; k < info->n_header && info->format == GLS_FORMAT_TCK && s->stamp; k++)
        if (strcmp(info->header[k].key, "timestamp") == 0 && strcmp(info->header[k].value, s->stamp) != 0)
            gls_log(GLS_LOG_WARNING, "%s: has the timestamp of another tractogram than %s", s->path, c->in);
}

/* Reads columns from files and lists their names for the output. */
static gls_status read_columns(conversion *c, gls_tract_output *output)
{
    size_t n = 0;
    gls_status status = gls_tract_weights_open(&c->weights, c->o->weights, c->run, c->in, false);
    if (!status && c->o->weights) output->added[n++] = c->weights.column;
    if (!status) status = gls_tract_table_read(&c->table, c->o->dps);
    for (size_t k = 0; k < c->table.n && !status; k++) {
        if (n + 1 >= sizeof output->added / sizeof *output->added)
            status = gls_fail(GLS_ERR_UNSUPPORTED, "%s: has too many columns: at most %zu can be added", c->o->dps,
                              sizeof output->added / sizeof *output->added - 1);
        else
            output->added[n++] = c->table.column[k].name;
    }
    for (int k = 0; k < c->o->tsf.n && !status; k++) {
        status = gls_tract_scalars_open(&c->scalars[k], c->o->tsf.value[k]);
        if (!status) compare_stamps(c, &c->scalars[k], output->info);
        if (!status && n + 1 < sizeof output->added / sizeof *output->added) output->added[n++] = c->scalars[k].name;
    }
    return status;
}

/* Builds the chain of sinks, in this order: adding weights and the columns of --dps and --tsf; dropping streamlines
 * without points or with a coordinate that is not finite; --compress; the writer and the summary. */
static gls_status connect(conversion *c, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_tract_output output = {.path = c->out, .info = info, .fields = c->o->fields, .half_precision = c->o->half};
    gls_tractogram_format format;
    gls_grid grid;
    gls_sink both[2];
    gls_status status = gls_tractogram_format_parse(c->out, &format);
    if (!status && (gls_tract_needs_grid(format) || c->run->options.reference)) {
        status = gls_tract_grid_choose(c->run, c->in, info, c->out, &grid);
        output.grid = &grid;
    }
    if (!status) status = read_columns(c, &output);
    if (!status) status = gls_summary_create(c->run->options.reference ? &grid : NULL, &c->summary);
    if (!status) status = gls_tract_writer_create(c->run, &output, &both[0]);
    if (status) return status;
    both[1] = gls_summary_sink(c->summary);
    status = gls_sink_tee(both, 2, sink);
    if (status) gls_sink_abort(&both[0]);
    gls_sink next = *sink;
    if (!status && c->o->compress > 0) {
        status = gls_filter_compress_create(c->o->compress, c->o->max_segment, &next, sink);
        next = *sink;
    }
    if (!status) status = gls_filter_valid_create(&c->valid, &next, sink);
    for (int k = 0; k < c->o->tsf.n && !status; k++) status = gls_tract_scalars_sink(&c->scalars[k], sink);
    for (size_t k = 0; k < c->table.n && !status; k++) {
        next = *sink;
        status = gls_filter_dps_create_from(c->o->dps, &c->table.column[k], c->table.rows, &next, sink);
    }
    return status ? status : gls_tract_weights_sink(&c->weights, info, c->in, sink);
}

/* Adds counts to the sidecar, and warns of streamlines that are left out or leave the grid. */
static void report(conversion *c)
{
    const gls_summary_result *r = gls_summary_get(c->summary);
    gls_tract_run *run = c->run;
    gls_tract_run_count(run, "read", c->valid.taken);
    gls_tract_run_count(run, "written", c->valid.kept);
    gls_tract_run_count(run, "points", r->points);
    gls_tract_run_count(run, "outside_reference", r->outside);
    gls_tract_warn_left_out(c->in, &c->valid);
    if (r->outside > 0)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " streamlines leave the grid of %s, the first is %" PRIu64, c->in,
                r->outside, run->options.reference, r->first_outside);
    gls_tract_run_message(run, "%s: %" PRIu64 " streamlines, %" PRIu64 " points", c->out, r->streamlines, r->points);
}

gls_status gls_tract_convert(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    conversion c = {.run = run, .o = options, .in = file[0], .out = file[n - 1]};
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_format format;
    gls_sink sink = {0};
    gls_status status = gls_tractogram_format_parse(c.out, &format);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(c.in, run->options.reference, c.o->weights, c.o->dps));
    if (!status) status = gls_tract_run_reads_all(run, c.o->tsf.value, (size_t)c.o->tsf.n);
    if (!status) status = gls_tract_run_writes(run, c.out);
    if (!status) status = gls_tract_open(run, c.in, false, &reader);
    if (!status) status = connect(&c, gls_tractogram_reader_info(reader), &sink);
    status = gls_tract_pump(run, reader, &sink, status);
    if (!status) report(&c);
    gls_tractogram_reader_close(reader);
    gls_summary_destroy(c.summary);
    gls_tract_weights_close(&c.weights);
    gls_tract_table_finish(&c.table);
    for (int k = 0; k < c.o->tsf.n; k++) gls_tract_scalars_close(&c.scalars[k]);
    return status;
}
