/* `glslines score`: scores a tractogram; or tracks the built-in phantom with the models and direction getters that are
 * asked for, and scores the results. */
#ifndef GLS_BENCH_SCORE_METHODS_H
#define GLS_BENCH_SCORE_METHODS_H

#include <glslines/common.h>

#include "record/tract_run.h"
#include "tools/tract_results.h"

/* Scores the tractogram file[0] or, if n is 0, the methods that the options ask for on the built-in phantom. options: a
 * gls_score_cli. */
gls_status gls_tract_score(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options: the defaults in the rows of score.def, and the phantom's default of --snr. */
gls_score_cli gls_score_cli_default(void);

#endif
