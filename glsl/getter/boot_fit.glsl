// Transforms the normalised signal e = S / S0 into the quantity that the model fits linearly with spherical harmonics.
// OPDT: 4 f(e) - laplacian e with f(e) = -e ln e (3/2 + ln e) (Tristan-Vega et al. 2010). CSA: ln(-ln e), with e kept
// within 0.001 .. 0.999 so that both logarithms exist (Aganj et al. 2010). laplacian: -l (l + 1) of the degree l.
#if MODEL == MODEL_OPDT
#define FIT_INPUT(e, laplacian) (fit_base - (laplacian) * (e))
#define FIT_PREPARE(e) float ln_e = ln(e), fit_base = -4.0 * (e) * ln_e * (1.5 + ln_e);
#else
#define FIT_INPUT(e, laplacian) fit_base
#define FIT_PREPARE(e) float fit_base = ln(-ln(clamp(e, 0.001, 0.999)));
#endif
