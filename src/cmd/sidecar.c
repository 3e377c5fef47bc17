#include "cmd/sidecar.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cmd_sidecar {
    char *path, *temporary;
    FILE *file;
};

static void sidecar_free(cmd_sidecar *sidecar)
{
    if (sidecar->file) fclose(sidecar->file);
    free(sidecar->path);
    free(sidecar->temporary);
    free(sidecar);
}

gls_status cmd_sidecar_create(const char *path, cmd_sidecar **out, char *error, size_t error_size)
{
    cmd_sidecar *sidecar = calloc(1, sizeof *sidecar);
    if (sidecar) sidecar->path = strdup(path);
    if (!sidecar || !sidecar->path || asprintf(&sidecar->temporary, "%s.tmp.%ld", path, (long)getpid()) < 0) {
        snprintf(error, error_size, "%s: out of memory", path);
        if (sidecar) {
            free(sidecar->path);
            free(sidecar);
        }
        return GLS_ERR_MEMORY;
    }
    sidecar->file = fopen(sidecar->temporary, "wx");
    if (!sidecar->file) {
        snprintf(error, error_size, "%s: cannot be written: %s", path, strerror(errno));
        sidecar_free(sidecar);
        return GLS_ERR_OUTPUT;
    }
    *out = sidecar;
    return GLS_OK;
}

gls_status cmd_sidecar_finish(cmd_sidecar *sidecar, const char *text, char *error, size_t error_size)
{
    gls_status status = GLS_ERR_OUTPUT;
    bool ok = fputs(text, sidecar->file) >= 0 && fputc('\n', sidecar->file) != EOF && fflush(sidecar->file) == 0 && fsync(fileno(sidecar->file)) == 0;
    int reason = errno;
    ok = fclose(sidecar->file) == 0 && ok;
    sidecar->file = NULL;
    if (ok && rename(sidecar->temporary, sidecar->path) == 0) {
        status = GLS_OK;
    } else {
        snprintf(error, error_size, "%s: cannot be written: %s", sidecar->path, strerror(ok ? errno : reason));
        unlink(sidecar->temporary);
    }
    sidecar_free(sidecar);
    return status;
}

gls_status cmd_sidecar_write(const char *path, const char *text, char *error, size_t error_size)
{
    cmd_sidecar *sidecar;
    gls_status status = cmd_sidecar_create(path, &sidecar, error, error_size);
    return status ? status : cmd_sidecar_finish(sidecar, text, error, error_size);
}

void cmd_sidecar_abort(cmd_sidecar *sidecar)
{
    if (!sidecar) return;
    unlink(sidecar->temporary);
    sidecar_free(sidecar);
}
