#include "workflow/seed_table.h"

#include <inttypes.h>
#include <math.h>

#include "util/status.h"

#define PIECE 65536

static gls_status flush(gls_seed_table *t)
{
    if (t->text.failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for seeds");
    gls_status status = t->text.length > 0 ? gls_output_write(&t->output, t->text.data, t->text.length) : GLS_OK;
    t->text.length = 0;
    return status;
}

/* The point of a streamline that is its seed: the nearest one, where points were left out. */
static uint64_t nearest(const gls_streamlines *s, size_t i, const float seed[3])
{
    uint64_t best = s->offset[i];
    float least = INFINITY;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        float square = 0;
        for (int a = 0; a < 3; a++) square += (s->point[p][a] - seed[a]) * (s->point[p][a] - seed[a]);
        if (square < least) {
            least = square;
            best = p;
        }
    }
    return best - s->offset[i];
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_seed_table *t = user;
    const gls_column *column = gls_column_find(s->dps, s->n_dps, GLS_DPS_SEEDS);
    const float(*seed)[3] = column ? column->data : NULL;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < s->n && seed && !status; i++) {
        gls_text_printf(&t->text, "%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g,\n", t->n++, nearest(s, i, seed[i]),
                        (double)seed[i][0], (double)seed[i][1], (double)seed[i][2]);
        if (t->text.length >= PIECE) status = flush(t);
    }
    return status;
}

static gls_status finish(void *user)
{
    (void)user;
    return GLS_OK;
}

static void discard(void *user)
{
    (void)user;
}

gls_status gls_seed_table_begin(const char *path, bool overwrite, gls_output_group *group, gls_seed_table *t)
{
    *t = (gls_seed_table){.output = GLS_OUTPUT_NONE};
    gls_status status = gls_output_create(path, overwrite, &t->output);
    t->output.group = group;
    gls_text_puts(&t->text, "#Track_index,Seed_index,Pos_x,Pos_y,Pos_z,\n");
    return status;
}

gls_sink gls_seed_table_sink(gls_seed_table *t)
{
    return (gls_sink){append, finish, discard, t};
}

gls_status gls_seed_table_end(gls_seed_table *t)
{
    gls_status status = flush(t);
    return status ? status : gls_output_commit(&t->output);
}

void gls_seed_table_discard(gls_seed_table *t)
{
    gls_output_discard(&t->output);
    gls_text_finish(&t->text);
    *t = (gls_seed_table){.output = GLS_OUTPUT_NONE};
}
