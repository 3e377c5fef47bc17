/* Generated rows of literals that the kernels of the single mapping include: the numbers of a model and a sphere,
 * called through macros of the kernel. */
#ifndef GLS_TRACK_ENGINE_TABLES_H
#define GLS_TRACK_ENGINE_TABLES_H

#include <glslines/qball.h>
#include <glslines/sphere.h>

#include "track/field/volume.h"
#include "util/text.h"

/* TILES(texture, tiles in it, first channel) for every texture. */
void gls_table_tile_loops(gls_text *out, const gls_volume_plan *plan);
/* One measurement after the other: draw, hat fit, nonlinearity, model fit. */
void gls_table_resample_rows(gls_text *out, const gls_qball *qball);
/* The same without a draw, and the weights that give back the mean of the residuals. */
void gls_table_measured_rows(gls_text *out, const gls_qball *qball);
void gls_table_mean_rows(gls_text *out, const gls_qball *qball);
/* SCALE(j, w) for every coefficient. */
void gls_table_scale_rows(gls_text *out, const gls_qball *qball);
/* ODF of order sh_order on the sphere, by reflection orbits where the sphere has them. GLS_ERR_MEMORY. */
gls_status gls_table_odf_rows(gls_text *out, const gls_sphere *sphere, int sh_order);
/* TERM(class, j) for every coefficient: pp, mp, pm or mm by the signs of its basis function under x -> -x and y -> -y.
 */
gls_status gls_table_orbit_terms(gls_text *out, int sh_order);
/* Local maxima: words of 32 vertices. */
void gls_table_peak_rows(gls_text *out, const gls_sphere *sphere);
/* CONE(word) and VERTEX(v, bit) for all vertices in order. */
void gls_table_vertex_rows(gls_text *out, const gls_sphere *sphere);

/* Weights of MEAN and MEASURED rows: mean = -sum_i r_i mean_weight[i]; d_i - (H d)_i = (r_i + mean) measured_weight[i].
 */
void gls_table_measured_weights(const gls_qball *qball, double *mean_weight, double *measured_weight);

#endif
