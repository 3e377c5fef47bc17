/* NIfTI images: files made byte by byte here against the reader, and the writer against the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include <glslines/image.h>
#include <glslines/log.h>
#include <math.h>
#include <nifti1.h>
#include <nifti2.h>
#include <zlib.h>

static char log_text[2048];

static void keep_log(void *user, gls_log_level level, const char *line)
{
    (void)user;
    size_t n = strlen(log_text);
    snprintf(log_text + n, sizeof log_text - n, "%d %s\n", level, line);
}

static nifti_1_header make_header(int datatype, int x, int y, int z, int t)
{
    nifti_1_header h = {.sizeof_hdr = 348,
                        .dim = {4, (short)x, (short)y, (short)z, (short)t, 1, 1, 1},
                        .datatype = (short)datatype,
                        .vox_offset = 352};
    static const float s[3][4] = {{-1.5f, 0, 0, 90}, {0, 2, 0, -126}, {0, 0, 3, -72}};
    memcpy(h.srow_x, s[0], sizeof s[0]);
    memcpy(h.srow_y, s[1], sizeof s[1]);
    memcpy(h.srow_z, s[2], sizeof s[2]);
    h.sform_code = 1;
    h.pixdim[0] = -1;
    h.pixdim[1] = 1.5f;
    h.pixdim[2] = 2;
    h.pixdim[3] = 3;
    memcpy(h.magic, "n+1", 4);
    return h;
}

/* Writes header, four zero bytes and data; packed if the name ends so. */
static const char *put_image(const char *name, const void *header, size_t header_bytes, const void *data, size_t bytes)
{
    const char *path = scratch(name);
    const bool packed = strstr(name, ".gz");
    gzFile file = gzopen(path, packed ? "wb6" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, header, (unsigned)header_bytes), (int)header_bytes);
    if (bytes) {
        assert_int_equal(gzwrite(file, "\0\0\0\0", 4), 4);
        assert_int_equal(gzwrite(file, data, (unsigned)bytes), (int)bytes);
    }
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static void expect_failure(const char *path, gls_image_kind kind, const char *reason)
{
    gls_image *image = (gls_image *)&image;
    gls_status status = gls_image_read(path, kind, &image);
    if (status != GLS_ERR_INPUT || !strstr(gls_last_error(), reason))
        fail_msg("status %d: \"%s\" lacks \"%s\"", status, gls_last_error(), reason);
    assert_true(strncmp(gls_last_error(), path, strlen(path)) == 0);
    assert_null(strchr(gls_last_error(), '\n'));
    assert_ptr_equal(image, &image); /* left alone */
}

#define TYPE_CASE(code, type, low, high)                                     \
    {                                                                        \
        type data[24];                                                       \
        for (int i = 2; i < 24; i++) data[i] = (type)(i * 5);                \
        data[0] = (low);                                                     \
        data[1] = (high);                                                    \
        check_type(code, data, sizeof *data, (double)(low), (double)(high)); \
    }

static void check_type(int code, const void *data, size_t bytes, double low, double high)
{
    unsigned char swapped[24 * 8];
    nifti_1_header h = make_header(code, 2, 3, 4, 1);
    nifti_2_header h2 = {.sizeof_hdr = 540,
                         .dim = {3, 2, 3, 4},
                         .datatype = h.datatype,
                         .vox_offset = 544,
                         .sform_code = 1,
                         .scl_slope = -0.25,
                         .scl_inter = 10};
    h2.srow_x[0] = h2.srow_y[1] = h2.srow_z[2] = 1.0;
    memcpy(h2.magic, "n+2\0\r\n\032\n", 8);
    for (size_t i = 0; i < 24 * bytes; i++)
        swapped[i / bytes * bytes + bytes - 1 - i % bytes] = ((const unsigned char *)data)[i];
    /* a swapped header, with only the fields that matter here */
    nifti_1_header b = h;
    b.sizeof_hdr = (int)__builtin_bswap32(348);
    for (int i = 0; i < 8; i++) b.dim[i] = (short)__builtin_bswap16((uint16_t)h.dim[i]);
    b.datatype = (short)__builtin_bswap16((uint16_t)h.datatype);
    b.sform_code = (short)__builtin_bswap16(1);
    float *const fields[] = {b.srow_x, b.srow_y, b.srow_z, b.pixdim, &b.vox_offset};
    for (int i = 0; i < 17; i++) {
        uint32_t u;
        memcpy(&u, fields[i / 4] + i % 4, 4);
        u = __builtin_bswap32(u);
        memcpy(fields[i / 4] + i % 4, &u, 4);
    }
    for (int way = 0; way < 5; way++) {
        static const char *const names[] = {"a.nii", "a.nii.gz", "b.nii", "b.nii.gz", "n2.nii.gz"};
        bool big = way == 2 || way == 3, two = way == 4;
        const char *path = put_image(names[way],
                                     two   ? (void *)&h2
                                     : big ? (void *)&b
                                           : (void *)&h,
                                     two ? sizeof h2 : sizeof h, big ? swapped : data, 24 * bytes);
        gls_image *image;
        if (gls_image_read(path, GLS_IMAGE_3D, &image) != GLS_OK) fail_msg("%s", gls_last_error());
        for (int i = 0; i < 24; i++) {
            double value = i == 0 ? low : i == 1 ? high : i * 5;
            float expected = two ? (float)(value * -0.25 + 10) : (float)value;
            if (!(image->data[i] == expected))
                fail_msg("type %d way %d value %d: %.9g, expected %.9g", code, way, i, image->data[i], expected);
        }
        assert_int_equal(image->grid.dim[2], 4);
        if (!two) assert_true(image->grid.affine[0][0] == -1.5 && image->grid.affine[2][3] == -72.0);
        gls_image_destroy(image);
    }
}

static void test_types(void **state)
{
    (void)state;
    TYPE_CASE(NIFTI_TYPE_UINT8, uint8_t, 0, UINT8_MAX)
    TYPE_CASE(NIFTI_TYPE_INT8, int8_t, INT8_MIN, INT8_MAX)
    TYPE_CASE(NIFTI_TYPE_INT16, int16_t, INT16_MIN, INT16_MAX)
    TYPE_CASE(NIFTI_TYPE_UINT16, uint16_t, 0, UINT16_MAX)
    TYPE_CASE(NIFTI_TYPE_INT32, int32_t, INT32_MIN, INT32_MAX)
    TYPE_CASE(NIFTI_TYPE_UINT32, uint32_t, 0, UINT32_MAX)
    TYPE_CASE(NIFTI_TYPE_INT64, int64_t, INT64_MIN, INT64_MAX)
    TYPE_CASE(NIFTI_TYPE_UINT64, uint64_t, 0, UINT64_MAX)
    TYPE_CASE(NIFTI_TYPE_FLOAT32, float, -1e-30f, 3e38f)
    TYPE_CASE(NIFTI_TYPE_FLOAT64, double, -1e-30, 3e38)
}

static void read_with_log(const char *path, double affine[3][4])
{
    gls_image *image;
    log_text[0] = '\0';
    gls_log_set(keep_log, NULL, GLS_LOG_INFO);
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &image);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
    if (status != GLS_OK) fail_msg("%s", gls_last_error());
    memcpy(affine, image->grid.affine, sizeof image->grid.affine);
    gls_image_destroy(image);
}

/* Reads an image whose qform is its sform, but moved along x by `shift` mm and turned about y by `turn` degrees. */
static void forms_apart(const nifti_1_header *like, double shift, double turn, const char *level, const char *text)
{
    unsigned char data[8] = {0};
    double a[3][4];
    nifti_1_header h = *like;
    h.qform_code = 1;
    h.quatern_b = h.quatern_d = 0;
    h.quatern_c = (float)cos(turn / 2 * 3.14159265358979323846 / 180); /* half a turn more, as the sform needs it */
    h.qoffset_x = (float)(90 + shift);
    h.qoffset_y = -126;
    h.qoffset_z = -72;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_true(a[0][0] == -1.5 && a[0][3] == 90);
    if (!strstr(log_text, level) || !strstr(log_text, text)) fail_msg("%s, not %s%s", log_text, level, text);
}

static void test_affine_rules(void **state)
{
    (void)state;
    unsigned char data[8] = {0};
    double a[3][4];
    nifti_1_header h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_string_equal(log_text, "");
    /* qform: half a turn about y, qfac -1: the axes of the sform, another place */
    h.qform_code = 1;
    h.quatern_c = 1;
    h.qoffset_x = 7;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_true(a[0][0] == -1.5 && a[0][3] == 90);
    assert_non_null(strstr(log_text, "1 ")); /* GLS_LOG_WARNING */
    assert_non_null(strstr(log_text, "sform and qform place its voxels up to"));
    /* more than 1 mm apart, and less; and turned by more than 1 degree */
    forms_apart(&h, 1.2, 0, "1 ", "up to 1.2 mm apart, and turn them by 0 degrees. The sform is used");
    forms_apart(&h, 0.5, 0, "2 ", "sform and qform differ by up to 0.5; the sform is used");
    forms_apart(&h, 0, 1.5, "1 ", "turn them by 1.5 degrees");
    forms_apart(&h, 1.2, 0, "1 ", "if the image does not lie where it should");
    /* an sform of another space than the qform */
    h.sform_code = 2;
    forms_apart(&h, 30, 20, "2 ", "x.nii: sform (code 2) and qform (code 1) are of two spaces; the sform is used");
    h.sform_code = 4;
    forms_apart(&h, 30, 20, "2 ", "sform (code 4) and qform (code 1) are of two spaces");
    h.sform_code = 1;
    /* about z: other axes */
    h.quatern_c = 0;
    h.quatern_d = 1;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_true(a[0][0] == -1.5 && a[0][3] == 90);
    assert_non_null(strstr(log_text, "1 ")); /* GLS_LOG_WARNING */
    assert_non_null(strstr(log_text, "x.nii: the sform has the axes LAS, the qform LPI: one of them is wrong."));
    /* turned on purpose, from one space to another; and mirrored, which no purpose explains */
    h.sform_code = 2;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_null(strstr(log_text, "is wrong"));
    assert_non_null(strstr(log_text, "are of two spaces"));
    h.pixdim[0] = -h.pixdim[0];
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_non_null(strstr(log_text, "one of them is wrong."));
    h.pixdim[0] = -h.pixdim[0];
    h.sform_code = 0;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_string_equal(log_text, "");
    assert_float_equal(a[0][0], -1.5, 1e-6);
    assert_float_equal(a[1][1], -2, 1e-6);
    assert_float_equal(a[2][2], -3, 1e-6);
    assert_float_equal(a[0][3], 7, 1e-6);
    h.qform_code = 0;
    read_with_log(put_image("x.nii", &h, sizeof h, data, 8), a);
    assert_non_null(strstr(log_text, "1 ")); /* GLS_LOG_WARNING */
    assert_non_null(strstr(log_text, "has neither sform nor qform"));
    assert_true(a[0][0] == 1.5 && a[1][1] == 2 && a[2][2] == 3 && a[0][3] == 0);
    h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
    h.srow_y[1] = 0;
    expect_failure(put_image("x.nii", &h, sizeof h, data, 8), GLS_IMAGE_ANY, "the affine (sform) is singular");
    h.srow_y[1] = NAN;
    expect_failure(put_image("x.nii", &h, sizeof h, data, 8), GLS_IMAGE_ANY,
                   "the affine (sform) is singular or not finite");
}

/* Numbers of the header that are not finite or not positive: if they matter, they are refused or warned of. */
static void test_numbers(void **state)
{
    (void)state;
    const float nan = NAN, inf = INFINITY;
    nifti_1_header h;
    const struct {
        float *field, value;
        short sform, qform;
        float slope;
        const char *warning, *reason;
    } cases[] = {
        {&h.quatern_c, nan, 0, 1, 0, NULL, "its qform (quaternion and offset) is not finite"},
        {&h.qoffset_z, inf, 0, 1, 0, NULL, "its qform (quaternion and offset) is not finite"},
        {&h.pixdim[2], nan, 0, 1, 0, NULL, "pixdim[2] in its header, a voxel size, is no finite number"},
        {&h.pixdim[3], inf, 0, 0, 0, NULL, "pixdim[3] in its header, a voxel size, is no finite number"},
        {&h.pixdim[0], nan, 0, 1, 0, "qfac in its header (pixdim[0]) is no finite number; 1 is taken", NULL},
        {&h.pixdim[1], -1.5f, 0, 1, 0, "pixdim[1] in its header, a voxel size, is -1.5; 1.5 is taken", NULL},
        {&h.pixdim[1], 0, 0, 1, 0, "pixdim[1] in its header, a voxel size, is 0; 1 is taken", NULL},
        {&h.pixdim[4], nan, 0, 1, 0, NULL, NULL},
        {&h.quatern_c, nan, 1, 1, 0, NULL, NULL},
        {&h.qoffset_z, nan, 1, 1, 0, NULL, NULL},
        {&h.pixdim[2], nan, 1, 1, 0, "sform and qform place its voxels up to", NULL},
        {&h.srow_z[3], inf, 1, 1, 0, NULL, "with sform_code 0 the qform would be taken"},
        {&h.srow_z[3], inf, 1, 0, 0, NULL, "or there are more than 2^48 voxels"},
        {&h.scl_inter, nan, 1, 0, 2, NULL, "scl_inter in its header is no finite number, but scl_slope is 2"},
        {&h.scl_inter, inf, 1, 0, 2, NULL, "scl_inter in its header is no finite number, but scl_slope is 2"},
        {&h.scl_inter, nan, 1, 0, nan, NULL, NULL}, /* as nibabel writes them */
        {&h.scl_inter, nan, 1, 0, 0, NULL, NULL},
        {&h.scl_inter, 7, 1, 0, inf, "scl_slope in its header is infinite; values are taken as they are stored", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char data[8] = {3, 3, 3, 3, 3, 3, 3, 3};
        h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
        h.pixdim[0] = 1;
        h.sform_code = cases[i].sform;
        h.qform_code = cases[i].qform;
        h.scl_slope = cases[i].slope;
        h.quatern_b = 0.1f;
        for (int c = 0; c < 4; c++) h.srow_x[c] = h.srow_y[c] = h.srow_z[c] = 0;
        h.srow_x[0] = h.srow_y[1] = h.srow_z[2] = 2;
        *cases[i].field = cases[i].value;
        const char *path = put_image("x.nii", &h, sizeof h, data, 8);
        if (cases[i].reason) {
            expect_failure(path, GLS_IMAGE_ANY, cases[i].reason);
            if (!cases[i].qform && strstr(gls_last_error(), "the qform would")) fail_msg("case %zu: no qform", i);
            continue;
        }
        double a[3][4];
        read_with_log(path, a);
        const bool warned = log_text[0] == '1' || strstr(log_text, "\n1 ");
        if (warned != !!cases[i].warning || (warned && !strstr(log_text, cases[i].warning)))
            fail_msg("case %zu: %s", i, log_text);
    }
}

static void test_damaged_headers(void **state)
{
    (void)state;
    static const struct {
        int field, value;
        const char *reason;
    } cases[] = {
        {0, 0, "the number of dimensions is 0"},
        {0, 8, "the number of dimensions is 8"},
        {1, 0, "damaged header: dimension 1 is 0"},
        {4, -3, "dimension 4 is -3"},
        {5, 3, "has 5 dimensions (dimension 5 is 3), but at most 4 can be used"},
    };
    unsigned char data[512] = {0};
    nifti_1_header h;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
        if (cases[i].field == 5) h.dim[0] = 5;
        h.dim[cases[i].field] = (short)cases[i].value;
        expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, cases[i].reason);
    }
    static const int types[] = {NIFTI_TYPE_COMPLEX64, NIFTI_TYPE_RGB24, NIFTI_TYPE_FLOAT128, 0, 1, 999};
    static const char *const names[] = {"COMPLEX64", "RGB24", "FLOAT128", "code 0", "code 1", "code 999"};
    for (int i = 0; i < 6; i++) {
        h = make_header(types[i], 2, 2, 2, 1);
        expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, names[i]);
    }
    h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
    h.vox_offset = -5;
    expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, "the values would begin at byte -5");
    h.vox_offset = NAN;
    expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, "the values would begin at byte");
    h.vox_offset = 352;
    h.magic[0] = '\0';
    expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, "is an ANALYZE 7.5 image");
    expect_failure(put_image("x.nii", "hello", 5, data, 0), GLS_IMAGE_ANY, "is not a NIfTI image");
    expect_failure(put_image("x.nii", data, 400, data, 0), GLS_IMAGE_ANY, "is not a NIfTI image");
    static const unsigned char freesurfer[400] = {0, 0, 0, 1, 0, 0, 0, 5};
    expect_failure(put_image("x.mgh", freesurfer, 400, data, 0), GLS_IMAGE_ANY, "is an image of FreeSurfer (MGH)");
    static const char dicom[400] = {[128] = 'D', 'I', 'C', 'M'};
    expect_failure(put_image("x.dcm", dicom, 400, data, 0), GLS_IMAGE_ANY, "is a DICOM file");
    expect_failure(put_image("x.nrrd", "NRRD0005", 8, data, 0), GLS_IMAGE_ANY, "is an NRRD image");
    expect_failure(put_image("x.HEAD", "\ntype  = string-attribute\n", 26, data, 0), GLS_IMAGE_ANY, "of an AFNI image");
    expect_failure(put_image("x.BRIK", data, 400, data, 0), GLS_IMAGE_ANY, "is an AFNI image");
    expect_failure(put_image("x.mnc", "CDF\1", 4, data, 0), GLS_IMAGE_ANY, "is a MINC image");
    expect_failure(put_image("x.mha", "ObjectType = Image\n", 19, data, 0), GLS_IMAGE_ANY, "is a MetaImage");
    expect_failure(put_image("x.nii", "", 0, data, 0), GLS_IMAGE_ANY, "is empty");
    expect_failure(scratch("missing.nii.gz"), GLS_IMAGE_ANY, "cannot open: No such file or directory");
    expect_failure(scratch_folder, GLS_IMAGE_ANY, "cannot read: Is a directory");
    h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
    memcpy(h.magic, "ni1", 4);
    expect_failure(put_image("x.nii", &h, sizeof h, data, 512), GLS_IMAGE_ANY, "its name does not end in .hdr");
    put_image("x.hdr", &h, sizeof h, data, 0);
    gls_image *image;
    assert_int_equal(gls_image_read(scratch("x.hdr"), GLS_IMAGE_ANY, &image), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "/x.img: cannot open"));
    /* the values begin at 0, whatever offset MRtrix3 states */
    for (int offset = 0; offset <= 352; offset += 352) {
        h = make_header(NIFTI_TYPE_UINT8, 2, 2, 2, 1);
        memcpy(h.magic, "ni1", 4);
        h.vox_offset = (float)offset;
        put_image("x.hdr", &h, sizeof h, data, 0);
        static const char values[] = {1, 2, 3, 4, 5, 6, 7, 8};
        put_image("x.img", values, sizeof values, data, 0);
        assert_int_equal(gls_image_read(scratch("x.hdr"), GLS_IMAGE_ANY, &image), GLS_OK);
        for (int i = 0; i < 8; i++) assert_true(image->data[i] == (float)(i + 1));
        gls_image_destroy(image);
    }
}

static void test_promises_too_much(void **state)
{
    (void)state;
    unsigned char data[1024] = {0};
    nifti_1_header h = make_header(NIFTI_TYPE_FLOAT64, 32767, 32767, 32767, 32767);
    expect_failure(put_image("x.nii", &h, sizeof h, data, 1024), GLS_IMAGE_ANY,
                   "32767 x 32767 x 32767 x 32767 values are too many");
    h = make_header(NIFTI_TYPE_UINT8, 32767, 32767, 2000, 1);
    expect_failure(put_image("x.nii", &h, sizeof h, data, 1024), GLS_IMAGE_ANY,
                   "truncated: 1024 of 2147352578000 bytes");
    expect_failure(put_image("x.nii.gz", &h, sizeof h, data, 1024), GLS_IMAGE_ANY, "truncated");
    nifti_2_header h2 = {.sizeof_hdr = 540,
                         .dim = {4, INT32_MAX, INT32_MAX, INT32_MAX, INT64_MAX},
                         .datatype = 64,
                         .vox_offset = 544,
                         .sform_code = 1};
    h2.srow_x[0] = h2.srow_y[1] = h2.srow_z[2] = 1.0;
    memcpy(h2.magic, "n+2\0\r\n\032\n", 8);
    expect_failure(put_image("x.nii", &h2, sizeof h2, data, 1024), GLS_IMAGE_ANY, "values are too many");
    h2.dim[1] = (int64_t)1 << 40;
    expect_failure(put_image("x.nii", &h2, sizeof h2, data, 1024), GLS_IMAGE_ANY,
                   "dimension 1 is 1099511627776, but can be");
    h2.dim[1] = 2;
    h2.vox_offset = INT64_MAX;
    expect_failure(put_image("x.nii", &h2, sizeof h2, data, 1024), GLS_IMAGE_ANY, "too many");
    h2.dim[2] = h2.dim[3] = h2.dim[4] = 2;
    expect_failure(put_image("x.nii", &h2, sizeof h2, data, 1024), GLS_IMAGE_ANY, "the values would begin at byte");
}

/* A file that is cut off anywhere is refused, also inside the checksum behind the last voxel. */
static void test_truncation(void **state)
{
    (void)state;
    enum { VALUES = 12 * 11 * 10 * 4 };
    static int16_t data[VALUES];
    for (int i = 0; i < VALUES; i++) data[i] = (int16_t)(i * 2654435761u >> 16);
    nifti_1_header h = make_header(NIFTI_TYPE_INT16, 12, 11, 10, 4);
    for (int packed = 0; packed < 2; packed++) {
        size_t bytes;
        unsigned char *file =
            get_file(put_image(packed ? "t.nii.gz" : "t.nii", &h, sizeof h, data, sizeof data), &bytes);
        const char *cut = scratch(packed ? "cut.nii.gz" : "cut.nii");
        for (size_t n = bytes - 1; n > 1100; n -= n > bytes - 20 ? 1 : 611) {
            put_file(cut, file, n);
            expect_failure(cut, GLS_IMAGE_ANY, "truncated");
        }
        put_file(cut, file, 100);
        gls_image *image;
        assert_int_equal(gls_image_read(cut, GLS_IMAGE_ANY, &image), GLS_ERR_INPUT);
        if (packed) {
            file[bytes / 2] ^= 0x55;
            put_file(cut, file, bytes);
            expect_failure(cut, GLS_IMAGE_ANY, "damaged compressed data");
        }
        free(file);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    uint8_t data[48] = {0};
    gls_image *image;
    nifti_1_header h = make_header(NIFTI_TYPE_UINT8, 2, 3, 4, 2);
    const char *series = put_image("series.nii.gz", &h, sizeof h, data, 48);
    expect_failure(series, GLS_IMAGE_3D, "is a 4D series of 2 volumes (2 x 3 x 4), but a 3D image is needed");
    assert_int_equal(gls_image_read(series, GLS_IMAGE_4D, &image), GLS_OK);
    assert_int_equal(image->n_volumes, 2);
    gls_image_destroy(image);
    h.dim[4] = 1;
    const char *single = put_image("single.nii", &h, sizeof h, data, 24);
    expect_failure(single, GLS_IMAGE_4D, "is an image of one volume (2 x 3 x 4), but several are needed");
    assert_int_equal(gls_image_read(single, GLS_IMAGE_3D, &image), GLS_OK);
    gls_image_destroy(image);
    h.dim[0] = 2; /* a slice; the other dimensions do not count */
    h.dim[3] = -7;
    assert_int_equal(gls_image_read(put_image("slice.nii", &h, sizeof h, data, 6), GLS_IMAGE_3D, &image), GLS_OK);
    assert_int_equal(image->grid.dim[2], 1);
    gls_image_destroy(image);
}

/* Large enough for several blocks, and with several members. */
static void test_large_and_members(void **state)
{
    (void)state;
    enum { N = 101 * 103 * 97 };
    int16_t *data = malloc(N * sizeof *data);
    for (int i = 0; i < N; i++) data[i] = (int16_t)(i * 40503u >> 8);
    nifti_1_header h = make_header(NIFTI_TYPE_INT16, 101, 103, 97, 1);
    for (int way = 0; way < 3; way++) {
        const char *path = scratch(way == 0 ? "l.nii" : "l.nii.gz");
        if (way < 2) {
            put_image(way == 0 ? "l.nii" : "l.nii.gz", &h, sizeof h, data, N * sizeof *data);
        } else {
            gzFile file = gzopen(path, "wb1");
            gzwrite(file, &h, sizeof h);
            gzclose(file);
            file = gzopen(path, "ab1");
            gzwrite(file, "\0\0\0\0", 4);
            gzwrite(file, data, N * sizeof *data);
            gzclose(file);
            FILE *padding = fopen(path, "ab");
            fwrite("\0\0\0\0\0\0\0", 1, 7, padding);
            fclose(padding);
        }
        gls_image *image;
        if (gls_image_read(path, GLS_IMAGE_3D, &image) != GLS_OK) fail_msg("%s", gls_last_error());
        for (int i = 0; i < N; i++) assert_true(image->data[i] == (float)data[i]);
        gls_image_destroy(image);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_affine_rules),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_promises_too_much),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_large_and_members),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
