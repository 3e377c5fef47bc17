/* Files in the user's cache folder: results that the library keeps for later runs. */
#include "util/output_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/status.h"

/* Whether a folder, and the symbolic link that may lead to it, belongs to the user. A folder that does not exist counts
 * as the user's own, unless `made` says that it should have been created. */
static bool is_own_folder(const char *path, bool made)
{
    struct stat link, folder;
    if (lstat(path, &link) != 0) return !made;
    return link.st_uid == geteuid() && stat(path, &folder) == 0 && S_ISDIR(folder.st_mode) &&
           folder.st_uid == geteuid();
}

/* Stores the path of the cache folder of glslines: $XDG_CACHE_HOME/glslines, or ~/.cache/glslines. make: creates the
 * folders. Returns false if the path needs HOME and HOME is missing or belongs to another user, if the cache folder
 * cannot be made or belongs to another user, or if the path is too long. */
static bool find_folder(bool make, char *folder, size_t size)
{
    const char *named = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat info;
    /* HOME must be a folder of the user; under sudo it may be a folder of another user */
    if (!(named && *named == '/') && (!home || stat(home, &info) != 0 || info.st_uid != geteuid())) return false;
    int n = named && *named == '/' ? snprintf(folder, size, "%s", named)
            : home && *home == '/' ? snprintf(folder, size, "%s/.cache", home)
                                   : -1;
    if (n < 0 || n >= (int)size - 64) return false;
    if (make) mkdir(folder, 0700);
    snprintf(folder + n, size - (size_t)n, "/glslines");
    if (make) mkdir(folder, 0700);
    return is_own_folder(folder, make);
}

bool gls_kept_path(const char *kind, uint64_t key, bool make, char *path, size_t size)
{
    char folder[3072];
    if (!find_folder(make, folder, sizeof folder - 64)) return false;
    const size_t n = strlen(folder);
    snprintf(folder + n, sizeof folder - n, "/%.32s", kind);
    if (make) mkdir(folder, 0700);
    return is_own_folder(folder, make) &&
           snprintf(path, size, "%s/%016llx", folder, (unsigned long long)key) < (int)size;
}

bool gls_kept_file(const char *name, bool make, char *path, size_t size)
{
    char folder[3072];
    return find_folder(make, folder, sizeof folder) && snprintf(path, size, "%s/%s", folder, name) < (int)size;
}

bool gls_kept_is_file(const char *path, bool own)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && (!own || info.st_uid == geteuid());
}

gls_status gls_kept_write(const char *path, const void *data, size_t bytes)
{
    struct stat info;
    if (lstat(path, &info) == 0 && !gls_kept_is_file(path, true))
        return gls_fail(GLS_ERR_OUTPUT, "%s: is no regular file of this user, and stays as it is", path);
    return gls_file_write(path, true, NULL, data, bytes);
}
