/* Finds shells, the volumes of one b-value, from how densely the b-values lie: a density-based clustering with the
 * parameters of MRtrix3. Also finds the shell that a b-value names, and selects volumes by shell. */
#include <glslines/gradients.h>

#include "dwi/gradients_shells.h"
#include "dwi/gradients.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REACH 80.0       /* b-values that differ by less than this, in s/mm2, are neighbours */
#define MIN_NEIGHBOURS 3 /* number of neighbours, itself included, that a volume needs to start a shell */
#define CLEARLY 10.0     /* a b-value must be this many times nearer to one shell than to the next */
#define FAR_OFF 0.2      /* a requested b-value may differ from the mean of its shell by this share of the mean */

/* Work space of the clustering (DBSCAN of one dimension). Arrays have one entry for each volume of the table. */
typedef struct clusters {
    const gls_gradients *table; /* the table, only read */
    /* label: cluster of each volume, GLS_NO_SHELL as long as it has none; queue: volumes of the current cluster in the
     * order in which they joined; n: number of finished clusters */
    size_t *label, *queue, n;
    bool *seen; /* true: the neighbours of the volume were counted */
} clusters;

/* Number of weighted volumes whose b-value lies within REACH of b, the volume of b itself included. */
static size_t count_near(const clusters *c, double b)
{
    size_t n = 0;
    for (size_t i = 0; i < c->table->n; i++) n += !c->table->is_b0[i] && fabs(c->table->bval[i] - b) < REACH;
    return n;
}

/* Puts all weighted volumes within REACH of b that have no cluster yet into cluster c->n, and appends them to the
 * queue, whose length is *queued. */
static void take_near(clusters *c, double b, size_t *queued)
{
    for (size_t i = 0; i < c->table->n; i++) {
        if (c->table->is_b0[i] || !(fabs(c->table->bval[i] - b) < REACH) || c->label[i] != GLS_NO_SHELL) continue;
        c->label[i] = c->n;
        c->queue[(*queued)++] = i;
    }
}

/* Groups the weighted volumes into clusters: sets c->label and c->n. Goes through the volumes in the order of the file;
 * one that is in no cluster and has enough neighbours starts a cluster. Each member with enough neighbours adds all its
 * neighbours that are in no cluster yet. So the order of the file decides which cluster gets a volume between two, as
 * in MRtrix3. */
static void find_clusters(clusters *c)
{
    for (size_t i = 0; i < c->table->n; i++) c->label[i] = GLS_NO_SHELL;
    for (size_t i = 0; i < c->table->n; i++) {
        if (c->table->is_b0[i] || c->seen[i]) continue;
        c->seen[i] = true;
        if (count_near(c, c->table->bval[i]) < MIN_NEIGHBOURS) continue;
        size_t queued = 0;
        take_near(c, c->table->bval[i], &queued);
        for (size_t q = 0; q < queued; q++) {
            size_t j = c->queue[q];
            if (c->seen[j] && j != i) continue;
            c->seen[j] = true;
            if (count_near(c, c->table->bval[j]) >= MIN_NEIGHBOURS) take_near(c, c->table->bval[j], &queued);
        }
        c->n++;
    }
}

/* Measures the b-values of cluster `which`, or, with is_b0, of all b0 volumes: mean, sample standard deviation (0 for
 * one volume) and range, in s/mm2. */
static void measure(const gls_gradients *table, const size_t *label, size_t which, bool is_b0, gls_shell *shell)
{
    double sum = 0;
    *shell = (gls_shell){.is_b0 = is_b0, .min_bval = INFINITY};
    for (size_t i = 0; i < table->n; i++) {
        if (is_b0 ? !table->is_b0[i] : label[i] != which) continue;
        sum += table->bval[i];
        shell->min_bval = fmin(shell->min_bval, table->bval[i]);
        shell->max_bval = fmax(shell->max_bval, table->bval[i]);
        shell->n++;
    }
    shell->bval = sum / (double)shell->n;
    for (size_t i = 0; i < table->n; i++)
        if (is_b0 ? table->is_b0[i] : label[i] == which)
            shell->deviation += (table->bval[i] - shell->bval) * (table->bval[i] - shell->bval);
    shell->deviation = shell->n > 1 ? sqrt(shell->deviation / (double)(shell->n - 1)) : 0;
}

/* Comparison for qsort_r(): indices of shells by rising mean b-value. user: the shells. */
static int by_bval(const void *a, const void *b, void *user)
{
    const gls_shell *shell = user;
    double x = shell[*(const size_t *)a].bval, y = shell[*(const size_t *)b].bval;
    return (x > y) - (x < y);
}

gls_status gls_gradients_cluster(const gls_gradients *gradients, gls_shell **shells, size_t *n_shells, size_t *shell_of)
{
    GLS_REQUIRE(gradients && shells && n_shells);
    GLS_REQUIRE_TABLE(gradients);
    size_t n = gradients->n, b0 = gradients->n_b0 > 0;
    gls_status status = GLS_OK;
    size_t *memory = malloc(3 * n * sizeof *memory), *order = memory ? memory + 2 * n : NULL;
    gls_shell *found = malloc(2 * (n + 1) * sizeof *found), *sorted = found ? found + n + 1 : NULL;
    clusters c = {.table = gradients, .label = memory, .queue = memory + n, .seen = calloc(n, sizeof *c.seen)};
    if (!memory || !found || !c.seen) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the shells of %zu volumes", n);
        goto fail;
    }
    /* find and measure the clusters, then sort them by b-value; b0 volumes, if there are any, come first */
    find_clusters(&c);
    for (size_t k = 0; k < c.n; k++) {
        measure(gradients, c.label, k, false, &found[k]);
        order[k] = k;
    }
    qsort_r(order, c.n, sizeof *order, by_bval, found);
    if (b0) measure(gradients, c.label, 0, true, &sorted[0]);
    for (size_t k = 0; k < c.n; k++) sorted[b0 + k] = found[order[k]];
    /* shell_of[i]: shell of volume i in the sorted order */
    for (size_t i = 0; i < n && shell_of; i++) {
        shell_of[i] = gradients->is_b0[i] ? 0 : GLS_NO_SHELL;
        for (size_t k = 0; k < c.n && !gradients->is_b0[i]; k++)
            if (c.label[i] == order[k]) shell_of[i] = b0 + k;
    }
    memmove(found, sorted, (b0 + c.n) * sizeof *found);
    *shells = found;
    *n_shells = b0 + c.n;
    found = NULL;
fail:
    free(memory);
    free(found);
    free(c.seen);
    return status;
}

gls_status gls_gradients_shells(const gls_gradients *gradients, gls_shell *shells, size_t capacity, size_t *n_shells)
{
    GLS_REQUIRE(gradients && n_shells && (shells || capacity == 0));
    GLS_REQUIRE_TABLE(gradients);
    gls_shell *found = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &found, &n, NULL);
    if (status) return status;
    if (capacity > 0) memcpy(shells, found, (n < capacity ? n : capacity) * sizeof *shells);
    *n_shells = n;
    free(found);
    return GLS_OK;
}

void gls_gradients_name_shells(const gls_shell *shell, size_t n, char *text, size_t room)
{
    size_t used = 0;
    snprintf(text, room, "none");
    for (size_t i = 0; i < n && used + 48 < room; i++)
        if (!shell[i].is_b0)
            used += (size_t)gls_snprintf(text + used, room - used, "%s%.6g (%zu volumes)", used ? ", " : "",
                                         shell[i].bval, shell[i].n);
}

/* Distance of a b-value from a shell, in standard deviations of the shell. For a shell whose standard deviation is
 * below 1 s/mm2, the square root of the mean b-value is the unit. */
static double distance(const gls_shell *shell, double bval)
{
    double width = shell->deviation < 1 ? sqrt(shell->bval) : shell->deviation;
    return width > 0 ? fabs(bval - shell->bval) / width : INFINITY;
}

gls_status gls_gradients_find_shell(const gls_shell *shell, size_t n, double bval, size_t *found)
{
    GLS_REQUIRE(found && (shell || n == 0) && bval > 0);
    size_t nearest = SIZE_MAX;
    double least = INFINITY, second = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (shell[i].is_b0) continue;
        /* a b-value inside the range of a shell, or within 1 s/mm2 of its mean, names that shell */
        if ((shell[i].min_bval <= bval && bval <= shell[i].max_bval) || fabs(bval - shell[i].bval) <= 1) {
            *found = i;
            return GLS_OK;
        }
        double d = distance(&shell[i], bval);
        /* least and second: the two smallest distances so far */
        second = fmin(second, fmax(d, least));
        if (d < least) nearest = i;
        least = fmin(least, d);
    }
    /* otherwise take the nearest shell, with a warning, if it is CLEARLY times nearer than any other shell, and the
     * b-value differs from the mean of that shell by at most the share FAR_OFF */
    if (nearest != SIZE_MAX && CLEARLY * least <= second &&
        fabs(bval - shell[nearest].bval) <= FAR_OFF * shell[nearest].bval) {
        gls_log(GLS_LOG_WARNING, "no shell has b = %g s/mm2; the shell of %.6g (%g to %g) is used", bval,
                shell[nearest].bval, shell[nearest].min_bval, shell[nearest].max_bval);
        *found = nearest;
        return GLS_OK;
    }
    char text[1024];
    gls_gradients_name_shells(shell, n, text, sizeof text);
    return gls_fail(GLS_ERR_INPUT, "no shell has b = %g s/mm2; the shells are: %s%s", bval, text,
                    nearest == SIZE_MAX ? " (a shell is three volumes or more of nearly one b-value)" : "");
}

/* Copies to `to` the entries volume[0 .. to->n - 1] of `from`, and its b0 threshold and flags. to: allocated, with no
 * entries filled in. */
static void copy_selected(const gls_gradients *from, gls_gradients *to, const size_t *volume)
{
    to->b0_threshold = from->b0_threshold;
    to->x_flipped = from->x_flipped;
    to->scaled = from->scaled;
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
    return gls_gradients_select_shells(gradients, &bval, 1, selected, volume);
}

/* Sets marked[i] for shell i if it is the shell of the b0 volumes or a b-value names it; b-values up to b0 name that of
 * the b0 volumes. GLS_ERR_INPUT if a b-value names no shell, or a weighted shell that is marked already, or if none
 * names a weighted shell. */
static gls_status mark_shells(const gls_shell *shell, size_t n, double b0, const double *bval, size_t n_bvals,
                              bool *marked)
{
    size_t n_marked = 0;
    for (size_t i = 0; i < n; i++) marked[i] = shell[i].is_b0;
    for (size_t i = 0; i < n_bvals; i++) {
        size_t which = 0;
        if (bval[i] <= b0) continue;
        gls_status status = gls_gradients_find_shell(shell, n, bval[i], &which);
        if (status) return status;
        if (marked[which])
            return gls_fail(
                GLS_ERR_INPUT,
                "b = %g s/mm2 names the shell of b = %.6g s/mm2, which is selected already: name each shell once",
                bval[i], shell[which].bval);
        marked[which] = true;
        n_marked++;
    }
    return n_marked ? GLS_OK : gls_fail(GLS_ERR_INPUT, "b = %g s/mm2 names no weighted shell: name one, too", bval[0]);
}

gls_status gls_gradients_select_shells(const gls_gradients *gradients, const double *bval, size_t n_bvals,
                                       gls_gradients **selected, size_t **volume)
{
    GLS_REQUIRE(gradients && selected && volume && bval && n_bvals > 0);
    GLS_REQUIRE_TABLE(gradients);
    for (size_t i = 0; i < n_bvals; i++) GLS_REQUIRE(bval[i] >= 0);
    gls_shell *shell = NULL;
    gls_gradients *table = NULL;
    bool *marked = NULL;
    size_t n_shells = 0, n = 0, *index = malloc(2 * gradients->n * sizeof *index);
    if (!index) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volume indices", gradients->n);
    size_t *of = index + gradients->n;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n_shells, of);
    if (!status && !(marked = calloc(n_shells + 1, sizeof *marked)))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu shells", n_shells);
    if (!status) status = mark_shells(shell, n_shells, gradients->b0_threshold, bval, n_bvals, marked);
    if (status) goto fail;
    /* b0 volumes always stay; a volume of no shell is dropped */
    for (size_t i = 0; i < gradients->n; i++)
        if (gradients->is_b0[i] || (of[i] != GLS_NO_SHELL && marked[of[i]])) index[n++] = i;
    status = gls_gradients_allocate(n, &table);
    if (status) goto fail;
    copy_selected(gradients, table, index);
    *selected = table;
    *volume = index;
    index = NULL;
fail:
    free(marked);
    free(shell);
    free(index);
    return status;
}
