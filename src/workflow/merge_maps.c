#include "workflow/merge_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/nifti.h"
#include "util/format.h"
#include "util/plain.h"
#include "util/status.h"
#include "util/table.h"
#include "util/text.h"

enum { NIFTI_INT32 = 8, NIFTI_FLOAT64 = 64 };

static bool is_image(const char *path)
{
    return gls_case_ends(path, ".nii") || gls_case_ends(path, ".nii.gz");
}

bool gls_is_map_name(const char *path)
{
    return is_image(path) || gls_case_ends(path, ".csv") || gls_case_ends(path, ".tsv");
}

/* Part and parts of a name, "x_shard-2of3.csv". */
static gls_status read_name(const char *path, unsigned *index, unsigned *count)
{
    const char *mark = NULL;
    for (const char *c = path; (c = strstr(c, "_shard-")); c++) mark = c;
    if (mark && sscanf(mark, "_shard-%uof%u", index, count) == 2 && *index >= 1 && *index <= *count) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: its name does not say which part it is, as x_shard-2of3.csv does", path);
}

static gls_status check_parts(const char *const *paths, size_t n)
{
    unsigned count = 0, index, parts;
    gls_status status = read_name(paths[0], &index, &count);
    if (status) return status;
    if (n > count) return gls_fail(GLS_ERR_INPUT, "%s: one of %u parts, but %zu were given", paths[0], count, n);
    const char **part = calloc(count, sizeof *part);
    if (!part) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n && !status; i++) {
        status = read_name(paths[i], &index, &parts);
        if (!status && parts != count)
            status = gls_fail(GLS_ERR_INPUT, "%s: is one of %u parts, %s one of %u", paths[i], parts, paths[0], count);
        if (!status && part[index - 1])
            status =
                gls_fail(GLS_ERR_INPUT, "%s: part %u is there twice, also as %s", paths[i], index, part[index - 1]);
        if (!status) part[index - 1] = paths[i];
    }
    for (unsigned i = 0; i < count && !status; i++)
        if (!part[i]) status = gls_fail(GLS_ERR_INPUT, "%s: part %u of %u is missing", paths[0], i + 1, count);
    free(part);
    return status;
}

/* A map of counts as it lies in the file. */
typedef struct count_map {
    gls_nifti_header header;
    unsigned char *bytes; /* header, padding and voxels */
    size_t n_bytes, n;
} count_map;

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

static gls_status read_map(const char *path, count_map *m)
{
    gls_stream *stream = NULL;
    uint64_t used;
    size_t got = 0;
    *m = (count_map){.bytes = NULL};
    gls_status status = gls_stream_open_regular(path, &stream);
    if (!status) status = gls_nifti_read_header(stream, path, &m->header, &used);
    gls_stream_close(stream);
    stream = NULL;
    if (status) return status;
    const gls_values *v = &m->header.values;
    if ((v->datatype != NIFTI_INT32 && v->datatype != NIFTI_FLOAT64) || v->swapped || !m->header.single_file ||
        m->header.n_volumes != 1)
        return gls_fail(GLS_ERR_INPUT, "%s: is no map of counts of 'glslines track --density'", path);
    m->n = gls_grid_voxels(&m->header.grid);
    m->n_bytes = (size_t)(m->header.offset + m->header.bytes);
    status = gls_stream_open(path, &stream);
    if (!status && gls_stream_bound(stream) < m->n_bytes) status = gls_fail(GLS_ERR_INPUT, "%s: is cut off", path);
    if (!status && !(m->bytes = malloc(m->n_bytes))) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_stream_read(stream, m->bytes, m->n_bytes, &got);
    if (!status && got < m->n_bytes) status = gls_fail(GLS_ERR_INPUT, "%s: is cut off", path);
    gls_stream_close(stream);
    return status;
}

static gls_status add_map(const char *path, const char *first, const count_map *like, double *sum)
{
    count_map m;
    gls_status status = read_map(path, &m);
    if (!status && (memcmp(m.header.grid.dim, like->header.grid.dim, sizeof m.header.grid.dim) != 0 ||
                    memcmp(m.header.grid.affine, like->header.grid.affine, sizeof m.header.grid.affine) != 0))
        status = gls_fail(GLS_ERR_INPUT, "%s: its grid is not that of %s", path, first);
    for (size_t i = 0; i < like->n && !status; i++) sum[i] += value_at(&m, i);
    free(m.bytes);
    return status;
}

/* Counts up to 2^53 add up exactly; int32 while they fit, as gls_density_write() chooses. */
static gls_status merge_images(const char *const *paths, size_t n, const char *output, bool force,
                               gls_output_group *group)
{
    count_map first;
    double *sum = NULL;
    bool fits = true;
    gls_status status = read_map(paths[0], &first);
    if (!status && !(sum = calloc(first.n, sizeof *sum))) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n && !status; i++) status = add_map(paths[i], paths[0], &first, sum);
    for (size_t i = 0; i < first.n && !status; i++) fits = fits && sum[i] <= INT32_MAX;
    if (!status && fits && first.header.values.datatype == NIFTI_INT32) {
        for (size_t i = 0; i < first.n; i++) {
            int32_t whole = (int32_t)sum[i];
            memcpy(first.bytes + first.header.offset + i * sizeof whole, &whole, sizeof whole);
        }
        status = gls_nifti_write_bytes(output, force, group, first.bytes, first.n_bytes);
    } else if (!status) {
        status = gls_nifti_write(output, force, group, &first.header.grid, "density", 1, GLS_TYPE_FLOAT64, sum);
    }
    free(sum);
    free(first.bytes);
    return status;
}

static gls_status merge_tables(const char *const *paths, size_t n, const char *output, bool force,
                               gls_output_group *group)
{
    double *sum = NULL, *more = NULL;
    size_t rows = 0, columns = 0, r, c;
    char number[40];
    gls_text text = {0};
    gls_status status = gls_table_read(paths[0], &sum, &rows, &columns);
    for (size_t i = 1; i < n && !status; i++) {
        status = gls_table_read(paths[i], &more, &r, &c);
        if (!status && (r != rows || c != columns))
            status = gls_fail(GLS_ERR_INPUT, "%s: has %zu x %zu cells, %s has %zu x %zu", paths[i], r, c, paths[0],
                              rows, columns);
        for (size_t k = 0; k < rows * columns && !status; k++) sum[k] += more[k];
        free(more);
        more = NULL;
    }
    const char separator = gls_case_ends(output, ".csv") ? ',' : gls_case_ends(output, ".tsv") ? '\t' : ' ';
    for (size_t k = 0; k < rows * columns && !status; k++) {
        gls_text_puts(&text, gls_format_double(sum[k], number, sizeof number));
        gls_text_append(&text, (k + 1) % columns ? &separator : "\n", 1);
    }
    free(sum);
    const size_t length = text.length;
    char *data = gls_text_take(&text);
    if (!status && !data) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = gls_file_write(output, force, group, data, length);
    free(data);
    return status;
}

gls_status gls_maps_merge(const char *const *paths, size_t n, const char *output, bool force, gls_output_group *group)
{
    gls_status status = check_parts(paths, n);
    for (size_t i = 0; i < n && !status; i++)
        if (is_image(paths[i]) != is_image(output))
            status = gls_fail(GLS_ERR_ARGUMENT, "%s: is of another kind than %s", paths[i], output);
    if (status) return status;
    return is_image(output) ? merge_images(paths, n, output, force, group)
                            : merge_tables(paths, n, output, force, group);
}
