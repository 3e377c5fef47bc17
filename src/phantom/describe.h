/* What a phantom's files hold, in words. */
#ifndef GLS_PHANTOM_DESCRIBE_H
#define GLS_PHANTOM_DESCRIBE_H

#include <glslines/phantom.h>

/* Of what gls_phantom_write() wrote to this directory; from malloc, NULL: out of memory. */
char *gls_phantom_text(const gls_phantom *phantom, const char *directory);

#endif
