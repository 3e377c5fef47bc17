/* The bootstrap's field, and its matrices as rows of source. */
#ifndef GLS_TRACK_GETTER_BOOT_PARTS_H
#define GLS_TRACK_GETTER_BOOT_PARTS_H

#include "track/getter/getter.h"
#include "util/text.h"

/* Fills fields with the channels of the bootstrap: coefficients, mean b0, residuals. */
gls_status gls_boot_field_fill(gls_field *const *fields, size_t n_fields, const gls_track_input *input, double scale,
                               size_t *failed);
/* Channels in front of the residuals, a multiple of 4, and in all. */
uint32_t gls_boot_coefficient_channels(const gls_qball *qball);
uint32_t gls_boot_channels(const gls_qball *qball);

/* Block after block of measurements: draw, hat fit, nonlinearity, model fit. */
void gls_boot_rows_resample(gls_text *out, const gls_qball *qball);
/* The same without a draw, and the weights that give back the mean of the residuals. */
void gls_boot_rows_measured(gls_text *out, const gls_qball *qball);
void gls_boot_rows_mean(gls_text *out, const gls_qball *qball);
/* SCALE(j, w) for every coefficient. */
void gls_boot_rows_scale(gls_text *out, const gls_qball *qball);
/* Weights of MEAN and MEASURED rows: mean = -sum_i r_i mean_weight[i]; d_i - (H d)_i = (r_i + mean) measured_weight[i].
 */
void gls_boot_measured_weights(const gls_qball *qball, double *mean_weight, double *measured_weight);

#endif
