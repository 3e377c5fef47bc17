/* The known streamlines of the small scene, variant by variant. */
#ifndef GLS_TRACK_CHECK_KNOWN_LINES_H
#define GLS_TRACK_CHECK_KNOWN_LINES_H

#include <stdint.h>

/* Number of rows of gls_known_variants. */
#define GLS_KNOWN_VARIANTS 19

/* A known streamline: first the index of its seed in gls_known_scene.seeds. Then for its half-streamlines backward and
 * forward from the seed the number of certain points after the seed, which are the same under any rounding; 0: none;
 * negative: there are -n, and the last one is the end of the half-streamline. Then x, y, z of the last certain point of
 * each half-streamline, um of world space. */
typedef int32_t gls_known_line[9];
/* gls_known_lines: the streamlines of the first variant in the order of seeds, then those of the second, and so on.
 * gls_known_line_counts: how many each variant has. */
extern const gls_known_line gls_known_lines[];
extern const uint16_t gls_known_line_counts[GLS_KNOWN_VARIANTS];

#endif
