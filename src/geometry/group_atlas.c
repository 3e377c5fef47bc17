/* Subjects are registered in pairs, which are drawn anew in each round (as groupwise_slr of DIPY does): both go half of
 * the way, so that all come to a place between them. Then the streamlines of a bundle of all subjects are clustered. */
#include "geometry/group_atlas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/clusters.h>

#include "geometry/draws.h"
#include "geometry/features.h"
#include "geometry/model_clusters.h"
#include "transform/affine.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Points of a streamline; streamlines and centroids of a subject that are registered; rounds of the registration; how
 * many rounds may pass without a gain. */
enum { POINTS = 20, MOST = 10000, CENTROIDS = 500, ROUNDS = 20, PATIENCE = 3 };
/* Last threshold of the clusters that are registered, mm. */
#define FINE 4.0
/* Bounds of the thresholds of bundles, mm, and the share of streamlines that they hold. */
#define MIN_THRESHOLD 4.0
#define MAX_THRESHOLD 12.0
#define HELD 0.95

typedef struct subject {
    gls_features features;
    gls_group_line *line; /* of each streamline */
    size_t capacity;
    float (*centroid)[3]; /* n centroids, as they are moved */
    size_t n;
    double map[3][4];
} subject;

typedef struct bundle {
    char *name;
    gls_group_bundle info;
} bundle;

struct gls_group {
    gls_group_options options;
    subject *subject;
    size_t n;
    bundle *bundle;
    size_t n_bundles;
    size_t at; /* the subject and the bundle that come */
    uint32_t coming;
};

gls_status gls_group_create(const gls_group_options *options, size_t n_subjects, gls_group **group)
{
    gls_group *g = calloc(1, sizeof *g);
    if (!g) return gls_no_memory();
    g->options = *options;
    g->subject = calloc(n_subjects, sizeof *g->subject);
    if (!g->subject) {
        free(g);
        return gls_no_memory();
    }
    g->n = n_subjects;
    for (size_t s = 0; s < g->n; s++) {
        gls_features_init(&g->subject[s].features, POINTS, false);
        for (int k = 0; k < 3; k++) g->subject[s].map[k][k] = 1;
    }
    *group = g;
    return GLS_OK;
}

void gls_group_destroy(gls_group *g)
{
    if (!g) return;
    for (size_t s = 0; s < g->n; s++) {
        gls_features_finish(&g->subject[s].features);
        free(g->subject[s].line);
        free(g->subject[s].centroid);
    }
    for (size_t k = 0; k < g->n_bundles; k++) free(g->bundle[k].name);
    free(g->subject);
    free(g->bundle);
    free(g);
}

/* Takes streamlines of the bundle that comes. */
static gls_status append(void *user, const gls_streamlines *in)
{
    gls_group *g = user;
    subject *s = &g->subject[g->at];
    const size_t before = s->features.n;
    gls_status status = gls_features_add(&s->features, in);
    if (!status && s->features.n > s->capacity) {
        const size_t capacity = 2 * s->features.n;
        gls_group_line *more = realloc(s->line, capacity * sizeof *more);
        if (!more) return gls_no_memory();
        s->line = more;
        s->capacity = capacity;
    }
    for (size_t i = before; i < s->features.n && !status; i++) s->line[i] = (gls_group_line){g->coming, 0, 0};
    return status;
}

gls_status gls_group_sink(gls_group *g, size_t subject, const char *name, gls_sink *sink)
{
    size_t k = 0;
    while (k < g->n_bundles && strcmp(g->bundle[k].name, name) != 0) k++;
    if (k == g->n_bundles) {
        bundle *more = realloc(g->bundle, (k + 1) * sizeof *more);
        if (!more) return gls_no_memory();
        g->bundle = more;
        g->bundle[k] = (bundle){.name = gls_text_copy(name)};
        if (!g->bundle[k].name) return gls_no_memory();
        g->bundle[k].info.name = g->bundle[k].name;
        g->n_bundles++;
    }
    g->at = subject;
    g->coming = (uint32_t)k;
    *sink = (gls_sink){.append = append, .user = g};
    return GLS_OK;
}

/* --- Registration. */

/* Finds the centroids of a subject that are registered. */
static gls_status find_centroids(const gls_group *g, size_t at)
{
    static const double above[] = {30, 20, 10};
    subject *s = &g->subject[at];
    gls_clusters *clusters = NULL;
    uint64_t *offset = malloc((s->features.n + 1) * sizeof *offset), *drawn = NULL;
    float(*point)[3] = malloc((s->features.n * POINTS + 1) * sizeof *point), (*all)[3] = NULL;
    size_t n = 0, count = 0;
    gls_status status = offset && point ? GLS_OK : gls_no_memory();
    if (!status) status = gls_model_clusters_begin(above, 3, FINE, 0, MOST, g->options.seed, NULL, &clusters);
    for (size_t i = 0; i < s->features.n && !status; i++) {
        if (!gls_features_has(&s->features, i)) continue;
        offset[n] = n * POINTS;
        memcpy(point + n++ * POINTS, s->features.point + i * POINTS, POINTS * sizeof *point);
    }
    if (!status) {
        offset[n] = n * POINTS;
        const gls_streamlines in = {.n = n, .offset = offset, .point = (const float(*)[3])point};
        const gls_sink sink = gls_clusters_sink(clusters);
        status = gls_sink_append(&sink, &in);
    }
    if (!status) status = gls_model_clusters_take(clusters, &all, &count);
    s->n = count < CENTROIDS ? count : CENTROIDS;
    if (!status) status = gls_draws_take(NULL, g->options.seed, (uint32_t)at, count, s->n, &drawn);
    if (!status) s->centroid = malloc((s->n * POINTS + 1) * sizeof *s->centroid);
    if (!status && !s->centroid) status = gls_no_memory();
    for (size_t i = 0; i < s->n && !status; i++)
        memcpy(s->centroid + i * POINTS, all + drawn[i] * POINTS, POINTS * sizeof *all);
    gls_clusters_destroy(clusters);
    free(offset);
    free(point);
    free(all);
    free(drawn);
    return status;
}

/* Mean of the points of the centroids of a subject. */
static void find_centre(const subject *s, double centre[3])
{
    memset(centre, 0, 3 * sizeof *centre);
    for (size_t p = 0; p < s->n * POINTS; p++)
        for (int k = 0; k < 3; k++) centre[k] += (double)s->centroid[p][k] / (double)(s->n * POINTS);
}

/* Halves the parameters of a transform. */
static void halve(const double *t, size_t n, double *half)
{
    for (size_t k = 0; k < n; k++) half[k] = k >= 6 && k < 9 ? (1 + t[k]) / 2 : t[k] / 2;
}

/* Moves a subject by a matrix. */
static void move(subject *s, const double m[3][4])
{
    double map[3][4];
    gls_centroids_move(m, s->centroid, s->n * POINTS);
    gls_transform_compose(m, (const double(*)[4])s->map, map);
    memcpy(s->map, map, sizeof map);
}

/* Registers two subjects, and moves both half of the way. *distance: as they lay, mm2. */
static gls_status register_pair(const gls_group *g, subject *a, subject *b, double *distance)
{
    gls_slr_options o = gls_slr_options_default();
    gls_slr_result found;
    double half[GLS_SLR_MAX], turn[4][4], of_moving[3][4], of_fixed[3][4], back[3][4], centre[2][3];
    o.type = g->options.type;
    gls_status status =
        gls_slr_find(&o, (const float(*)[3])a->centroid, a->n, (const float(*)[3])b->centroid, b->n, POINTS, &found);
    if (status) return status;
    *distance = found.before;
    find_centre(a, centre[0]);
    find_centre(b, centre[1]);
    halve(found.parameter, (size_t)o.type, half);
    gls_slr_matrix(half, (size_t)o.type, turn);
    /* around the centre of the moving subject, to the middle of both centres */
    for (int r = 0; r < 3; r++) {
        memcpy(of_moving[r], turn[r], sizeof of_moving[r]);
        of_moving[r][3] += (centre[0][r] + centre[1][r]) / 2;
        for (int k = 0; k < 3; k++) of_moving[r][3] -= turn[r][k] * centre[1][k];
    }
    /* the fixed subject goes where the whole transform and then the half one brings it */
    gls_affine_invert((const double(*)[4])found.matrix, back);
    gls_transform_compose((const double(*)[4])of_moving, (const double(*)[4])back, of_fixed);
    move(a, (const double(*)[4])of_fixed);
    move(b, (const double(*)[4])of_moving);
    return GLS_OK;
}

/* Registers the subjects, round by round. */
static gls_status register_all(gls_group *g, uint32_t *rounds, double *before, double *after)
{
    double mean[ROUNDS];
    gls_status status = GLS_OK;
    for (size_t s = 0; s < g->n && !status; s++) status = find_centroids(g, s);
    for (uint32_t round = 0; round < ROUNDS && !status; round++) {
        uint64_t *order = NULL;
        size_t pairs = 0;
        mean[round] = 0;
        status = gls_draws_take(NULL, g->options.seed, UINT32_MAX - round, g->n, g->n, &order);
        for (size_t i = 0; i + 1 < g->n && !status; i += 2) {
            subject *a = &g->subject[order[i]], *b = &g->subject[order[i + 1]];
            double distance = NAN;
            if (a->n == 0 || b->n == 0) continue;
            status = register_pair(g, a, b, &distance);
            mean[round] += distance;
            pairs++;
        }
        free(order);
        mean[round] /= (double)pairs;
        if (round == 0) *before = mean[0];
        *after = mean[round];
        *rounds = round + 1;
        if (round >= PATIENCE && !(mean[round] < mean[round - PATIENCE])) break;
    }
    return status;
}

/* --- Streamlines. */

/* A streamline of a bundle. */
typedef struct member {
    size_t subject, line;
} member;

/* The streamlines of a bundle of all subjects, as they are moved. */
typedef struct pool {
    member *member;
    float (*point)[3];
    uint64_t *offset;
    size_t n;
    size_t *kept; /* n_kept of them are in the atlas */
    size_t n_kept;
    double *distance;
} pool;

/* Collects the streamlines of a bundle, and counts the subjects that have it. */
static gls_status collect(gls_group *g, uint32_t k, pool *p)
{
    size_t most = 0;
    for (size_t s = 0; s < g->n; s++) most += g->subject[s].features.n;
    p->member = malloc((most + 1) * sizeof *p->member);
    if (!p->member) return gls_no_memory();
    for (size_t s = 0; s < g->n; s++) {
        const subject *one = &g->subject[s];
        const size_t before = p->n;
        for (size_t i = 0; i < one->features.n; i++)
            if (one->line[i].bundle == k && gls_features_has(&one->features, i)) p->member[p->n++] = (member){s, i};
        g->bundle[k].info.subjects += p->n > before;
    }
    g->bundle[k].info.streamlines = p->n;
    p->point = malloc((p->n * POINTS + 1) * sizeof *p->point);
    p->offset = malloc((p->n + 1) * sizeof *p->offset);
    p->kept = malloc((p->n + 1) * sizeof *p->kept);
    p->distance = malloc((p->n + 1) * sizeof *p->distance);
    if (!p->point || !p->offset || !p->kept || !p->distance) return gls_no_memory();
    for (size_t i = 0; i <= p->n; i++) p->offset[i] = i * POINTS;
    for (size_t i = 0; i < p->n; i++) {
        const subject *one = &g->subject[p->member[i].subject];
        memcpy(p->point + i * POINTS, one->features.point + p->member[i].line * POINTS, POINTS * sizeof *p->point);
        gls_centroids_move((const double(*)[4])one->map, p->point + i * POINTS, POINTS);
    }
    return GLS_OK;
}

/* Keeps the streamline of a cluster that is nearest to its centroid, if enough subjects have streamlines in the
 * cluster. list: its n members. */
static void keep_nearest(gls_group *g, pool *p, const gls_clusters *clusters, size_t c, const uint64_t *list, size_t n,
                         uint32_t needed)
{
    float centroid[POINTS][3];
    double least = INFINITY;
    size_t best = 0;
    uint32_t subjects = 0;
    gls_clusters_centroid(clusters, c, centroid);
    for (size_t i = 0; i < n; i++) {
        /* members come in the order of subjects */
        const float(*point)[3] = (const float(*)[3])p->point + list[i] * POINTS;
        subjects += i == 0 || p->member[list[i]].subject != p->member[list[i - 1]].subject;
        const double d = gls_centroids_distance((const float(*)[3])centroid, point, POINTS);
        if (d >= least) continue;
        least = d;
        best = list[i];
    }
    if (subjects < needed) return;
    gls_group_line *line = &g->subject[p->member[best].subject].line[p->member[best].line];
    line->subjects = subjects;
    line->size = (uint32_t)n;
    p->kept[p->n_kept++] = best;
}

/* Comparison for qsort(): numbers. */
static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the distance within which most streamlines have one of another subject in the atlas. */
static double find_threshold(pool *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        double least = INFINITY;
        for (size_t k = 0; k < p->n_kept; k++)
            if (p->member[p->kept[k]].subject != p->member[i].subject)
                least = fmin(least, gls_centroids_distance((const float(*)[3])p->point + i * POINTS,
                                                           (const float(*)[3])p->point + p->kept[k] * POINTS, POINTS));
        if (isfinite(least)) p->distance[n++] = least;
    }
    if (n == 0) return MAX_THRESHOLD;
    qsort(p->distance, n, sizeof *p->distance, by_value);
    return fmin(fmax(p->distance[(size_t)(HELD * (double)(n - 1))], MIN_THRESHOLD), MAX_THRESHOLD);
}

/* Chooses the streamlines of a bundle. */
static gls_status choose(gls_group *g, uint32_t k)
{
    gls_cluster_options o = gls_cluster_options_default();
    gls_clusters *clusters = NULL;
    pool p = {.n = 0};
    uint64_t *first = NULL, *list = NULL;
    o.threshold = &g->options.threshold;
    o.n_thresholds = 1;
    o.points = 0;
    o.reverse = GLS_CLUSTER_REVERSE_COPIED;
    gls_status status = collect(g, k, &p);
    if (!status) status = gls_clusters_create(&o, &clusters);
    if (!status && p.n > 0) {
        const gls_streamlines in = {.n = p.n, .offset = p.offset, .point = (const float(*)[3])p.point};
        const gls_sink sink = gls_clusters_sink(clusters);
        status = gls_sink_append(&sink, &in);
    }
    if (!status) status = gls_clusters_complete(clusters);
    const size_t n = status ? 0 : gls_clusters_count(clusters);
    first = malloc((n + 1) * sizeof *first);
    list = malloc((p.n + 1) * sizeof *list);
    if (!status && (!first || !list)) status = gls_no_memory();
    if (!status && p.n > 0) status = gls_clusters_list(clusters, first, list);
    const uint32_t needed = (uint32_t)ceil(g->options.min_share * g->bundle[k].info.subjects);
    for (size_t c = 0; c < n && !status; c++)
        keep_nearest(g, &p, clusters, c, list + first[c], (size_t)(first[c + 1] - first[c]), needed);
    g->bundle[k].info.kept = p.n_kept;
    if (!status) g->bundle[k].info.threshold = find_threshold(&p);
    gls_clusters_destroy(clusters);
    free(first);
    free(list);
    free(p.member);
    free(p.point);
    free(p.offset);
    free(p.kept);
    free(p.distance);
    return status;
}

gls_status gls_group_complete(gls_group *g, uint32_t *rounds, double *before, double *after)
{
    gls_status status = GLS_OK;
    *rounds = 0;
    *before = *after = NAN;
    if (g->options.type != 0) status = register_all(g, rounds, before, after);
    for (size_t k = 0; k < g->n_bundles && !status; k++) status = choose(g, (uint32_t)k);
    return status;
}

void gls_group_map(const gls_group *g, size_t subject, double map[3][4])
{
    memcpy(map, g->subject[subject].map, sizeof g->subject[subject].map);
}

const gls_group_line *gls_group_lines(const gls_group *g, size_t subject)
{
    return g->subject[subject].line;
}

size_t gls_group_bundles(const gls_group *g)
{
    return g->n_bundles;
}

gls_group_bundle gls_group_bundle_get(const gls_group *g, size_t k)
{
    return g->bundle[k].info;
}
