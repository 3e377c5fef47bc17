/* The list of voxels that a streamline visits, with a hash table so that each occurs once, and the grid in which
 * voxels are found. */

#include <glslines/image.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/visits_list.h"
#include "tracts/visits_parts.h"
#include "util/maths.h"

void gls_visit_grid_init(gls_visit_grid *to, const gls_grid *grid)
{
    gls_grid turned = *grid;
    double inverse[3][4];
    memcpy(to->dim, grid->dim, sizeof to->dim);
    to->min_side = (float)fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    gls_grid_inverse(grid, to->world_to_voxel);
    /* flips each axis that points away from RAS, as MRtrix3 does on reading, so that points midway between two centres
     * round to the same side */
    for (int c = 0; c < 3; c++) {
        int longest = 0;
        for (int r = 1; r < 3; r++)
            if (fabs(grid->affine[r][c]) > fabs(grid->affine[longest][c])) longest = r;
        to->flip[c] = grid->affine[longest][c] < 0;
        for (int r = 0; to->flip[c] && r < 3; r++) {
            turned.affine[r][3] += turned.affine[r][c] * (grid->dim[c] - 1);
            turned.affine[r][c] *= -1;
        }
    }
    gls_affine_invert((const double(*)[4])turned.affine, inverse);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) to->turned[r][c] = (float)inverse[r][c];
}

void gls_visits_finish(gls_visits *v)
{
    free(v->voxel);
    free(v->mm);
    free(v->direction);
    free(v->slot);
    *v = (gls_visits){.directed = v->directed, .aligned = v->aligned};
}

bool gls_visits_grow(gls_visits *v)
{
    size_t capacity = v->capacity ? 2 * v->capacity : 256;
    uint64_t *voxel = realloc(v->voxel, capacity * sizeof *voxel);
    if (voxel) v->voxel = voxel;
    double *mm = realloc(v->mm, capacity * sizeof *mm);
    if (mm) v->mm = mm;
    double(*direction)[3] = v->directed ? realloc(v->direction, capacity * sizeof *direction) : NULL;
    if (direction) v->direction = direction;
    uint32_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!voxel || !mm || !slot || (v->directed && !direction)) {
        free(slot);
        v->failed = true;
        return false;
    }
    free(v->slot);
    v->slot = slot;
    v->slots = 2 * capacity;
    v->capacity = capacity;
    /* the new table holds all voxels that the list has so far */
    for (size_t i = 0; i < v->n; i++) v->slot[gls_visits_slot(v, v->voxel[i])] = (uint32_t)i + 1;
    return true;
}

void gls_visits_note(gls_visits *s, uint64_t voxel, double mm)
{
    size_t at = gls_visits_index(s, voxel);
    if (at == SIZE_MAX) return;
    s->mm[at] += mm;
    if (!s->directed) return;
    double *sum = s->direction[at], weight = mm;
    if (s->aligned) weight = sum[0] * s->heading[0] + sum[1] * s->heading[1] + sum[2] * s->heading[2] < 0 ? -1 : 1;
    for (int r = 0; r < 3; r++) sum[r] += weight * s->heading[r];
}
