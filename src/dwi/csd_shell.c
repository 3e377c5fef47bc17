/* Which shell is deconvolved. */
#include "dwi/csd_shell.h"

#include <glslines/csd.h>

#include "util/log.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_BVAL 500.0 /* s/mm2: below, the signal of fibres differs too little by direction */

/* "700 (30 volumes), 2000 (60 volumes)": the weighted shells. */
static void name_shells(const gls_shell *shell, size_t n, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n && used + 40 < room; i++)
        if (shell[i].bval > 0)
            used += (size_t)snprintf(text + used, room - used, "%s%.6g (%zu volumes)", used ? ", " : "", shell[i].bval,
                                     shell[i].n);
}

/* Index of the shell that a b-value names. */
static gls_status find_shell(const gls_gradients *gradients, const gls_shell *shell, size_t n, double requested,
                             size_t *found)
{
    gls_gradients *selected = NULL;
    size_t *volume = NULL;
    double b = 0;
    gls_status status = gls_gradients_select_shell(gradients, requested, &selected, &volume);
    if (status != GLS_OK) return status;
    for (size_t i = 0; i < selected->n; i++)
        if (!selected->is_b0[i]) b = selected->bval[i];
    gls_gradients_destroy(selected);
    free(volume);
    for (size_t i = 0; i < n; i++)
        if (shell[i].bval > 0 && shell[i].min_bval <= b && b <= shell[i].max_bval) *found = i;
    return GLS_OK;
}

gls_status gls_csd_choose_shell(const gls_gradients *gradients, double requested, double *bval)
{
    GLS_REQUIRE(gradients && bval && requested >= 0);
    char text[1024];
    size_t n, n_weighted = 0, chosen = SIZE_MAX;
    gls_shell *shell = malloc(gradients->n * sizeof *shell);
    if (!shell) return gls_fail(GLS_ERR_MEMORY, "out of memory for the shells of %zu volumes", gradients->n);
    gls_gradients_shells(gradients, shell, gradients->n, &n);
    name_shells(shell, n, text, sizeof text);
    gls_status status = requested > 0 ? find_shell(gradients, shell, n, requested, &chosen) : GLS_OK;
    for (size_t i = 0; i < n; i++) {
        n_weighted += shell[i].bval > 0;
        if (requested == 0 && chosen == SIZE_MAX && shell[i].bval >= MIN_BVAL) chosen = i;
    }
    if (status != GLS_OK) goto done;
    if (n_weighted == 0) {
        status = gls_fail(GLS_ERR_INPUT, "the gradient table has no diffusion-weighted volume");
    } else if (chosen == SIZE_MAX) {
        status = gls_fail(GLS_ERR_INPUT,
                          "CSD looks for a shell of at least %g s/mm2, there are: %s; name one to use it all the same",
                          MIN_BVAL, text);
    } else {
        if (n_weighted > 1)
            gls_log(GLS_LOG_INFO, "CSD uses the shell of b = %g s/mm2 of: %s", shell[chosen].bval, text);
        if (shell[chosen].bval < MIN_BVAL)
            gls_log(GLS_LOG_WARNING,
                    "CSD on a shell of b = %g s/mm2: below %g the signal hardly depends on the direction of fibres",
                    shell[chosen].bval, MIN_BVAL);
        *bval = shell[chosen].bval;
    }
done:
    free(shell);
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
            return gls_fail(GLS_ERR_ARGUMENT, "%s: volume %zu of a series of %zu", what, volume[i], dwi->n_volumes);
        if (gradients->is_b0[i]) continue;
        low = fmin(low, gradients->bval[i]);
        high = fmax(high, gradients->bval[i]);
    }
    if (high == 0) return gls_fail(GLS_ERR_INPUT, "%s: the gradient table has no diffusion-weighted volume", what);
    if (gradients->n_b0 == 0) return gls_fail(GLS_ERR_INPUT, "%s: the gradient table has no b0 volume", what);
    gls_shell shell[2];
    size_t n;
    gls_gradients_shells(gradients, shell, 2, &n);
    if (n > 2 && high - low > 20 && high - low > 0.01 * low)
        return gls_fail(GLS_ERR_INPUT,
                        "%s needs one shell, the weighted volumes have b-values from %g to %g s/mm2: select one", what,
                        low, high);
    return GLS_OK;
}
