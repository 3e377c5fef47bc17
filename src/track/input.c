/* The input of a tracker: what every direction getter needs, and its own. */
#include "track/check.h"
#include "track/getter/getters.h"
#include "util/status.h"

gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    return gls_getter_of(params)->check(params, input);
}
