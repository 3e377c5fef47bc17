/* The part of a run that one process tracks: which part, from options or from a launcher, and its seeds. */

#include <math.h>
#include <glslines/common.h>
#include <glslines/log.h>
#include <glslines/seeds.h>
#include <glslines/shard.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/shard_seeds.h"
#include "util/status.h"
#include "util/numbers.h"

/* Environment variables with the rank of a process and the number of processes. srun comes last: a process that mpirun
 * starts in a Slurm job also sees Slurm's variables, which then describe the script of the job. */
static const struct {
    const char *rank, *size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, srun --mpi=pmi2 */
    {"SLURM_PROCID", "SLURM_NTASKS"},                 /* srun */
};
enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers, SLURM = N_LAUNCHERS - 1 };

/* Reads a variable as a whole number. *set: whether it exists and is not empty. */
static gls_status read_variable(const char *name, bool *set, uint64_t *value)
{
    const char *text = getenv(name);
    *set = text && *text;
    if (!*set || gls_parse_uint64(text, value)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--shard auto: %s is '%s', not a whole number", name, text);
}

/* Returns an error in the script of a Slurm job and in the shell of an allocation: each is a single process, but sees
 * the number of tasks, and would track only the first part. */
static gls_status check_slurm_task(uint64_t size)
{
    bool have_tasks;
    uint64_t tasks = 0;
    gls_status status = read_variable("SLURM_STEP_NUM_TASKS", &have_tasks, &tasks);
    if (status || size == 1) return status;
    if (!getenv("SLURM_STEP_ID") || (have_tasks && tasks != size))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--shard auto: this process is not one of the %" PRIu64
                        " tasks of the Slurm job; start glslines with srun",
                        size);
    return GLS_OK;
}

/* Reads rank and size from the variables of one launcher. *found: false if the variables are not set. */
static gls_status read_launcher(int which, bool *found, uint64_t *rank, uint64_t *size)
{
    const char *rank_name = launchers[which].rank, *size_name = launchers[which].size;
    bool have_rank, have_size;
    gls_status status = read_variable(rank_name, &have_rank, rank);
    if (!status) status = read_variable(size_name, &have_size, size);
    *found = false;
    /* neither set: another launcher */
    if (status || (!have_rank && !have_size)) return status;
    if (have_rank != have_size)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard auto: %s is set, but %s is not%s", have_rank ? rank_name : size_name,
                        have_rank ? size_name : rank_name, which == SLURM ? "; start glslines with srun" : "");
    if (*rank >= *size)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard auto: %s is %" PRIu64 ", not less than %s, %" PRIu64, rank_name,
                        *rank, size_name, *size);
    *found = true;
    return which == SLURM ? check_slurm_task(*size) : GLS_OK;
}

/* Takes index and count from the variables of a launcher; those of Slurm count only if no other launcher has set its
 * own. GLS_ERR_ARGUMENT: no launcher has set them, two launchers disagree, or the numbers are not possible. */
static gls_status from_environment(gls_shard *shard)
{
    uint64_t rank = 0, size = 0, other_rank = 0, other_size = 0, pmix;
    int from = -1;
    bool found;
    for (int i = 0; i < N_LAUNCHERS; i++) {
        /* Slurm's variables describe the script of the job if another launcher started the process */
        if (i == SLURM && from >= 0) break;
        gls_status status = read_launcher(i, &found, &other_rank, &other_size);
        if (status) return status;
        if (!found) continue;
        if (from >= 0 && (rank != other_rank || size != other_size))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--shard auto: two launchers disagree: %s and %s are %" PRIu64 " and %" PRIu64
                            ", but %s and %s are %" PRIu64 " and %" PRIu64 "; give --shard I/N",
                            launchers[from].rank, launchers[from].size, rank, size, launchers[i].rank,
                            launchers[i].size, other_rank, other_size);
        rank = other_rank;
        size = other_size;
        from = i;
    }
    /* PMIx gives only the rank: compare the rank where PMIX_RANK is set */
    gls_status status = read_variable("PMIX_RANK", &found, &pmix);
    if (status) return status;
    if (from < 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard auto: %s; give --shard I/N, or start with srun or mpirun",
                        found ? "PMIX_RANK is set, but no variable with the number of processes"
                              : "none of SLURM_PROCID, OMPI_COMM_WORLD_RANK and PMI_RANK is set");
    if (found && pmix != rank)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--shard auto: PMIX_RANK is %" PRIu64 ", but %s is %" PRIu64 "; give --shard I/N", pmix,
                        launchers[from].rank, rank);
    if (size > GLS_MAX_SHARDS)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard auto: %s is %" PRIu64 "; at most %d shards are possible",
                        launchers[from].size, size, GLS_MAX_SHARDS);
    /* launchers count from 0, shards from 1 */
    shard->index = (uint32_t)rank + 1;
    shard->count = (uint32_t)size;
    gls_log(GLS_LOG_INFO, "--shard auto: %u/%u, from %s and %s", shard->index, shard->count, launchers[from].rank,
            launchers[from].size);
    return GLS_OK;
}

gls_status gls_shard_choose(const char *text, gls_shard *shard)
{
    char index_text[32];
    uint64_t index, count;
    const char *slash = strchr(text, '/');
    /* auto: take index and count from the variables of a launcher */
    if (strcmp(text, "auto") == 0) return from_environment(shard);
    /* I/N: two whole numbers */
    size_t n = slash ? (size_t)(slash - text) : 0;
    const bool fits = n > 0 && n < sizeof index_text;
    snprintf(index_text, sizeof index_text, "%.*s", fits ? (int)n : 0, text);
    if (!fits || !gls_parse_uint64(index_text, &index) || !gls_parse_uint64(slash + 1, &count))
        return gls_fail(GLS_ERR_ARGUMENT, "--shard: '%s' is neither I/N, e.g. 3/8, nor auto", text);
    if (count < 1 || count > GLS_MAX_SHARDS)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard %s: the number of shards must be 1 to %d", text, GLS_MAX_SHARDS);
    if (index < 1 || index > count)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--shard %s: shards are counted from 1: 1/%" PRIu64 " is the first, %" PRIu64 "/%" PRIu64
                        " the last",
                        text, count, count, count);
    shard->index = (uint32_t)index;
    shard->count = (uint32_t)count;
    return GLS_OK;
}

gls_status gls_shard_restrict(gls_shard *shard, gls_seeds *seeds, uint64_t select)
{
    if (shard->count == 0) return GLS_OK;
    /* the part of a shard is a range of consecutive seeds */
    gls_status status = gls_shard_init(shard->index, shard->count, gls_seeds_count(seeds), shard);
    if (!status) status = gls_seeds_restrict(seeds, shard->first_seed, shard->n_seeds);
    if (status) return status;
    gls_log(GLS_LOG_INFO, "shard %u of %u: %s of the %s seeds, after the first %s", shard->index, shard->count,
            GLS_COUNT(shard->n_seeds), GLS_COUNT(shard->total_seeds), GLS_COUNT(shard->first_seed));
    shard->select = select;
    if (shard->select > 0 && shard->count > 1)
        gls_log(GLS_LOG_INFO,
                "--select: no shard knows what other shards find: each goes on until it has %" PRIu64
                " streamlines itself; to spare work, give --nseeds near the number that the whole run needs",
                shard->select);
    return GLS_OK;
}
