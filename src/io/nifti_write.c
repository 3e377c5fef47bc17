#include "io/nifti.h"
#include "util/status.h"

#include <nifti2_io.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GZIP_LEVEL 3
#define BLOCK_BYTES ((size_t)1 << 20)

/* The header as it goes into the file, four bytes of "no extensions" included. */
typedef struct packed_header {
    size_t bytes;
    union {
        nifti_1_header v1;
        nifti_2_header v2;
        unsigned char bytes[sizeof(nifti_2_header) + 4];
    } h;
} packed_header;

static nifti_dmat44 to_matrix(const gls_grid *grid)
{
    nifti_dmat44 m = {{{0}}};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) m.m[r][c] = grid->affine[r][c];
    }
    m.m[3][3] = 1.0;
    return m;
}

/* Fields that both versions have under the same name. */
#define FILL_HEADER(target, image)                                                                            \
    do {                                                                                                                    \
        double dx_, dy_, dz_, fac_, b_, c_, d_, x_, y_, z_;                                                                 \
        nifti_dmat44_to_quatern(to_matrix(&(image)->grid), &b_, &c_, &d_, &x_, &y_, &z_, &dx_, &dy_, &dz_, &fac_);          \
        (target)->vox_offset = sizeof *(target) + 4;                                                                         \
        (target)->scl_slope = 1;                                                                                            \
        (target)->scl_inter = 0;                                                                                            \
        (target)->xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC;                                                            \
        (target)->qform_code = (target)->sform_code = NIFTI_XFORM_SCANNER_ANAT;                                             \
        (target)->pixdim[0] = STORE(fac_);                                                                                  \
        for (int i_ = 0; i_ < 3; i_++) (target)->pixdim[i_ + 1] = STORE((image)->grid.voxel_size[i_]);                      \
        (target)->quatern_b = STORE(b_);                                                                                    \
        (target)->quatern_c = STORE(c_);                                                                                    \
        (target)->quatern_d = STORE(d_);                                                                                    \
        (target)->qoffset_x = STORE(x_);                                                                                    \
        (target)->qoffset_y = STORE(y_);                                                                                    \
        (target)->qoffset_z = STORE(z_);                                                                                    \
        for (int i_ = 0; i_ < 4; i_++) {                                                                                    \
            (target)->srow_x[i_] = STORE((image)->grid.affine[0][i_]);                                                      \
            (target)->srow_y[i_] = STORE((image)->grid.affine[1][i_]);                                                      \
            (target)->srow_z[i_] = STORE((image)->grid.affine[2][i_]);                                                      \
        }                                                                                                                   \
        memcpy((target)->descrip, "glslines " GLS_VERSION, sizeof "glslines " GLS_VERSION);                                 \
    } while (0)

static gls_status make_header(const char *path, const gls_image *image, gls_image_type type, packed_header *header)
{
    static const int codes[] = {[GLS_IMAGE_FLOAT32] = NIFTI_TYPE_FLOAT32, [GLS_IMAGE_INT16] = NIFTI_TYPE_INT16, [GLS_IMAGE_UINT8] = NIFTI_TYPE_UINT8};
    const int32_t *d = image->grid.dim;
    const int64_t dim[8] = {image->n_volumes > 1 ? 4 : 3, d[0], d[1], d[2], (int64_t)image->n_volumes, 1, 1, 1};
    bool small = true;
    for (int i = 1; i <= 4; i++) small &= dim[i] <= INT16_MAX;
    memset(header, 0, sizeof *header);
    nifti_set_debug_level(0);
    if (small) {
        nifti_1_header *made = nifti_make_new_n1_header(dim, codes[type]);
        if (!made) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
#define STORE(x) ((float)(x))
        FILL_HEADER(made, image);
#undef STORE
        memcpy(made->magic, "n+1", 4);
        header->h.v1 = *made;
        header->bytes = sizeof *made + 4;
        free(made);
    } else {
        nifti_2_header *made = nifti_make_new_n2_header(dim, codes[type]);
        if (!made) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
#define STORE(x) (x)
        FILL_HEADER(made, image);
#undef STORE
        memcpy(made->magic, "n+2\0\r\n\032\n", 8);
        header->h.v2 = *made;
        header->bytes = sizeof *made + 4;
        free(made);
    }
    return GLS_OK;
}

typedef struct source {
    const packed_header *header;
    const gls_image *image;
    gls_image_type type;
} source;

/* Bytes first .. first + bytes - 1 of the file. The header and all pieces are multiples of the value size. */
static void fill(void *user, uint64_t first, size_t bytes, void *buffer)
{
    const source *s = user;
    unsigned char *to = buffer;
    const size_t value = gls_image_type_bytes(s->type);
    if (first < s->header->bytes) {
        size_t n = s->header->bytes - (size_t)first < bytes ? s->header->bytes - (size_t)first : bytes;
        memcpy(to, s->header->h.bytes + first, n);
        to += n;
        bytes -= n;
        first += n;
    }
    gls_values_write(s->type, s->image->data + (first - s->header->bytes) / value, bytes / value, to);
}

static gls_status write_plain(gls_output *output, source *s, uint64_t total)
{
    gls_status status = GLS_OK;
    void *buffer = malloc(BLOCK_BYTES);
    if (!buffer) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", output->path);
    for (uint64_t first = 0; first < total && status == GLS_OK; first += BLOCK_BYTES) {
        size_t bytes = total - first < BLOCK_BYTES ? (size_t)(total - first) : BLOCK_BYTES;
        fill(s, first, bytes, buffer);
        status = gls_output_write(output, buffer, bytes);
    }
    free(buffer);
    return status;
}

gls_status gls_image_write(const char *path, const gls_image *image, gls_image_type type)
{
    GLS_REQUIRE(path && image && image->data && image->n_volumes >= 1);
    GLS_REQUIRE(type == GLS_IMAGE_FLOAT32 || type == GLS_IMAGE_INT16 || type == GLS_IMAGE_UINT8);
    packed_header header;
    gls_output output;
    size_t n = strlen(path);
    bool packed = n > 7 && !strcasecmp(path + n - 7, ".nii.gz");
    if (!packed && !(n > 4 && !strcasecmp(path + n - 4, ".nii"))) return gls_fail(GLS_ERR_ARGUMENT, "%s: the name of an image must end in .nii or .nii.gz", path);
    gls_status status = make_header(path, image, type, &header);
    if (status == GLS_OK) status = gls_output_create(path, true, &output);
    if (status != GLS_OK) return status;
    source s = {.header = &header, .image = image, .type = type};
    uint64_t total = header.bytes + (uint64_t)gls_grid_voxels(&image->grid) * image->n_volumes * gls_image_type_bytes(type);
    if (packed) status = gls_gzip_write(&output, total, GZIP_LEVEL, fill, &s);
    else status = write_plain(&output, &s, total);
    if (status == GLS_OK) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}
