/* Reads and writes response functions as text: rows of zonal coefficients, one for each shell, as MRtrix3 writes them,
 * or one row with the eigenvalues of a tensor and S0. */
#include <glslines/csd.h>

#include "dwi/response_file.h"
#include "dwi/gradients_shells.h"
#include "dwi/units.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>

/* Whether all n values are above 0; in a row of zonal coefficients of white matter some are negative. */
static bool all_positive(const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(value[i] > 0)) return false;
    return true;
}

/* Takes a row l1 l2 l3 S0: eigenvalues in mm2/s, of which l2 and l3 must be below l1 and agree to 0.1 %, and the signal
 * S0 at b = 0. */
static gls_status take_evals(const char *path, const double *value, gls_response *response)
{
    if (!(value[1] < value[0]) || fabs(value[2] - value[1]) > 1e-3 * value[1] || !isfinite(value[0] * value[3]))
        return gls_fail(GLS_ERR_INPUT, "%s: %g %g %g %g is no response: eigenvalues l1 > l2 = l3 and S0 are expected",
                        path, value[0], value[1], value[2], value[3]);
    *response = (gls_response){.evals = {value[0], value[1]}, .s0 = value[3]};
    return gls_units_check_eigenvalues(path, response->evals, false);
}

/* Takes a row of n zonal coefficients, l = 0, 2, .... order: order of the response to make; 0: the order of the row,
 * from 2 to GLS_CSD_MAX_ORDER. The coefficient of l = 0 must be positive and the coefficient of l = 2 negative, because
 * the signal is lowest along the fibres; none that is used may be 0. GLS_ERR_INPUT otherwise, or if the order needs
 * more coefficients than the row has. */
static gls_status take_zonal(const char *path, const double *value, size_t n, int order, gls_response *response)
{
    while (n > 1 && value[n - 1] == 0) n--; /* files of several shells pad rows with zeros to the same length */
    if (order == 0) order = n > GLS_CSD_MAX_ORDER / 2 ? GLS_CSD_MAX_ORDER : n > 2 ? 2 * ((int)n - 1) : 2;
    size_t needed = (size_t)order / 2 + 1;
    if (n < needed)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: %zu coefficient%s for a shell (order %zu), but order %d needs %zu: %s (a response of "
                        "eigenvalues has 4 positive numbers)",
                        path, n, n == 1 ? "" : "s", 2 * (n - 1), order, needed,
                        n == 1 ? "give a response of fibres, which has two or more"
                               : "lower --sh-order, or use --csd-rule mrtrix, which accepts responses of lower order");
    gls_response made = {.is_zonal = true, .order = order};
    for (size_t i = 0; i < needed; i++) {
        if (!isfinite(value[i]) || value[i] == 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: has the coefficient %g for l = %zu: a response needs finite numbers "
                            "other than 0",
                            path, value[i], 2 * i);
        made.zonal[i] = value[i];
    }
    if (!(value[0] > 0 && value[1] < 0))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has the coefficients %g for l = 0 and %g for l = 2: in a response of fibres the first is "
                        "positive and the second negative",
                        path, value[0], value[1]);
    if (n > needed)
        gls_log(GLS_LOG_INFO, "%s: the first %zu of %zu coefficients are used, for order %d", path, needed, n, order);
    *response = made;
    return GLS_OK;
}

/* Finds the row of the shell at b-value `bval`. A file of one row fits every shell; otherwise the file needs a row for
 * each shell of the table, b0 included. */
static gls_status find_row(const char *path, size_t rows, const gls_gradients *gradients, double bval, size_t *row)
{
    *row = 0;
    if (rows == 1) return GLS_OK;
    if (!gradients) return gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but one is expected", path, rows);
    gls_shell *shell = NULL;
    size_t n = 0, found = SIZE_MAX;
    char text[512];
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    if (n != rows)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: %zu rows, but the gradient table has %zu shells, b0 included (%s): give one row, or one "
                          "row for each shell",
                          path, rows, n, text);
    else
        status = gls_gradients_find_shell(shell, n, bval, &found);
    if (!status) *row = found;
    free(shell);
    return status;
}

gls_status gls_response_read(const char *path, int sh_order, const gls_gradients *gradients, double bval,
                             gls_response *response)
{
    GLS_REQUIRE(path && response && sh_order >= 0 && sh_order <= GLS_CSD_MAX_ORDER && sh_order % 2 == 0);
    double *value = NULL;
    size_t rows, columns, row;
    gls_status status = gls_table_read(path, &value, &rows, &columns);
    if (status) return status;
    if (rows == 1 && columns == 4 && all_positive(value, 4)) {
        status = take_evals(path, value, response);
    } else {
        status = find_row(path, rows, gradients, bval, &row);
        if (!status) status = take_zonal(path, value + row * columns, columns, sh_order, response);
    }
    free(value);
    return status;
}

gls_status gls_response_write(const char *path, const gls_response *response)
{
    return gls_response_write_grouped(path, true, NULL, response);
}

gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response)
{
    GLS_REQUIRE(path && response);
    gls_text text = {0};
    if (response->is_zonal) {
        gls_text_puts(&text, "# response: spherical harmonic coefficients (l, m = 0) of the signal of a fibre bundle "
                             "along z, l = 0, 2, ...\n");
        for (int l = 0; l <= response->order; l += 2)
            gls_text_printf(&text, "%s%.17g", l ? " " : "", response->zonal[l / 2]);
        gls_text_puts(&text, "\n");
    } else {
        gls_text_puts(&text, "# response: eigenvalues l1 l2 l2 of the tensor of a fibre bundle in mm2/s, signal S0 "
                             "without diffusion weighting\n");
        gls_text_printf(&text, "%.17g %.17g %.17g %.17g\n", response->evals[0], response->evals[1], response->evals[1],
                        response->s0);
    }
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}
