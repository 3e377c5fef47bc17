/* Fields of other programs: ITK and ANTs, MRtrix3, FSL's FNIRT, NiftyReg, DIPY. All become displacements in RAS mm on
 * their grid. Files say what they are by an intent of NIfTI, or not at all; then the values decide, where they can. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "image/grid.h"
#include "image/mif_header.h"
#include "image/nifti_read.h"
#include "image/reorient.h"
#include "image/stream.h"
#include "transform/affine.h"
#include "transform/field_meaning.h"
#include "transform/niftyreg.h"
#include "transform/transform.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Codes of intent. */
enum { INTENT_VECTOR = 1007, INTENT_FNIRT_FIELD = 2006, INTENT_FNIRT_FIRST = 2007, INTENT_FNIRT_LAST = 2009 };

/* The intent in the header of a NIfTI file, which says what its values mean. */
typedef struct intent {
    int code;
    char name[17];
    double p1, p2;
} intent;

/* Reads the intent from the header; code 0 for other formats and where there is none. */
static gls_status read_intent(const char *path, intent *in)
{
    unsigned char h[540] = {0};
    gls_stream *stream = NULL;
    size_t got = 0;
    int32_t size, code32;
    int16_t code16;
    float p[2];
    *in = (intent){.code = 0};
    if (gls_mif_is_name(path)) return GLS_OK;
    gls_status status = gls_stream_open_regular(path, &stream);
    if (!status) status = gls_stream_read(stream, h, sizeof h, &got);
    gls_stream_close(stream);
    if (status) return status;
    memcpy(&size, h, sizeof size);
    const bool swapped = size != 348 && size != 540;
    if (swapped) size = (int32_t)__builtin_bswap32((uint32_t)size);
    if (size == 348) {
        memcpy(&code16, h + 68, sizeof code16);
        if (swapped) code16 = (int16_t)__builtin_bswap16((uint16_t)code16);
        memcpy(p, h + 56, sizeof p);
        if (swapped) gls_swap_bytes(p, 2, sizeof *p);
        in->code = code16;
        in->p1 = (double)p[0];
        in->p2 = (double)p[1];
        memcpy(in->name, h + 328, 16);
    } else if (size == 540) {
        memcpy(&code32, h + 504, sizeof code32);
        in->code = swapped ? (int32_t)__builtin_bswap32((uint32_t)code32) : code32;
        memcpy(&in->p1, h + 80, sizeof in->p1);
        if (swapped) gls_swap_bytes(&in->p1, 1, sizeof in->p1);
        memcpy(in->name, h + 508, 16);
    }
    return GLS_OK;
}

/* Says what the values of a field are, and so how they become displacements in RAS mm. */
typedef struct meaning {
    const char *format;
    gls_field_meaning values;
    bool lps;           /* x and y are negated */
    bool fsl;           /* FSL's coordinates of fixed and moving image */
    bool whole;         /* positions of 0, 0, 0 are places, too */
    int niftyreg;       /* of the format of NiftyReg: what the file holds */
    const char *writer; /* the one program that writes fields of both directions in this form; NULL: one field */
} meaning;

/* Checks that the values look like what they are taken for. FSL's may be either. */
static gls_status check_values(const char *path, const gls_image *field, const meaning *m)
{
    const gls_field_meaning judged = gls_field_judge(field);
    if (m->fsl || judged == GLS_FIELD_UNCLEAR || judged == m->values) return GLS_OK;
    if (m->writer)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has the form in which %s writes fields of %s, but its values look like %s: give a field "
                        "of one direction, in three volumes",
                        path, m->writer, m->values == GLS_FIELD_POSITIONS ? "positions" : "displacements",
                        judged == GLS_FIELD_POSITIONS ? "positions" : "displacements");
    return gls_fail(
        GLS_ERR_INPUT,
        "%s: is taken for a field of %s (%s), but its values look like %s: give ,from=FORMAT behind its name "
        "(%s)",
        path, m->values == GLS_FIELD_POSITIONS ? "positions" : "displacements", m->format,
        judged == GLS_FIELD_POSITIONS ? "positions" : "displacements", GLS_TRANSFORM_FORMATS);
}

/* Finds what a file of NiftyReg holds, and whether more is needed to read it. */
static gls_status find_niftyreg(const gls_transform_source *s, const intent *in, meaning *m)
{
    const double p1 = strncmp(in->name, "NREG_TRANS", 10) == 0 ? in->p1 : in->p1 != 0;
    const int kind = p1 >= 0 && p1 < GLS_NIFTYREG_LINEAR_POINTS ? (int)p1 : GLS_NIFTYREG_LINEAR_POINTS;
    *m = (meaning){"niftyreg", kind == GLS_NIFTYREG_DISPLACEMENTS ? GLS_FIELD_DISPLACEMENTS : GLS_FIELD_POSITIONS,
                   .whole = true, .niftyreg = kind};
    if (kind == GLS_NIFTYREG_LINEAR_POINTS || kind == GLS_NIFTYREG_FLOW_DISPLACEMENTS)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: is of NiftyReg, of a kind (%g) that is not read: make a field of it by 'reg_transform "
                        "-ref IMAGE -def %s OUT'",
                        s->path, p1, s->path);
    if (gls_niftyreg_has_points(kind) && !s->fixed)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: holds control points of NiftyReg, which need the reference image: give '%s,fixed=IMAGE', "
                        "the -ref of reg_f3d",
                        s->path, s->path);
    return GLS_OK;
}

/* Finds what the values of a field mean, by the option, the intent, or the values. */
static gls_status find_meaning(const gls_transform_source *s, const intent *in, const gls_image *field, meaning *m)
{
    static const meaning itk = {"itk", GLS_FIELD_DISPLACEMENTS, .lps = true},
                         mrtrix = {"mrtrix", GLS_FIELD_POSITIONS, .lps = false};
    const bool niftyreg = strncmp(in->name, "NREG_TRANS", 10) == 0;
    const char *format = strcmp(s->format, "fsl") == 0                   ? "fnirt"
                         : *s->format                                    ? s->format
                         : niftyreg                                      ? "niftyreg"
                         : in->code == INTENT_VECTOR                     ? "itk"
                         : in->code == INTENT_FNIRT_FIELD                ? "fnirt"
                         : gls_field_judge(field) == GLS_FIELD_POSITIONS ? "mrtrix"
                                                                         : "";
    if (in->code >= INTENT_FNIRT_FIRST && in->code <= INTENT_FNIRT_LAST)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: holds coefficients of FNIRT, no field: make a field of it by FSL's 'fnirtfileutils "
                        "--in=FILE --ref=IMAGE --out=FIELD'",
                        s->path);
    if (!*s->format && strcmp(format, "mrtrix") == 0 && !gls_mif_is_name(s->path) && gls_field_is_fsl(field))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: its positions look like FSL's coordinates, but it does not say so: give "
                        "'%s,from=fnirt,moving=IMAGE', or ,from=mrtrix if they are of MRtrix3",
                        s->path, s->path);
    if (strcmp(format, "itk") == 0) {
        *m = itk;
    } else if (strcmp(format, "mrtrix") == 0) {
        *m = mrtrix;
    } else if (strcmp(format, "niftyreg") == 0) {
        return find_niftyreg(s, in, m);
    } else if (strcmp(format, "fnirt") == 0) {
        const gls_field_meaning judged = gls_field_judge(field);
        *m = (meaning){"fnirt", judged == GLS_FIELD_UNCLEAR ? GLS_FIELD_DISPLACEMENTS : judged, .fsl = true};
        if (!s->moving)
            return gls_fail(GLS_ERR_INPUT, "%s: a field of FNIRT needs the moving image: give '%s,moving=IMAGE'",
                            s->path, s->path);
    } else {
        return gls_fail(*format ? GLS_ERR_ARGUMENT : GLS_ERR_INPUT,
                        "%s: does not say what its values mean: give ,from=itk, ,from=mrtrix, ,from=fnirt or "
                        ",from=niftyreg behind its name",
                        s->path);
    }
    return GLS_OK;
}

/* Turns FSL's coordinates of a voxel's point in the moving image to RAS. */
static gls_status moving_map(const char *path, double map[3][4])
{
    gls_grid grid;
    double frame[3][4], inverse[3][4];
    gls_status status = gls_grid_read(path, &grid);
    if (status) return status;
    gls_transform_fsl_frame(&grid, frame);
    gls_affine_invert((const double(*)[4])frame, inverse);
    gls_transform_compose((const double(*)[4])grid.affine, (const double(*)[4])inverse, map);
    return GLS_OK;
}

/* Replaces the values of the field by displacements in RAS mm. */
static void turn_values(gls_image *field, const meaning *m, const double moving[3][4])
{
    const size_t n = gls_grid_voxels(&field->grid), nx = (size_t)field->grid.dim[0], ny = (size_t)field->grid.dim[1];
    const bool positions = m->values == GLS_FIELD_POSITIONS;
    double frame[3][4];
    gls_transform_fsl_frame(&field->grid, frame);
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
        double value[3], world[3], here[3];
        for (int r = 0; r < 3; r++) value[r] = (double)field->data[(size_t)r * n + v];
        const bool is_none = positions && !m->whole && value[0] == 0 && value[1] == 0 && value[2] == 0;
        gls_affine_apply((const double(*)[4])field->grid.affine, at, world);
        if (m->fsl) {
            gls_affine_apply((const double(*)[4])frame, at, here);
            for (int r = 0; r < 3 && !positions; r++) value[r] += here[r];
            gls_affine_apply(moving, value, value);
        }
        for (int r = 0; r < 3; r++) {
            if (m->lps && r < 2) value[r] = -value[r];
            if (positions || m->fsl) value[r] -= world[r];
            field->data[(size_t)r * n + v] = is_none ? NAN : (float)value[r];
        }
    }
}

/* Appends field k of an image of several, as a step that the image shares no memory with. */
static gls_status add_field(const char *path, const gls_image *fields, size_t k, const meaning *m,
                            const double moving[3][4], gls_transform *t)
{
    gls_transform_step step = {.format = m->format};
    gls_status status = gls_image_allocate(&fields->grid, 3, false, &step.field);
    if (status) return status;
    const size_t n = 3 * gls_grid_voxels(&fields->grid);
    memcpy(step.field->data, fields->data + k * n, n * sizeof *fields->data);
    double frame[3][4];
    gls_transform_fsl_frame(&fields->grid, frame);
    const double(*const place)[4] = (const double(*)[4])(m->fsl ? frame : fields->grid.affine);
    const bool positions = m->values == GLS_FIELD_POSITIONS;
    status = gls_field_check_lengths(step.field, positions ? place : NULL, positions && !m->fsl && !m->whole, path);
    if (!status) status = check_values(path, step.field, m);
    if (status) {
        gls_image_destroy(step.field);
        return status;
    }
    turn_values(step.field, m, moving);
    return gls_transform_append(t, &step);
}

/* Refuses images and formats behind the name of a file that holds both directions. */
static gls_status check_both(const gls_transform_source *s, const char *format)
{
    if (*s->format && strcmp(s->format, format) != 0)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: holds fields of both directions, which are read as %s, not as %s",
                        s->path, format, s->format);
    if (s->moving || s->fixed)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: %s=IMAGE does not belong to a field that is read as %s: leave it out",
                        s->path, s->moving ? "moving" : "fixed", format);
    return GLS_OK;
}

/* Appends what DIPY's write_mapping() has written: displacements in RAS mm from moving to static, then those from
 * static to moving, both on the grid of the static image, whose affine is the inverse of that in the header. An affine
 * map that the registration began with is not in the file: from static to moving it comes behind. */
static gls_status read_dipy(gls_transform_source *s, gls_image *fields, gls_transform *t)
{
    static const meaning dipy = {"dipy", GLS_FIELD_DISPLACEMENTS, .writer = "DIPY's write_mapping()"};
    static const double none[3][4];
    double affine[3][4];
    gls_status status = check_both(s, "dipy");
    if (status) return status;
    gls_grid_inverse(&fields->grid, affine);
    status = gls_grid_init(&fields->grid, fields->grid.dim, (const double(*)[4])affine);
    if (!status) status = add_field(s->path, fields, s->inverse ? 0 : 1, &dipy, none, t);
    s->inverse = false;
    return status;
}

/* Appends what mrregister -nl_warp_full has written: affine maps and fields of positions between two images and the
 * space midway. Image 2 is the fixed one, as with mrtransform -from 1. */
static gls_status read_warpfull(gls_transform_source *s, const gls_image *fields, gls_transform *t)
{
    static const meaning mrtrix = {"mrtrix", GLS_FIELD_POSITIONS, .writer = "mrregister -nl_warp_full"};
    static const double none[3][4];
    const int first = s->inverse ? 0 : 1; /* the image from which points come */
    gls_mif_header header = {.file = NULL};
    gls_transform_step step = {.format = "mrtrix"};
    gls_status status = check_both(s, "mrtrix");
    if (!status && !gls_mif_is_name(s->path))
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has four fields, but no linear1 and linear2, which MRtrix3 stores in a .mif: give that",
                          s->path);
    if (!status) status = gls_mif_read_header(s->path, &header);
    if (!status && (header.n_linear[0] != 3 || header.n_linear[1] != 3))
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has four fields, but its header lacks linear1 or linear2 of three rows: give the output "
                          "of mrregister -nl_warp_full, or one field by MRtrix3's warpconvert",
                          s->path);
    if (!status && gls_affine_det((const double(*)[4])header.linear[first]) == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: linear%d in its header has no inverse", s->path, first + 1);
    if (!status) {
        gls_affine_invert((const double(*)[4])header.linear[first], step.map);
        status = gls_transform_append(t, &step);
    }
    if (!status) status = add_field(s->path, fields, s->inverse ? 1 : 3, &mrtrix, none, t);
    if (!status) status = add_field(s->path, fields, s->inverse ? 2 : 0, &mrtrix, none, t);
    if (!status) {
        memcpy(step.map, header.linear[1 - first], sizeof step.map);
        status = gls_transform_append(t, &step);
    }
    gls_mif_header_finish(&header);
    s->inverse = false;
    return status;
}

/* Appends one field. */
static gls_status read_one(const gls_transform_source *s, const gls_image *field, gls_transform *t)
{
    intent in;
    meaning m;
    double moving[3][4] = {{0}};
    gls_status status = read_intent(s->path, &in);
    if (!status && field->n_volumes != 3)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu volume%s, but a field has three: x, y and z", s->path,
                          GLS_VOLUMES(field->n_volumes));
    if (!status) status = find_meaning(s, &in, field, &m);
    if (!status && ((s->fixed && !gls_niftyreg_has_points(m.niftyreg)) || (s->moving && !m.fsl)))
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: %s=IMAGE does not belong to a field that is read as %s: leave it out",
                          s->path, s->fixed ? "fixed" : "moving", m.format);
    if (!status && m.fsl) status = moving_map(s->moving, moving);
    if (!status) status = add_field(s->path, field, 0, &m, (const double(*)[4])moving, t);
    if (status || m.niftyreg < GLS_NIFTYREG_CONTROL_POINTS) return status;
    gls_grid grid = field->grid;
    if (gls_niftyreg_has_points(m.niftyreg)) status = gls_grid_read(s->fixed, &grid);
    return status ? status : gls_niftyreg_spread(&t->step[t->n - 1], s->path, m.niftyreg, in.p2, &grid);
}

gls_status gls_transform_read_field(gls_transform_source *s, gls_transform *t)
{
    gls_image *fields = NULL;
    size_t n_fields;
    gls_status status = gls_image_read_fields(s->path, &n_fields, &fields);
    if (!status)
        status = n_fields == 2   ? read_dipy(s, fields, t)
                 : n_fields == 4 ? read_warpfull(s, fields, t)
                                 : read_one(s, fields, t);
    gls_image_destroy(fields);
    return status;
}
