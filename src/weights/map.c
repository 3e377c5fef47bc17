/* The kernel that maps streamlines to fixels: what it reads of a grid, and one run after the other. */
#include "weights/map.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define MAX_GROUPS_X 32768u
#define GROUP 64
#define NOTHING UINT32_MAX
/* words of the lobes, as in map.comp */
enum { NEIGHBOURS_AT = 3 * GLS_LOBE_DIRECTIONS, STARTS_AT = 9 * GLS_LOBE_DIRECTIONS, N_STARTS = 3072 };
enum { VOXELS_AT = STARTS_AT + N_STARTS, TABLE_WORDS = (GLS_LOBE_TABLE + 3) / 4 };

struct gls_mapper {
    gls_mapper_source source;
    gls_kernel *kernel;
    gls_buffer *grid, *lobes;
    gls_buffer *streamlines, *visits, *mapped;
    size_t streamline_bytes, mapped_bytes; /* of these buffers */
    size_t room;                           /* for visits */
    uint32_t *word;                        /* of streamlines */
    size_t word_capacity;
    uint32_t *visit;
    size_t visit_capacity;
};

static gls_status replace(gls_device *device, const char *label, size_t bytes, gls_buffer **buffer)
{
    gls_buffer_destroy(*buffer);
    *buffer = NULL;
    return gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, label, buffer);
}

static void put_float(uint32_t *word, float x)
{
    memcpy(word, &x, sizeof x);
}

static void put_sphere(uint32_t *word)
{
    const gls_lobe_sphere *s = gls_lobe_sphere_get();
    for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) {
        for (size_t r = 0; r < 3; r++) put_float(&word[3 * i + r], s->rounded[i][r]);
        for (size_t k = 0; k < GLS_LOBE_NEIGHBOURS; k++)
            word[NEIGHBOURS_AT + GLS_LOBE_NEIGHBOURS * i + k] = s->neighbour[i][k];
    }
    for (size_t i = 0; i < N_STARTS; i++) word[STARTS_AT + i] = (&s->start[0][0][0])[i];
}

static gls_status fill_lobes(gls_mapper *m)
{
    const gls_fixels *f = m->source.fixels;
    const size_t n = gls_grid_voxels(&f->grid), bytes = 4 * (VOXELS_AT + 3 * n + TABLE_WORDS * f->n_voxels);
    const bool fits = bytes / 4 <= UINT32_MAX && (m->source.device_bytes == 0 || bytes <= m->source.device_bytes / 2);
    uint32_t *word = fits ? calloc(1, bytes) : NULL;
    if (!word) return gls_fail(GLS_ERR_DEVICE_MEMORY, "no memory for the lobes of %zu voxels", f->n_voxels);
    size_t next = VOXELS_AT + 3 * n;
    put_sphere(word);
    for (size_t v = 0; v < n; v++) {
        const gls_fixel_voxel *voxel = &f->voxel[v];
        uint32_t *to = word + VOXELS_AT + 3 * v;
        to[0] = voxel->first;
        to[1] = voxel->count > 0 ? (uint32_t)next : NOTHING;
        put_float(&to[2], m->source.mask ? m->source.mask[v] : 1);
        if (voxel->count == 0) continue;
        memcpy(word + next, f->table[v / GLS_FIXEL_BLOCK] + (size_t)voxel->table * GLS_LOBE_TABLE, GLS_LOBE_TABLE);
        next += TABLE_WORDS;
    }
    gls_status status = gls_buffer_create(m->source.device, GLS_BUFFER_STORAGE, bytes, "lobes", &m->lobes);
    if (!status) status = gls_buffer_write(m->lobes, 0, 4 * next, word);
    free(word);
    return status;
}

gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper)
{
    gls_mapper *m = calloc(1, sizeof *m);
    if (!m) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    const gls_walk_block *block = &source->grid->block;
    m->source = *source;
    gls_status status = gls_kernel_load(source->device, "weights/map.comp", NULL, 0, &m->kernel);
    if (!status)
        status = gls_buffer_create(source->device, GLS_BUFFER_UNIFORM, sizeof *block, "grid of the walk", &m->grid);
    if (!status) status = gls_buffer_write(m->grid, 0, sizeof *block, block);
    if (!status) status = fill_lobes(m);
    if (status)
        gls_mapper_destroy(m);
    else
        *mapper = m;
    return status;
}

void gls_mapper_destroy(gls_mapper *m)
{
    if (!m) return;
    gls_buffer *buffers[] = {m->grid, m->lobes, m->streamlines, m->visits, m->mapped};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
    gls_kernel_destroy(m->kernel);
    free(m->word);
    free(m->visit);
    free(m);
}

static bool reserve(uint32_t **word, size_t *capacity, size_t n)
{
    if (n <= *capacity) return true;
    uint32_t *to = realloc(*word, 2 * n * sizeof *to);
    if (!to) return false;
    *word = to;
    *capacity = 2 * n;
    return true;
}

/* Streamlines that go into one run, and their points. */
static size_t count_run(const gls_streamlines *s, size_t first, size_t n, size_t *points)
{
    size_t k = 0;
    while (k < n &&
           (k == 0 || s->offset[first + k + 1] - s->offset[first] <= GLS_MAPPER_POINTS + (GLS_MAPPER_POINTS >> 4)))
        k++;
    *points = (size_t)(s->offset[first + k] - s->offset[first]);
    return k;
}

static gls_status send(gls_mapper *m, const gls_streamlines *s, size_t first, size_t n, size_t points)
{
    const size_t words = n + 1 + 3 * points;
    gls_status status = GLS_OK;
    if (points > UINT32_MAX / 4) return gls_fail(GLS_ERR_DEVICE_MEMORY, "a streamline has %zu points", points);
    if (!reserve(&m->word, &m->word_capacity, words)) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    for (size_t i = 0; i <= n; i++) m->word[i] = (uint32_t)(s->offset[first + i] - s->offset[first]);
    if (points > 0) memcpy(m->word + n + 1, s->point[s->offset[first]], 12 * points);
    if (4 * words > m->streamline_bytes) {
        m->streamline_bytes = 0;
        status = replace(m->source.device, "points of streamlines", 5 * words, &m->streamlines);
        if (!status) m->streamline_bytes = 5 * words;
    }
    if (!status && sizeof(gls_mapped) * n > m->mapped_bytes) {
        m->mapped_bytes = 0;
        status = replace(m->source.device, "mapped streamlines", sizeof(gls_mapped) * n, &m->mapped);
        if (!status) m->mapped_bytes = sizeof(gls_mapped) * n;
    }
    return status ? status : gls_buffer_write(m->streamlines, 0, 4 * words, m->word);
}

/* One run; *wanted: the visits that there are, for which there may be no room. */
static gls_status run(gls_mapper *m, size_t n, uint32_t *wanted)
{
    const uint32_t zero = 0, groups = (uint32_t)((n + GROUP - 1) / GROUP);
    const uint32_t grid[3] = {groups < MAX_GROUPS_X ? groups : MAX_GROUPS_X, (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X,
                              1};
    const gls_arg args[] = {
        gls_arg_uniforms(0, m->grid),       gls_arg_buffer(0, m->streamlines),  gls_arg_buffer(1, m->lobes),
        gls_arg_buffer(2, m->visits),       gls_arg_buffer(3, m->mapped),       gls_arg_uint(0, (uint32_t)n),
        gls_arg_uint(1, (uint32_t)m->room), gls_arg_float(2, m->source.per_mm), gls_arg_float(3, m->source.least),
    };
    gls_status status = gls_buffer_write(m->visits, 0, sizeof zero, &zero);
    if (!status) status = gls_kernel_run(m->kernel, grid, args, sizeof args / sizeof *args, NULL);
    return status ? status : gls_buffer_read(m->visits, 0, sizeof *wanted, wanted);
}

gls_status gls_mapper_run(gls_mapper *m, const gls_streamlines *s, size_t first, size_t *n, gls_mapped *mapped)
{
    size_t points;
    uint32_t wanted = 0;
    *n = count_run(s, first, *n, &points);
    gls_status status = send(m, s, first, *n, points);
    if (!status && !m->visits) wanted = (uint32_t)(points + *n);
    for (bool done = false; !done && !status;) {
        if (wanted > m->room) {
            m->room = 0;
            status = replace(m->source.device, "visits", 4 * (1 + 3 * ((size_t)wanted + wanted / 8)), &m->visits);
            if (!status) m->room = (size_t)wanted + wanted / 8;
        }
        if (!status) status = run(m, *n, &wanted);
        done = wanted <= m->room;
    }
    if (!status && !reserve(&m->visit, &m->visit_capacity, 3 * (size_t)wanted + 1))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    if (!status && wanted > 0) status = gls_buffer_read(m->visits, 4, 12 * (size_t)wanted, m->visit);
    if (!status) status = gls_buffer_read(m->mapped, 0, *n * sizeof *mapped, mapped);
    for (size_t i = 0; i < *n && !status; i++) mapped[i].first *= 3;
    return status;
}

const uint32_t *gls_mapper_entries(const gls_mapper *m)
{
    return m->visit;
}
