/* One run of `glslines track`, as its reports see it. */
#ifndef GLS_CMD_TRACK_RUN_H
#define GLS_CMD_TRACK_RUN_H

#include <time.h>

#include "cmd/device_set.h"
#include "cmd/track_input.h"

typedef struct track_run {
    const cmd_command *command;
    const cmd_arguments *arguments;
    const track_options *options;
    track_input input;
    gls_shard shard;         /* count 0: the whole run */
    gls_track_params params; /* once the input is read */
    gls_tractogram_format format;
    char *output;
    char *sidecar; /* NULL: none */
    device_set devices;
    const gls_device_info *device; /* the first */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    gls_track_result result;
    uint64_t output_bytes;
    time_t started;
    double start; /* of cmd_clock() */
    double seconds_upload, seconds_track, seconds_write, seconds_total;
} track_run;

/* What is known before tracking, to standard output: --dry-run. Returns an exit code, the message printed. */
int track_print_plan(const track_run *run);
/* What came out, as info lines. */
void track_print_summary(const track_run *run);

/* The name of a mapping, for auto of what that takes on this device; *lanes gets the invocations per streamline. */
const char *cmd_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes);

#endif
