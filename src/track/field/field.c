/* Fills and frees fields of any kind, and chooses the scale of their values. The kinds themselves are in cells.c and
 * textures.c. */
#include "track/field/field.h"

#include <math.h>
#include <stdlib.h>

#include "util/status.h"

void gls_field_finish(gls_field *field)
{
    for (uint32_t i = 0; i < GLS_FIELD_MAX_TEXTURES; i++) gls_texture_destroy(field->texture[i]);
    for (uint32_t i = 0; i < GLS_FIELD_MAX_BUFFERS; i++) gls_buffer_destroy(field->buffer[i]);
    *field = (gls_field){0};
}

gls_status gls_field_fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                          size_t *failed)
{
    gls_field **alike = malloc(n * sizeof *alike);
    size_t *index = malloc(n * sizeof *index), n_done = 0;
    gls_status status = alike && index ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the fields");
    /* Fields of one kind are filled together, so that the CPU computes each value once for all of them. */
    for (size_t first = 0; first < n && n_done < n && !status; first++) {
        const gls_field_kind *kind = fields[first]->plan.kind;
        bool before = false;
        size_t n_alike = 0, bad = SIZE_MAX;
        for (size_t i = 0; i < first; i++) before |= fields[i]->plan.kind == kind;
        for (size_t i = first; i < n && !before; i++) {
            if (fields[i]->plan.kind != kind) continue;
            alike[n_alike] = fields[i];
            index[n_alike++] = i;
        }
        if (n_alike > 0) status = kind->fill(alike, n_alike, grid, source, &bad);
        if (status && bad != SIZE_MAX) *failed = index[bad];
        n_done += n_alike;
    }
    free(alike);
    free(index);
    return status;
}

float gls_field_scale(float largest, float maximum)
{
    return largest > 0 ? exp2f(floorf(log2f(maximum / largest))) : 1;
}
