/* Inside of filters: random keys of streamlines, and sets of streamlines. */
#ifndef GLS_STREAMLINES_SETS_H
#define GLS_STREAMLINES_SETS_H

#include <glslines/filters.h>

/* The random key of the streamline at this place of a stream. */
uint64_t gls_random_key(uint64_t seed, uint64_t place);

/* Whether streamline i is in the set; with add it is from now on. */
bool gls_line_set_has(gls_line_set *set, const gls_streamlines *s, size_t i, bool add);
/* GLS_ERR_MEMORY once the set could not grow. */
gls_status gls_line_set_status(const gls_line_set *set);

#endif
