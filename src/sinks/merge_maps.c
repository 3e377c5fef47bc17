/* Adds up maps and matrices of shards, after checks that they are all parts of one map of one run. */
#include <glslines/connectome.h>
#include <glslines/shard.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sinks/merge_maps.h"
#include "image/formats.h"
#include "image/image_write.h"
#include "image/mif_header.h"
#include "image/nifti_header.h"
#include "image/stream.h"
#include "record/sidecar.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Most fields of a line of a matrix: one more than fit shows that there are more. */
#define MAX_FIELDS (GLS_CONNECTOME_MAX_NODES + 2)
/* Largest file of a matrix that is read, bytes. */
#define MAX_TABLE_BYTES ((size_t)256 << 20)

/* --- The run of a map. A map does not name its run, but the sidecar of its shard names the map. */

/* Identity of the run, from a sidecar beside the map. */
typedef struct gls_map_run {
    /* true: the hashes below were read from a sidecar */
    bool known;
    char parameters[17], inputs[17], others[17]; /* hashes; "": not known */
} gls_map_run;

static const char *map_run_difference(const gls_map_run *a, const gls_map_run *b);

/* The record of a map in a sidecar. */
typedef enum claim {
    CLAIM_NONE,
    CLAIM_NAME, /* it names a file of this name, but with another checksum */
    CLAIM_FILE, /* its run wrote a file of these bytes, but of another name */
    CLAIM_BOTH  /* it names this file, with its checksum */
} claim;

/* Finds how the outputs of a sidecar name the map. */
static claim find_claim(const cJSON *outputs, const char *map)
{
    claim found = CLAIM_NONE;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, outputs)
    {
        const char *name = gls_json_text_at(entry, GLS_WRITTEN_FILE);
        const bool is_named = name && strcmp(name, gls_file_name(map)) == 0;
        const claim what = gls_written_is_unchanged(entry, map) ? is_named ? CLAIM_BOTH : CLAIM_FILE
                           : is_named                           ? CLAIM_NAME
                                                                : CLAIM_NONE;
        if (what > found) found = what;
    }
    return found;
}

/* Copies a hash of the sidecar; "" where the sidecar has none. */
static void copy_hash(const cJSON *item, char hash[17])
{
    const char *text = cJSON_GetStringValue(item);
    snprintf(hash, 17, "%s", text ? text : "");
}

/* Fills *run from the file `sidecar`, if this is the sidecar of the shard that wrote the map. */
static claim read_run(const char *sidecar, const char *map, const gls_shard *shard, gls_map_run *run)
{
    cJSON *root = gls_json_read(sidecar, GLS_SIDECAR_MAX_BYTES);
    const cJSON *own = gls_json_at(root, "shard"), *index = gls_json_at(own, "index"),
                *count = gls_json_at(own, "count");
    claim found = CLAIM_NONE;
    if (cJSON_IsNumber(index) && index->valuedouble == shard->index && cJSON_IsNumber(count) &&
        count->valuedouble == shard->count)
        found = find_claim(gls_json_at(root, GLS_SIDECAR_OUTPUTS), map);
    if (found >= CLAIM_FILE) {
        run->known = true;
        copy_hash(gls_json_at(own, "parameters_hash"), run->parameters);
        copy_hash(gls_json_at(own, "inputs_hash"), run->inputs);
        copy_hash(gls_json_at(root, "other_inputs_xxh3_64"), run->others);
    }
    cJSON_Delete(root);
    return found;
}

/* Finds the run that wrote a map of shard `index` (from 1) of `count`, by the sidecars of this shard beside the map.
 * GLS_ERR_INPUT: a sidecar names the map, but none has its checksum. */
static gls_status map_run_find(const char *map, unsigned index, unsigned count, gls_map_run *found)
{
    const gls_shard shard = {.index = index, .count = count};
    const int folder = (int)(gls_file_name(map) - map);
    char mark[64], *path = NULL, *name = folder ? strndup(map, (size_t)folder) : strdup("."), *naming = NULL;
    const size_t n = (size_t)snprintf(mark, sizeof mark, "_shard-%uof%u", index, count);
    DIR *directory = name ? opendir(name) : NULL;
    gls_map_run run = {.known = false};
    claim best = CLAIM_NONE; /* that of `run` */
    bool several = false;    /* different runs have this claim, because they wrote equal maps */
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *at = strstr(entry->d_name, mark), *end = strrchr(entry->d_name, '.');
        if (!at || at[n] != '.' || strcmp(end, ".json") != 0) continue;
        if (gls_asprintf(&path, "%.*s%s", folder, map, entry->d_name) < 0) break;
        gls_map_run other = {.known = false};
        const claim what = read_run(path, map, &shard, &other);
        if (what > best) {
            best = what;
            run = other;
            several = false;
        } else if (what == best) {
            several = several || map_run_difference(&run, &other) != NULL;
        }
        if (what == CLAIM_NAME && !naming)
            naming = path;
        else
            free(path);
    }
    run.known = run.known && !several;
    *found = run;
    gls_status status = GLS_OK;
    if (naming && best < CLAIM_FILE)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: is not the file that its sidecar %s records: it was changed or replaced since; copy it "
                          "again, or track this part again",
                          map, naming);
    if (directory) closedir(directory);
    free(name);
    free(naming);
    return status;
}

/* Names the first difference between two runs; NULL: there is none, or one of the runs is not known. */
static const char *map_run_difference(const gls_map_run *a, const gls_map_run *b)
{
    if (!a->known || !b->known) return NULL;
    return strcmp(a->parameters, b->parameters) != 0 ? "the parameters"
           : strcmp(a->inputs, b->inputs) != 0       ? "the input data"
           : strcmp(a->others, b->others) != 0 ? "regions, tissue images or files for results such as --connectome"
                                               : NULL;
}

/* NIfTI codes of the data types that maps of counts have. */
enum { NIFTI_INT32 = 8, NIFTI_FLOAT64 = 64 };

bool gls_map_is_name(const char *path)
{
    return gls_image_is_output(path) || gls_case_ends(path, ".csv") || gls_case_ends(path, ".tsv");
}

/* Parts of a path such as "x_shard-2of3.csv". The mark is its text "_shard-2of3". */
typedef struct part_name {
    const char *name; /* name of the file if it has the mark; the whole path if a folder has the mark */
    int stem;         /* length of the text before the mark */
    const char *rest; /* text after the mark */
    unsigned index, count;
} part_name;

/* Finds the last mark, such as "_shard-2of3", in a path. GLS_ERR_INPUT: there is none. */
static gls_status read_name(const char *path, part_name *part)
{
    const char *mark = NULL, *slash = strrchr(path, '/');
    int length = 0;
    for (const char *c = path; (c = strstr(c, "_shard-")); c++) mark = c;
    part->name = slash && mark > slash ? slash + 1 : path;
    if (mark && sscanf(mark, "_shard-%6uof%6u%n", &part->index, &part->count, &length) == 2 && part->index >= 1 &&
        part->index <= part->count && part->count <= GLS_MAX_SHARDS) {
        part->stem = (int)(mark - part->name);
        part->rest = mark + length;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: its name does not say which part it is, as x_shard-2of3.csv does", path);
}

/* Whether two files are parts of one map: their names differ only in the index of the part. Where the index is in the
 * name of a folder instead, the names of the files must be equal. */
static bool same_map(const part_name *a, const part_name *b)
{
    const char *slash_a = strrchr(a->rest, '/'), *slash_b = strrchr(b->rest, '/');
    if (slash_a || slash_b) return slash_a && slash_b && strcmp(slash_a, slash_b) == 0;
    return a->stem == b->stem && strncmp(a->name, b->name, (size_t)a->stem) == 0 && strcmp(a->rest, b->rest) == 0;
}

/* The parts of a map, and the run that they belong to as far as it is known. */
typedef struct map_parts {
    /* name of the first file, with which the names of the other files are compared */
    part_name first;
    const char **path; /* path of each part; NULL: not found yet */
    gls_map_run run;
    const char *run_path; /* path of the part whose sidecar gave `run`; NULL: `run` is not known */
    unsigned unknown;     /* number of parts whose run is not known */
} map_parts;

/* Adds one file to the parts. GLS_ERR_INPUT: the file is of another map or run, or its part is there already. */
static gls_status check_part(map_parts *p, const char *path, const char *first_path)
{
    part_name own;
    gls_status status = read_name(path, &own);
    if (status) return status;
    /* all files must be parts of one map, with the same number of parts, and each part once */
    if (own.count != p->first.count)
        return gls_fail(GLS_ERR_INPUT, "%s: is one of %u parts, but %s is one of %u: give the parts of one map", path,
                        own.count, first_path, p->first.count);
    if (p->path[own.index - 1])
        return gls_fail(GLS_ERR_INPUT, "%s: is part %u, as %s is: give each part once", path, own.index,
                        p->path[own.index - 1]);
    if (!same_map(&p->first, &own))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is a part of another map than %s: their names differ in more than the number of the part",
                        path, first_path);
    p->path[own.index - 1] = path;
    gls_map_run found;
    status = map_run_find(path, own.index, own.count, &found);
    if (status) return status;
    const char *differs = map_run_difference(&p->run, &found);
    if (differs) return gls_fail(GLS_ERR_INPUT, "%s: is of another run than %s: %s differ", path, p->run_path, differs);
    if (!found.known) p->unknown++;
    /* all maps are compared with the first run that is known */
    if (found.known && !p->run.known) {
        p->run = found;
        p->run_path = path;
    }
    return GLS_OK;
}

/* Checks that the files are all parts of one map of one run. Warns if the run of a part is not known. */
static gls_status check_parts(const char *const *paths, size_t n)
{
    map_parts p = {.path = NULL};
    gls_status status = read_name(paths[0], &p.first);
    if (status) return status;
    if (n > p.first.count)
        return gls_fail(GLS_ERR_INPUT, "%s: is one of %u parts, but %zu files were given", paths[0], p.first.count, n);
    p.path = calloc(p.first.count, sizeof *p.path);
    if (!p.path) return gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) status = check_part(&p, paths[i], paths[0]);
    for (unsigned i = 0; i < p.first.count && !status; i++)
        if (!p.path[i])
            status = gls_fail(GLS_ERR_INPUT, "%s: part %u of %u of this map is missing: give all parts", paths[0],
                              i + 1, p.first.count);
    if (!status && p.unknown > 0)
        gls_log(
            GLS_LOG_WARNING,
            "%s: of its parts, %u of %u have no sidecar beside them that records them, so that neither their run nor "
            "their checksum is known",
            paths[0], p.unknown, p.first.count);
    free(p.path);
    return status;
}

/* A map of counts: the bytes of its file, decompressed. */
typedef struct count_map {
    /* header of the file; of a MIF, the same members in the words of NIfTI */
    gls_nifti_header header;
    unsigned char *bytes; /* header, padding and voxels */
    /* n_bytes: length of `bytes`; n: number of values in all volumes */
    size_t n_bytes, n;
} count_map;

/* Value i of a map, which is int32 or float64. */
static double value_at(const count_map *m, size_t i)
{
    const unsigned char *at = m->bytes + m->header.offset + i * m->header.values.bytes;
    int32_t whole;
    double real;
    if (m->header.values.datatype == NIFTI_INT32) {
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
    memcpy(&real, at, sizeof real);
    return real;
}

/* Reads the header of a MIF. One that gls_density_write() did not write is not a single file, or its order of values
 * differs. */
static gls_status read_mif_header(const char *path, gls_nifti_header *header)
{
    gls_mif_header mif;
    gls_status status = gls_mif_read_header(path, &mif);
    if (status) return status;
    const bool plain = mif.coding == GLS_MIF_VALUES && mif.volumes_rank == 3 && !mif.volumes_turned;
    *header = (gls_nifti_header){.grid = mif.grid,
                                 .n_volumes = mif.n_volumes,
                                 .values = mif.values,
                                 .single_file = plain && !mif.file,
                                 .offset = mif.offset,
                                 .bytes = mif.bytes};
    gls_mif_header_finish(&mif);
    return GLS_OK;
}

/* Reads the header of a map. */
static gls_status read_header(const char *path, gls_nifti_header *header)
{
    gls_stream *stream = NULL;
    uint64_t used;
    if (gls_mif_is_name(path)) return read_mif_header(path, header);
    gls_status status = gls_stream_open_regular(path, &stream);
    if (!status) status = gls_nifti_read_header(stream, path, header, &used);
    gls_stream_close(stream);
    return status;
}

/* Reads a map of counts as bytes, decompressed. */
static gls_status read_map(const char *path, count_map *m)
{
    gls_stream *stream = NULL;
    size_t got = 0;
    *m = (count_map){.bytes = NULL};
    gls_status status = read_header(path, &m->header);
    if (status) return status;
    /* accept only maps as gls_density_write() writes them: plain values without scaling, in one file */
    const gls_values *v = &m->header.values;
    if ((v->datatype != NIFTI_INT32 && v->datatype != NIFTI_FLOAT64) || v->swapped || v->slope != 1 || v->inter != 0 ||
        !m->header.single_file)
        return gls_fail(GLS_ERR_INPUT, "%s: is no map of counts as 'glslines track --shard' writes", path);
    m->n = gls_grid_voxels(&m->header.grid) * m->header.n_volumes;
    m->n_bytes = (size_t)(m->header.offset + m->header.bytes);
    status = gls_stream_open(path, &stream);
    if (!status && gls_stream_bound(stream) < m->n_bytes)
        status = gls_fail(GLS_ERR_INPUT, "%s: is truncated: copy or make the file again", path);
    if (!status && !(m->bytes = malloc(m->n_bytes))) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_stream_read(stream, m->bytes, m->n_bytes, &got);
    if (!status && got < m->n_bytes)
        status = gls_fail(GLS_ERR_INPUT, "%s: is truncated: copy or make the file again", path);
    gls_stream_close(stream);
    return status;
}

/* Adds the map of a shard to `sum`. GLS_ERR_INPUT: its grid is not that of the map `like`, which was read from
 * `first`. */
static gls_status add_map(const char *path, const char *first, const count_map *like, double *sum)
{
    count_map m;
    gls_status status = read_map(path, &m);
    if (!status && (m.n != like->n || memcmp(m.header.grid.dim, like->header.grid.dim, sizeof m.header.grid.dim) != 0 ||
                    memcmp(m.header.grid.affine, like->header.grid.affine, sizeof m.header.grid.affine) != 0))
        status = gls_fail(GLS_ERR_INPUT, "%s: its grid is not that of %s", path, first);
    for (size_t i = 0; i < like->n && !status; i++) sum[i] += value_at(&m, i);
    free(m.bytes);
    return status;
}

/* Rejects tables of seeds, which do not add up. */
static gls_status check_table(const char *path)
{
    static const char first[] = "#Track_index";
    char found[sizeof first - 1];
    uint64_t bytes = 0;
    int fd;
    gls_status status = gls_regular_open(path, &fd, &bytes);
    if (status) return status;
    if (bytes >= sizeof found) status = gls_regular_read(path, fd, 0, found, sizeof found);
    close(fd);
    if (status || bytes < sizeof found || memcmp(found, first, sizeof found) != 0) return status;
    return gls_fail(GLS_ERR_INPUT, "%s: is a list of seeds (--output-seeds), which cannot be added up: give matrices",
                    path);
}

/* Writes sums as the first map has them, with its header: int32 if the first map is int32 and the sums fit, else
 * float64, like gls_density_write(). The values of `first` are replaced. */
static gls_status write_sums(count_map *first, const double *sum, bool same_format, const char *output, bool force,
                             gls_output_group *group)
{
    bool fits = first->header.values.datatype == NIFTI_INT32;
    for (size_t i = 0; i < first->n; i++) fits = fits && sum[i] >= INT32_MIN && sum[i] <= INT32_MAX;
    unsigned char *at = first->bytes + first->header.offset;
    for (size_t i = 0; i < first->n && fits; i++) {
        const int32_t whole = (int32_t)sum[i];
        memcpy(at + i * sizeof whole, &whole, sizeof whole);
    }
    /* the bytes of the first map with the sums as voxels: header and padding stay as they are */
    if (fits && same_format) return gls_image_write_bytes(output, force, group, first->bytes, first->n_bytes);
    return gls_image_write_values(output, force, group, &first->header.grid, "density", first->header.n_volumes,
                                  fits ? GLS_TYPE_INT32 : GLS_TYPE_FLOAT64, fits ? (const void *)at : sum);
}

/* Adds up maps of counts, exactly up to 2^53. */
static gls_status merge_images(const char *const *paths, size_t n, const char *output, bool force,
                               gls_output_group *group)
{
    count_map first;
    double *sum = NULL;
    gls_status status = read_map(paths[0], &first);
    if (!status && !(sum = calloc(first.n, sizeof *sum))) status = gls_no_memory();
    for (size_t i = 0; i < n && !status; i++) status = add_map(paths[i], paths[0], &first, sum);
    if (!status)
        status = write_sums(&first, sum, gls_mif_is_name(paths[0]) == gls_mif_is_name(output), output, force, group);
    free(sum);
    free(first.bytes);
    return status;
}

/* Name of the row of --vector, as gls_connectome_write_grouped() writes it. */
#define LAST_END "last_end"

/* A matrix of numbers; with a header, the names of its columns, which are those of its rows but for a matrix of one
 * row. */
typedef struct matrix {
    char *text;
    char **name; /* one for each column, in `text`; NULL: the matrix has no header */
    bool vector; /* with a header: its row is that of --vector */
    double *value;
    size_t rows, columns;
} matrix;

/* Frees what a matrix owns. */
static void matrix_finish(matrix *m)
{
    free(m->text);
    free(m->name);
    free(m->value);
    *m = (matrix){.text = NULL};
}

/* Reads a matrix with a header, which begins with an empty cell. field: room for the fields of a line. */
static gls_status read_named(const char *path, matrix *m, char **field)
{
    gls_records records = gls_records_begin(m->text, m->text[0]);
    const size_t n = gls_record_next(&records, field, MAX_FIELDS) - 1;
    if (n == 0 || n >= MAX_FIELDS)
        return gls_fail(GLS_ERR_INPUT, "%s: the header must have 1 to %d names", path, GLS_CONNECTOME_MAX_NODES);
    m->columns = n;
    m->name = malloc(n * sizeof *m->name);
    m->value = malloc(n * n * sizeof *m->value);
    if (!m->name || !m->value) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    memcpy(m->name, field + 1, n * sizeof *m->name);
    for (size_t i = 0; i < n && !m->vector; m->rows = ++i) {
        const size_t fields = gls_record_next(&records, field, MAX_FIELDS);
        m->vector = i == 0 && fields == n + 1 && strcmp(field[0], LAST_END) == 0 && strcmp(m->name[0], LAST_END) != 0;
        if (fields != n + 1 || (strcmp(field[0], m->name[i]) != 0 && !m->vector))
            return gls_fail(GLS_ERR_INPUT, "%s: line %zu: must be \"%.60s\" and %zu numbers, as the header says", path,
                            records.line, m->name[i], n);
        for (size_t k = 0; k < n; k++)
            if (!gls_parse_double(field[k + 1], &m->value[i * n + k]))
                return gls_fail(GLS_ERR_INPUT, "%s: line %zu: \"%.24s\" is not a number", path, records.line,
                                field[k + 1]);
    }
    if (gls_record_next(&records, field, MAX_FIELDS) > 0)
        return gls_fail(GLS_ERR_INPUT, "%s: has more rows than its header says", path);
    return GLS_OK;
}

/* Reads a matrix. Call matrix_finish() also after a failure. */
static gls_status read_matrix(const char *path, matrix *m)
{
    size_t n;
    gls_status status = check_table(path);
    if (!status) status = gls_file_read_text(path, MAX_TABLE_BYTES, &m->text, &n);
    if (status) return status;
    if (m->text[0] != ',' && m->text[0] != '\t')
        return gls_table_parse(path, m->text, n, &m->value, &m->rows, &m->columns);
    char **field = malloc(MAX_FIELDS * sizeof *field);
    status = field ? read_named(path, m, field) : gls_no_memory();
    free(field);
    return status;
}

/* Adds the matrix of a shard to *sum, which was read from `first`. */
static gls_status add_matrix(const char *path, const char *first, matrix *sum)
{
    matrix m = {.text = NULL};
    gls_status status = read_matrix(path, &m);
    if (!status && (m.rows != sum->rows || m.columns != sum->columns))
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu x %zu cells, but %s has %zu x %zu", path, m.rows, m.columns,
                          first, sum->rows, sum->columns);
    if (!status && !m.name != !sum->name)
        status = gls_fail(GLS_ERR_INPUT, "%s: %s a header, but %s %s: give the parts of one map", path,
                          m.name ? "has" : "lacks", first, m.name ? "lacks it" : "has one");
    for (size_t i = 0; m.name && i < m.columns && !status; i++)
        if (strcmp(m.name[i], sum->name[i]) != 0)
            status = gls_fail(GLS_ERR_INPUT, "%s: names column %zu \"%.60s\", but %s \"%.60s\"", path, i + 1, m.name[i],
                              first, sum->name[i]);
    for (size_t k = 0; k < sum->rows * sum->columns && !status; k++) sum->value[k] += m.value[k];
    matrix_finish(&m);
    return status;
}

/* Adds up matrices of the same size and header, and writes the sum in their form. */
static gls_status merge_tables(const char *const *paths, size_t n, const char *output, bool force,
                               gls_output_group *group)
{
    matrix sum = {.text = NULL};
    char number[40];
    gls_text text = {0};
    gls_status status = read_matrix(paths[0], &sum);
    for (size_t i = 1; i < n && !status; i++) status = add_matrix(paths[i], paths[0], &sum);
    /* separator: comma in .csv, tab in .tsv, else a blank */
    const char separator = gls_case_ends(output, ".csv") ? ',' : gls_case_ends(output, ".tsv") ? '\t' : ' ';
    for (size_t k = 0; sum.name && k < sum.columns && !status; k++) {
        gls_text_append(&text, &separator, 1);
        gls_field_append(&text, sum.name[k], separator);
    }
    if (sum.name) gls_text_puts(&text, "\n");
    for (size_t i = 0; i < sum.rows && !status; i++) {
        if (sum.name) gls_field_append(&text, sum.vector ? LAST_END : sum.name[i], separator);
        for (size_t k = 0; k < sum.columns; k++) {
            if (k > 0 || sum.name) gls_text_append(&text, &separator, 1);
            gls_text_puts(&text, gls_format_double(sum.value[i * sum.columns + k], number, sizeof number));
        }
        gls_text_puts(&text, "\n");
    }
    matrix_finish(&sum);
    return gls_text_write(&text, output, force, group, status);
}

gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group)
{
    gls_status status = check_parts(paths, n);
    for (size_t i = 0; i < n && !status; i++)
        if (gls_image_is_output(paths[i]) != gls_image_is_output(output))
            status = gls_fail(GLS_ERR_ARGUMENT, "%s: cannot be merged to %s: images give an image, tables a table",
                              paths[i], output);
    if (status) return status;
    return gls_image_is_output(output) ? merge_images(paths, n, output, force, group)
                                       : merge_tables(paths, n, output, force, group);
}
