/* Chooses which shell of a series CSD deconvolves, checks that a series has one shell, says whether this shell alone
 * decides the default method, and finds the order that its directions determine. */

#include <glslines/csd.h>
#include <glslines/sh.h>

#include "dwi/csd_shell.h"
#include "dwi/gradients_shells.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_BVAL 500.0 /* lowest b-value, s/mm2; below it the signal of fibres depends too little on direction */

#define BEST_LOW \
    2000.0 /* b-values from BEST_LOW to BEST_HIGH, s/mm2, show the fibres with the most contrast over the noise */
#define BEST_HIGH 3000.0

/* Distance of the b-value of a shell from the best range, in s/mm2; 0 inside the range. */
static double off_best(const gls_shell *shell)
{
    return fmax(0, fmax(BEST_LOW - shell->bval, shell->bval - BEST_HIGH));
}

/* Among shells of at least MIN_BVAL, chooses the one with most volumes, since more volumes determine a higher order;
 * among equals the one nearest to the best range. SIZE_MAX: no such shell. */
static size_t best_shell(const gls_shell *shell, size_t n)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (shell[i].is_b0 || shell[i].bval < MIN_BVAL) continue;
        if (best == SIZE_MAX || shell[i].n > shell[best].n ||
            (shell[i].n == shell[best].n && off_best(&shell[i]) < off_best(&shell[best])))
            best = i;
    }
    return best;
}

/* Writes to text (`room` bytes) why best_shell() chose this shell. needed: number of SH coefficients of the order to
 * fit. */
static void name_reason(const gls_shell *shell, size_t n, size_t chosen, size_t needed, char *text, size_t room)
{
    size_t most = 0, n_largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (shell[i].is_b0 || shell[i].bval < MIN_BVAL) continue;
        if (shell[i].n > most) n_largest = 0;
        if (shell[i].n >= most) n_largest++;
        most = shell[i].n > most ? shell[i].n : most;
    }
    snprintf(text, room, "%s%s",
             n_largest > 1 ? "as many directions as others and the best contrast" : "most directions",
             shell[chosen].n < needed ? ", though fewer than the order has coefficients" : "");
}

/* If there are several shells, logs which one is deconvolved and why. Warns of a b-value below MIN_BVAL. */
static void report_choice(const gls_shell *shell, size_t n, size_t chosen, bool asked, int sh_order)
{
    char text[1024], reason[128] = "as asked";
    size_t n_weighted = 0, volumes = 0;
    for (size_t i = 0; i < n; i++) {
        n_weighted += !shell[i].is_b0;
        volumes += shell[i].n;
    }
    /* whether to mention msmt, which would use all shells: few b-values with many volumes each are shells, many
     * b-values with few volumes each are a grid in q-space */
    const bool all_could = !asked && n * n <= volumes;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    if (!asked) name_reason(shell, n, chosen, gls_sh_count(sh_order), reason, sizeof reason);
    if (n_weighted > 1)
        gls_log(GLS_LOG_INFO, "CSD uses the shell of b = %.6g s/mm2 (%s); the shells are: %s%s", shell[chosen].bval,
                reason, text, all_could ? "; multi-tissue deconvolution (msmt) would use all of them" : "");
    if (shell[chosen].bval < MIN_BVAL)
        gls_log(GLS_LOG_WARNING,
                "CSD on a shell of b = %.6g s/mm2: below %g the signal hardly depends on the direction of fibres",
                shell[chosen].bval, MIN_BVAL);
}

/* Fails. The message lists the shells of the table; if the b-values form no shell, it says their range. */
static gls_status no_shell(const gls_gradients *gradients, const gls_shell *shell, size_t n)
{
    char text[1024];
    double lowest = INFINITY, highest = 0;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    for (size_t i = 0; i < gradients->n; i++) {
        if (gradients->is_b0[i]) continue;
        lowest = fmin(lowest, gradients->bval[i]);
        highest = fmax(highest, gradients->bval[i]);
    }
    if (n > (gradients->n_b0 > 0))
        return gls_fail(GLS_ERR_INPUT,
                        "CSD needs a shell of at least %g s/mm2, but the shells are: %s; --shells B uses the shell of "
                        "b-value B all the same",
                        MIN_BVAL, text);
    return gls_fail(GLS_ERR_INPUT,
                    "CSD needs a shell: three volumes or more of nearly one b-value; the weighted volumes (%zu, of b = "
                    "%g to %g s/mm2) form none",
                    gradients->n - gradients->n_b0, lowest, highest);
}

gls_status gls_csd_choose_shell(const gls_gradients *gradients, double requested, int sh_order, double *bval)
{
    GLS_REQUIRE(gradients && bval && requested >= 0 && gls_sh_count(sh_order) > 0);
    GLS_REQUIRE_TABLE(gradients);
    size_t n = 0, chosen = SIZE_MAX;
    gls_shell *shell = NULL;
    if (gradients->n_b0 == gradients->n)
        return gls_fail(GLS_ERR_INPUT, "the gradient table has no diffusion-weighted volume");
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    if (requested > 0)
        status = gls_gradients_find_shell(shell, n, requested, &chosen);
    else
        chosen = best_shell(shell, n);
    if (!status && chosen == SIZE_MAX) status = no_shell(gradients, shell, n);
    if (!status) {
        report_choice(shell, n, chosen, requested > 0, sh_order);
        *bval = shell[chosen].bval;
    }
    free(shell);
    return status;
}

/* cosine of 1.1 degrees, by which motion correction may rotate repeated directions apart; two directions count as one
 * if one is within this angle of the other or of its opposite */
#define SAME_DIRECTION 0.9998

int gls_csd_order_for(const gls_gradients *gradients, int highest, size_t *n_directions)
{
    size_t n = 0;
    for (size_t i = 0; i < gradients->n; i++) {
        const double *d = gradients->bvec[i];
        bool is_new = !gradients->is_b0[i];
        for (size_t j = 0; j < i && is_new; j++) {
            const double *e = gradients->bvec[j];
            if (!gradients->is_b0[j]) is_new = fabs(d[0] * e[0] + d[1] * e[1] + d[2] * e[2]) < SAME_DIRECTION;
        }
        n += is_new;
    }
    *n_directions = n;
    while (highest > 2 && gls_sh_count(highest) > n) highest -= 2;
    return highest;
}

/* Where the default of one shell changes over from msmt with ifod2 to csd with det: the lowest b-value, s/mm2, and the
 * order that the directions must determine, which takes 45. src/doc/getters.md has the measurements. */
#define HIGH_SHELL_BVAL 1900.0 /* about 2000: scanners and motion correction change it a little */
#define HIGH_SHELL_ORDER 8

gls_status gls_csd_has_high_shell(const gls_gradients *gradients, bool *is)
{
    gls_shell shell[2];
    size_t n = 0, directions = 0;
    gls_status status = gls_gradients_shells(gradients, shell, 2, &n);
    /* the first shell is that of b = 0 */
    *is = !status && gradients->n_b0 > 0 && n == 2 && shell[1].n == gradients->n - gradients->n_b0 &&
          shell[1].bval >= HIGH_SHELL_BVAL &&
          gls_csd_order_for(gradients, HIGH_SHELL_ORDER, &directions) == HIGH_SHELL_ORDER;
    return status;
}

gls_status gls_csd_check_series(const char *what, const gls_image *dwi, const gls_gradients *gradients,
                                const size_t *volume)
{
    double low = INFINITY, high = 0;
    if (!volume && dwi->n_volumes != gradients->n)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: the series has %zu volumes, the gradient table %zu", what,
                        dwi->n_volumes, gradients->n);
    for (size_t i = 0; i < gradients->n; i++) {
        if (volume && volume[i] >= dwi->n_volumes)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "%s: volume %zu (counted from 0) does not exist in a series of %zu volumes", what,
                            volume[i], dwi->n_volumes);
        if (gradients->is_b0[i]) continue;
        low = fmin(low, gradients->bval[i]);
        high = fmax(high, gradients->bval[i]);
    }
    if (high == 0) return gls_fail(GLS_ERR_INPUT, "%s: the gradient table has no diffusion-weighted volume", what);
    if (gradients->n_b0 == 0) return gls_fail(GLS_ERR_INPUT, "%s: the gradient table has no b0 volume", what);
    gls_shell shell[2];
    size_t n = 0;
    gls_status status = gls_gradients_shells(gradients, shell, 2, &n);
    if (status) return status;
    size_t clustered = n > 1 ? shell[1].n : 0, n_weighted = gradients->n - gradients->n_b0;
    if ((n > 2 || clustered < n_weighted) && high - low > 20 && high - low > 0.01 * low)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s needs one shell, but the weighted volumes have b-values from %g to %g s/mm2: select a shell (--shells)",
            what, low, high);
    return GLS_OK;
}
