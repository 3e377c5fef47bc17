/* The table of direction getters: a row for each. */
#include "track/getter/getters.h"

#include "track/getter/odf_field.h"

#define GETTERS(ROW)                    \
    ROW(GLS_DG_BOOT, gls_getter_boot)   \
    ROW(GLS_DG_PROB, gls_getter_prob)   \
    ROW(GLS_DG_DET, gls_getter_det)     \
    ROW(GLS_DG_PTT, gls_getter_ptt)     \
    ROW(GLS_DG_IFOD1, gls_getter_ifod1) \
    ROW(GLS_DG_IFOD2, gls_getter_ifod2) \
    ROW(GLS_DG_SDSTREAM, gls_getter_sdstream)

#define DECLARE(value, row) extern const gls_getter row;
GETTERS(DECLARE)
#define ENTRY(value, row) [value] = &row,
static const gls_getter *const getters[] = {GETTERS(ENTRY)};

const gls_getter *gls_getter_of(const gls_track_params *params)
{
    return getters[params->dg];
}

gls_odf_interpolation gls_track_interpolation(const gls_track_params *params, const gls_odf_source *odf)
{
    return gls_odf_field_interpolation(gls_getter_of(params)->coefficients, params, odf);
}

bool gls_getter_ends_itself(gls_direction_getter dg)
{
    return getters[dg]->own_end;
}
