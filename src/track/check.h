/* What a tracker can be made from: the checks in front of everything else. */
#ifndef GLS_TRACK_CHECK_H
#define GLS_TRACK_CHECK_H

#include <glslines/track.h>

#define GLS_MAX_DIRECTIONS 32
#define GLS_MAX_STEPS 1000000
/* Of the loop that tracks a half: they are counted in 31 bits. */
#define GLS_MAX_TURNS 1000000000

/* GLS_ERR_ARGUMENT, with the value and its range. */
gls_status gls_track_params_check(const gls_track_params *params);
/* Whether halves of such a run can be taken back. */
gls_status gls_track_backtrack_check(const gls_track_params *params);
/* Whether halves of such a run can be filtered by particles. */
gls_status gls_track_pft_check(const gls_track_params *params);
/* Parameters have been checked. */
gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input);

#endif
