/* Gradient tables of a series that an affine map brings to another image. Directions turn as peaks do, but a table has
 * one set of directions for all voxels: of the map only its rotation counts, and a field is refused. */
#include "tools/transform_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/odf.h"
#include "image/grid.h"
#include "image/reorient.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Map from FSL's directions, along the voxel axes of an image, to the world. */
static gls_status read_frame(const char *path, double frame[3][4])
{
    gls_grid grid;
    double world[3][3], fsl[3][3]; /* of the voxel axes; those of FSL are the same, but for signs */
    gls_status status = gls_grid_read(path, &grid);
    if (status) return status;
    gls_odf_frame_map(GLS_BVEC_WORLD, &grid, world);
    gls_odf_frame_map(GLS_BVEC_FSL, &grid, fsl);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) frame[r][c] = c < 3 ? world[r][c] * fsl[c][c] : 0;
    return GLS_OK;
}

/* Finds the map of directions of the moving image to those of the fixed one: the rotation part of the inverse of the
 * chain, between the frames of both images for a table of FSL. */
static gls_status find_turn(const gls_transform_cli *o, const char *in, bool fsl, const gls_transform *t,
                            double turn[3][4])
{
    double back[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, q[3][3], from[3][4], to[3][4], inverse[3][4];
    for (size_t i = t->n; i-- > 0;) {
        if (t->step[i].field)
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: the transform has a field, whose turn differs from voxel to voxel, but a table has one "
                "set of directions: fit the series where it is, and transform FODs (--fod) or peaks (--peaks)",
                in);
        gls_transform_compose((const double(*)[4])t->step[i].back, (const double(*)[4])back, back);
    }
    gls_affine_rotation((const double(*)[4])back, q);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) turn[r][c] = c < 3 ? q[r][c] : 0;
    if (!fsl) return GLS_OK;
    if (!o->moving || !o->template_image)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: has directions along voxel axes: needs --moving IMAGE, its series, and --template IMAGE, "
                        "the series in the fixed space",
                        in);
    gls_status status = read_frame(o->moving, from);
    if (!status) status = read_frame(o->template_image, to);
    if (status) return status;
    gls_affine_invert((const double(*)[4])to, inverse);
    gls_transform_compose((const double(*)[4])turn, (const double(*)[4])from, turn);
    gls_transform_compose((const double(*)[4])inverse, (const double(*)[4])turn, turn);
    return GLS_OK;
}

bool gls_gradients_is_name(const char *path)
{
    return gls_case_ends(path, ".bvec") || gls_case_ends(path, ".bvecs") || gls_case_ends(path, ".b");
}

gls_status gls_transform_gradients(gls_tract_run *run, const gls_transform_cli *o, const char *in,
                                   const gls_transform *t)
{
    double *value = NULL, turn[3][4];
    size_t rows, columns;
    gls_text out = {0};
    const bool fsl = !gls_case_ends(in, ".b");
    if (!gls_gradients_is_name(o->output) || gls_case_ends(o->output, ".b") == fsl)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: a table like %s ends in %s", o->output, in, fsl ? ".bvec" : ".b");
    gls_status status = find_turn(o, in, fsl, t, turn);
    if (!status) status = gls_table_read(in, &value, &rows, &columns);
    const bool across = fsl && rows == 3; /* one direction in each column, as FSL writes them */
    if (!status && !across && columns != (fsl ? 3 : 4))
        status = gls_fail(GLS_ERR_INPUT, "%s: is no table of %s", in,
                          fsl ? "directions: it has neither three rows nor three columns" : "rows x y z b");
    const size_t n = status ? 0 : across ? columns : rows, step = across ? columns : 1, next = across ? 1 : columns;
    for (size_t i = 0; i < n; i++) {
        double *d = value + i * next, moved[3];
        const double given[3] = {d[0], d[step], d[2 * step]};
        gls_affine_apply((const double(*)[4])turn, given, moved);
        for (size_t r = 0; r < 3; r++) d[r * step] = moved[r] + 0.0; /* no negative zero */
    }
    for (size_t v = 0; v < (status ? 0 : rows * columns); v++)
        gls_text_printf(&out, "%.10g%c", value[v], v % columns + 1 < columns ? ' ' : '\n');
    status = gls_text_write(&out, o->output, run->options.force, &run->files.group, status);
    free(value);
    if (status) return status;
    gls_tract_run_count(run, "directions", n);
    gls_tract_run_message(run, "%s: %zu directions", o->output, n);
    return GLS_OK;
}
