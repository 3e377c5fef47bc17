/* The table of direction getters, and what others ask of a row. */
#include "track/getter/getter.h"

#include "track/getter/odf_field.h"

#define DECLARE(value, word) extern const gls_getter gls_getter_##word;
GLS_GETTERS(DECLARE)
#define ENTRY(value, word) [value] = &gls_getter_##word,
static const gls_getter *const getters[] = {GLS_GETTERS(ENTRY)};

const gls_getter *gls_getter_of(const gls_track_params *params)
{
    return getters[params->dg];
}

double gls_track_cutoff(const gls_track_params *params)
{
    return params->fod_cutoff >= 0 ? params->fod_cutoff : gls_getter_of(params)->cutoff;
}

double gls_track_seed_cutoff(const gls_track_params *params)
{
    if (params->seed_cutoff >= 0) return params->seed_cutoff;
    return gls_getter_of(params)->any_seed ? 0 : gls_track_cutoff(params);
}

gls_odf_interpolation gls_track_interpolation(const gls_track_params *params, const gls_odf_source *odf)
{
    return gls_odf_field_interpolation(gls_getter_of(params)->coefficients, params, odf);
}

bool gls_getter_ends_itself(gls_direction_getter dg)
{
    return (unsigned)dg < GLS_DG_COUNT && getters[dg]->own_end;
}

gls_getter_source gls_getter_source_of(gls_direction_getter dg)
{
    return (unsigned)dg < GLS_DG_COUNT ? getters[dg]->source : GLS_FROM_ODF;
}
