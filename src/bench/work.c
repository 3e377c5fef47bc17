/* The work of one point, counted from the algorithm rather than from one of its implementations, so that the figures of
 * two versions can be compared.
 *
 * Notation: n weighted volumes, k SH coefficients, v vertices stored of the sphere (half of an antipodal one), o
 * substeps, q + 1 samples of a probe, t threads. A fetch is a trilinear sample of four channels, for ptt of one, in
 * half precision (single with --precision float): 8 texels of 8 (16) or 2 (4) bytes.
 *
 *   boot       fetches  ceil((k + 1) / 4) + ceil(n / 4) + 1           coefficients, b0, residuals at one place; stop
 * map MACs     n k (hat) + n k (fit) + v k (ODF) prob, det  fetches  ceil(k / 4) + 1 coefficients of the ODF; stop map
 *              MACs     v k (ODF) + v (sum of the cone)
 *   ptt        fetches  o ((24 + 1) q + 2)                            a disc of 24 curves and one candidate, of one
 * channel; their start; the stop map o ((24 + 1) (q + 1) t + 1)                    several threads: each has starts of
 * its own MACs     18 a sample                                   position and tangent on the arc: two products of a
 * frame
 *
 * One direction is drawn for each point: failed draws, the two ends and initial directions are not counted. What is not
 * a multiply-add (random numbers, logarithms, comparisons, the arithmetic of the texture unit) is not counted either.
 */
#include <math.h>

#include "bench/bench.h"

static double tiles(size_t channels)
{
    return (double)((channels + 3) / 4);
}

bench_work bench_work_count(const bench_run *run, const bench_model *model, const gls_track_params *p)
{
    enum { DISC = 24, ARC_MACS = 18 };
    const gls_sphere *sphere = model->odf ? model->odf->sphere : run->data.sphere;
    size_t k = gls_sh_count(run->options->model.sh_order);
    double v = (double)sphere->n, macs, fetches;
    if (p->dg == GLS_DG_BOOT) {
        size_t n = model->model.qball->n;
        fetches = tiles(k + 1) + tiles(n) + 1;
        macs = 2 * (double)n * (double)k + v * (double)k;
    } else if (p->dg == GLS_DG_PTT) {
        double substeps = fmax(1, rint(p->step_size / p->ptt_substep)), curves = DISC + 1;
        double samples =
            p->probe_count == 1 ? curves * p->probe_quality + 1 : curves * (p->probe_quality + 1) * p->probe_count;
        fetches = substeps * (samples + 1);
        macs = substeps * samples * ARC_MACS;
    } else {
        fetches = tiles(k) + 1;
        macs = v * (double)k + v;
    }
    double channels = p->dg == GLS_DG_PTT ? 1 : 4;
    return (bench_work){
        .fetches = fetches, .fetched_bytes = fetches * 8 * channels * (p->float_textures ? 4 : 2), .flops = 2 * macs};
}
