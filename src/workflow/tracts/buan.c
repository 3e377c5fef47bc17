#include "workflow/tracts/buan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

typedef struct table {
    const gls_buan *buan;
    const gls_bundles *bundles;
    double (*core)[3]; /* disks of each bundle */
    uint64_t *row;     /* streamlines of each bundle so far */
    double *value;     /* of the largest image */
    gls_tract_text text;
} table;

static uint32_t find_disk(const double (*core)[3], uint32_t n, const float p[3])
{
    double best = INFINITY;
    uint32_t disk = 0;
    for (uint32_t k = 0; k < n; k++) {
        double x = p[0] - core[k][0], y = p[1] - core[k][1], z = p[2] - core[k][2], square = x * x + y * y + z * z;
        if (square >= best) continue;
        best = square;
        disk = k;
    }
    return disk + 1;
}

static void put_point(table *t, size_t bundle, const float p[3])
{
    const gls_buan *b = t->buan;
    gls_tract_text_field(&t->text, gls_bundles_get(t->bundles, bundle).name);
    gls_tract_text_printf(&t->text, "%c%" PRIu64 "%c%u", t->text.separator, t->row[bundle], t->text.separator,
                          find_disk((const double(*)[3])t->core + bundle * b->disks, b->disks, p));
    for (size_t i = 0; i < b->n_images; i++) {
        gls_sample_at(b->image[i], &b->sampling, p, t->value);
        for (size_t v = 0; v < b->image[i]->n_volumes; v++) gls_tract_text_number(&t->text, t->value[v]);
    }
    gls_tract_text_end_row(&t->text);
}

static gls_status append(void *user, const gls_streamlines *s)
{
    table *t = user;
    for (size_t k = 0; k < gls_bundles_count(t->bundles); k++) {
        const gls_column *in = gls_column_find(s->group, s->n_groups, gls_bundles_get(t->bundles, k).name);
        for (size_t i = 0; i < s->n; i++) {
            if (!gls_column_value(in, i)) continue;
            for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) put_point(t, k, s->point[p]);
            t->row[k]++;
        }
    }
    return t->text.failed;
}

static void put_header(table *t)
{
    const gls_buan *b = t->buan;
    const char c = t->text.separator;
    gls_tract_text_printf(&t->text, "tractID%cstreamline%cdisk", c, c);
    for (size_t i = 0; i < b->n_images; i++)
        for (size_t v = 0; v < b->image[i]->n_volumes; v++)
            gls_tract_text_component(&t->text, b->name[i], v, v > 0 ? 2 : 1);
    gls_tract_text_end_row(&t->text);
}

gls_status gls_buan_write(const gls_buan *b, const gls_bundles *bundles, gls_tract_job *job, const char *tracks,
                          const char *path)
{
    const size_t n = gls_bundles_count(bundles);
    table t = {.buan = b, .bundles = bundles};
    gls_tractogram_reader *reader = NULL;
    gls_sink end = {.append = append, .user = &t}, sink = {0};
    size_t most = 1;
    for (size_t i = 0; i < b->n_images; i++) most = b->image[i]->n_volumes > most ? b->image[i]->n_volumes : most;
    t.core = malloc(n * b->disks * sizeof *t.core);
    t.row = calloc(n, sizeof *t.row);
    t.value = malloc(most * sizeof *t.value);
    gls_status status = t.core && t.row && t.value ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    for (size_t k = 0; k < n && !status; k++) gls_bundles_core(bundles, k, t.core + k * b->disks);
    if (!status) status = gls_tract_text_open(job, path, &t.text);
    if (!status) {
        put_header(&t);
        status = gls_tract_open(job, tracks, false, &reader);
    }
    if (!status) status = gls_bundles_filter(bundles, GLS_BUNDLES_REST_DROPPED, &end, &sink);
    status = gls_tract_pump(job, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    status = gls_tract_text_close(&t.text, status);
    free(t.core);
    free(t.row);
    free(t.value);
    return status;
}
