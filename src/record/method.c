/* Decides what kind of run options ask for: the getter, the source of its directions, and what ends streamlines; and
 * which parameters such a run uses. */
#include <glslines/workflow.h>

#include <string.h>

#include "record/method.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "util/status.h"

const char *gls_first_given(const char *const *names, const char *const *given)
{
    for (; *names; names++)
        for (const char *const *name = given; name && *name; name++)
            if (strcmp(*name, *names) == 0) return *names;
    return NULL;
}

bool gls_is_given(const char *const *given, const char *name)
{
    return gls_first_given((const char *const[]){name, NULL}, given) != NULL;
}

/* The option that gives the directions in place of a model. */
static const char *directions_option(const gls_job_options *o)
{
    return o->sh ? "sh" : o->odf ? "odf" : o->peaks.n > 0 ? "peaks" : o->bedpostx ? "bedpostx" : NULL;
}

/* Where the tissue comes from. The built-in phantom has tissue for options that need it. */
static const char *tissue_of(const gls_job_options *o)
{
    const bool own = o->phantom && (o->track.pft || o->track.backtrack || o->track.crop_at_gmwmi || o->seed_gmwmi ||
                                    o->track.keep_all_ends || o->act_rule != GLS_TISSUE_RULE_ACT);
    return o->act           ? o->act
           : o->t1          ? o->t1
           : o->pve_wm      ? o->pve_wm
           : o->map_include ? o->map_include
           : own            ? "built-in phantom"
                            : NULL;
}

/* Which option sets the seeds. */
static gls_seed_kind seeds_of(const gls_job_options *o)
{
    return o->seeds                 ? GLS_SEEDS_LISTED
           : o->seeds_per_voxel > 0 ? GLS_SEEDS_PER_VOXEL
           : o->seed_grid > 0       ? GLS_SEEDS_ON_GRID
                                    : GLS_SEEDS_COUNTED;
}

gls_method gls_method_of(const gls_job_options *o)
{
    const gls_getter *getter = gls_getter_row(o->track.dg);
    if (!getter) return (gls_method){.getter = NULL}; /* no getter: the check of options refuses it */
    gls_method m = {.getter = getter,
                    .source = getter->source,
                    .given = directions_option(o),
                    .tissue = tissue_of(o),
                    .seeds = seeds_of(o)};
    m.peaks = m.source == GLS_FROM_PEAKS;
    m.tensors = getter->fa_cutoff > 0 && o->model.model == GLS_MODEL_AUTO && !o->model.response &&
                !o->model.response_wm && !m.given;
    m.finds_peaks = m.peaks && o->peaks.n == 0 && !o->bedpostx;
    /* a threshold below 0 stands for none where tissue ends streamlines */
    m.stop_map = (o->fa || !getter->own_end) && (o->track.stop_threshold >= 0 || !m.tissue);
    m.odf = m.source == GLS_FROM_ODF || (m.finds_peaks && !m.tensors);
    m.series = m.source == GLS_FROM_QBALL || m.source == GLS_FROM_SERIES;
    m.fits = !m.given && (m.odf || m.source == GLS_FROM_QBALL);
    m.masks_alone = m.source == GLS_FROM_NOTHING && (o->mask || o->roi) && !o->dwi && !o->phantom && !m.given;
    return m;
}

/* Whether --seed-dynamic names FODs of a file. */
static bool reads_seed_fods(const gls_job_options *o)
{
    return o->seed_dynamic && strcmp(o->seed_dynamic, "auto") != 0;
}

bool gls_method_uses(const gls_method *m, const gls_option *param, const gls_job_options *o)
{
    switch (param->user) {
    case GLS_FOR_ALL: return true;
    case GLS_FOR_CUTOFF:
        return gls_getter_uses(m->getter, GLS_FOR_CUTOFF) ||
               /* prob and det have a cutoff with ODFs whose amplitudes have a unit: of files, of CSD and of MSMT */
               (gls_getter_uses(m->getter, GLS_FOR_PROB_DET) && (m->given || o->model.model > GLS_MODEL_CSA));
    case GLS_FOR_STOP_MAP: return m->stop_map;
    case GLS_FOR_FIT: return m->fits;
    case GLS_FOR_QBALL: return m->fits && o->model.model <= GLS_MODEL_CSA;
    case GLS_FOR_MSMT: return m->fits && o->model.model == GLS_MODEL_MSMT;
    case GLS_FOR_CSD: return m->fits && o->model.model == GLS_MODEL_CSD;
    case GLS_FOR_SH: return o->sh || reads_seed_fods(o);
    case GLS_FOR_ODF: return o->sh || o->odf || reads_seed_fods(o);
    case GLS_FOR_PEAK_FILES: return o->peaks.n > 0;
    case GLS_FOR_SEED_COUNT: return m->seeds == GLS_SEEDS_COUNTED;
    case GLS_FOR_SEEDS_PER_VOXEL: return o->seeds_per_voxel > 0;
    case GLS_FOR_SEED_LIST: return m->seeds == GLS_SEEDS_LISTED;
    case GLS_FOR_SEED_GRID: return o->seed_grid > 0;
    case GLS_FOR_SEED_DYNAMIC: return o->seed_dynamic != NULL;
    case GLS_FOR_TISSUE: return m->tissue != NULL;
    case GLS_FOR_PFT: return o->track.pft;
    /* the getter's row says whether the getter reads the parameter */
    default: return gls_getter_uses(m->getter, (gls_param_user)param->user);
    }
}

/* The option beside which alone a parameter has an effect; NULL: none. */
static const char *option_needed(int user)
{
    switch (user) {
    case GLS_FOR_SH: return "--sh FILE";
    case GLS_FOR_ODF: return "--sh FILE or --odf FILE";
    case GLS_FOR_PEAK_FILES: return "--peaks FILE";
    case GLS_FOR_SEED_LIST: return "--seeds FILE";
    case GLS_FOR_SEEDS_PER_VOXEL: return "--seeds-per-voxel N";
    case GLS_FOR_SEED_DYNAMIC: return "--seed-dynamic FOD";
    case GLS_FOR_PFT: return "--pft";
    default: return NULL;
    }
}

gls_status gls_method_require(const gls_method *m, const gls_option *param, const gls_job_options *o)
{
    const int user = param->user;
    const char *needed = option_needed(user);
    const bool of_fit = user == GLS_FOR_FIT || user == GLS_FOR_QBALL || user == GLS_FOR_CSD || user == GLS_FOR_MSMT;
    if (needed && !gls_method_uses(m, param, o))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs %s", param->name, needed);
    if (of_fit && !m->given && !m->fits)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s cannot be used with --dg %s, which fits no ODFs%s", param->name,
                        m->getter->name, m->tensors ? ": give --model csd" : "");
    /* a getter that ends streamlines itself has a stop map with --fa alone */
    if (user == GLS_FOR_STOP_MAP && !o->fa && m->getter->own_end)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %g: needs --fa FILE, because --dg %s has no stop map without --fa",
                        param->name, o->track.stop_threshold, m->getter->name);
    if (gls_user_is_getter(user) && !gls_method_uses(m, param, o))
        return gls_getter_require(m->getter, (gls_param_user)user, param->name,
                                  o->one_shell ? ": the default for this series, of one shell, is det" : "");
    return GLS_OK;
}
