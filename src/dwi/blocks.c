/* Work on the voxels of a mask in blocks, by all threads. */

#include <glslines/image.h>

#include "dwi/blocks.h"
#include "util/status.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 }; /* number of voxels of the grid that a thread takes at a time, to solve those in the mask */

size_t gls_blocks_total(const gls_image *mask, size_t voxels)
{
    size_t n = 0;
    for (size_t v = 0; mask && v < voxels; v++) n += mask->data[v] > 0;
    return mask ? n : voxels;
}

size_t gls_blocks_gather(const float *const *volume, size_t n_volumes, const size_t *index, size_t n, size_t size,
                         float *values)
{
    size_t n_broken = 0;
    /* true: the voxels have consecutive indices, so that the values of a volume can be copied as a whole */
    bool contiguous = index[n - 1] - index[0] == n - 1;
    memset(values, 0, n_volumes * size * sizeof *values);
    for (size_t i = 0; i < n_volumes; i++) {
        const float *from = volume[i];
        float *to = values + i * size;
        if (contiguous)
            memcpy(to, from + index[0], n * sizeof *to);
        else
            for (size_t v = 0; v < n; v++) to[v] = from[index[v]];
    }
    for (size_t v = 0; v < n; v++) {
        /* 0 times a value is 0, or NaN if the value is not finite */
        float finite = 0;
        for (size_t i = 0; i < n_volumes; i++) finite += values[i * size + v] * 0.0f;
        if (finite == 0) continue;
        n_broken++;
        for (size_t i = 0; i < n_volumes; i++) values[i * size + v] = 0;
    }
    return n_broken;
}

/* Lists the voxels of the mask among first .. end - 1 and solves them block by block. memory: list and scratch memory
 * of this thread. */
static void solve_chunk(const gls_blocks *b, size_t first, size_t end, char *memory, atomic_size_t *done)
{
    size_t *index = (size_t *)memory, count = 0;
    void *scratch = memory + CHUNK * sizeof *index;
    for (size_t v = first; v < end; v++)
        if (!b->mask || b->mask->data[v] > 0) index[count++] = v;
    for (size_t begin = 0; begin < count; begin += b->size)
        b->solve(b->job, index + begin, count - begin < b->size ? count - begin : b->size, scratch);
    atomic_fetch_add(done, count);
}

gls_status gls_blocks_run(const gls_blocks *b)
{
    size_t n_threads = (size_t)omp_get_max_threads(), total = gls_blocks_total(b->mask, b->voxels);
    /* Memory of a thread: the list of a chunk's voxels and the scratch memory of the solver, in whole pages, so that no
     * two threads write to the same cache line. */
    size_t bytes = (CHUNK * sizeof(size_t) + b->scratch_bytes + 4095) / 4096 * 4096;
    char *memory = aligned_alloc(4096, n_threads * bytes);
    if (!memory)
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu bytes on each of %zu threads", b->what, bytes,
                        n_threads);
    atomic_size_t done = 0;
    atomic_bool cancelled = false;
    long long n_chunks = (long long)((b->voxels + CHUNK - 1) / CHUNK);
#pragma omp parallel num_threads((int)n_threads)
    {
        char *own = memory + (size_t)omp_get_thread_num() * bytes;
#pragma omp for schedule(dynamic)
        for (long long chunk = 0; chunk < n_chunks; chunk++) {
            /* a loop of OpenMP cannot be left: after a cancellation the remaining chunks do nothing */
            if (atomic_load(&cancelled)) continue;
            size_t first = (size_t)chunk * CHUNK, end = first + CHUNK < b->voxels ? first + CHUNK : b->voxels;
            solve_chunk(b, first, end, own, &done);
            /* thread 0 is the calling thread, on which callbacks run */
            if (b->progress && omp_get_thread_num() == 0 && !b->progress(b->progress_user, atomic_load(&done), total))
                atomic_store(&cancelled, true);
        }
    }
    free(memory);
    if (b->progress && !atomic_load(&cancelled) && !b->progress(b->progress_user, total, total))
        atomic_store(&cancelled, true);
    if (atomic_load(&cancelled))
        return gls_fail(GLS_ERR_CANCELLED, "%s cancelled after %zu of %zu voxels", b->what, atomic_load(&done), total);
    return GLS_OK;
}
