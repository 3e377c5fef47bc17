/* Chains of transforms as one file: an affine map in the format of another program, or one field. */
#include "tools/transform_compose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/image_write.h"
#include "image/mif_header.h"
#include "image/reorient.h"
#include "transform/affine.h"
#include "transform/transform_write.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

enum { TO_AUTO, TO_ITK, TO_MRTRIX, TO_FSL, TO_AFNI, TO_LTA, TO_NIFTYREG };

/* Writes a chain without fields. */
static gls_status write_affine(gls_tract_run *run, const gls_transform_cli *o, const gls_transform *t)
{
    double map[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid moving, fixed;
    const bool force = run->options.force;
    gls_output_group *group = &run->files.group;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n; i++)
        gls_transform_compose((const double(*)[4])t->step[i].map, (const double(*)[4])map, map);
    if (o->to == TO_FSL || o->to == TO_LTA) {
        if (!o->moving || !o->template_image)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--to %s: needs --moving IMAGE and --template IMAGE, the grids of both images",
                            o->to == TO_FSL ? "fsl" : "lta");
        status = gls_grid_read(o->moving, &moving);
        if (!status) status = gls_grid_read(o->template_image, &fixed);
    }
    if (status) return status;
    if (o->to == TO_ITK && gls_case_ends(o->output, ".mat"))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: ITK takes a .mat for one of MATLAB: give .txt or .tfm", o->output);
    if (o->to == TO_ITK) return gls_transform_write_itk(o->output, force, group, (const double(*)[4])map);
    if (o->to == TO_AFNI) return gls_transform_write_afni(o->output, force, group, (const double(*)[4])map);
    if (o->to == TO_FSL)
        return gls_transform_write_flirt(o->output, force, group, (const double(*)[4])map, &moving, &fixed);
    if (o->to == TO_LTA)
        return gls_transform_write_lta(o->output, force, group, (const double(*)[4])map, &moving, &fixed);
    if (o->to == TO_NIFTYREG) return gls_transform_write_niftyreg(o->output, force, group, (const double(*)[4])map);
    return gls_transform_write_matrix(o->output, force, group, (const double(*)[4])map);
}

/* Writes a chain with a field. */
static gls_status write_field(gls_tract_run *run, const gls_transform_cli *o, const gls_transform *t)
{
    const bool positions = o->to == TO_MRTRIX || (o->to == TO_AUTO && gls_mif_is_name(o->output));
    gls_grid grid;
    gls_image *field = NULL;
    uint64_t outside = 0;
    bool has_grid = o->template_image != NULL;
    gls_status status = gls_image_name_check(o->output);
    if (!status && o->to != TO_AUTO && o->to != TO_ITK && o->to != TO_MRTRIX && o->to != TO_NIFTYREG)
        status = gls_fail(GLS_ERR_ARGUMENT,
                          "--to: %s is an image, that of a field, which is written for itk, mrtrix or niftyreg alone",
                          o->output);
    if (!has_grid && t->step[0].field && !t->step[0].inverted) {
        grid = t->step[0].field->grid;
        has_grid = true;
    }
    if (!status && !has_grid)
        status = gls_fail(GLS_ERR_ARGUMENT, "compose: needs --template IMAGE, as the first step is no field as it is");
    if (!status && o->template_image) status = gls_grid_read(o->template_image, &grid);
    if (!status) status = gls_image_allocate(&grid, 3, false, &field);
    if (!status) outside = gls_transform_sample(t, positions, field);
    if (!status && outside == gls_grid_voxels(&grid))
        status = gls_fail(GLS_ERR_INPUT, "compose: no voxel of the grid has a place: is it that of the fixed image?");
    if (!status && outside > 0)
        gls_log(GLS_LOG_WARNING, "%" PRIu64 " of %zu voxels lie outside of a field, and are %s", outside,
                gls_grid_voxels(&grid), positions ? "NaN" : "not moved");
    if (!status)
        status = positions ? gls_image_write_grouped(o->output, run->options.force, &run->files.group, field,
                                                     GLS_IMAGE_FLOAT32)
                           : gls_transform_write_field(o->output, run->options.force, &run->files.group, field,
                                                       o->to == TO_NIFTYREG);
    gls_image_destroy(field);
    if (!status) gls_tract_run_count(run, "voxels_outside", outside);
    return status;
}

/* Refuses the images whose grids the file does not need. */
static gls_status check_images(const gls_transform_cli *o, bool field)
{
    const bool both = !field && (o->to == TO_FSL || o->to == TO_LTA);
    const char *unused = o->moving && !both ? "moving" : o->template_image && !both && !field ? "template" : NULL;
    if (!unused) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--%s: has no effect on %s, %s: leave it out", unused, o->output,
                    field ? "a field" : "a matrix without the grids of images");
}

gls_status gls_transform_compose_chain(gls_tract_run *run, const gls_transform_cli *o, const gls_transform *t)
{
    bool fields = gls_image_is_output(o->output);
    for (size_t i = 0; i < t->n; i++) fields |= t->step[i].field != NULL;
    if (fields && !gls_image_is_output(o->output))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: the chain has a field, whose file is an image: .nii, .nii.gz, .mif",
                        o->output);
    gls_status status = check_images(o, fields);
    if (status) return status;
    status = fields ? write_field(run, o, t) : write_affine(run, o, t);
    if (!status) gls_tract_run_message(run, "%s: %zu transforms in one", o->output, t->n);
    return status;
}
