/* Makes trackers for callers: checks parameters and inputs, and finds the mapping of devices that nobody has tracked on
 * yet. */
#include "gpu/handle.h"
#include "track/check/self_test.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "track/tracker.h"
#include "util/status.h"

/* Order of the spherical harmonics of the q-ball model or of the ODFs; 0: there are none. */
static int order_of(const gls_track_params *params, const gls_track_input *input)
{
    if (gls_getter_of(params)->source == GLS_FROM_QBALL) return input->qball->options.sh_order;
    return input->odf && input->odf->is_sh ? input->odf->order : 0;
}

gls_status gls_tracker_create_group(gls_device *const *devices, size_t n, const gls_track_params *params,
                                    const gls_track_input *input, gls_tracker **tracker)
{
    GLS_REQUIRE_SIZE(params);
    const gls_track_params defaults = gls_track_params_default();
    gls_mapping mapping[GLS_TRACKER_MAX_DEVICES];
    if (!params) params = &defaults;
    GLS_REQUIRE(devices && input && tracker);
    GLS_REQUIRE(n >= 1 && n <= GLS_TRACKER_MAX_DEVICES);
    for (size_t i = 0; i < n; i++) {
        /* a device may take part once only */
        GLS_REQUIRE_HANDLE(devices[i], GLS_HANDLE_DEVICE);
        for (size_t k = 0; k < i; k++) GLS_REQUIRE(devices[k] != devices[i]);
    }
    gls_status status = gls_track_params_check(params);
    if (!status) status = gls_track_input_check(params, input);
    for (size_t i = 0; i < n && !status; i++) {
        mapping[i] = params->mapping;
        /* a mapping that the user names is taken as it is */
        if (params->mapping == GLS_MAPPING_AUTO)
            status = gls_self_test(devices[i], params, order_of(params, input), &mapping[i]);
    }
    return status ? status : gls_tracker_create_mapped(devices, n, params, input, mapping, tracker);
}

gls_status gls_tracker_create(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                              gls_tracker **tracker)
{
    GLS_REQUIRE_SIZE(params);
    GLS_REQUIRE(device && input && tracker);
    return gls_tracker_create_group(&device, 1, params, input, tracker);
}
