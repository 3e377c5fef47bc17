/* The report and the picture that track makes of its output. */
#ifndef GLS_CMD_TRACK_PICTURES_H
#define GLS_CMD_TRACK_PICTURES_H

#include "cmd/track_options.h"

/* Whether they can be written; returns an exit code, the message printed. */
int track_pictures_check(const track_options *options, const gls_job_options *job);
/* Makes those that were asked for. What fails is a warning: the run has its result. */
void track_pictures_make(const track_options *options, const gls_job_result *result);

#endif
