#include "util/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gls_kept_path(const char *kind, uint64_t key, bool make, char *path, size_t size)
{
    const char *named = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[3072];
    struct stat info;
    if (!(named && *named == '/') && (!home || stat(home, &info) != 0 || info.st_uid != geteuid())) return false;
    int n = named && *named == '/' ? snprintf(folder, sizeof folder, "%s", named)
            : home && *home == '/' ? snprintf(folder, sizeof folder, "%s/.cache", home)
                                   : -1;
    if (n < 0 || n >= (int)sizeof folder - 64) return false;
    if (make) mkdir(folder, 0700);
    n += snprintf(folder + n, sizeof folder - (size_t)n, "/glslines");
    if (make) mkdir(folder, 0700);
    snprintf(folder + n, sizeof folder - (size_t)n, "/%.32s", kind);
    if (make) mkdir(folder, 0700);
    return snprintf(path, size, "%s/%016llx", folder, (unsigned long long)key) < (int)size;
}
