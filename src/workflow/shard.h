/* Which part of a run a process tracks, and what tells the run from others. */
#ifndef GLS_WORKFLOW_SHARD_H
#define GLS_WORKFLOW_SHARD_H

#include "workflow/study_state.h"

/* Hashes by which runs that give the same streamlines know each other. */
typedef struct gls_run_identity {
    uint64_t parameters, inputs;
} gls_run_identity;
/* Once the input is read. mm: the parameters of the tracker. */
gls_status gls_run_identify(const gls_study *study, const gls_job_options *options, const gls_track_params *mm,
                            gls_run_identity *identity);

/* "3/8", or "auto": from the variables that Slurm, Open MPI and PMI set. Sets index and count. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);
/* "dir/out.trx" -> "dir/out_shard-3of8.trx", from malloc; NULL without memory. */
char *gls_shard_name(const char *path, const gls_shard *shard);

/* Once the input is read: the seeds of this part, and the hashes that tell its run from others. mm: the parameters of
 * the tracker. Nothing where the shard's count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_study *study, const gls_job_options *options,
                              const gls_track_params *mm);

#endif
