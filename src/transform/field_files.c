/* Fields of other programs: ITK and ANTs, MRtrix3, FSL's FNIRT, NiftyReg. All become displacements in RAS mm on their
 * grid. Files say what they are by an intent of NIfTI, or not at all; then the values decide, where they can. */
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
    double p1;
} intent;

/* Reads the intent from the header; code 0 for other formats and where there is none. */
static gls_status read_intent(const char *path, intent *in)
{
    unsigned char h[540] = {0};
    gls_stream *stream = NULL;
    size_t got = 0;
    int32_t size, code32;
    int16_t code16;
    float p1;
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
        memcpy(&p1, h + 56, sizeof p1);
        if (swapped) gls_swap_bytes(&p1, 1, sizeof p1);
        in->code = code16;
        in->p1 = (double)p1;
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

/* How the values of a field are to be turned. */
typedef struct meaning {
    const char *format;
    gls_field_meaning values;
    bool lps; /* x and y are negated */
    bool fsl; /* FSL's coordinates of fixed and moving image */
} meaning;

/* Checks that the values look like what they are taken for. */
static gls_status check_values(const char *path, const gls_image *field, const meaning *m)
{
    const gls_field_meaning judged = gls_field_judge(field);
    if (judged == GLS_FIELD_UNCLEAR || judged == m->values) return GLS_OK;
    return gls_fail(
        GLS_ERR_INPUT,
        "%s: is taken for a field of %s (%s), but its values look like %s: give ,from=FORMAT behind its name "
        "(%s)",
        path, m->values == GLS_FIELD_POSITIONS ? "positions" : "displacements", m->format,
        judged == GLS_FIELD_POSITIONS ? "positions" : "displacements", GLS_TRANSFORM_FORMATS);
}

/* Finds what the values of a field mean, by the option, the intent, or the values. */
static gls_status find_meaning(const gls_transform_source *s, const intent *in, const gls_image *field, meaning *m)
{
    static const meaning itk = {"itk", GLS_FIELD_DISPLACEMENTS, .lps = true},
                         mrtrix = {"mrtrix", GLS_FIELD_POSITIONS, .lps = false};
    const bool niftyreg = strncmp(in->name, "NREG_TRANS", 10) == 0;
    const char *format = *s->format                                      ? s->format
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
    if (strcmp(format, "itk") == 0) {
        *m = itk;
    } else if (strcmp(format, "mrtrix") == 0) {
        *m = mrtrix;
    } else if (strcmp(format, "niftyreg") == 0) {
        *m = (meaning){"niftyreg", in->p1 == 0 ? GLS_FIELD_POSITIONS : GLS_FIELD_DISPLACEMENTS, .lps = false};
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
    return m->fsl ? GLS_OK : check_values(s->path, field, m);
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
        const bool is_none = positions && value[0] == 0 && value[1] == 0 && value[2] == 0;
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

gls_status gls_transform_read_field(const gls_transform_source *s, gls_transform_step *step)
{
    intent in;
    meaning m;
    double moving[3][4] = {{0}};
    gls_image *field = NULL;
    gls_status status = read_intent(s->path, &in);
    if (!status) status = gls_image_read_vectors(s->path, &field);
    if (!status && field->n_volumes != 3)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu volume%s, but a field has three: x, y and z", s->path,
                          GLS_VOLUMES(field->n_volumes));
    if (!status) status = find_meaning(s, &in, field, &m);
    if (!status && (s->fixed || (s->moving && !m.fsl)))
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: %s=IMAGE does not belong to a field that is read as %s: leave it out",
                          s->path, s->fixed ? "fixed" : "moving", m.format);
    if (!status && m.fsl) status = moving_map(s->moving, moving);
    if (status) {
        gls_image_destroy(field);
        return status;
    }
    turn_values(field, &m, (const double(*)[4])moving);
    step->field = field;
    step->format = m.format;
    return GLS_OK;
}
