/* Rows of source that the kernels of one invocation include: the numbers of a sphere and of its functions, as calls of
 * the kernel's macros. */
#ifndef GLS_TRACK_SHADER_ROWS_H
#define GLS_TRACK_SHADER_ROWS_H

#include <glslines/sphere.h>

#include "util/text.h"

/* ODF of order sh_order on the sphere, by reflection orbits where the sphere has them. GLS_ERR_MEMORY. */
gls_status gls_rows_odf(gls_text *out, const gls_sphere *sphere, int sh_order);
/* TERM(class, j) for every coefficient: pp, mp, pm or mm by the signs of its basis function under x -> -x and y -> -y.
 */
gls_status gls_rows_orbit_terms(gls_text *out, int sh_order);
/* Local maxima: words of 32 vertices. */
void gls_rows_peaks(gls_text *out, const gls_sphere *sphere);
/* CONE(word) and VERTEX(v, bit) for all vertices in order. */
void gls_rows_vertices(gls_text *out, const gls_sphere *sphere);
/* AXIS(x, y, z) for each vertex, the last as LAST_AXIS. */
void gls_rows_axes(gls_text *out, const gls_sphere *sphere);

#endif
