/* Work for one point, counted from the algorithm and not from an implementation, so that versions can be compared.
 *
 * Notation: n weighted volumes, k SH coefficients, v stored vertices of the sphere (half of an antipodal one), o
 * substeps, q + 1 samples of a probe, t threads, c curves tried for a short step. A fetch is a trilinear sample of four
 * channels (of one for ptt) in half precision (single with --precision float): 8 texels of 8 (16) or 2 (4) bytes. MAC:
 * a multiply-add.
 *
 * boot: ceil((k + 1) / 4) + ceil(n / 4) + 1 fetches, for coefficients and b0, for residuals, and for the stop map; n k
 * MACs of the hat matrix, n k of the fit, v k of the ODF.
 *
 * prob, det: ceil(k / 4) + 1 fetches, for the ODF's coefficients and for the stop map; v k MACs of the ODF, v of the
 * cone's sum.
 *
 * ptt: o (c q + 2) fetches, for the curves, their start and the stop map; with several threads o (c (q + 1) t + 1),
 * since each thread has its own start; 18 MACs a sample for position and tangent on the arc, two products of a frame.
 *
 * ifod2: ceil(k / 4) fetches and 2 k MACs for each of a samples of the FOD, and 3 fetches of the stop map. ifod1
 * samples the same coefficients along e directions. sdstream climbs in u iterations of 8 k MACs.
 *
 * fact, eudx: a texel for each peak of one voxel, or of eight, which is an eighth of a fetch each, and the stop map;
 * three MACs a peak.
 *
 * tensordet: ceil((n + 1) / 4) fetches of all n volumes, 6 n MACs of the fit, the stop map. tensorprob in addition:
 * eight texels of residuals for each of these fetches, an eighth of a fetch each, and n signs. closest is like det.
 * Getters that draw directions at random sample only the stop map.
 *
 * One direction is drawn for each point. Failed draws, the two ends and initial directions are not counted. Operations
 * other than multiply-adds (random numbers, logarithms, comparisons, texture units) are not counted either. */
#include <math.h>

#include "bench/bench.h"

static double tiles(size_t channels)
{
    return (double)((channels + 3) / 4);
}

bench_work bench_work_count(const bench_run *run, const bench_model *model, const gls_track_params *p)
{
    /* at the defaults: about two curves are tried for a step; thirteen arcs with two samples each until one is rejected
     * or taken; a dozen directions; three iterations */
    enum { CURVES = 2, ARC_MACS = 18, SAMPLES = 26, DIRECTIONS = 12, CLIMBS = 3 };
    const gls_sphere *sphere = model->odf ? model->odf->sphere : run->data.sphere;
    size_t k = gls_sh_count(run->options->model.sh_order);
    double v = (double)sphere->n, macs, fetches;
    if (p->dg == GLS_DG_BOOT) {
        size_t n = model->model.qball->n;
        fetches = tiles(k + 1) + tiles(n) + 1;
        macs = 2 * (double)n * (double)k + v * (double)k;
    } else if (p->dg == GLS_DG_PTT) {
        double substeps = fmax(1, rint(p->step_size / p->ptt_substep)), curves = CURVES;
        double samples =
            p->probe_count == 1 ? curves * p->probe_quality + 1 : curves * (p->probe_quality + 1) * p->probe_count;
        fetches = substeps * (samples + 1);
        macs = substeps * samples * ARC_MACS;
    } else if (p->dg == GLS_DG_IFOD2) {
        fetches = SAMPLES * tiles(k) + p->ifod_samples - 1;
        macs = SAMPLES * 2 * (double)k;
    } else if (model->peaks) {
        double texels = (double)(model->peaks->n_volumes / 3) * (p->dg == GLS_DG_EUDX ? 8 : 1);
        fetches = texels / 8 + 1;
        macs = 3 * texels;
    } else if (gls_getter_source_of(p->dg) == GLS_FROM_SERIES) {
        const double n = (double)gls_series_model_volumes(&model->model), residuals = p->dg == GLS_DG_TENSORPROB;
        fetches = (1 + residuals) * tiles((size_t)n + 1) + 1;
        macs = (6 + 8 * residuals) * n;
    } else if (gls_getter_source_of(p->dg) == GLS_FROM_NOTHING) {
        fetches = 1;
        macs = 0;
    } else if (gls_getter_ends_itself(p->dg)) {
        fetches = tiles(k) + 1;
        macs = (p->dg == GLS_DG_IFOD1 ? DIRECTIONS * 2 : CLIMBS * 8) * (double)k;
    } else {
        fetches = tiles(k) + 1;
        macs = v * (double)k + v;
    }
    double channels = p->dg == GLS_DG_PTT ? 1 : 4;
    return (bench_work){.fetches = fetches,
                        .fetched_bytes = fetches * 8 * channels * (p->precision == GLS_PRECISION_FLOAT ? 4 : 2),
                        .flops = 2 * macs};
}
