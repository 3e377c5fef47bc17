/* Colours: of directions, of colour maps, of bundles, and by name. Red, green << 8, blue << 16. */
#ifndef GLS_RENDER_COLOUR_H
#define GLS_RENDER_COLOUR_H

#include <glslines/common.h>

typedef enum gls_colormap { GLS_VIRIDIS, GLS_CIVIDIS, GLS_INFERNO, GLS_GREY, GLS_REDBLUE } gls_colormap;

uint32_t gls_colour_rgb(int r, int g, int b);
/* Red: left to right, green: back to front, blue: up and down. A vector of length 0 is grey. */
uint32_t gls_colour_of_direction(const double v[3]);
/* x from 0 to 1, what lies outside is clamped; NaN is grey. */
uint32_t gls_colormap_at(gls_colormap map, double x);
/* One of twelve colours that stay apart for viewers with any of the three colour deficiencies; repeated beyond. */
uint32_t gls_colour_of_bundle(size_t i);
/* "#rrggbb", black, white or grey. */
bool gls_colour_parse(const char *text, uint32_t *colour);

#endif
