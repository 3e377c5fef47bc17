/* Conversion between the types of <glslines/compute.h>. */
#ifndef GLS_COMPUTE_CONVERT_H
#define GLS_COMPUTE_CONVERT_H

#include <glslines/compute.h>

/* gls_convert() in two steps, since what an array holds has to fit its own type too: from from_type over via to
 * to_type. first: number of the first element, for messages. */
gls_status gls_convert_via(size_t first, size_t n, const void *from, gls_type from_type, gls_type via, void *to,
                           gls_type to_type);

#endif
