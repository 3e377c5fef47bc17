/* Affine maps as matrices: composition, other coordinates, and a line of a file of one. */
#include "transform/affine.h"

#include <string.h>

#include "util/text.h"

void gls_transform_compose(const double a[3][4], const double b[3][4], double out[3][4])
{
    double made[3][4];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 4; c++)
            made[i][c] = a[i][0] * b[0][c] + a[i][1] * b[1][c] + a[i][2] * b[2][c] + (c == 3 ? a[i][3] : 0);
    memcpy(out, made, sizeof made);
}

void gls_transform_fsl_frame(const gls_grid *grid, double map[3][4])
{
    memset(map, 0, 12 * sizeof map[0][0]);
    for (int a = 0; a < 3; a++) map[a][a] = grid->voxel_size[a];
    if (gls_grid_determinant(grid) > 0) {
        map[0][0] = -grid->voxel_size[0];
        map[0][3] = grid->voxel_size[0] * (grid->dim[0] - 1);
    }
}

void gls_transform_exchange(double map[3][4])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if ((r < 2) != (c < 2)) map[r][c] = -map[r][c];
}

int gls_transform_row(const char *line, double value[GLS_TRANSFORM_NUMBERS])
{
    int n = 0;
    for (const char *c = line + strspn(line, " \t\r,"); *c && *c != '\n'; c += strspn(c, " \t\r,")) {
        char *end;
        const double v = gls_strtod(c, &end);
        if (end == c || n == GLS_TRANSFORM_NUMBERS) return -1;
        value[n++] = v;
        c = end;
    }
    return n;
}
