/* Files of transforms, for other programs: matrices of MRtrix3, ITK, FSL, AFNI, FreeSurfer and NiftyReg,
 * fields of ITK and NiftyReg. */
#include "transform/transform_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_write.h"
#include "image/mif_header.h"
#include "image/nifti_write.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Code of intent of a field of vectors. */
#define INTENT_VECTOR 1007

/* Appends four rows of numbers. */
static void append_rows(gls_text *text, const double map[3][4])
{
    for (int r = 0; r < 3; r++)
        gls_text_printf(text, "%.17g %.17g %.17g %.17g\n", map[r][0], map[r][1], map[r][2], map[r][3]);
    gls_text_puts(text, "0 0 0 1\n");
}

gls_status gls_transform_write_matrix(const char *path, bool overwrite, gls_output_group *group, const double map[3][4])
{
    gls_text text = {0};
    gls_text_puts(&text, "# maps points of the fixed image to points of the moving image, RAS mm\n");
    append_rows(&text, map);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

gls_status gls_transform_write_niftyreg(const char *path, bool overwrite, gls_output_group *group,
                                        const double map[3][4])
{
    gls_text text = {0};
    append_rows(&text, map);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

gls_status gls_transform_write_itk(const char *path, bool overwrite, gls_output_group *group, const double map[3][4])
{
    gls_text text = {0};
    gls_text_puts(&text, "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3\n"
                         "Parameters:");
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) gls_text_printf(&text, " %.17g", ((r < 2) != (c < 2) ? -1 : 1) * map[r][c]);
    for (int r = 0; r < 3; r++) gls_text_printf(&text, " %.17g", (r < 2 ? -1 : 1) * map[r][3]);
    gls_text_puts(&text, "\nFixedParameters: 0 0 0\n");
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

gls_status gls_transform_write_flirt(const char *path, bool overwrite, gls_output_group *group, const double map[3][4],
                                     const gls_grid *moving, const gls_grid *fixed)
{
    double frame[3][4], inverse[3][4], back[3][4], out[3][4];
    gls_text text = {0};
    /* moving mm -> moving voxel -> moving world -> fixed world -> fixed voxel -> fixed mm */
    gls_transform_fsl_frame(moving, frame);
    gls_affine_invert((const double(*)[4])frame, inverse);
    gls_affine_invert(map, back);
    gls_transform_compose(moving->affine, (const double(*)[4])inverse, out);
    gls_transform_compose((const double(*)[4])back, (const double(*)[4])out, out);
    gls_grid_inverse(fixed, inverse);
    gls_transform_compose((const double(*)[4])inverse, (const double(*)[4])out, out);
    gls_transform_fsl_frame(fixed, frame);
    gls_transform_compose((const double(*)[4])frame, (const double(*)[4])out, out);
    append_rows(&text, (const double(*)[4])out);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

gls_status gls_transform_write_afni(const char *path, bool overwrite, gls_output_group *group, const double map[3][4])
{
    gls_text text = {0};
    gls_text_puts(&text, "# base to source, LPS mm\n");
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            gls_text_printf(&text, "%.17g%c", ((r < 2) != (c < 2) ? -1 : 1) * map[r][c], r == 2 && c == 3 ? '\n' : ' ');
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Appends what an LTA file says of the grid of an image. */
static void describe_volume(gls_text *text, const char *which, const gls_grid *grid)
{
    static const char *const axes = "xyz";
    const double middle[3] = {grid->dim[0] / 2.0, grid->dim[1] / 2.0, grid->dim[2] / 2.0};
    double centre[3];
    gls_affine_apply(grid->affine, middle, centre);
    gls_text_printf(text, "%s volume info\nvalid = 1  # volume info valid\nfilename = unknown\nvolume = %d %d %d\n",
                    which, grid->dim[0], grid->dim[1], grid->dim[2]);
    gls_text_printf(text, "voxelsize = %.15e %.15e %.15e\n", grid->voxel_size[0], grid->voxel_size[1],
                    grid->voxel_size[2]);
    for (int a = 0; a < 3; a++)
        gls_text_printf(text, "%cras   = %.15e %.15e %.15e\n", axes[a], grid->affine[0][a] / grid->voxel_size[a],
                        grid->affine[1][a] / grid->voxel_size[a], grid->affine[2][a] / grid->voxel_size[a]);
    gls_text_printf(text, "cras   = %.15e %.15e %.15e\n", centre[0], centre[1], centre[2]);
}

gls_status gls_transform_write_lta(const char *path, bool overwrite, gls_output_group *group, const double map[3][4],
                                   const gls_grid *moving, const gls_grid *fixed)
{
    double back[3][4];
    gls_text text = {0};
    gls_affine_invert(map, back);
    gls_text_puts(&text, "type      = 1 # LINEAR_RAS_TO_RAS\nnxforms   = 1\nmean      = 0.0000 0.0000 0.0000\n"
                         "sigma     = 1.0000\n1 4 4\n");
    for (int r = 0; r < 3; r++)
        gls_text_printf(&text, "%.15e %.15e %.15e %.15e\n", back[r][0], back[r][1], back[r][2], back[r][3]);
    gls_text_puts(&text, "0 0 0 1\n");
    describe_volume(&text, "src", moving);
    describe_volume(&text, "dst", fixed);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Changes the header of three volumes into that of an image of vectors. niftyreg: of displacements, for NiftyReg. */
static void make_vectors(gls_image_header *header, bool niftyreg)
{
    static const char name[] = "NREG_TRANS";
    int32_t size;
    memcpy(&size, header->data, sizeof size);
    if (size == 348) {
        const int16_t n = 5, volumes = 1, vectors = 3, intent = INTENT_VECTOR;
        memcpy(header->data + 40, &n, sizeof n);
        memcpy(header->data + 48, &volumes, sizeof volumes);
        memcpy(header->data + 50, &vectors, sizeof vectors);
        memcpy(header->data + 68, &intent, sizeof intent);
        if (niftyreg) {
            const float kind = 1;
            memcpy(header->data + 56, &kind, sizeof kind);
            memcpy(header->data + 328, name, sizeof name);
        }
    } else {
        const int64_t n = 5, volumes = 1, vectors = 3;
        const int32_t intent = INTENT_VECTOR;
        memcpy(header->data + 16, &n, sizeof n);
        memcpy(header->data + 48, &volumes, sizeof volumes);
        memcpy(header->data + 56, &vectors, sizeof vectors);
        memcpy(header->data + 504, &intent, sizeof intent);
        if (niftyreg) {
            const double kind = 1;
            memcpy(header->data + 80, &kind, sizeof kind);
            memcpy(header->data + 508, name, sizeof name);
        }
    }
}

gls_status gls_transform_write_field(const char *path, bool overwrite, gls_output_group *group, const gls_image *field,
                                     bool niftyreg)
{
    const size_t n = gls_grid_voxels(&field->grid);
    gls_image_header header;
    gls_status status = gls_image_name_check(path);
    if (!status && gls_mif_is_name(path))
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: a field of %s ends in .nii or .nii.gz", path,
                          niftyreg ? "NiftyReg" : "ITK");
    if (!status)
        status = gls_nifti_make_header(path, &field->grid, niftyreg ? "displacements, RAS mm" : "displacements, LPS mm",
                                       3, GLS_TYPE_FLOAT32, &header);
    unsigned char *data = status ? NULL : malloc(header.bytes + 3 * n * sizeof(float));
    if (!status && !data) status = gls_no_memory();
    if (status) return status;
    make_vectors(&header, niftyreg);
    memcpy(data, header.data, header.bytes);
    float *value = (float *)(void *)(data + header.bytes); /* headers are multiples of 4 bytes */
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < 3 * n; i++) value[i] = i < 2 * n && !niftyreg ? -field->data[i] : field->data[i];
    status = gls_image_write_bytes(path, overwrite, group, data, header.bytes + 3 * n * sizeof(float));
    free(data);
    return status;
}
