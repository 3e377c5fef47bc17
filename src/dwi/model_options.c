/* Options of a model: checks that they go together, finds the axes of SH coefficients from them, and names bases. */
#include "dwi/model_options.h"

#include <string.h>

#include "util/status.h"

int gls_model_order(const gls_model_options *o)
{
    if (o->sh_order > 0) return o->sh_order;
    return o->model == GLS_MODEL_MSMT  ? 8
           : o->model == GLS_MODEL_CSD ? gls_csd_options_default().sh_order
                                       : gls_qball_options_default().sh_order;
}

const char *gls_csd_directions_file(const gls_model_options *o)
{
    return o->csd_directions && !gls_sphere_is_built_in(o->csd_directions) ? o->csd_directions : NULL;
}

const char *gls_model_name(gls_model_kind model)
{
    static const char *const names[] = {[GLS_MODEL_OPDT] = "opdt",
                                        [GLS_MODEL_CSA] = "csa",
                                        [GLS_MODEL_CSD] = "csd",
                                        [GLS_MODEL_MSMT] = "msmt",
                                        [GLS_MODEL_AUTO] = "auto"};
    return names[model];
}

const char *gls_csd_rule_name(gls_csd_rule rule)
{
    return rule == GLS_CSD_RULE_MRTRIX ? "mrtrix" : "dipy";
}

bool gls_fit_on_device(const gls_model_options *o)
{
    return o->fit_device && strcmp(o->fit_device, "cpu") != 0;
}

size_t gls_model_shells(const gls_model_options *o, double *bval)
{
    size_t n = 0;
    for (int i = 0; i < o->shells.n; i++) {
        if (o->shells.value[i] <= o->b0_threshold) continue;
        if (n++ == 0) *bval = o->shells.value[i];
    }
    return n;
}

gls_status gls_model_too_many_shells(size_t n)
{
    return gls_fail(
        GLS_ERR_ARGUMENT,
        "--shells: got %zu b-values, but only --model msmt takes several; give one, and --tensor-shells for "
        "the tensor if it is to have others",
        n);
}

gls_status gls_model_options_check(const gls_model_options *o)
{
    GLS_REQUIRE((unsigned)o->model <= GLS_MODEL_AUTO && (unsigned)o->csd_rule <= GLS_CSD_RULE_MRTRIX &&
                (unsigned)o->sh_frame <= GLS_FRAME_WORLD);
    GLS_REQUIRE(o->shells.n >= 0 && o->shells.n <= GLS_MAX_NUMBERS);
    /* q-ball models are the first of the enum; AUTO may become msmt */
    bool qball = o->model <= GLS_MODEL_CSA, msmt = o->model == GLS_MODEL_MSMT || o->model == GLS_MODEL_AUTO;
    /* the first given option that only multi-tissue CSD has */
    const char *only_msmt = o->response_wm      ? "response-wm"
                            : o->response_gm    ? "response-gm"
                            : o->response_csf   ? "response-csf"
                            : o->force_response ? "force-response"
                            : o->normalise      ? "normalise"
                            : o->no_normalise   ? "no-normalise"
                            : o->fit_device     ? "fit-device"
                                                : NULL;
    const size_t shells = gls_model_shells(o, &(double){0});
    if (shells > 1 && !msmt) return gls_model_too_many_shells(shells);
    if (o->sh_order % 2) return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d is odd: must be even, 2 to 12", o->sh_order);
    if (qball && o->sh_order > 8)
        return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d: --model %s goes up to 8", o->sh_order,
                        gls_model_name(o->model));
    if (o->response && o->model == GLS_MODEL_MSMT)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--response: is for --model csd; msmt has --response-wm, --response-gm and --response-csf");
    if (o->response && qball) return gls_fail(GLS_ERR_ARGUMENT, "--response: only --model csd can use it");
    if (o->csd_directions && qball)
        return gls_fail(GLS_ERR_ARGUMENT, "--csd-directions: only --model csd and --model msmt can use it");
    if (only_msmt && !msmt) return gls_fail(GLS_ERR_ARGUMENT, "--%s: only --model msmt can use it", only_msmt);
    if ((o->response_gm || o->response_csf) && !o->response_wm)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--%s: needs --response-wm, the response of white matter: give both or neither",
                        o->response_gm ? "response-gm" : "response-csf");
    if (o->force_response && !o->response_wm)
        return gls_fail(GLS_ERR_ARGUMENT, "--force-response: needs --response-wm");
    if (o->normalise && o->no_normalise)
        return gls_fail(GLS_ERR_ARGUMENT, "--normalise and --no-normalise exclude each other: leave out one of them");
    return GLS_OK;
}

gls_bvec_frame gls_model_frame(const gls_model_options *o)
{
    /* the choices of --sh-frame are AUTO, then the values of gls_bvec_frame */
    if (o->sh_frame != GLS_FRAME_AUTO) return (gls_bvec_frame)(o->sh_frame - 1);
    return o->sh_basis == GLS_SH_TOURNIER07 || o->sh_basis == GLS_SH_TOURNIER07_LEGACY ? GLS_BVEC_WORLD : GLS_BVEC_FSL;
}

const char *gls_basis_name(gls_sh_basis basis)
{
    static const char *const names[] = {[GLS_SH_DESCOTEAUX07_LEGACY] = "descoteaux07_legacy",
                                        [GLS_SH_DESCOTEAUX07] = "descoteaux07",
                                        [GLS_SH_TOURNIER07_LEGACY] = "tournier07_legacy",
                                        [GLS_SH_TOURNIER07] = "tournier07"};
    return names[basis];
}
