/* Progress of a tracking run or of a fit: a bar with rate and time left on a terminal, plain lines elsewhere, and the
 * launcher icon of a desktop. */
#ifndef GLS_CMD_PROGRESS_H
#define GLS_CMD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cmd_launcher cmd_launcher;

typedef struct cmd_progress {
    bool shown;    /* info messages are wanted */
    bool terminal; /* standard error is one */
    double start, last_time;
    uint64_t last_done;
    cmd_launcher *launcher;
} cmd_progress;

void cmd_progress_init(cmd_progress *progress);
/* A gls_track_progress: user is a cmd_progress; asks to stop once a signal has come. */
bool cmd_progress_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points);
/* The same for a fit: voxels done. */
bool cmd_progress_fit_step(void *user, size_t done, size_t total);
/* A gls_merge_progress: bytes read. */
bool cmd_progress_merge_step(void *user, uint64_t done, uint64_t total);
void cmd_progress_finish(cmd_progress *progress);

#endif
