// What the model's linear fit is applied to, as a function of the normalised signal e.
#if MODEL == MODEL_OPDT
#define FIT_INPUT(e, laplacian) (-4.0 * (e) * ln_e * (1.5 + ln_e) - (laplacian) * (e))
#define FIT_PREPARE(e) float ln_e = ln(e);
#else
#define FIT_INPUT(e, laplacian) ln_ln_e
#define FIT_PREPARE(e) float ln_ln_e = ln(-ln(clamp(e, 0.001, 0.999)));
#endif
