#include "track/engine/retry_state.h"

#include <stdlib.h>

void gls_retries_finish(gls_retries *r)
{
    free(r->retry);
    free(r->pending);
    free(r->found);
    *r = (gls_retries){0};
}
