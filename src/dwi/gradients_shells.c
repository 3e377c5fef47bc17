/* Shells: volumes of the same b-value after rounding. */
#include <glslines/gradients.h>

#include "dwi/gradients_table.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMED_SHELLS 32

static double unit_of(double max_bval)
{
    return max_bval > 0 ? pow(10, trunc(log10(max_bval)) - 1) : 1;
}

/* Half to even; a weighted volume keeps at least one digit, so that 0 always means b0. */
static double round_bval(double b, double unit)
{
    double rounded = rint(b / unit) * unit;
    while (rounded == 0 && b > 0) {
        unit /= 10;
        rounded = rint(b / unit) * unit;
    }
    return rounded;
}

static double table_unit(const gls_gradients *gradients)
{
    double highest = 0;
    for (size_t i = 0; i < gradients->n; i++) highest = fmax(highest, gradients->bval[i]);
    return unit_of(highest);
}

static double shell_of(const gls_gradients *gradients, size_t i, double unit)
{
    return gradients->is_b0[i] ? 0 : round_bval(gradients->bval[i], unit);
}

void gls_gradients_shells(const gls_gradients *gradients, gls_shell *shells, size_t capacity, size_t *n_shells)
{
    double unit = table_unit(gradients), last = -1;
    *n_shells = 0;
    for (;;) { /* the next higher rounded b-value, until there is none */
        gls_shell next = {.bval = INFINITY, .min_bval = INFINITY};
        for (size_t i = 0; i < gradients->n; i++) {
            double b = shell_of(gradients, i, unit);
            if (b <= last || b > next.bval) continue;
            if (b < next.bval) next = (gls_shell){.bval = b, .min_bval = INFINITY};
            next.min_bval = fmin(next.min_bval, gradients->bval[i]);
            next.max_bval = fmax(next.max_bval, gradients->bval[i]);
            next.n++;
        }
        if (next.n == 0) return;
        if (*n_shells < capacity) shells[*n_shells] = next;
        ++*n_shells;
        last = next.bval;
    }
}

/* Message with the shells there are. */
static gls_status no_such_shell(const gls_gradients *gradients, double bval)
{
    gls_shell shells[MAX_NAMED_SHELLS];
    char text[512] = "";
    size_t n, used = 0;
    gls_gradients_shells(gradients, shells, MAX_NAMED_SHELLS, &n);
    for (size_t i = 0; i < n && i < MAX_NAMED_SHELLS && used + 20 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.6g", i ? ", " : "", shells[i].bval);
    return gls_fail(GLS_ERR_INPUT, "no volume has b-value %g s/mm2 after rounding; the shells are %s%s", bval, text,
                    n > MAX_NAMED_SHELLS ? ", ..." : "");
}

static void copy_selected(const gls_gradients *from, gls_gradients *to, const size_t *volume)
{
    to->b0_threshold = from->b0_threshold;
    to->x_flipped = from->x_flipped;
    for (size_t i = 0; i < to->n; i++) {
        to->bval[i] = from->bval[volume[i]];
        memcpy(to->bvec[i], from->bvec[volume[i]], sizeof to->bvec[i]);
        to->is_b0[i] = from->is_b0[volume[i]];
        to->n_b0 += to->is_b0[i];
    }
}

gls_status gls_gradients_select_shell(const gls_gradients *gradients, double bval, gls_gradients **selected,
                                      size_t **volume)
{
    GLS_REQUIRE(gradients && selected && volume && bval > 0);
    double unit = table_unit(gradients), wanted = round_bval(bval, unit);
    size_t n = 0, n_weighted = 0;
    size_t *index = malloc(gradients->n * sizeof *index);
    if (!index) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volume indices", gradients->n);
    for (size_t i = 0; i < gradients->n; i++) {
        bool weighted = !gradients->is_b0[i] && shell_of(gradients, i, unit) == wanted;
        n_weighted += weighted;
        if (weighted || gradients->is_b0[i]) index[n++] = i;
    }
    gls_gradients *table = NULL;
    gls_status status = n_weighted ? gls_gradients_allocate(n, &table) : no_such_shell(gradients, bval);
    if (status != GLS_OK) {
        free(index);
        return status;
    }
    copy_selected(gradients, table, index);
    *selected = table;
    *volume = index;
    return GLS_OK;
}
