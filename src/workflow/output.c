#include "workflow/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/output_file.h"
#include "util/status.h"

gls_status gls_place_check(const char *path, bool force, const gls_inputs *inputs, const char *const *others,
                           size_t n_others)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(EISDIR));
        if (!force) return gls_fail(GLS_ERR_OUTPUT, "%s: exists already; --force overwrites it", path);
    } else if (errno != ENOENT) {
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
    }
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!directory) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    gls_status code = GLS_OK;
    if (stat(directory, &info) != 0 || access(directory, W_OK | X_OK) != 0)
        code = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s: %s", path, directory, strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        code = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s: %s", path, directory, strerror(ENOTDIR));
    free(directory);
    if (!code) code = gls_inputs_check(inputs, path);
    return code ? code : gls_output_check(path, true, others, n_others);
}
