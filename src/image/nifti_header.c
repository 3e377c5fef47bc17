/* Reads and checks headers of NIfTI-1 and NIfTI-2, and converts voxel values from the types in files to float. */
#include "image/nifti_header.h"
#include "image/formats.h"
#include "image/stream.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <nifti1.h>
#include <nifti2_io.h>
#include <string.h>

/* A header of either version, in the byte order of this machine. */
typedef struct raw_header {
    int version; /* 1 or 2 */
    bool swapped;
    union {
        nifti_1_header v1;
        nifti_2_header v2;
        unsigned char bytes[sizeof(nifti_2_header)];
    } h;
} raw_header;

/* A number from the header of either version, as double. */
#define FIELD(raw, member) ((raw)->version == 1 ? (double)(raw)->h.v1.member : (double)(raw)->h.v2.member)

/* Returns the error for a file that is not NIfTI. The message names the kind of image that its first bytes show. */
static gls_status not_nifti(const char *path, const raw_header *raw)
{
    static const struct {
        size_t at, n;
        const char *bytes, *name;
    } others[] = {{0, 4, "\0\0\0\1", "an image of FreeSurfer (MGH)"},
                  {0, 4, "NRRD", "an NRRD image"},
                  {128, 4, "DICM", "a DICOM file"},
                  {0, 4, "type", "the header of an AFNI image"},
                  {0, 5, "\ntype", "the header of an AFNI image"},
                  {0, 4, "CDF\1", "a MINC image"},
                  {0, 4, "\211HDF", "an HDF5 file, such as MINC's"},
                  {0, 10, "ObjectType", "a MetaImage"},
                  {0, 12, "mrtrix image", "an image of MRtrix3 whose name does not end in .mif"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (memcmp(raw->h.bytes + others[i].at, others[i].bytes, others[i].n) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s: is %s, not a NIfTI image: convert it to NIfTI first", path,
                            others[i].name);
    if (gls_case_ends(path, ".BRIK") || gls_case_ends(path, ".BRIK.gz"))
        return gls_fail(GLS_ERR_INPUT, "%s: is an AFNI image: convert it to NIfTI first, by 3dAFNItoNIFTI", path);
    return gls_fail(GLS_ERR_INPUT, "%s: is not a NIfTI image: give a file that a NIfTI writer or mrconvert made", path);
}

/* Reads the header, and swaps its bytes if its first number, the size of the header, is right only in the other byte
 * order. *used: number of bytes read. */
static gls_status read_raw(gls_stream *stream, const char *path, raw_header *raw, uint64_t *used)
{
    int32_t size;
    size_t got, more;
    *raw = (raw_header){0};
    gls_status status = gls_stream_read(stream, raw->h.bytes, sizeof raw->h.v1, &got);
    if (status) return status;
    if (got == 0) return gls_fail(GLS_ERR_INPUT, "%s: is empty", path);
    if (got < sizeof size) return not_nifti(path, raw);
    memcpy(&size, raw->h.bytes, sizeof size);
    raw->swapped = size != (int32_t)sizeof(nifti_1_header) && size != (int32_t)sizeof(nifti_2_header);
    if (raw->swapped) size = (int32_t)__builtin_bswap32((uint32_t)size);
    if (size != (int32_t)sizeof(nifti_1_header) && size != (int32_t)sizeof(nifti_2_header)) return not_nifti(path, raw);
    raw->version = size == (int32_t)sizeof(nifti_1_header) ? 1 : 2;
    if (raw->version == 2 && got == sizeof raw->h.v1) {
        status = gls_stream_read(stream, raw->h.bytes + got, sizeof raw->h.v2 - got, &more);
        if (status) return status;
        got += more;
    }
    if (got < (size_t)size) return gls_fail(GLS_ERR_INPUT, "%s: truncated: the file ends inside the header", path);
    if (raw->swapped) swap_nifti_header(&raw->h, raw->version);
    *used = got;
    return GLS_OK;
}

/* Requires the magic "n+1" or "n+2", whose values are in the same file, or "ni1" or "ni2", whose values are in an .img
 * file. */
static gls_status check_magic(const char *path, const raw_header *raw, bool *single_file)
{
    const char *magic = raw->version == 1 ? raw->h.v1.magic : raw->h.v2.magic;
    char digit = raw->version == 1 ? '1' : '2';
    if (magic[0] != 'n' || (magic[1] != '+' && magic[1] != 'i') || magic[2] != digit || magic[3] != '\0') {
        if (raw->version == 1)
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: is an ANALYZE 7.5 image, which has no orientation, or no image at all; NIfTI is needed", path);
        return not_nifti(path, raw);
    }
    *single_file = magic[1] == '+';
    return GLS_OK;
}

/* Reads the dimensions of either version as int64. The fifth may be 1, or that of vectors or fields; those beyond it
 * must be 1. */
static gls_status check_dimensions(const char *path, const raw_header *raw, int64_t dim[6])
{
    int64_t all[8];
    for (int i = 0; i < 8; i++) all[i] = raw->version == 1 ? raw->h.v1.dim[i] : raw->h.v2.dim[i];
    if (all[0] < 1 || all[0] > 7)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged header: the number of dimensions is %lld, but must be 1 to 7", path,
                        (long long)all[0]);
    for (int i = 1; i <= all[0]; i++) {
        if (all[i] < 1)
            return gls_fail(GLS_ERR_INPUT, "%s: damaged header: dimension %d is %lld, but must be at least 1", path, i,
                            (long long)all[i]);
        if (i >= 5 && all[i] > 1 && !(i == 5 && (all[i] == 3 || (all[4] == 3 && all[i] <= GLS_FIELDS_MAX))))
            return gls_fail(GLS_ERR_INPUT, "%s: has %d dimensions (dimension %d is %lld), but at most 4 can be used",
                            path, i, i, (long long)all[i]);
        if (i <= 3 && all[i] > INT32_MAX)
            return gls_fail(GLS_ERR_INPUT, "%s: dimension %d is %lld, but can be 2147483647 at most", path, i,
                            (long long)all[i]);
    }
    for (int i = 1; i <= 5; i++) dim[i] = i <= all[0] ? all[i] : 1;
    return GLS_OK;
}

/* Bytes of one value of a real numeric type, given by its NIFTI_TYPE_... code; 0 for any other code. */
static size_t values_bytes(int datatype)
{
    switch (datatype) {
    case NIFTI_TYPE_UINT8:
    case NIFTI_TYPE_INT8: return 1;
    case NIFTI_TYPE_INT16:
    case NIFTI_TYPE_UINT16: return 2;
    case NIFTI_TYPE_INT32:
    case NIFTI_TYPE_UINT32:
    case NIFTI_TYPE_FLOAT32: return 4;
    case NIFTI_TYPE_INT64:
    case NIFTI_TYPE_UINT64:
    case NIFTI_TYPE_FLOAT64: return 8;
    default: return 0;
    }
}

/* Requires real numbers of at most 64 bits. */
static gls_status check_type(const char *path, const raw_header *raw, gls_nifti_header *header)
{
    int type = raw->version == 1 ? raw->h.v1.datatype : raw->h.v2.datatype;
    size_t bytes = values_bytes(type);
    if (bytes == 0) {
        const char *name = nifti_datatype_string(type);
        return gls_fail(GLS_ERR_INPUT,
                        "%s: values of type %s (NIfTI code %d) cannot be used, only real numbers of at most 64 bits",
                        path, name ? name : "unknown", type);
    }
    header->values.datatype = type;
    header->values.bytes = bytes;
    header->values.swapped = raw->swapped;
    return GLS_OK;
}

/* Computes the bytes of all values and where they begin. */
static gls_status check_size(const char *path, const raw_header *raw, const int64_t dim[6], gls_nifti_header *header)
{
    uint64_t n = header->values.bytes;
    for (int i = 1; i <= 5; i++) {
        /* the limit leaves room for the conversion to float, and for adding the offset */
        if (__builtin_mul_overflow(n, (uint64_t)dim[i], &n) || n > (uint64_t)INT64_MAX / 4)
            return gls_fail(GLS_ERR_INPUT, "%s: %lld x %lld x %lld x %lld values are too many for an image", path,
                            (long long)dim[1], (long long)dim[2], (long long)dim[3], (long long)dim[4]);
    }
    header->bytes = n;
    header->fifth = (int)dim[5];
    header->n_volumes = (size_t)(dim[4] * dim[5]);
    double offset = raw->version == 1 ? (double)raw->h.v1.vox_offset : (double)raw->h.v2.vox_offset;
    if (!(offset >= 0.0) || offset > 0x1p40)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged header: the values would begin at byte %g", path, offset);
    /* In a single file the values follow the header and four bytes that announce extensions; some writers leave the
     * offset 0. */
    uint64_t least = header->single_file ? 4 + (raw->version == 1 ? sizeof raw->h.v1 : sizeof raw->h.v2) : 0;
    if (offset < (double)least)
        gls_warn_of_file("%s: says that its values begin at byte %g, inside the header; byte %llu is used", path,
                         offset, (unsigned long long)least);
    header->offset = (uint64_t)offset < least ? least : (uint64_t)offset;
    return GLS_OK;
}

/* Measures how far apart two grids of the same size lie: the largest distance between their corners, mm, and the
 * largest angle between their axes, degrees. */
static void compare_forms(const gls_grid form[2], double *apart, double *angle)
{
    *apart = *angle = 0;
    for (int k = 0; k < 8; k++) {
        double corner[3], p[2][3];
        for (int a = 0; a < 3; a++) corner[a] = k >> a & 1 ? form[0].dim[a] - 1 : 0;
        for (int f = 0; f < 2; f++) gls_affine_apply((const double(*)[4])form[f].affine, corner, p[f]);
        *apart = fmax(*apart, hypot(hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]), p[0][2] - p[1][2]));
    }
    for (int a = 0; a < 3; a++) {
        double cosine = 0;
        for (int r = 0; r < 3; r++)
            cosine += form[0].affine[r][a] * form[1].affine[r][a] / (form[0].voxel_size[a] * form[1].voxel_size[a]);
        *angle = fmax(*angle, acos(fmin(fmax(cosine, -1), 1)) * 180 / 3.14159265358979323846);
    }
}

/* Warns if sform and qform of one space give the axes different names, because one of the two is wrong then, or differ
 * by more than 1 mm or 1 degree; and if one mirrors the other, in whatever spaces. Logs smaller differences, and those
 * of two spaces, such as a qform of the scanner beside an sform of a template. */
static void warn_of_forms(const char *path, const nifti_image *nim, const int32_t dim[3], double difference)
{
    char axes[2][4] = {"", ""};
    gls_grid grid[2];
    double apart = 0, angle = 0;
    const bool one_space = nim->sform_code == nim->qform_code;
    for (int form = 0; form < 2; form++) {
        double affine[3][4];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++) affine[r][c] = form ? nim->qto_xyz.m[r][c] : nim->sto_xyz.m[r][c];
        if (gls_grid_init(&grid[form], dim, affine) == GLS_OK) gls_grid_axis_codes(&grid[form], axes[form]);
    }
    const bool both = *axes[0] && *axes[1];
    const bool mirrored = both && (gls_grid_determinant(&grid[0]) < 0) != (gls_grid_determinant(&grid[1]) < 0);
    if (both) compare_forms(grid, &apart, &angle);
    if (both && strcmp(axes[0], axes[1]) != 0 && (one_space || mirrored))
        gls_warn_of_file(
            "%s: the sform has the axes %s, the qform %s: one of them is wrong. The sform is used: compare the image "
            "with an anatomical one, and correct its header if sides are swapped",
            path, axes[0], axes[1]);
    else if (!one_space)
        gls_log(GLS_LOG_INFO, "%s: sform (code %d) and qform (code %d) are of two spaces; the sform is used", path,
                nim->sform_code, nim->qform_code);
    else if (apart > 1 || angle > 1)
        gls_warn_of_file(
            "%s: sform and qform place its voxels up to %.3g mm apart, and turn them by %.2g degrees. The sform is "
            "used: if the image does not lie where it should, correct its header",
            path, apart, angle);
    else
        gls_log(GLS_LOG_INFO, "%s: sform and qform differ by up to %.3g; the sform is used", path, difference);
}

/* Chooses the affine by the rule stated in <glslines/image.h>. */
static gls_status choose_grid(const char *path, const nifti_image *nim, bool finite_qform, const int64_t dim[6],
                              gls_grid *grid)
{
    const int32_t d[3] = {(int32_t)dim[1], (int32_t)dim[2], (int32_t)dim[3]};
    double affine[3][4], difference = 0.0;
    bool sform = nim->sform_code > 0, qform = nim->qform_code > 0;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            affine[r][c] = sform ? nim->sto_xyz.m[r][c] : nim->qto_xyz.m[r][c];
            difference = fmax(difference, fabs(nim->sto_xyz.m[r][c] - nim->qto_xyz.m[r][c]));
        }
    }
    if (sform && qform && finite_qform && difference > 1e-3) warn_of_forms(path, nim, d, difference);
    if (!sform && !qform)
        gls_warn_of_file("%s: has neither sform nor qform; world coordinates follow from the voxel sizes alone", path);
    if (nim->xyz_units == NIFTI_UNITS_METER || nim->xyz_units == NIFTI_UNITS_MICRON)
        gls_warn_of_file("%s: says that its unit is not mm; its numbers are read as mm", path);
    if (sform && nim->sform_code > NIFTI_XFORM_TEMPLATE_OTHER)
        gls_warn_of_file("%s: its sform_code %d has no meaning in NIfTI; the sform is used all the same", path,
                         nim->sform_code);
    gls_status status = gls_grid_init(grid, d, affine);
    grid->affine_source = sform ? GLS_AFFINE_SFORM : qform ? GLS_AFFINE_QFORM : GLS_AFFINE_SIZES;
    const int space = sform ? nim->sform_code : nim->qform_code;
    grid->space = space >= NIFTI_XFORM_SCANNER_ANAT && space <= NIFTI_XFORM_TEMPLATE_OTHER ? space : 0;
    if (!status) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the affine (%s) is singular or not finite or has numbers beyond 1e+15, or there are more than "
                    "2^48 voxels%s",
                    path,
                    sform   ? "sform"
                    : qform ? "qform"
                            : "voxel sizes",
                    sform && qform && finite_qform ? "; with sform_code 0 the qform would be taken" : "");
}

/* Whether the quaternion and the offset of the qform are finite. */
static bool has_quaternion(const raw_header *raw)
{
    return isfinite(FIELD(raw, quatern_b) + FIELD(raw, quatern_c) + FIELD(raw, quatern_d)) &&
           isfinite(FIELD(raw, qoffset_x) + FIELD(raw, qoffset_y) + FIELD(raw, qoffset_z));
}

/* Checks the numbers for an affine from the qform or the voxel sizes, and makes voxel sizes positive. nifti_clib alone
 * would replace a number that is not finite by 0 or 1, and a negative voxel size by 1. */
static gls_status check_affine(const char *path, raw_header *raw, const int64_t dim[6])
{
    const bool qform = FIELD(raw, qform_code) > 0;
    if (FIELD(raw, sform_code) > 0) return GLS_OK; /* choose_grid() checks the sform */
    for (int i = 1; i <= 3; i++) {
        const double size = FIELD(raw, pixdim[i]), taken = size == 0 ? 1 : fabs(size);
        if (!isfinite(size))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: pixdim[%d] in its header, a voxel size, is no finite number, and there is no sform: "
                            "set the affine anew",
                            path, i);
        if (size <= 0 && dim[i] > 1)
            gls_warn_of_file("%s: pixdim[%d] in its header, a voxel size, is %g; %g is taken", path, i, size, taken);
        if (raw->version == 1)
            raw->h.v1.pixdim[i] = (float)taken;
        else
            raw->h.v2.pixdim[i] = taken;
    }
    if (qform && !has_quaternion(raw))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: its qform (quaternion and offset) is not finite, and there is no sform: set the affine "
                        "anew",
                        path);
    if (qform && !isfinite(FIELD(raw, pixdim[0])))
        gls_warn_of_file("%s: qfac in its header (pixdim[0]) is no finite number; 1 is taken", path);
    return GLS_OK;
}

/* Replaces members of pixdim that are not finite by 0, because nifti_clib complains of them on stderr. check_affine()
 * has refused files in which the affine needs a voxel size that is not finite. */
static void repair_pixdim(raw_header *raw)
{
    for (int i = 0; i < 8; i++) {
        if (raw->version == 1 && !isfinite(raw->h.v1.pixdim[i])) raw->h.v1.pixdim[i] = 0.0f;
        if (raw->version == 2 && !isfinite(raw->h.v2.pixdim[i])) raw->h.v2.pixdim[i] = 0.0;
    }
}

/* Reads slope and intercept. A slope of 0, or one that is not finite, means no scaling; nibabel writes NaN for both. */
static gls_status check_scaling(const char *path, const raw_header *raw, gls_values *values)
{
    const double slope = FIELD(raw, scl_slope), inter = FIELD(raw, scl_inter);
    const bool scaled = isfinite(slope) && slope != 0;
    if (isinf(slope))
        gls_warn_of_file("%s: scl_slope in its header is infinite; values are taken as they are stored", path);
    if (scaled && !isfinite(inter))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: scl_inter in its header is no finite number, but scl_slope is %g: set both to 0 where "
                        "values are right as they are stored",
                        path, slope);
    values->slope = scaled ? slope : 1.0;
    values->inter = scaled ? inter : 0.0;
    return GLS_OK;
}

gls_status gls_nifti_read_header(gls_stream *stream, const char *path, gls_nifti_header *header, uint64_t *used)
{
    raw_header raw;
    int64_t dim[6];
    memset(header, 0, sizeof *header);
    gls_status status = read_raw(stream, path, &raw, used);
    if (!status) status = check_magic(path, &raw, &header->single_file);
    if (!status) status = check_dimensions(path, &raw, dim);
    if (!status) status = check_type(path, &raw, header);
    if (!status) status = check_size(path, &raw, dim, header);
    if (!status) status = check_affine(path, &raw, dim);
    if (!status) status = check_scaling(path, &raw, &header->values);
    if (status) return status;
    repair_pixdim(&raw);
    nifti_set_debug_level(0);
    nifti_image *nim =
        raw.version == 1 ? nifti_convert_n1hdr2nim(raw.h.v1, NULL) : nifti_convert_n2hdr2nim(raw.h.v2, NULL);
    if (!nim) return gls_fail(GLS_ERR_INPUT, "%s: damaged header: nifti_clib does not read it", path);
    status = choose_grid(path, nim, has_quaternion(&raw), dim, &header->grid);
    nifti_image_free(nim);
    return status;
}

/* --- Values. */

/* Whole numbers below these are exact in single precision and in any type of 64 bits that can hold a label. */
#define BELOW_SINGLE 16777216.0
#define BELOW_ANY 9007199254740992.0

int32_t gls_label_of(double value, bool scaled, double below)
{
    /* the comparison is also false for NaN */
    if (!(value > -0.5 && value < (double)GLS_LABEL_MAX + 0.5) || value >= below) return GLS_NO_LABEL;
    const double whole = rint(value);
    const bool rounded = scaled && value < BELOW_SINGLE && (float)value == (float)whole;
    return value == whole || rounded ? (int32_t)whole : GLS_NO_LABEL;
}

/* Whether float has rounded the whole number `in` to `value`. limit: numbers from it on, and their negatives, do not
 * count. */
static bool is_rounded(double in, double value, double limit)
{
    return value != in && fabs(in) < limit && in == rint(in);
}

/* limit: that of is_rounded(). BELOW_ANY for double, since all larger doubles are whole; INFINITY for integers; 0:
 * float holds all numbers of the type. Returns whether float has rounded a whole number. */
#define DEFINE_CONVERT(name, type, below, limit)                                                                \
    static bool convert_##name(const type *in, size_t n, const gls_values *v, void *out)                        \
    {                                                                                                           \
        const double slope = v->slope, inter = v->inter;                                                        \
        const bool scaled = slope != 1.0 || inter != 0.0;                                                       \
        int32_t *label = out;                                                                                   \
        float *value = out;                                                                                     \
        int rounded = 0;                                                                                        \
        if (v->labels) {                                                                                        \
            for (size_t i = 0; i < n; i++)                                                                      \
                label[i] = gls_label_of(scaled ? (double)in[i] * slope + inter : (double)in[i], scaled, below); \
        } else if (!scaled) {                                                                                   \
            for (size_t i = 0; i < n; i++) {                                                                    \
                value[i] = (float)in[i];                                                                        \
                if (limit > 0) rounded |= is_rounded((double)in[i], (double)value[i], limit);                   \
            }                                                                                                   \
        } else {                                                                                                \
            for (size_t i = 0; i < n; i++) value[i] = (float)((double)in[i] * slope + inter);                   \
        }                                                                                                       \
        return rounded;                                                                                         \
    }
DEFINE_CONVERT(uint8, uint8_t, BELOW_ANY, 0)
DEFINE_CONVERT(int8, int8_t, BELOW_ANY, 0)
DEFINE_CONVERT(int16, int16_t, BELOW_ANY, 0)
DEFINE_CONVERT(uint16, uint16_t, BELOW_ANY, 0)
DEFINE_CONVERT(int32, int32_t, BELOW_ANY, INFINITY)
DEFINE_CONVERT(uint32, uint32_t, BELOW_ANY, INFINITY)
DEFINE_CONVERT(int64, int64_t, BELOW_ANY, INFINITY)
DEFINE_CONVERT(uint64, uint64_t, BELOW_ANY, INFINITY)
DEFINE_CONVERT(float32, float, BELOW_SINGLE, 0)
DEFINE_CONVERT(float64, double, BELOW_ANY, BELOW_ANY)

bool gls_values_read(const gls_values *v, void *in, size_t n, void *out)
{
    if (v->swapped) gls_swap_bytes(in, n, v->bytes);
    switch (v->datatype) {
    case NIFTI_TYPE_UINT8: return convert_uint8(in, n, v, out);
    case NIFTI_TYPE_INT8: return convert_int8(in, n, v, out);
    case NIFTI_TYPE_INT16: return convert_int16(in, n, v, out);
    case NIFTI_TYPE_UINT16: return convert_uint16(in, n, v, out);
    case NIFTI_TYPE_INT32: return convert_int32(in, n, v, out);
    case NIFTI_TYPE_UINT32: return convert_uint32(in, n, v, out);
    case NIFTI_TYPE_INT64: return convert_int64(in, n, v, out);
    case NIFTI_TYPE_UINT64: return convert_uint64(in, n, v, out);
    case NIFTI_TYPE_FLOAT32: return convert_float32(in, n, v, out);
    case NIFTI_TYPE_FLOAT64: return convert_float64(in, n, v, out);
    }
    return false;
}
