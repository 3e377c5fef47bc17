/* A folder of its own for each input, for readers that look at the names of files or beside them. */
#ifndef GLS_FUZZ_FOLDER_H
#define GLS_FUZZ_FOLDER_H

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"

typedef struct fuzz_folder {
    char path[40];
} fuzz_folder;

static inline fuzz_folder fuzz_folder_make(void)
{
    fuzz_folder folder = {"/tmp/glslines_fuzz_XXXXXX"};
    if (!mkdtemp(folder.path)) abort();
    return folder;
}

/* Returns the path of a name in the folder, which is valid during the next seven calls. Makes the folders in the name.
 */
static inline const char *fuzz_folder_name(const fuzz_folder *folder, const char *name)
{
    static char path[8][256];
    static int next;
    char *made = path[next++ % 8];
    if (snprintf(made, sizeof *path, "%s/%s", folder->path, name) >= (int)sizeof *path) abort();
    for (char *slash = made + strlen(folder->path) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(made, 0700);
    }
    return made;
}

static inline const char *fuzz_folder_put(const fuzz_folder *folder, const char *name, const void *data, size_t bytes)
{
    const char *path = fuzz_folder_name(folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) abort();
    return path;
}

static inline int fuzz_folder_drop(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static inline void fuzz_folder_remove(const fuzz_folder *folder)
{
    if (nftw(folder->path, fuzz_folder_drop, 8, FTW_DEPTH | FTW_PHYS) != 0) abort();
}

#endif
