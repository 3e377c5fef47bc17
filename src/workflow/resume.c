/* The journal of --resume: its name, opening it, and recording the outputs. */
#include "workflow/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/status.h"

char *gls_resume_name(const char *output)
{
    char *name = NULL;
    return asprintf(&name, "%s.resume", output) < 0 ? NULL : name;
}

bool gls_resume_is_own(const char *journal, const char *path)
{
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    struct stat info;
    size_t n = journal && stat(path, &info) == 0 ? gls_journal_files(journal, file) : 0;
    for (size_t i = 0; i < n; i++)
        if (file[i].device == (uint64_t)info.st_dev && file[i].inode == (uint64_t)info.st_ino) return true;
    return false;
}

gls_status gls_resume_open(const gls_job *job, gls_journal **journal)
{
    char identity[256], origin[256];
    const gls_device_info *d = job->device;
    if (!job->journal) return GLS_OK;
    snprintf(identity, sizeof identity,
             "parameters=%016" PRIx64 " inputs=%016" PRIx64 " shard=%" PRIu32 "/%" PRIu32 " seeds=%" PRIu64
             " records=%zu version=%.100s",
             job->identity.parameters, job->identity.inputs, job->shard.index, job->shard.count,
             gls_seeds_count(job->inputs.seeds), sizeof(gls_outcome), gls_version());
    snprintf(origin, sizeof origin, "%.100s, %.100s", d->renderer, d->version);
    gls_status status = gls_journal_open(job->journal, identity, origin, job->options.force, journal);
    if (!status && strcmp(gls_journal_origin(*journal), origin) != 0)
        gls_log(GLS_LOG_WARNING, "%s: was begun on another device (%s): the rest may be rounded in another way",
                job->journal, gls_journal_origin(*journal));
    return status;
}

gls_status gls_resume_complete(gls_journal *journal, const gls_output_group *group)
{
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    struct stat info;
    size_t n = 0;
    if (!journal) return GLS_OK;
    for (size_t i = 0; i < group->n && n < GLS_JOURNAL_MAX_FILES; i++)
        if (fstat(group->output[i].fd, &info) == 0)
            file[n++] = (gls_journal_file){.device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino};
    return gls_journal_complete(journal, file, n);
}
