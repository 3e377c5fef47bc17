/* The filter that marks recognised streamlines: columns with what was found, and a group for each bundle. */
#include <stdlib.h>
#include <string.h>

#include "geometry/recognition.h"
#include "streamlines/filter_parts.h"
#include "util/allocation.h"
#include "util/status.h"

/* The filter that adds columns and groups. */
typedef struct marker {
    const gls_recognition *r;
    uint64_t n; /* streamlines that were recognised */
    gls_sink next;
    uint64_t at;
    /* what is added to a block of at most `capacity` streamlines: four columns; members of n_own groups */
    uint16_t *bundle, *votes;
    float *distance, *margin;
    uint8_t *member;
    size_t capacity;
    gls_column *column; /* all columns and groups of a block */
    size_t n_columns;   /* for how many there is memory */
    /* for each bundle its group; the group of streamlines in no bundle; n_own: there is none */
    uint32_t *group;
    size_t n_own, rest;
    const char **name; /* names of the groups */
    float *found;      /* for each streamline of the tractogram whether it is in a bundle; NULL: all are passed on */
    gls_filter_counts counts;
} marker;

/* Allocates memory for a block. */
static gls_status reserve(marker *m, const gls_streamlines *s)
{
    const size_t columns = s->n_dps + 4 + s->n_groups + m->n_own;
    if (s->n > m->capacity) {
        m->capacity = 0;
        free(m->bundle);
        free(m->distance);
        free(m->member);
        m->bundle = malloc(2 * s->n * sizeof *m->bundle);
        m->distance = malloc(2 * s->n * sizeof *m->distance);
        m->member = malloc(s->n * m->n_own + 1);
        if (!m->bundle || !m->distance || !m->member) return gls_no_memory();
        m->capacity = s->n;
    }
    m->votes = m->bundle + m->capacity;
    m->margin = m->distance + m->capacity;
    if (columns > m->n_columns) {
        gls_column *more = realloc(m->column, columns * sizeof *more);
        if (!more) return gls_no_memory();
        m->column = more;
        m->n_columns = columns;
    }
    return GLS_OK;
}

/* Sets the rows of streamline i of a block of n. */
static void mark(marker *m, size_t i, size_t n)
{
    size_t count;
    const gls_hit *h = gls_recognition_hits(m->r, m->at + i, &count);
    const gls_recognition_row row = gls_recognition_row_get(m->r, m->at + i);
    m->bundle[i] = row.bundle;
    m->votes[i] = row.votes;
    m->distance[i] = row.distance;
    m->margin[i] = row.margin;
    for (size_t k = 0; k < count; k++) m->member[m->group[h[k].bundle] * n + i] = 1;
    if (count == 0 && m->rest < m->n_own) m->member[m->rest * n + i] = 1;
}

/* Whether a column of this name is added. */
static bool is_added(const char *name)
{
    static const char *const added[] = {GLS_DPS_BUNDLE, GLS_DPS_BUNDLE_DISTANCE, GLS_DPS_BUNDLE_VOTES,
                                        GLS_DPS_BUNDLE_MARGIN};
    for (size_t k = 0; k < sizeof added / sizeof *added; k++)
        if (strcmp(added[k], name) == 0) return true;
    return false;
}

/* Whether a group of this name is added. */
static bool is_own_group(const marker *m, const char *name)
{
    for (size_t k = 0; k < m->n_own; k++)
        if (strcmp(m->name[k], name) == 0) return true;
    return false;
}

/* Passes a block on with its columns and groups, which replace those of the same names. */
static gls_status mark_block(void *user, const gls_streamlines *s)
{
    marker *m = user;
    if (m->at + s->n > m->n)
        return gls_fail(GLS_ERR_INPUT, "there are more streamlines than those whose bundles were recognised");
    gls_status status = reserve(m, s);
    if (status) return status;
    memset(m->member, 0, s->n * m->n_own);
    for (size_t i = 0; i < s->n; i++) mark(m, i, s->n);
    m->at += s->n;
    gls_streamlines out = *s;
    size_t n = 0;
    m->column[n++] = (gls_column){GLS_DPS_BUNDLE, GLS_TYPE_UINT16, 1, m->bundle};
    m->column[n++] = (gls_column){GLS_DPS_BUNDLE_DISTANCE, GLS_TYPE_FLOAT32, 1, m->distance};
    m->column[n++] = (gls_column){GLS_DPS_BUNDLE_VOTES, GLS_TYPE_UINT16, 1, m->votes};
    m->column[n++] = (gls_column){GLS_DPS_BUNDLE_MARGIN, GLS_TYPE_FLOAT32, 1, m->margin};
    for (size_t k = 0; k < s->n_dps; k++)
        if (!is_added(s->dps[k].name)) m->column[n++] = s->dps[k];
    out.dps = m->column;
    out.n_dps = n;
    out.group = m->column + n;
    for (size_t k = 0; k < s->n_groups; k++)
        if (!is_own_group(m, s->group[k].name)) m->column[n++] = s->group[k];
    for (size_t k = 0; k < m->n_own; k++)
        m->column[n++] = (gls_column){m->name[k], GLS_TYPE_BOOL, 1, m->member + k * s->n};
    out.n_groups = n - out.n_dps;
    return gls_sink_append(&m->next, &out);
}

/* Frees the filter. */
static void discard(void *user)
{
    marker *m = user;
    gls_sink_abort(&m->next);
    free(m->bundle);
    free(m->distance);
    free(m->member);
    free(m->column);
    free(m->group);
    free(m->name);
    free(m->found);
    free(m);
}

/* Requires as many streamlines as before. */
static gls_status finish(void *user)
{
    marker *m = user;
    gls_status status = GLS_OK;
    if (m->at != m->n)
        status = gls_fail(GLS_ERR_INPUT, "there are fewer streamlines than those whose bundles were recognised");
    if (!status) status = gls_sink_finish(&m->next);
    discard(m);
    return status;
}

/* Numbers the groups: of bundles that have streamlines, and of the rest. */
static void number_groups(marker *m, bool only_found)
{
    for (size_t k = 0; k < gls_recognition_bundles(m->r); k++) {
        const gls_recognized b = gls_recognition_bundle(m->r, k);
        if (b.count == 0) continue;
        m->group[k] = (uint32_t)m->n_own;
        m->name[m->n_own++] = b.name;
    }
    m->rest = m->n_own;
    if (!only_found) m->name[m->n_own++] = GLS_GROUP_UNRECOGNIZED;
}

/* Allocates memory for what is known of bundles and streamlines. */
static gls_status allocate(marker *m, bool only_found)
{
    const size_t n = gls_recognition_bundles(m->r);
    m->group = calloc(n + 1, sizeof *m->group);
    m->name = calloc(n + 1, sizeof *m->name);
    if (only_found) m->found = malloc((m->n + 1) * sizeof *m->found);
    return m->group && m->name && (m->found || !only_found) ? GLS_OK : gls_no_memory();
}

gls_status gls_recognition_filter(const gls_recognition *r, gls_bundles_rest rest, const gls_sink *next,
                                  gls_sink *filter)
{
    const bool only_found = rest == GLS_BUNDLES_REST_DROPPED;
    GLS_REQUIRE(r && gls_recognition_is_complete(r) && next && filter);
    marker *m = calloc(1, sizeof *m);
    if (!m) return gls_no_memory();
    m->r = r;
    m->n = gls_recognition_streamlines(r);
    gls_status status = allocate(m, only_found);
    for (uint64_t i = 0; i < m->n && !status && only_found; i++) {
        size_t n;
        gls_recognition_hits(r, i, &n);
        m->found[i] = n > 0;
    }
    if (!status && only_found) status = gls_filter_listed_create(m->found, m->n, &m->counts, next, &m->next);
    if (status) {
        discard(m);
        return status;
    }
    if (!only_found) m->next = *next;
    number_groups(m, only_found);
    *filter = (gls_sink){mark_block, finish, discard, m};
    return GLS_OK;
}
