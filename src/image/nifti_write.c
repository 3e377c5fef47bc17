/* Headers of NIfTI images that are written: NIfTI-2 if a dimension is above 32767, else NIfTI-1. */
#include <nifti2_io.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "image/nifti_write.h"
#include "image/formats.h"
#include "util/status.h"

/* Returns the affine of a grid as a matrix of nifti_clib. */
static nifti_dmat44 to_matrix(const gls_grid *grid)
{
    nifti_dmat44 m = {{{0}}};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) m.m[r][c] = grid->affine[r][c];
    }
    m.m[3][3] = 1.0;
    return m;
}

/* Describes an image without its values for nifti_clib. small: as NIfTI-1, else NIfTI-2. The caller calls
 * nifti_image_free(). */
static nifti_image *describe(const gls_grid *g, const char *what, size_t n_volumes, int code, bool small)
{
    const int64_t dim[8] = {n_volumes > 1 ? 4 : 3, g->dim[0], g->dim[1], g->dim[2], (int64_t)n_volumes, 1, 1, 1};
    double dx, dy, dz;
    nifti_image *nim = nifti_make_new_nim(dim, code, 0);
    if (!nim) return NULL;
    nim->nifti_type = small ? NIFTI_FTYPE_NIFTI1_1 : NIFTI_FTYPE_NIFTI2_1;
    nim->iname_offset = (int64_t)(small ? sizeof(nifti_1_header) : sizeof(nifti_2_header)) + 4;
    nim->sform_code = nim->qform_code = g->space > 0 ? g->space : NIFTI_XFORM_SCANNER_ANAT;
    nim->sto_xyz = to_matrix(g);
    nifti_dmat44_to_quatern(nim->sto_xyz, &nim->quatern_b, &nim->quatern_c, &nim->quatern_d, &nim->qoffset_x,
                            &nim->qoffset_y, &nim->qoffset_z, &dx, &dy, &dz, &nim->qfac);
    nim->dx = nim->pixdim[1] = g->voxel_size[0];
    nim->dy = nim->pixdim[2] = g->voxel_size[1];
    nim->dz = nim->pixdim[3] = g->voxel_size[2];
    nim->xyz_units = NIFTI_UNITS_MM;
    nim->time_units = NIFTI_UNITS_SEC;
    nim->scl_slope = 1.0;
    snprintf(nim->descrip, sizeof nim->descrip, "glslines %s%s%s", what ? what : "", what ? " " : "", gls_version());
    return nim;
}

/* The type of values as a code of NIfTI; 0: none. */
static int code_of(gls_type type)
{
    return type == GLS_TYPE_INT32     ? NIFTI_TYPE_INT32
           : type == GLS_TYPE_UINT32  ? NIFTI_TYPE_UINT32
           : type == GLS_TYPE_FLOAT32 ? NIFTI_TYPE_FLOAT32
           : type == GLS_TYPE_UINT8   ? NIFTI_TYPE_UINT8
           : type == GLS_TYPE_INT16   ? NIFTI_TYPE_INT16
                                      : NIFTI_TYPE_FLOAT64;
}

gls_status gls_nifti_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                                 gls_type type, gls_image_header *header)
{
    /* the header as in the file, behind which four bytes say "no extensions" */
    union {
        nifti_1_header v1;
        nifti_2_header v2;
        unsigned char bytes[sizeof(nifti_2_header) + 4];
    } h;
    bool small = n_volumes <= INT16_MAX;
    for (int i = 0; i < 3; i++) small &= grid->dim[i] <= INT16_MAX;
    memset(&h, 0, sizeof h);
    nifti_set_debug_level(0);
    nifti_image *nim = describe(grid, what, n_volumes, code_of(type), small);
    if (!nim) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    int result = small ? nifti_convert_nim2n1hdr(nim, &h.v1) : nifti_convert_nim2n2hdr(nim, &h.v2);
    header->bytes = (size_t)nim->iname_offset;
    memcpy(header->data, h.bytes, header->bytes);
    nifti_image_free(nim);
    return result == 0 ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "%s: nifti_clib makes no header for this image", path);
}
