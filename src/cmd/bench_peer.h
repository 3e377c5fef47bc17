/* Other programs on the data of `glslines bench`. All functions that return an exit code have printed the message. */
#ifndef GLS_CMD_BENCH_PEER_H
#define GLS_CMD_BENCH_PEER_H

#include "cmd/bench.h"

/* Whether the programs asked for are there, before anything slow is done; notes their versions. */
int bench_peers_check(bench_run *run);
/* Runs them, one after the other. */
int bench_peers_measure(bench_run *run);

/* What they read, in a folder: dwi.nii, gradients.txt (b, x, y, z along the voxel axes), stop.nii, seeds.txt (voxels),
 * sphere.txt, sh.nii (descoteaux07, legacy, voxel axes), job.json; for MRtrix3 fod.nii (tournier07, scanner axes),
 * seed_mask.nii, track_mask.nii. */
int bench_peer_files_write(bench_run *run, const bench_model *model, const char *directory);
/* Removes them and the folder. */
void bench_peer_files_remove(const char *directory);

/* Runs a program, found as the shell would; argv ends with NULL. Its output goes to directory/stdout.txt and
 * directory/stderr.txt. Returns its exit status, 127 if it could not be started, 128 + n if signal n ended it. */
int bench_process_run(const char *directory, const char *const *argv);
/* The last line that is not blank of a file in the folder, without line end; "" where there is none. */
void bench_process_last_line(const char *directory, const char *name, char *line, size_t size);

/* Streamlines and points of a TCK file of float32, from its header and its size. */
bool bench_tck_count(const char *path, uint64_t *streamlines, uint64_t *points);

#endif
