/* The tractogram that a command writes: its header, its fields, the filters in front of the writer, and the files
 * beside a TCK file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "tools/writer.h"
#include "record/sidecar.h"
#include "record/tract_run.h"
#include "tools/tsf.h"
#include "tractogram/tck.h"
#include "tractogram/tractogram.h"
#include "tractogram/writers.h"
#include "tracts/tract_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* --- Columns for a TCK file, which cannot hold any: weights and values per streamline as text, values of points as
 * track scalar files of MRtrix3. The files are opened with the first streamlines. */

/* The filter, and the files beside the TCK file. */
typedef struct side {
    /* the run of which the files are outputs */
    gls_tract_run *run;
    /* the writer of the TCK file; owned */
    gls_sink next;
    /* path of the TCK file */
    const char *tck;
    char **path; /* paths: of weights, of dps, and of each component of a dpv */
    size_t n_paths;
    /* opened: open_files() was called; has_weights, has_dps: the streamlines have such columns */
    bool opened, has_weights, has_dps;
    /* OUT_weights.txt and OUT_dps.tsv */
    gls_tract_text weights, dps;
    /* number of elements of `tsf` */
    size_t n_tsf;
    gls_sink *tsf; /* one for each component of a dpv */
} side;

/* Function `abort` of the filter. finish_columns() calls it, too, to free the state. */
static void discard_columns(void *user)
{
    side *s = user;
    gls_sink_abort(&s->next);
    gls_tract_text_close(&s->weights, GLS_ERR_CANCELLED);
    gls_tract_text_close(&s->dps, GLS_ERR_CANCELLED);
    for (size_t k = 0; k < s->n_tsf; k++) gls_sink_abort(&s->tsf[k]);
    for (size_t k = 0; k < s->n_paths; k++) free(s->path[k]);
    free(s->path);
    free(s->tsf);
    free(s);
}

/* Whether the column is the one for MRtrix3's -tck_weights_in. */
static bool is_weights(const gls_column *c)
{
    return strcmp(c->name, "weights") == 0 && c->components == 1;
}

/* Makes the name of a file beside the TCK file, keeps it in s->path, and adds it to the outputs of the run. */
static gls_status name_file(side *s, const char *name, const char *suffix)
{
    const char *dot = strrchr(s->tck, '.');
    char *path = NULL;
    if (gls_asprintf(&path, "%.*s_%s.%s", (int)(dot ? dot - s->tck : (long)strlen(s->tck)), s->tck, name, suffix) < 0)
        return gls_no_memory();
    s->path[s->n_paths++] = path;
    return gls_tract_run_writes(s->run, path);
}

/* Opens the file of one component of a dpv: OUT_NAME.tsf, or with several components OUT_NAME_0.tsf and so on. */
static gls_status open_scalars(side *s, const gls_column *c, uint32_t component)
{
    /* "%s" prints the name alone */
    char *name = NULL;
    if (gls_asprintf(&name, c->components > 1 ? "%s_%u" : "%s", c->name, component) < 0) return gls_no_memory();
    gls_status status = name_file(s, name, "tsf");
    free(name);
    if (!status)
        status = gls_tract_tsf_create(s->run, s->path[s->n_paths - 1], NULL, c->name, component, &s->tsf[s->n_tsf]);
    if (!status) s->n_tsf++;
    return status;
}

/* Opens a file for weights, a file for other dps, and a file for each component of a dpv; only those for which there
 * are columns. */
static gls_status open_files(side *s, const gls_streamlines *in)
{
    gls_status status = GLS_OK;
    s->opened = true;
    size_t capacity = 2;
    for (size_t k = 0; k < in->n_dpv; k++) capacity += in->dpv[k].components;
    s->path = calloc(capacity, sizeof *s->path);
    s->tsf = calloc(capacity, sizeof *s->tsf);
    if (!s->path || !s->tsf) return gls_no_memory();
    for (size_t k = 0; k < in->n_dps; k++) {
        s->has_weights |= is_weights(&in->dps[k]);
        s->has_dps |= !is_weights(&in->dps[k]);
    }
    /* the file of weights has no heading, since MRtrix3 reads it */
    if (s->has_weights) status = name_file(s, "weights", "txt");
    if (s->has_weights && !status) status = gls_tract_text_open(s->run, s->path[s->n_paths - 1], &s->weights);
    if (s->has_dps && !status) status = name_file(s, "dps", "tsv");
    if (s->has_dps && !status) status = gls_tract_text_open(s->run, s->path[s->n_paths - 1], &s->dps);
    /* the heading of the table of dps: a name for each component */
    for (size_t k = 0; k < in->n_dps && s->has_dps && !status; k++) {
        const gls_column *c = &in->dps[k];
        for (uint32_t j = 0; j < c->components && !is_weights(c); j++)
            gls_tract_text_component(&s->dps, c->name, j, c->components);
    }
    if (s->has_dps && !status) gls_tract_text_end_row(&s->dps);
    for (size_t k = 0; k < in->n_dpv && !status; k++)
        for (uint32_t j = 0; j < in->dpv[k].components && !status; j++) status = open_scalars(s, &in->dpv[k], j);
    return status;
}

/* Writes the values of a block of streamlines, a row each. */
static void write_rows(side *s, const gls_streamlines *in)
{
    for (size_t i = 0; i < in->n; i++) {
        for (size_t k = 0; k < in->n_dps; k++) {
            const gls_column *c = &in->dps[k];
            gls_tract_text *text = is_weights(c) ? &s->weights : &s->dps;
            for (uint32_t j = 0; j < c->components; j++) gls_tract_text_value(text, c, i * c->components + j);
        }
        if (s->has_weights) gls_tract_text_end_row(&s->weights);
        if (s->has_dps) gls_tract_text_end_row(&s->dps);
    }
}

static gls_status append_columns(void *user, const gls_streamlines *in)
{
    side *s = user;
    gls_status status = s->opened || in->n == 0 ? GLS_OK : open_files(s, in);
    if (!status) write_rows(s, in);
    for (size_t k = 0; k < s->n_tsf && !status; k++) status = gls_sink_append(&s->tsf[k], in);
    gls_streamlines rest = *in;
    /* the columns are in files of their own now; groups stay, so that the TCK writer lists them as lost */
    rest.n_dps = rest.n_dpv = 0;
    return status ? status : gls_sink_append(&s->next, &rest);
}

/* Function `finish` of the filter: TCK file first, then the files beside it. */
static gls_status finish_columns(void *user)
{
    side *s = user;
    gls_status status = gls_sink_finish(&s->next);
    status = gls_tract_text_close(&s->weights, status);
    status = gls_tract_text_close(&s->dps, status);
    for (size_t k = 0; k < s->n_tsf && !status; k++) status = gls_sink_finish(&s->tsf[k]);
    discard_columns(s);
    return status;
}

/* Makes a filter that writes the columns that TCK cannot hold to files beside it, removes them from the streamlines,
 * and passes on the rest. */
static gls_status tract_side_create(gls_tract_run *run, const char *tck, const gls_sink *next, gls_sink *sink)
{
    side *s = calloc(1, sizeof *s);
    if (!s) return gls_no_memory();
    s->run = run;
    s->tck = tck;
    s->next = *next;
    *sink = (gls_sink){append_columns, finish_columns, discard_columns, s};
    return GLS_OK;
}

/* largest numbers of names in --fields, and of lines of a header */
enum { MAX_FIELDS = 256, MAX_LINES = 256 };

/* The writer at the end of the chain. */
typedef struct chain_end {
    /* the run that writes */
    gls_tract_run *run;
    /* path of the output */
    const char *path;
    /* owned until the file is complete */
    gls_tractogram_writer *writer;
    /* the chain in front of the writer */
    gls_sink sink;
} chain_end;

/* Function `append` of the sink: passes streamlines on. */
static gls_status append(void *user, const gls_streamlines *s)
{
    return gls_sink_append(&((chain_end *)user)->sink, s);
}

/* Function `abort` of the sink. finish() calls it, too, to free the state. */
static void discard(void *user)
{
    chain_end *o = user;
    gls_sink_abort(&o->sink);
    free(o);
}

/* Completes the file. Warns of what its format cannot hold. */
static gls_status finish(void *user)
{
    chain_end *o = user;
    const char *lost = gls_tractogram_writer_lost(o->writer);
    if (lost) {
        cJSON_AddStringToObject(o->run->root, "lost", lost);
        gls_log(GLS_LOG_WARNING, "%s: its format does not hold %s", o->path, lost);
    }
    /* groups whose names the format replaces by numbers are listed in the sidecar */
    if (o->writer->numbers_groups) {
        cJSON *list = cJSON_AddArrayToObject(o->run->root, "groups");
        const gls_column *group = o->writer->column + o->writer->n_dps + o->writer->n_dpv;
        for (size_t k = 0; k < o->writer->n_groups; k++) cJSON_AddItemToArray(list, cJSON_CreateString(group[k].name));
    }
    gls_status status = gls_sink_finish(&o->sink);
    discard(o);
    return status;
}

/* Whether a key of a header describes the file itself and not its streamlines. */
static bool is_own(const char *key)
{
    static const char *const own[] = {"datatype", "file", "count", "total_count", "timestamp"};
    /* keys that glslines itself writes */
    bool found = strncmp(key, "glslines", 8) == 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) found |= strcmp(key, own[i]) == 0;
    return found;
}

/* Lines for the header of a TCK file. */
typedef struct header {
    const char *line[MAX_LINES + 1]; /* NULL-terminated; point into text */
    /* number of lines; bytes of text that are used */
    size_t n, bytes;
    /* the lines, each ended by NUL */
    char *text;
} header;

/* Adds one line of a field. Returns false if the header cannot hold it. */
static bool add_line(header *h, const char *key, const char *value, size_t length)
{
    char *line = h->text + h->bytes;
    const int n = sprintf(line, "%s: %.*s", key, (int)length, value);
    if (h->n == MAX_LINES || !gls_tck_is_line(line) ||
        h->bytes + (size_t)n + 1 > GLS_TCK_MAX_HEADER - 2 * GLS_TCK_LAST_LINES)
        return false;
    h->line[h->n++] = line;
    h->bytes += (size_t)n + 1;
    return true;
}

/* Copies the header of the input to the output if both are TCK files. Fields that are not copied go into the sidecar,
 * unless it has the header of another input. Fields that describe the input file itself are dropped. */
static gls_status take_header(gls_tract_run *run, const gls_tractogram_info *info, gls_tractogram_format format,
                              header *h)
{
    const bool copies = format == GLS_FORMAT_TCK && info->format == GLS_FORMAT_TCK,
               recorded = cJSON_HasObjectItem(run->root, "header_of_input");
    size_t bytes = 1;
    cJSON *left = NULL;
    /* each line of a field is written behind the key of the field */
    for (size_t k = 0; k < info->n_header; k++)
        for (const char *v = info->header[k].value; v; v = strchr(v, '\n') ? strchr(v, '\n') + 1 : NULL)
            bytes += strlen(info->header[k].key) + strcspn(v, "\n") + 3;
    *h = (header){.text = malloc(bytes)};
    if (!h->text) return gls_no_memory();
    for (size_t k = 0; k < info->n_header; k++) {
        const gls_header_field *field = &info->header[k];
        bool copied = copies;
        if (is_own(field->key)) continue;
        for (const char *v = field->value; v && copies; v = strchr(v, '\n') ? strchr(v, '\n') + 1 : NULL)
            copied &= add_line(h, field->key, v, strcspn(v, "\n"));
        if (copied || recorded) continue;
        if (!left) left = cJSON_AddObjectToObject(run->root, "header_of_input");
        cJSON_AddStringToObject(left, field->key, field->value);
    }
    return GLS_OK;
}

/* Whether the column is one that the command adds. */
static bool is_added(const gls_tract_output *o, const char *name)
{
    for (size_t i = 0; o->added[i]; i++)
        if (strcmp(o->added[i], name) == 0) return true;
    return false;
}

/* With --fields, adds a filter in front of *sink that passes on only the named columns and groups. */
static gls_status choose_fields(const gls_tract_output *o, const char *input, gls_sink *sink)
{
    const char *names[MAX_FIELDS];
    size_t n = 0;
    if (!o->fields || strcmp(o->fields, "all") == 0) return GLS_OK;
    char *copy = strdup(o->fields), *rest = copy;
    if (!copy) return gls_no_memory();
    const gls_tractogram_info *info = o->info;
    gls_status status = GLS_OK;
    for (char *name; !status && strcmp(o->fields, "none") != 0 && (name = gls_names_next(&rest, ','));) {
        bool known = gls_column_find(info->dps, info->n_dps, name) || gls_column_find(info->dpv, info->n_dpv, name) ||
                     gls_column_find(info->group, info->n_groups, name) || is_added(o, name);
        if (!known) status = gls_fail(GLS_ERR_INPUT, "%s: has no column or group \"%s\"", input, name);
        if (!status && n == MAX_FIELDS)
            status = gls_fail(GLS_ERR_ARGUMENT, "--fields: has more than %d names", MAX_FIELDS);
        if (!status) names[n++] = name;
    }
    const gls_sink next = *sink;
    /* an empty list ("none") drops all */
    if (!status) status = gls_filter_columns_create(names, n, &next, sink);
    free(copy);
    return status;
}

/* Makes the writer with the header and the dpg of the output. */
static gls_status create_writer(gls_tract_run *run, const gls_tract_output *o, gls_tractogram_format format,
                                gls_tractogram_writer **writer)
{
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    header header;
    gls_grid grid;
    gls_tractogram_options options = gls_tractogram_options_default();
    /* TCK and VTK need no grid: any grid will do */
    gls_status status = o->grid ? GLS_OK : gls_grid_init(&grid, (const int32_t[3]){1, 1, 1}, identity);
    if (!status) status = take_header(run, o->info, format, &header);
    if (status) return status;
    options.precision = o->half_precision ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.overwrite = run->files.force;
    options.header_lines = header.line;
    /* copy the values of groups (dpg) only if all groups are kept, each with all its streamlines */
    if ((!o->fields || strcmp(o->fields, "all") == 0) && !o->drops_group_data) {
        options.dpg = o->info->dpg;
        options.n_dpg = o->info->n_dpg;
    }
    if ((o->drops_group_data || o->dpg) && o->info->n_dpg > 0) gls_tract_warn_no_group_data(o->path);
    if (o->dpg) {
        options.dpg = o->dpg;
        options.n_dpg = o->n_dpg;
    }
    status = gls_tractogram_writer_create(o->path, format, o->grid ? o->grid : &grid, &options, writer);
    free(header.text);
    return status;
}

gls_status gls_tract_drop_groups(const gls_tractogram_info *info, gls_sink *sink)
{
    const size_t n = info->n_dps + info->n_dpv;
    const char **names = malloc((n + 1) * sizeof *names);
    const gls_sink next = *sink;
    if (!names) return gls_no_memory();
    for (size_t k = 0; k < info->n_dps; k++) names[k] = info->dps[k].name;
    for (size_t k = 0; k < info->n_dpv; k++) names[info->n_dps + k] = info->dpv[k].name;
    names[n] = "weights";
    gls_status status = gls_filter_columns_create(names, n + 1, &next, sink);
    free(names);
    return status;
}

void gls_tract_warn_no_group_data(const char *path)
{
    gls_log(GLS_LOG_WARNING,
            "%s: leaves out the data of groups (dpg), because groups here may have other streamlines than in the input",
            path);
}

void gls_tract_warn_left_out(const char *name, const gls_filter_counts *valid)
{
    const uint64_t n = valid->taken - valid->kept;
    if (n > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: leaves out %" PRIu64 " streamline%s without points, or with a point that is not finite", name, n,
                n == 1 ? "" : "s");
}

bool gls_tract_needs_grid(gls_tractogram_format format)
{
    return format == GLS_FORMAT_TRX || format == GLS_FORMAT_TRK;
}

size_t gls_tract_writer_files(gls_tractogram_format format, const gls_tractogram_info *info, size_t n_added)
{
    /* beside TCK: weights, table of dps, a file for each component of a dpv; else columns may need scratch files */
    size_t n = format == GLS_FORMAT_TCK ? 3 : 2 + info->n_dps + info->n_dpv + n_added;
    for (size_t k = 0; k < info->n_dpv && format == GLS_FORMAT_TCK; k++) n += info->dpv[k].components;
    return n;
}

gls_status gls_tract_writer_create(gls_tract_run *run, const gls_tract_output *o, gls_sink *sink)
{
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(o->path, &format);
    if (!status && o->half_precision && format != GLS_FORMAT_TRX)
        status =
            gls_fail(GLS_ERR_ARGUMENT,
                     "--output-precision half: only TRX files hold half precision: give an output that ends in .trx");
    if (status) return status;
    chain_end *made = calloc(1, sizeof *made);
    if (!made) return gls_no_memory();
    made->run = run;
    made->path = o->path;
    status = create_writer(run, o, format, &made->writer);
    if (!status) {
        gls_writer_join(made->writer, &run->files.group);
        made->sink = gls_tractogram_writer_sink(made->writer);
        const gls_sink next = made->sink;
        if (format == GLS_FORMAT_TCK) status = tract_side_create(run, o->path, &next, &made->sink);
    }
    if (!status) /* a message names the first input */
        status = choose_fields(o, run->files.inputs.n > 0 ? run->files.inputs.entry[0].named : o->path, &made->sink);
    if (status)
        discard(made);
    else
        *sink = (gls_sink){append, finish, discard, made};
    return status;
}
