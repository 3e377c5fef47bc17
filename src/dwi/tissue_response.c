/* Responses of tissues in several shells: their text files, and whether they fit a series. */
#include <glslines/msmt.h>

#include "dwi/tissue_response.h"
#include "dwi/gradients_shells.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OFF 80.0 /* s/mm2: largest difference between the b-values of a shell in the response and in the series */
#define MAX_BYTES ((size_t)16 << 20) /* largest size of the file of a response */
#define FIBRE_BVAL 500.0             /* s/mm2: from here on the signal of white matter is lowest along the fibres */

gls_status gls_tissue_response_create(size_t n_shells, int order, gls_tissue_response **response)
{
    GLS_REQUIRE(response && n_shells > 0 && order >= 0 && order % 2 == 0);
    gls_tissue_response *r = calloc(1, sizeof *r);
    double *zonal = calloc(n_shells * (size_t)(order / 2 + 1), sizeof *zonal);
    if (!r || !zonal) {
        free(r);
        free(zonal);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a response of %zu shells", n_shells);
    }
    *r = (gls_tissue_response){.n_shells = n_shells, .order = order, .zonal = zonal};
    *response = r;
    return GLS_OK;
}

void gls_tissue_response_destroy(gls_tissue_response *response)
{
    if (!response) return;
    free(response->zonal);
    free(response->bval);
    free(response);
}

/* Parses the first n numbers of a list with commas. Returns them in an array that the caller frees. Returns NULL if
 * there are fewer numbers, one of them is not finite, or memory runs out; this is no error, because a file may lack
 * b-values. */
static double *read_bval(const char *at, size_t n)
{
    double *bval = malloc(n * sizeof *bval);
    for (size_t i = 0; i < n && bval; i++) {
        char *end;
        bval[i] = gls_strtod(at, &end);
        bool good = end != at && isfinite(bval[i]) && (i + 1 == n || *end == ',');
        at = end + 1;
        if (good) continue;
        free(bval);
        bval = NULL;
    }
    return bval;
}

/* Parses the first n b-values of a line "# Shells: 0,1000,2000"; returns NULL if no such line has as many. The search
 * cuts `text` into lines. */
static double *read_shells(char *text, size_t n)
{
    double *bval = NULL;
    for (char *rest = text, *line; !bval && (line = strsep(&rest, "\r\n"));) {
        const char *at = strstr(line, "Shells:");
        if (line[0] == '#' && at) bval = read_bval(at + strlen("Shells:"), n);
    }
    return bval;
}

gls_status gls_tissue_response_read(const char *path, gls_tissue_response **response)
{
    GLS_REQUIRE(path && response);
    char *text = NULL;
    double *value = NULL;
    size_t size = 0, rows = 0, columns = 0, used = 1;
    gls_tissue_response *r = NULL;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &text, &size);
    if (!status) status = gls_table_parse(path, text, size, &value, &rows, &columns);
    if (status) goto fail;
    /* `used`: number of coefficients of the longest row, without the zeros that pad short rows */
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double x = value[i * columns + j];
            if (x != 0 && j >= used) used = j + 1;
            if (isfinite(x) && (j > 0 || x > 0)) continue;
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: row %zu has the coefficient %g for l = %zu: a response needs finite "
                              "numbers, above 0 for l = 0",
                              path, i + 1, x, 2 * j);
            goto fail;
        }
    /* coefficient j is that of degree 2 j */
    status = gls_tissue_response_create(rows, (int)(2 * (used - 1)), &r);
    if (status) goto fail;
    for (size_t i = 0; i < rows; i++) memcpy(r->zonal + i * used, value + i * columns, used * sizeof *r->zonal);
    r->bval = read_shells(text, rows);
    *response = r;
fail:
    free(text);
    free(value);
    return status;
}

gls_status gls_tissue_response_write(const char *path, const gls_tissue_response *response)
{
    return gls_tissue_response_write_grouped(path, true, NULL, response);
}

gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response)
{
    GLS_REQUIRE(path && response && response->zonal);
    gls_text text = {0};
    size_t columns = (size_t)response->order / 2 + 1;
    for (size_t i = 0; i < response->n_shells && response->bval; i++)
        gls_text_printf(&text, "%s%.0f", i ? "," : "# Shells: ", trunc(response->bval[i]));
    if (response->bval) gls_text_puts(&text, "\n");
    gls_text_printf(&text, "# glslines %s\n", gls_version());
    for (size_t i = 0; i < response->n_shells; i++)
        for (size_t j = 0; j < columns; j++)
            gls_text_printf(&text, "%.15g%s", response->zonal[i * columns + j], j + 1 < columns ? " " : "\n");
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Warns of a signal that grows with b; fails if a response of white matter is not lowest along its fibres in a shell of
 * b >= FIBRE_BVAL. */
static gls_status check_values(const gls_tissue_response *r, const char *name, const gls_shell *shell)
{
    size_t columns = (size_t)r->order / 2 + 1;
    for (size_t i = 0; i < r->n_shells; i++) {
        const double *row = r->zonal + i * columns;
        if (i > 0 && row[0] > row[-(ptrdiff_t)columns])
            gls_log(GLS_LOG_WARNING, "%s: the response's signal grows from b = %.6g to %.6g s/mm2", name,
                    shell[i - 1].bval, shell[i].bval);
        if (columns > 1 && shell[i].bval >= FIBRE_BVAL && row[1] >= 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: row %zu, b = %.6g s/mm2: the coefficient %g of l = 2 is not below 0: the signal of "
                            "white matter is lowest along its fibres (--force-response uses the response all the same)",
                            name, i + 1, shell[i].bval, row[1]);
    }
    return GLS_OK;
}

gls_status gls_tissue_response_check(const gls_tissue_response *response, const char *name,
                                     const gls_gradients *gradients, gls_response_fit fit)
{
    bool force = fit == GLS_RESPONSE_FITS_NUMBER;
    GLS_REQUIRE(response && name && gradients && response->zonal);
    GLS_REQUIRE_TABLE(gradients);
    char text[1024];
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    if (n != response->n_shells)
        status = gls_fail(
            GLS_ERR_INPUT, "%s: has %zu row%s, but the series has %zu shells%s (%s): give a row for each shell", name,
            response->n_shells, response->n_shells == 1 ? "" : "s", n, gradients->n_b0 ? ", b0 included" : "", text);
    for (size_t i = 0; i < n && !status && response->bval && !force; i++)
        if (fabs(response->bval[i] - shell[i].bval) > MAX_OFF)
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: shell %zu of the response has b = %.6g s/mm2, but that shell of the series has %.6g "
                              "(--force-response uses the response all the same)",
                              name, i + 1, response->bval[i], shell[i].bval);
    if (!status && !force) status = check_values(response, name, shell);
    free(shell);
    return status;
}
