/* The least-squares problem of multi-tissue deconvolution (Jeurissen et al. 2014): design matrix and constraints.
 * Unknowns are the SH coefficients of all tissues, one tissue after the other. */

#include <glslines/gradients.h>
#include <glslines/msmt.h>
#include <glslines/sh.h>

#include "dwi/msmt_plan.h"
#include "dwi/nonneg_plan.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gls_msmt_plan_finish(gls_msmt_plan *plan)
{
    gls_nonneg_plan_finish(&plan->fit);
    free(plan->volume);
    plan->volume = NULL;
}

/* Fills a row of the design matrix: for each tissue the basis at the gradient direction, scaled by the rotational
 * harmonics of the tissue's response in this shell. no_direction: the vector is 0, as at b = 0, so that only l = 0
 * counts. */
static void set_row(const gls_msmt_plan *plan, const gls_tissue_response *const *response, size_t shell,
                    const double *basis, bool no_direction, double *row)
{
    for (size_t t = 0; t < plan->n_tissues; t++) {
        const gls_tissue_response *r = response[t];
        const double *zonal = r->zonal + shell * (size_t)(r->order / 2 + 1);
        for (size_t j = 0; plan->first[t] + j < plan->first[t + 1]; j++) {
            int l = gls_sh_degree(j);
            double harmonic = l <= r->order ? zonal[l / 2] / sqrt((2 * l + 1) / (4 * M_PI)) : 0;
            row[plan->first[t] + j] = no_direction && l > 0 ? 0 : basis[j] * harmonic;
        }
    }
}

/* Fills the design matrix and plan->volume with the volumes that belong to a shell; of[i]: shell of volume i. design:
 * memory for all volumes. */
static gls_status set_design(gls_msmt_plan *plan, const gls_gradients *gradients,
                             const gls_tissue_response *const *response, const size_t *of, double *design)
{
    double basis[(GLS_MSMT_MAX_ORDER + 1) * (GLS_MSMT_MAX_ORDER + 2) / 2];
    int highest = 0;
    for (size_t t = 0; t < plan->n_tissues; t++) highest = plan->order[t] > highest ? plan->order[t] : highest;
    size_t k = plan->first[plan->n_tissues], n = 0;
    for (size_t i = 0; i < gradients->n; i++) {
        if (of[i] == GLS_NO_SHELL) continue;
        const double *g = gradients->bvec[i];
        gls_status status = gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, highest, (const double(*)[3])g, 1, basis);
        if (status) return status;
        set_row(plan, response, of[i], basis, g[0] == 0 && g[1] == 0 && g[2] == 0, design + n * k);
        plan->volume[n++] = i;
    }
    plan->fit.n = n;
    return GLS_OK;
}

/* Fills the rows of the constraints: the amplitude in every direction for an anisotropic tissue, the single coefficient
 * for others. `rows` is zero before. Returns the number of rows. */
static size_t set_rows(const gls_msmt_plan *plan, const double (*direction)[3], size_t n_directions, double *rows)
{
    double basis[(GLS_MSMT_MAX_ORDER + 1) * (GLS_MSMT_MAX_ORDER + 2) / 2];
    size_t k = plan->first[plan->n_tissues], n = 0;
    for (size_t t = 0; t < plan->n_tissues; t++) {
        size_t count = plan->order[t] > 0 ? n_directions : 1;
        for (size_t i = 0; i < count; i++, n++) {
            gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, plan->order[t], direction + i, 1, basis);
            memcpy(rows + n * k + plan->first[t], basis, (plan->first[t + 1] - plan->first[t]) * sizeof *rows);
        }
    }
    return n;
}

/* Lists the volumes that belong to no shell, as many as fit: "3 (b = 700), 5 (b = 705)"; "" if there are none. Volumes
 * are counted from 0. */
static void gradients_name_unassigned(const gls_gradients *gradients, const size_t *of, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < gradients->n && used + 64 < room; i++)
        if (of[i] == GLS_NO_SHELL)
            used += (size_t)gls_snprintf(text + used, room - used, "%s%zu (b = %.6g)", used ? ", " : "", i,
                                         gradients->bval[i]);
}

gls_status gls_msmt_plan_init(gls_msmt_plan *plan, const gls_gradients *gradients,
                              const gls_tissue_response *const *response, const int *order, size_t n_tissues,
                              const double (*direction)[3], size_t n_directions)
{
    *plan = (gls_msmt_plan){.n_tissues = n_tissues};
    char text[1024];
    for (size_t t = 0; t < n_tissues; t++) {
        plan->order[t] = order[t];
        plan->first[t + 1] = plan->first[t] + gls_sh_count(order[t]);
    }
    /* k: coefficients of all tissues; n_rows: an upper bound, because an isotropic tissue needs one constraint only */
    size_t k = plan->first[n_tissues], n = gradients->n, n_rows = n_tissues * (n_directions + 1), n_shells = 0;
    gls_shell *shell = NULL;
    size_t *of = malloc(n * sizeof *of);
    double *design = calloc(n * k, sizeof *design), *rows = calloc(n_rows * k, sizeof *rows);
    plan->volume = malloc(n * sizeof *plan->volume);
    gls_status status = GLS_OK;
    if (!of || !design || !rows || !plan->volume)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the deconvolution of %zu volumes", n);
    if (!status) status = gls_gradients_cluster(gradients, &shell, &n_shells, of);
    if (!status) status = set_design(plan, gradients, response, of, design);
    if (status) goto fail;
    gradients_name_unassigned(gradients, of, text, sizeof text);
    if (text[0]) gls_log(GLS_LOG_WARNING, "volumes that belong to no shell are left out: %s", text);
    n_rows = set_rows(plan, direction, n_directions, rows);
    status =
        gls_nonneg_plan_init(&plan->fit, "multi-tissue deconvolution", design, plan->fit.n, k, false, rows, n_rows);
fail:
    free(shell);
    free(of);
    free(design);
    free(rows);
    if (status) gls_msmt_plan_finish(plan);
    return status;
}
