/* What `glslines track` tells of a run. */
#ifndef GLS_CMD_TRACK_REPORT_H
#define GLS_CMD_TRACK_REPORT_H

#include "cmd/track_options.h"
#include "workflow/job.h"

/* What is known before tracking, to standard output: --dry-run. */
void track_print_plan(const gls_job *job, const track_options *options, const gls_track_memory *memory);
/* What came out, as info lines. */
void track_print_summary(const gls_job *job);

/* The name of a mapping, for auto of what that takes on this device; *lanes gets the invocations per streamline. */
const char *cmd_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes);

#endif
