/* Gradient tables in one file: rows x y z b along the scanner axes, as MRtrix3 writes them. */
#include <glslines/gradients.h>

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/mif_header.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define MAX_JSON ((size_t)256 << 20) /* largest size of a file, bytes; larger files are not parsed */
#define NORM_TOLERANCE 0.01          /* lengths of weighted vectors that differ from 1 by more are reported */

/* Reads rows x y z b of a text file. The caller frees *row. Refuses a file whose name ends in b_table.txt, a table of
 * DSI Studio with b first. */
static gls_status read_rows(const char *path, double (**row)[4], size_t *n)
{
    double *values = NULL;
    size_t columns;
    if (gls_case_ends(path, "b_table.txt"))
        return gls_fail(
            GLS_ERR_UNSUPPORTED,
            "%s: is DSI Studio's table (rows b x y z), whose axes depend on the program that wrote it: give "
            ".bval and .bvec, or rows x y z b",
            path);
    gls_status status = gls_table_read(path, &values, n, &columns);
    if (status) return status;
    if (columns != 4) {
        free(values);
        return gls_fail(GLS_ERR_INPUT,
                        "%s: %zu numbers a row, but a gradient table in one file has rows x y z b: give b-values "
                        "and b-vectors as two files",
                        path, columns);
    }
    *row = (double(*)[4])values;
    return GLS_OK;
}

/* Takes rows x y z b from "dw_scheme", the key under which mrconvert -json_export stores the table. */
static gls_status rows_of_json(const char *path, const cJSON *scheme, double (**row)[4], size_t *n)
{
    if (!cJSON_IsArray(scheme) || cJSON_GetArraySize(scheme) == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: no gradient table: there is no \"dw_scheme\" with rows x y z b", path);
    size_t rows = (size_t)cJSON_GetArraySize(scheme), at = 0;
    double(*made)[4] = calloc(rows, sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "%s: no memory for its gradient table", path);
    const cJSON *line;
    cJSON_ArrayForEach(line, scheme)
    {
        for (int c = 0; c < 4; c++) {
            const cJSON *value = cJSON_GetArrayItem(line, c);
            if (cJSON_IsArray(line) && cJSON_IsNumber(value)) {
                made[at][c] = value->valuedouble;
                continue;
            }
            free(made);
            return gls_fail(GLS_ERR_INPUT, "%s: row %zu of dw_scheme (counted from 0) is not x y z b", path, at);
        }
        at++;
    }
    *row = made;
    *n = rows;
    return GLS_OK;
}

/* Reads the entry "dw_scheme" of a JSON file, which MRtrix3's -json_export writes. The caller frees *row. */
static gls_status read_json(const char *path, double (**row)[4], size_t *n)
{
    char *text = NULL;
    size_t bytes;
    gls_status status = gls_file_read(path, MAX_JSON, &text, &bytes);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    free(text);
    if (!root) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    status = rows_of_json(path, gls_json_at(root, "dw_scheme"), row, n);
    cJSON_Delete(root);
    return status;
}

/* Takes the table from the header of a .mif or .mif.gz; the pixels are not read. The caller frees *row. */
static gls_status read_mif(const char *path, double (**row)[4], size_t *n)
{
    gls_mif_header header;
    gls_status status = gls_mif_read_header(path, &header);
    if (status) return status;
    *row = header.scheme;
    *n = header.n_scheme;
    header.scheme = NULL;
    gls_mif_header_finish(&header);
    return *n > 0 ? GLS_OK
                  : gls_fail(GLS_ERR_INPUT, "%s: its header has no gradient table (dw_scheme): give .bval and .bvec",
                             path);
}

/* Splits rows x y z b. bval: b multiplied by the squared length of the vector, as MRtrix3 encodes b-values. bvec:
 * the vector scaled to length 1. A vector of length 0, or not finite, stays as it is, with its b, so that the checks
 * of the table name it. range: least and largest length in weighted volumes before scaling; infinity and 0 if there
 * are none. */
static void scale(double (*row)[4], size_t n, double b0_threshold, double *bval, double (*bvec)[3], double range[2])
{
    range[0] = INFINITY, range[1] = 0;
    for (size_t i = 0; i < n; i++) {
        double *v = row[i], norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        bool has_length = isfinite(norm) && norm > 0;
        bval[i] = has_length ? v[3] * norm * norm : v[3];
        for (int c = 0; c < 3; c++) bvec[i][c] = has_length ? v[c] / norm : isfinite(norm) ? 0 : v[c];
        if (!has_length || bval[i] <= b0_threshold) continue;
        range[0] = fmin(range[0], norm);
        range[1] = fmax(range[1], norm);
    }
}

/* Makes a table from n rows x y z b along the scanner axes, whatever frame the options name; messages begin with the
 * name of the file. */
static gls_status create(const char *path, double (*row)[4], size_t n, const gls_gradients_options *options,
                         const gls_grid *grid, gls_gradients **gradients)
{
    double range[2], *bval = malloc(n * sizeof *bval), (*bvec)[3] = malloc(n * sizeof *bvec);
    gls_gradients_options world = *options;
    world.frame = GLS_BVEC_WORLD;
    gls_status status = bval && bvec ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: no memory for its gradient table", path);
    if (!status) {
        scale(row, n, options->b0_threshold, bval, bvec, range);
        if (range[0] < 1 - NORM_TOLERANCE || range[1] > 1 + NORM_TOLERANCE)
            gls_log(GLS_LOG_WARNING,
                    "%s: vectors have lengths from %.4g to %.4g; b-values are multiplied by the squared lengths, as in "
                    "MRtrix3",
                    path, range[0], range[1]);
        status = gls_gradients_create(bval, (const double(*)[3])bvec, n, &world, grid, gradients);
        if (status) {
            char reason[512];
            snprintf(reason, sizeof reason, "%s", gls_last_error());
            gls_error_set("%s: %s", path, reason);
        }
    }
    free(bval);
    free(bvec);
    return status;
}

gls_status gls_gradients_read_table(const char *path, const gls_gradients_options *options, const gls_grid *grid,
                                    size_t n_volumes, gls_gradients **gradients)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(path && grid && gradients && n_volumes > 0);
    const gls_gradients_options defaults = gls_gradients_options_default();
    if (!options) options = &defaults;
    double(*row)[4] = NULL;
    size_t n = 0;
    gls_status status = gls_mif_is_name(path)          ? read_mif(path, &row, &n)
                        : gls_case_ends(path, ".json") ? read_json(path, &row, &n)
                                                       : read_rows(path, &row, &n);
    if (!status && n != n_volumes)
        status = gls_fail(GLS_ERR_INPUT, "%s: the gradient table has %zu rows, but the series has %zu volumes", path, n,
                          n_volumes);
    if (!status) status = create(path, row, n, options, grid, gradients);
    free(row);
    return status;
}
