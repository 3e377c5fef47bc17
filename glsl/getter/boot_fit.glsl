// Transforms the normalised signal e into the quantity that the model fits linearly.
#if MODEL == MODEL_OPDT
#define FIT_INPUT(e, laplacian) (fit_base - (laplacian) * (e))
#define FIT_PREPARE(e) float ln_e = ln(e), fit_base = -4.0 * (e) * ln_e * (1.5 + ln_e);
#else
#define FIT_INPUT(e, laplacian) fit_base
#define FIT_PREPARE(e) float fit_base = ln(-ln(clamp(e, 0.001, 0.999)));
#endif
