#include "cmd/sidecar.h"

#include <cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/output.h"

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

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file of that name beside path if there is one and it is none of own; from malloc, else NULL. */
static char *other_beside(const char *path, const cJSON *described, const char *const *own, size_t n_own)
{
    char *place = NULL;
    if (!cJSON_IsString(described)) return NULL;
    const char *name = file_name(described->valuestring);
    for (size_t i = 0; i < n_own; i++)
        if (own[i] && strcmp(file_name(own[i]), name) == 0) return NULL;
    if (asprintf(&place, "%.*s%s", (int)(file_name(path) - path), path, name) < 0) return NULL;
    if (access(place, F_OK) == 0) return place;
    free(place);
    return NULL;
}

/* An output other than own that the sidecar at path describes; from malloc, else NULL. */
static char *other_output(const char *path, const char *const *own, size_t n_own)
{
    FILE *file = fopen(path, "r");
    char *text = NULL, *other = NULL;
    size_t size = 0;
    cJSON *root = file && getdelim(&text, &size, '\0', file) > 0 ? cJSON_Parse(text) : NULL;
    const cJSON *item, *outputs = cJSON_GetObjectItemCaseSensitive(root, "outputs");
    other = other_beside(
        path, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "output"), "path"), own, n_own);
    cJSON_ArrayForEach(item, outputs)
    {
        if (!other) other = other_beside(path, item, own, n_own);
    }
    cJSON_Delete(root);
    free(text);
    if (file) fclose(file);
    return other;
}

/* x.tck.json or, if whole is false, x.json. */
static char *beside(const char *output, bool whole)
{
    const char *suffix = strrchr(file_name(output), '.');
    size_t n = whole || !suffix ? strlen(output) : (size_t)(suffix - output);
    char *name = NULL;
    return asprintf(&name, "%.*s.json", (int)n, output) < 0 ? NULL : name;
}

char *cmd_sidecar_find(const char *output)
{
    char *name = beside(output, true);
    if (!name || access(name, F_OK) == 0) return name;
    free(name);
    return beside(output, false);
}

char *cmd_sidecar_name(const char *output)
{
    char *name = cmd_sidecar_find(output), *other = name ? other_output(name, &output, 1) : NULL;
    if (!other) return name;
    free(other);
    free(name);
    return beside(output, true);
}

int cmd_sidecar_check(const char *path, const char *const *own, size_t n_own, bool force)
{
    char *other = other_output(path, own, n_own);
    if (!other) return cmd_output_check(path, force);
    int code = cmd_error(CMD_EXIT_OUTPUT,
                         "%s: is the sidecar of %s and is left to it: choose another name for the output", path, other);
    free(other);
    return code;
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
    bool ok = fputs(text, sidecar->file) >= 0 && fputc('\n', sidecar->file) != EOF && fflush(sidecar->file) == 0 &&
              fsync(fileno(sidecar->file)) == 0;
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
