/* Rigid and affine registration. A trial is a row of 12 parameters: shifts in mm, turns in degrees, logarithms of
 * scales, shears, all about the centre of mass of the fixed image. The search scores rows, takes the best, and goes on
 * with smaller steps; equal scores go to the lowest row, so the result does not depend on threads. */
#include "registration/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registration/nmi.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

#define N_PARAMETERS 12
#define N_RIGID 6
#define DEGREE (3.14159265358979323846 / 180)
#define MIN_GAIN 1e-7
#define CLIMBED 4          /* number of best beginnings from which the search climbs */
#define HEADER_MARGIN 0.02 /* an exchange of axes must score so much better than the header */
#define MAX_TURNS 33       /* largest number of turns of one beginning */
#define COARSE 8.0         /* side of the voxels of the search and of the header check, mm */

/* Steps along the three kinds of parameters (mm; degrees; logarithm or shear) on the first, the middle and the last
 * level. */
static const double first_step[3][3] = {{8, 8, 0.06}, {2, 2, 0.02}, {0.5, 0.5, 0.005}},
                    last_step[3][3] = {{2, 2, 0.02}, {0.5, 0.5, 0.005}, {0.05, 0.05, 0.0005}};

static int kind_of(int parameter)
{
    return parameter < 3 ? 0 : parameter < N_RIGID ? 1 : 2;
}

/* One row, and where it begins: parameters of 0 map x to target + linear (x - centre). */
typedef struct trial {
    double p[N_PARAMETERS];
    double centre[3], target[3], linear[3][3];
    const char *name;
    double turn[3];
    double score;
} trial;

static void multiply(const double a[3][3], const double b[3][3], double out[3][3])
{
    double made[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) made[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
    memcpy(out, made, sizeof made);
}

/* Computes the rotation by a vector of degrees. */
static void rotation(const double degrees[3], double m[3][3])
{
    const double t[3] = {degrees[0] * DEGREE, degrees[1] * DEGREE, degrees[2] * DEGREE},
                 angle = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    const double k[3][3] = {{0, -t[2], t[1]}, {t[2], 0, -t[0]}, {-t[1], t[0], 0}};
    double square[3][3];
    multiply(k, k, square);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m[r][c] =
                (r == c) +
                (angle > 0 ? sin(angle) / angle * k[r][c] + (1 - cos(angle)) / (angle * angle) * square[r][c] : 0);
}

/* Computes the map of a row, world to world. */
static void map_of(const trial *t, double map[3][4])
{
    const double *p = t->p;
    const double shear[3][3] = {{1, p[9], p[10]}, {0, 1, p[11]}, {0, 0, 1}};
    double m[3][3];
    rotation(p + 3, m);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) m[r][c] *= exp(p[6 + c]);
    multiply((const double(*)[3])m, shear, m);
    multiply((const double(*)[3])m, t->linear, m);
    for (int r = 0; r < 3; r++) {
        map[r][3] = t->target[r] + p[r];
        for (int c = 0; c < 3; c++) {
            map[r][c] = m[r][c];
            map[r][3] -= m[r][c] * t->centre[c];
        }
    }
}

/* The function that scores maps, and its data. */
typedef struct scorer {
    gls_map_scores *scores;
    void *user;
} scorer;

static void score_by_nmi(void *nmi, const double (*map)[3][4], size_t n, double *score)
{
    gls_nmi_scores(nmi, map, n, score);
}

/* Scores n rows. A row with a scale outside 0.5 to 2 gets 0. */
static void score_rows(const scorer *by, trial *row, size_t n)
{
    double map[3 * MAX_TURNS][3][4], score[3 * MAX_TURNS];
    trial *scored[3 * MAX_TURNS];
    size_t n_scored = 0;
    for (size_t k = 0; k < n; k++) {
        bool fits = true;
        for (int i = 6; i < 9; i++) fits &= fabs(row[k].p[i]) <= log(2);
        row[k].score = 0;
        map_of(&row[k], map[n_scored]);
        if (fits && gls_affine_det((const double(*)[4])map[n_scored]) > 0) scored[n_scored++] = &row[k];
    }
    by->scores(by->user, (const double(*)[3][4])map, n_scored, score);
    for (size_t k = 0; k < n_scored; k++) scored[k]->score = score[k];
}

/* Returns the step, -1 to 1, to the top of the parabola through three scores. */
static double top_of(double down, double here, double up)
{
    const double curve = up + down - 2 * here;
    if (curve < -1e-9) return fmin(fmax(-0.5 * (up - down) / curve, -1), 1);
    return up > down ? 1 : up < down ? -1 : 0;
}

/* Climbs from *t along its first n parameters. Returns the number of scores. */
static unsigned climb(const scorer *by, trial *t, int n, const double first[3], const double last[3])
{
    double step[3] = {first[0], first[1], first[2]};
    unsigned calls = 1;
    score_rows(by, t, 1);
    for (;;) {
        trial next[2 * N_PARAMETERS], row[3] = {*t, *t, *t}; /* next: one step forth and back along each parameter */
        int best = 0, winner = 0;
        bool go_on = false;
        for (int k = 0; k < (n > N_RIGID ? 3 : 2); k++) go_on |= step[k] > last[k] * 0.999;
        if (!go_on) return calls;
        for (int i = 0; i < 2 * n; i++) {
            next[i] = *t;
            next[i].p[i / 2] += (i % 2 ? -1 : 1) * step[kind_of(i / 2)];
        }
        score_rows(by, next, 2 * (size_t)n);
        for (int i = 0; i < n; i++) {
            const double move = top_of(next[2 * i + 1].score, t->score, next[2 * i].score) * step[kind_of(i)];
            row[0].p[i] += move;
            row[1].p[i] += 0.5 * move;
        }
        for (int i = 0; i < 2 * n; i++)
            if (next[i].score > next[best].score) best = i;
        row[2] = next[best];
        score_rows(by, row, 2);
        for (int k = 1; k < 3; k++)
            if (row[k].score > row[winner].score) winner = k;
        calls += 2 * (unsigned)n + 2;
        if (row[winner].score > t->score + MIN_GAIN)
            *t = row[winner];
        else
            for (int k = 0; k < 3; k++) step[k] /= 2;
    }
}

void gls_rigid_climb(gls_map_scores *scores, void *user, const double centre[3], const double step[2],
                     gls_rigid_climbed *made)
{
    const scorer by = {scores, user};
    const double first[3] = {step[0], step[0], 0}, last[3] = {step[1], step[1], 0};
    trial t = {.score = 0};
    memcpy(t.centre, centre, sizeof t.centre);
    gls_affine_apply((const double(*)[4])made->map, centre, t.target);
    for (int r = 0; r < 3; r++) memcpy(t.linear[r], made->map[r], sizeof t.linear[r]);
    score_rows(&by, &t, 1);
    made->before = t.score;
    climb(&by, &t, N_RIGID, first, last);
    made->after = t.score;
    made->shift = sqrt(t.p[0] * t.p[0] + t.p[1] * t.p[1] + t.p[2] * t.p[2]);
    made->turn = sqrt(t.p[3] * t.p[3] + t.p[4] * t.p[4] + t.p[5] * t.p[5]);
    map_of(&t, made->map);
}

/* --- The search of starts. */

static void middle_of(const gls_grid *grid, double middle[3])
{
    const double at[3] = {(grid->dim[0] - 1) / 2.0, (grid->dim[1] - 1) / 2.0, (grid->dim[2] - 1) / 2.0};
    gls_affine_apply(grid->affine, at, middle);
}

/* Turns of the search, degrees: none, 25 about each axis, then all combinations of 50. Returns how many of them a
 * search has. */
static size_t make_turns(gls_linear_search search, double turn[MAX_TURNS][3])
{
    size_t n = 1;
    memset(turn, 0, MAX_TURNS * sizeof *turn);
    if (search == GLS_SEARCH_NONE) return n;
    for (int i = 0; i < 3; i++)
        for (int s = -1; s <= 1; s += 2) turn[n++][i] = 25 * s;
    for (int x = -1; x <= 1 && search == GLS_SEARCH_WIDE; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++) {
                if (x == 0 && y == 0 && z == 0) continue;
                const double one[3] = {50 * x, 50 * y, 50 * z};
                memcpy(turn[n++], one, sizeof one);
            }
    return n;
}

/* Makes the beginnings that the options ask for. Returns their number, at most 3. */
static size_t make_starts(const gls_level *fixed, const gls_level *moving, const gls_linear_options *o, trial start[3])
{
    double centre[3], mass[3], middle[2][3];
    size_t n = 0;
    gls_level_centre(fixed, centre);
    gls_level_centre(moving, mass);
    middle_of(&fixed->grid, middle[0]);
    middle_of(&moving->grid, middle[1]);
    for (int kind = GLS_INIT_HEADER; kind <= GLS_INIT_GIVEN; kind++) {
        static const char *const names[] = {"", "header", "centre of mass", "middle of the grid", "given"};
        if (o->init == GLS_INIT_AUTO ? kind == GLS_INIT_GIVEN : kind != (int)o->init) continue;
        trial t = {.name = names[kind]};
        memcpy(t.centre, centre, sizeof centre);
        memcpy(t.target, kind == GLS_INIT_MASS ? mass : centre, sizeof centre);
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) t.linear[r][c] = kind == GLS_INIT_GIVEN ? o->start[r][c] : r == c;
            if (kind == GLS_INIT_MIDDLE) t.target[r] += middle[1][r] - middle[0][r];
        }
        if (kind == GLS_INIT_GIVEN) gls_affine_apply(o->start, centre, t.target);
        start[n++] = t;
    }
    return n;
}

static int by_score(const void *a, const void *b)
{
    const trial *const *x = a, *const *y = b;
    if ((*x)->score != (*y)->score) return (*x)->score > (*y)->score ? -1 : 1;
    return *x < *y ? -1 : 1;
}

/* Scores all beginnings with all turns, climbs from the best, and gives the best of these. */
static gls_status search(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, const gls_linear_options *o,
                         trial *best)
{
    double turn[MAX_TURNS][3];
    trial start[3], row[3 * MAX_TURNS], *order[3 * MAX_TURNS];
    const size_t n_starts = make_starts(fixed, moving, o, start);
    const bool first_auto = o->search == GLS_SEARCH_AUTO;
    const scorer by = {score_by_nmi, nmi};
    best->score = 0;
    for (int wide = 0; wide < (first_auto ? 2 : 1) && best->score == 0; wide++) {
        const size_t n_turns = make_turns(!first_auto ? o->search : wide ? GLS_SEARCH_WIDE : GLS_SEARCH_NEAR, turn);
        size_t n = 0;
        for (size_t s = 0; s < n_starts; s++)
            for (size_t k = 0; k < n_turns; k++, n++) {
                row[n] = start[s];
                memcpy(row[n].p + 3, turn[k], sizeof turn[k]);
                memcpy(row[n].turn, turn[k], sizeof turn[k]);
                order[n] = &row[n];
            }
        score_rows(&by, row, n);
        qsort(order, n, sizeof *order, by_score);
        for (size_t k = 0; k < n && k < CLIMBED && order[k]->score > 0; k++) {
            trial t = *order[k];
            climb(&by, &t, N_RIGID, first_step[0], last_step[0]);
            if (t.score > best->score) *best = t;
        }
    }
    return nmi->status;
}

/* --- The check of headers. */

/* Words for an exchange of axes: world axis r of the fixed image lies along axis[r] of the moving image, towards
 * sign[r]. */
static void name_exchange(const int axis[3], const int sign[3], char *text, size_t size)
{
    static const char *const ends[3] = {"left to right", "front to back", "top to bottom"};
    static const char *const axes[3] = {"left-right", "front-back", "top-bottom"};
    size_t at = 0;
    for (int r = 0; r < 3; r++)
        if (axis[r] == r && sign[r] < 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%smirrored %s", at ? ", " : "", ends[r]);
    for (int r = 0; r < 3; r++)
        if (axis[r] > r && at < size)
            at +=
                (size_t)snprintf(text + at, size - at, "%s%s and %s exchanged", at ? ", " : "", axes[r], axes[axis[r]]);
    if (at == 0) snprintf(text, size, "with axes exchanged in turn");
}

/* Scores all 48 signed exchanges of the moving axes about the centre of mass. found: score of the search. */
static void check_header(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, double found,
                         gls_linear_result *result)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double from[3], to[3];
    gls_level_centre(fixed, from);
    gls_level_centre(moving, to);
    for (int k = 0; k < 48; k++) {
        const int *axis = orders[k / 8], sign[3] = {k & 1 ? -1 : 1, k & 2 ? -1 : 1, k & 4 ? -1 : 1};
        double map[3][4] = {{0}};
        for (int r = 0; r < 3; r++) {
            map[r][axis[r]] = sign[r];
            map[r][3] = to[r] - sign[r] * from[axis[r]];
        }
        const double s = gls_nmi_score(nmi, (const double(*)[4])map, NULL);
        if (k == 0) {
            result->header_own = fmax(s, found);
        } else if (s > result->header_other) {
            result->header_other = s;
            name_exchange(axis, sign, result->header_advice, sizeof result->header_advice);
        }
    }
    if (result->header_other <= result->header_own + HEADER_MARGIN) *result->header_advice = '\0';
}

/* --- All levels. */

/* Both images at one level; all 0: not made yet. */
typedef struct level_pair {
    gls_level fixed, moving;
} level_pair;

static gls_status make_pair(const gls_level *fixed, const gls_level *moving, double voxel, level_pair *pair)
{
    if (pair->moving.value) return GLS_OK;
    const gls_status status = gls_level_shrink(fixed, voxel, &pair->fixed);
    return status ? status : gls_level_shrink(moving, voxel, &pair->moving);
}

/* Whether samples can look at a level: between the centres of a single slice lies nothing. */
static bool is_thick(const gls_level *level)
{
    const int32_t *dim = level->grid.dim;
    return dim[0] > 1 && dim[1] > 1 && dim[2] > 1;
}

/* Climbs at one level. An affine map is scored both ways: interpolation smooths the image that is read, and draws
 * scales to where its smoothing gains most. Rigid maps leave scales alone, and are searched for in half the time by
 * one. */
static gls_status climb_level(const level_pair *pair, double voxel, int phase, bool affine, const gls_go_on *go_on,
                              gls_nmi_device *on, trial *t, gls_linear_result *result)
{
    gls_nmi nmi;
    double map[3][4];
    gls_status status = gls_nmi_init(&nmi, &pair->fixed, &pair->moving, affine && is_thick(&pair->fixed) ? 2 : 1, on);
    if (!status) {
        gls_linear_level *level = &result->level[result->n_levels++];
        *level = (gls_linear_level){.voxel = voxel, .affine = affine};
        const scorer by = {score_by_nmi, &nmi};
        nmi.go_on = *go_on;
        level->evaluations = climb(&by, t, affine ? N_PARAMETERS : N_RIGID, first_step[phase], last_step[phase]);
        level->score = result->score = t->score;
        map_of(t, map);
        gls_nmi_score(&nmi, (const double(*)[4])map, &result->share);
        status = nmi.status;
        if (!status)
            gls_log(GLS_LOG_INFO, "%s, %g mm: NMI %.5f after %u evaluations", affine ? "affine" : "rigid", voxel,
                    t->score, level->evaluations);
    }
    gls_nmi_finish(&nmi);
    return status;
}

/* Finds where to begin, and checks the header. */
static gls_status begin(const level_pair *pair, const gls_linear_options *o, gls_nmi_device *on, trial *best,
                        gls_linear_result *result)
{
    gls_nmi nmi;
    gls_status status = gls_nmi_init(&nmi, &pair->fixed, &pair->moving, 1, on);
    nmi.go_on = o->go_on;
    if (!status) status = search(&nmi, &pair->fixed, &pair->moving, o, best);
    if (!status && o->check_header) check_header(&nmi, &pair->fixed, &pair->moving, best->score, result);
    if (!status) status = nmi.status;
    gls_nmi_finish(&nmi);
    return status;
}

/* Searches for a beginning, then registers on all levels. pair: one for each level, then one for the search; all 0. */
static gls_status align(const gls_level *fixed, const gls_level *moving, const gls_level *masked_fixed,
                        const gls_level *masked_moving, const gls_linear_options *o, gls_nmi_device *on,
                        level_pair *pair, gls_linear_result *result)
{
    trial t = {.score = 0};
    level_pair *first = &pair[o->voxel[0] >= COARSE && o->n_levels > 1 ? 0 : o->n_levels];
    gls_status status = make_pair(fixed, moving, fmax(COARSE, o->voxel[0]), first);
    if (!status) status = begin(first, o, on, &t, result);
    if (status) return status;
    if (t.score == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "the images do not overlap: at no start that was tried does a quarter of the fixed image lie "
                        "in the moving image; correct the headers, or crop the fixed image to what the moving one "
                        "shows");
    result->start = t.name;
    memcpy(result->turn, t.turn, sizeof t.turn);
    for (int affine = 0; affine <= o->affine; affine++)
        for (size_t k = 0; k < o->n_levels && !status; k++) {
            const bool last = k + 1 == o->n_levels;
            const int phase = last && (k > 0 || affine) ? 2 : k > 0 ? 1 : 0;
            if (affine && k == 0 && !last) continue;
            if (o->affine && !affine && last && k > 1) continue; /* an affine map of the level before is nearer */
            status = make_pair(last ? masked_fixed : fixed, last ? masked_moving : moving, o->voxel[k], &pair[k]);
            if (!status) status = climb_level(&pair[k], o->voxel[k], phase, affine, &o->go_on, on, &t, result);
        }
    map_of(&t, result->map);
    return status;
}

gls_status gls_linear_register(const gls_level *fixed, const gls_level *moving, const gls_level *masked_fixed,
                               const gls_level *masked_moving, const gls_linear_options *o, gls_linear_result *result)
{
    gls_nmi_device *on = NULL;
    level_pair pair[GLS_MAX_LEVELS + 1] = {{.fixed = {.value = NULL}}};
    *result = (gls_linear_result){.start = ""};
    GLS_REQUIRE(o->n_levels >= 1 && o->n_levels <= GLS_MAX_LEVELS);
    gls_status status = o->device ? gls_nmi_device_create(o->device, &on) : GLS_OK;
    if (!status) status = align(fixed, moving, masked_fixed, masked_moving, o, on, pair, result);
    for (size_t k = 0; k <= GLS_MAX_LEVELS; k++) {
        gls_level_finish(&pair[k].fixed);
        gls_level_finish(&pair[k].moving);
    }
    gls_nmi_device_destroy(on);
    return status;
}
