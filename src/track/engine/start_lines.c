/* Turns the initial directions of seeds into streamlines to track: checks seeds with the guide, picks the direction and
 * the sense, and fills the records for pass 2. Runs on the host between pass 1 and pass 2; several threads share the
 * seeds of a batch. */

#include <math.h>
#include <omp.h>

#include "track/engine/start_lines.h"
#include "track/engine/batch_parts.h"
#include "track/engine/engine.h"
#include "track/engine/passes.h"
#include "track/engine/track_plan.h"
#include "track/guide/guide.h"
#include "track/shader/layout.h"
#include "track/shader/packed.h"
#include "util/maths.h"
#include "util/threads.h"

/* Returns the direction word of the opposite direction. */
static uint32_t turned(const gls_engine *t, uint32_t vertex)
{
    if (t->plan.getter->own_start) {
        float d[3];
        gls_direction_unpack(vertex, d);
        return gls_direction_pack((const float[3]){-d[0], -d[1], -d[2]});
    }
    if (t->antipodal) return vertex ^ VERTEX_FLIPPED;
    /* Without antipodal symmetry the vertex farthest from `vertex` stands for the opposite direction. */
    const float *d = t->vertex[vertex];
    uint32_t best = 0;
    float least = 2;
    for (uint32_t v = 0; v < t->n_vertices; v++) {
        float c = t->vertex[v][0] * d[0] + t->vertex[v][1] * d[1] + t->vertex[v][2] * d[2];
        if (c >= least) continue;
        least = c;
        best = v;
    }
    return best;
}

/* Sets vertex[0] to that of the n directions which is nearest to the wanted direction of the seed. Returns false if
 * none lies within max_angle of it. Two kinds of getters differ: with own_start vertex[0] becomes the wanted direction
 * itself; with `towards`, where the shader starts along it, nothing changes. */
static bool nearest(const gls_engine *t, const double wanted[3], uint32_t *vertex, uint32_t n)
{
    /* The slack lets a direction pass that lies exactly at the largest angle, in spite of rounding. */
    double best = cos(t->params.max_angle * acos(-1.0) / 180) - 1e-6;
    bool found = false;
    uint32_t chosen = 0;
    if (t->plan.getter->towards) return true;
    /* a getter whose directions are not vertices starts exactly along the given direction */
    if (t->plan.getter->own_start) {
        vertex[0] = gls_direction_pack((const float[3]){(float)wanted[0], (float)wanted[1], (float)wanted[2]});
        return true;
    }
    for (uint32_t k = 0; k < n; k++) {
        float d[3];
        gls_start_direction(t, vertex[k], d);
        double c = d[0] * wanted[0] + d[1] * wanted[1] + d[2] * wanted[2];
        bool back = c < 0 && t->antipodal;
        if (fabs(c) < best || (c < 0 && !back)) continue;
        best = fabs(c);
        chosen = back ? turned(t, vertex[k]) : vertex[k];
        found = true;
    }
    vertex[0] = chosen;
    return found;
}

/* The k-th random bit of a seed. It depends on the seed's index and --rng-seed alone, not on batch or device. */
static bool random_bit(const gls_engine *t, uint64_t seed, uint32_t k)
{
    uint32_t word[4];
    const uint32_t counter[4] = {(uint32_t)seed, (uint32_t)(seed >> 32), k, GLS_PHILOX_INITIAL};
    gls_philox(counter, t->params.rng_seed, word);
    return word[0] & 1;
}

/* Edits the directions of one seed. word: the word with the number of directions; the directions follow it. */
static void choose(const gls_batch *c, uint64_t first, uint32_t seed, uint32_t *word)
{
    const gls_engine *t = c->engine;
    const gls_guide_kind *kind = t->guide.plan.kind;
    uint32_t count = *word, *vertex = word + DIRECTIONS_VERTEX - DIRECTIONS_COUNT;
    const float *at = c->seed[seed];
    /* The guide may refuse the seed: the flag replaces the number of directions. */
    if (kind->admits && !kind->admits(&t->guide, at)) {
        *word = SEED_NOT_ADMITTED;
        return;
    }
    const bool wanted = t->has_direction || c->along;
    if (count > 0 && wanted) {
        double along[3];
        for (int a = 0; a < 3; a++) along[a] = c->along ? (double)c->along[seed][a] : t->seed_direction[a];
        count = nearest(t, along, vertex, count);
    }
    /* One-sided streamlines: the guide, the seed direction, or a random bit chooses the sense. */
    bool guided = count > 0 && kind->one_sided && kind->one_sided(&t->guide, at);
    bool one_sided = count > 0 && (guided || t->params.seed_unidirectional);
    *word = count | (one_sided ? SEED_ONE_SIDED : 0);
    for (uint32_t k = 0; k < count && one_sided; k++) {
        float d[3];
        gls_start_direction(t, vertex[k], d);
        bool turn = guided             ? kind->turns_round(&t->guide, at, d)
                    : t->has_direction ? false
                                       : random_bit(t, first + seed, k);
        if (turn) vertex[k] = turned(t, vertex[k]);
    }
}

/* A batch, the seeds of which several threads turn into streamlines. first: index in the run of its first seed. */
typedef struct choosing {
    gls_batch *batch;
    uint64_t first;
} choosing;

/* Edits the directions of seeds from .. until - 1; called by gls_parallel(). */
static void choose_some(void *user, int thread, size_t from, size_t until)
{
    const choosing *task = user;
    size_t stride = gls_direction_words(&task->batch->engine->params);
    (void)thread;
    for (size_t i = from; i < until; i++)
        choose(task->batch, task->first, (uint32_t)i, &task->batch->direction[i * stride + DIRECTIONS_COUNT]);
}

void gls_lines_choose(gls_batch *c, uint64_t first, uint32_t n)
{
    const gls_engine *t = c->engine;
    const gls_guide_kind *kind = t->guide.plan.kind;
    if (!kind->admits && !kind->one_sided && !t->has_direction && !c->along && !t->params.seed_unidirectional) return;
    gls_parallel(n, 512, omp_get_max_threads(), choose_some, &(choosing){c, first});
}

uint32_t gls_lines_list(gls_batch *c, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity, uint32_t *n_lines)
{
    size_t stride = gls_direction_words(&c->engine->params);
    uint32_t seed = from, lines = 0;
    for (; seed < n; seed++) {
        const uint32_t *direction = &c->direction[seed * stride];
        uint32_t count = gls_lines_of_seed(c, seed);
        /* All streamlines of a seed are tracked in the same round. */
        if (lines > 0 && lines + count > capacity) break;
        const float *p = c->seed[seed];
        bool single = gls_lines_word(c, seed) & SEED_ONE_SIDED;
        for (uint32_t k = 0; k < count; k++)
            c->line[lines++] = (gls_line_record){
                .x = p[0],
                .y = p[1],
                .z = p[2],
                .vertex = direction[DIRECTIONS_VERTEX + k],
                .seed = (uint32_t)(first + seed),
                .stream = gls_draw_stream(first + seed, k),
                .one_sided = single,
            };
    }
    *n_lines = lines;
    return seed;
}
