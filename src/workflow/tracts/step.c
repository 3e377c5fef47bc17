/* The distance of points that a tractogram states in its header. */
#include "workflow/tracts/tract_run.h"

#include <string.h>

#include "util/numbers.h"

double gls_tract_step(const gls_tractogram_info *info, double otherwise)
{
    static const char *const keys[] = {"output_step_size", "step_size"};
    double step;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < info->n_header; k++)
            if (info->format == GLS_FORMAT_TCK && strcmp(info->header[k].key, keys[i]) == 0 &&
                gls_parse_double(info->header[k].value, &step) && step > 0)
                return step;
    return otherwise;
}
